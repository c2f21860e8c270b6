"""Converts positions to opaque tokens and back. A position states, for each stream, the offset up to which it was read."""

from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Mapping, Sequence

import msgspec

from lineage_bridge.errors import RequestError
from lineage_bridge.eventlog.archive.files import TOPIC, is_archived, topic_ends
from lineage_bridge.graph.log_record import RecordAddress
from lineage_bridge.ports.log import LOG_SOURCE

Position = Mapping[tuple[str, int], int]
"""For each (source, partition), the offset after the last record that the position includes."""

_OFFSETS = msgspec.json.Decoder(dict[str, int])


def encode(position: Position) -> str:
    """Encode a position as a token: base64url without padding. A token only contains offsets of the log, never of the archive."""
    offsets = {f"{source}/{partition}": offset for (source, partition), offset in sorted(position.items()) if not is_archived(source)}
    return urlsafe_b64encode(msgspec.json.encode(offsets)).decode().rstrip("=")


def decode(text: str) -> dict[tuple[str, int], int]:
    """Decode a token that `encode` wrote. Raises RequestError for any other text."""
    try:
        offsets = _OFFSETS.decode(urlsafe_b64decode(text + "=" * (-len(text) % 4)))
        return {parse_stream(name): offset for name, offset in offsets.items()}
    except (ValueError, msgspec.DecodeError) as error:
        raise RequestError("unknown position token", "send the token of an earlier answer unchanged") from error


def encode_behind(written: Sequence[int] | Sequence[RecordAddress]) -> str:
    """Make the token of the position after some records. They are given by their offsets in the log or their addresses in a topic."""
    ends: dict[tuple[str, int], int] = {}
    for at in written:
        stream, offset = ((LOG_SOURCE, 0), at) if isinstance(at, int) else ((at.source, at.partition), at.offset)
        ends[stream] = max(ends.get(stream, 0), offset + 1)
    return encode(ends)


def covers(applied: Position, position: Position) -> bool:
    """Whether everything before `position` has been applied. Offsets of a topic are compared with the records in the archive that were read
    from this topic.
    """
    if any(source.startswith(f"{TOPIC}/") for source, _ in position):
        applied = {**applied, **topic_ends(applied)}
    return all(applied.get(stream, 0) >= offset for stream, offset in position.items())


def parse_stream(name: str) -> tuple[str, int]:
    """Parse "source/partition" as (source, partition)."""
    source, _, partition = name.rpartition("/")
    return source, int(partition)
