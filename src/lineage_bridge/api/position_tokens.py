"""Positions as opaque tokens: each a map of stream to the offset up to which it was read."""

from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Mapping

import msgspec

from lineage_bridge.errors import RequestError
from lineage_bridge.eventlog.archive.files import is_archived
from lineage_bridge.ports.log import LOG_SOURCE

Position = Mapping[tuple[str, int], int]
"""(source, partition) -> the offset behind the last record that counts."""

_OFFSETS = msgspec.json.Decoder(dict[str, int])


def encode(position: Position) -> str:
    """The token of a position: base64url without padding. It tells of the log: nobody is told of a place in the archive to wait for."""
    offsets = {f"{source}/{partition}": offset for (source, partition), offset in sorted(position.items()) if not is_archived(source)}
    return urlsafe_b64encode(msgspec.json.encode(offsets)).decode().rstrip("=")


def decode(text: str) -> dict[tuple[str, int], int]:
    """The position that `encode` wrote. Raises RequestError for any other text."""
    try:
        offsets = _OFFSETS.decode(urlsafe_b64decode(text + "=" * (-len(text) % 4)))
        return {parse_stream(name): offset for name, offset in offsets.items()}
    except (ValueError, msgspec.DecodeError) as error:
        raise RequestError("unknown position token", "send the position of an answer unchanged") from error


def encode_behind(offset: int) -> str:
    """The token of the position behind the log's record at an offset."""
    return encode_log_end(offset + 1)


def encode_log_end(end: int) -> str:
    """The token of the position that is reached once the log was read up to `end`."""
    return encode({(LOG_SOURCE, 0): end})


def covers(applied: Position, position: Position) -> bool:
    """Whether everything before `position` has been applied."""
    return all(applied.get(stream, 0) >= offset for stream, offset in position.items())


def parse_stream(name: str) -> tuple[str, int]:
    """(source, partition) of "source/partition"."""
    source, _, partition = name.rpartition("/")
    return source, int(partition)
