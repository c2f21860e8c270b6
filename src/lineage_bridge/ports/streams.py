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

    The columns are stream, partition (text), offset, value, at_ms (UTC milliseconds, or NULL), key, and headers (key and value), as those
    of IncomingRecord.
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

    `size` is the bytes of the bodies of all its events, also of those that were left out.
    """

    records: list[LogRecord]
    filtered: int = 0
    size: int = 0


JudgeRow = Callable[[StreamRow], JudgedRow]
"""Judges a row. It runs in Spark's workers."""


class TakenRows(NamedTuple):
    """What was read and folded: the number of rows, of rows without a value, and of their bytes, and when the newest row was written to
    the stream. `filtered` events were left out. The bytes are those of the rows or of the records in them, whichever is more, also of
    what was left out.

    `is_cut`: the ranges hold more bytes than are taken in at once. Then nothing was taken in: plan fewer rows, as `read` and `size`
    suggest.
    """

    read: int
    skipped: int
    size: int
    newest_ms: int | None
    is_cut: bool = False
    filtered: int = 0


class StreamFeed(Protocol):
    """Reads, validates, archives, folds and commits the ranges that inputs of the form stream have planned.

    Raises SourceError when ranges cannot be read, UnavailableError when it has to be tried again, and errors of the store, which end
    the pipeline.
    """

    parallelism: int
    """How many tasks run at once."""

    def positions(self, name: str) -> Mapping[StreamPartition, EventPosition]:
        """The position from which an input continues in each partition that it has begun."""

    def advance(self, name: str, positions: Mapping[StreamPartition, EventPosition]) -> None:
        """Durably store the position at which each partition is read next.

        Everything before it was read, is not wanted, or can no longer be read.
        """

    def take(
        self, name: str, ranges: Sequence[StreamRange], read: SparkRead, judge: JudgeRow, still: Callable[[], bool]
    ) -> TakenRows | None:
        """Archive ranges, each from the archived end of its partition. Returns when the archive has them; the commit may be pending.

        After reading, `still` says whether the streams are the same as when the ranges were planned. If not, nothing is archived, and None
        is returned.
        """

    def finish(self, name: str) -> None:
        """Wait until everything that was taken in is committed."""

    def progress(self, name: str) -> InputProgress:
        """The counts of an input's events in the archive."""
