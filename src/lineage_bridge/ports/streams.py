"""The interfaces for inputs of the form stream, which Spark reads without the log: the ranges to read, and the results."""

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple, Protocol

from lineage_bridge.graph.log_record import LogRecord
from lineage_bridge.graph.record_origin import EventPosition, StreamPartition
from lineage_bridge.model.sources import InputProgress


class StreamRange(NamedTuple):
    """A range of a partition to read: the records with offsets in [start, end)."""

    where: StreamPartition
    start: int
    end: int


class SparkRead(NamedTuple):
    """A Spark read of ranges: the name of the data source, its options, and the columns of its rows as SQL.

    The columns are stream, partition (text), offset, value, at_ms (UTC milliseconds, or NULL), key, and headers (key and value). They mean
    the same as the members of IncomingRecord.
    """

    format: str
    options: Mapping[str, str]
    columns: Sequence[str]


class StreamRow(NamedTuple):
    """A row that Spark read, which is one record of a stream."""

    where: StreamPartition
    offset: int
    value: bytes | None
    at_ms: int | None
    key: bytes | None
    headers: tuple[tuple[str, bytes | None], ...]


class JudgedRow(NamedTuple):
    """The records of a row's events, and the number of its events that were left out because of their jobs' names.

    `size` is the number of bytes in the bodies of all its events, including those that were left out.
    """

    records: list[LogRecord]
    filtered: int = 0
    size: int = 0


JudgeRow = Callable[[StreamRow], JudgedRow]
"""Judges a row. It runs in Spark's workers."""


class TakenRows(NamedTuple):
    """What was read and folded: the number of rows, the number of rows without a value, the number of bytes, and when the newest row was
    written to the stream. `filtered` is the number of events that were left out. The bytes are those of the rows or of the records in them,
    whichever is more, and include events that were left out.

    `is_cut`: the ranges have more bytes than can be folded at once, so nothing was folded. Plan fewer rows next time, in the ratio of
    `read` and `size`.
    """

    read: int
    skipped: int
    size: int
    newest_ms: int | None
    is_cut: bool = False
    filtered: int = 0


class StreamFeed(Protocol):
    """Reads, validates, archives, folds and commits the ranges that inputs of the form stream have planned.

    Raises SourceError if ranges cannot be read, UnavailableError if the call has to be repeated, and errors of the store, which end the
    pipeline.
    """

    parallelism: int
    """How many tasks run at once."""

    def positions(self, name: str) -> Mapping[StreamPartition, EventPosition]:
        """The position from which an input continues in each partition that it has begun."""

    def advance(self, name: str, positions: Mapping[StreamPartition, EventPosition]) -> None:
        """Durably store the position at which each partition is read next.

        Records before it were read, or need not be read, or can no longer be read.
        """

    def take(
        self, name: str, ranges: Sequence[StreamRange], read: SparkRead, judge: JudgeRow, still: Callable[[], bool]
    ) -> TakenRows | None:
        """Archive ranges, each of which begins at the archived end of its partition. Returns when the archive has them; the commit to the
        store may still be pending.

        After reading, `still` is called and returns whether the streams are the same as when the ranges were planned. If not, nothing is
        archived, and None is returned.
        """

    def finish(self, name: str) -> None:
        """Wait until everything that was taken in is committed."""

    def progress(self, name: str) -> InputProgress:
        """The counts of an input's events in the archive."""
