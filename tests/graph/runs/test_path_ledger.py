"""Amounts against a baseline, and where a change began."""

import pytest

from lineage_bridge.graph.runs.path_ledger import AmountChange, LedgerWindow, ReportedAmount, change, ledger, mark_divergence

NO_AMOUNT = ReportedAmount(0, None, None)


def rows(count: int) -> ReportedAmount:
    return ReportedAmount(1, count, None)


@pytest.mark.parametrize(
    ("now", "before", "expected"),
    [
        (rows(100), rows(100), AmountChange.STEADY),
        (rows(60), rows(100), AmountChange.STEADY),
        (rows(49), rows(100), AmountChange.LESS),
        (rows(201), rows(100), AmountChange.MORE),
        (rows(0), rows(100), AmountChange.SILENT),
        (NO_AMOUNT, rows(100), AmountChange.SILENT),
        (rows(5), NO_AMOUNT, AmountChange.NEW),
        (NO_AMOUNT, NO_AMOUNT, AmountChange.UNKNOWN),
        (rows(0), rows(0), AmountChange.STEADY),
        (rows(1), rows(0), AmountChange.MORE),
        (ReportedAmount(1, None, 10), ReportedAmount(1, None, 100), AmountChange.LESS),
        (ReportedAmount(1, 7, 100), ReportedAmount(1, None, 100), AmountChange.STEADY),
    ],
)
def test_a_change(now: ReportedAmount, before: ReportedAmount, expected: AmountChange) -> None:
    assert change(now, before, 1.0) is expected


def test_a_longer_baseline_leads_to_expect_less() -> None:
    assert change(rows(100), rows(700), 1 / 7) is AmountChange.STEADY
    assert change(rows(100), rows(700), 1.0) is AmountChange.LESS


def test_a_change_begins_where_what_is_read_is_steady() -> None:
    steady = (rows(10), rows(10), rows(10), rows(10))
    filtered = (rows(10), rows(1), rows(10), rows(10))
    behind = (rows(1), rows(1), rows(10), rows(10))
    assert [entry.began for entry in ledger([steady, filtered, behind], 1.0)] == [False, True, False]


def test_without_readings_a_change_begins_at_the_first_hop_that_shows_it() -> None:
    unread = (NO_AMOUNT, rows(1), NO_AMOUNT, rows(10))
    assert [entry.began for entry in ledger([unread, unread], 1.0)] == [True, False]


def test_the_window_before_is_as_long() -> None:
    assert LedgerWindow(100, 160).before() == LedgerWindow(40, 100)


def diverged(*hops: tuple[str, int, int, int, int]) -> list[bool]:
    """Whether each hop diverged, given as (output, rows read, written, read before, written before)."""
    entries = ledger([(rows(a), rows(b), rows(c), rows(d)) for _, a, b, c, d in hops], 1.0)
    return [entry.diverged for entry in mark_divergence([(hop[0], entry) for hop, entry in zip(hops, entries, strict=True)])]


def test_only_the_first_output_whose_ratio_left_its_baseline_has_diverged() -> None:
    assert diverged(("a", 100, 100, 50, 50), ("b", 100, 128, 50, 50), ("c", 128, 64, 50, 50)) == [False, True, False]


def test_a_ratio_within_the_tolerance_has_not_diverged() -> None:
    assert diverged(("a", 100, 104, 100, 100), ("b", 100, 96, 100, 100)) == [False, False]
    assert diverged(("a", 100, 106, 100, 100)) == [True]


def test_an_output_with_several_inputs_has_diverged_only_if_no_input_explains_it() -> None:
    assert diverged(("a", 200, 200, 100, 100), ("a", 100, 200, 100, 100)) == [False, False]
    assert diverged(("a", 100, 200, 100, 100), ("a", 50, 200, 50, 100)) == [True, True]


def test_what_read_nothing_has_no_ratio_to_diverge_from() -> None:
    assert diverged(("a", 0, 10, 100, 100), ("b", 10, 10, 0, 0)) == [False, False]
