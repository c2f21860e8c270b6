"""Creates observers from settings, and collects the metadata in all sources' snapshots."""

import logging
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import msgspec
from pydantic import ValidationError

from lineage_bridge.errors import ConfigError
from lineage_bridge.model.sources import SourceRecord
from lineage_bridge.ports.sources import SourceRepository
from lineage_bridge.sources.common.observer import Observer
from lineage_bridge.sources.common.settings import NO_CONTEXT, SourceContext, refused_settings
from lineage_bridge.sources.common.shared_metadata import NO_METADATA, SharedMetadata, merge_metadata
from lineage_bridge.sources.runtime.kinds import KINDS, SourceKinds

log = logging.getLogger(__name__)


class MetadataCache:
    """Combines the metadata of the sources that `sources` lists, and caches it. A snapshot is read again only if it is newer."""

    def __init__(
        self,
        sources: Callable[[], Iterable[SourceRecord]],
        repository: SourceRepository,
        context: SourceContext = NO_CONTEXT,
        kinds: SourceKinds = KINDS,
    ) -> None:
        self._sources, self._repository, self._context, self._kinds = sources, repository, context, kinds
        self._cached: dict[str, tuple[object, SharedMetadata]] = {}

    def previous_snapshot(self, record: SourceRecord, observer: Observer[Any]) -> dict[str, Any] | None:
        """Return the snapshot of the last poll; None if there is none, or if the source observes another system since."""
        if record.state.address != system_id(record, observer):
            return None
        kept = self._repository.snapshot(record.name)
        found: dict[str, Any] | None = msgspec.json.decode(kept) if kept else None
        return found

    def shared_metadata(self, record: SourceRecord) -> SharedMetadata:
        """Return the metadata of all sources, including the given one."""
        return merge_metadata(self._metadata_of(other) for other in self._sources() if other.state.polls or other.name == record.name)

    def _metadata_of(self, record: SourceRecord) -> SharedMetadata:
        cached, version = self._cached.get(record.name), (record.state.polls, record.kind, msgspec.json.encode(record.settings))
        if cached is not None and cached[0] == version:
            return cached[1]
        found = NO_METADATA
        try:
            observer = make_observer(record.name, record.kind, record.settings, self._context, self._kinds)
            if snapshot := self.previous_snapshot(record, observer):
                found = observer.shared_metadata(snapshot)
        except ConfigError:
            log.debug("source %s shares no metadata: its settings are invalid", record.name)
        except Exception:  # a boundary: a snapshot that cannot be read must not stop the other sources
            log.exception("cannot read the metadata of source %s", record.name)
        self._cached[record.name] = (version, found)
        return found


def make_observer(
    name: str, kind: str, settings: Mapping[str, Any], context: SourceContext = NO_CONTEXT, kinds: SourceKinds = KINDS
) -> Observer[Any]:
    """Create the observer of a source. Its secrets are looked up, and its addresses checked, as `context` allows.

    Raises ConfigError that names a setting which is unknown, missing or wrong.
    """
    found = kinds.load(kind)
    try:
        return found.observer(name, found.settings.model_validate(dict(settings), context=context))
    except ValidationError as error:
        raise refused_settings(f"source {name} ({kind})", error, f"`lineage-bridge source kinds {kind}` lists the settings") from error


def system_id(record: SourceRecord, observer: Observer[Any]) -> str:
    """Return an identifier of the system that a source observes."""
    return f"{record.kind} {observer.settings.address}"
