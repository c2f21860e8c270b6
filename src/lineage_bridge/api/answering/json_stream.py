"""Sends large JSON answers while they are still being computed."""

from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import ExitStack
from typing import Final

import msgspec
from fastapi import Response
from msgspec import Struct

from lineage_bridge.api.dependencies import position_header
from lineage_bridge.api.responses import streaming_response
from lineage_bridge.api.services import Services
from lineage_bridge.ports.graph_reader import GraphReader

PIECE_BYTES: Final = 1 << 16
"""How many bytes of items are sent together; one item may have more."""
_ENCODER = msgspec.json.Encoder()


def encode(value: object) -> bytes:
    """Encode a value as JSON text."""
    return _ENCODER.encode(value)


def stream_graph(services: Services, write: Callable[[GraphReader], Iterator[bytes]]) -> Response:
    """Stream an answer that `write` produces piece by piece within one read transaction. Raises StoreMissingError."""
    held = ExitStack()
    reader = held.enter_context(services.graph())

    def pieces() -> Generator[bytes, None, None]:
        with held:
            yield from write(reader)

    return streaming_response(pieces(), position_header(reader.progress))


def json_array(name: str, items: Iterable[Struct]) -> Iterator[bytes]:
    """Yield an array as a member of a JSON object, as text in pieces of PIECE_BYTES."""
    piece, separator = bytearray(f'"{name}":['.encode()), b""
    for item in items:
        piece += separator + encode(item)
        separator = b","
        if len(piece) >= PIECE_BYTES:
            yield bytes(piece)
            piece.clear()
    yield bytes(piece + b"]")
