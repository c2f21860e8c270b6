"""A log of several segments with bodies as producers send them, for the tests of its compression."""

import random
from pathlib import Path
from typing import Final

from lineage_bridge.eventlog.compressed.compressor import compress_closed
from lineage_bridge.eventlog.disk import LocalDisk
from lineage_bridge.eventlog.reader import LogReader
from lineage_bridge.eventlog.segment import list_segments
from lineage_bridge.eventlog.writer import LogWriter
from lineage_bridge.graph.ids import event_id
from lineage_bridge.graph.log_record import LogRecord, RecordKind

SEGMENT_BYTES: Final = 19 << 18
_WORDS: Final = [f"column_{number}_of_orders".encode() for number in range(500)]


def event(number: int, size: int) -> LogRecord:
    """An event of about `size` bytes, of words that repeat."""
    words = random.Random(number).choices(_WORDS, k=max(1, size // 22))
    body = b'{"event": %d, "text": "%s"}' % (number, b" ".join(words))
    return LogRecord(RecordKind.EVENT, event_id(body), 1_700_000_000_000_000 + number, "http", "", b"", body)


EVENTS: Final = [event(number, 20_000 if number % 100 else 600_000) for number in range(420)]
"""Records of three segments. Some are longer than a frame, so that a record lies in several frames."""


def fill(directory: Path) -> list[int]:
    """Write the events; returns their offsets."""
    with LogWriter(directory, segment_bytes=SEGMENT_BYTES) as writer:
        return [offset for at in range(0, len(EVENTS), 20) for offset in writer.append(EVENTS[at : at + 20])]


def compressed(directory: Path) -> list[int]:
    """Write the events and compress what can be; returns the offsets."""
    offsets = fill(directory)
    assert compress_closed(directory, LocalDisk()) == len(list_segments(directory)) - 1 >= 2
    return offsets


def readable(directory: Path) -> list[tuple[int, LogRecord]]:
    """All (offset, record) that can be read."""
    reader = LogReader(directory)
    return list(reader.read(0, reader.durable_end()))
