"""Reads events and quarantined records."""

import heapq
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import Final

from lineage_bridge.errors import StoreDamagedError
from lineage_bridge.graph.ids import NodeKind
from lineage_bridge.graph.log_record import RecordAddress
from lineage_bridge.model.events import EventFilter, EventRecord, QuarantineCounts, QuarantineRecord
from lineage_bridge.store.connection import StoreConnection
from lineage_bridge.store.dialect import NO_LIMIT
from lineage_bridge.store.query.nodes import Nodes
from lineage_bridge.store.runs.mentions import DatasetMention, mentions
from lineage_bridge.store.runs.runs import Runs

_EVENT = "SELECT time, event, type, asserted_by, repairs FROM event"
_OF_NAMESPACES = """(job IN (SELECT id FROM node WHERE kind = 2 AND {0})
OR (job = 0 AND dataset IN (SELECT id FROM node WHERE kind = 1 AND {0})))"""
"""The condition that an event is about a job in some namespaces or, if it names no job, about a dataset in them."""
_COPY = 'SELECT source, partition, "offset" FROM event_record WHERE time = ? AND event = ? ORDER BY source, partition, "offset" LIMIT 1'
_QUARANTINE = """SELECT q.event, q.source, q.partition, q."offset", q.code, q.path, q.message, q.sample, q.size, q.arrival, q.channel,
 q.principal
FROM (SELECT q.event, q.source, q.partition, q."offset" FROM quarantine q
WHERE NOT EXISTS (SELECT 1 FROM released r WHERE r.event = q.event){}
ORDER BY q.arrival DESC, q."offset" DESC LIMIT :limit OFFSET :offset) chosen
JOIN quarantine q ON q.event = chosen.event AND q.source = chosen.source AND q.partition = chosen.partition
AND q."offset" = chosen."offset" ORDER BY q.arrival DESC, q."offset" DESC"""
"""A page of quarantined records. Only keys are sorted, because sorting whole records with their samples would take far more memory."""
_NEWEST = """SELECT q.code, {} FROM quarantine q WHERE NOT EXISTS (SELECT 1 FROM released r WHERE r.event = q.event)
ORDER BY q.arrival DESC, q."offset" DESC LIMIT ?"""
MOST_COUNTED: Final = 10_000
"""The maximum number of quarantined records that are counted, newest first: counting reads each of them."""
_FEW_JOBS = 500
_ALL_TIME = 2**63 - 1
_EventRow = tuple[int, bytes, str, bytes, str]


class Events:
    """Implements ports.EventReader over one connection."""

    def __init__(self, connection: StoreConnection, nodes: Nodes, runs: Runs) -> None:
        self.connection, self.nodes, self.runs = connection, nodes, runs

    def page(self, which: EventFilter) -> list[EventRecord]:
        """The events that a filter selects. The cost depends on the page, not on the log, unless the globs match very many jobs."""
        since = which.since if which.since is not None else -_ALL_TIME
        until = which.until if which.until is not None else _ALL_TIME
        rows = self._rows(which, since, until)
        return [self._event(row) for row in islice(rows, which.offset, which.offset + which.limit)]

    def _rows(self, which: EventFilter, since: int, until: int) -> Iterable[_EventRow]:
        order = "ASC" if which.ascending else "DESC"
        tail = f"time >= ? AND time < ? ORDER BY time {order}, event {order}"
        within = self.nodes.within
        if which.datasets is not None:
            return self._naming(which, since, until)
        if which.namespace is None and which.job is None:
            return self.connection.execute(f"{_EVENT} WHERE {self._condition} AND {tail}", (*self._values, since, until))
        jobs = [node.id for node in self.nodes.matching(NodeKind.JOB, which.namespace, which.job, _FEW_JOBS + 1, 0)]
        if len(jobs) > _FEW_JOBS:
            named = f"SELECT id FROM node WHERE kind = 2 AND namespace GLOB ? AND name GLOB ? AND {within.by_position('namespace')}"
            values = (which.namespace or "*", which.job or "*", *within.values, since, until)
            return self.connection.execute(f"{_EVENT} WHERE job IN ({named}) AND {tail}", values)
        streams = [self.connection.execute(f"{_EVENT} WHERE job = ? AND {tail}", (job, since, until)) for job in jobs]
        return heapq.merge(*streams, key=lambda row: row[:2], reverse=not which.ascending)

    def _naming(self, which: EventFilter, since: int, until: int) -> Iterator[_EventRow]:
        """The events that named a dataset."""
        condition, values = self._condition, [*self._values]
        if which.namespace is not None or which.job is not None:
            condition += " AND job IN (SELECT id FROM node WHERE kind = 2 AND namespace GLOB ? AND name GLOB ?)"
            values += [which.namespace or "*", which.job or "*"]
        seen: set[bytes] = set()
        for mention in sorted(mentions(self.connection, which.datasets or ()), reverse=not which.ascending):
            for row in self._mentioning(mention, condition, values):
                if row[1] not in seen and since <= row[0] < until:
                    seen.add(row[1])
                    yield row

    def _mentioning(self, mention: DatasetMention, condition: str, values: list[str]) -> list[_EventRow]:
        """The events to which a mention refers. If the producer's clock was far ahead, the mention has the time of arrival, and the event's
        own time is later.
        """
        chosen, given = ("", ()) if mention.event == b"" else (" AND event = ?", (mention.event,))
        sql = f"{_EVENT} WHERE asserted_by = ?{chosen} AND {condition} AND"
        common = (mention.asserted_by, *given, *values)
        exact = self.connection.execute(f"{sql} time = ?", (*common, mention.time)).fetchall()
        return exact or self.connection.execute(f"{sql} time > ? AND effective = ?", (*common, mention.time, mention.time)).fetchall()

    def of_run(self, run_id: str, limit: int | None = None) -> list[EventRecord]:
        """The events of a run (its id as sent, or as a UUID), oldest first."""
        sql = f"{_EVENT} WHERE asserted_by = ? AND {self._condition} ORDER BY time, event LIMIT ?"
        most = NO_LIMIT if limit is None else limit
        rows = [row for asserter in self.runs.ids(run_id) for row in self.connection.execute(sql, (asserter, *self._values, most))]
        return [self._event(row) for row in sorted(rows)]

    @property
    def _condition(self) -> str:
        """The SQL condition that an event belongs to one of the namespaces that lists are limited to."""
        within = self.nodes.within
        return "1 = 1" if within.namespaces is None else _OF_NAMESPACES.format(within.by_position("namespace"))

    @property
    def _values(self) -> list[str]:
        return self.nodes.within.values * 2

    def _event(self, row: _EventRow) -> EventRecord:
        address = self.connection.execute(_COPY, row[:2]).fetchone()
        if address is None:
            raise StoreDamagedError(
                f"the graph does not say where the event {row[1].hex()} is in the log", self.connection.dialect.replayed
            )
        return EventRecord(*row, RecordAddress(*address))

    def quarantine(self, code: str | None, limit: int, offset: int, event: bytes | None = None) -> list[QuarantineRecord]:
        """Quarantined records, newest first, without those accepted since. With `event`, only those with this event id."""
        conditions = {name: value for name, value in (("code", code), ("event", event)) if value is not None}
        sql = _QUARANTINE.format("".join(f" AND q.{name} = :{name}" for name in conditions))
        rows = self.connection.execute(sql, {**conditions, "limit": limit, "offset": offset})
        return [QuarantineRecord(row[0], RecordAddress(*row[1:4]), *row[4:]) for row in rows]

    def quarantine_counts(self, of: Callable[[str], bool] | None = None) -> QuarantineCounts:
        """How many of the newest MOST_COUNTED quarantined records there are for each reason. With `of`, only records are counted whose
        beginning the function `of` accepts.
        """
        rows = self.connection.execute(_NEWEST.format("''" if of is None else "q.sample"), (MOST_COUNTED + 1,)).fetchall()
        counts = Counter(code for code, sample in rows[:MOST_COUNTED] if of is None or of(sample))
        return QuarantineCounts(dict(sorted(counts.items())), truncated=len(rows) > MOST_COUNTED)
