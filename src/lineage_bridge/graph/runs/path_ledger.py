"""Computes the ledger of a path: how much data passed each hop in a time window, compared with a baseline, and where a change
began. Pure.
"""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from typing import NamedTuple

FACTOR = 2.0
"""An amount counts as less or more if it differs from the baseline's prediction by more than this factor."""

TOLERANCE = 0.05
"""The relative difference from the baseline's ratio above which a ratio counts as a divergence."""


class LedgerWindow(NamedTuple):
    """An interval of time, [since, until), in UTC microseconds."""

    since: int
    until: int

    @property
    def length(self) -> int:
        """The length of the window in microseconds."""
        return self.until - self.since

    def before(self) -> "LedgerWindow":
        """The window of the same length that ends where this one begins."""
        return LedgerWindow(self.since - self.length, self.since)


class ReportedAmount(NamedTuple):
    """The amounts that the runs of one job reported as read from, or as written to, one dataset in a window; None if nothing was reported.

    `runs` is how many runs reported anything.
    """

    runs: int
    rows: int | None
    bytes: int | None

    @property
    def measure(self) -> int | None:
        """The measure to compare: rows, or bytes if no rows are reported."""
        return self.rows if self.rows is not None else self.bytes


class AmountChange(str, Enum):
    """How an amount compares with its baseline."""

    STEADY = "steady"
    LESS = "less"
    MORE = "more"
    SILENT = "silent"
    NEW = "new"
    UNKNOWN = "unknown"


@dataclass(frozen=True)
class HopAmounts:
    """One hop through one job: how much was read from its source and written to its target, in the window and in the baseline.

    `began` is true if the amount written changed and the change begins here: the amount read is steady, or it is unknown and no earlier
    hop changed.

    `diverged` is true for the hops into the first output whose ratio of rows written to rows read differs from the ratio of the baseline.
    """

    read: ReportedAmount
    written: ReportedAmount
    read_before: ReportedAmount
    written_before: ReportedAmount
    read_change: AmountChange
    written_change: AmountChange
    began: bool
    diverged: bool = False

    @property
    def ratio(self) -> float | None:
        """Rows written for each row read, in the window; None if one of the two was not reported, or if nothing was read."""
        return _ratio(self.read, self.written)

    @property
    def ratio_before(self) -> float | None:
        """Rows written for each row read, in the baseline; None if one of the two was not reported, or if nothing was read."""
        return _ratio(self.read_before, self.written_before)


def change(now: ReportedAmount, before: ReportedAmount, scale: float, factor: float = FACTOR) -> AmountChange:
    """Compare an amount with its baseline. `scale` is the length of the window divided by that of the baseline."""
    ours, theirs = now.measure, before.measure
    if now.rows is not None and before.rows is None and before.bytes is not None:
        ours = now.bytes
    if ours is None and theirs is None:
        return AmountChange.UNKNOWN
    if theirs is None:
        return AmountChange.NEW
    if ours is None or (ours == 0 and theirs > 0):
        return AmountChange.SILENT
    expected = theirs * scale
    if ours * factor < expected:
        return AmountChange.LESS
    return AmountChange.MORE if ours > expected * factor else AmountChange.STEADY


def ledger(
    amounts: Sequence[tuple[ReportedAmount, ReportedAmount, ReportedAmount, ReportedAmount]], scale: float, factor: float = FACTOR
) -> list[HopAmounts]:
    """Make an entry of the ledger for each hop, in the direction of the data. `amounts` has four amounts for each hop: read and written in
    the window, read and written in the baseline.
    """
    entries: list[HopAmounts] = []
    for read, written, read_before, written_before in amounts:
        came = change(read, read_before, scale, factor)
        went = change(written, written_before, scale, factor)
        changed_before = any(entry.written_change not in _UNREMARKABLE or entry.read_change not in _UNREMARKABLE for entry in entries)
        began = went not in _UNREMARKABLE and (came is AmountChange.STEADY or (came is AmountChange.UNKNOWN and not changed_before))
        entries.append(HopAmounts(read, written, read_before, written_before, came, went, began))
    return entries


def mark_divergence(hops: Sequence[tuple[Hashable, HopAmounts]], tolerance: float = TOLERANCE) -> list[HopAmounts]:
    """Set `diverged` in the entries of the first output whose ratio differs from its baseline by more than `tolerance` (a share of the
    baseline).

    `hops` has the entries in the direction of the data, each with the job and the dataset that identify the output of its hop. An output
    with several inputs has only diverged if its ratios to all of them differ: as long as one input explains the output, it has not
    diverged.
    """
    judged: dict[Hashable, list[bool]] = {}
    for output, entry in hops:
        now, before = entry.ratio, entry.ratio_before
        if now is not None and before is not None:
            judged.setdefault(output, []).append(abs(now - before) > tolerance * before)
    first = next((output for output, verdicts in judged.items() if all(verdicts)), None)
    return [replace(entry, diverged=first is not None and output == first and entry.ratio is not None) for output, entry in hops]


def _ratio(read: ReportedAmount, written: ReportedAmount) -> float | None:
    if not read.rows or written.rows is None:
        return None
    return written.rows / read.rows


_UNREMARKABLE = frozenset({AmountChange.STEADY, AmountChange.UNKNOWN})
