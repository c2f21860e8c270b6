"""The operations on sources that users can perform."""

import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from lineage_bridge.errors import ConfigError, LineageBridgeError, NotFoundError, RequestError
from lineage_bridge.model.sources import KindRecord, SourceCheck, SourceRecord, SourceState
from lineage_bridge.ports.sources import SourceRepository
from lineage_bridge.sources.common.descriptions import describe_settings
from lineage_bridge.sources.common.observer import SourceKind
from lineage_bridge.sources.common.settings import NO_CONTEXT, SourceContext
from lineage_bridge.sources.runtime.kinds import KINDS, SourceKinds
from lineage_bridge.sources.runtime.metadata_cache import make_observer

_ORIGINS = {"file": "settings file", "environment": "environment"}
NO_SOURCES: Mapping[str, Mapping[str, Any]] = MappingProxyType({})
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")


class SourceService:
    """Implements `ports.SourceService` over the sources of the settings file (name to settings, with `kind`) and those that users added.

    `in_environment` are the sources that environment variables define. Such a source is used only if no other source has its kind or name,
    and is paused until a user resumes it.
    """

    def __init__(
        self,
        in_file: Mapping[str, Mapping[str, Any]],
        repository: SourceRepository,
        context: SourceContext = NO_CONTEXT,
        in_environment: Mapping[str, Mapping[str, Any]] = NO_SOURCES,
        kinds: SourceKinds = KINDS,
    ) -> None:
        self._in_file, self._in_environment, self._repository = in_file, in_environment, repository
        self._context, self._kinds = context, kinds

    def check_file(self) -> None:
        """Raise ConfigError if a source of the settings file is invalid."""
        for name in sorted(self._in_file):
            self._check(name, *_split_kind(self._in_file[name]))

    def kinds(self) -> list[KindRecord]:
        """All kinds of sources, by name."""
        return [_describe(name, self._kinds.load(name)) for name in self._kinds.names]

    def records(self) -> list[SourceRecord]:
        """All sources by name. If the settings file and a user define the same name, the source of the settings file is used."""
        states, added = self._repository.states(), self._repository.added()
        found = {
            name: SourceRecord(name, kind, settings, "added", states.get(name, SourceState())) for name, (kind, settings) in added.items()
        }
        for name, settings in self._in_file.items():
            found[name] = SourceRecord(name, *_split_kind(settings), "file", states.get(name, SourceState()))
        for name, settings in self._in_environment.items():
            kind, own = _split_kind(settings)
            if all(name != record.name and kind != record.kind for record in found.values()):
                found[name] = SourceRecord(name, kind, own, "environment", states.get(name, SourceState(paused=True)))
        return [found[name] for name in sorted(found)]

    def record(self, name: str) -> SourceRecord:
        """The source with this name. Raises NotFoundError."""
        found = next((record for record in self.records() if record.name == name), None)
        if found is None:
            raise NotFoundError(f"there is no source {name}", "list the sources: lineage-bridge source list")
        return found

    def pending(self) -> int:
        """The number of messages of sources that have not been delivered yet."""
        return self._repository.count_pending()

    def add(self, name: str, kind: str, settings: Mapping[str, Any], *, replace: bool) -> SourceRecord:
        """Add a source. Raises RequestError if its name is taken, ConfigError if its settings are invalid."""
        if name in self._in_file:
            raise RequestError(f"source {name} is defined in the settings file", "change it there")
        if not replace and name in self._repository.added():
            hint = "replace it, or choose another name"
            raise RequestError(f"source {name} already exists", hint, {"name": f"it already exists: {hint}"})
        self._check(name, kind, settings)
        self._repository.save(name, kind, settings)
        self._repository.make_due(name)
        return self.record(name)

    def remove(self, name: str) -> None:
        """Remove a source; its events stay in the graph. Raises NotFoundError, RequestError."""
        origin = self.record(name).origin
        if origin != "added":
            raise RequestError(f"source {name} is defined in the {_ORIGINS[origin]}", "remove it there, or pause it")
        self._repository.remove(name)

    def pause(self, name: str, *, paused: bool) -> SourceRecord:
        """Pause or resume a source. Raises NotFoundError."""
        self.record(name)
        self._repository.pause(name, paused=paused)
        return self.record(name)

    def poll(self, name: str) -> SourceRecord:
        """Schedule a poll of a source, to run as soon as possible. Raises NotFoundError, RequestError if it is paused."""
        if self.record(name).state.paused:
            raise RequestError(f"source {name} is paused", f"resume it first: lineage-bridge source resume {name}")
        self._repository.make_due(name)
        return self.record(name)

    def test(self, name: str) -> list[SourceCheck]:
        """Try each step of a poll of a source, and return how each went, also the failed ones."""
        record = self.record(name)
        done: list[SourceCheck] = []
        try:
            observer = make_observer(record.name, record.kind, record.settings, self._context, self._kinds)
            try:
                done += observer.test()
            finally:
                observer.close()
        except LineageBridgeError as error:
            done.append(
                SourceCheck("settings" if isinstance(error, ConfigError) else "reach", works=False, message=str(error), hint=error.hint)
            )
        return done

    def _check(self, name: str, kind: str, settings: Mapping[str, Any]) -> None:
        if not _NAME.fullmatch(name):
            hint = "use at most 100 letters, digits, . _ -, and begin with a letter or digit"
            raise ConfigError(f"{name!r} is not a valid source name", hint, {"name": f"it is not a valid name: {hint}"})
        make_observer(name, kind, settings, kinds=self._kinds).close()


def _split_kind(settings: Mapping[str, Any]) -> tuple[str, dict[str, Any]]:
    """Split the settings of a source into its kind and the rest."""
    own = dict(settings)
    return str(own.pop("kind", "")), own


def _describe(name: str, kind: SourceKind) -> KindRecord:
    return KindRecord(name, kind.summary, describe_settings(kind.settings))
