"""The interfaces of the event log: for appending to it, and for reading records back."""

from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import Future
from typing import Protocol, TypeAlias

from lineage_bridge.graph.log_record import LogRecord, RecordAddress, StoredRecord

LOG_SOURCE = "log"
"""The source of the embedded event log's records, which all have partition 0."""


Written: TypeAlias = "Future[list[int]] | Future[list[RecordAddress]]"
"""The positions of appended records, in their order, once they are durable: offsets of the embedded log, or addresses in a topic."""


class EventLog(Protocol):
    """Appends records durably."""

    def submit(self, records: Sequence[LogRecord]) -> Written:
        """Append records.

        Raises UnavailableError under overload; the future fails with LogError, or UnavailableError.
        """

    def end(self) -> int:
        """The durable end: the offset after the last durable record."""


class OffsetLog(EventLog, Protocol):
    """The event log on disk, in which each record has an offset."""

    def submit(self, records: Sequence[LogRecord]) -> "Future[list[int]]":
        """Append records. The future gives their offsets. Raises the errors of EventLog."""


class RecordReader(Protocol):
    """Reads durable records back."""

    def durable_end(self) -> int:
        """The end of the last durable record of the log; 0 when the log is empty."""

    def record_at(self, address: RecordAddress) -> LogRecord:
        """The record at an address. Raises OffsetError if there is none, RecordError if it is damaged."""

    def size_between(self, start: int, end: int) -> int:
        """The size in bytes of the records in [start, end), which is how far a consumer lags. Raises OffsetError."""

    def archived_behind(self, applied: Mapping[tuple[str, int], int]) -> int:
        """The size in bytes of the archived records after the positions of sources and partitions; 0 without an archive."""


class RangeReader(Protocol):
    """Reads the records in offset ranges."""

    def __call__(self, source: str, partition: int, start: int, end: int) -> Iterator[StoredRecord]:
        """Read the records of a partition from offset `start` up to, but not including, `end`."""


class ExpiredRecords(Protocol):
    """Learns which records nothing needs any more, in step with the transactions that remove from the graph what these records said."""

    def newest(self) -> int:
        """The greatest number of a transaction that is known; 0 without one."""

    def prepare(self, number: int, records: Sequence[RecordAddress]) -> None:
        """Write down durably which records nothing needs once the transaction with this number is committed. Raises OSError."""

    def commit(self, number: int) -> None:
        """State that the transaction with this number is committed. Raises OSError."""

    def recover(self, committed: int) -> None:
        """After a crash: commit what was prepared up to the last number that was committed, and drop the rest. Raises OSError."""
