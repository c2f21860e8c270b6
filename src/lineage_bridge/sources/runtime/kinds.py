"""The kinds of sources, each in a module of its own that is loaded when it is used."""

import importlib
from collections.abc import Mapping
from types import MappingProxyType

from lineage_bridge.errors import ConfigError
from lineage_bridge.sources.common.observer import SourceKind

MODULES: Mapping[str, str] = MappingProxyType(
    {
        "confluent": "lineage_bridge.sources.confluent.observer",
        "kafka": "lineage_bridge.sources.kafka.observer",
        "registry": "lineage_bridge.sources.registry.observer",
        "flink": "lineage_bridge.sources.flink.observer",
        "ksqldb": "lineage_bridge.sources.ksqldb.observer",
        "connect": "lineage_bridge.sources.connect.observer",
        "msk-connect": "lineage_bridge.sources.msk_connect.observer",
    }
)
"""Kind to the module that has it as `KIND`. In this order they are polled the first time: the first know what the others ask."""


class Kinds:
    """The kinds that can be observed, in the order in which they are polled the first time. `modules`: see MODULES."""

    def __init__(self, modules: Mapping[str, str] = MODULES) -> None:
        self._modules = modules
        self._ranks = {name: rank for rank, name in enumerate(modules)}

    @property
    def names(self) -> tuple[str, ...]:
        """Their names, sorted."""
        return tuple(sorted(self._modules))

    def load(self, name: str) -> SourceKind:
        """The kind of this name. Raises ConfigError."""
        if name not in self._modules:
            raise ConfigError(f"there is no kind of source {name!r}", f"there are {', '.join(self._modules)}")
        found: SourceKind = importlib.import_module(self._modules[name]).KIND
        return found

    def rank(self, name: str) -> int:
        """Where a kind stands in the order; one that is not known is first."""
        return self._ranks.get(name, 0)


KINDS = Kinds()
