"""The kinds of inputs. Each is in a module of its own, which is imported when the kind is first used."""

import importlib
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from pydantic import ValidationError

from lineage_bridge.errors import ConfigError
from lineage_bridge.inputs.input import Input, InputKind, StreamInput
from lineage_bridge.inputs.settings import InputSettings
from lineage_bridge.sources.common.settings import NO_CONTEXT, SourceContext, refused_settings

MODULES: Mapping[str, str] = MappingProxyType(
    {
        "azure": "lineage_bridge.inputs.files.azure",
        "folder": "lineage_bridge.inputs.files.folder",
        "gcs": "lineage_bridge.inputs.files.gcs",
        "kafka": "lineage_bridge.inputs.kafka.kafka_input",
        "kinesis": "lineage_bridge.inputs.kinesis.kind",
        "s3": "lineage_bridge.inputs.files.s3",
    }
)
"""Kind to the module that defines it as `KIND`."""


class InputKinds:
    """The kinds of inputs. `modules` has the form of MODULES."""

    def __init__(self, modules: Mapping[str, str] = MODULES) -> None:
        self._modules = modules

    @property
    def names(self) -> tuple[str, ...]:
        """The names of all kinds, sorted."""
        return tuple(sorted(self._modules))

    def load(self, name: str) -> InputKind:
        """Import the kind of input with this name. Raises ConfigError."""
        if name not in self._modules:
            raise ConfigError(f"unknown kind of input {name!r}", f"use one of {', '.join(self.names)}")
        found: InputKind = importlib.import_module(self._modules[name]).KIND
        return found

    def make(
        self, name: str, kind: str, settings: Mapping[str, Any], context: SourceContext = NO_CONTEXT, installation: str = ""
    ) -> Input[Any]:
        """Create an input that looks up secrets and connects according to `context`. Raises ConfigError, which names the wrong setting."""
        found = self.load(kind)
        return found.make(name, self._settings(name, kind, settings, context), installation)

    def make_stream(
        self, name: str, kind: str, settings: Mapping[str, Any], context: SourceContext = NO_CONTEXT, installation: str = ""
    ) -> StreamInput[Any]:
        """Create an input in the form that Spark reads. Raises ConfigError, which names the wrong setting."""
        found = self.load(kind)
        if found.stream is None:
            raise ConfigError(f"input {name}: inputs of the kind {kind} cannot have the form `stream`", "set `form` to `embedded`")
        return found.stream(name, self._settings(name, kind, settings, context), installation)

    def _settings(self, name: str, kind: str, settings: Mapping[str, Any], context: SourceContext) -> InputSettings:
        try:
            return self.load(kind).settings.model_validate(dict(settings), context=context)
        except ValidationError as error:
            raise refused_settings(f"input {name} ({kind})", error, f"`lineage-bridge input kinds {kind}` lists the settings") from error


KINDS = InputKinds()
