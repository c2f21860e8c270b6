"""Reads events from files. A file has one JSON value (an event, an array, or an object with `events`), or one event per line; plain or
gzip.
"""

import gzip
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import chain
from typing import IO

import msgspec

from lineage_bridge.errors import RequestError
from lineage_bridge.openlineage.json_text import mend_text

BATCH_BYTES = 4 * 1024 * 1024
BATCH_EVENTS = 500
STDIN = "-"
LINE_SUFFIXES = (".ndjson", ".jsonl")
_GZIP = b"\x1f\x8b"
_BLANK = b" \t\r\n\x1e"
_ANY = msgspec.json.Decoder(msgspec.Raw)
_LIST = msgspec.json.Decoder(list[msgspec.Raw])
_OBJECT = msgspec.json.Decoder(dict[str, msgspec.Raw])


@dataclass(frozen=True)
class FoundEvent:
    """An event as it is written in a file. `index` counts from 0. `line`: whether it is a line of NDJSON, which may be invalid JSON."""

    source: str
    index: int
    raw: bytes
    line: bool


@dataclass(frozen=True)
class EventBatch:
    """The events that are sent in one request."""

    events: tuple[FoundEvent, ...]

    @property
    def body(self) -> bytes:
        """The body of the request: one event as it is, several as lines or as an array. Invalid JSON is sent too, for the server to
        reject.
        """
        raws = [event.raw for event in self.events]
        if len(raws) == 1:
            return raws[0]
        return b"\n".join(raws) if self.events[0].line else b"[" + b",".join(raws) + b"]"

    @property
    def kind(self) -> str:
        """The media type of the request's body."""
        return "application/x-ndjson" if self.events[0].line else "application/json"


def read_events(name: str) -> Iterator[FoundEvent]:
    """Yield the events in a file, or in standard input for `-`. Raises RequestError for a file that cannot be read."""
    try:
        with _open(name) as stream:
            lines = name.lower().removesuffix(".gz").endswith(LINE_SUFFIXES)
            for index, (raw, line) in enumerate(_events(stream, lines=lines)):
                yield FoundEvent(name, index, raw, line)
    except (OSError, EOFError) as error:
        raise RequestError(
            f"cannot read {name}: {getattr(error, 'strerror', None) or error}", "name a file of events, or - for standard input"
        ) from error


def batches(events: Iterable[FoundEvent], most_events: int = BATCH_EVENTS, most_bytes: int = BATCH_BYTES) -> Iterator[EventBatch]:
    """Group events, in order, into batches, each for one request. A batch never has both lines of NDJSON and other JSON."""
    held: list[FoundEvent] = []
    size = 0
    for event in events:
        full = len(held) >= most_events or size + len(event.raw) > most_bytes
        if held and (full or event.line != held[0].line):
            yield EventBatch(tuple(held))
            held, size = [], 0
        held.append(event)
        size += len(event.raw)
    if held:
        yield EventBatch(tuple(held))


@contextmanager
def _open(name: str) -> Iterator[IO[bytes]]:
    with open(sys.stdin.fileno() if name == STDIN else name, "rb", closefd=name != STDIN) as stream:
        yield gzip.GzipFile(fileobj=stream) if stream.peek(2)[:2] == _GZIP else stream  # type: ignore[misc]  # GzipFile is not declared as IO[bytes]


def _events(stream: IO[bytes], *, lines: bool) -> Iterator[tuple[bytes, bool]]:
    """Yield the events of a stream, each with whether it was a line. A file whose first line is a complete event is read line by line, so
    its size does not matter.
    """
    filled = (line for line in stream if line.strip(_BLANK))
    first, second = next(filled, b""), b""
    if lines or _is_object(first):
        second = next(filled, b"")
    if lines or second:
        yield from ((line.strip(_BLANK), True) for line in chain((first, second), filled) if line)
    elif first:
        yield from ((raw, False) for raw in _values(first + stream.read()))


def _values(data: bytes) -> list[bytes]:
    """The events in one JSON value. Invalid JSON counts as one event, so that the server rejects it with the reason."""
    text = data.strip(_BLANK)
    repaired = mend_text(text)
    try:
        if repaired[:1] == b"[":
            return _original_elements(text, repaired, [bytes(raw) for raw in _LIST.decode(repaired)])
        if repaired[:1] == b"{":
            members = _OBJECT.decode(repaired)
            inner = bytes(members.get("events", b""))
            if inner[:1] == b"[" and not members.keys() & {"run", "job", "dataset"}:
                return [bytes(raw) for raw in _LIST.decode(inner)]
    except (msgspec.DecodeError, RecursionError):
        return [text]
    return [text]


def _original_elements(text: bytes, repaired: bytes, elements: list[bytes]) -> list[bytes]:
    """The elements of an array as they are written in `text`. `repaired` is the text with invalid escapes replaced; all other bytes have
    the same positions in both.
    """
    if text == repaired:
        return elements
    found, at = [], 1
    for element in elements:
        at = repaired.index(element, at)
        found.append(text[at : at + len(element)])
        at += len(element)
    return found


def _is_object(line: bytes) -> bool:
    text = mend_text(line.strip(_BLANK))
    try:
        return text[:1] == b"{" and bool(_ANY.decode(text))
    except (msgspec.DecodeError, RecursionError):
        return False
