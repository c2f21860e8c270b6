"""Finds, in one pass over a text, which of many patterns may match it, and where."""

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import lru_cache

from ahocorasick_rs import AhoCorasick, Implementation

from lineage_bridge.openlineage.required_text import Alternatives, first_texts, fold, required_texts

_LONG_ENOUGH = 3
"""A second set of required strings of a pattern is searched, besides the most distinctive one, if they have at least this many
characters.
"""
_SHORT = 256
"""Texts up to this length are searched with the pattern directly."""
_DENSE = 32
"""A text is searched with the pattern directly if the pattern could begin more often than once in this many characters."""
_AT_ONCE = 1 << 16
_CACHED = 8192


class Texts:
    """A set of case-folded strings that are searched together."""

    def __init__(self, texts: Collection[str]) -> None:
        self._texts = sorted(texts)
        self._most = max(map(len, self._texts))
        self._automaton = AhoCorasick(self._texts, implementation=Implementation.DFA)

    def among(self, folded: str) -> frozenset[str]:
        """Those of the texts that are in a folded text."""
        found: set[int] = set()
        for _, matches in self._matches(folded):
            found.update([number for number, _, _ in matches])
        return frozenset([self._texts[number] for number in found])

    def starts(self, folded: str) -> Iterator[int]:
        """Where the strings begin in a folded text: in order, with repeats, and a long string after those inside it."""
        for at, matches in self._matches(folded):
            for _, start, _ in matches:
                yield at + start

    def _matches(self, folded: str) -> Iterator[tuple[int, list[tuple[int, int, int]]]]:
        """The matches in pieces of a text, so that their number is bounded."""
        for at in range(0, max(1, len(folded)), _AT_ONCE):
            piece = folded[at : at + _AT_ONCE + self._most] if len(folded) > _AT_ONCE else folded
            yield at, self._automaton.find_matches_as_indexes(piece, overlapping=True)


class Rule:
    """A pattern that is tried only on texts, and only at places in them, where it can match.

    `required`: sets of strings; a matching text contains one string of each set. `also`: a further such set, besides those found from the
    pattern.
    """

    def __init__(self, pattern: "re.Pattern[str]", also: Alternatives | None = None) -> None:
        self.pattern = pattern
        best, *others = required_texts(pattern) or [frozenset()]
        # Two characters are in most texts, and looking for a single one is faster.
        distinctive = [texts for texts in others if set(map(len, texts)) == {1} or min(map(len, texts)) >= _LONG_ENOUGH]
        self.required = [texts for texts in (best, *distinctive, also) if texts]
        first = first_texts(pattern)
        self._first = Texts(first) if first else None

    def sub(self, replaced: Callable[["re.Match[str]"], str], text: str) -> str:
        """The text with each match replaced, as the pattern's own `sub` does."""
        starts = self._starts(text)
        if starts is None:
            return self.pattern.sub(replaced, text)
        pieces: list[str] = []
        end = 0
        for start in starts:
            found = self.pattern.match(text, start) if start >= end else None
            if found:
                pieces += (text[end:start], replaced(found))
                end = found.end()
        return "".join((*pieces, text[end:])) if end else text

    def _starts(self, text: str) -> list[int] | None:
        """Where the pattern can match; None if it is cheaper to try everywhere."""
        if self._first is None or len(text) <= _SHORT:
            return None
        starts: set[int] = set()
        for start in self._first.starts(fold(text)):
            starts.add(start)
            if len(starts) * _DENSE > start + _AT_ONCE:
                return None
        return sorted(starts)


class Prefilter:
    """Chooses the rules that may match a text, by the strings that their matches must contain."""

    def __init__(self, groups: Mapping[str, Sequence[Rule]]) -> None:
        self._names = tuple(groups)
        self._rules = [(name, rule) for name, group in groups.items() for rule in group]
        self._always = [number for number, (_, rule) in enumerate(self._rules) if not rule.required]
        self._of_text: dict[str, list[int]] = {}
        for number, (_, rule) in enumerate(self._rules):
            for text in rule.required[0] if rule.required else ():
                self._of_text.setdefault(text, []).append(number)
        required = {text for group in groups.values() for rule in group for texts in rule.required for text in texts}
        self._characters = sorted(text for text in required if len(text) == 1)
        self._texts = Texts([text for text in required if len(text) > 1])
        self._chosen = lru_cache(_CACHED)(self._choose)

    def worth_trying(self, text: str) -> Mapping[str, Sequence[Rule]]:
        """The rules of each group that can match in a text, in their order."""
        folded = fold(text)
        return self._chosen(self._texts.among(folded).union([character for character in self._characters if character in folded]))

    def _choose(self, found: frozenset[str]) -> Mapping[str, Sequence[Rule]]:
        chosen: dict[str, list[Rule]] = {name: [] for name in self._names}
        for number in sorted({*self._always, *(number for text in found for number in self._of_text.get(text, ()))}):
            name, rule = self._rules[number]
            if not any(map(found.isdisjoint, rule.required[1:])):
                chosen[name].append(rule)
        return chosen


def rules(patterns: Sequence["re.Pattern[str]"], also: Alternatives | None = None) -> list[Rule]:
    """A rule for each pattern."""
    return [Rule(pattern, also) for pattern in patterns]
