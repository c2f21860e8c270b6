"""Finds the old runs that can go without a change of the present graph, or of the graph as of any time since they were old.

A run stays if it is the evidence of something: if a job's flows, a facet or the first mention of a node would be lost, or get another time,
without it. Whatever a job repeats needs two runs, the first and the last of those that are old: newer runs prove nothing, because they may
still change, and answers as of a time before them need what was last then. So the runs that stay are bounded by the size of the graph, not
by its age.
"""

from collections.abc import Collection, Iterator
from itertools import groupby
from typing import Final, NamedTuple

from lineage_bridge.graph.contents.search_terms import SEARCHED_OF_RUNS
from lineage_bridge.graph.facts.events import NAMING_KEYS
from lineage_bridge.graph.flows.run_shape import SHAPING_KEYS
from lineage_bridge.graph.identity.claims import CLAIMING
from lineage_bridge.graph.relations import Side
from lineage_bridge.model.keeping.retention import KEPT, RetentionPolicy
from lineage_bridge.store.connection import StoreConnection
from lineage_bridge.store.runs.processing import ProcessingTypes

NEWEST_RUNS: Final = 10
"""Of each job, this many newest runs stay, however old."""
NEWEST_COMPLETE: Final = 3
"""As many COMPLETE runs decide whether a flow is superseded (store/query/labels.py)."""
WINDOW: Final = 100_000
"""The most old runs that are examined at once."""


def _ranked(table: str, run: str, partition: str, order: str, most: int = 1) -> str:
    """The query for the runs of the first rows of each partition."""
    rank = f"row_number() OVER (PARTITION BY {partition} ORDER BY {order})"
    return f"SELECT run FROM (SELECT {run} AS run, {rank} AS number FROM {table}) ranked WHERE number <= {most}"


def _first_and_last(table: str, run: str, partition: str) -> tuple[str, str]:
    return _ranked(table, run, partition, f"first, {run}"), _ranked(table, run, partition, f"last DESC, {run} DESC")


def _of_old(table: str, run: str = "asserted_by", select: str = "t.*") -> str:
    """The rows of a table that belong to old runs."""
    return f"""(SELECT {select} FROM {table} t WHERE EXISTS (SELECT 1 FROM run_shape old
WHERE old.asserted_by = t.{run} AND old.job = t.job AND old.origin = 1 AND old.last < :before)) t"""


_NUMBERED = "row_number() OVER (PARTITION BY job ORDER BY last DESC, asserted_by DESC) AS number"
_NEWEST = f"""SELECT asserted_by FROM (SELECT asserted_by, last, {_NUMBERED} FROM run_shape WHERE origin = 1) ranked
WHERE number <= {NEWEST_RUNS} AND last < :before"""
_COMPLETE = """(SELECT p.asserted_by, p.job, p.last, CASE WHEN s.inputs > 0 THEN 1 ELSE 0 END AS reads,
CASE WHEN s.outputs > 0 THEN 1 ELSE 0 END AS writes FROM run_shape p JOIN shape s ON s.shape = p.shape
WHERE p.origin = 1 AND p.last < :before
AND EXISTS (SELECT 1 FROM run_event e WHERE e.run = p.asserted_by AND e.job = p.job AND e.type = 'COMPLETE')) c"""
_FAIL = "FROM run_event f WHERE f.run = p.asserted_by AND f.job = p.job AND f.type = 'FAIL'"
_SOUND = f"(SELECT * FROM run_shape p WHERE p.origin = 1 AND p.last < :before AND NOT EXISTS (SELECT 1 {_FAIL})) p"
_RESUMED = f"""(SELECT p.asserted_by, p.job, p.shape, e.type, e.last FROM run_shape p
JOIN run_event e ON e.run = p.asserted_by AND e.job = p.job AND e.type <> 'FAIL'
WHERE p.origin = 1 AND p.last < :before AND e.last > (SELECT max(f.last) {_FAIL})) p"""
_STITCHED = f"""(SELECT t.asserted_by, t.job, t.reader_job, w.shape, r.shape AS reader_shape, w.first, w.last FROM {_of_old("stitch")}
JOIN run_shape w ON w.asserted_by = t.asserted_by AND w.job = t.job
JOIN run_shape r ON r.asserted_by = t.reader AND r.job = t.reader_job) t"""
_EVIDENCE: Final = (
    _NEWEST,
    _ranked(_COMPLETE, "asserted_by", "job, reads, writes", "last DESC, asserted_by DESC", NEWEST_COMPLETE),
    _ranked(_SOUND, "asserted_by", "job, shape", "last DESC, asserted_by DESC"),
    _ranked(_RESUMED, "asserted_by", "job, shape, type", "last DESC, asserted_by DESC"),
    *_first_and_last(_of_old("run_shape_day"), "asserted_by", "job, shape"),
    *_first_and_last(_of_old("lifecycle"), "asserted_by", "job, dataset, change, previous"),
    *_first_and_last(_of_old("foreign_assertion"), "asserted_by", "job, node, side, why, principal, namespaces, facet_set"),
    *_first_and_last(_of_old("job_dependency", "run"), "run", 'job, direction, other_job, dependency, "sequence", status'),
    _ranked(_of_old("run", "run"), "run", "job, parent_job, root_job", "parent_time DESC, run DESC"),
    *_first_and_last(_STITCHED, "asserted_by", "job, reader_job, shape, reader_shape"),
    "SELECT asserted_by FROM event WHERE effective IN (SELECT first FROM node) AND effective < :before",
)
"""Queries for the old runs that are the newest of their jobs, or the evidence of flows, of their success, of changes,
dependencies, parents, or first mentions of nodes. Runs whose last event was before the time `before` are old.
"""
_SIDES = ", ".join(str(int(side)) for side in (Side.INPUT, Side.OUTPUT, Side.SELF, Side.CATALOG))
_KEYS = ", ".join(f"'{key}'" for key in sorted(SEARCHED_OF_RUNS))
_SUBJECT = "job, node, side, origin"
_EXTREMES = f"""(SELECT asserted_by, {_SUBJECT}, facet_set, first, first_event, last, last_event,
row_number() OVER (PARTITION BY {_SUBJECT}, facet_set ORDER BY first, first_event) AS from_first,
row_number() OVER (PARTITION BY {_SUBJECT}, facet_set ORDER BY last DESC, last_event DESC) AS from_last
FROM {_of_old("assertion")} WHERE side IN ({_SIDES}) OR (side = {int(Side.RUN)} AND facet_set IN (
SELECT facet_set FROM facet_set WHERE "key" IN ({_KEYS})))) a"""
_FACETS = f"""SELECT asserted_by, namespace, last, "key", of_key FROM (
SELECT a.asserted_by, n.namespace, a.last, c."key",
row_number() OVER (PARTITION BY {_SUBJECT}, c."key", c.facet ORDER BY a.first, a.first_event) AS since_first,
row_number() OVER (PARTITION BY {_SUBJECT}, c."key", c.facet ORDER BY a.last DESC, a.last_event DESC) AS since_last,
row_number() OVER (PARTITION BY {_SUBJECT}, c."key" ORDER BY a.last DESC, a.last_event DESC) AS of_key
FROM {_EXTREMES} JOIN facet_set c ON c.facet_set = a.facet_set LEFT JOIN node n ON n.id = a.job
WHERE a.from_first = 1 OR a.from_last = 1) ranked WHERE since_first = 1 OR since_last = 1"""
"""The runs that were the first or the last of a job to state a facet."""
_NAMING = NAMING_KEYS | SHAPING_KEYS | frozenset(CLAIMING)
_OLD = """SELECT p.last, p.asserted_by, p.job, n.namespace FROM run_shape p JOIN node n ON n.id = p.job
WHERE p.origin = 1 AND p.last < ? AND (p.last, p.asserted_by, p.job) > (?, ?, ?) ORDER BY p.last, p.asserted_by, p.job LIMIT ?"""
_SEVERAL_JOBS = """SELECT p.asserted_by, n.namespace, p.last FROM run_shape p JOIN node n ON n.id = p.job
WHERE p.asserted_by IN (SELECT asserted_by FROM run_shape GROUP BY asserted_by HAVING count(*) > 1)"""
_OPEN = """FROM run_shape p WHERE p.origin = 1 AND p.last < ? AND NOT EXISTS (
SELECT 1 FROM run_event e WHERE e.run = p.asserted_by AND e.type IN ('COMPLETE', 'FAIL', 'ABORT'))"""
_SIBLINGS = """SELECT s.parent, s.parent_job, s.asserted_by, s.last, n.namespace FROM sibling s JOIN node n ON n.id = s.job
ORDER BY s.parent, s.parent_job"""


class RunKey(NamedTuple):
    """The key by which runs are in the order of their last events."""

    last: int = KEPT
    run: bytes = b""
    job: int = KEPT


class OldRuns:
    """Finds the runs that are old and that nothing needs, within a read transaction of a connection."""

    def __init__(self, connection: StoreConnection, policy: RetentionPolicy) -> None:
        self._connection, self._policy = connection, policy

    def is_settled(self) -> bool:
        """Whether nothing waits to be derived that says what is needed."""
        waiting = "SELECT EXISTS (SELECT 1 FROM derive_queue) OR EXISTS (SELECT 1 FROM stitch_queue)"
        return not self._connection.execute(waiting).fetchone()[0]

    def positions(self) -> dict[tuple[str, int], int]:
        """How far the graph had read each partition when the transaction began."""
        return {(source, number): at for source, number, at in self._connection.execute('SELECT source, partition, "offset" FROM position')}

    def window(self, after: RunKey, needed: Collection[bytes]) -> tuple[list[bytes], RunKey | None]:
        """The runs that can go, of a window of old runs after a key: those that are not `needed`. Also returns the last key, if more runs
        follow.
        """
        rows = self._connection.execute(_OLD, (self._policy.latest.runs, *after, WINDOW)).fetchall()
        found = dict.fromkeys(bytes(run) for last, run, _, namespace in rows if self._is_old(last, namespace))
        return [run for run in found if run not in needed], RunKey(*rows[-1][:3]) if len(rows) == WINDOW else None

    def needed(self) -> set[bytes]:
        """The old runs that stay."""
        needed = {run for run, namespace, last in self._connection.scan(_SEVERAL_JOBS) if not self._is_old(last, namespace)}
        needed.update(self._open_streams())
        for before in sorted({cutoffs.runs for _, cutoffs in self._policy.rules} - {KEPT}):
            for sql in _EVIDENCE:
                needed.update(run for (run,) in self._connection.scan(sql, {"before": before}))
            for run, namespace, last, key, of_key in self._connection.scan(_FACETS, {"before": before}):
                if of_key == 1 or key in _NAMING or last >= self._policy.cutoffs_of(namespace or "").facets:
                    needed.add(run)
        while more := self._siblings_of(needed):
            needed |= more
        return needed

    def _is_old(self, last: int, namespace: str) -> bool:
        return last < self._policy.cutoffs_of(namespace).runs

    def _open_streams(self) -> Iterator[bytes]:
        """Runs that have not ended and are not expected to end by themselves."""
        before, types = (self._policy.latest.runs,), ProcessingTypes(self._connection)
        jobs = [job for (job,) in self._connection.execute(f"SELECT DISTINCT p.job {_OPEN}", before).fetchall()]
        types.load(jobs)
        streams = {job for job in jobs if types.of_job(job).streaming}
        return (run for run, job in self._connection.scan(f"SELECT p.asserted_by, p.job {_OPEN}", before) if job in streams)

    def _siblings_of(self, needed: Collection[bytes]) -> set[bytes]:
        """Old runs with the same parent as one that stays: which runs are stitched together depends on all of them."""
        found: set[bytes] = set()
        for _, family in groupby(self._connection.scan(_SIBLINGS), lambda row: row[:2]):
            members = [(run, self._is_old(last, namespace)) for _, _, run, last, namespace in family]
            if any(run in needed or not is_old for run, is_old in members):
                found.update(run for run, is_old in members if is_old and run not in needed)
        return found
