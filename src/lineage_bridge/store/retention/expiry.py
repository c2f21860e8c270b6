"""Removes what is old from the graph store, in short transactions between those of the pipeline.

Each row that stays is as it was, and for each of them an event stays that said it: so folding the events that stay, and removing again what
is old, gives the same tables.
"""

from collections import deque
from collections.abc import Callable, Generator, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from functools import partial
from typing import Final

from lineage_bridge.errors import StoreError
from lineage_bridge.graph.ids import DAY_US
from lineage_bridge.graph.log_record import RETRY, RecordAddress
from lineage_bridge.model.keeping.retention import KEPT, ExpiredCounts, RetentionPolicy
from lineage_bridge.ports.graph_store import Budget
from lineage_bridge.ports.log import ExpiredRecords
from lineage_bridge.store.connection import StoreConnection
from lineage_bridge.store.retention.evidence import OldRuns, RunKey
from lineage_bridge.store.retention.old_events import EventKey, OldEvents
from lineage_bridge.store.retention.old_rows import REJECTED, SampleKey, old_samples
from lineage_bridge.store.retention.pass_time import RETAINED_AT
from lineage_bridge.store.write.apply import GraphWriter

PAGE: Final = 2_000
"""How many events, samples or rejected events one step examines."""
RUNS: Final = 500
"""How many runs one step removes at most. A run goes as a whole, with all its events."""
_TRIES: Final = 1_000
_END: Final = 2**62
_NAMESPACES = "SELECT s.last, n.namespace FROM run_shape s JOIN node n ON n.id = s.job WHERE s.asserted_by = ?"
_RECORDS_OF_RUN = """SELECT r.source, r.partition, r."offset", r.channel, r.event FROM event e
JOIN event_record r ON r.time = e.time AND r.event = e.event WHERE e.asserted_by = ?"""
_DELETE_SAMPLE = "DELETE FROM io_sample WHERE run = ? AND job = ? AND dataset = ? AND side = ? AND time = ?"
_DELETE_REJECTED = 'DELETE FROM quarantine WHERE event = ? AND source = ? AND partition = ? AND "offset" = ?'
_NOTED = "SELECT value FROM rule WHERE name = ?"
_NOTE = "INSERT INTO rule VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value"
_EXPIRED, _UNASSERTED = "expired", "unasserted"
"""Values in the table that also remembers which rules are on: the number of the last transaction that removed events, and whether facets
may be left that nothing asserts any more."""
Step = Callable[[], ExpiredCounts]
"""One short transaction. Returns what went."""
Reading = Callable[[], AbstractContextManager[StoreConnection]]
"""Begins a read transaction of the graph, over another connection than the writer's."""


class Expiry:
    """Removes what a policy lets go, over the writer's connection."""

    def __init__(self, writer: GraphWriter, policy: RetentionPolicy, expired: ExpiredRecords) -> None:
        self._writer, self._policy, self._expired = writer, policy, expired
        self._connection = writer.connection
        self._old = OldEvents(self._connection, policy)
        self._number = 0

    def steps(self, read: Reading, at_us: int) -> Iterator[Step]:
        """Yield the steps of one pass, by the time of the pass. Each is to be called before the next is asked for, while nobody else uses
        the writer. Raises StoreError if values that show what is needed have yet to be derived.
        """
        latest = self._policy.latest
        yield partial(self._begin, at_us)
        if latest.runs != KEPT:
            yield from self._run_steps(read)
        if latest.statistics != KEPT:
            yield from self._sample_steps()
        if latest.events != KEPT:
            with read() as reading:
                firsts = {first for (first,) in reading.scan("SELECT first FROM node")}
            # Where a producer's clock is far ahead, the arrival is the time that counts.
            for since, until in ((KEPT, latest.events), (at_us + DAY_US, _END)):
                yield from self._event_steps(EventKey(since, b""), until, firsts)
        if self._policy.cutoffs_of("").events != KEPT:
            yield from self._rejected_steps(self._policy.cutoffs_of("").events)

    def _begin(self, at_us: int) -> ExpiredCounts:
        with self._writer.transaction():
            self._connection.execute(_NOTE, (RETAINED_AT, max(at_us, self._noted(RETAINED_AT))))
        committed = self._noted(_EXPIRED)
        self._expired.recover(committed)
        self._number = max(committed, self._expired.newest())
        return ExpiredCounts()

    def _noted(self, name: str) -> int:
        row = self._connection.execute(_NOTED, (name,)).fetchone()
        return int(row[0]) if row else 0

    @contextmanager
    def _removal(self) -> Iterator[list[RecordAddress]]:
        """A transaction. The block adds to the list the records that nothing needs once it is committed."""
        records: list[RecordAddress] = []
        with self._writer.transaction():
            yield records
            if records:
                self._number += 1
                self._expired.prepare(self._number, records)
                self._connection.execute(_NOTE, (_EXPIRED, self._number))
        if records:
            self._expired.commit(self._number)

    # runs

    def _run_steps(self, read: Reading) -> Iterator[Step]:
        read_until, needed = yield from self._search(read)
        after: RunKey | None = RunKey()
        while after is not None:
            with read() as reading:
                runs, after = OldRuns(reading, self._policy).window(after, needed)
            waiting = deque(runs)
            while waiting:
                yield partial(self._expire_runs, waiting, read_until)
        if self._noted(_UNASSERTED):
            yield self._drop_unasserted

    def _search(self, read: Reading) -> Generator[Step, None, tuple[Mapping[tuple[str, int], int], set[bytes]]]:
        """Find the old runs that stay, once everything is derived from which that is seen. Also returns how far the graph had read."""
        for _ in range(_TRIES):
            with read() as reading:
                old = OldRuns(reading, self._policy)
                if old.is_settled():
                    return old.positions(), old.needed()
            yield self._settle
        raise StoreError("events arrive faster than their derived values are computed", "wait: the next pass is made when fewer arrive")

    def _settle(self) -> ExpiredCounts:
        self._writer.settle(Budget(PAGE))
        return ExpiredCounts()

    def _expire_runs(self, runs: deque[bytes], read_until: Mapping[tuple[str, int], int]) -> ExpiredCounts:
        """Take the next of these runs, up to RUNS runs or PAGE events, and remove those of which nothing was folded since the positions,
        and that are old under each of their jobs.
        """
        with self._removal() as records:
            gone, events, examined = list[bytes](), 0, 0
            while runs and examined < RUNS and events < PAGE:
                run, examined = runs.popleft(), examined + 1
                rows = self._connection.execute(_NAMESPACES, (run,)).fetchall()
                found = self._connection.execute(_RECORDS_OF_RUN, (run,)).fetchall()
                is_old = all(last < self._policy.cutoffs_of(namespace).runs for last, namespace in rows)
                if rows and is_old and all(offset < read_until.get((source, number), 0) for source, number, offset, _, _ in found):
                    gone.append(run)
                    # The log keeps it that an event was released from quarantine.
                    records.extend(RecordAddress(*row[:3]) for row in found if row[3] != RETRY)
                    events += len({row[4] for row in found})
            self._writer.erasure.delete_runs(gone)
            self._writer.derivation.forget()
            self._connection.execute(_NOTE, (_UNASSERTED, 1))
        return ExpiredCounts(runs=len(gone), events=events)

    def _drop_unasserted(self) -> ExpiredCounts:
        with self._writer.transaction():
            self._writer.erasure.drop_unasserted()
            self._connection.execute(_NOTE, (_UNASSERTED, 0))
        return ExpiredCounts()

    # statistics, events and rejected events: pages of a table, each after the last key of the one before

    def _sample_steps(self) -> Iterator[Step]:
        after: SampleKey | None = SampleKey()

        def step() -> ExpiredCounts:
            nonlocal after
            with self._writer.transaction():
                found, after = old_samples(self._connection, self._old, after or SampleKey(), PAGE)
                self._connection.executemany(_DELETE_SAMPLE, found)
            return ExpiredCounts(samples=len(found))

        while after is not None:
            yield step

    def _event_steps(self, first: EventKey, until: int, firsts: set[int]) -> Iterator[Step]:
        after: EventKey | None = first

        def step() -> ExpiredCounts:
            nonlocal after
            with self._removal() as records:
                page = self._old.page(after or first, until, PAGE)
                found = [(event, self._old.records(event)) for event in self._old.idle(page, firsts)]
                gone = [(event.time, event.id) for event, addresses in found if addresses]
                records.extend(address for _, addresses in found for address in addresses)
                for table in ("event_record", "event"):
                    self._connection.executemany(f"DELETE FROM {table} WHERE time = ? AND event = ?", gone)
            after = EventKey(page[-1].time, page[-1].id) if len(page) == PAGE else None
            return ExpiredCounts(events=len(gone))

        while after is not None:
            yield step

    def _rejected_steps(self, before: int) -> Iterator[Step]:
        left = PAGE

        def step() -> ExpiredCounts:
            nonlocal left
            with self._removal() as records:
                rows = self._connection.execute(REJECTED, (before, PAGE)).fetchall()
                self._connection.executemany(_DELETE_REJECTED, rows)
                records.extend(RecordAddress(*row[1:]) for row in rows)
            left = len(rows)
            return ExpiredCounts(rejected=left)

        while left == PAGE:
            yield step
