"""The kinds of targets. Each is in a module of its own, which is imported when the kind is first used."""

import importlib
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

from pydantic import ValidationError

from lineage_bridge.catalogs.target import Target, TargetKind
from lineage_bridge.errors import ConfigError
from lineage_bridge.sources.common.settings import NO_CONTEXT, SourceContext, refused_settings

MODULES: Mapping[str, str] = MappingProxyType(
    {
        "atlan": "lineage_bridge.catalogs.kinds.atlan.atlan_target",
        "databricks": "lineage_bridge.catalogs.kinds.databricks.kind",
        "datahub": "lineage_bridge.catalogs.kinds.datahub.kind",
        "dataplex": "lineage_bridge.catalogs.kinds.google.dataplex_kind",
        "datazone": "lineage_bridge.catalogs.kinds.datazone.kind",
        "files": "lineage_bridge.catalogs.kinds.files",
        "glue": "lineage_bridge.catalogs.kinds.glue.kind",
        "google": "lineage_bridge.catalogs.kinds.google.kind",
        "kafka": "lineage_bridge.catalogs.kinds.kafka",
        "kinesis": "lineage_bridge.catalogs.kinds.kinesis.kind",
        "marquez": "lineage_bridge.catalogs.kinds.marquez",
        "openlineage": "lineage_bridge.catalogs.kinds.openlineage",
        "openmetadata": "lineage_bridge.catalogs.kinds.openmetadata.kind",
    }
)
"""Kind to the module that defines it as `KIND`."""


class TargetKinds:
    """The kinds of targets. `modules` has the form of MODULES; `folder` is where targets may write files."""

    def __init__(self, folder: Path, context: SourceContext = NO_CONTEXT, modules: Mapping[str, str] = MODULES) -> None:
        self._folder, self._context, self._modules = folder, context, modules

    @property
    def names(self) -> tuple[str, ...]:
        """The names of all kinds, sorted."""
        return tuple(sorted(self._modules))

    def load(self, name: str) -> TargetKind:
        """Import the kind of target with this name. Raises ConfigError."""
        if name not in self._modules:
            raise ConfigError(f"unknown kind of target {name!r}", f"use one of {', '.join(self.names)}")
        found: TargetKind = importlib.import_module(self._modules[name]).KIND
        return found

    def make(self, name: str, kind: str, settings: Mapping[str, Any]) -> Target[Any]:
        """Create a target. Raises ConfigError that names a wrong setting."""
        return self.load(kind).make(name, self.check(name, kind, settings), self._folder)

    def check(self, name: str, kind: str, settings: Mapping[str, Any]) -> Any:  # noqa: ANN401  # the settings type of the kind
        """The validated settings of a target. Raises ConfigError that names a wrong setting, without its value."""
        try:
            return self.load(kind).settings.model_validate(dict(settings), context=self._context)
        except ValidationError as error:
            raise refused_settings(f"target {name} ({kind})", error, f"`lineage-bridge target kinds {kind}` lists the settings") from error
