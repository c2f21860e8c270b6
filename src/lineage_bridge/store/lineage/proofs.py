"""Finds the proof of a column statement: the last event that asserted it.

The current proof is found through the shapes that contain the statement. A proof as of an earlier time is found through the assertions; the
store keeps the first and the last one of each day.
"""

from functools import lru_cache

from lineage_bridge.graph.relations import Side
from lineage_bridge.model.lineage import Proof
from lineage_bridge.store.connection import StoreConnection

_SHAPES = "SELECT DISTINCT shape FROM job_shape WHERE job = ?"
_HOLDS = "SELECT 1 FROM shape_lineage_set WHERE shape = ? AND carrier = ? AND lineage_set = ?"
_NEWEST_DAY = "SELECT max(day) FROM run_shape_day WHERE job = ? AND shape = ?"
_NEWEST_ASSERTER = (
    "SELECT asserted_by, last FROM run_shape_day WHERE job = ? AND shape = ? AND day = ? ORDER BY last DESC, asserted_by DESC LIMIT 1"
)
_ASSERTED = """SELECT s.last, s.last_event
FROM assertion s JOIN facet_set c ON c.facet_set = s.facet_set AND c.key IN ('columnLineage', 'lineage')
JOIN facet_lineage_set m ON m.facet = c.facet AND m.key = c.key AND m.lineage_set = :lineage_set
WHERE s.asserted_by = :asserted_by AND s.job IN (:job, 0) AND s.node = :carrier ORDER BY s.last DESC, s.last_event DESC LIMIT 1"""
_DECLARED = """SELECT last, last_event FROM assertion WHERE asserted_by = :asserted_by AND job IN (:job, 0) AND node = :job AND side = 2
ORDER BY last DESC, last_event DESC LIMIT 1"""

_MOST_DAYS = 5_000
"""The maximum number of assertions about a node that are searched as of a time, those of the newest days first."""
_BY_THEN = f"""SELECT s.asserted_by, s.first, s.first_event, s.last, s.last_event FROM (SELECT * FROM assertion
WHERE node = :node AND side = :side AND (job = :job OR (job = 0 AND node = :job)) AND first <= :at
ORDER BY day DESC LIMIT {_MOST_DAYS}) s WHERE EXISTS ({{}})"""
"""The assertions that state flows of a job: those of the job itself. If a dataset stands in place of the job, those that no job made."""
_HAS_SET = "m.facet = c.facet AND m.key = c.key AND m.lineage_set = :lineage_set"
_STATED_BY_THEN = _BY_THEN.format(
    f"""SELECT 1 FROM facet_set c JOIN facet_lineage_set m ON {_HAS_SET}
WHERE c.facet_set = s.facet_set AND c.key IN ('columnLineage', 'lineage')"""
)
_DECLARED_BY_THEN = _BY_THEN.format(
    f"""SELECT 1 FROM declared_io d JOIN facet_set c ON c.facet_set = d.dataset_facet_set AND c.key = 'columnLineage'
JOIN facet_lineage_set m ON {_HAS_SET} WHERE d.facet_set = s.facet_set AND d.dataset = :carrier"""
)


class Proofs:
    """Finds the last event that asserted a column statement, over one connection; with `at_us`, the last such event by that time, as far as
    is known.
    """

    def __init__(self, connection: StoreConnection, at_us: int | None = None) -> None:
        self.connection = connection
        self.at_us = at_us
        self.newest = lru_cache(None)(self._newest if at_us is None else self._newest_by_then)

    def _newest(self, job: int, carrier: int, lineage_set: bytes) -> Proof | None:
        """The newest event in which the newest run or design-time statement of a job asserted a lineage set for a carrier."""
        asserters = [
            found
            for shape in self._shapes(job)
            if self._exists(_HOLDS, shape, carrier, lineage_set) and (found := self._newest_asserter(job, shape))
        ]
        for _, asserter in sorted(asserters, reverse=True)[:3]:
            values = {"asserted_by": asserter, "job": job, "carrier": carrier, "lineage_set": lineage_set}
            row = self.connection.execute(_ASSERTED, values).fetchone() or self.connection.execute(_DECLARED, values).fetchone()
            if row:
                return Proof(bytes(row[1]), row[0], bytes(asserter))
        return None

    def _newest_by_then(self, job: int, carrier: int, lineage_set: bytes) -> Proof | None:
        """The newest event by `at_us` that asserted a lineage set for a carrier. On the day of `at_us`, an asserter's last event may be
        later; then its first event of the day is used.
        """
        values = {"job": job, "carrier": carrier, "lineage_set": lineage_set, "at": self.at_us}
        found = [row for side in Side for row in self.connection.execute(_STATED_BY_THEN, {**values, "node": carrier, "side": int(side)})]
        if not found:
            found = self.connection.execute(_DECLARED_BY_THEN, {**values, "node": job, "side": int(Side.SELF)}).fetchall()
        at_us = self.at_us or 0
        events = [(last, end, by) if last <= at_us else (first, start, by) for by, first, start, last, end in found]
        time, event, asserted_by = max(events, default=(0, b"", b""))
        return Proof(bytes(event), time, bytes(asserted_by)) if event else None

    def _shapes(self, job: int) -> list[int]:
        return [row[0] for row in self.connection.execute(_SHAPES, (job,))]

    def _newest_asserter(self, job: int, shape: int) -> tuple[int, bytes] | None:
        day = self.connection.execute(_NEWEST_DAY, (job, shape)).fetchone()[0]
        row = None if day is None else self.connection.execute(_NEWEST_ASSERTER, (job, shape, day)).fetchone()
        return (row[1], row[0]) if row else None

    def _exists(self, sql: str, *values: object) -> bool:
        return self.connection.execute(sql, values).fetchone() is not None
