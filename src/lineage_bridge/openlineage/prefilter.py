"""Finds, in one pass over a text, which of many patterns may match it, and where."""

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import cached_property, lru_cache
from operator import itemgetter
from typing import Any, NamedTuple

from ahocorasick_rs import AhoCorasick, Implementation

from lineage_bridge.openlineage.required_text import Alternatives, AnyPattern, Uncompiled, first_texts, fold, required_texts
from lineage_bridge.openlineage.wider_pattern import wider_pattern

_LONG_ENOUGH = 3
"""A second set of required strings of a pattern is searched, besides the most distinctive one, if they have at least this many
characters.
"""
SHORT = 256
"""Up to which length of a text a pattern is tried everywhere in it."""
_LONG = 2048
"""From which length on a text is searched with RE2 first."""
_DENSE, _MOST_STARTS = 4, 1 << 18
"""A pattern is tried everywhere in a text if it can begin more often than once in this many characters, or at more offsets than this."""
_AT_ONCE = 1 << 16
_ORDINARY = "".join(map(chr, range(32, 127))) * 4
"""A text of more than SHORT characters, with which rules are prepared."""
_CACHED = 8192
_NUMBER, _START = itemgetter(0), itemgetter(1)
"""Which text was found, and where."""


class Texts:
    """A set of case-folded strings that are searched together."""

    def __init__(self, texts: Collection[str]) -> None:
        self._texts = sorted(texts)
        self._most = max(map(len, self._texts))
        self._automaton = AhoCorasick(self._texts, implementation=Implementation.DFA)

    def __getitem__(self, number: int) -> str:
        """The text of the set that has this number."""
        return self._texts[number]

    def numbers(self, folded: str) -> frozenset[int]:
        """The numbers of those texts of the set that a folded text contains."""
        if len(folded) <= _AT_ONCE:
            return frozenset(map(_NUMBER, self._automaton.find_matches_as_indexes(folded, overlapping=True)))
        return frozenset({number for _, matches in self._matches(folded) for number in map(_NUMBER, matches)})

    def starts(self, folded: str) -> Iterator[int]:
        """The offsets at which strings of the set begin in a folded text, ordered by where the strings end. Offsets may repeat."""
        for at, matches in self._matches(folded):
            for _, start, _ in matches:
                yield at + start

    def distinct_starts(self, folded: str, most: Callable[[int], int]) -> list[int] | None:
        """The sorted offsets of `starts`, each once; None if in the first n characters there are more than `most(n)`."""
        starts: set[int] = set()
        for at, matches in self._matches(folded):
            starts.update([at + start for start in map(_START, matches)] if at else map(_START, matches))
            if len(starts) > most(min(at + _AT_ONCE, len(folded))):
                return None
        return sorted(starts)

    def _matches(self, folded: str) -> Iterator[tuple[int, list[tuple[int, int, int]]]]:
        """Yield the matches for one piece of a text after the other, so that the number of matches in memory is bounded."""
        for at in range(0, max(1, len(folded)), _AT_ONCE):
            piece = folded[at : at + _AT_ONCE + self._most] if len(folded) > _AT_ONCE else folded
            yield at, self._automaton.find_matches_as_indexes(piece, overlapping=True)


class Rule:
    """A pattern that is only tried on texts that can match it, and only at offsets at which it can match.

    `given`: the pattern, maybe not compiled yet. `also`: one more set of required strings, in addition to those derived from the pattern.
    """

    def __init__(self, given: AnyPattern, also: Alternatives | None = None) -> None:
        self.given, self._also = given, also

    @cached_property
    def pattern(self) -> "re.Pattern[str]":
        """The pattern, compiled when the first text arrives that it may match."""
        return re.compile(*self.given) if isinstance(self.given, Uncompiled) else self.given

    @cached_property
    def required(self) -> list[Alternatives]:
        """Sets of strings; a text that matches contains at least one string of each set. Computed when the first text arrives: many
        processes load the rules and mask nothing.
        """
        best, *others = required_texts(self.given) or [frozenset()]
        # Two characters are in most texts, and looking for a single one is faster.
        distinctive = [texts for texts in others if set(map(len, texts)) == {1} or min(map(len, texts)) >= _LONG_ENOUGH]
        return [texts for texts in (best, *distinctive, self._also) if texts]

    @cached_property
    def _first(self) -> Texts | None:
        """The texts with which matches begin; None if they are unknown. Computed when the first text arrives that is not short, because
        this takes a while.
        """
        first = first_texts(self.given)
        return Texts(first) if first else None

    @cached_property
    def _wider(self) -> Any:  # noqa: ANN401  # re2 has no types
        """The wider pattern for RE2; None if there is none. Compiled when the first long text arrives, because this takes a while."""
        return wider_pattern(self.given)

    def prepare(self) -> None:
        """Compute now what is otherwise computed for the first longer text."""
        self.pattern.search("")
        self._starts(_ORDINARY)
        self.may_match(_ORDINARY)

    def sub(self, replaced: Callable[["re.Match[str]"], str], text: str) -> str:
        """The text with each match replaced, as the pattern's own `sub` does."""
        if len(text) > _LONG and not self.may_match(text):
            return text
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

    def may_match(self, text: str) -> bool:
        """Whether the pattern may match in a text, as RE2 finds out in one pass."""
        return not self._wider or bool(self._wider.search(fold(text).encode()))

    def _starts(self, text: str) -> list[int] | None:
        """The offsets at which the pattern can match; None if it costs less to try everywhere."""
        if len(text) <= SHORT or (first := self._first) is None:
            return None
        return first.distinct_starts(fold(text), lambda characters: min((characters + _AT_ONCE) // _DENSE, _MOST_STARTS))


class _WordRule(NamedTuple):
    """A rule of a group that can only match a text which contains one text of each of these sets. Some of the texts are single
    characters.
    """

    number: int
    group: str
    rule: Rule
    others: list[Alternatives]


class _WordRules(NamedTuple):
    """The rules that can match a text that contains certain words, and the single characters without which some of these rules cannot
    match.
    """

    words: frozenset[str]
    rules: list[_WordRule]
    characters: list[str]


class _WordIndex:
    """The rules by the words without which they cannot match, and all these words."""

    def __init__(self, groups: Mapping[str, Sequence[Rule]]) -> None:
        self.always: list[_WordRule] = []
        self.of_word: dict[str, list[_WordRule]] = {}
        self.words: dict[int, list[Alternatives]] = {}
        for number, (name, rule) in enumerate((name, rule) for name, group in groups.items() for rule in group):
            first, *words = [texts for texts in rule.required if min(map(len, texts)) > 1] or [frozenset()]
            self.words[number] = words
            candidate = _WordRule(number, name, rule, [texts for texts in rule.required if min(map(len, texts)) == 1])
            for word in first:
                self.of_word.setdefault(word, []).append(candidate)
            if not first:
                self.always.append(candidate)
        required = {text for group in groups.values() for rule in group for texts in rule.required for text in texts}
        self.texts = Texts([text for text in required if len(text) > 1])


class Prefilter:
    """Chooses the rules that are worth trying on a text: those whose required strings it contains. All required strings are searched in one
    pass; single characters are only searched for the rules that then remain.
    """

    def __init__(self, groups: Mapping[str, Sequence[Rule]]) -> None:
        self.no_rules: Mapping[str, Sequence[Rule]] = dict.fromkeys(groups, ())
        self._groups = groups
        self._candidates = lru_cache(_CACHED)(self._find_candidates)
        self._chosen = lru_cache(_CACHED)(self._choose)

    @cached_property
    def _index(self) -> "_WordIndex":
        """What is searched. Computed when the first text arrives, because this takes a while."""
        return _WordIndex(self._groups)

    def prepare(self) -> None:
        """Compute now what the rules need for long texts, so that the first of them costs no more than later ones."""
        for rule in {candidate.rule for found in (*self._index.of_word.values(), self._index.always) for candidate in found}:
            rule.prepare()

    def worth_trying(self, text: str) -> Mapping[str, Sequence[Rule]]:
        """For each group, those of its rules that can match in a text, in their order; `no_rules` if there are none."""
        folded = fold(text)
        found = self._index.texts.numbers(folded)
        characters = self._candidates(found).characters
        return self._chosen(found, frozenset([character for character in characters if character in folded]))

    def may_match(self, text: str) -> bool:
        """Whether any of the rules may match in a text."""
        worth_trying = self.worth_trying(text)
        return worth_trying is not self.no_rules and any(rule.may_match(text) for group in worth_trying.values() for rule in group)

    def _find_candidates(self, found: frozenset[int]) -> _WordRules:
        index = self._index
        words = frozenset([index.texts[number] for number in found])
        able = {candidate.number: candidate for word in words for candidate in index.of_word.get(word, ())}
        able.update((candidate.number, candidate) for candidate in index.always)
        left = [able[number] for number in sorted(able) if not any(map(words.isdisjoint, index.words[number]))]
        texts = {text for candidate in left for others in candidate.others if words.isdisjoint(others) for text in others}
        return _WordRules(words, left, sorted(text for text in texts if len(text) == 1))

    def _choose(self, found: frozenset[int], characters: frozenset[str]) -> Mapping[str, Sequence[Rule]]:
        words, left, _ = self._candidates(found)
        present = words | characters
        chosen: dict[str, list[Rule]] = {}
        for candidate in left:
            if not any(map(present.isdisjoint, candidate.others)):
                chosen.setdefault(candidate.group, []).append(candidate.rule)
        return {**self.no_rules, **chosen} if chosen else self.no_rules


def rules(patterns: Sequence[AnyPattern], also: Alternatives | None = None) -> list[Rule]:
    """Make a rule of each pattern."""
    return [Rule(pattern, also) for pattern in patterns]
