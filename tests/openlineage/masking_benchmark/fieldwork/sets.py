"""The planted secrets, the innocent texts and the pairs of datasets, made from the templates of the text files beside."""

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from tests.openlineage.masking_benchmark.fieldwork.carriers import KEYED, TEXT, URI
from tests.openlineage.masking_benchmark.fieldwork.material import Fill

_HERE = Path(__file__).parent
_SECRET_ROUNDS = 2
_INNOCENT_ROUNDS = 8
_PAIR_ROUNDS = 7


class Template(NamedTuple):
    """A text with marks, of a kind, and where it can stand: `text`, `keyed` or `uri`."""

    kind: str
    place: str
    text: str


class Case(NamedTuple):
    """An event with a secret, or with a text that holds none: then `secret` is empty."""

    kind: str
    carrier: str
    text: str
    secret: str
    event: bytes


class Pair(NamedTuple):
    """Two datasets that are not the same, each a namespace and a name."""

    kind: str
    first: tuple[str, str]
    second: tuple[str, str]


def templates(file: str) -> Iterator[Template]:
    """The templates of one file."""
    for block in (_HERE / file).read_text(encoding="utf-8").split("@@ ")[1:]:
        head, body = block.rstrip("\n").split("\n", 1)
        kind, place = head.split(" | ")
        yield from (Template(kind, place, text) for text in body.split("\n%%\n"))


def planted() -> list[Case]:
    """The events that hold a secret."""
    files = ("secrets_keyed.txt", "secrets_uri.txt", "secrets_text.txt")
    return _cases([template for file in files for template in templates(file)], _SECRET_ROUNDS, seed=20260301)


def innocents() -> list[Case]:
    """The events that hold none, each once."""
    files = ("innocent_keyed.txt", "innocent_uri.txt", "innocent_text.txt", "innocent_records.txt")
    cases = _cases([template for file in files for template in templates(file)], _INNOCENT_ROUNDS, seed=20260302)
    return list({case.event: case for case in cases}.values())


def pairs() -> list[Pair]:
    """The pairs of datasets: each template is `namespace => name`, with `{{this|that}}` where the two differ."""
    fill, made = Fill(20260303), []
    for template in templates("datasets.txt"):
        for _ in range(_PAIR_ROUNDS):
            text, _secret = fill.fill(template.text)
            first, second = (tuple(_side(text, side).split(" => ")) for side in (0, 1))
            made.append(Pair(template.kind, (first[0], first[1]), (second[0], second[1])))
    return list(dict.fromkeys(made))


def _side(text: str, side: int) -> str:
    parts = [part.split("}}") for part in text.split("{{")]
    return parts[0][0] + "".join(f"{part[0].split('|')[side]}{part[1]}" for part in parts[1:])


def _cases(all_of: list[Template], rounds: int, seed: int) -> list[Case]:
    fill = Fill(seed)
    return [_case(template, fill, number) for template in all_of for number in range(rounds)]


def _case(template: Template, fill: Fill, number: int) -> Case:
    text, secret = fill.fill(template.text)
    if template.place == "keyed":
        carrier = list(KEYED)[(fill.pick(len(KEYED)) + number) % len(KEYED)]
        key, value = text.split(" => ", 1)
        return Case(template.kind, carrier, text, secret, KEYED[carrier](key, value))
    carriers = TEXT | URI
    names = [*URI, *URI, *TEXT] if template.place == "uri" else [*TEXT]
    carrier = names[(fill.pick(len(names)) + number) % len(names)]
    return Case(template.kind, carrier, text, secret, carriers[carrier](text))
