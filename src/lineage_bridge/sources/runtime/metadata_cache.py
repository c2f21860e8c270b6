"""Observers made of settings, and what all sources know of what they last saw."""

import logging
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import msgspec
from pydantic import ValidationError

from lineage_bridge.errors import ConfigError
from lineage_bridge.model.sources import SourceRecord
from lineage_bridge.ports.sources import SourceRepository
from lineage_bridge.sources.common.observer import Observer
from lineage_bridge.sources.common.settings import NO_SECRETS, Secrets
from lineage_bridge.sources.common.shared_metadata import NO_METADATA, SharedMetadata, merge_metadata
from lineage_bridge.sources.runtime.kinds import KINDS, Kinds

log = logging.getLogger(__name__)


class MetadataCache:
    """What is known of the sources that `sources` lists, made anew of a snapshot when there is a newer one."""

    def __init__(
        self, sources: Callable[[], Iterable[SourceRecord]], book: SourceRepository, secrets: Secrets = NO_SECRETS, kinds: Kinds = KINDS
    ) -> None:
        self._sources, self._book, self._secrets, self._kinds = sources, book, secrets, kinds
        self._known: dict[str, tuple[object, SharedMetadata]] = {}

    def previous_snapshot(self, record: SourceRecord, observer: Observer[Any]) -> dict[str, Any] | None:
        """The snapshot before, if it is of the same system."""
        if record.state.address != system_id(record, observer):
            return None
        kept = self._book.snapshot(record.name)
        found: dict[str, Any] | None = msgspec.json.decode(kept) if kept else None
        return found

    def shared_metadata(self, record: SourceRecord) -> SharedMetadata:
        """What all sources know of what they last saw, this one too."""
        return merge_metadata(self._knowledge(other) for other in self._sources() if other.state.polls or other.name == record.name)

    def _knowledge(self, record: SourceRecord) -> SharedMetadata:
        known, of = self._known.get(record.name), (record.state.polls, record.kind, msgspec.json.encode(record.settings))
        if known is not None and known[0] == of:
            return known[1]
        found = NO_METADATA
        try:
            observer = make_observer(record.name, record.kind, record.settings, self._secrets, self._kinds)
            if snapshot := self.previous_snapshot(record, observer):
                found = observer.shared_metadata(snapshot)
        except ConfigError:
            log.debug("source %s knows nothing: it cannot be made", record.name)
        except Exception:  # a boundary too: a snapshot that cannot be read stops no other source
            log.exception("what source %s knows cannot be read", record.name)
        self._known[record.name] = (of, found)
        return found


def make_observer(name: str, kind: str, settings: Mapping[str, Any], secrets: Secrets = NO_SECRETS, kinds: Kinds = KINDS) -> Observer[Any]:
    """The observer of a source, which looks up its secrets in `secrets`.

    Raises ConfigError that names a setting which is unknown, missing or wrong.
    """
    found = kinds.load(kind)
    try:
        return found.observer(name, found.settings.model_validate(dict(settings), context=secrets))
    except ValidationError as error:
        first = error.errors(include_url=False, include_context=False)[0]
        setting = ".".join(map(str, first["loc"]))
        reason = first["msg"].removeprefix("Value error, ")
        where = f"its setting {setting}: " if setting else ""
        raise ConfigError(
            f"source {name} ({kind}): {where}{reason}", f"lineage-bridge source kinds {kind} tells what can be set"
        ) from error


def system_id(record: SourceRecord, observer: Observer[Any]) -> str:
    """Which system a source observes."""
    return f"{record.kind} {observer.settings.address}"
