"""Bodies of requests: received and unpacked within limits, and cut into events whose bytes stay as they were sent."""

import zlib
from dataclasses import dataclass
from typing import Final

import msgspec
from fastapi import Request
from msgspec import UNSET, Raw, Struct, UnsetType

from lineage_bridge.errors import RefusedError
from lineage_bridge.openlineage.json_text import mend_text
from lineage_bridge.openlineage.verdict import Rejected

SAMPLE_BYTES: Final = 64 << 10
"""How much is kept of what is too large."""
_ENCODINGS: Final = {"": False, "identity": False, "gzip": True, "x-gzip": True, "deflate": True}
_EITHER: Final = zlib.MAX_WBITS | 32
_NDJSON: Final = ("ndjson", "jsonl", "json-seq", "jsonlines")
_BLANK: Final = b" \t\r\n"
_LARGEST_GROWTH: Final = 64
_DRAINED: Final = 4


class _Envelope(Struct):
    events: Raw | UnsetType = UNSET
    run: Raw | UnsetType = UNSET
    job: Raw | UnsetType = UNSET
    dataset: Raw | UnsetType = UNSET


_ELEMENTS = msgspec.json.Decoder(list[Raw])
_ENVELOPE = msgspec.json.Decoder(_Envelope)
_ANY = msgspec.json.Decoder(Raw)


@dataclass(frozen=True)
class Body:
    """What came: at most `limit` bytes of it (`over` if there was more), perhaps `packed`."""

    data: bytes
    packed: bool
    over: bool
    limit: int
    ndjson: bool

    @property
    def work(self) -> int:
        """About how many bytes have to be read."""
        return len(self.data) * (_LARGEST_GROWTH if self.packed else 1)


@dataclass(frozen=True)
class Pieces:
    """The events of a body, in its order. `single`: the body is one event. `problem`: the body as a whole is refused,
    and the one piece is what is kept of it.
    """

    events: list[bytes]
    single: bool
    problem: Rejected | None = None


async def receive(request: Request, limit: int) -> Body:
    """The body of a request, at most `limit` bytes of it. Raises RefusedError for an encoding that is not read here."""
    encoding = request.headers.get("content-encoding", "").strip().lower()
    if encoding not in _ENCODINGS:
        raise RefusedError(415, "encoding", f"Content-Encoding {encoding!r} is not read here", "Send gzip, or no encoding.")
    kind = request.headers.get("content-type", "").lower()
    chunks: list[bytes] = []
    size = 0
    async for chunk in request.stream():
        if size <= limit:
            chunks.append(chunk)
        size += len(chunk)
        if size > _DRAINED * limit:
            break
    data = b"".join(chunks)
    return Body(data[:limit], _ENCODINGS[encoding], len(data) > limit, limit, any(word in kind for word in _NDJSON))


def cut(body: Body, max_events: int) -> Pieces:
    """The events in a body."""
    data, over, broken = _unpack(body.data, body.limit) if body.packed else (body.data, False, False)
    if over or body.over:
        return _refused(data, "too_large", f"the body has more than {body.limit} bytes")
    if broken:
        return _refused(data, "not_json", "the body is no whole gzip or deflate stream")
    pieces = _lines(data) if body.ndjson else _split(data)
    if len(pieces.events) > max_events:
        return _refused(data, "too_many", f"{len(pieces.events)} events in one request are more than {max_events}")
    return pieces


def _refused(data: bytes, code: str, message: str) -> Pieces:
    return Pieces([data[:SAMPLE_BYTES]], True, Rejected(code, "$", message))


def _unpack(data: bytes, limit: int) -> tuple[bytes, bool, bool]:
    """What a gzip (of any number of members) or zlib stream holds, at most `limit` bytes; whether there is more; whether it is broken."""
    pieces: list[bytes] = []
    room = limit + 1
    while data:
        stream = zlib.decompressobj(_EITHER)
        try:
            piece = stream.decompress(data, room)
        except zlib.error:
            return b"".join(pieces), False, True
        pieces.append(piece)
        room -= len(piece)
        if room <= 0:
            return b"".join(pieces)[:limit], True, False
        if not stream.eof:
            return b"".join(pieces), False, True
        data = stream.unused_data
    return b"".join(pieces), False, False


def _split(data: bytes) -> Pieces:
    """An array, an object with `events`, several lines of JSON, or one event. Text that is none of them is one event."""
    text = mend_text(data)
    start = text.lstrip(_BLANK)[:1]
    try:
        if start == b"[":
            return Pieces(_elements(data, text), False)
        if start == b"{" and b'"events"' in text:
            inner = _inner(text)
            if inner is not None:
                at = text.index(inner)
                return Pieces(_elements(data[at : at + len(inner)], inner), False)
        if b"\n" in text.strip(_BLANK) and not _is_json(text):
            return _lines_of_json(data, text)
    except (msgspec.DecodeError, RecursionError):
        if b"\n" in text:
            return _lines_of_json(data, text)
    return Pieces([data], True)


def _inner(text: bytes) -> bytes | None:
    """The array of an object that has `events` and is no event itself."""
    envelope = _ENVELOPE.decode(text)
    if isinstance(envelope.events, UnsetType) or not all(
        isinstance(member, UnsetType) for member in (envelope.run, envelope.job, envelope.dataset)
    ):
        return None
    inner = bytes(envelope.events)
    return inner if inner.startswith(b"[") else None


def _elements(data: bytes, text: bytes) -> list[bytes]:
    """The elements of an array as they stand in `data`; `text` is the same with its escapes mended, place by place."""
    elements = [bytes(element) for element in _ELEMENTS.decode(text)]
    if text == data:
        return elements
    verbatim = []
    at = text.index(b"[") + 1
    for element in elements:
        at = text.index(element[:1], at)
        verbatim.append(data[at : at + len(element)])
        at += len(element)
    return verbatim


def _lines_of_json(data: bytes, text: bytes) -> Pieces:
    """Several lines if the first of them is JSON by itself, else one event."""
    first = text.strip(_BLANK).split(b"\n", 1)[0]
    return _lines(data) if _is_json(first) else Pieces([data], True)


def _lines(data: bytes) -> Pieces:
    stripped = (line.strip(_BLANK + b"\x1e") for line in data.split(b"\n"))
    return Pieces([line for line in stripped if line], False)


def _is_json(text: bytes) -> bool:
    try:
        _ANY.decode(text)
    except (msgspec.DecodeError, RecursionError):
        return False
    return True
