"""When the ratio of what a job writes to what it reads left its baseline."""

from hypothesis import given
from hypothesis import strategies as st

from lineage_bridge.graph.runs.onset import LEAST_WIDTH_US, Onset, onset, rows_by_start, width_of
from lineage_bridge.graph.runs.path_ledger import LedgerWindow
from lineage_bridge.graph.runs.statistics import Amount

FACTORS = st.one_of(st.floats(0, 0.9), st.floats(1.1, 10))


@given(good=st.integers(1, 40), bad=st.integers(1, 40), again=st.integers(0, 20), rows=st.integers(100, 10_000), factor=FACTORS)
def test_a_step_is_found_where_it_is_and_also_if_it_has_ended(good: int, bad: int, again: int, rows: int, factor: float) -> None:
    read = dict.fromkeys(range(good + bad + again), rows)
    written = {at: round(rows * factor) if good <= at < good + bad else rows for at in read}
    expected = Onset(good - 1, good)
    # Once enough has been right again, the whole is within the tolerance.
    found = onset(read, written, 1.0)
    assert found == expected or (again > 0 and found is None)
    assert again > 0 or found == expected


@given(st.lists(st.integers(1, 10_000), min_size=1, max_size=50), st.floats(0.1, 10))
def test_what_keeps_its_ratio_has_no_onset(reads: list[int], ratio: float) -> None:
    read = dict(enumerate(reads))
    assert onset(read, {at: rows * ratio for at, rows in read.items()}, ratio) is None  # type: ignore[misc]


def test_what_was_never_right_has_no_onset() -> None:
    assert onset(dict.fromkeys(range(9), 100), dict.fromkeys(range(9), 128), 1.0) is None


def test_reports_of_both_sides_may_come_at_different_times() -> None:
    read = dict.fromkeys(range(0, 40, 2), 100)
    written = {at: 100 if at < 20 else 128 for at in range(1, 40, 2)}
    # What was read at 20 is written wrong, so it was last right at 19.
    assert onset(read, written, 1.0) == Onset(19, 21)


def test_buckets_are_whole_minutes_and_not_too_many() -> None:
    assert width_of(LedgerWindow(0, 3_600_000_000)) == LEAST_WIDTH_US
    assert width_of(LedgerWindow(0, 31 * 86_400_000_000)) == 23 * LEAST_WIDTH_US
    assert rows_by_start([(0, Amount(1)), (60, Amount(2)), (0, Amount(3)), (120, Amount(None, 4))]) == {0: 4, 60: 2}
