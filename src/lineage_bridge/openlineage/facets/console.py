"""The job facet `lineagebridge_console`, in which an observer states where its system shows a job."""

from typing import Final

import msgspec

CONSOLE: Final = "lineagebridge_console"
"""The facet's key."""


class ConsoleFacet(msgspec.Struct, frozen=True):
    """The name of a console, and the address of its page about the job."""

    title: str
    url: str


_DECODER: Final = msgspec.json.Decoder(ConsoleFacet)


def read_console(text: str) -> ConsoleFacet | None:
    """The facet in a JSON text; None if it is a tombstone or malformed."""
    try:
        return _DECODER.decode(text)
    except (msgspec.DecodeError, RecursionError):
        return None
