"""Order freedom of the plain fold: any shuffle, doubling and cut of the records gives equal tables."""

from itertools import permutations

from hypothesis import given, settings
from hypothesis import strategies as st
from tests.events import KEY, dataset, facet, record_lists, records_of, run_event

from lineage_bridge.graph.facts.fold import empty_tables, fold_records, merge_tables, without_erased
from lineage_bridge.graph.facts.names import Names
from lineage_bridge.graph.flows.derive import derive
from lineage_bridge.graph.ids import event_id
from lineage_bridge.graph.log_record import StoredRecord
from lineage_bridge.graph.merge_rules import MergeRule, Row
from lineage_bridge.graph.relations import RELATIONS

NAMES = Names(KEY)


@settings(max_examples=150, deadline=None)
@given(record_lists(), st.randoms(use_true_random=False), st.data())
def test_any_shuffle_and_doubling_gives_equal_tables(records: list[StoredRecord], random: object, data: st.DataObject) -> None:
    doubled = records + data.draw(st.lists(st.sampled_from(records), max_size=5))
    random.shuffle(doubled)  # type: ignore[attr-defined]  # st.randoms is typed as object here
    assert fold_records(doubled, NAMES) == fold_records(records, NAMES)


@settings(max_examples=100, deadline=None)
@given(record_lists(), st.data())
def test_any_cut_gives_equal_tables(records: list[StoredRecord], data: st.DataObject) -> None:
    cut = data.draw(st.integers(0, len(records)))
    first, second = fold_records(records[:cut], NAMES), fold_records(records[cut:], NAMES)
    assert merge_tables(first, second) == fold_records(records, NAMES)


def test_what_one_event_counts_no_other_of_the_same_time_hides() -> None:
    counters = [{"rowCount": 3}, {"size": 70, "rowCount": 2}, {"fileCount": 1}]
    events = [
        run_event(type_, outputs=[dataset("t", access=("outputFacets", {"outputStatistics": facet(**counted)}))])
        for type_, counted in zip(("START", "RUNNING", "COMPLETE"), counters, strict=True)
    ]
    for order in permutations(events):
        (values,) = fold_records(records_of(list(order)), NAMES)["io_sample"].values()
        assert values == (3, 70, 1, max(map(event_id, events)))


@settings(max_examples=100, deadline=None)
@given(record_lists())
def test_merging_a_fold_into_itself_changes_nothing(records: list[StoredRecord]) -> None:
    assert merge_tables(fold_records(records, NAMES), fold_records(records, NAMES)) == fold_records(records, NAMES)


@settings(max_examples=75, deadline=None)
@given(record_lists(), st.randoms(use_true_random=False))
def test_derived_values_do_not_depend_on_order(records: list[StoredRecord], random: object) -> None:
    shuffled = list(records)
    random.shuffle(shuffled)  # type: ignore[attr-defined]  # as above
    first = derive(without_erased(fold_records(records, NAMES)), NAMES)
    second = derive(without_erased(fold_records(shuffled, NAMES)), NAMES)
    assert first == second


def test_every_relation_has_a_key_and_every_other_column_a_law() -> None:
    for relation in RELATIONS:
        assert relation.key_size > 0
        assert [c.rule is MergeRule.KEY for c in relation.columns] == sorted(
            (c.rule is MergeRule.KEY for c in relation.columns), reverse=True
        )
        for column in relation.columns:
            assert (column.rule in (MergeRule.GREATEST, MergeRule.LEAST)) == bool(column.group)


def test_the_order_of_a_choice_ends_with_an_event() -> None:
    for relation in RELATIONS:
        for group in {c.group for c in relation.columns if c.group}:
            order = [c.name for c in relation.columns if c.group == group and c.ordinal]
            assert order[-1].endswith("event"), relation.name


def test_a_fold_of_nothing_is_empty() -> None:
    tables: dict[str, dict[Row, Row]] = fold_records([], NAMES)
    assert tables == empty_tables()
