"""What became of a planted secret: judged on the event that was accepted."""

from collections.abc import Iterator
from typing import Any

from tests.openlineage.masking_benchmark.corpus import Planted

FRAGMENT = 6
"""So many characters of a secret in a row, or all of a shorter one, are a leak."""


def strings(value: Any) -> Iterator[str]:
    """Every string of a JSON value, names of members included."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for name, member in value.items():
            yield name
            yield from strings(member)
    elif isinstance(value, list):
        for member in value:
            yield from strings(member)


def leaked(case: Planted, accepted: Any) -> str:
    """A fragment of a secret that is still in the event, or nothing."""
    text = "\n".join(strings(accepted))
    for secret in case.secrets:
        size = min(FRAGMENT, len(secret))
        for start in range(len(secret) - size + 1):
            if (fragment := secret[start : start + size]) in text:
                return fragment
    return ""


def lost(case: Planted, accepted: Any) -> bool:
    """Whether text beside the secret is gone that says what it was."""
    found = list(strings(accepted))
    if case.setting and case.setting not in found and not any(f'"{case.setting}"' in text for text in found):
        return True
    joined = _plain("\n".join(found))
    position = 0
    for part in case.kept:
        for word in _plain(part).split():
            if (at := joined.find(word.strip(",;"), position)) < 0:
                return True
            position = at
    return False


def _plain(text: str) -> str:
    """Without quotes and escapes, which differ in a string of JSON."""
    return text.replace("\\n", " ").replace("\\t", " ").replace("\\", "").replace('"', "")
