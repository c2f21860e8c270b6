"""Finds the old events from which no row of the graph comes that stays."""

from collections.abc import Collection, Iterable, Sequence
from typing import Any, Final, NamedTuple

from lineage_bridge.graph.ids import day_of
from lineage_bridge.graph.log_record import RETRY, RecordAddress
from lineage_bridge.model.keeping.retention import Cutoffs, RetentionPolicy
from lineage_bridge.store.chunks import batches, marks
from lineage_bridge.store.connection import StoreConnection

_RECORDS = 'SELECT source, partition, "offset", channel FROM event_record WHERE time = ? AND event = ?'
_OLD_EVENTS = """SELECT time, event, effective, asserted_by, job, dataset FROM event
WHERE (time, event) > (?, ?) AND time < ? ORDER BY time, event LIMIT ?"""


class _Source(NamedTuple):
    """A relation, the column of the asserter, the columns that say from which events its rows come, and the one that narrows the search."""

    table: str
    asserter: str
    columns: str
    within: str


_EVENT_IDS: Final = (
    _Source("assertion", "asserted_by", "first_event, last_event", "day"),
    _Source("foreign_assertion", "asserted_by", "first_event, last_event", "day"),
    _Source("lifecycle", "asserted_by", "first_event, last_event", "day"),
    _Source("run", "run", "parent_event, nominal_event, raw_event", ""),
)
_TIMES: Final = (
    _Source("run_event", "run", "first, last", "day"),
    _Source("run_io", "run", "first, last", "day"),
    _Source("job_dependency", "run", "first, last", ""),
    _Source("io_sample", "run", "time", "time"),
)


class EventKey(NamedTuple):
    """The key of an event in the graph, by which events are in the order of time."""

    time: int
    id: bytes


class OldEvent(NamedTuple):
    """An event, its key first. `effective` is the time that counts."""

    time: int
    id: bytes
    effective: int
    asserted_by: bytes
    job: int
    dataset: int


class OldEvents:
    """Finds old events over a connection, within one transaction or several."""

    def __init__(self, connection: StoreConnection, policy: RetentionPolicy) -> None:
        self._connection, self._policy = connection, policy
        self._namespaces: dict[int, str] = {}

    def page(self, after: EventKey, end: int, most: int) -> list[OldEvent]:
        """The next events after a key, up to the time `end` of their producers' clocks."""
        rows = [OldEvent(*row) for row in self._connection.execute(_OLD_EVENTS, (*after, end, most)).fetchall()]
        self.load_namespaces(event.job or event.dataset for event in rows)
        return rows

    def idle(self, events: Iterable[OldEvent], firsts: Collection[int]) -> list[OldEvent]:
        """Those of the events that are old, and that no row needs. `firsts`: the times at which nodes were first mentioned."""
        old = [event for event in events if event.effective < self.cutoffs(event.job or event.dataset).events]
        needed, times = self._said_by(old)
        return [
            event
            for event in old
            if event.id not in needed and event.effective not in firsts and (event.asserted_by, event.effective) not in times
        ]

    def records(self, event: OldEvent) -> list[RecordAddress]:
        """The records of an event; none if it was released from quarantine, because the graph needs to know that."""
        rows = self._connection.execute(_RECORDS, (event.time, event.id)).fetchall()
        return [] if any(row[3] == RETRY for row in rows) else [RecordAddress(*row[:3]) for row in rows]

    def namespace(self, node: int) -> str:
        """The namespace of a node whose namespace was loaded; empty if there is no such node."""
        return self._namespaces.get(node, "")

    def cutoffs(self, node: int) -> Cutoffs:
        """The cutoffs of a node's namespace, which was loaded."""
        return self._policy.cutoffs_of(self.namespace(node))

    def load_namespaces(self, nodes: Iterable[int]) -> None:
        """Look up the namespaces of nodes."""
        missing = sorted({node for node in nodes if node not in self._namespaces})
        for some in batches(missing):
            self._namespaces.update(
                self._connection.execute(f"SELECT id, namespace FROM node WHERE id IN ({marks(some)})", some).fetchall()
            )

    def _said_by(self, events: Sequence[OldEvent]) -> tuple[set[bytes], set[tuple[bytes, int]]]:
        """The ids of the events, and the times of the events of each asserter, that rows of these asserters come from."""
        ids: set[bytes] = set()
        times: set[tuple[bytes, int]] = set()
        if events:
            first, last = min(event.effective for event in events), max(event.effective for event in events)
            for some in batches(sorted({event.asserted_by for event in events})):
                for source in _EVENT_IDS:
                    ids.update(value for _, *found in self._rows_of(source, some, first, last) for value in found if value)
                for source in _TIMES:
                    times.update((run, value) for run, *found in self._rows_of(source, some, first, last) for value in found)
        return ids, times

    def _rows_of(self, source: _Source, some: list[bytes], first: int, last: int) -> Iterable[tuple[Any, ...]]:
        where, values = f"{source.asserter} IN ({marks(some)})", list[bytes | int](some)
        if source.within:
            where += f" AND {source.within} BETWEEN ? AND ?"
            values += [first, last] if source.within == "time" else [day_of(first), day_of(last)]
        return self._connection.execute(f"SELECT {source.asserter}, {source.columns} FROM {source.table} WHERE {where}", values)
