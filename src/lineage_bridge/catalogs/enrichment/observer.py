"""Reads the catalog of a target as a source: what it has about datasets of the graph is stated under a facet of the target's own."""

import threading
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any, Final

from lineage_bridge.catalogs.calls import TargetCalls
from lineage_bridge.catalogs.enrichment.tables import OpenGraph, TablesFound, find_tables
from lineage_bridge.catalogs.events import digest_of
from lineage_bridge.catalogs.target import CatalogAnswer, Json, ObjectKey, ReadableCatalog
from lineage_bridge.errors import SourceError, StoppedError
from lineage_bridge.model.sources import SourceCheck
from lineage_bridge.model.tasks import ASKED, PlaneRecord
from lineage_bridge.openlineage.event_builder import EventBuilder
from lineage_bridge.openlineage.facets.enrichment import enrichment_key
from lineage_bridge.openlineage.naming import DatasetName
from lineage_bridge.sources.common.observer import Observation, Snapshot, Unseen
from lineage_bridge.sources.common.settings import SourceSettings
from lineage_bridge.sources.common.shared_metadata import NO_METADATA, SharedMetadata
from lineage_bridge.sources.common.stepwise import (
    EVERYTHING,
    OBSERVED,
    PARTLY,
    PlaneStep,
    Selection,
    StepwiseObserver,
    ignore_plane,
)

PLANE: Final = "enrichment"
BATCH, MOST_PROBLEMS = 25, 100
"""How many tables one step reads with each of the calls that may run at once, and how many problems are listed."""
_TAKEN_BACK = 500
"""How many facets one step takes back."""
_OUT: Final = EventBuilder("https://lineagebridge.dev/enrichment")


class CatalogSettings(SourceSettings):
    """The settings of a target's catalog as a source. Which catalog it is, its snapshot says."""


@dataclass(frozen=True)
class CatalogAccess:
    """What an enrichment works with: the catalog, None if all that was stated is to be taken back, and the graph.

    `check` raises LineageBridgeError once the target must not be read any more, such as when it was paused. It is called before each step.
    """

    catalog: ReadableCatalog[Any] | None
    graph: OpenGraph
    clock_us: Callable[[], int]
    check: Callable[[], None]


class CatalogObserver(StepwiseObserver[CatalogSettings]):
    """The catalog of the target `name` as a source.

    Its snapshot has the digest of each facet that was stated and not taken back, by dataset, and the catalog that it came from. Digests
    from another catalog count for nothing. A facet is taken back only if the catalog answers that it has no such table, or if the dataset
    is no table of it any more.
    """

    def __init__(self, name: str, access: CatalogAccess) -> None:
        super().__init__(name, CatalogSettings())
        self._access = access

    def test(self) -> Iterator[SourceCheck]:
        """The checks of the target."""
        yield from self._access.catalog.test() if self._access.catalog else ()

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
        """Read the catalog, some tables in each step. See StepwiseObserver. Raises SourceError if not one table could be read."""
        del shared, only
        if f"{PLANE} {self.name}" not in done:
            yield from _Reading(self.name, self._access, now_us, stop or threading.Event(), on_progress, before or {}).steps()

    def shared_metadata(self, snapshot: Snapshot) -> SharedMetadata:
        """None."""
        del snapshot
        return NO_METADATA

    def close(self) -> None:
        """Close connections."""
        if self._access.catalog:
            self._access.catalog.close()


@dataclass
class _Reading:
    """One reading of a catalog; `before` is the snapshot of the last one."""

    name: str
    access: CatalogAccess
    now_us: int
    stop: threading.Event
    on_progress: Callable[[PlaneRecord], None]
    before: Snapshot
    catalog: str = ""
    digests: dict[DatasetName, str] = field(default_factory=dict)
    problems: list[Unseen] = field(default_factory=list)
    unlisted: int = 0
    read: int = 0
    calls: int = 0
    events: int = 0

    def steps(self) -> Iterator[PlaneStep]:
        """A step for each portion of datasets whose facet is to be taken back, then for each portion of tables, and one for the end."""
        catalog = self.access.catalog
        self.catalog = catalog.catalog if catalog else str(self.before.get("catalog", ""))
        is_same = self.before.get("catalog") == self.catalog
        stated: Mapping[str, Mapping[str, str]] = self.before.get("stated", {})
        self.digests = {(space, name): digest if is_same else "" for space, names in stated.items() for name, digest in names.items()}
        found = find_tables(self.access.graph, catalog, self.digests.keys(), self.stop)
        for problem in found.problems:
            self._note(problem)
        for events in self._outdated(found):
            yield self._step(ASKED, events)
        for events in self._described(found, catalog) if catalog else ():
            yield self._step(ASKED, events)
        yield self._step(PARTLY if self.problems else OBSERVED, ())

    def _outdated(self, found: TablesFound) -> Iterator[list[Json]]:
        """Take the facet back from datasets that are no table of the catalog any more. Those that have left the graph are forgotten."""
        current = found.kept.union(*found.names.values())
        outdated = sorted(self.digests.keys() - current)
        for name in outdated:
            if name not in found.present:
                del self.digests[name]
        present = [name for name in outdated if name in found.present]
        for at in range(0, len(present), _TAKEN_BACK):
            self.access.check()
            yield [self._taken_back(name) for name in present[at : at + _TAKEN_BACK]]

    def _described(self, found: TablesFound, catalog: ReadableCatalog[Any]) -> Iterator[list[Json]]:
        """State what the catalog has about each table, if it differs from what was stated. Raises SourceError."""
        calls = TargetCalls(catalog, self.access.clock_us, self._wait, self.stop.is_set)

        def describe(key: ObjectKey) -> CatalogAnswer:
            ((_, answer),) = calls.answers(lambda keys: catalog.describe(keys[0]), [key])
            return CatalogAnswer(None, str(answer), answer.hint) if isinstance(answer, SourceError) else answer

        tables, batch = sorted(found.names.items()), BATCH * catalog.settings.at_once
        with ThreadPoolExecutor(catalog.settings.at_once, thread_name_prefix="enrich") as pool:
            for at in range(0, len(tables), batch):
                self.access.check()
                some = tables[at : at + batch]
                events = []
                for (key, names), answer in zip(some, pool.map(describe, [key for key, _ in some]), strict=True):
                    self.calls += 1
                    if answer.problem:
                        self._note(Unseen(f"table {key.name}", answer.problem, answer.hint))
                        continue
                    self.read += 1
                    events += [event for name in names if (event := self._event(key, name, answer.members)) is not None]
                if not self.read:
                    first = self.problems[-1]
                    raise SourceError(f"no table could be read: {first.why}", first.hint)
                yield events

    def _event(self, key: ObjectKey, name: DatasetName, members: Json | None) -> Json | None:
        """The event that states what the catalog has about a dataset; None if nothing has to be stated."""
        if members is None:
            return self._taken_back(name) if name in self.digests else None
        facet = _OUT.own_facet(
            "1-0-0", "LineageBridgeEnrichmentDatasetFacet", target=self.name, catalog=self.catalog, table=key.name, **members
        )
        digest = digest_of(facet)
        if self.digests.get(name) == digest:
            return None
        self.digests[name] = digest
        return _OUT.dataset_event(self.now_us, name, {enrichment_key(self.name): facet})

    def _taken_back(self, name: DatasetName) -> Json:
        del self.digests[name]
        return _OUT.dataset_event(self.now_us, name, {enrichment_key(self.name): _OUT.deleted_facet()})

    def _step(self, state: str, events: Sequence[Json]) -> PlaneStep:
        self.events += len(events)
        stated: dict[str, dict[str, str]] = {}
        for (space, name), digest in self.digests.items():
            stated.setdefault(space, {})[name] = digest
        why = [f"{problem.what}: {problem.why}" for problem in self.problems] if state != ASKED else []
        if why and self.unlisted:
            why.append(f"{self.unlisted} more")
        hints = tuple(sorted({problem.hint for problem in self.problems if problem.hint})) if why else ()
        took_us = self.access.clock_us() - self.now_us
        plane = PlaneRecord(f"{PLANE} {self.name}", state, tuple(why), self.events, self.calls, took_us, hints)
        self.on_progress(plane)
        snapshot = {"catalog": self.catalog, "stated": stated}
        return PlaneStep(plane, Observation(snapshot, tuple(events), unseen=tuple(self.problems)))

    def _note(self, problem: Unseen) -> None:
        if len(self.problems) < MOST_PROBLEMS:
            self.problems.append(problem)
        else:
            self.unlisted += 1

    def _wait(self, seconds: float) -> None:
        if self.stop.wait(seconds):
            raise StoppedError("stopped")
