"""Reads the set: secrets of many kinds in their texts, texts without secrets, and pairs of datasets."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from tests.openlineage.masking_benchmark.incidents.carriers import CARRIERS, QUOTED, SECOND
from tests.openlineage.masking_benchmark.incidents.values import fill

_HERE = Path(__file__).parent
_MARK = "§"
_FILLS = 10
"""How often each innocent text and each pair is filled with other values."""


class Planted(NamedTuple):
    """A secret of a kind in an event, and the same event with an empty text in the place of the secret."""

    kind: str
    carrier: str
    secret: str
    event: bytes
    without: bytes


class Innocent(NamedTuple):
    """A text without a secret in an event."""

    carrier: str
    text: str
    event: bytes


def planted() -> list[Planted]:
    """All planted secrets: each text in its own carrier and in a second one."""
    return [case for path in sorted((_HERE / "planted").iterdir()) for case in _planted(path.read_text(encoding="utf-8"))]


def _planted(file: str) -> Iterator[Planted]:
    for part in file.removeprefix("## ").split("\n## "):
        heading, *texts = part.split("\n@ ")
        kind, _, values = heading.partition(": ")
        forms = values.strip().split(" / ")
        for number, block in enumerate(texts):
            carrier, _, text = block.partition("\n")
            secret = fill(forms[number % len(forms)], f"{kind} {number}")
            second, around = SECOND[carrier]
            for name, whole in ((carrier, text.rstrip("\n")), (second, around(text.rstrip("\n")))):
                yield _case(kind, name, whole, secret, is_json=carrier in QUOTED)


def _case(kind: str, carrier: str, text: str, secret: str, *, is_json: bool) -> Planted:
    value = json.dumps(secret)[1:-1] if is_json else secret
    build = CARRIERS[carrier]
    return Planted(kind, carrier, secret, build(text.replace(_MARK, value)), build(text.replace(_MARK, "")))


def innocents() -> list[Innocent]:
    """All texts without secrets, each once."""
    found: dict[tuple[str, str], Innocent] = {}
    for path in sorted((_HERE / "innocent").iterdir()):
        for line in path.read_text(encoding="utf-8").splitlines():
            carriers, _, template = line.partition(" | ")
            names = carriers.split(",")
            for number in range(_FILLS):
                carrier, text = names[number % len(names)], fill(template.replace("\\n", "\n"), f"{line} {number}")
                found.setdefault((carrier, text), Innocent(carrier, text, CARRIERS[carrier](text)))
    return list(found.values())


def pairs() -> list[tuple[str, str]]:
    """Pairs of different datasets, each a namespace and a name. They differ in the last value that is filled in."""
    lines = (_HERE / "pairs.txt").read_text(encoding="utf-8").splitlines()
    filled = {_pair(line, f"{line} {number}") for line in lines for number in range(_FILLS)}
    return sorted(pair for pair in filled if pair[0] != pair[1])


def _pair(line: str, seed: str) -> tuple[str, str]:
    beginning, last, end = line.rpartition("<<")
    same = fill(beginning, seed)
    return same + fill(last + end, f"{seed} one"), same + fill(last + end, f"{seed} other")
