"""Finds the old runs that can go without a change of the present graph.

A run stays if it is the evidence of something: if a job's flows, a facet or the first mention of a node would be lost, or get another time,
without it. Whatever a job repeats needs two runs, the first and the last. So the runs that stay are bounded by the size of the graph, not
by its age.
"""

from collections.abc import Mapping
from typing import Final

from lineage_bridge.graph.contents.search_terms import SEARCHED_OF_RUNS
from lineage_bridge.graph.facts.events import NAMING_KEYS
from lineage_bridge.graph.flows.run_shape import SHAPING_KEYS
from lineage_bridge.graph.identity.claims import CLAIMING
from lineage_bridge.graph.relations import Side
from lineage_bridge.model.keeping.retention import RetentionPolicy
from lineage_bridge.store.connection import StoreConnection
from lineage_bridge.store.runs.processing import ProcessingTypes

NEWEST_RUNS: Final = 10
"""Of each job, this many newest runs stay, however old."""
NEWEST_COMPLETE: Final = 3
"""As many COMPLETE runs decide whether a flow is superseded (store/query/labels.py)."""
WINDOW: Final = 200_000
"""The most old runs that are examined at once."""


def _ranked(table: str, run: str, partition: str, order: str, most: int = 1) -> str:
    """The query for the runs of the first rows of each partition."""
    rank = f"row_number() OVER (PARTITION BY {partition} ORDER BY {order})"
    return f"SELECT run FROM (SELECT {run} AS run, {rank} AS number FROM {table}) ranked WHERE number <= {most}"


def _first_and_last(table: str, run: str, partition: str) -> tuple[str, str]:
    return _ranked(table, run, partition, f"first, {run}"), _ranked(table, run, partition, f"last DESC, {run} DESC")


_OBSERVED = "(SELECT asserted_by, job, last FROM run_shape WHERE origin = 1) r"
_COMPLETE = """(SELECT p.asserted_by, p.job, p.last, CASE WHEN s.inputs > 0 THEN 1 ELSE 0 END AS reads,
CASE WHEN s.outputs > 0 THEN 1 ELSE 0 END AS writes FROM run_shape p JOIN shape s ON s.shape = p.shape
WHERE EXISTS (SELECT 1 FROM run_event e WHERE e.run = p.asserted_by AND e.job = p.job AND e.type = 'COMPLETE')) c"""
_STITCHED = """(SELECT t.asserted_by, t.reader, t.job, t.reader_job, w.shape, w.last FROM stitch t
JOIN run_shape w ON w.asserted_by = t.asserted_by AND w.job = t.job) t"""
_STITCH_PAIR = "job, reader_job, shape"
EVIDENCE: Final = (
    _ranked(_OBSERVED, "asserted_by", "job", "last DESC, asserted_by DESC", NEWEST_RUNS),
    _ranked(_COMPLETE, "asserted_by", "job, reads, writes", "last DESC, asserted_by DESC", NEWEST_COMPLETE),
    *_first_and_last("run_shape_day", "asserted_by", "job, shape"),
    *_first_and_last("lifecycle", "asserted_by", "job, dataset, change, previous"),
    *_first_and_last("foreign_assertion", "asserted_by", "job, node, side, why, principal, namespaces, facet_set"),
    *_first_and_last("job_dependency", "run", 'job, direction, other_job, dependency, "sequence", status'),
    _ranked("(SELECT * FROM run WHERE parent_run IS NOT NULL) r", "run", "job, parent_job, root_job", "parent_time DESC, run DESC"),
    _ranked(_STITCHED, "asserted_by", _STITCH_PAIR, "last DESC, asserted_by DESC"),
    _ranked(_STITCHED, "reader", _STITCH_PAIR, "last DESC, asserted_by DESC"),
    "SELECT asserted_by FROM event WHERE effective IN (SELECT first FROM node)",
)
"""Queries for runs that stay: the newest of each job, and the evidence of flows, changes, dependencies, and first mentions of nodes."""
_SIDES = ", ".join(str(int(side)) for side in (Side.INPUT, Side.OUTPUT, Side.SELF, Side.CATALOG))
_KEYS = ", ".join(f"'{key}'" for key in sorted(SEARCHED_OF_RUNS))
_SUBJECT = "job, node, side, origin"
_EXTREMES = f"""(SELECT asserted_by, {_SUBJECT}, facet_set, first, first_event, last, last_event,
row_number() OVER (PARTITION BY {_SUBJECT}, facet_set ORDER BY first, first_event) AS from_first,
row_number() OVER (PARTITION BY {_SUBJECT}, facet_set ORDER BY last DESC, last_event DESC) AS from_last
FROM assertion WHERE side IN ({_SIDES}) OR (side = {int(Side.RUN)} AND facet_set IN (
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
_OLD = """SELECT p.asserted_by, n.namespace, p.last, p.job FROM run_shape p JOIN node n ON n.id = p.job
WHERE p.origin = 1 AND p.last < ? AND p.last >= ? ORDER BY p.last LIMIT ?"""
_ENDED = "SELECT 1 FROM run_event WHERE run = ? AND type IN ('COMPLETE', 'FAIL', 'ABORT') LIMIT 1"


class OldRuns:
    """Finds the runs that are old and that nothing needs, within a read transaction of a connection."""

    def __init__(self, connection: StoreConnection, policy: RetentionPolicy) -> None:
        self._connection, self._policy = connection, policy
        self._processing = ProcessingTypes(connection)

    def positions(self) -> dict[tuple[str, int], int]:
        """How far the graph had read each partition when the transaction began."""
        return {(source, number): at for source, number, at in self._connection.execute('SELECT source, partition, "offset" FROM position')}

    def window(self, since: int) -> tuple[list[bytes], int | None]:
        """The runs that can go, of a window of old runs whose last event was at `since` or later; and where the next window begins, if
        there is one.
        """
        rows = self._connection.execute(_OLD, (self._policy.latest.runs, since, WINDOW)).fetchall()
        candidates = {bytes(run): (namespace, job) for run, namespace, last, job in rows if last < self._policy.cutoffs_of(namespace).runs}
        needed = self._needed(candidates) if candidates else set[bytes]()
        is_last = len(rows) < WINDOW or rows[-1][2] == since
        return [run for run in candidates if run not in needed], None if is_last else rows[-1][2]

    def _needed(self, candidates: Mapping[bytes, tuple[str, int]]) -> set[bytes]:
        """Those of the candidates that stay."""
        needed = {run for run, (_, job) in candidates.items() if self._is_open_stream(run, job)}
        for sql in EVIDENCE:
            needed.update(run for (run,) in self._connection.scan(sql) if run in candidates)
        for run, namespace, last, key, of_key in self._connection.scan(_FACETS):
            if run in candidates and (of_key == 1 or key in _NAMING or last >= self._policy.cutoffs_of(namespace or "").facets):
                needed.add(run)
        return needed

    def _is_open_stream(self, run: bytes, job: int) -> bool:
        """Whether a run has not ended and is not expected to end by itself."""
        return self._connection.execute(_ENDED, (run,)).fetchone() is None and self._processing.of_job(job).streaming
