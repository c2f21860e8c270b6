"""Lists runs: those of a job, those inside another run, and by state and time."""

from collections.abc import Iterable, Iterator, Sequence
from heapq import merge
from itertools import chain, islice
from typing import NamedTuple
from uuid import UUID

from lineage_bridge.graph.merge_rules import Row
from lineage_bridge.model.runs import Dependency, RunFilter, RunPage, RunRecord, RunTree
from lineage_bridge.store.chunks import marks
from lineage_bridge.store.connection import StoreConnection
from lineage_bridge.store.runs.run_rows import RunKey
from lineage_bridge.store.runs.runs import Runs

_SCAN = 20_000
"""How many runs a search by state examines."""
_SPANNING = 5_000
"""How many runs with events after `until` are searched for those that began before it."""
_ALL_TIME = 2**63 - 1

_LATER = """SELECT asserted_by, job, last, 1 FROM (SELECT asserted_by, job, first, last FROM run_shape
WHERE job = :job AND origin = 1 AND last >= :until ORDER BY last LIMIT :spanning) later WHERE first < :until AND last >= :since
ORDER BY last DESC, asserted_by DESC"""
_EARLIER = """SELECT asserted_by, job, last, 1 FROM run_shape WHERE job = :job AND origin = 1 AND last >= :since AND last < :until
ORDER BY last DESC, asserted_by DESC"""
_INSIDE = """SELECT r.run, r.job, p.last, 1 FROM (SELECT run, job FROM run WHERE parent_run = :parent LIMIT :scan) r
JOIN run_shape p ON p.asserted_by = r.run AND p.job = r.job
WHERE p.last >= :since AND p.first < :until AND (CAST(:job AS BIGINT) IS NULL OR r.job = :job) ORDER BY p.last DESC, r.run DESC, r.job"""
_CHILDREN = """SELECT r.run, r.job FROM (SELECT run, job FROM run WHERE parent_run = ? AND parent_job {} ({}) LIMIT ?) r
JOIN run_shape p ON p.asserted_by = r.run AND p.job = r.job ORDER BY p.first, r.run, r.job"""
_DEPENDENCIES = """SELECT direction, other_job, other_run, dependency, sequence, status FROM job_dependency
WHERE run = ? AND job IN ({}) LIMIT ?"""

_UNOBSERVED = """SELECT c.run, c.job, max(c.last), 0 FROM (
SELECT parent_run AS run, parent_job AS job, parent_time AS last FROM (SELECT * FROM run
WHERE parent_job = :job AND parent_run IS NOT NULL AND parent_sure = 1 ORDER BY parent_time DESC LIMIT :spanning) p
UNION ALL SELECT root_run, root_job, parent_time FROM (SELECT * FROM run
WHERE root_job = :job AND root_run IS NOT NULL AND root_run <> parent_run AND parent_sure = 1
ORDER BY parent_time DESC LIMIT :spanning) p) c
WHERE c.last >= :since AND c.last < :until AND NOT EXISTS (SELECT 1 FROM run r WHERE r.run = c.run)
GROUP BY c.run, c.job ORDER BY max(c.last) DESC, c.run DESC"""
"""Runs of a job that never sent an event, but that other runs name. Only the newest of those other runs are read."""


class _Candidates(NamedTuple):
    rows: Iterable[Row]
    cut: bool


class RunLists:
    """Lists runs over one connection."""

    def __init__(self, connection: StoreConnection, runs: Runs) -> None:
        self.connection, self.runs = connection, runs

    def page(self, which: RunFilter) -> RunPage:
        """A page of runs, the one with the latest event first."""
        candidates = self._inside(which) if which.parent is not None else self._of_job(which)
        found: list[RunRecord] = []
        listed: set[RunKey] = set()
        skipped = seen = 0
        for seen, (asserter, job, _, observed) in enumerate(candidates.rows, 1):
            if seen > _SCAN and which.state is not None:
                return RunPage(tuple(found), truncated=True)
            key = asserter, self.runs.nodes.head(job)
            if key in listed:
                continue
            listed.add(key)
            if which.state is not None and self.runs.state(asserter, job).state != which.state:
                continue
            if skipped < which.offset:
                skipped += 1
                continue
            found += [self.runs.record(asserter, job)] if observed else self._placeholder(*key)
            if len(found) == which.limit:
                break
        return RunPage(tuple(found), candidates.cut)

    def _placeholder(self, run: bytes, job: int) -> list[RunRecord]:
        return [record for record in self.runs.of_id(run) if self.runs.nodes.head(record.job.id) == job]

    def _of_job(self, which: RunFilter) -> _Candidates:
        """The runs of a job under any of its names."""
        names = [which.job] if which.job is None else self.runs.nodes.members(which.job)
        each = [self._of_name({**self._values(which), "job": name}, which) for name in names]
        unobserved = [self.connection.execute(_UNOBSERVED, {**self._values(which), "job": name}) for name in names]
        rows = merge(*(some.rows for some in each), *unobserved, key=lambda row: (row[2], row[0]), reverse=True)
        return _Candidates(rows, any(some.cut for some in each))

    def _of_name(self, values: dict[str, object], which: RunFilter) -> _Candidates:
        if which.until is None:
            return _Candidates(self.connection.execute(_EARLIER, values), False)
        (later,) = self.connection.execute(
            "SELECT count(*) FROM (SELECT 1 FROM run_shape WHERE job = :job AND origin = 1 AND last >= :until LIMIT :spanning) s", values
        ).fetchone()
        rows = chain(self.connection.execute(_LATER, values), self.connection.execute(_EARLIER, values))
        return _Candidates(rows, later == _SPANNING)

    def _inside(self, which: RunFilter) -> _Candidates:
        values = self._values(which)
        (children,) = self.connection.execute(
            "SELECT count(*) FROM (SELECT 1 FROM run WHERE parent_run = :parent LIMIT :scan + 1) s", values
        ).fetchone()
        return _Candidates(self.connection.execute(_INSIDE, values), children > _SCAN)

    def _values(self, which: RunFilter) -> dict[str, object]:
        return {
            "job": which.job,
            "parent": which.parent,
            "since": -_ALL_TIME if which.since is None else which.since,
            "until": _ALL_TIME if which.until is None else which.until,
            "scan": _SCAN,
            "spanning": _SPANNING,
        }

    def dependencies(self, run: bytes, job: int, limit: int) -> list[Dependency]:
        """The job dependencies that a run of a job reported, sorted by direction and name."""
        names = self.runs.nodes.members(job)
        rows = self.connection.execute(_DEPENDENCIES.format(marks(names)), (run, *names, limit)).fetchall()
        found = {
            Dependency(("upstream", "downstream")[direction], self.runs.nodes.by_id(job), str(UUID(bytes=other)) if other else None, rules)
            for direction, job, other, *stated in rows
            for rules in [(stated[0], stated[1], stated[2])]
        }
        return sorted(found, key=lambda d: (d.direction != "upstream", d.job.namespace, d.job.name, d.run_id or "", d.rules))

    def tree(self, run: bytes, limit: int) -> RunTree:
        """A run and the runs inside it, depth first, each level in the order of start times. A run of several jobs is listed once for each
        job.
        """
        found = list(islice(self._below(run, limit + 1), limit + 1))
        return RunTree(tuple(found[:limit]), truncated=len(found) > limit)

    def _below(self, run: bytes, limit: int) -> Iterator[tuple[int, RunRecord]]:
        """The runs inside a run. Uses an explicit stack, because runs may be nested deeper than Python's recursion limit."""
        head = self.runs.nodes.head
        roots = {(run, head(record.job.id)): record for record in self.runs.of_id(run)}
        seen: set[RunKey] = set()
        stack: list[tuple[int, RunKey]] = [(0, key) for key in reversed(roots)]
        while stack:
            level, key = stack.pop()
            if key in seen:
                continue
            seen.add(key)
            yield level, roots[key] if key in roots else self.runs.record(*key)
            jobs = [job for _, job in roots] if key in roots else [head(node.id) for node in self.runs.jobs_of(key[0])]
            stack += [(level + 1, (child, head(job))) for child, job in reversed(self._children(key, jobs, limit))]

    def _children(self, key: RunKey, jobs: Sequence[int], limit: int) -> list[RunKey]:
        """The runs inside a run of a job. `jobs` are all jobs with a run of this id; a child that names none of them belongs to the
        first.
        """
        run, job = key
        first = job == jobs[0]
        names = [name for other in jobs if (other != job) == first for name in self.runs.nodes.members(other)] or [0]
        sql = _CHILDREN.format("NOT IN" if first else "IN", marks(names))
        return self.connection.execute(sql, (run, *names, limit)).fetchall()
