"""The kinds of sources. Each is in a module of its own, which is imported when the kind is first used."""

import importlib
from collections.abc import Mapping
from types import MappingProxyType

from lineage_bridge.errors import ConfigError
from lineage_bridge.sources.common.observer import SourceKind
from lineage_bridge.sources.common.stepwise import StepwiseKind

MODULES: Mapping[str, str] = MappingProxyType(
    {
        "confluent": "lineage_bridge.sources.confluent.observer",
        "kafka": "lineage_bridge.sources.kafka.observer",
        "registry": "lineage_bridge.sources.registry.observer",
        "flink": "lineage_bridge.sources.flink.observer",
        "ksqldb": "lineage_bridge.sources.ksqldb.observer",
        "connect": "lineage_bridge.sources.connect.observer",
        "msk-connect": "lineage_bridge.sources.msk_connect.observer",
        "glue": "lineage_bridge.sources.glue.observer",
        "datahub": "lineage_bridge.sources.datahub.observer",
        "openmetadata": "lineage_bridge.sources.openmetadata.observer",
        "google": "lineage_bridge.sources.google_lineage.observer",
        "unity": "lineage_bridge.sources.unity.observer",
    }
)
"""Kind to the module that defines it as `KIND`. The first polls follow this order, because later kinds use the metadata of earlier ones."""
CATALOGS: Mapping[str, str] = MappingProxyType(
    {
        "glue": "glue",
        "datahub": "datahub",
        "openmetadata": "openmetadata",
        "google": "google",
        "unity": "databricks",
    }
)
"""The kinds of sources that read catalogs, each with the kind of target that publishes to the same catalogs."""
EXTRACTED_KIND = "confluent"
"""The kind of source that is extracted if the options name no source."""


class SourceKinds:
    """The kinds of sources that can be observed. `modules` has the form of MODULES."""

    def __init__(self, modules: Mapping[str, str] = MODULES) -> None:
        self._modules = modules
        self._ranks = {name: rank for rank, name in enumerate(modules)}

    @property
    def names(self) -> tuple[str, ...]:
        """The names of all kinds, sorted."""
        return tuple(sorted(self._modules))

    def load(self, name: str) -> SourceKind:
        """Import the kind of sources with this name. Raises ConfigError."""
        if name not in self._modules:
            raise ConfigError(f"unknown kind of source {name!r}", f"use one of {', '.join(self._modules)}")
        found: SourceKind = importlib.import_module(self._modules[name]).KIND
        return found

    def load_extracted(self) -> StepwiseKind:
        """Import the kind of source from which tasks extract if the options name no source. Raises ConfigError if it is not
        observed step by step.
        """
        kind = self.load(EXTRACTED_KIND)
        if not isinstance(kind, StepwiseKind):
            raise ConfigError(f"internal error: sources of kind {EXTRACTED_KIND} cannot be extracted step by step", "please report this")
        return kind

    def rank(self, name: str) -> int:
        """The position of a kind in the order of the first polls; an unknown kind is first."""
        return self._ranks.get(name, 0)


KINDS = SourceKinds()
