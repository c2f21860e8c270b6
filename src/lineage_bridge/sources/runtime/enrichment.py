"""Enrichment: reading catalogs by tasks. Determines which sources read a catalog, and observes such a source as one plane."""

import shlex
import threading
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any, Final

import msgspec

from lineage_bridge.errors import ConfigError, NotFoundError, RequestError
from lineage_bridge.model.sources import SourceRecord
from lineage_bridge.model.tasks import ASKED, PlaneRecord
from lineage_bridge.ports.continuous import ContinuousTarget
from lineage_bridge.sources.common.observer import Check, Observation, Observer, Snapshot, Unseen
from lineage_bridge.sources.common.shared_metadata import SharedMetadata
from lineage_bridge.sources.common.stepwise import (
    EVERYTHING,
    OBSERVED,
    PARTLY,
    PlaneStep,
    Selection,
    StepwiseObserver,
    ignore_plane,
)
from lineage_bridge.sources.runtime.kinds import CATALOGS, SourceKinds

PLANE: Final = "catalog"
_SAME_CATALOG: Final = ("url", "endpoint_url", "region", "catalog_id", "project")
"""Settings in which a source and a target of the same catalog do not differ, if both have them."""


def choose_catalogs(
    name: str, sources: Iterable[SourceRecord], targets: Iterable[ContinuousTarget], kinds: SourceKinds
) -> list[SourceRecord]:
    """Return the source `name`, else the sources that read the catalog of the target `name`, else, if the name is empty, all sources
    that read a catalog and are not paused.

    Raises NotFoundError for an unknown name, RequestError with a hint if no source reads a catalog there.
    """
    every = {record.name: record for record in sources}
    catalogs = [record for record in every.values() if record.kind in CATALOGS]
    if not name:
        return _unpaused(catalogs)
    if name in every and every[name].kind in CATALOGS:
        return [every[name]]
    target = next((target for target in targets if target.name == name), None)
    if target is not None:
        return _sources_of(target, catalogs, kinds)
    if name in every:
        raise RequestError(
            f"source {name} is of kind {every[name].kind}, which reads no catalog", f"poll it instead: lineage-bridge source poll {name}"
        )
    raise NotFoundError(
        f"there is no source or target {name}",
        "list them: lineage-bridge source list, lineage-bridge target list",
    )


def _unpaused(catalogs: list[SourceRecord]) -> list[SourceRecord]:
    found = [record for record in catalogs if not record.state.paused]
    if not found and catalogs:
        names = ", ".join(record.name for record in catalogs)
        raise RequestError(f"all sources that read a catalog are paused: {names}", "name one of them, or resume it")
    if not found:
        raise RequestError("no source reads a catalog", f"add one: lineage-bridge source add NAME {'|'.join(CATALOGS)} SETTING=VALUE ...")
    return found


def _sources_of(target: ContinuousTarget, catalogs: list[SourceRecord], kinds: SourceKinds) -> list[SourceRecord]:
    found = [record for record in catalogs if CATALOGS[record.kind] == target.kind and _is_same(record.settings, target.settings)]
    if found:
        return found
    reading = [kind for kind, published in CATALOGS.items() if published == target.kind]
    if not reading:
        raise RequestError(
            f"target {target.name} cannot be read: no source reads systems of kind {target.kind}",
            f"catalogs are read by sources of kind {', '.join(CATALOGS)}",
        )
    raise RequestError(
        f"no source reads the catalog of target {target.name}",
        f"add one: lineage-bridge source add {target.name}-catalog {reading[0]} {_shared_settings(target, reading[0], kinds)}".rstrip(),
    )


def _is_same(source: Mapping[str, Any], target: Mapping[str, Any]) -> bool:
    pairs = ((source.get(setting), target.get(setting)) for setting in _SAME_CATALOG)
    return all(str(ours).rstrip("/") == str(theirs).rstrip("/") for ours, theirs in pairs if ours and theirs)


def _shared_settings(target: ContinuousTarget, kind: str, kinds: SourceKinds) -> str:
    """The settings that a target and sources of this kind have in common, as arguments for a shell. Secrets are only included as
    references.
    """
    try:
        known = kinds.load(kind).settings.model_fields
    except ConfigError:
        known = {}
    shared = ((setting, value) for setting, value in sorted(target.settings.items()) if setting in known)
    return " ".join(
        shlex.quote(f"{setting}={value if isinstance(value, str) else msgspec.json.encode(value).decode()}") for setting, value in shared
    )


class WholeObserver(StepwiseObserver[Any]):
    """Observes a source as one plane: polls again until a poll has reported everything."""

    def __init__(self, observer: Observer[Any]) -> None:
        super().__init__(observer.name, observer.settings)
        self._observer = observer

    def steps(
        self,
        before: Snapshot | None,
        shared: SharedMetadata,
        now_us: int,
        *,
        only: Selection = EVERYTHING,
        done: Collection[str] = (),
        on_progress: Callable[[PlaneRecord], None] = ignore_plane,
        stop: threading.Event | None = None,
    ) -> Iterator[PlaneStep]:
        """Poll repeatedly; the plane is done after the last poll. The source is always observed as a whole."""
        del only
        self._observer.stop = stop
        key, events, left, noticed = f"{PLANE} {self.name}", 0, True, 0
        unseen: dict[str, Unseen] = {}
        while left and key not in done and not (stop and stop.is_set()):
            seen = self._observer.observe(before, shared, now_us)
            unseen |= {found.what: found for found in seen.unseen}  # a later poll of a walk only says what it could not see itself
            seen = replace(seen, unseen=tuple(unseen.values()))
            events, before, postponed = events + len(seen.events), seen.snapshot, self._postponed(seen.snapshot)
            left, noticed = postponed > noticed, postponed
            plane = _plane(key, seen, events)
            on_progress(plane)
            yield PlaneStep(msgspec.structs.replace(plane, state=ASKED) if left else plane, seen)

    def _postponed(self, before: Snapshot) -> int:
        return self._observer.noticed_changes(lambda: before)

    def test(self) -> Iterator[Check]:
        """Try each step of a poll."""
        return self._observer.test()

    def observe(self, before: Snapshot | None, shared: SharedMetadata, now_us: int) -> Observation:
        """Poll once."""
        return self._observer.observe(before, shared, now_us)

    def noticed_changes(self, before: Callable[[], Snapshot | None]) -> int:
        """The number of changes that the observer has noticed, or of polls that could not report everything."""
        return self._observer.noticed_changes(before)

    def shared_metadata(self, snapshot: Snapshot) -> SharedMetadata:
        """The metadata in a snapshot that other sources use."""
        return self._observer.shared_metadata(snapshot)

    def close(self) -> None:
        """Close all connections."""
        self._observer.close()


def _plane(key: str, seen: Observation, events: int) -> PlaneRecord:
    why = tuple(f"{unseen.what}: {unseen.why}" for unseen in seen.unseen)
    hints = tuple(dict.fromkeys(unseen.hint for unseen in seen.unseen if unseen.hint))
    return PlaneRecord(key, PARTLY if why else OBSERVED, why, events, hints=hints)
