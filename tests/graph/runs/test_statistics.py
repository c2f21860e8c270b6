"""What runs read and wrote."""

from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lineage_bridge.graph.runs.statistics import Amount, Counting, Sample, buckets, counting, increments, per_second, total

ALWAYS = -(2**62), 2**62
_values = st.integers(1, 1000)
_increments = st.lists(_values, min_size=1, max_size=12)


def rows(*values: int | None, step: int = 10) -> list[Sample]:
    return [Sample(number * step, value, None, None) for number, value in enumerate(values)]


def amount(series: list[Sample], mode: str | None = None) -> int | None:
    return total(increments(series, counting(series, mode)), *ALWAYS).rows


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ((100,), 100),
        ((100, 250, 400), 400),
        ((100, 80, 120), 300),
        ((100, 250, 0), 250),
        ((100, 250, None), 250),
        ((0, 100, 0, 250, 0), 250),
        ((None, None), None),
        ((0, 0), 0),
        ((5, 5, 5), 5),
    ],
)
def test_amounts(values: tuple[int | None, ...], expected: int | None) -> None:
    assert amount(rows(*values)) == expected


def test_what_is_declared_is_believed() -> None:
    assert amount(rows(5, 5, 5), "COMPLETE_SNAPSHOT") == 15
    assert amount(rows(100, 90, 120), "ACCUMULATIVE") == 120


def test_a_cumulative_counter_that_began_anew_counts_on() -> None:
    values = [*range(100, 1000, 100), *range(100, 1000, 100)]
    assert counting(rows(*values)) is Counting.CUMULATIVE
    assert amount(rows(*values)) == 1800


@given(_increments)
def test_counted_from_the_beginning_the_amount_is_the_last_number(parts: list[int]) -> None:
    sums = [sum(parts[: n + 1]) for n in range(len(parts))]
    assert amount(rows(*sums)) == sum(parts)
    assert amount(rows(*sums), "ACCUMULATIVE") == sum(parts)
    assert amount(rows(*parts), "COMPLETE_SNAPSHOT") == sum(parts)


@given(st.lists(_values | st.just(0) | st.none(), min_size=1, max_size=12), st.data())
def test_a_later_null_or_zero_hides_nothing(values: list[int | None], data: st.DataObject) -> None:
    mode = data.draw(st.sampled_from([None, "ACCUMULATIVE", "COMPLETE_SNAPSHOT"]))
    index = data.draw(st.integers(0, len(values)))
    emptied = [*values[:index], data.draw(st.sampled_from([0, None])), *values[index:]]
    assert (amount(rows(*emptied), mode) or 0) == (amount(rows(*values), mode) or 0)


@given(st.lists(_values | st.just(0) | st.none(), max_size=12), st.randoms(), st.sampled_from(Counting))
def test_the_order_of_arrival_does_not_matter(values: list[int | None], random: Random, how: Counting) -> None:
    series = rows(*values)
    shuffled = list(series)
    random.shuffle(shuffled)
    assert counting(shuffled) == counting(series)
    assert increments(shuffled, how) == increments(series, how)


@given(st.lists(_values | st.none(), max_size=12), st.sampled_from(Counting), st.integers(1, 50), st.integers(0, 130), st.integers(0, 130))
def test_windows_and_buckets_add_up(values: list[int | None], how: Counting, width: int, a: int, b: int) -> None:
    changes = increments(rows(*values), how)
    first, middle, last = 0, min(a, b), 130
    whole = total(changes, first, last)
    assert total(changes, first, middle) + total(changes, middle, last) == whole
    parts = buckets(changes, first, last, width)
    assert sum((amount for _, amount in parts), start=Amount()) == whole
    assert [start for start, _ in parts] == sorted({start for start, _ in parts})
    assert all(start % width == 0 for start, _ in parts)


def test_by_the_second() -> None:
    assert per_second(Amount(10, None, 0), 2_000_000) == (5.0, None, 0.0)
