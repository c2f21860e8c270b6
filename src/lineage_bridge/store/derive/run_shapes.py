"""Run shapes: the current shapes of runs and statements, the days of their events, and the flows of their jobs."""

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
from lineage_bridge.store.query.assertions import MeaningOf, dated, declared_shape, read_lineage_set, sayings_of
from lineage_bridge.store.write.changes import ChangeRecorder

Subject = tuple[bytes, int]

_CHUNK = 500


class RunShapeWriter:
    """Works on the writer's connection, inside its transaction."""

    def __init__(self, connection: StoreConnection, changes: ChangeRecorder) -> None:
        self.connection, self.changes = connection, changes
        connection.execute("CREATE TEMP TABLE in_day (asserted_by BLOB, job BIGINT, day BIGINT, origin BIGINT, first BIGINT, last BIGINT)")
        connection.execute("CREATE TEMP TABLE in_asserter (asserted_by BLOB, job BIGINT)")

    def stage(self, said: Iterable[Row]) -> None:
        """Stage the days of asserters' events in a batch: of runs and statements for jobs, of datasets for themselves."""
        days: dict[tuple[bytes, int, int], tuple[int, int, int]] = {}
        for subject, job, about, side, origin, _, day, first, _, last, _ in said:
            if own := flow_owner(job, about, side):
                known = days.get((subject, own, day), (origin, first, last))
                days[subject, own, day] = min(known[0], origin), min(known[1], first), max(known[2], last)
        self.see_nothing()
        self.connection.executemany("INSERT INTO in_day VALUES (?, ?, ?, ?, ?, ?)", [key + values for key, values in days.items()])

    def see_staged(self) -> None:
        """Merge the staged days."""
        self.connection.execute(statements.SEE)
        self.connection.execute(statements.DAYS)
        self.connection.execute(statements.JOB_SHAPES)

    def see_nothing(self) -> None:
        """Delete the staged days."""
        self.connection.execute("DELETE FROM in_day")

    def snapshots(self) -> set[Subject]:
        """The runs in the staged batch whose events are complete snapshots: each of them may take something back."""
        return {(subject, job) for subject, job, mark in self.connection.execute(statements.SNAPSHOTS).fetchall() if is_snapshot(mark)}

    def reshape(self, subjects: list[Subject], budget: Budget, meaning_of: MeaningOf) -> int:
        """Compute the shapes of asserters anew, in order, until the budget is spent; returns how many were done (at least one, if any)."""
        done, spent = 0, 0
        while done < len(subjects) and (done == 0 or spent < budget.rows):
            chunk = list(islice(subjects, done, done + _CHUNK))
            spent += self._reshape(chunk, meaning_of)
            done += len(chunk)
        return done

    def _reshape(self, subjects: list[Subject], meaning_of: MeaningOf) -> int:
        """Reshape some subjects at once; how many rows that took."""
        self.connection.execute("DELETE FROM in_asserter")
        self.connection.executemany("INSERT INTO in_asserter VALUES (?, ?)", subjects)
        olds = self._query(
            "SELECT p.asserted_by, p.job, p.origin, p.shape, p.first_shape_at, p.current_since "
            "FROM in_asserter i STRAIGHT_JOIN run_shape p USING (asserted_by, job)"
        )
        namings: dict[Subject, list[NamedDataset]] = {}
        stated: dict[Subject, list[StatedLineage]] = {}
        cost = len(subjects)
        for run, job, *naming in self.connection.execute(
            "SELECT r.run, r.job, r.side, r.dataset, min(r.first), max(r.last) "
            "FROM in_asserter i STRAIGHT_JOIN run_io r ON r.run = i.asserted_by AND r.job = i.job GROUP BY r.run, r.job, r.dataset, r.side"
        ):
            namings.setdefault((run, job), []).append(NamedDataset(*naming))
            cost += 1
        for subject, job, carrier, meaning, first in self.connection.execute(
            "SELECT s.asserted_by, s.job, s.carrier, s.lineage_set, s.first "
            "FROM in_asserter i STRAIGHT_JOIN run_lineage_set s USING (asserted_by, job)"
        ):
            stated.setdefault((subject, job), []).append(StatedLineage(carrier, meaning, first, 0))
            cost += 1
        moves: list[tuple[Subject, int, Shape]] = []
        grown: list[tuple[int, int, int | None, bytes, int]] = []
        for subject, job, origin, old, *known in olds:
            key = subject, job
            if origin == Origin.DECLARED:
                shape, growth = self._declared(key, meaning_of)
            else:
                said = dated(self.connection, key, stated.get(key, []), meaning_of)
                shape, growth = run_shape(job, namings.get(key, ()), said)
                if any(is_snapshot(row.lineage_set) for row in said):
                    self.speak(job, [row.dataset for row in namings.get(key, ())], ())
            if shape.id != old:
                moves.append((key, old, shape))
            if [growth.first_shape_at, growth.current_since] != known:
                grown.append((*growth, subject, job))
        self.connection.executemany(
            "UPDATE run_shape SET first_shape_at = ?, current_since = ?, pending_until = ? WHERE asserted_by = ? AND job = ?", grown
        )
        return cost + len(grown) + self.move(moves)

    def _query(self, sql: str) -> list[tuple[bytes, int, int, int, int, int]]:
        return self.connection.execute(sql).fetchall()

    def _declared(self, key: Subject, meaning_of: MeaningOf) -> tuple[Shape, ShapeHistory]:
        """The shape of a design-time statement: its newest content alone."""
        subject, job = key
        sayings = sayings_of(self.connection, subject, job)
        content = newest_facet_set(sayings)
        if content is None:
            return make_shape(Origin.DECLARED, (), ()), NO_HISTORY
        for said in sorted({saying.facet_set for saying in sayings}):
            shape = declared_shape(self.connection, job, said, meaning_of)
            self.speak(job, [dataset for _, dataset in shape.members], [meaning for _, meaning in shape.lineage_sets])
        return declared_shape(self.connection, job, content, meaning_of), declaration_history(sayings)

    def speak(self, job: int, nodes: Iterable[int], meanings: Iterable[bytes]) -> None:
        """Remember the nodes that a job's statements name, now or earlier: where to look for flows it once had."""
        many = self.connection.executemany
        many("INSERT INTO mentioned_node VALUES (?, ?) ON CONFLICT DO NOTHING", [(node, job) for node in nodes])
        many(statements.SPEAK, [{"job": job, "lineage_set": meaning} for meaning in meanings])

    def move(self, moves: list[tuple[Subject, int, Shape]]) -> int:
        """Take subjects from an old shape to a new one; their jobs gain and lose flows accordingly. Returns how many rows that took."""
        if not moves:
            return 0
        changed = [(shape.id, *subject) for subject, _, shape in moves]
        self.connection.executemany("UPDATE run_shape SET shape = ? WHERE asserted_by = ? AND job = ?", changed)
        left: set[tuple[int, int, int]] = set()
        joined: dict[tuple[int, int], Shape] = {}
        spans: list[tuple[int, int, int, int, int]] = []
        successors: dict[tuple[int, int], set[int]] = {}
        for (subject, job), old, shape in moves:
            days = self.connection.execute(statements.MOVE_DAYS, (shape.id, subject, job)).fetchall()
            if old != NO_SHAPE:
                left |= {(job, old, day) for day, _, _ in days}
                successors.setdefault((job, old), set()).add(shape.id)
            if shape.id != NO_SHAPE:
                joined[job, shape.id] = shape
                spans += [(job, shape.id, day, first, last) for day, first, last in days]
        new = [pair for pair in joined if not self._has(*pair)]
        self.connection.executemany(statements.JOB_SHAPE, spans)
        cost = sum(self._join(job, joined[job, shape_id]) for job, shape_id in new)
        return len(moves) + len(spans) + cost + self.leave(left, successors)

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
        return [hub_id(shape, place) for place in range(row[0])] if row else []

    def _expand(self, shape: Shape) -> None:
        """Store the flows of a shape that is seen for the first time."""
        if self.connection.execute("SELECT 1 FROM shape WHERE shape = ?", (shape.id,)).fetchone():
            return
        expansion = expand(shape, {meaning: read_lineage_set(self.connection, meaning) for _, meaning in shape.lineage_sets})
        sides = [side for side, _ in shape.members]
        execute, many = self.connection.execute, self.connection.executemany
        execute(
            "INSERT INTO shape VALUES (?, ?, ?, ?, ?)",
            (shape.id, shape.origin, sides.count(Side.INPUT), sides.count(Side.OUTPUT), len(expansion.hubs)),
        )
        many("INSERT INTO shape_io VALUES (?, ?, ?)", [(shape.id, side, dataset) for side, dataset in shape.members])
        many("INSERT INTO shape_lineage_set VALUES (?, ?, ?)", [(shape.id, *statement) for statement in shape.lineage_sets])
        many("INSERT INTO shape_flow VALUES (?, ?, ?, ?)", [(shape.id, *flow) for flow in expansion.flows])
        for place, hub in enumerate(expansion.hubs):
            id_ = hub_id(shape.id, place)
            many("INSERT INTO hub_io VALUES (?, ?, ?)", [(id_, int(Side.INPUT), dataset) for dataset in hub.inputs])
            many("INSERT INTO hub_io VALUES (?, ?, ?)", [(id_, int(Side.OUTPUT), dataset) for dataset in hub.outputs])

    # a job loses a shape

    def leave(self, left: set[tuple[int, int, int]], successors: dict[tuple[int, int], set[int]]) -> int:
        """Recompute (job, shape, day) that subjects have left; what only they supported goes. Returns how many rows that took."""
        for job, shape, day in sorted(left):
            self._respan(job, shape, day)
        lost = [(job, shape) for job, shape in sorted({key[:2] for key in left}) if not self._has(job, shape)]
        cost = sum(self._lose(job, shape, successors.get((job, shape), set())) for job, shape in lost)
        # Several jobs may have lost one shape: it goes when all of them have been seen to.
        for shape in sorted({shape for _, shape in lost}):
            if not self._one("SELECT 1 FROM job_shape WHERE shape = ? LIMIT 1", shape):
                self._drop(shape)
        return cost

    def _respan(self, job: int, shape: int, day: int) -> None:
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
            if not self._in_any("shape_io", successors, side=side, dataset=dataset) and not self._one(
                statements.OTHER_IO, origin, side, dataset, job
            ):
                self.changes.run(
                    "job_io",
                    "DELETE FROM job_io WHERE job = ? AND dataset = ? AND side = ? AND origin = ?",
                    (job, dataset, side, origin),
                )
        for carrier, meaning in self._rows("shape_lineage_set", "carrier, lineage_set", shape):
            cost += 1
            kept = self._in_any("shape_lineage_set", successors, carrier=carrier, lineage_set=meaning)
            if not kept and not self._one(statements.OTHER_STATEMENT, origin, carrier, meaning, job):
                self.changes.run(
                    "job_lineage_set",
                    "DELETE FROM job_lineage_set WHERE job = ? AND carrier = ? AND lineage_set = ? AND origin = ?",
                    (job, carrier, meaning, origin),
                )
        for hub in self._hubs(shape):
            self.changes.run("hub", "DELETE FROM hub WHERE hub = ? AND job = ?", (hub, job))
        return cost

    def _other_flow(self, source: int, target: int, job: int, origin: int, evidence: int) -> bool:
        """Whether another shape of the job holds the flow, written with the job's id or as its own."""
        return any(
            self._one(statements.OTHER_FLOW, a, b, evidence, origin, job)
            for a in {source, OWN if source == job else source}
            for b in {target, OWN if target == job else target}
        )

    def _rows(self, table: str, columns: str, shape: int) -> Iterator[tuple[int, ...]]:
        yield from self.connection.execute(f"SELECT {columns} FROM {table} WHERE shape = ?", (shape,)).fetchall()

    def _one(self, sql: str, *parameters: object) -> bool:
        return self.connection.execute(sql, parameters).fetchone() is not None

    def _in_any(self, table: str, shapes: set[int], **columns: object) -> bool:
        """Whether one of these shapes, of the same job, holds the row too: mostly the shape that a run grew into."""
        where = " AND ".join(f"{column} = ?" for column in columns)
        return any(self._one(f"SELECT 1 FROM {table} WHERE shape = ? AND {where}", shape, *columns.values()) for shape in shapes)

    def _drop(self, shape: int) -> None:
        for hub in self._hubs(shape):
            self.connection.execute("DELETE FROM hub_io WHERE hub = ?", (hub,))
        for table in ("shape", "shape_io", "shape_lineage_set", "shape_flow"):
            self.connection.execute(f"DELETE FROM {table} WHERE shape = ?", (shape,))
