"""Determines which flows have ended, and which continue under another name.

A DROP of a dataset ends its flows, and so does an operator's statement; a RENAME continues them. Answers leave out what has ended here.
"""

from collections.abc import Collection, Iterable, Iterator

from lineage_bridge.graph.relations import Evidence, Origin, Side
from lineage_bridge.store.chunks import chunks, marks
from lineage_bridge.store.connection import StoreConnection
from lineage_bridge.store.history.spans import Spans
from lineage_bridge.store.query.flows import Direction, Flows, RawEdge, RawPort, RawStatement

_TIME = 'CASE WHEN "last" <= ? THEN "last" ELSE "first" END'
_NOW = 2**63 - 1
_RUNS = 200
"""How many of a job's newest runs are searched for the last time they named a dataset."""
_NAMED_LATER = f"""SELECT 1 FROM (SELECT asserted_by FROM run_shape WHERE job = :job AND last > :end AND origin = 1 AND first <= :at
ORDER BY last DESC LIMIT {_RUNS}) p JOIN run_io i ON i.run = p.asserted_by AND i.job = :job AND i.dataset = :dataset AND i.side = :side
WHERE i.first <= :at AND CASE WHEN i.last <= :at THEN i.last ELSE i.first END > :end LIMIT 1"""
_NAMED = "SELECT 1 FROM job_io WHERE job = ? AND dataset = ? AND side = ? AND origin = 1"


class Endings:
    """Whether an edge has been ended, and not been asserted again since: now, or as of a time."""

    def __init__(self, connection: StoreConnection, spans: Spans, at_us: int | None) -> None:
        self.connection, self.spans = connection, spans
        self.at_us = _NOW if at_us is None else at_us
        self._dropped: dict[int, int | None] = {}
        self._has_stated_ends = self.connection.execute("SELECT 1 FROM ending WHERE ended = 1 LIMIT 1").fetchone() is not None
        self._has_drops = (
            self.connection.execute("SELECT 1 FROM lifecycle WHERE change IN ('DROP', 'RENAME') LIMIT 1").fetchone() is not None
        )

    @property
    def empty(self) -> bool:
        """Whether nothing was ever dropped or renamed, and no operator's end is in effect."""
        return not self._has_drops and not self._has_stated_ends

    def load(self, ids: Iterable[int]) -> None:
        """Look up when these datasets were dropped, all at once."""
        new = {id_ for id_ in ids if id_ not in self._dropped} if self._has_drops else ()
        self._dropped.update(dict.fromkeys(new))
        for some in chunks(new):
            sql = f"""SELECT dataset, max({_TIME}) FROM lifecycle
            WHERE dataset IN ({marks(some)}) AND change = 'DROP' AND first <= ? GROUP BY dataset"""
            self._dropped.update(self.connection.execute(sql, (self.at_us, *some, self.at_us)).fetchall())

    def has_ended(self, source: int, target: int, job: int, origin: int) -> bool:
        """Whether a flow has been ended."""
        if not self._has_stated_ends and not self._dropped:
            return False
        for dataset, side in ((source, Side.INPUT), (target, Side.OUTPUT)):
            drop = self._dropped.get(dataset)
            if drop is not None and not self._asserted_later((source, target, job, origin), dataset, side, drop):
                return True
        return self._has_stated_ends and any(
            not self._asserted_later((source, target, job, origin), *end) for end in self._stated_ends(job, (source, target))
        )

    def has_ended_port(self, job: int, dataset: int, side: int, origin: int) -> bool:
        """Whether an input or output of a job has been ended."""
        ends = (dataset, 0) if side == Side.INPUT else (0, dataset)
        drop = self._dropped.get(dataset)
        times = [drop] if drop is not None else []
        times += [at for _, _, at in self._stated_ends(job, ends)] if self._has_stated_ends else []
        return any(not self._port_asserted_later(job, dataset, side, origin, at) for at in times)

    def _stated_ends(self, job: int, ends: tuple[int, int]) -> list[tuple[int, Side, int]]:
        """The operators' statements that end a flow: of exactly it, of all from its source, or of all to its target."""
        source, target = ends
        rows = self.connection.execute(
            "SELECT source, target, at FROM ending WHERE job = ? AND ended = 1 AND at <= ? AND source IN (?, 0) AND target IN (?, 0)",
            (job, self.at_us, source, target),
        ).fetchall()
        return [(source, Side.INPUT, at) if row_source else (target, Side.OUTPUT, at) for row_source, _, at in rows]

    def _asserted_later(self, edge: tuple[int, int, int, int], dataset: int, side: Side, end: int) -> bool:
        _, _, job, origin = edge
        if origin == Origin.OBSERVED and self.connection.execute(_NAMED, (job, dataset, int(side))).fetchone():
            return self._port_asserted_later(job, dataset, side, origin, end)
        last = self.spans.flow(*edge)
        return last is not None and last > end

    def _port_asserted_later(self, job: int, dataset: int, side: int, origin: int, end: int) -> bool:
        if origin == Origin.OBSERVED:
            values = {"job": job, "dataset": dataset, "side": int(side), "end": end, "at": self.at_us}
            return self.connection.execute(_NAMED_LATER, values).fetchone() is not None
        last = self.spans.port(job, dataset, int(side), origin)
        return last is not None and last > end

    def renamed(self, ids: Collection[int], direction: Direction) -> Iterator[RawEdge]:
        """The flows of renames: from the earlier name to the later one, by the job that reported the rename."""
        here = "previous" if direction is Direction.DOWN else "dataset"
        for some in chunks(ids) if self._has_drops else ():
            sql = f"""SELECT DISTINCT previous, dataset, CASE job WHEN 0 THEN dataset ELSE job END FROM lifecycle
            WHERE {here} IN ({marks(some)}) AND change = 'RENAME' AND previous NOT IN (0, dataset) AND first <= ? ORDER BY 1, 2, 3"""
            for source, target, job in self.connection.execute(sql, (*some, self.at_us)).fetchall():
                yield source, target, job, int(Origin.OBSERVED), int(Evidence.RENAMED), 0

    def renamed_last(self, source: int, target: int) -> int | None:
        """The time of the last report of a rename."""
        sql = f"SELECT max({_TIME}) FROM lifecycle WHERE dataset = ? AND previous = ? AND change = 'RENAME' AND first <= ?"
        found = self.connection.execute(sql, (self.at_us, target, source, self.at_us)).fetchone()
        return None if found is None or found[0] is None else int(found[0])


class FlowsWithoutEnded:
    """The flows at a point in time, without those that have ended (unless `ended`), and with those that renames make."""

    def __init__(self, flows: Flows, endings: Endings, *, ended: bool) -> None:
        self.flows, self.endings, self.ended = flows, endings, ended

    def edges(self, ids: Collection[int], direction: Direction) -> Iterator[RawEdge]:
        """See Flows."""
        if self.endings.empty:
            yield from self.flows.edges(ids, direction)
            return
        edges = list(self.flows.edges(ids, direction))
        if not self.ended:
            self.endings.load({end for edge in edges for end in edge[:2]})
            edges = [edge for edge in edges if not self.endings.has_ended(*edge[:4])]
        yield from edges
        yield from self.endings.renamed(ids, direction)

    def ports(self, ids: Collection[int], side: Side, limit: int) -> Iterator[RawPort]:
        """See Flows."""
        if self.endings.empty:
            yield from self.flows.ports(ids, side, limit)
            return
        if not self.ended:
            self.endings.load(ids)
        for port in self.flows.ports(ids, side, limit):
            if self.ended or not self.endings.has_ended_port(*port):
                yield port

    def job_ports(self, job: int, side: Side) -> list[RawPort]:
        """See Flows."""
        ports = self.flows.job_ports(job, side)
        if self.ended or self.endings.empty:
            return ports
        self.endings.load(port[1] for port in ports)
        return [port for port in ports if not self.endings.has_ended_port(*port)]

    def statements(self, job: int, carrier: int) -> list[RawStatement]:
        """See Flows."""
        return self.flows.statements(job, carrier)

    def expand(self, ids: Iterable[int]) -> set[int]:
        """See Flows."""
        return self.flows.expand(ids)
