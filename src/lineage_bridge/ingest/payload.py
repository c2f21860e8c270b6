"""Splits payloads into events, and keeps the bytes of each event as they were sent."""

import zlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

import msgspec
from msgspec import UNSET, Raw, Struct, UnsetType

from lineage_bridge.openlineage.json_text import mend_text
from lineage_bridge.openlineage.verdict import Rejected
from lineage_bridge.openlineage.wire import MAX_BYTES

MAX_EVENTS: Final = 10_000
SAMPLE_BYTES: Final = 64 << 10
"""How many bytes are kept of a payload that is rejected as a whole."""
_LONGEST_WORD: Final = 512
_GZIP_OR_ZLIB: Final = zlib.MAX_WBITS | 32
_BLANK: Final = b" \t\r\n"
_MAX_COMPRESSION_RATIO: Final = 64
_FIRST_PIECE: Final = 64
_LARGEST_PIECE: Final = 1 << 18
"""How many bytes are passed to the decompressor at once. It copies the bytes after the end of a gzip member each time."""


class _TooManyEventsError(Exception):
    """An array has more elements than a payload may have events."""

    def __init__(self, count: int) -> None:
        super().__init__(count)
        self.count = count


class _Envelope(Struct):
    events: Raw | UnsetType = UNSET
    run: Raw | UnsetType = UNSET
    job: Raw | UnsetType = UNSET
    dataset: Raw | UnsetType = UNSET


_ELEMENTS = msgspec.json.Decoder(list[Raw])
_ENVELOPE = msgspec.json.Decoder(_Envelope)
_ANY = msgspec.json.Decoder(Raw)


@dataclass(frozen=True)
class Payload:
    """The bytes of a request or of a record of an input, at most `max_bytes` of them; `truncated` if there were more.

    `compressed`: gzip or zlib, of which at most `max_bytes` are unpacked. `ndjson`: one event per line. A payload with more than
    `max_events` events is refused.
    """

    data: bytes
    compressed: bool = False
    truncated: bool = False
    ndjson: bool = False
    max_bytes: int = MAX_BYTES
    max_events: int = MAX_EVENTS

    @property
    def estimated_bytes(self) -> int:
        """The approximate number of bytes that have to be parsed."""
        return len(self.data) * (_MAX_COMPRESSION_RATIO if self.compressed else 1)


@dataclass(frozen=True)
class SplitPayload:
    """The events of a payload, in its order, before they are validated.

    `single`: the payload is one event by itself. `rejected`: the payload is refused as a whole, and the only item is its beginning.
    `is_cut`: that item is not the whole payload.
    """

    items: Sequence[bytes]
    single: bool = False
    rejected: Rejected | None = None
    is_cut: bool = False


def split_payload(payload: Payload) -> SplitPayload:
    """Split a payload into its events."""
    data, truncated, damaged = _unpack(payload.data, payload.max_bytes) if payload.compressed else (payload.data, False, False)
    if truncated or payload.truncated:
        return _refused(data, "too_large", f"the body has more than {payload.max_bytes} bytes")
    if damaged:
        return replace(_refused(data, "not_json", "the body is not a complete gzip or deflate stream"), is_cut=True)
    try:
        events = _lines(data) if payload.ndjson else _split(data, payload.max_events)
        _check_count(events.items, payload.max_events)
    except _TooManyEventsError as error:
        return _refused(data, "too_many", f"the body has {error.count} events; the limit is {payload.max_events}")
    return events


def beginning(raw: bytes, most: int) -> bytes:
    """Cut a payload to at most `most` bytes, at the end of a word. A cut within a word could leave half of a secret, which masking does not
    recognise.
    """
    if len(raw) <= most:
        return raw
    end = max(raw.rfind(sign, max(0, most - _LONGEST_WORD), most) for sign in (b" ", b"\n", b'"'))
    return raw[: end + 1 if end > 0 else most]


def _refused(data: bytes, code: str, message: str) -> SplitPayload:
    return SplitPayload([beginning(data, SAMPLE_BYTES)], True, Rejected(code, "$", message), len(data) > SAMPLE_BYTES)


def _unpack(data: bytes, limit: int) -> tuple[bytes, bool, bool]:
    """Decompress at most `limit` bytes of a gzip or zlib stream. Also returns whether there is more, and whether the stream is damaged.

    The time is proportional to the bytes, even if the stream has many gzip members: the first pieces passed to the decompressor of each
    member are small.
    """
    unpacked, at = bytearray(), 0
    while at < len(data):
        stream, size = zlib.decompressobj(_GZIP_OR_ZLIB), _FIRST_PIECE
        while not stream.eof:
            piece = stream.unconsumed_tail or data[at : at + size]
            if not piece:
                return bytes(unpacked), False, True
            at += 0 if stream.unconsumed_tail else len(piece)
            try:
                unpacked += stream.decompress(piece, limit + 1 - len(unpacked))
            except zlib.error:
                return bytes(unpacked), False, True
            if len(unpacked) > limit:
                return bytes(unpacked[:limit]), True, False
            size = min(size * 2, _LARGEST_PIECE)
        at -= len(stream.unused_data)
    return bytes(unpacked), False, False


def _split(data: bytes, most: int) -> SplitPayload:
    """Split a text into events: those of an array, of an object with `events`, or of lines of JSON. Anything else is one event. Raises
    _TooManyEventsError if an array has more than `most`.
    """
    text = mend_text(data)
    start = text.lstrip(_BLANK)[:1]
    try:
        if start == b"[":
            return SplitPayload(_elements(data, text, most))
        if start == b"{" and b'"events"' in text:
            array = _enveloped(text)
            if array is not None:
                at = text.index(array)
                return SplitPayload(_elements(data[at : at + len(array)], array, most))
        if b"\n" in text.strip(_BLANK) and not is_json(text):
            return _lines_of_json(data, text)
    except (msgspec.DecodeError, RecursionError):
        if b"\n" in text:
            return _lines_of_json(data, text)
    return SplitPayload([data], single=True)


def _check_count(events: Sequence[object], most: int) -> None:
    if len(events) > most:
        raise _TooManyEventsError(len(events))


def _enveloped(text: bytes) -> bytes | None:
    """The array in the member `events`, if the text is an object that has one and is not an event itself."""
    envelope = _ENVELOPE.decode(text)
    if isinstance(envelope.events, UnsetType) or not all(
        isinstance(member, UnsetType) for member in (envelope.run, envelope.job, envelope.dataset)
    ):
        return None
    array = bytes(envelope.events)
    return array if array.startswith(b"[") else None


def _elements(data: bytes, text: bytes, most: int) -> list[bytes]:
    """The elements of an array, each as its bytes in `data`. `text` is `data` with invalid escapes replaced, so that every other byte stays
    at its offset. Raises _TooManyEventsError if there are more than `most`.
    """
    found = _ELEMENTS.decode(text)
    _check_count(found, most)
    elements = list(map(bytes, found))
    if text == data:
        return elements
    verbatim = []
    at = text.index(b"[") + 1
    for element in elements:
        at = text.index(element[:1], at)
        verbatim.append(data[at : at + len(element)])
        at += len(element)
    return verbatim


def _lines_of_json(data: bytes, text: bytes) -> SplitPayload:
    """Split a text into lines, each of which is an event, if the first line is JSON by itself. Otherwise the text is one event."""
    first = text.strip(_BLANK).split(b"\n", 1)[0]
    return _lines(data) if is_json(first) else SplitPayload([data], single=True)


def _lines(data: bytes) -> SplitPayload:
    stripped = (line.strip(_BLANK + b"\x1e") for line in data.split(b"\n"))
    return SplitPayload([line for line in stripped if line])


def is_json(text: bytes) -> bool:
    """Whether a text is a single JSON value. Invalid escapes must have been replaced before."""
    try:
        _ANY.decode(text)
    except (msgspec.DecodeError, RecursionError):
        return False
    return True
