"""The kinds of sources, each in a module of its own that is loaded when it is used."""

import importlib

from lineage_bridge.errors import ConfigError
from lineage_bridge.sources.common.observer import SourceKind

MODULES: dict[str, str] = {
    "confluent": "lineage_bridge.sources.confluent.observer",
    "kafka": "lineage_bridge.sources.kafka.observer",
    "registry": "lineage_bridge.sources.registry.observer",
    "flink": "lineage_bridge.sources.flink.observer",
    "ksqldb": "lineage_bridge.sources.ksqldb.observer",
    "connect": "lineage_bridge.sources.connect.observer",
    "msk-connect": "lineage_bridge.sources.msk_connect.observer",
}
"""Kind to the module that has it as `KIND`. In this order they are polled the first time: the first know what the others ask."""


def load_kind(name: str) -> SourceKind:
    """The kind of this name. Raises ConfigError."""
    if name not in MODULES:
        raise ConfigError(f"there is no kind of source {name!r}", f"there are {', '.join(MODULES)}")
    found: SourceKind = importlib.import_module(MODULES[name]).KIND
    return found
