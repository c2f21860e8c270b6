"""Removes what is old from the graph store, in short transactions between those of the pipeline.

Each row that stays is as it was, and for each of them an event stays that said it: so folding the events that stay, and removing again what
is old, gives the same tables.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Final, NamedTuple, TypeVar

from lineage_bridge.graph.ids import DAY_US, day_of
from lineage_bridge.graph.log_record import RETRY, RecordAddress
from lineage_bridge.model.retention import KEPT, Cutoffs, ExpiredCounts, RetentionPolicy
from lineage_bridge.ports.log import ExpiredRecords
from lineage_bridge.store.chunks import batches, marks
from lineage_bridge.store.connection import StoreConnection
from lineage_bridge.store.retention.evidence import OldRuns
from lineage_bridge.store.write.apply import GraphWriter

EVENTS: Final = 2_000
"""How many events, samples or rejected events one step examines."""
RUNS: Final = 500
"""How many runs one step removes."""
_END: Final = 2**62
_NO_KEY: Final = b""
_NAMESPACES = "SELECT s.last, n.namespace FROM run_shape s JOIN node n ON n.id = s.job WHERE s.asserted_by = ?"
_RECORDS_OF_RUN = """SELECT r.source, r.partition, r."offset" FROM event e
JOIN event_record r ON r.time = e.time AND r.event = e.event WHERE e.asserted_by = ?"""
_RECORDS = 'SELECT source, partition, "offset", channel FROM event_record WHERE time = ? AND event = ?'
_OLD_EVENTS = """SELECT time, event, effective, asserted_by, job, dataset FROM event
WHERE (time, event) > (?, ?) AND time < ? ORDER BY time, event LIMIT ?"""
_SAMPLE_KEY = "run, job, dataset, side, time"
_SAMPLES = f"""SELECT {_SAMPLE_KEY} FROM io_sample WHERE ({_SAMPLE_KEY}) > (?, ?, ?, ?, ?) ORDER BY {_SAMPLE_KEY} LIMIT ?"""
_DELETE_SAMPLE = "DELETE FROM io_sample WHERE run = ? AND job = ? AND dataset = ? AND side = ? AND time = ?"
_REJECTED = """SELECT event, source, partition, "offset" FROM quarantine WHERE arrival < ? ORDER BY event, source, partition, "offset" LIMIT ?"""
_DELETE_REJECTED = 'DELETE FROM quarantine WHERE event = ? AND source = ? AND partition = ? AND "offset" = ?'
_EVENT_IDS: Final = (
    ("assertion", "asserted_by", ("first_event", "last_event"), "day"),
    ("foreign_assertion", "asserted_by", ("first_event", "last_event"), "day"),
    ("lifecycle", "asserted_by", ("first_event", "last_event"), "day"),
    ("run", "run", ("parent_event", "nominal_event", "raw_event"), ""),
)
"""The relations whose rows name the events that they come from: the column of the asserter, those of events, and the column of the day."""
_TIMES: Final = (
    ("run_event", "run", ("first", "last"), "day"),
    ("run_io", "run", ("first", "last"), "day"),
    ("job_dependency", "run", ("first", "last"), ""),
    ("io_sample", "run", ("time",), "time"),
)
"""The relations whose rows have the times of the events that they come from."""
_COMMITTED = "SELECT value FROM rule WHERE name = 'expired'"
_COMMIT = "INSERT INTO rule VALUES ('expired', ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value"
"""The number of the last transaction that removed events, in the table that also remembers which rules are on."""
Step = Callable[[], ExpiredCounts]
"""One short transaction. Returns what went."""
Key = TypeVar("Key")


class _Event(NamedTuple):
    time: int
    id: bytes
    effective: int
    asserted_by: bytes
    job: int
    dataset: int


class Expiry:
    """Removes what a policy lets go, over the writer's connection."""

    def __init__(self, writer: GraphWriter, policy: RetentionPolicy, expired: ExpiredRecords) -> None:
        self._writer, self._policy, self._expired = writer, policy, expired
        self._connection = writer.connection
        self._namespaces: dict[int, str] = {}

    def steps(self, reading: StoreConnection, now_us: int) -> Iterator[Step]:
        """Yield the steps of one pass. Each is to be called before the next is asked for, while nobody else uses the writer.

        `reading` is another connection to the same graph, in a read transaction that began just now.
        """
        latest = self._policy.latest
        yield self._recover
        if latest.runs != KEPT:
            yield from self._run_steps(reading)
        if latest.statistics != KEPT:
            yield from self._scan(self._expire_samples, (_NO_KEY, KEPT, KEPT, KEPT, KEPT))
        if latest.events != KEPT:
            firsts = {first for (first,) in reading.scan("SELECT first FROM node")}
            for since, until in ((KEPT, latest.events), (now_us + DAY_US, _END)):
                yield from self._scan(lambda after, end=until: self._expire_events(after, end, firsts), (since, _NO_KEY))
            if (rejected := self._policy.of("").events) != KEPT:
                yield from self._scan(lambda _: self._expire_rejected(rejected), ())

    def _recover(self) -> ExpiredCounts:
        row = self._connection.execute(_COMMITTED).fetchone()
        self._expired.recover(row[0] if row else 0)
        self._number = max(row[0] if row else 0, self._expired.newest())
        return ExpiredCounts()

    @contextmanager
    def _removal(self) -> Iterator[list[RecordAddress]]:
        """A transaction. The block adds to the list the records that nothing needs once it is committed."""
        records: list[RecordAddress] = []
        with self._writer.transaction():
            yield records
            if records:
                self._number += 1
                self._expired.prepare(self._number, records)
                self._connection.execute(_COMMIT, (self._number,))
        if records:
            self._expired.commit(self._number)

    def _run_steps(self, reading: StoreConnection) -> Iterator[Step]:
        old = OldRuns(reading, self._policy)
        read_until, removed = old.positions(), 0

        def expire(runs: Sequence[bytes]) -> ExpiredCounts:
            nonlocal removed
            counts = self._expire_runs(runs, read_until)
            removed += counts.runs
            return counts

        for runs in old.windows():
            for first in range(0, len(runs), RUNS):
                some = runs[first : first + RUNS]
                yield lambda some=some: expire(some)
        if removed:
            yield self._drop_unasserted

    def _scan(self, expire: "Callable[[Key], tuple[Key | None, ExpiredCounts]]", first: Key) -> Iterator[Step]:
        """Steps that go through a table in the order of its key; each continues after the last key that the one before has seen."""
        after: Key | None = first

        def step() -> ExpiredCounts:
            nonlocal after
            assert after is not None  # noqa: S101 - the loop ends before
            after, counts = expire(after)
            return counts

        while after is not None:
            yield step

    # runs

    def _expire_runs(self, runs: Sequence[bytes], read_until: Mapping[tuple[str, int], int]) -> ExpiredCounts:
        """Remove those of these runs of which nothing was folded since the positions, and that are old under each of their jobs."""
        with self._removal() as records:
            gone: list[bytes] = []
            for run in runs:
                rows = self._connection.execute(_NAMESPACES, (run,)).fetchall()
                found = [RecordAddress(*row) for row in self._connection.execute(_RECORDS_OF_RUN, (run,)).fetchall()]
                is_old = all(last < self._policy.of(namespace).runs for last, namespace in rows)
                if rows and is_old and all(at.offset < read_until.get((at.source, at.partition), 0) for at in found):
                    gone.append(run)
                    records += found
            self._writer.erasure.delete_runs(gone)
            self._writer.derivation.forget()
        return ExpiredCounts(runs=len(gone), events=len(records))

    def _drop_unasserted(self) -> ExpiredCounts:
        with self._writer.transaction():
            self._writer.erasure.drop_unasserted()
        return ExpiredCounts()

    # statistics

    def _expire_samples(self, after: tuple[bytes, int, int, int, int]) -> tuple[tuple[bytes, int, int, int, int] | None, ExpiredCounts]:
        with self._writer.transaction():
            rows = self._connection.execute(_SAMPLES, (*after, EVENTS)).fetchall()
            self._load_namespaces(row[1] for row in rows)
            old = [row for row in rows if row[4] < self._cutoffs(row[1]).statistics]
            self._connection.executemany(_DELETE_SAMPLE, old)
        return tuple(rows[-1]) if len(rows) == EVENTS else None, ExpiredCounts(samples=len(old))

    # events

    def _expire_events(self, after: tuple[int, bytes], end: int, firsts: set[int]) -> tuple[tuple[int, bytes] | None, ExpiredCounts]:
        """Remove old events of which no row needs to be said by them. `firsts`: the times at which nodes were first mentioned."""
        with self._removal() as records:
            rows = [_Event(*row) for row in self._connection.execute(_OLD_EVENTS, (*after, end, EVENTS)).fetchall()]
            self._load_namespaces(event.job or event.dataset for event in rows)
            old = [event for event in rows if event.effective < self._cutoffs(event.job or event.dataset).events]
            needed, times = self._said_by(old)
            idle = [
                event
                for event in old
                if event.id not in needed and event.effective not in firsts and (event.asserted_by, event.effective) not in times
            ]
            gone: list[tuple[int, bytes]] = []
            for event in idle:
                found = self._connection.execute(_RECORDS, (event.time, event.id)).fetchall()
                if all(channel != RETRY for *_, channel in found):
                    gone.append((event.time, event.id))
                    records += [RecordAddress(source, number, offset) for source, number, offset, _ in found]
            for table in ("event_record", "event"):
                self._connection.executemany(f"DELETE FROM {table} WHERE time = ? AND event = ?", gone)
        return (rows[-1][:2] if len(rows) == EVENTS else None), ExpiredCounts(events=len(records))

    def _said_by(self, events: Sequence[_Event]) -> tuple[set[bytes], set[tuple[bytes, int]]]:
        """The ids of the events, and the times of the events of each asserter, that rows of these asserters come from."""
        ids: set[bytes] = set()
        times: set[tuple[bytes, int]] = set()
        if events:
            first, last = min(event.effective for event in events), max(event.effective for event in events)
            for some in batches(sorted({event.asserted_by for event in events})):
                for table in _EVENT_IDS:
                    ids.update(value for _, *found in self._rows_of(*table, some, first, last) for value in found if value)
                for table in _TIMES:
                    times.update((run, value) for run, *found in self._rows_of(*table, some, first, last) for value in found)
        return ids, times

    def _rows_of(
        self, table: str, asserter: str, columns: tuple[str, ...], within: str, some: list[bytes], first: int, last: int
    ) -> Iterable[tuple[bytes, ...]]:
        where, values = f"{asserter} IN ({marks(some)})", list[bytes | int](some)
        if within:
            where += f" AND {within} BETWEEN ? AND ?"
            values += [first, last] if within == "time" else [day_of(first), day_of(last)]
        return self._connection.execute(f"SELECT {asserter}, {', '.join(columns)} FROM {table} WHERE {where}", values)

    def _expire_rejected(self, before: int) -> tuple[tuple[()] | None, ExpiredCounts]:
        with self._removal() as records:
            rows = self._connection.execute(_REJECTED, (before, EVENTS)).fetchall()
            self._connection.executemany(_DELETE_REJECTED, rows)
            records += [RecordAddress(*row[1:]) for row in rows]
        return () if len(rows) == EVENTS else None, ExpiredCounts(rejected=len(rows))

    def _cutoffs(self, node: int) -> Cutoffs:
        return self._policy.of(self._namespaces.get(node, ""))

    def _load_namespaces(self, nodes: Iterable[int]) -> None:
        missing = sorted({node for node in nodes if node not in self._namespaces})
        for some in batches(missing):
            self._namespaces.update(self._connection.execute(f"SELECT id, namespace FROM node WHERE id IN ({marks(some)})", some).fetchall())
