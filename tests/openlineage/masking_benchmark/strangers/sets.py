"""The planted secrets, the innocent texts and the pairs of names, made from the files beside this module."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tests.openlineage.masking_benchmark.strangers.carriers import Event, event_between, event_with
from tests.openlineage.masking_benchmark.strangers.values import Filled, Values

_FOLDER = Path(__file__).parent
_ESCAPED = re.compile(r"\\([\\nt])")
_CONTEXTS_PER_TOKEN = 2
_SETTINGS_PER_KEY = 3
_FILLS = 8
_PAIRS = 10


@dataclass(frozen=True, slots=True)
class Planted:
    """One secret in one carrier; `keep` are words that the masking leaves readable."""

    kind: str
    carrier: str
    text: str
    secrets: tuple[str, ...]
    keep: tuple[str, ...] = ()

    @property
    def event(self) -> Event:
        return event_with(self.carrier, self.text)

    def leaked(self, accepted: str) -> bool:
        """Whether a readable piece of the secret is left in these strings of an event."""
        return any(leaks(secret, accepted) for secret in self.secrets)


@dataclass(frozen=True, slots=True)
class Innocent:
    """One text that is none of a secret, in one carrier."""

    family: str
    carrier: str
    text: str

    @property
    def event(self) -> Event:
        return event_with(self.carrier, self.text)


@dataclass(frozen=True, slots=True)
class Pair:
    """Two datasets, by namespace and name, that are not one."""

    family: str
    first: tuple[str, str]
    other: tuple[str, str]

    @property
    def events(self) -> tuple[Event, Event]:
        return event_between(self.first), event_between(self.other)


def planted() -> tuple[Planted, ...]:
    """Every planted secret: tokens by their shape, settings by their name, and texts by what is around them."""
    return (*_tokens("tokens.txt"), *_settings(), *_texts())


def later() -> tuple[Planted, ...]:
    """Tokens of further shapes, which were added with their rules."""
    return tuple(_tokens("later_tokens.txt"))


def innocents() -> tuple[Innocent, ...]:
    """Every innocent text, each once."""
    values = Values("innocents")
    found: dict[Innocent, None] = {}
    for family, carrier, text in _lines("innocents.txt", 3):
        for _ in range(_FILLS):
            found[Innocent(family, carrier, values.fill(text).text)] = None
    return tuple(found)


def pairs() -> tuple[Pair, ...]:
    """Pairs of datasets whose namespace or name differ."""
    values = Values("pairs")
    found: dict[Pair, None] = {}
    for family, namespace, name in _lines("pairs.txt", 3):
        for _ in range(_PAIRS):
            first, other = ((values.fill(namespace).text, values.fill(name).text) for _ in range(2))
            if first != other:
                found[Pair(family, first, other)] = None
    return tuple(found)


def leaks(secret: str, text: str) -> bool:
    """Whether a readable piece of the secret is left in the text: five characters of a password, eight of a longer value."""
    size = min(len(secret), 5 if len(secret) <= 16 else 8)
    if "\n" in secret or "\\n" in secret:
        return any(leaks(line, text) for line in re.split(r"\n|\\n", secret))
    return any(secret[start : start + size] in text for start in range(len(secret) - size + 1))


def strings(value: object) -> Iterator[str]:
    """Every string of a JSON value, names of members too."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for key, member in value.items():
            yield key
            yield from strings(member)
    elif isinstance(value, list):
        for member in value:
            yield from strings(member)


def _tokens(name: str) -> Iterator[Planted]:
    values, contexts = Values(name.removesuffix(".txt")), _lines("contexts.txt", 2)
    for place, (kind, shape) in enumerate(_lines(name, 2)):
        for turn in range(_CONTEXTS_PER_TOKEN):
            carrier, text = contexts[(place * _CONTEXTS_PER_TOKEN + turn) % len(contexts)]
            yield _planted(kind, carrier, text, values.fill(shape))


def _settings() -> Iterator[Planted]:
    values, contexts = Values("settings"), _lines("settings.txt", 2)
    for place, (kind, name, shape) in enumerate(_lines("keyed.txt", 3)):
        for turn in range(_SETTINGS_PER_KEY):
            carrier, text = contexts[(place * _SETTINGS_PER_KEY + turn) % len(contexts)]
            yield _planted(kind, _named(carrier, name), _named(text, name), values.fill(shape))


def _texts() -> Iterator[Planted]:
    values = Values("texts")
    for kind, carrier, text, keep in _lines("texts.txt", 4):
        filled = values.fill(text)
        yield Planted(kind, carrier, filled.text, filled.secrets, tuple(part for part in keep.split(",") if part))


def _planted(kind: str, carrier: str, text: str, value: Filled) -> Planted:
    return Planted(kind, carrier, text.replace("§", value.text), value.secrets)


def _named(text: str, name: str) -> str:
    words = [word for word in name.lower().split("_") if word]
    forms = {
        "¤N": name,
        "¤n": "_".join(words),
        "¤d": ".".join(words),
        "¤k": "-".join(words),
        "¤c": words[0] + "".join(map(str.capitalize, words[1:])),
    }
    return re.sub("¤[Nndkc]", lambda match: forms[match[0]], text)


def _lines(name: str, columns: int) -> list[list[str]]:
    """The columns of each line, with `\\n`, `\\t` and doubled backslashes read; columns that are left out are empty."""
    found: list[list[str]] = []
    for line in (_FOLDER / name).read_text(encoding="utf-8").splitlines():
        if line and not line.startswith("#"):
            parts = [_ESCAPED.sub(lambda match: {"n": "\n", "t": "\t"}.get(match[1], match[1]), part) for part in line.split(" ¦ ")]
            found.append(parts + [""] * (columns - len(parts)))
    return found
