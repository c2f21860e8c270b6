"""Counters that begin again with each restart."""

from hypothesis import given
from hypothesis import strategies as st

from lineage_bridge.sources.common.flink.counters import Held, hold, key_of, read_of, total, written_of
from lineage_bridge.sources.common.flink.plan import Operator

SOURCE = Operator("v", "Source: a", ())


@given(st.lists(st.integers(0, 1000), min_size=1))
def test_totals_never_fall_and_count_no_record_twice(counters: list[int]):
    """`counters` are readings of the task's own counter; it grows, or falls to what was counted since a restart."""
    held: Held = {}
    totals = []
    for rows in counters:
        held.update(hold(held, key_of(SOURCE), {"rows": rows}))
        totals.append(total(held, (SOURCE,), "rows"))
    grown = sum(max(0, after - before) for before, after in zip([0, *counters], counters, strict=False))

    assert totals == sorted(totals, key=lambda count: count or 0)
    assert totals[-1] == grown


def test_a_dataset_is_counted_when_all_of_its_operators_are():
    other = Operator("v", "Source: b", ())
    held = hold({}, key_of(SOURCE), {"rows": 5})

    assert total(held, (SOURCE,), "rows") == 5
    assert total(held, (SOURCE,), "bytes") is None
    assert total(held, (SOURCE, other), "rows") is None
    assert total(held | hold({}, key_of(other), {"rows": 2}), (SOURCE, other), "rows") == 7
    assert total(held, (), "rows") is None


def test_old_kinds_of_operators_count_on_one_side_only():
    assert read_of({"numRecordsIn": 0, "numRecordsOut": 7, "numBytesIn": 0}) == {"rows": 7}
    assert read_of({"numRecordsIn": 9, "numRecordsOut": 7, "numBytesIn": 90}) == {"rows": 9, "bytes": 90}
    assert written_of({"numRecordsIn": 7}) == {"rows": 7}
    assert written_of({"numRecordsSend": 0, "numRecordsIn": 7, "numBytesSend": 3}) == {"rows": 0, "bytes": 3}
