"""Reads the job and the producer of a rejected event, as far as its bytes can be parsed."""

import json
from collections.abc import Iterator
from typing import Any

from msgspec import Struct

MAX_TEXT = 500
"""Characters of a name or producer; the rest is left out."""
_SPACE = tuple(" \t\n\r")
_DECODER = json.JSONDecoder(strict=False)


class EventSender(Struct, frozen=True):
    """The job and the producer that an event names; empty strings where it names none."""

    namespace: str = ""
    name: str = ""
    producer: str = ""


def sender_of(raw: bytes) -> EventSender:
    """Read the job and the producer of an event, up to the first member that cannot be read. Pure; never raises, whatever the bytes are."""
    members = dict(_members(raw.decode("utf-8", "replace")))
    job = members.get("job")
    named = job if isinstance(job, dict) else {}
    return EventSender(_text(named.get("namespace")), _text(named.get("name")), _text(members.get("producer")))


def _members(text: str) -> Iterator[tuple[str, Any]]:
    """The members of the outermost object, up to the first error or the end of the text."""
    at = _after_space(text, 0)
    if text[at : at + 1] != "{":
        return
    try:
        while text[at : at + 1] in ("{", ","):
            name, at = _DECODER.raw_decode(text, _after_space(text, at + 1))
            at = _after_space(text, at)
            if not isinstance(name, str) or text[at : at + 1] != ":":
                return
            value, at = _DECODER.raw_decode(text, _after_space(text, at + 1))
            yield name, value
            at = _after_space(text, at)
    except (ValueError, RecursionError):
        return


def _after_space(text: str, at: int) -> int:
    while text[at : at + 1] in _SPACE:
        at += 1
    return at


def _text(value: object) -> str:
    """A string as the graph stores it: invalid characters are replaced, and it is shortened for lists."""
    shown = value.encode("utf-8", "replace").decode() if isinstance(value, str) else ""
    return shown if len(shown) <= MAX_TEXT else f"{shown[:MAX_TEXT]}..."
