"""Names of tables, topics and columns in OpenMetadata (fully qualified names), and what they are called in OpenLineage. Pure.

A fully qualified name begins with the name of a service, which contains no address. So the settings map namespaces to services.
"""

from collections.abc import Mapping, Sequence
from typing import Final

from lineage_bridge.openlineage.naming import DatasetName, parts_of
from lineage_bridge.sources.common.openmetadata.fqn import join_name, split_name

TABLE, TOPIC = "table", "topic"
UNKNOWN: Final = "openmetadata://"
"""The beginning of the namespaces of services that no namespace is known for."""
_PARTS: Final = {TABLE: 4, TOPIC: 2}
"""How many parts a name has: service, database, schema and table; service and topic."""


class OpenMetadataNames:
    """Converts names between OpenMetadata and OpenLineage. `services` has the service of each namespace, like OpenMetadata's
    `namespaceToServiceMapping`.
    """

    def __init__(self, services: Mapping[str, str]) -> None:
        self._namespaces: dict[str, str] = {}
        self.ambiguous: list[tuple[str, str]] = []
        for namespace, service in sorted(services.items()):
            other = self._namespaces.setdefault(service, namespace)
            self.ambiguous += [(other, namespace)] if other != namespace else []

    def dataset(self, kind: str, name: str) -> DatasetName | None:
        """The dataset of a table or topic with a fully qualified name; None for anything else."""
        parts = split_name(name)
        if not parts or len(parts) != _PARTS.get(kind):
            return None
        service, *inner = parts
        namespace = self._namespaces.get(service)
        if namespace is None:
            return f"{UNKNOWN}{service}", ".".join(inner)
        return namespace, _table_name(namespace, inner) if kind == TABLE else inner[0]

    def column(self, kind: str, name: str) -> tuple[DatasetName, str] | None:
        """The dataset and the column with a fully qualified name. The fields of a topic are below the name of its record."""
        parts = split_name(name)
        count = _PARTS.get(kind, 0)
        inner = parts[count:]
        path = inner[1:] if kind == TOPIC and len(inner) > 1 else inner
        dataset = self.dataset(kind, join_name(parts[:count]))
        return (dataset, ".".join(path)) if dataset and path else None


def _table_name(namespace: str, inner: Sequence[str]) -> str:
    """The name of a table. A system without schemas is shown in OpenMetadata as one database, whose schemas are the system's databases."""
    if namespace.startswith("arn:") and ":glue:" in namespace:
        return "/".join(("table", *inner[1:]))
    return ".".join(inner[-parts_of(namespace.partition("://")[0]) :])
