"""Finds lineage between runs: the runs that produced what a run read, and the runs that read what it produced."""

from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple
from uuid import UUID

from lineage_bridge.graph.relations import Side
from lineage_bridge.model.runs import RunLineage, RunLink
from lineage_bridge.openlineage.facets import DatasetVersionDatasetFacet, read_as
from lineage_bridge.store.connection import StoreConnection
from lineage_bridge.store.query.nodes import Nodes
from lineage_bridge.store.runs.run_rows import RunKey
from lineage_bridge.store.runs.runs import Runs

_JOBS = 100
"""The maximum number of jobs that are searched for a dataset."""
_RUNS = 20
"""The maximum number of runs that are searched for a job, before and after a time."""
_NAMING = "SELECT DISTINCT job FROM job_io WHERE dataset = ? AND side = ? AND origin = 1 LIMIT ?"
_AFTER = f"SELECT asserted_by FROM run_shape WHERE job = ? AND origin = 1 AND last >= ? ORDER BY last LIMIT {_RUNS}"
_BEFORE = f"SELECT asserted_by FROM run_shape WHERE job = ? AND origin = 1 AND last < ? ORDER BY last DESC LIMIT {_RUNS}"
_ACCESS = 'SELECT "first", "last" FROM run_io WHERE run = ? AND job = ? AND dataset = ? AND side = ?'
_VERSION = """SELECT f.text FROM assertion s JOIN facet_set c ON c.facet_set = s.facet_set AND c.key = 'version'
JOIN facet f ON f.facet = c.facet
WHERE s.asserted_by = ? AND s.job = ? AND s.node = ? AND s.side = ? AND f.deleted = 0 ORDER BY s.last DESC, s.last_event DESC LIMIT 1"""
_ROOTS = "SELECT parent_run, parent_job, root_run, root_job FROM run WHERE run = ? AND job = ?"


class _Access(NamedTuple):
    """The time span in which a run read or wrote a dataset."""

    run: RunKey
    first: int
    last: int


class RunLineageFinder:
    """Finds lineage between runs over one connection, with a bounded number of look-ups however many runs a job has."""

    def __init__(self, connection: StoreConnection, nodes: Nodes, runs: Runs) -> None:
        self.connection, self.nodes, self.runs = connection, nodes, runs
        self.cut = False
        self.producers = lru_cache(None)(self._producers)

    def find(self, run: bytes, direction: str, depth: int, limit: int) -> RunLineage:
        """The runs upstream or downstream of a run, hop by hop, each with its distance, and the datasets that connect them."""
        level: list[RunKey] = [(run, row[0]) for row in self.connection.execute("SELECT job FROM run WHERE run = ? ORDER BY job", (run,))]
        distances: dict[RunKey, int] = dict.fromkeys(level, 0)
        links: dict[RunLink, None] = {}
        for hop in range(1, depth + 1):
            following: list[RunKey] = []
            for key in level:
                for other, link in self._links(key, direction):
                    if other not in distances and len(distances) >= limit:
                        self.cut = True
                        continue
                    links[link] = None
                    if other not in distances:
                        distances[other] = hop
                        following.append(other)
            level = following
        nearest: dict[RunKey, tuple[int, RunKey]] = {}
        for key, hop in distances.items():
            nearest.setdefault((key[0], self.nodes.head(key[1])), (hop, key))
        records = [(hop, self.runs.record(*key)) for hop, key in nearest.values()]
        records.sort(key=lambda pair: (pair[0], pair[1].last, pair[1].run_id))
        return RunLineage(tuple(records), tuple(links), self.cut)

    def _links(self, key: RunKey, direction: str) -> Iterator[tuple[RunKey, RunLink]]:
        side = Side.INPUT if direction == "upstream" else Side.OUTPUT
        rows = self.connection.execute(
            "SELECT DISTINCT dataset FROM run_io WHERE run = ? AND job = ? AND side = ? ORDER BY dataset", (*key, int(side))
        )
        for (dataset,) in rows.fetchall():
            if direction == "upstream":
                yield from ((made, self._link(made, key, dataset, by)) for made, by in self.producers(key, dataset))
            else:
                yield from self._consumers(key, dataset)

    def _link(self, producer: RunKey, consumer: RunKey, dataset: int, by: str) -> RunLink:
        return RunLink(str(UUID(bytes=producer[0])), str(UUID(bytes=consumer[0])), self.nodes.by_id(dataset), by)

    def _consumers(self, key: RunKey, dataset: int) -> Iterator[tuple[RunKey, RunLink]]:
        written = self._access(key, dataset, Side.OUTPUT)
        if written is None:
            return
        for job in self._jobs(dataset, Side.INPUT):
            for (run,) in self.connection.execute(_AFTER, (job, written.first)).fetchall():
                reader = run, job
                named = next(
                    (id_ for id_ in sorted(self.nodes.expand([dataset])) if self._access(reader, id_, Side.INPUT, exact=True)), None
                )
                if named is None or reader == key:
                    continue
                yield from ((reader, self._link(made, reader, named, by)) for made, by in self.producers(reader, named) if made == key)

    def _producers(self, key: RunKey, dataset: int) -> tuple[tuple[RunKey, str], ...]:
        """The runs that produced what a run read of a dataset, each with the evidence."""
        read = self._access(key, dataset, Side.INPUT)
        if read is None:
            return ()
        before: list[_Access] = []
        during: list[_Access] = []
        for job in self._jobs(dataset, Side.OUTPUT):
            before += self._writers(_BEFORE, job, read.first, dataset, key)
            during += [made for made in self._writers(_AFTER, job, read.first, dataset, key) if made.first <= read.last]
        if version := self._version(key, dataset, Side.INPUT):
            same = [made.run for made in (*before, *during) if self._version(made.run, dataset, Side.OUTPUT) == version]
            if same:
                return tuple((run, "version") for run in sorted(set(same)))
        found = {made.run: "overlap" for made in during}
        related = [made for made in before if self._roots(made.run) & self._roots(key)]
        if related:
            found[max(related, key=lambda made: (made.last, made.run)).run] = "same_root"
        elif before:
            found[max(before, key=lambda made: (made.last, made.run)).run] = "latest"
        return tuple(sorted(found.items()))

    def _writers(self, sql: str, job: int, moment: int, dataset: int, other_than: RunKey) -> list[_Access]:
        runs = [(row[0], job) for row in self.connection.execute(sql, (job, moment)).fetchall()]
        found = (self._access(run, dataset, Side.OUTPUT) for run in runs if run != other_than)
        return [made for made in found if made is not None]

    def _access(self, key: RunKey, dataset: int, side: Side, *, exact: bool = False) -> _Access | None:
        """The time span in which a run named a dataset under any of its names; with `exact`, under this name only."""
        names = [dataset] if exact else sorted(self.nodes.expand([dataset]))
        rows = [row for id_ in names for row in self.connection.execute(_ACCESS, (*key, id_, int(side)))]
        return _Access(key, min(row[0] for row in rows), max(row[1] for row in rows)) if rows else None

    def _jobs(self, dataset: int, side: Side) -> list[int]:
        rows = [row for id_ in sorted(self.nodes.expand([dataset])) for row in self.connection.execute(_NAMING, (id_, int(side), _JOBS))]
        self.cut = self.cut or len(rows) >= _JOBS
        return sorted({row[0] for row in rows})

    def _version(self, key: RunKey, dataset: int, side: Side) -> str | None:
        for id_ in sorted(self.nodes.expand([dataset])):
            row = self.connection.execute(_VERSION, (*key, id_, int(side))).fetchone()
            facet = read_as(DatasetVersionDatasetFacet, "dataset", "version", row[0].encode()) if row else None
            if facet:
                return facet.datasetVersion
        return None

    def _roots(self, key: RunKey) -> frozenset[RunKey]:
        """The runs that contain a run: its parent and its root."""
        row = self.connection.execute(_ROOTS, key).fetchone()
        return frozenset(self.runs.resolved(*outer) for outer in (row[:2], row[2:]) if outer[0]) if row else frozenset()
