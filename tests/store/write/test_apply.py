"""The store's execution of the law and of the derived values equals the plain one, whatever the batches and budgets."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.events import RUNS, T0, dataset, erase, facet, record_lists, records_of, run_event, stored_record
from tests.store.reading import exported, reader_of
from tests.store.tables import contents
from tests.store.writing import CONTENT_ADDRESSED, NAMES, apply, opened, settle

from lineage_bridge.errors import CollisionError, PositionError, StoreError
from lineage_bridge.graph.facts.fold import flat, fold_records, without_erased
from lineage_bridge.graph.flows.derive import derive
from lineage_bridge.graph.ids import NodeKind
from lineage_bridge.graph.log_record import OffsetRange, RecordKind, StoredRecord
from lineage_bridge.graph.merge_rules import Row
from lineage_bridge.graph.relations import BY_NAME
from lineage_bridge.ports.graph_store import Batch, Budget
from lineage_bridge.store.derive.verify import MAY_HOLD_MORE
from lineage_bridge.store.write.apply import GraphWriter


@settings(max_examples=80, deadline=None)
@given(record_lists(min_size=8), st.data())
def test_the_store_equals_the_plain_fold(records: list[StoredRecord], data: st.DataObject) -> None:
    tables = without_erased(fold_records(records, NAMES))
    derived = derive(tables, NAMES)
    with opened() as writer:
        left = data.draw(st.permutations(records))
        while left:
            size = data.draw(st.integers(1, 6))
            apply(writer, left[:size], budget=data.draw(st.sampled_from([1, 10_000])))
            left = left[size:]
        settle(writer)
        for name in BY_NAME.keys() - CONTENT_ADDRESSED - {"node"}:
            assert contents(writer, name) == {key + values for key, values in tables[name].items()}, name
        assert {(row[0], row[-1]) for row in contents(writer, "node")} == derived.get("live", set())
        for name in derived.keys() - {"live", "identity"} - MAY_HOLD_MORE:
            assert contents(writer, name) == derived[name], name
        for name in derived.keys() & MAY_HOLD_MORE:
            assert contents(writer, name) >= derived[name], name
        assert all(d.surplus == d.missing == 0 for d in reader_of(writer).whole.differences(NAMES))


@settings(max_examples=30, deadline=None)
@given(record_lists(), st.data())
def test_shuffled_batches_export_the_same(records: list[StoredRecord], data: st.DataObject) -> None:
    exports = []
    for _ in range(2):
        with opened() as writer:
            order = data.draw(st.permutations(records))
            cut = data.draw(st.integers(0, len(order)))
            apply(writer, order[:cut])
            apply(writer, order[cut:])
            exports.append(exported(writer))
    assert exports[0] == exports[1]


@settings(max_examples=30, deadline=None)
@given(record_lists(erasing=False), st.sampled_from(range(3)))
def test_an_erased_run_is_as_if_it_had_sent_nothing(records: list[StoredRecord], which: int) -> None:
    gone = stored_record(erase(RUNS[which]), offset=9_999, kind=RecordKind.OPERATOR)
    with opened() as writer, opened() as without:
        apply(writer, records)
        apply(writer, [gone])
        apply(writer, records[:3])
        apply(without, [gone])
        apply(without, records)
        assert exported(writer) == exported(without)
        assert all(d.surplus == d.missing == 0 for d in reader_of(writer).whole.differences(NAMES))


@settings(max_examples=30, deadline=None)
@given(record_lists())
def test_folding_a_store_again_gives_the_same_graph(records: list[StoredRecord]) -> None:
    with opened() as writer:
        apply(writer, records)
        with reader_of(writer).whole.refolded(NAMES, None, frozenset()) as again:
            assert list(again.whole.lines(frozenset(), now_us=T0)) == exported(writer)


def test_a_batch_that_does_not_start_at_the_position_is_refused() -> None:
    with opened() as writer:
        apply(writer, records_of([run_event(inputs=[dataset("a")])]))
        before = exported(writer)
        with pytest.raises(PositionError):
            writer.apply(
                Batch({("log", 0): OffsetRange(0, 1)}, dict(flat(fold_records(records_of([run_event(outputs=[dataset("b")])]), NAMES)))),
                Budget(1),
            )
        assert exported(writer) == before
        assert writer.position("log") == {0: 1}


def test_a_full_disk_is_reported_and_the_batch_is_applied_when_there_is_space() -> None:
    many = [dataset(f"table-{number}") for number in range(2_000)]
    record = stored_record(run_event(outputs=many), 0)
    with opened() as writer:
        raw = writer.connection.raw
        (most,) = raw.execute("PRAGMA max_page_count").fetchone()
        raw.execute("PRAGMA max_page_count = 1")  # as many as it has
        for _ in range(2):
            with pytest.raises(StoreError, match="cannot be written: database or disk is full"):
                apply(writer, [record])
            assert (raw.in_transaction, writer.position("log")) == (False, {})
        raw.execute(f"PRAGMA max_page_count = {most}")
        apply(writer, [record])
        settle(writer)
        with opened() as other:
            apply(other, [record])
            settle(other)
            assert exported(writer) == exported(other)


def test_two_names_with_one_id_are_reported_and_nothing_is_written() -> None:
    with opened() as writer:
        apply(writer, records_of([run_event(inputs=[dataset("a")])]))
        taken = NAMES.dataset("ns", "a")
        rows = {"node": [(taken, int(NodeKind.DATASET), "ns", "impostor", T0)]}
        with pytest.raises(CollisionError) as refused:
            writer.apply(Batch({("log", 0): OffsetRange(1, 2)}, rows), Budget(1))
        assert refused.value.names == ((1, "ns", "impostor"),)
        assert writer.position("log") == {0: 1}


def test_two_new_names_with_one_id_refuse_the_greater() -> None:
    with opened() as writer:
        rows = {"node": [(7, 1, "ns", "b", T0), (7, 1, "ns", "a", T0)]}
        with pytest.raises(CollisionError) as refused:
            writer.apply(Batch({("log", 0): OffsetRange(0, 1)}, rows), Budget(1))
        assert refused.value.names == ((1, "ns", "b"),)


def test_two_jobs_may_leave_one_shape_in_one_batch() -> None:
    started = [run_event("START", RUNS[n], f"j{n}", outputs=[dataset("a")]) for n in range(2)]
    grown = [run_event("COMPLETE", RUNS[n], f"j{n}", inputs=[dataset("b")]) for n in range(2)]
    with opened() as writer, opened() as at_once:
        apply(writer, records_of(started))
        apply(writer, records_of(grown))
        apply(at_once, records_of(started + grown))
        assert exported(writer) == exported(at_once)
        assert all(d.surplus == d.missing == 0 for d in reader_of(writer).whole.differences(NAMES))
        assert contents(writer, "shape") == contents(at_once, "shape")


def test_a_parent_is_a_node_though_a_newer_one_came_with_it_and_an_erased_run() -> None:
    def under(job: str, run: str = RUNS[0], time_us: int = T0) -> bytes:
        return run_event(
            run=run, time_us=time_us, run_facets={"parent": facet(run={"runId": RUNS[3]}, job={"namespace": "jobs", "name": job})}
        )

    naming = records_of([under("above"), under("newer", time_us=T0 + 1), under("gone", RUNS[1])])
    gone = stored_record(erase(RUNS[1]), offset=9, kind=RecordKind.OPERATOR)
    with opened() as before, opened() as after:
        apply(before, [gone])
        apply(before, naming)
        apply(after, naming)
        apply(after, [gone])
        assert exported(before) == exported(after)
        assert {row[3] for row in contents(before, "node")} == {"job", "above", "newer"}


def test_every_parent_an_erased_run_ever_named_goes_with_it() -> None:
    named = [
        run_event(time_us=T0 + n, run_facets={"parent": facet(run={"runId": RUNS[3]}, job={"namespace": "jobs", "name": f"above {n}"})})
        for n in range(2)
    ]
    with opened() as writer:
        apply(writer, records_of(named))
        apply(writer, [stored_record(erase(RUNS[0]), offset=9, kind=RecordKind.OPERATOR)])
        assert contents(writer, "node") == set()
        assert all(d.surplus == d.missing == 0 for d in reader_of(writer).whole.differences(NAMES))


def parts_of(count: int) -> tuple[dict[str, list[Row]], list[StoredRecord]]:
    """The rows of events, as two workers folded them that know nothing of each other: keys repeat between them."""
    events = [
        run_event(run=RUNS[n % 2], inputs=[dataset(f"i{n % 7}", text=facet(n=str(n)))], outputs=[dataset("out")], time_us=T0 + n)
        for n in range(count)
    ]
    records = records_of(events)
    rows: dict[str, list[Row]] = {}
    for part in (records[::2], records[1::2], records[::3]):
        for name, some in flat(fold_records(part, NAMES)):
            rows.setdefault(name, []).extend(some)
    return rows, records


@pytest.mark.parametrize("count", [4, 200])
def test_the_parts_of_a_batch_may_repeat_keys(writer: GraphWriter, count: int) -> None:
    rows, records = parts_of(count)
    for _ in range(2):
        writer.apply(Batch({}, rows), Budget(10**6))
    settle(writer)
    tables = fold_records(records, NAMES)
    for name in BY_NAME.keys() - CONTENT_ADDRESSED - {"node"}:
        assert contents(writer, name) == {key + values for key, values in tables[name].items()}, name
    assert [found for found in reader_of(writer).whole.differences(NAMES) if found.surplus or found.missing] == []


def test_nothing_is_left_of_a_batch_where_it_was_staged(writer: GraphWriter) -> None:
    rows, _ = parts_of(200)
    writer.apply(Batch({}, rows), Budget(10**6))
    impostor = {**rows, "node": [*rows["node"], (NAMES.dataset("ns", "out"), 1, "ns", "impostor", T0)]}
    with pytest.raises(CollisionError):  # it is found once everything is staged
        writer.apply(Batch({}, impostor), Budget(10**6))
    writer.apply(Batch({}, {}), Budget(10**6))
    names = ["run_io", "assertion"] if writer.connection.dialect.merges_sets else ["run_io"]
    for name in names:
        assert writer.connection.execute(f"SELECT count(*) FROM in_{name}").fetchone() == (0,), name
