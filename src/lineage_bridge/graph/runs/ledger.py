"""The hop ledger: how much passed each hop of a path in a window, against a baseline, and where a change began. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from typing import NamedTuple

FACTOR = 2.0
"""An amount is less or more when it is this many times smaller or larger than the baseline leads to expect."""


class Window(NamedTuple):
    """A stretch of time, [since, until), in UTC microseconds."""

    since: int
    until: int

    @property
    def length(self) -> int:
        """Its length in microseconds."""
        return self.until - self.since

    def before(self) -> "Window":
        """The stretch of the same length that ends where this one begins."""
        return Window(self.since - self.length, self.since)


class Passed(NamedTuple):
    """What runs of one job said of one dataset on one side in a window; None where nothing was said. `runs` that said anything."""

    runs: int
    rows: int | None
    bytes: int | None

    @property
    def measure(self) -> int | None:
        """Rows, or bytes where no rows are told."""
        return self.rows if self.rows is not None else self.bytes


class Change(str, Enum):
    """An amount against its baseline."""

    STEADY = "steady"
    LESS = "less"
    MORE = "more"
    SILENT = "silent"
    NEW = "new"
    UNKNOWN = "unknown"


@dataclass(frozen=True)
class Entry:
    """One hop by one job: what was read of its source and written to its target, in the window and in the baseline.

    `began`: the change of what is written begins here: what is read is steady, or nothing is told of it and no hop before has changed.
    """

    read: Passed
    written: Passed
    read_before: Passed
    written_before: Passed
    read_change: Change
    written_change: Change
    began: bool


def change(now: Passed, before: Passed, scale: float, factor: float = FACTOR) -> Change:
    """How an amount stands against its baseline; `scale` is the window's length over the baseline's."""
    ours, theirs = now.measure, before.measure
    if now.rows is not None and before.rows is None and before.bytes is not None:
        ours = now.bytes
    if ours is None and theirs is None:
        return Change.UNKNOWN
    if theirs is None:
        return Change.NEW
    if ours is None or (ours == 0 and theirs > 0):
        return Change.SILENT
    expected = theirs * scale
    if ours * factor < expected:
        return Change.LESS
    return Change.MORE if ours > expected * factor else Change.STEADY


def ledger(amounts: Sequence[tuple[Passed, Passed, Passed, Passed]], scale: float, factor: float = FACTOR) -> list[Entry]:
    """The entries of hops, in the order of the data, from (read, written, read before, written before) of each."""
    entries: list[Entry] = []
    for read, written, read_before, written_before in amounts:
        came = change(read, read_before, scale, factor)
        went = change(written, written_before, scale, factor)
        upset = any(entry.written_change not in _UNREMARKABLE or entry.read_change not in _UNREMARKABLE for entry in entries)
        began = went not in _UNREMARKABLE and (came is Change.STEADY or (came is Change.UNKNOWN and not upset))
        entries.append(Entry(read, written, read_before, written_before, came, went, began))
    return entries


_UNREMARKABLE = frozenset({Change.STEADY, Change.UNKNOWN})
