"""Kinds of targets that need a vendor's library, which is an optional dependency. They can be listed without it."""

import importlib
from pathlib import Path
from typing import Any

from lineage_bridge.catalogs.settings import TargetSettings
from lineage_bridge.catalogs.target import Target, TargetKind
from lineage_bridge.errors import ConfigError


def optional_kind(kind: str, settings: type[TargetSettings], implementation: str, extra: str, summary: str) -> TargetKind:
    """A kind of targets; `implementation` is its class, as `package.module:Class` within the package of kinds, and `extra` the optional
    dependency without which its `make` raises ConfigError.
    """
    module, _, class_name = implementation.partition(":")

    def make(name: str, made: TargetSettings, folder: Path) -> Target[Any]:
        try:
            imported = importlib.import_module(f"lineage_bridge.catalogs.kinds.{module}")
        except ImportError as error:
            raise ConfigError(
                f"targets of kind {kind} require another package", f"install it with: pip install 'lineage-bridge[{extra}]'"
            ) from error
        target: Target[Any] = getattr(imported, class_name)(name, made, folder)
        return target

    return TargetKind(settings, make, summary)
