"""Updates run shapes: the current shapes of runs and design-time statements, the days of their events, and the flows of their jobs."""

from collections.abc import Iterable, Iterator
from itertools import islice

from lineage_bridge.graph.flows.derive import hub_id
from lineage_bridge.graph.flows.run_shape import NamedDataset, StatedLineage, flow_owner, is_snapshot, run_shape
from lineage_bridge.graph.flows.shape_history import NO_HISTORY, ShapeHistory, declaration_history, newest_facet_set
from lineage_bridge.graph.flows.shapes import NO_SHAPE, Shape, expand, make_shape
from lineage_bridge.graph.merge_rules import Row
from lineage_bridge.graph.relations import Origin, Side
from lineage_bridge.graph.statements.lineage_sets import OWN
from lineage_bridge.ports.graph_store import Budget
from lineage_bridge.store.connection import StoreConnection
from lineage_bridge.store.derive import run_shape_statements as statements
from lineage_bridge.store.query.assertions import LineageSetOf, dated, declarations_of, declared_shape, read_lineage_set
from lineage_bridge.store.write.changes import ChangeRecorder

Asserter = tuple[bytes, int]

_CHUNK = 500


class RunShapeWriter:
    """Updates run shapes over the writer's connection, inside its transaction."""

    def __init__(self, connection: StoreConnection, changes: ChangeRecorder) -> None:
        self.connection, self.changes = connection, changes
        connection.execute("CREATE TEMP TABLE in_day (asserted_by BLOB, job BIGINT, day BIGINT, origin BIGINT, first BIGINT, last BIGINT)")
        connection.execute("CREATE TEMP TABLE in_asserter (asserted_by BLOB, job BIGINT)")

    def stage(self, assertions: Iterable[Row]) -> None:
        """Put the days on which the asserters in a batch had events into a temporary table. The days of runs and job declarations have the
        job as key, those of dataset declarations the dataset.
        """
        days: dict[tuple[bytes, int, int], tuple[int, int, int]] = {}
        for asserter, job, node, side, origin, _, day, first, _, last, _ in assertions:
            if own := flow_owner(job, node, side):
                merged = days.get((asserter, own, day), (origin, first, last))
                days[asserter, own, day] = min(merged[0], origin), min(merged[1], first), max(merged[2], last)
        self.clear_staged()
        self.connection.executemany("INSERT INTO in_day VALUES (?, ?, ?, ?, ?, ?)", [key + values for key, values in days.items()])

    def merge_staged(self) -> None:
        """Merge the days in the temporary table into the table of the days on which shapes were asserted."""
        self.connection.execute(statements.SEE)
        self.connection.execute(statements.DAYS)
        self.connection.execute(statements.JOB_SHAPES)

    def clear_staged(self) -> None:
        """Empty the temporary table of days."""
        self.connection.execute("DELETE FROM in_day")

    def snapshots(self) -> set[Asserter]:
        """The runs in the staged batch that send complete snapshots: each event of such a run replaces what earlier events stated."""
        return {(asserter, job) for asserter, job, mark in self.connection.execute(statements.SNAPSHOTS).fetchall() if is_snapshot(mark)}

    def reshape(self, asserters: list[Asserter], budget: Budget, lineage_set_of: LineageSetOf) -> int:
        """Recompute the shapes of asserters, in order, until the budget is spent, but of at least one. Returns how many were recomputed."""
        done, spent = 0, 0
        while done < len(asserters) and (done == 0 or spent < budget.rows):
            chunk = list(islice(asserters, done, done + _CHUNK))
            spent += self._reshape(chunk, lineage_set_of)
            done += len(chunk)
        return done

    def _reshape(self, asserters: list[Asserter], lineage_set_of: LineageSetOf) -> int:
        """Compute the shapes of some asserters at once. Returns the cost, in rows of the budget."""
        self.connection.execute("DELETE FROM in_asserter")
        self.connection.executemany("INSERT INTO in_asserter VALUES (?, ?)", asserters)
        olds = self._query(
            "SELECT p.asserted_by, p.job, p.origin, p.shape, p.first_shape_at, p.current_since "
            "FROM in_asserter i STRAIGHT_JOIN run_shape p USING (asserted_by, job)"
        )
        namings: dict[Asserter, list[NamedDataset]] = {}
        stated: dict[Asserter, list[StatedLineage]] = {}
        cost = len(asserters)
        for run, job, *naming in self.connection.execute(
            "SELECT r.run, r.job, r.side, r.dataset, min(r.first), max(r.last) "
            "FROM in_asserter i STRAIGHT_JOIN run_io r ON r.run = i.asserted_by AND r.job = i.job GROUP BY r.run, r.job, r.dataset, r.side"
        ):
            namings.setdefault((run, job), []).append(NamedDataset(*naming))
            cost += 1
        for asserter, job, carrier, lineage_set, first in self.connection.execute(
            "SELECT s.asserted_by, s.job, s.carrier, s.lineage_set, s.first "
            "FROM in_asserter i STRAIGHT_JOIN run_lineage_set s USING (asserted_by, job)"
        ):
            stated.setdefault((asserter, job), []).append(StatedLineage(carrier, lineage_set, first, 0))
            cost += 1
        moves: list[tuple[Asserter, int, Shape]] = []
        changed_histories: list[tuple[int, int, int | None, bytes, int]] = []
        for asserter, job, origin, old, *before in olds:
            key = asserter, job
            if origin == Origin.DECLARED:
                shape, history = self._declared(key, lineage_set_of)
            else:
                lineage = dated(self.connection, key, stated.get(key, []), lineage_set_of)
                shape, history = run_shape(job, namings.get(key, ()), lineage)
                if any(is_snapshot(row.lineage_set) for row in lineage):
                    self.mention_nodes(job, [row.dataset for row in namings.get(key, ())], ())
            if shape.id != old:
                moves.append((key, old, shape))
            if [history.first_shape_at, history.current_since] != before:
                changed_histories.append((*history, asserter, job))
        self.connection.executemany(
            "UPDATE run_shape SET first_shape_at = ?, current_since = ?, pending_until = ? WHERE asserted_by = ? AND job = ?",
            changed_histories,
        )
        return cost + len(changed_histories) + self.move(moves)

    def _query(self, sql: str) -> list[tuple[bytes, int, int, int, int, int]]:
        return self.connection.execute(sql).fetchall()

    def _declared(self, key: Asserter, lineage_set_of: LineageSetOf) -> tuple[Shape, ShapeHistory]:
        """The shape of a design-time statement, which depends on its newest facet set alone."""
        asserter, job = key
        declarations = declarations_of(self.connection, asserter, job)
        facet_set = newest_facet_set(declarations)
        if facet_set is None:
            return make_shape(Origin.DECLARED, (), ()), NO_HISTORY
        for each in sorted({declaration.facet_set for declaration in declarations}):
            shape = declared_shape(self.connection, job, each, lineage_set_of)
            self.mention_nodes(job, [dataset for _, dataset in shape.members], [lineage_set for _, lineage_set in shape.lineage_sets])
        return declared_shape(self.connection, job, facet_set, lineage_set_of), declaration_history(declarations)

    def mention_nodes(self, job: int, nodes: Iterable[int], lineage_sets: Iterable[bytes]) -> None:
        """Record the nodes that a job's statements have ever named. Answers as of an earlier time use these nodes to find the job's former
        flows.
        """
        many = self.connection.executemany
        many("INSERT INTO mentioned_node VALUES (?, ?) ON CONFLICT DO NOTHING", [(node, job) for node in nodes])
        many(statements.MENTION_NODES, [{"job": job, "lineage_set": lineage_set} for lineage_set in lineage_sets])

    def move(self, moves: list[tuple[Asserter, int, Shape]]) -> int:
        """Move asserters from an old shape to a new one; their jobs gain and lose flows accordingly. Returns the cost, in rows of the
        budget.
        """
        if not moves:
            return 0
        changed = [(shape.id, *asserter) for asserter, _, shape in moves]
        self.connection.executemany("UPDATE run_shape SET shape = ? WHERE asserted_by = ? AND job = ?", changed)
        left: set[tuple[int, int, int]] = set()
        joined: dict[tuple[int, int], Shape] = {}
        job_days: list[tuple[int, int, int, int, int]] = []
        successors: dict[tuple[int, int], set[int]] = {}
        for (asserter, job), old, shape in moves:
            days = self.connection.execute(statements.MOVE_DAYS, (shape.id, asserter, job)).fetchall()
            if old != NO_SHAPE:
                left |= {(job, old, day) for day, _, _ in days}
                successors.setdefault((job, old), set()).add(shape.id)
            if shape.id != NO_SHAPE:
                joined[job, shape.id] = shape
                job_days += [(job, shape.id, day, first, last) for day, first, last in days]
        new = [pair for pair in joined if not self._has(*pair)]
        self.connection.executemany(statements.JOB_SHAPE, job_days)
        cost = sum(self._join(job, joined[job, shape_id]) for job, shape_id in new)
        return len(moves) + len(job_days) + cost + self.leave(left, successors)

    def _has(self, job: int, shape: int) -> bool:
        return self.connection.execute("SELECT 1 FROM job_shape WHERE job = ? AND shape = ? LIMIT 1", (job, shape)).fetchone() is not None

    # a job gains a shape

    def _join(self, job: int, shape: Shape) -> int:
        self._expand(shape)
        parameters = {"job": job, "shape": shape.id, "origin": shape.origin, "own": OWN}
        for table, sql in statements.GAINS.items():
            self.changes.run(table, sql, parameters)
        for hub in self._hubs(shape.id):
            self.changes.run("hub", "INSERT INTO hub VALUES (?, ?, ?) ON CONFLICT DO NOTHING", (hub, job, shape.origin))
        return 2 * len(shape.members)

    def _hubs(self, shape: int) -> list[int]:
        row = self.connection.execute("SELECT hubs FROM shape WHERE shape = ?", (shape,)).fetchone()
        return [hub_id(shape, number) for number in range(row[0])] if row else []

    def _expand(self, shape: Shape) -> None:
        """Compute and store the flows of a shape that was not seen before."""
        if self.connection.execute("SELECT 1 FROM shape WHERE shape = ?", (shape.id,)).fetchone():
            return
        expansion = expand(shape, {lineage_set: read_lineage_set(self.connection, lineage_set) for _, lineage_set in shape.lineage_sets})
        sides = [side for side, _ in shape.members]
        execute, many = self.connection.execute, self.connection.executemany
        execute(
            "INSERT INTO shape VALUES (?, ?, ?, ?, ?)",
            (shape.id, shape.origin, sides.count(Side.INPUT), sides.count(Side.OUTPUT), len(expansion.hubs)),
        )
        many("INSERT INTO shape_io VALUES (?, ?, ?)", [(shape.id, side, dataset) for side, dataset in shape.members])
        many("INSERT INTO shape_lineage_set VALUES (?, ?, ?)", [(shape.id, *statement) for statement in shape.lineage_sets])
        many("INSERT INTO shape_flow VALUES (?, ?, ?, ?)", [(shape.id, *flow) for flow in expansion.flows])
        for number, hub in enumerate(expansion.hubs):
            id_ = hub_id(shape.id, number)
            many("INSERT INTO hub_io VALUES (?, ?, ?)", [(id_, int(Side.INPUT), dataset) for dataset in hub.inputs])
            many("INSERT INTO hub_io VALUES (?, ?, ?)", [(id_, int(Side.OUTPUT), dataset) for dataset in hub.outputs])

    # a job loses a shape

    def leave(self, left: set[tuple[int, int, int]], successors: dict[tuple[int, int], set[int]]) -> int:
        """Recompute the rows of each (job, shape, day) from which an asserter moved away; rows that no other asserter supports are deleted.

        Returns the number of rows.
        """
        for job, shape, day in sorted(left):
            self._recompute_day(job, shape, day)
        lost = [(job, shape) for job, shape in sorted({key[:2] for key in left}) if not self._has(job, shape)]
        cost = sum(self._lose(job, shape, successors.get((job, shape), set())) for job, shape in lost)
        # Several jobs may have lost one shape: delete it only after all of them are updated.
        for shape in sorted({shape for _, shape in lost}):
            if not self._exists("SELECT 1 FROM job_shape WHERE shape = ? LIMIT 1", shape):
                self._drop(shape)
        return cost

    def _recompute_day(self, job: int, shape: int, day: int) -> None:
        where, key = "WHERE job = ? AND shape = ? AND day = ?", (job, shape, day)
        first = self.connection.execute(f"SELECT min(first) FROM run_shape_day {where}", key).fetchone()[0]
        if first is None:
            self.connection.execute(f"DELETE FROM job_shape {where}", key)
            return
        last = self.connection.execute(f"SELECT max(last) FROM run_shape_day {where}", key).fetchone()[0]
        self.connection.execute(f"UPDATE job_shape SET first = ?, last = ? {where}", (first, last, *key))

    def _lose(self, job: int, shape: int, successors: set[int]) -> int:
        origin = self.connection.execute("SELECT origin FROM shape WHERE shape = ?", (shape,)).fetchone()[0]
        cost = 0
        for source, target, evidence in self._rows("shape_flow", "source, target, evidence", shape):
            cost += 1
            bound = (source or job, target or job, job, origin, evidence)
            if not self._in_any("shape_flow", successors, source=source, target=target, evidence=evidence) and not self._other_flow(*bound):
                self.changes.run(
                    "flow",
                    "DELETE FROM flow WHERE source = ? AND target = ? AND job = ? AND origin = ? AND evidence = ?",
                    bound,
                )
        for side, dataset in self._rows("shape_io", "side, dataset", shape):
            cost += 1
            if not self._in_any("shape_io", successors, side=side, dataset=dataset) and not self._exists(
                statements.OTHER_IO, origin, side, dataset, job
            ):
                self.changes.run(
                    "job_io",
                    "DELETE FROM job_io WHERE job = ? AND dataset = ? AND side = ? AND origin = ?",
                    (job, dataset, side, origin),
                )
        for carrier, lineage_set in self._rows("shape_lineage_set", "carrier, lineage_set", shape):
            cost += 1
            kept = self._in_any("shape_lineage_set", successors, carrier=carrier, lineage_set=lineage_set)
            if not kept and not self._exists(statements.OTHER_STATEMENT, origin, carrier, lineage_set, job):
                self.changes.run(
                    "job_lineage_set",
                    "DELETE FROM job_lineage_set WHERE job = ? AND carrier = ? AND lineage_set = ? AND origin = ?",
                    (job, carrier, lineage_set, origin),
                )
        for hub in self._hubs(shape):
            self.changes.run("hub", "DELETE FROM hub WHERE hub = ? AND job = ?", (hub, job))
        return cost

    def _other_flow(self, source: int, target: int, job: int, origin: int, evidence: int) -> bool:
        """Whether another shape of the job contains the same flow. Shapes may contain the constant OWN in place of the job's id."""
        return any(
            self._exists(statements.OTHER_FLOW, a, b, evidence, origin, job)
            for a in {source, OWN if source == job else source}
            for b in {target, OWN if target == job else target}
        )

    def _rows(self, table: str, columns: str, shape: int) -> Iterator[tuple[int, ...]]:
        yield from self.connection.execute(f"SELECT {columns} FROM {table} WHERE shape = ?", (shape,)).fetchall()

    def _exists(self, sql: str, *parameters: object) -> bool:
        return self.connection.execute(sql, parameters).fetchone() is not None

    def _in_any(self, table: str, shapes: set[int], **columns: object) -> bool:
        """Whether one of these shapes of the same job also contains a row with these values. Usually, the shape that replaced the old one
        does.
        """
        where = " AND ".join(f"{column} = ?" for column in columns)
        return any(self._exists(f"SELECT 1 FROM {table} WHERE shape = ? AND {where}", shape, *columns.values()) for shape in shapes)

    def _drop(self, shape: int) -> None:
        for hub in self._hubs(shape):
            self.connection.execute("DELETE FROM hub_io WHERE hub = ?", (hub,))
        for table in ("shape", "shape_io", "shape_lineage_set", "shape_flow"):
            self.connection.execute(f"DELETE FROM {table} WHERE shape = ?", (shape,))
