"""Reads the catalogs of targets as sources: what changed in them since they were last read is sent as events."""

import threading
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from functools import partial
from typing import Any, Final, TypeVar

from lineage_bridge.catalogs.calls import TargetCalls
from lineage_bridge.catalogs.events import digest
from lineage_bridge.catalogs.settings import ReadableSettings
from lineage_bridge.catalogs.target import CatalogEntry, CatalogPart, Json, ReadableCatalog, Target
from lineage_bridge.errors import BusyError, ConfigError, SourceError, StoppedError, UnauthenticatedError, UnreachableError
from lineage_bridge.model.sources import SourceCheck
from lineage_bridge.model.tasks import ASKED, PlaneRecord
from lineage_bridge.openlineage.event_builder import EventBuilder
from lineage_bridge.sources.common.observer import Observation, Snapshot, Unseen
from lineage_bridge.sources.common.shared_metadata import NO_METADATA, SharedMetadata
from lineage_bridge.sources.common.stepwise import (
    EVERYTHING,
    FAILED,
    OBSERVED,
    PARTLY,
    PlaneStep,
    Selection,
    StepwiseObserver,
    ignore_plane,
)
from lineage_bridge.sources.runtime.extraction import ENRICHMENT

PRODUCER: Final = "https://lineagebridge.dev/enrichment"
OUT: Final = EventBuilder(PRODUCER)
MOST_PARTS, MOST_ENTRIES, MOST_UNSEEN = 10_000, 100_000, 100
"""The maximum numbers of parts and entries of a catalog that are read, and of reasons that are listed for a part."""
AnswerT = TypeVar("AnswerT")
Sent = dict[str, list[Any]]
"""Entries of a part that were sent, by name: the digest of the event, and the names of the dataset's facets."""


class CatalogObserver(StepwiseObserver[ReadableSettings]):
    """The catalog of a target as a source. Its snapshot has the digests of what was sent, by part.

    What is not listed any more is not reported as deleted, since catalogs list only what the credentials may see.
    """

    def __init__(self, target: Target[Any], clock_us: Callable[[], int]) -> None:
        super().__init__(target.name, target.settings)
        if not isinstance(target, ReadableCatalog):
            raise ConfigError(f"the catalog of target {target.name} cannot be read")
        self._target, self._catalog, self._clock_us = target, target, clock_us

    def test(self) -> Iterator[SourceCheck]:
        """The checks of the target."""
        yield from self._target.test()

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
        """Read the catalog, part by part; a step for each page. See StepwiseObserver."""
        del shared
        if ENRICHMENT in only.off:
            return
        reading = _Reading(self._target, self._catalog, self._clock_us, now_us, stop or threading.Event(), before)
        yield from reading.steps(done, on_progress)

    def shared_metadata(self, snapshot: Snapshot) -> SharedMetadata:
        """None."""
        del snapshot
        return NO_METADATA

    def close(self) -> None:
        """Close connections."""
        self._target.close()


class _Reading:
    """One reading of a catalog."""

    def __init__(
        self,
        target: Target[Any],
        catalog: ReadableCatalog,
        clock_us: Callable[[], int],
        now_us: int,
        stop: threading.Event,
        before: Snapshot | None,
    ) -> None:
        self._target, self._catalog, self._clock_us, self._now_us, self._stop = target, catalog, clock_us, now_us, stop
        self._calls = TargetCalls(target, clock_us, self._wait, stop.is_set)
        self._parts: dict[str, Sent] = dict((before or {}).get("parts", {}))
        self._room = MOST_ENTRIES
        self._made = 0
        self._unseen: list[Unseen] = []
        self._over: SourceError | None = None

    def steps(self, done: Collection[str], on_progress: Callable[[PlaneRecord], None]) -> Iterator[PlaneStep]:
        """A step for the list of parts, and for each page of each part."""
        began = self._clock_us()
        parts, problems = self._listed()
        self._unseen += problems
        self._parts = {part.name: self._parts[part.name] for part in parts if part.name in self._parts}
        plane = PlaneRecord(f"{ENRICHMENT} {self._target.name}", OBSERVED, requests=self._made, took_us=self._clock_us() - began)
        yield self._step(_with_problems(plane, problems))
        for part in parts:
            key = f"{ENRICHMENT} {self._target.name} {part.name}"
            if key not in done:
                yield from self._part(PlaneRecord(key, ASKED), part, on_progress)

    def _listed(self) -> tuple[list[CatalogPart], list[Unseen]]:
        """The parts to read. Raises SourceError: a list that fails is not an empty one."""
        globs: Sequence[str] = self._target.settings.enrich_from
        found: list[CatalogPart] = []
        problems: list[Unseen] = []
        token, going = "", True
        while going:
            page = self._asked(partial(self._catalog.parts, token))
            found += [part for part in page.parts if not globs or any(fnmatchcase(part.name, glob) for glob in globs)]
            problems += page.unseen
            going, token = _following(token, page.next), page.next
            if len(found) > MOST_PARTS:
                problems.append(Unseen("catalog", f"it has more than {MOST_PARTS} parts", "choose some with the setting enrich_from"))
                break
        return found[:MOST_PARTS], problems

    def _part(self, plane: PlaneRecord, part: CatalogPart, on_progress: Callable[[PlaneRecord], None]) -> Iterator[PlaneStep]:
        """The pages of a part. If one fails, what the part was known to have stays known."""
        began, made = self._clock_us(), self._made
        before, after = self._parts.get(part.name, {}), Sent()
        problems: list[Unseen] = []
        token, going, sent, failure = "", True, 0, self._over
        while going and failure is None:
            try:
                page = self._asked(partial(self._catalog.entries, part, token, self._now_us, self._stop))
                going, token = _following(token, page.next), page.next
            except StoppedError:
                raise
            except SourceError as error:
                failure = error
                break
            entries = page.entries[: self._room]
            self._room -= len(entries)
            if len(entries) < len(page.entries) or (going and not self._room):
                going = False
                problems.append(Unseen(part.name, f"more than {MOST_ENTRIES} entries", "choose parts with the setting enrich_from"))
            problems += page.unseen
            events = list(self._changed(entries, before, after))
            sent += len(events)
            self._parts[part.name] = {**before, **after}
            plane = PlaneRecord(plane.key, ASKED, (), sent, self._made - made, self._clock_us() - began)
            on_progress(plane)
            if going:
                yield self._step(plane, events)
                continue
            if not problems:
                self._parts[part.name] = after
            self._unseen += problems[:MOST_UNSEEN]
            yield self._step(_with_problems(PlaneRecord(plane.key, OBSERVED, (), *_counts(plane)), problems), events)
            return
        problem = Unseen(part.name, str(failure), failure.hint if failure else "")
        self._unseen.append(problem)
        hints = (problem.hint,) if problem.hint else ()
        yield self._step(PlaneRecord(plane.key, FAILED, (problem.why,), *_counts(plane), hints))

    def _step(self, plane: PlaneRecord, events: Sequence[Json] = ()) -> PlaneStep:
        return PlaneStep(plane, Observation({"parts": dict(self._parts)}, tuple(events), unseen=tuple(self._unseen)))

    def _changed(self, entries: Sequence[CatalogEntry], before: Mapping[str, list[Any]], after: Sent) -> Iterator[Json]:
        """The events of entries that differ from what was sent; facets that an entry has no longer are deleted."""
        for entry in entries:
            facets = sorted(entry.event.get("dataset", {}).get("facets", {}))
            after[entry.name] = [digest(entry.event), facets]
            known = before.get(entry.name)
            if known is None:
                yield entry.event
            elif known[0] != after[entry.name][0]:
                yield _without(entry.event, [name for name in known[1] if name not in facets])

    def _asked(self, call: Callable[[], AnswerT]) -> AnswerT:
        """The answer of a call. Raises StoppedError, SourceError; after one that every other call would meet, no more are made."""
        self._made += 1
        try:
            ((_, answer),) = self._calls.answers(lambda _: call(), [""])
        except (BusyError, UnauthenticatedError, UnreachableError) as error:
            self._over = error
            raise
        if isinstance(answer, SourceError):
            raise answer
        return answer

    def _wait(self, seconds: float) -> None:
        if self._stop.wait(seconds):
            raise StoppedError("stopped")


def _following(token: str, following: str) -> bool:
    """Whether there is another page. Raises SourceError if it would be the same one."""
    if following and following == token:
        raise SourceError("the catalog answered the same page again", "report it to the catalog's vendor")
    return bool(following)


def _with_problems(plane: PlaneRecord, problems: Sequence[Unseen]) -> PlaneRecord:
    """The plane as partly observed, if there are problems."""
    if not problems:
        return plane
    why = tuple(f"{problem.what}: {problem.why}" for problem in problems[:MOST_UNSEEN])
    hints = tuple(sorted({problem.hint for problem in problems if problem.hint}))
    return PlaneRecord(plane.key, PARTLY, why, *_counts(plane), hints)


def _counts(plane: PlaneRecord) -> tuple[int, int, int]:
    return plane.events, plane.requests, plane.took_us


def _without(event: Json, facets: Sequence[str]) -> Json:
    """An event that also deletes facets of its dataset."""
    if not facets:
        return event
    dataset = event["dataset"]
    return {**event, "dataset": {**dataset, "facets": {**dataset["facets"], **{name: OUT.deleted_facet() for name in facets}}}}
