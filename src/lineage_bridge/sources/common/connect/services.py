"""Knows the plugins of managed Kafka Connect services, which do not report the settings of their plugins."""

from collections.abc import Iterable

from lineage_bridge.sources.common.connect.catalogue.catalogue import Catalogue
from lineage_bridge.sources.common.connect.generation import plugins_of
from lineage_bridge.sources.common.connect.worker import ConnectorState, Plugin

_OPEN = ("org.apache.kafka.", "io.confluent.", "io.debezium.")
"""Packages whose plugins' passwords are all recognizable by name."""


def plugins_used(connectors: Iterable[ConnectorState], classes: Catalogue) -> dict[str, Plugin]:
    """Return those plugins of the connectors whose secret settings are known without asking the service: from the catalogue, or by
    their names.
    """
    used = sorted({name for connector in connectors for name in plugins_of(connector.config).values()})
    known = {name: classes.lookup(name) for name in used}
    return {
        name: Plugin(name, "", tuple(sorted(entry.secrets)) if entry else ())
        for name, entry in known.items()
        if entry is not None or name.startswith(_OPEN)
    }
