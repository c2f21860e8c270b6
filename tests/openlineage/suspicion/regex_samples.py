"""Texts that a regular expression matches, made from Python's own parse of it."""

import re
import sys
from collections.abc import Iterator
from itertools import islice
from random import Random
from typing import Any

if sys.version_info >= (3, 11):
    from re import _constants as op
    from re import _parser as parser
else:
    import sre_constants as op
    import sre_parse as parser

_SIGNS = [chr(code) for code in range(32, 127)]
_CATEGORIES = {op.CATEGORY_DIGIT: re.compile(r"\d"), op.CATEGORY_SPACE: re.compile(r"\s"), op.CATEGORY_WORD: re.compile(r"\w")}
_MORE = 3
"""How many repetitions above the least one a sample has at most."""
_TRIES = 400


def samples(pattern: str, random: Random, each: int) -> Iterator[str]:
    """Texts that the whole pattern matches, at most `each` of every one of its alternatives. Conditions are met by trying again."""
    whole = re.compile(pattern)
    for alternative in _alternatives(parser.parse(pattern)):
        texts = ("".join(_texts(alternative, random)) for _ in range(_TRIES))
        matching = list(islice(filter(whole.fullmatch, texts), each))
        assert matching, pattern
        yield from matching


def _alternatives(items: Any) -> list[Any]:
    """The alternatives of a parsed pattern; `re` takes out what they begin with."""
    parts = list(items)
    branches = next((at for at, (kind, _) in enumerate(parts) if kind is op.BRANCH), None)
    if branches is None:
        return [parts]
    before, behind = parts[:branches], parts[branches + 1 :]
    return [[*before, *branch, *behind] for branch in parts[branches][1][1]]


def _texts(items: Any, random: Random) -> Iterator[str]:
    for kind, argument in items:
        if kind is op.LITERAL:
            yield chr(argument)
        elif kind is op.IN:
            yield random.choice([sign for sign in _SIGNS if _holds(argument, sign)])
        elif kind is op.NOT_LITERAL:
            yield random.choice([sign for sign in _SIGNS if ord(sign) != argument])
        elif kind is op.SUBPATTERN:
            yield from _texts(argument[3], random)
        elif kind is op.BRANCH:
            yield from _texts(random.choice(argument[1]), random)
        elif kind is op.MAX_REPEAT:
            least, most, repeated = argument
            for _ in range(random.randint(least, min(int(most), least + _MORE))):
                yield from _texts(repeated, random)
        elif kind not in (op.ASSERT, op.ASSERT_NOT, op.AT):
            raise NotImplementedError(kind)


def _holds(items: Any, sign: str) -> bool:
    """Whether a parsed class contains a character."""
    if items[0][0] is op.NEGATE:
        return not _holds(items[1:], sign)
    return any(_is_of(kind, argument, sign) for kind, argument in items)


def _is_of(kind: Any, argument: Any, sign: str) -> bool:
    if kind is op.CATEGORY:
        return bool(_CATEGORIES[argument].match(sign))
    low, high = argument if kind is op.RANGE else (argument, argument)
    return bool(low <= ord(sign) <= high)
