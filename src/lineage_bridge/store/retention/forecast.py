"""Says what retention would remove, without a change."""

from collections import defaultdict
from collections.abc import Iterator

from lineage_bridge.graph.ids import DAY_US
from lineage_bridge.model.keeping.retention import KEPT, ExpiredCounts, RetentionPolicy
from lineage_bridge.store.chunks import batches, marks
from lineage_bridge.store.connection import StoreConnection
from lineage_bridge.store.retention.evidence import OldRuns, RunKey
from lineage_bridge.store.retention.old_events import EventKey, OldEvents
from lineage_bridge.store.retention.old_rows import SampleKey, old_samples

_PAGE = 2_000
_END = 2**62
_JOBS = "SELECT asserted_by, min(job) FROM run_shape WHERE asserted_by IN ({}) GROUP BY asserted_by"
_EVENTS_OF_JOBS = "SELECT job, count(*) FROM event WHERE asserted_by IN ({}) GROUP BY job"
_REJECTED = "SELECT count(*) FROM quarantine WHERE arrival < ?"


def forecast(connection: StoreConnection, policy: RetentionPolicy, now_us: int) -> dict[str, ExpiredCounts]:
    """What would go, by namespace, of the graph in a read transaction of a connection. Rejected events have no namespace."""
    counts: defaultdict[str, ExpiredCounts] = defaultdict(ExpiredCounts)
    old, latest, runs = OldEvents(connection, policy), policy.latest, set[bytes]()
    if latest.runs != KEPT:
        for some in _windows(connection, policy):
            _count_runs(connection, old, [run for run in some if run not in runs], counts)
            runs.update(some)
    if latest.statistics != KEPT:
        after: SampleKey | None = SampleKey()
        while after is not None:
            found, after = old_samples(connection, old, after, _PAGE)
            for sample in found:
                counts[old.namespace(sample.job)].samples += sample.run not in runs
    if latest.events != KEPT:
        firsts = {first for (first,) in connection.scan("SELECT first FROM node")}
        for since, until in ((KEPT, latest.events), (now_us + DAY_US, _END)):
            _count_events(old, EventKey(since, b""), until, firsts, runs, counts)
    if (before := policy.cutoffs_of("").events) != KEPT:
        counts[""].rejected = connection.execute(_REJECTED, (before,)).fetchone()[0]
    return {namespace: found for namespace, found in sorted(counts.items()) if found != ExpiredCounts()}


def _windows(connection: StoreConnection, policy: RetentionPolicy) -> Iterator[list[bytes]]:
    old = OldRuns(connection, policy)
    needed = old.needed()
    after: RunKey | None = RunKey()
    while after is not None:
        runs, after = old.window(after, needed)
        yield runs


def _count_runs(connection: StoreConnection, old: OldEvents, runs: list[bytes], counts: dict[str, ExpiredCounts]) -> None:
    for some in batches(runs):
        jobs = connection.execute(_JOBS.format(marks(some)), some).fetchall()
        events = connection.execute(_EVENTS_OF_JOBS.format(marks(some)), some).fetchall()
        old.load_namespaces(job for job, _ in events)
        old.load_namespaces(job for _, job in jobs)
        for _, job in jobs:
            counts[old.namespace(job)].runs += 1
        for job, number in events:
            counts[old.namespace(job)].events += number


def _count_events(
    old: OldEvents, after: EventKey | None, until: int, firsts: set[int], runs: set[bytes], counts: dict[str, ExpiredCounts]
) -> None:
    while after is not None:
        page = old.page(after, until, _PAGE)
        for event in old.idle((event for event in page if event.asserted_by not in runs), firsts):
            counts[old.namespace(event.job or event.dataset)].events += bool(old.records(event))
        after = EventKey(page[-1].time, page[-1].id) if len(page) == _PAGE else None
