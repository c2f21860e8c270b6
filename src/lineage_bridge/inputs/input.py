"""The interface of an input, which reads records of streams, starting at given positions. It knows nothing of events and of the log."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, NamedTuple, TypeVar

from lineage_bridge.errors import LineageBridgeError
from lineage_bridge.graph.record_origin import EventPosition, StreamPartition
from lineage_bridge.inputs.settings import InputSettings
from lineage_bridge.model.sources import SourceCheck
from lineage_bridge.ports.inputs import FilePosition
from lineage_bridge.ports.streams import SparkRead, StreamRange


class IncomingRecord(NamedTuple):
    """A record of a stream; `at_ms` is when it was written to the stream, in UTC milliseconds. Records without a value contain no event.

    Each record within an aggregated record is an IncomingRecord of its own; `part` is its number, from 0 on. If `is_whole` is false, more
    parts may follow, and the position after this record is that of the next part. `mark` is stored with the position after a record of a
    file. `refused` is the reason why a damaged record contains no event.
    """

    where: StreamPartition
    offset: int
    value: bytes | None
    at_ms: int | None = None
    key: bytes | None = None
    headers: tuple[tuple[str, bytes | None], ...] = ()
    part: int | None = None
    is_whole: bool = True
    mark: str = ""
    refused: str = ""

    @property
    def end(self) -> int:
        """The offset before which everything has been read after this record."""
        return self.offset + 1 if self.is_whole else self.offset


class ReadingState(NamedTuple):
    """The state of an input: the partitions that it reads, the number of records after the last acknowledged one (None: unknown), the
    number of records that were deleted before they were read, the problems that affect only a part of the input, the lag in seconds, if the
    stream reports one, and, for inputs that read files, the files and bytes that are not read yet.
    """

    partitions: int = 0
    lag_records: int | None = None
    lost: int = 0
    problems: tuple[str, ...] = ()
    lag_s: float | None = None
    lag_files: int | None = None
    lag_bytes: int | None = None


def as_position(at: int | EventPosition) -> EventPosition:
    """The position of the first event in the record at this offset; a position is returned unchanged."""
    return EventPosition(at, 0) if isinstance(at, int) else at


class Positions(ABC):
    """The positions from which an input continues in each partition. All records before them are in the log."""

    is_new: bool
    """Whether the input is opened for the first time. The input's settings then decide where reading begins."""

    @abstractmethod
    def next_position(self, where: StreamPartition) -> EventPosition | None:
        """The first position that the log does not have; None for a new partition."""

    def next_offset(self, where: StreamPartition) -> int | None:
        """The offset of the first record to read; None for a new partition."""
        position = self.next_position(where)
        return None if position is None else position.offset

    @abstractmethod
    def lives(self, stream: str, partition: str) -> list[str]:
        """The lives of a stream in which this partition has a position."""

    @abstractmethod
    def begin(self, starts: Mapping[StreamPartition, int | EventPosition]) -> None:
        """Store durably where reading of new partitions begins: an offset or a position. Raises UnavailableError, GoneError."""

    def files(self, keys: Sequence[str]) -> list[FilePosition]:
        """The positions of files with these keys in the log. Raises UnavailableError, GoneError."""
        raise NotImplementedError(f"internal error: an input that reads no files was asked for positions in files: {keys}")

    def note(self, files: Sequence[FilePosition]) -> None:
        """Store durably the versions of files that were read completely. Raises the errors of `begin`."""
        raise NotImplementedError(f"internal error: an input that reads no files was to store positions in files: {files}")

    @abstractmethod
    def skip(self, ends: Mapping[StreamPartition, int | EventPosition]) -> None:
        """Store durably that records before these offsets or positions are skipped. Raises the errors of `begin`."""


SettingsT = TypeVar("SettingsT", bound=InputSettings)


class Input(ABC, Generic[SettingsT]):
    """A configured input. `name` is the name that the user gave it, `installation` the id of this installation.

    One thread uses it at a time. Creating one does no input or output. Methods raise SourceError and ConfigError; the input is then
    closed, and opened again later.
    """

    def __init__(self, name: str, settings: SettingsT, installation: str = "") -> None:
        self.name, self.settings, self.installation = name, settings, installation

    @abstractmethod
    def test(self, judge: Callable[[IncomingRecord], str]) -> Iterator[SourceCheck]:
        """Try each step of reading, and report how it went. After a failed step, the others are still tried where that is useful.
        Nothing is acknowledged.

        `judge` returns the verdict on a record in words, and raises RequestError if it would be rejected.
        """

    @abstractmethod
    def open(self, positions: Positions) -> None:
        """Connect to the stream. May be called again after `close`."""

    @abstractmethod
    def read(self, most: int) -> Sequence[IncomingRecord]:
        """The next records, in the order of their offsets in each partition; waits for the first at most `poll_s` seconds."""

    @abstractmethod
    def acknowledge(self, ends: Mapping[StreamPartition, int]) -> None:
        """Record that the log has everything before these offsets. An input may commit them to the stream, but only as a copy for the
        stream's own tools.
        """

    @abstractmethod
    def keep_alive(self) -> None:
        """Called about every second while the log accepts no records."""

    @abstractmethod
    def reading_state(self) -> ReadingState:
        """The current state. It is requested about every second, so this must do no input or output."""

    @abstractmethod
    def close(self) -> None:
        """Close all connections. Does not raise."""


class StreamInput(ABC, Generic[SettingsT]):
    """An input of the form `stream`, which Spark reads without writing to the log; attributes and errors are those of Input.

    One thread uses it at a time.
    """

    def __init__(self, name: str, settings: SettingsT, installation: str = "") -> None:
        self.name, self.settings, self.installation = name, settings, installation

    @abstractmethod
    def open(self, positions: Positions) -> None:
        """Connect to the stream. May be called again after `close`."""

    @abstractmethod
    def plan(self, most: int) -> Sequence[StreamRange]:
        """The next ranges to read, with about the given number of records in total at most; none if no record waits."""

    @abstractmethod
    def is_same(self, ranges: Sequence[StreamRange]) -> bool:
        """Whether the streams are still the ones for which the ranges were planned (and not others of the same name). Called after the
        ranges were read.
        """

    @abstractmethod
    def read(self, ranges: Sequence[StreamRange], parallelism: int) -> SparkRead:
        """Describe how Spark reads these ranges, in about the given number of tasks."""

    @abstractmethod
    def taken(self, ranges: Sequence[StreamRange]) -> None:
        """Continue after these ranges, because the archive has their records."""

    @abstractmethod
    def postpone(self, given: StreamRange, error: LineageBridgeError) -> None:
        """A range cannot be read: leave out its partition for a while, and report the problem in the state."""

    @abstractmethod
    def reading_state(self) -> ReadingState:
        """The current state; does no input or output."""

    @abstractmethod
    def close(self) -> None:
        """Close all connections. Does not raise."""


@dataclass(frozen=True)
class InputKind:
    """A kind of input: its settings, how to create it, and one line that describes it in lists.

    `channel` is the channel of its log records. `stream` creates the input in the form that Spark reads, if the kind has this form.
    """

    settings: type[InputSettings]
    make: Callable[[str, Any, str], Input[Any]]
    summary: str
    channel: str
    stream: Callable[[str, Any, str], StreamInput[Any]] | None = None
