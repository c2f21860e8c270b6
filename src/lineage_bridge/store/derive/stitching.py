"""Updates which runs are stitched together, by the rule in graph/flows/stitching.py.

The state of a changed run is compared with its state when it was last examined. Then the writing runs that may have run during the changed
run are examined again, until the budget of rows is used up.
"""

from collections.abc import Iterable
from typing import NamedTuple

from lineage_bridge.graph.flows.shapes import NO_SHAPE, Shape, make_shape
from lineage_bridge.graph.flows.stitching import LOOK_BACK, RULE, Sibling, one_side, reader_of, stitch_id, stitched_shape
from lineage_bridge.graph.relations import Origin, Side
from lineage_bridge.ports.graph_store import Budget
from lineage_bridge.store.connection import StoreConnection
from lineage_bridge.store.derive.run_shapes import RunShapeWriter

Asserter = tuple[bytes, int]

_CANDIDATES = """SELECT r.parent_run, r.parent_job, p.first, p.asserted_by, p.job, p.last, p.shape, p.current_since, h.inputs, h.outputs,
EXISTS (SELECT 1 FROM shape_lineage_set s WHERE s.shape = p.shape),
EXISTS (SELECT 1 FROM run_lineage_set s WHERE s.asserted_by = p.asserted_by AND s.job = p.job AND s.carrier = p.job
AND s.lineage_set IN (x'00000000000000000000000000000002', x'00000000000000000000000000000003'))
FROM in_stitch i STRAIGHT_JOIN run_shape p ON p.asserted_by = i.asserted_by AND p.job = i.job AND p.origin = 1 AND p.shape <> 0
STRAIGHT_JOIN shape h ON h.shape = p.shape AND (h.inputs = 0) <> (h.outputs = 0)
STRAIGHT_JOIN run r ON r.run = p.asserted_by AND r.job = p.job AND r.parent_run IS NOT NULL AND r.parent_sure = 1"""
_BEFORE = """SELECT s.parent, s.parent_job, s.side, s.first, s.asserted_by, s.job, s.last, s.shape, s.current_since
FROM in_stitch i STRAIGHT_JOIN sibling s ON s.asserted_by = i.asserted_by AND s.job = i.job"""
_STITCHED = "SELECT i.asserted_by, i.job FROM in_stitch i STRAIGHT_JOIN stitch s ON s.asserted_by = i.asserted_by AND s.job = i.job"
_SIBLING = ", ".join(Sibling._fields)
_READERS = f"""SELECT {_SIBLING} FROM sibling WHERE parent = ? AND parent_job = ? AND side = {int(Side.INPUT)} AND first < ?
ORDER BY first DESC, asserted_by DESC, job DESC LIMIT {LOOK_BACK}"""
_AFTER = f"""SELECT first FROM sibling WHERE parent = ? AND parent_job = ? AND side = {int(Side.INPUT)} AND first > ?
ORDER BY first, asserted_by, job LIMIT 1 OFFSET {LOOK_BACK - 1}"""
_BEGAN = f"""INSERT INTO stitch_queue SELECT asserted_by, job FROM sibling
WHERE parent = ? AND parent_job = ? AND side = {int(Side.OUTPUT)} AND first > ? AND first <= ? ON CONFLICT DO NOTHING"""
_ENDED = f"""INSERT INTO stitch_queue SELECT asserted_by, job FROM sibling
WHERE parent = ? AND parent_job = ? AND side = {int(Side.OUTPUT)} AND last > ? AND last <= ? ON CONFLICT DO NOTHING"""
_HELD = "INSERT INTO stitch_queue SELECT asserted_by, job FROM stitch WHERE reader = ? AND reader_job = ? ON CONFLICT DO NOTHING"
_DAYS = """INSERT INTO run_shape_day (asserted_by, job, day, shape, first, last)
SELECT ?, job, day, 0, first, last FROM run_shape_day WHERE asserted_by = ? AND job = ?"""
_SEEN = f"""INSERT INTO run_shape (asserted_by, job, origin, shape, first, last, first_shape_at, current_since)
SELECT :id, :job, {int(Origin.INFERRED)}, 0, p.first, p.last,
GREATEST(p.current_since, r.current_since), GREATEST(p.current_since, r.current_since)
FROM run_shape p JOIN run_shape r ON r.asserted_by = :reader AND r.job = :reader_job WHERE p.asserted_by = :asserted_by AND p.job = :job"""
_SWITCH = "INSERT INTO rule (name, value) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value"
_END_OF_TIME = 2**63 - 1
_COST = 20
"""The cost of examining one writing run, in rows of the budget."""
_CHUNK = 200


class _SiblingState(NamedTuple):
    """The state of a run when it was last examined: its shape, and since when it had this shape. Runs with the same parent are siblings."""

    sibling: Sibling
    shape: int
    current_since: int


class StitchWriter:
    """Updates stitched shapes over the writer's connection, inside its transaction. Does nothing if the rule is off."""

    def __init__(self, connection: StoreConnection, run_shapes: RunShapeWriter) -> None:
        self.connection, self.run_shapes = connection, run_shapes
        self.on = is_on(connection)
        connection.execute("CREATE TEMP TABLE in_stitch (asserted_by BLOB, job BIGINT, PRIMARY KEY (asserted_by, job))")

    def switch(self, on: bool) -> None:
        """Switch the rule on or off for the whole store; its effects are derived with the next batches."""
        if on == self.on:
            return
        self.on = on
        self.connection.execute(_SWITCH, (RULE, int(on)))
        if on:
            self.connection.execute(
                "INSERT INTO stitch_queue SELECT asserted_by, job FROM run_shape WHERE origin = 1 AND shape <> 0 ON CONFLICT DO NOTHING"
            )
            return
        for asserter, job in self.connection.execute("SELECT asserted_by, job FROM stitch").fetchall():
            self._unstitch(asserter, job)
        self.connection.execute("DELETE FROM sibling")
        self.connection.execute("DELETE FROM stitch_queue")

    def keep_up(self, reshaped: Iterable[Asserter], budget: Budget) -> None:
        """Examine the runs in the batch, the runs whose shapes changed, and the runs in the queue."""
        if not self.on:
            return
        self.connection.execute("DELETE FROM in_stitch")
        self.connection.execute("INSERT INTO in_stitch SELECT DISTINCT asserted_by, job FROM in_day WHERE true ON CONFLICT DO NOTHING")
        self.connection.executemany("INSERT INTO in_stitch VALUES (?, ?) ON CONFLICT DO NOTHING", reshaped)
        self._examine()
        self.work_off(budget)

    def work_off(self, budget: Budget) -> None:
        """Examine the writing runs in the queue until the budget is spent, but at least one portion of them."""
        spent = 0
        while spent == 0 or spent < budget.rows:
            waiting = self.connection.execute("SELECT asserted_by, job FROM stitch_queue LIMIT ?", (_CHUNK,)).fetchall()
            if not waiting:
                return
            self.connection.execute("DELETE FROM in_stitch")
            self.connection.executemany("INSERT INTO in_stitch VALUES (?, ?) ON CONFLICT DO NOTHING", waiting)
            self._examine()
            self.connection.executemany("DELETE FROM stitch_queue WHERE asserted_by = ? AND job = ?", waiting)
            for asserter, job in waiting:
                self._stitch(asserter, job)
            spent += _COST * len(waiting)

    def remove(self, asserters: Iterable[Asserter]) -> None:
        """Remove erased runs, and examine again the runs to which they were stitched."""
        if self.on:
            self.connection.execute("DELETE FROM in_stitch")
            self.connection.executemany("INSERT INTO in_stitch VALUES (?, ?) ON CONFLICT DO NOTHING", asserters)
            self._examine()
            self.work_off(Budget(_END_OF_TIME))

    def _examine(self) -> None:
        """Compare the runs in the table `in_stitch` with their states when they were last examined, and queue the writing runs that are
        affected.
        """
        rows = self.connection.execute(_BEFORE).fetchall()
        before = {state.sibling.key: state for row in rows for state in [_SiblingState(Sibling(*row[:7]), *row[7:])]}
        now: dict[Asserter, _SiblingState] = {}
        rows = self.connection.execute(_CANDIDATES).fetchall()
        for parent, parent_job, first, asserter, job, last, shape, current_since, inputs, outputs, states, streaming in rows:
            side = one_side(inputs, outputs, states, streaming=bool(streaming))
            if side is not None:
                now[asserter, job] = _SiblingState(Sibling(parent, parent_job, int(side), first, asserter, job, last), shape, current_since)
        changed = [key for key in sorted(before.keys() | now.keys()) if before.get(key) != now.get(key)]
        gone, new = [before[key] for key in changed if key in before], [now[key] for key in changed if key in now]
        self.connection.executemany("DELETE FROM sibling WHERE asserted_by = ? AND job = ?", [row.sibling.key for row in gone])
        self.connection.executemany(
            "INSERT INTO sibling VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", [(*row.sibling, row.shape, row.current_since) for row in new]
        )
        writing = [row.sibling.key for row in (*gone, *new) if row.sibling.side == Side.OUTPUT]
        writing += self.connection.execute(_STITCHED).fetchall()
        self.connection.executemany("INSERT INTO stitch_queue VALUES (?, ?) ON CONFLICT DO NOTHING", writing)
        for key in changed:
            self._concern(before.get(key), now.get(key))

    def _concern(self, old: _SiblingState | None, new: _SiblingState | None) -> None:
        """Queue the writing runs that are, or could be, stitched to a reading run that has changed."""
        was, is_ = (row.sibling if row and row.sibling.side == Side.INPUT else None for row in (old, new))
        if was and is_ and old and new and was[:6] == is_[:6]:
            self.connection.execute(_ENDED, (*was[:2], *sorted((was.last, is_.last))))
            if old[1:] != new[1:]:
                self.connection.execute(_HELD, was.key)
            return
        for reader in filter(None, (was, is_)):
            after = self.connection.execute(_AFTER, (*reader[:2], reader.first)).fetchone()
            self.connection.execute(_BEGAN, (*reader[:2], reader.first, after[0] if after else _END_OF_TIME))
            self.connection.execute(_HELD, reader.key)

    def _stitch(self, asserter: bytes, job: int) -> None:
        """Apply the stitching rule to one writing run, and store the stitched shape, if there is one."""
        self._unstitch(asserter, job)
        row = self.connection.execute(f"SELECT {_SIBLING} FROM sibling WHERE asserted_by = ? AND job = ?", (asserter, job)).fetchone()
        writer = Sibling(*row) if row else None
        if writer is None or writer.side != Side.OUTPUT:
            return
        readers = [Sibling(*row) for row in self.connection.execute(_READERS, (*writer[:2], writer.first)).fetchall()]
        reader = reader_of(writer, readers)
        if reader is None:
            return
        id_ = stitch_id(asserter, job)
        values = {"id": id_, "asserted_by": asserter, "job": job, "reader": reader.asserted_by, "reader_job": reader.job}
        self.connection.execute("INSERT INTO stitch VALUES (:asserted_by, :job, :reader, :reader_job)", values)
        self.connection.execute(_SEEN, values)
        self.connection.execute(_DAYS, (id_, asserter, job))
        shape = stitched_shape(self._shape(reader.asserted_by, reader.job), self._shape(asserter, job))
        self.run_shapes.move([((id_, job), NO_SHAPE, shape)])

    def _unstitch(self, asserter: bytes, job: int) -> None:
        """Delete the stitched shape of one writing run."""
        id_ = stitch_id(asserter, job)
        row = self.connection.execute("SELECT shape FROM run_shape WHERE asserted_by = ? AND job = ?", (id_, job)).fetchone()
        if row is None:
            return
        self.run_shapes.move([((id_, job), row[0], make_shape(Origin.INFERRED, (), ()))])
        self.connection.execute("DELETE FROM stitch WHERE asserted_by = ? AND job = ?", (asserter, job))
        for table in ("run_shape", "run_shape_day"):
            self.connection.execute(f"DELETE FROM {table} WHERE asserted_by = ? AND job = ?", (id_, job))

    def _shape(self, asserter: bytes, job: int) -> Shape:
        rows = self.connection.execute(
            "SELECT i.side, i.dataset FROM run_shape p JOIN shape_io i ON i.shape = p.shape WHERE p.asserted_by = ? AND p.job = ?",
            (asserter, job),
        )
        return make_shape(Origin.OBSERVED, rows.fetchall(), ())


def is_on(connection: StoreConnection) -> bool:
    """Whether the rule is on in this store."""
    row = connection.execute("SELECT value FROM rule WHERE name = ?", (RULE,)).fetchone()
    return bool(row and row[0])
