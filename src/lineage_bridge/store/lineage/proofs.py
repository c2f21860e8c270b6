"""Finds the proof of a column statement: the last event that asserted it.

The current proof is found through the shapes that contain the statement. A proof as of an earlier time is found through the assertions; the
store keeps the first and the last one of each day.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from lineage_bridge.graph.relations import Side
from lineage_bridge.model.lineage import Proof
from lineage_bridge.store.chunks import batches, marks
from lineage_bridge.store.connection import StoreConnection

_NEWEST_DAY = "SELECT max(day) FROM run_shape_day n WHERE n.job = h.job AND n.shape = h.shape"
_NEWEST_OF_SHAPE = f"FROM run_shape_day d WHERE d.job = h.job AND d.shape = h.shape AND d.day = ({_NEWEST_DAY})"
_ASSERTERS = f"""WITH named (job, carrier, lineage_set) AS (VALUES {{}}),
wanted AS (SELECT DISTINCT job, carrier, lineage_set FROM named),
held AS MATERIALIZED (SELECT DISTINCT w.job, w.carrier, w.lineage_set, j.shape FROM wanted w STRAIGHT_JOIN job_shape j ON j.job = w.job
WHERE EXISTS (SELECT 1 FROM shape_lineage_set s WHERE s.shape = j.shape AND s.carrier = w.carrier AND s.lineage_set = w.lineage_set))
SELECT job, carrier, lineage_set, (SELECT max(d.last) {_NEWEST_OF_SHAPE}),
(SELECT d.asserted_by {_NEWEST_OF_SHAPE} ORDER BY d.last DESC, d.asserted_by DESC LIMIT 1) FROM held h"""
"""The newest asserter of each shape that contains a lineage set."""
_ASSERTED = """WITH named (job, carrier, lineage_set, asserted_by) AS (VALUES {}),
wanted AS (SELECT DISTINCT job, carrier, lineage_set, asserted_by FROM named)
SELECT w.job, w.carrier, w.lineage_set, s.last, s.last_event, s.asserted_by
FROM wanted w STRAIGHT_JOIN assertion s ON s.asserted_by = w.asserted_by AND s.job IN (w.job, 0) AND s.node = w.carrier
STRAIGHT_JOIN facet_set c ON c.facet_set = s.facet_set AND c.key IN ('columnLineage', 'lineage')
STRAIGHT_JOIN facet_lineage_set m ON m.facet = c.facet AND m.key = c.key AND m.lineage_set = w.lineage_set"""
_DECLARED = """SELECT last, last_event FROM assertion WHERE asserted_by = :asserted_by AND job IN (:job, 0) AND node = :job AND side = 2
ORDER BY last DESC, last_event DESC LIMIT 1"""

_ASSERTERS_TRIED = 3
"""How many of the newest asserters of a lineage set are tried: their events may have been replaced since."""
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


ProofKey = tuple[int, int, bytes]
"""A job, the carrier of a statement, and its lineage set."""


class Proofs:
    """Finds the last event that asserted a column statement, over one connection; with `at_us`, the last known event until that time."""

    def __init__(self, connection: StoreConnection, at_us: int | None = None) -> None:
        self.connection, self.at_us = connection, at_us

    def newest(self, keys: Iterable[ProofKey]) -> dict[ProofKey, Proof]:
        """The newest event in which the newest run or design-time statement of each job asserted a lineage set for a carrier."""
        unique = list(dict.fromkeys(keys))
        if self.at_us is not None:
            return {key: proof for key in unique if (proof := self._newest_by_then(*key))}
        asserters: dict[ProofKey, list[tuple[int, bytes]]] = {}
        for job, carrier, lineage_set, last, asserter in self._rows(_ASSERTERS, unique):
            if asserter is not None:
                asserters.setdefault((job, carrier, bytes(lineage_set)), []).append((last, bytes(asserter)))
        newest = {key: [asserter for _, asserter in sorted(some, reverse=True)[:_ASSERTERS_TRIED]] for key, some in asserters.items()}
        found: dict[ProofKey, Proof] = {}
        for number in range(_ASSERTERS_TRIED):
            attempts = [(*key, some[number]) for key, some in newest.items() if key not in found and len(some) > number]
            found.update(self._asserted(attempts))
            found.update(self._declared(row for row in attempts if row[:3] not in found))
        return found

    def _rows(self, sql: str, keys: Sequence[tuple[Any, ...]]) -> Iterator[tuple[Any, ...]]:
        for some in batches(keys):
            values = ", ".join([f"({marks(some[0])})"] * len(some))
            yield from self.connection.execute(sql.format(values), [value for key in some for value in key])

    def _asserted(self, attempts: Sequence[tuple[int, int, bytes, bytes]]) -> dict[ProofKey, Proof]:
        """The last event of each asserter with a facet that contains the lineage set."""
        found: dict[ProofKey, Proof] = {}
        for job, carrier, lineage_set, last, event, asserter in self._rows(_ASSERTED, attempts):
            key, proof = (job, carrier, bytes(lineage_set)), Proof(bytes(event), last, bytes(asserter))
            if key not in found or (proof.time, proof.event) > (found[key].time, found[key].event):
                found[key] = proof
        return found

    def _declared(self, attempts: Iterable[tuple[int, int, bytes, bytes]]) -> dict[ProofKey, Proof]:
        """The last event of each asserter about the job itself."""
        found: dict[ProofKey, Proof] = {}
        for job, carrier, lineage_set, asserter in attempts:
            row = self.connection.execute(_DECLARED, {"asserted_by": asserter, "job": job}).fetchone()
            if row:
                found[job, carrier, lineage_set] = Proof(bytes(row[1]), row[0], asserter)
        return found

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
