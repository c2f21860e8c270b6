"""Retention in the store: the present graph stays, what goes is old, and folding what stays gives the same tables."""

from collections.abc import Sequence
from contextlib import nullcontext
from uuid import UUID

import pytest
from msgspec.structs import replace
from tests.events import RUNS, T0, dataset, facet, job_event, records_of, run_event, schema
from tests.quirks.disorder import arriving, in_order
from tests.store.corpus import corpus_events
from tests.store.reading import reader_of
from tests.store.retention.removing import OLD, Gone, graph_of, is_in, put, retain, tables
from tests.store.tables import contents
from tests.store.writing import NAMES, opened, settle

from lineage_bridge.graph.facts.fold import flat, fold_records
from lineage_bridge.graph.ids import DAY_US
from lineage_bridge.graph.log_record import RETRY, OffsetRange, RecordAddress, StoredRecord
from lineage_bridge.model.keeping.retention import KEPT, Cutoffs, ExpiredCounts, RetentionPolicy
from lineage_bridge.ports.graph_store import Batch, Budget
from lineage_bridge.store.retention.expiry import Expiry
from lineage_bridge.store.retention.forecast import forecast
from lineage_bridge.store.write.apply import GraphWriter

POLICIES = {
    "all": Cutoffs(OLD, OLD, OLD, OLD),
    "runs": Cutoffs(runs=OLD),
    "events": Cutoffs(events=OLD),
    "statistics": Cutoffs(statistics=OLD),
    "half": Cutoffs(*[T0 + DAY_US] * 4),
}


@pytest.mark.parametrize("policy", POLICIES)
def test_the_present_graph_stays(policy: str) -> None:
    with opened() as writer:
        put(writer, in_order(corpus_events()))
        before = graph_of(writer)
        facets = contents(writer, "current_facet")
        foreseen = ExpiredCounts()
        for some in forecast(writer.connection, RetentionPolicy([("*", POLICIES[policy])]), OLD).values():
            foreseen.add(some)
        counts, _ = retain(writer, POLICIES[policy])
        assert foreseen == counts
        assert graph_of(writer) == before
        assert contents(writer, "current_facet") == facets
        assert [d for d in reader_of(writer).whole.differences(NAMES) if d.surplus or d.missing] == []


@pytest.mark.parametrize("policy", POLICIES)
def test_folding_the_records_that_stay_gives_the_same_tables(policy: str) -> None:
    records = arriving(corpus_events(), 7)
    with opened() as writer, opened() as again:
        put(writer, records)
        _, gone = retain(writer, POLICIES[policy])
        put(again, [record for record in records if not is_in(record, gone)])
        retain(again, POLICIES[policy])
        mine, theirs = tables(writer), tables(again)
        for name in mine:
            assert mine[name] == theirs[name], name


def history() -> list[StoredRecord]:
    """Sixty days: runs of a job that once wrote elsewhere, and once had another schema; a stream that sends heartbeats; a declaration."""
    bodies = []
    for day in range(60):
        at = T0 - (60 - day) * DAY_US
        target = "elsewhere" if day == 20 else "target"
        outputs = [
            dataset(target, access=("outputFacets", {"outputStatistics": facet(rowCount=day)}), schema=schema("id", *["x"] * (day < 30)))
        ]
        for type_, time_us in (("START", at), ("COMPLETE", at + 60_000_000)):
            bodies.append(run_event(type_, str(UUID(int=day + 1000)), "batch", time_us, [dataset("source")], outputs))
        for minute in range(4):
            heartbeat = facet(processingType="STREAMING", integration="FLINK", jobType="JOB")
            bodies.append(
                run_event(
                    "RUNNING", RUNS[0], "stream", at + minute * 60_000_000, [dataset("in")], [dataset("out")], None, {"jobType": heartbeat}
                )
            )
        bodies.append(job_event("declared", at, inputs=[dataset("source")], outputs=[dataset("reported")]))
    return records_of(bodies, arrival=T0)


@pytest.mark.parametrize(("facets_until", "kept"), [(T0, 10 + 2), (KEPT, 10 + 2 + 2)])
def test_a_history_shrinks_to_what_the_graph_needs(writer: GraphWriter, facets_until: int, kept: int) -> None:
    """The newest ten runs stay, the first, the one that wrote elsewhere; and, as facets are kept, the last and first of the two schemas."""
    put(writer, history())
    before, old = graph_of(writer), T0 - 5 * DAY_US
    cutoffs = Cutoffs(old, old, old, facets_until)
    counts, gone = retain(writer, cutoffs)
    assert graph_of(writer) == before
    assert counts.runs == 60 - kept
    assert counts.samples > 0
    assert [d for d in reader_of(writer).whole.differences(NAMES) if d.surplus or d.missing] == []
    with opened() as again:
        put(again, [record for record in history() if not is_in(record, gone)])
        retain(again, cutoffs)
        mine, theirs = tables(writer), tables(again)
        for name in mine:
            assert mine[name] == theirs[name], name


def test_a_second_pass_and_late_repeats_change_nothing(writer: GraphWriter) -> None:
    put(writer, history())
    old = T0 - 5 * DAY_US
    cutoffs = Cutoffs(old, old, old, old)
    _, gone = retain(writer, cutoffs)
    once = tables(writer)
    counts, _ = retain(writer, cutoffs)
    assert (counts, tables(writer)) == (ExpiredCounts(), once)
    repeats = [record for record in history() if is_in(record, gone)]
    writer.apply(Batch({}, dict(flat(fold_records(repeats, NAMES)))), Budget(10**9))
    settle(writer)
    retain(writer, cutoffs)
    again = tables(writer)
    for name in once:
        assert again[name] == once[name], name


def test_the_search_waits_until_everything_is_derived(writer: GraphWriter) -> None:
    """Otherwise it would miss evidence, and runs that are old."""
    runs = [
        run_event("OTHER", str(UUID(int=n + 1)), f"job {n % 9}", T0 - n * DAY_US // 24, [dataset("a")], [dataset("b")]) for n in range(1100)
    ]
    records, cutoffs = records_of(runs, arrival=T0), Cutoffs(runs=T0 - 5 * DAY_US)
    with opened() as settled:
        put(settled, records)
        expected, _ = retain(settled, cutoffs)
        writer.apply(Batch({("log", 0): OffsetRange(0, 2**40)}, dict(flat(fold_records(records, NAMES)))), Budget(-(10**9)))
        assert writer.left() > 0
        assert retain(writer, cutoffs)[0] == expected
        mine, theirs = tables(writer), tables(settled)
        for name in mine:
            assert mine[name] == theirs[name], name


def test_a_run_that_sent_an_event_since_the_search_stays(writer: GraphWriter) -> None:
    put(writer, history())
    old = T0 - 5 * DAY_US
    expiry = Expiry(writer, RetentionPolicy([("*", Cutoffs(runs=old))]), Gone())
    late = run_event("OTHER", str(UUID(int=1000 + 10)), "batch", T0 - 50 * DAY_US, [dataset("source")], [dataset("third")])
    steps = expiry.steps(lambda: nullcontext(writer.connection), OLD)
    next(steps)()
    found = next(steps)
    record = StoredRecord("log", 0, 2**40, records_of([late], arrival=T0)[0].record)
    writer.apply(Batch({("log", 0): OffsetRange(2**40, 2**40 + 1)}, dict(flat(fold_records([record], NAMES)))), Budget(10**9))
    before = graph_of(writer)
    found()
    assert graph_of(writer) == before
    assert ("third",) in {row[3:4] for row in contents(writer, "node")}


def test_rules_of_the_first_namespace_that_matches_count(writer: GraphWriter) -> None:
    put(writer, history())
    policy = RetentionPolicy([("jobs", Cutoffs(events=T0)), ("*", Cutoffs(T0, T0, T0, T0))])
    kinds = forecast(writer.connection, policy, OLD)
    assert kinds.keys() == {"jobs"}
    assert kinds["jobs"].runs == 0
    assert kinds["jobs"].events > 0


def test_a_crash_before_the_commit_leaves_the_graph_and_the_records(writer: GraphWriter) -> None:
    put(writer, history())
    before = tables(writer)

    class Full(Gone):
        """A disk that fills up while records are written down."""

        def prepare(self, number: int, records: Sequence[RecordAddress]) -> None:
            super().prepare(number, records)
            raise OSError("no space left on device")

    full = Full()
    cutoffs = Cutoffs(*[T0 - 5 * DAY_US] * 4)
    steps = Expiry(writer, RetentionPolicy([("*", cutoffs)]), full).steps(lambda: nullcontext(writer.connection), OLD)
    next(steps)()
    with pytest.raises(OSError, match="no space"):
        next(steps)()
    assert (tables(writer), full.addresses) == (before, set())
    assert retain(writer, cutoffs)[0].runs > 0


def test_a_run_of_two_jobs_stays_while_one_of_them_keeps_it(writer: GraphWriter) -> None:
    both = [run_event("OTHER", str(UUID(int=day + 1000)), "kept", T0 - (60 - day) * DAY_US, namespace="others") for day in range(25, 30)]
    put(writer, [*history(), *(record._replace(offset=record.offset + 2**40) for record in records_of(both, arrival=T0))])
    policy = RetentionPolicy([("others", Cutoffs()), ("*", Cutoffs(runs=T0 - 5 * DAY_US))])
    foreseen = forecast(writer.connection, policy, OLD)
    counts = ExpiredCounts()
    for step in Expiry(writer, policy, Gone()).steps(lambda: nullcontext(writer.connection), OLD):
        counts.add(step())
    assert foreseen == {"jobs": counts}
    assert {row[0] for row in contents(writer, "run")} >= {UUID(int=day + 1000).bytes for day in range(25, 30)}


def test_the_log_keeps_it_that_an_event_was_released(writer: GraphWriter) -> None:
    records = [
        record._replace(record=replace(record.record, channel=RETRY)) if number == 148 else record
        for number, record in enumerate(history())
    ]
    put(writer, records)
    released = contents(writer, "released")
    old = T0 - 5 * DAY_US
    _, gone = retain(writer, Cutoffs(old, old, old, old))
    assert UUID(int=1021).bytes not in {row[0] for row in contents(writer, "run")}
    assert not any(is_in(record, gone) for record in records if record.record.channel == RETRY)
    assert contents(writer, "released") == released != set()
