"""The second set: its secrets, innocent texts and pairs of datasets, written without sight of the rules.

A line of `pairs.txt` is a dataset's namespace and name; its alternatives in braces are different datasets. The first sign says what
is in it: `=` no secret, `!` secrets that tell the datasets apart, `~` a credential beside the alternatives, which is no part of them.
"""

import itertools
import re
from collections.abc import Iterator
from pathlib import Path

from tests.openlineage.masking_benchmark.corpus import Innocent, Planted
from tests.openlineage.masking_benchmark.datasets import Dataset, Pair
from tests.openlineage.masking_benchmark.material import fill_words
from tests.openlineage.masking_benchmark.more_carriers import SECOND_CARRIERS, carry_further
from tests.openlineage.masking_benchmark.templates import Template, read_templates

_FOLDER = Path(__file__).parent / "second"
_FILLINGS = 3
_CHOICE = re.compile(r"\{([^{}]*,[^{}]*)\}")


def planted_second(carriers: int = 1) -> Iterator[Planted]:
    """Every template of a secret in so many of the carriers of its shape, in turn."""
    for number, template in enumerate(read_templates(_FOLDER / "planted")):
        places = SECOND_CARRIERS[template.shape]
        for turn in range(min(carriers, len(places))):
            carrier = places[(number + turn) % len(places)]
            text = template.fill(carrier)
            event = carry_further(carrier, template.shape, text.value, template.setting)
            yield Planted(template.kind, carrier, text.value, event, text.secrets, text.kept, template.setting)


def innocents_second() -> Iterator[Innocent]:
    """Innocent texts, each once; the fillings of one template are in different carriers."""
    seen: set[tuple[str, str]] = set()
    for number, template in enumerate(read_templates(_FOLDER / "innocent")):
        places = SECOND_CARRIERS[template.shape]
        for filling in range(_FILLINGS):
            text = Template(template.kind, template.shape, fill_words(template.line, str(filling))).fill(str(filling)).value
            if (template.setting, text) not in seen:
                seen.add((template.setting, text))
                carrier = places[(number + filling) % len(places)]
                yield Innocent(carrier, text, carry_further(carrier, template.shape, text, template.setting))


def _datasets(line: str, seed: str) -> list[Dataset]:
    filled = Template("pairs", "T", line).fill(seed).value
    pieces = _CHOICE.split(filled)
    choices = [piece.split(",") if index % 2 else [piece] for index, piece in enumerate(pieces)]
    names = ["".join(choice).partition(" :: ") for choice in itertools.product(*choices)]
    return [(namespace, name) for namespace, _, name in names]


def _lines(signs: str) -> Iterator[str]:
    for line in (_FOLDER / "pairs.txt").read_text(encoding="utf-8").splitlines():
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
