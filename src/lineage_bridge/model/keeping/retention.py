"""Retention: how long what old events said is kept, by namespace, and the count of what went."""

from collections.abc import Iterable
from fnmatch import fnmatchcase
from typing import Final, NamedTuple

import msgspec

KEPT: Final = -(2**63)
"""The cutoff of what is kept for ever."""


class Cutoffs(NamedTuple):
    """The times, in UTC microseconds, before which each kind is old: events, runs, the statistics of runs, and the history of facets."""

    events: int = KEPT
    runs: int = KEPT
    statistics: int = KEPT
    facets: int = KEPT


class RetentionPolicy:
    """The cutoffs of each namespace: those of the first rule whose glob matches it. Nothing goes where no rule matches."""

    def __init__(self, rules: Iterable[tuple[str, Cutoffs]]) -> None:
        self.rules = tuple(rules)
        self._found: dict[str, Cutoffs] = {}

    def cutoffs_of(self, namespace: str) -> Cutoffs:
        """The cutoffs of a namespace."""
        if namespace not in self._found:
            self._found[namespace] = next((cutoffs for glob, cutoffs in self.rules if fnmatchcase(namespace, glob)), Cutoffs())
        return self._found[namespace]

    @property
    def latest(self) -> Cutoffs:
        """The latest cutoff of each kind in any namespace."""
        every = [cutoffs for _, cutoffs in self.rules] or [Cutoffs()]
        return Cutoffs(*(max(cutoffs[kind] for cutoffs in every) for kind in range(len(Cutoffs._fields))))


class ExpiredCounts(msgspec.Struct):
    """How many runs, events, samples of statistics and rejected events went."""

    runs: int = 0
    events: int = 0
    samples: int = 0
    rejected: int = 0

    def add(self, other: "ExpiredCounts") -> None:
        """Add other counts."""
        self.runs += other.runs
        self.events += other.events
        self.samples += other.samples
        self.rejected += other.rejected
