"""The second set, written without sight of the rules: its secrets, innocent texts and pairs of datasets; the pairs of the fifth too.

A line of `pairs.txt` is a dataset's namespace and name; its alternatives in braces are different datasets. The first sign says what
is in it: `=` no secret, `!` secrets that tell the datasets apart, `~` a credential beside the alternatives, which is no part of them.
"""

import itertools
import re
from collections.abc import Iterator
from pathlib import Path

from tests.openlineage.masking_benchmark.corpus import Innocent, Planted
from tests.openlineage.masking_benchmark.datasets import Dataset, Pair
from tests.openlineage.masking_benchmark.later import innocents_in, planted_in
from tests.openlineage.masking_benchmark.templates import Template

_FOLDER = Path(__file__).parent / "second"
_PAIRS = (_FOLDER / "pairs.txt", _FOLDER.parent / "fifth" / "pairs.txt")
_CHOICE = re.compile(r"\{([^{}]*,[^{}]*)\}")


def planted_second(carriers: int = 1) -> Iterator[Planted]:
    """The secrets of the second set."""
    return planted_in(_FOLDER, carriers)


def innocents_second() -> Iterator[Innocent]:
    """The innocent texts of the second set."""
    return innocents_in(_FOLDER)


def _datasets(line: str, seed: str) -> list[Dataset]:
    filled = Template("pairs", "T", line).fill(seed).value
    pieces = _CHOICE.split(filled)
    choices = [piece.split(",") if index % 2 else [piece] for index, piece in enumerate(pieces)]
    names = ["".join(choice).partition(" :: ") for choice in itertools.product(*choices)]
    return [(namespace, name) for namespace, _, name in names]


def _lines(signs: str) -> Iterator[str]:
    for path in _PAIRS:
        for line in path.read_text(encoding="utf-8").splitlines():
            if line and line[0] in signs:
                yield line[2:]


def different_second() -> Iterator[tuple[str, Pair]]:
    """Pairs of different datasets."""
    for line in _lines("=!~"):
        for pair in itertools.combinations(_datasets(line, ""), 2):
            yield line, pair


def same_second() -> Iterator[tuple[str, Pair]]:
    """Pairs that differ in a credential only."""
    for line in _lines("~"):
        for pair in zip(_datasets(line, "one"), _datasets(line, "other"), strict=True):
            yield line, pair


def plain_second() -> Iterator[Dataset]:
    """Datasets without a secret in their names."""
    for line in _lines("="):
        yield from _datasets(line, "")
