"""Positions on the wire: opaque texts, each a map of stream to the place up to which it was read."""

from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Mapping

import msgspec

from lineage_bridge.errors import RequestError
from lineage_bridge.ports.log import LOG_SOURCE

Position = Mapping[tuple[str, int], int]
"""(source, part) to the place behind the last frame that counts."""

_PLACES = msgspec.json.Decoder(dict[str, int])


def encode(position: Position) -> str:
    """The text of a position: base64url without padding."""
    places = {f"{source}/{part}": place for (source, part), place in sorted(position.items())}
    return urlsafe_b64encode(msgspec.json.encode(places)).decode().rstrip("=")


def decode(text: str) -> dict[tuple[str, int], int]:
    """The position that `encode` wrote. Raises RequestError for any other text."""
    try:
        places = _PLACES.decode(urlsafe_b64decode(text + "=" * (-len(text) % 4)))
        return {parse_stream(name): place for name, place in places.items()}
    except (ValueError, msgspec.DecodeError) as error:
        raise RequestError("the position is none that this server gave", "Send the position of an answer as it stands.") from error


def encode_behind(place: int) -> str:
    """The position that is reached once the frame at `place` of the log was read."""
    return encode_log_end(place + 1)


def encode_log_end(end: int) -> str:
    """The position that is reached once the log was read up to `end`."""
    return encode({(LOG_SOURCE, 0): end})


def covers(applied: Position, wanted: Position) -> bool:
    """Whether everything before `wanted` has been applied."""
    return all(applied.get(stream, 0) >= place for stream, place in wanted.items())


def parse_stream(name: str) -> tuple[str, int]:
    """(source, part) of "source/part"."""
    source, _, part = name.rpartition("/")
    return source, int(part)
