"""The frames that the API and the process that answers questions send to each other. Each frame is preceded by its length in four bytes."""

from asyncio import StreamReader
from typing import Final

import msgspec
from msgspec import Struct

from lineage_bridge.model.access import Visibility

GREETING: Final = b"?"
"""What the answering process writes first on each new connection."""
LAST: Final = 1 << 31
"""Added to the length of the last frame of an answer."""
WRITTEN: Final = "written"
"""The key in the state of a question for the position token of the events that the API's process has written to a topic."""


class Question(Struct, array_like=True):
    """The parts of a request that are passed to the answering process, and what its principal may see."""

    prefix: str
    path: str
    query: bytes
    headers: list[tuple[bytes, bytes]]
    client: tuple[str, int] | None
    server: tuple[str, int | None] | None
    caller: tuple[str, bool]
    """The caller whose limits the question counts against."""
    visibility: Visibility | None
    written: str = ""
    """The position token of the events that the API's process has written to a topic."""


class AnswerStart(Struct, array_like=True):
    """The first frame of an answer, with status and headers."""

    status: int
    headers: list[tuple[bytes, bytes]]


QUESTION_DECODER: Final = msgspec.msgpack.Decoder(Question)
START_DECODER: Final = msgspec.msgpack.Decoder(AnswerStart)
ENCODER: Final = msgspec.msgpack.Encoder()


def frame(content: bytes, mark: int = 0) -> bytes:
    """A frame with this content; `mark` is 0 or LAST."""
    return (len(content) + mark).to_bytes(4, "big") + content


async def read_frame(reader: StreamReader) -> tuple[bytes, bool]:
    """Read a frame; returns its content, and whether it is the last of an answer. Raises IncompleteReadError, OSError."""
    length = int.from_bytes(await reader.readexactly(4), "big")
    return await reader.readexactly(length & ~LAST), bool(length & LAST)
