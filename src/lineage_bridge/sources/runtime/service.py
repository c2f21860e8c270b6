"""What users can do with sources."""

import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from lineage_bridge.errors import ConfigError, LineageBridgeError, NotFoundError, RequestError
from lineage_bridge.model.sources import KindRecord, SettingRecord, SourceCheck, SourceRecord, SourceState
from lineage_bridge.ports.sources import SourceRepository
from lineage_bridge.sources.common.observer import SourceKind
from lineage_bridge.sources.common.settings import NO_SECRETS, Secrets
from lineage_bridge.sources.runtime.kinds import KINDS, Kinds
from lineage_bridge.sources.runtime.metadata_cache import make_observer

_ORIGINS = {"file": "settings file", "environment": "environment"}
NOTHING_AROUND: Mapping[str, Mapping[str, Any]] = MappingProxyType({})
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")


class SourceService:
    """Implements `ports.SourceService` over the settings file's sources (name to settings, with `kind`) and those that users added.

    `around` are those that variables of the environment make. One of them stands where there is no other of its kind or name; it is paused
    until it is resumed.
    """

    def __init__(
        self,
        in_file: Mapping[str, Mapping[str, Any]],
        book: SourceRepository,
        secrets: Secrets = NO_SECRETS,
        around: Mapping[str, Mapping[str, Any]] = NOTHING_AROUND,
        kinds: Kinds = KINDS,
    ) -> None:
        self._in_file, self._book, self._secrets, self._around, self._kinds = in_file, book, secrets, around, kinds

    def check_file(self) -> None:
        """Raise ConfigError for a source of the settings file that cannot be."""
        for name in sorted(self._in_file):
            self._check(name, *_of_table(self._in_file[name]))

    def kinds(self) -> list[KindRecord]:
        """What can be observed."""
        return [_described(name, self._kinds.load(name)) for name in self._kinds.names]

    def records(self) -> list[SourceRecord]:
        """All sources, by name. One of the settings file stands for an added one of the same name."""
        states, written = self._book.states(), self._book.added()
        found = {
            name: SourceRecord(name, kind, settings, "added", states.get(name, SourceState())) for name, (kind, settings) in written.items()
        }
        for name, settings in self._in_file.items():
            found[name] = SourceRecord(name, *_of_table(settings), "file", states.get(name, SourceState()))
        for name, settings in self._around.items():
            kind, told = _of_table(settings)
            if all(name != record.name and kind != record.kind for record in found.values()):
                found[name] = SourceRecord(name, kind, told, "environment", states.get(name, SourceState(paused=True)))
        return [found[name] for name in sorted(found)]

    def record(self, name: str) -> SourceRecord:
        """One source. Raises NotFoundError."""
        found = next((record for record in self.records() if record.name == name), None)
        if found is None:
            raise NotFoundError(f"there is no source {name}", "lineage-bridge source list")
        return found

    def add(self, name: str, kind: str, settings: Mapping[str, Any], *, replace: bool) -> SourceRecord:
        """Add a source. Raises RequestError for a name that is taken, ConfigError for settings that cannot be."""
        if name in self._in_file:
            raise RequestError(f"source {name} is in the settings file", "change it there")
        if not replace and name in self._book.added():
            raise RequestError(f"there is a source {name} already", "replace it, or take another name")
        self._check(name, kind, settings)
        self._book.save(name, kind, settings)
        self._book.make_due(name)
        return self.record(name)

    def remove(self, name: str) -> None:
        """Take a source away. What it told stays. Raises NotFoundError, RequestError."""
        origin = self.record(name).origin
        if origin != "added":
            raise RequestError(f"source {name} is in the {_ORIGINS[origin]}", "remove it there, or pause it")
        self._book.remove(name)

    def pause(self, name: str, *, paused: bool) -> SourceRecord:
        """Pause a source, or let it go on. Raises NotFoundError."""
        self.record(name)
        self._book.pause(name, paused=paused)
        return self.record(name)

    def poll(self, name: str) -> SourceRecord:
        """Have it polled now. Raises NotFoundError, RequestError if it is paused."""
        if self.record(name).state.paused:
            raise RequestError(f"source {name} is paused", f"lineage-bridge source resume {name}")
        self._book.make_due(name)
        return self.record(name)

    def test(self, name: str) -> list[SourceCheck]:
        """Try each step of its observation; what fails is told in its check."""
        record = self.record(name)
        done: list[SourceCheck] = []
        try:
            observer = make_observer(record.name, record.kind, record.settings, self._secrets, self._kinds)
            try:
                done += observer.test()
            finally:
                observer.close()
        except LineageBridgeError as error:
            done.append(
                SourceCheck("settings" if isinstance(error, ConfigError) else "reach", works=False, told=str(error), hint=error.hint)
            )
        return done

    def _check(self, name: str, kind: str, settings: Mapping[str, Any]) -> None:
        if not _NAME.fullmatch(name):
            raise ConfigError(
                f"{name!r} cannot be the name of a source", "letters, digits, . _ -; at most 100, and a letter or digit first"
            )
        make_observer(name, kind, settings, kinds=self._kinds).close()


def _of_table(settings: Mapping[str, Any]) -> tuple[str, dict[str, Any]]:
    """Kind and settings."""
    told = dict(settings)
    return str(told.pop("kind", "")), told


def _described(name: str, kind: SourceKind) -> KindRecord:
    fields = kind.settings.model_fields
    described = kind.settings.model_json_schema()["properties"]
    return KindRecord(
        name,
        kind.summary,
        tuple(
            SettingRecord(
                field,
                info.is_required(),
                None if info.is_required() else info.get_default(call_default_factory=True),
                info.description or "",
                "secret" in str(described.get(field, {})),
            )
            for field, info in fields.items()
        ),
    )
