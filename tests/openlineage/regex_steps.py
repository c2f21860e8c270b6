"""The work of a regular expression, counted: the steps of a backtracking matcher that reads Python's own parse of a pattern.

Python's matcher does not say how many steps it takes. This one tries the same alternatives in the same order without its
shortcuts, so what is linear here is linear there, and a count does not depend on the machine.
"""

import re
import sys
from collections.abc import Iterator, Sequence
from typing import Any

if sys.version_info >= (3, 11):
    from re import _constants as op
    from re import _parser as parser
else:
    import sre_constants as op
    import sre_parse as parser

Item = tuple[Any, Any]
_SINGLE = frozenset((op.IN, op.ANY, op.LITERAL, op.NOT_LITERAL, op.CATEGORY))
"""Items that one character is for."""


def steps(pattern: re.Pattern[str] | re.Pattern[bytes], text: str, limit: int, *, anchored: bool = False) -> int:
    """The steps to find all matches of a pattern in a text, or, if it is anchored, one at its start; `limit` if they are more."""
    source = pattern.pattern if isinstance(pattern.pattern, str) else pattern.pattern.decode("latin-1")
    counter = _Counter(text, pattern.flags, limit)
    start, items = 0, _items(parser.parse(source, pattern.flags & ~re.UNICODE))
    try:
        while start <= (0 if anchored else len(text)):
            end = next(counter.ends(items, start), None)
            start = start + 1 if end is None else max(end, start + 1)
    except _TooManyStepsError:
        return limit
    return counter.count


def _items(parsed: Any) -> list[Item]:
    """A parsed pattern, which iterates without saying so in its types."""
    return list(parsed)


class _TooManyStepsError(Exception):
    pass


class _Counter:
    def __init__(self, text: str, flags: int, limit: int) -> None:
        self.text, self.flags, self.count, self.limit = text, int(flags), 0, limit
        self.groups: dict[int, str] = {}
        self.known: dict[tuple[int, int, int, str], bool] = {}

    def ends(self, items: Sequence[Item], at: int) -> Iterator[int]:
        """Where matches of the items from a position end, in the order in which they are tried."""
        for number, (kind, value) in enumerate(items):
            if kind not in _SINGLE:
                rest = items[number + 1 :]
                for middle in self.item(kind, value, at):
                    yield from self.ends(rest, middle) if rest else (middle,)
                return
            self.step()
            if at == len(self.text) or not self.fits(kind, value, self.text[at]):
                return
            at += 1
        yield at

    def step(self) -> None:
        self.count += 1
        if self.count >= self.limit:
            raise _TooManyStepsError

    def item(self, kind: Any, value: Any, at: int) -> Iterator[int]:
        self.step()
        if kind is op.SUBPATTERN:
            number, added, removed, items = value
            yield from self.group(number, added, removed, items, at)
        elif kind is op.BRANCH:
            for items in value[1]:
                yield from self.ends(items, at)
        elif kind in (op.MAX_REPEAT, op.MIN_REPEAT):
            least, most, items = value
            yield from self.repeated(least, most, items, at, greedy=kind is op.MAX_REPEAT)
        elif kind in (op.ASSERT, op.ASSERT_NOT):
            start = at if value[0] > 0 else at - value[1].getwidth()[0]
            found = start >= 0 and next(self.ends(list(value[1]), start), None) is not None
            yield from [at] if found is (kind is op.ASSERT) else []
        elif kind is op.GROUPREF:
            yield from [at + len(self.groups[value])] if self.text.startswith(self.groups[value], at) else []
        elif kind is op.AT:
            yield from [at] if self.is_at(value, at) else []

    def group(self, number: int | None, added: int, removed: int, items: Any, at: int) -> Iterator[int]:
        outer, self.flags = self.flags, (self.flags | added) & ~removed
        for end in self.ends(list(items), at):
            if number is not None:
                self.groups[number] = self.text[at:end]
            inner, self.flags = self.flags, outer
            yield end
            self.flags = inner
        self.flags = outer

    def repeated(self, least: int, most: Any, items: Any, at: int, *, greedy: bool) -> Iterator[int]:
        """A loop over single characters keeps no state but its end; one over groups goes deeper with each turn."""
        if len(items) == 1 and items[0][0] in _SINGLE:
            yield from self.run(least, most, items[0], at, greedy=greedy)
            return
        if not greedy and least <= 0:
            yield at
        if most is op.MAXREPEAT or most > 0:
            for end in self.ends(list(items), at):
                if end > at:
                    yield from self.repeated(least - 1, most if most is op.MAXREPEAT else most - 1, items, end, greedy=greedy)
        if greedy and least <= 0:
            yield at

    def run(self, least: int, most: Any, item: Item, at: int, *, greedy: bool) -> Iterator[int]:
        last = len(self.text) if most is op.MAXREPEAT else min(len(self.text), at + most)
        end = at
        while end < last and self.fits(*item, self.text[end]):
            if not greedy and end - at >= least:
                yield end
            self.step()
            end += 1
        for stop in range(end, at + least - 1, -1) if greedy else ([end] if end - at >= least else []):
            self.step()
            yield stop

    def is_at(self, where: Any, at: int) -> bool:
        if where in (op.AT_BOUNDARY, op.AT_NON_BOUNDARY):
            sides = [0 <= side < len(self.text) and bool(re.match(r"\w", self.text[side])) for side in (at - 1, at)]
            return (sides[0] != sides[1]) is (where is op.AT_BOUNDARY)
        return at == 0 if where in (op.AT_BEGINNING, op.AT_BEGINNING_STRING) else at == len(self.text)

    def fits(self, kind: Any, value: Any, character: str) -> bool:
        """Whether an item for one character is for this one, which is found out once for each."""
        key = kind, id(value) if kind is op.IN else value, self.flags, character
        if (known := self.known.get(key)) is None:
            known = self.known[key] = self.is_one_of(kind, value, character)
        return known

    def is_one_of(self, kind: Any, value: Any, character: str) -> bool:
        if kind is op.IN:
            negated = value[0][0] is op.NEGATE
            return any(self.is_one_of(inner, choice, character) for inner, choice in value[negated:]) is not negated
        if kind is op.ANY:
            return bool(self.flags & re.DOTALL) or character != "\n"
        if kind is op.CATEGORY:
            return bool(re.match(_CATEGORIES[value], character))
        forms = {character, character.lower(), character.upper()} if self.flags & re.IGNORECASE else {character}
        if kind is op.RANGE:
            return any(value[0] <= ord(form) <= value[1] for form in forms)
        return any(ord(form) == value for form in forms if len(form) == 1) is (kind is op.LITERAL)


_CATEGORIES = {
    op.CATEGORY_DIGIT: r"\d",
    op.CATEGORY_NOT_DIGIT: r"\D",
    op.CATEGORY_SPACE: r"\s",
    op.CATEGORY_NOT_SPACE: r"\S",
    op.CATEGORY_WORD: r"\w",
    op.CATEGORY_NOT_WORD: r"\W",
}
