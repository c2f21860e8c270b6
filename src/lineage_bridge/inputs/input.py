"""The interface of an input: it reads records of streams from given positions on, and knows nothing of events or of the log."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, NamedTuple, TypeVar

from lineage_bridge.errors import LineageBridgeError
from lineage_bridge.graph.record_origin import EventPlace, StreamPartition
from lineage_bridge.inputs.settings import InputSettings
from lineage_bridge.model.sources import SourceCheck
from lineage_bridge.ports.inputs import FilePlace
from lineage_bridge.ports.streams import SparkRead, StreamRange


class IncomingRecord(NamedTuple):
    """A record of a stream; `at_ms` is when the stream got it, in UTC milliseconds. Records without a value hold no event.

    Of a record that was put together from several, each is one of these: number `part`, from 0 on. With `is_whole` unset, there may be more
    of them, and the end of what was read is before the next part. `mark` is what is to be stored with the place behind a record of a file,
    `refused` why what is damaged holds no event.
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
        """The offset before which everything was read once this record was."""
        return self.offset + 1 if self.is_whole else self.offset


class ReadingState(NamedTuple):
    """How an input stands: partitions that it reads, records behind what was acknowledged (None: unknown), records that were deleted
    before they were read, what does not work while the rest does, how many seconds reading is behind, if the stream says that, and files
    and bytes that are still to be read, where there are files.
    """

    partitions: int = 0
    lag_records: int | None = None
    lost: int = 0
    problems: tuple[str, ...] = ()
    lag_s: float | None = None
    lag_files: int | None = None
    lag_bytes: int | None = None


def place_of(at: int | EventPlace) -> EventPlace:
    """The place of a record with this offset, before its first event."""
    return EventPlace(at, 0) if isinstance(at, int) else at


class Positions(ABC):
    """Where an input has to read on in each partition. What is behind them is in the log; they are the only truth about that."""

    is_new: bool
    """Whether the input is opened for the first time. Its settings then decide where it begins."""

    @abstractmethod
    def next_place(self, where: StreamPartition) -> EventPlace | None:
        """The first place that the log does not have; None for a new partition."""

    def next_offset(self, where: StreamPartition) -> int | None:
        """The offset of the first record to read; None for a new partition."""
        place = self.next_place(where)
        return None if place is None else place.offset

    @abstractmethod
    def lives(self, stream: str, partition: str) -> list[str]:
        """The lives of a stream in which this partition has a position."""

    @abstractmethod
    def begin(self, starts: Mapping[StreamPartition, int | EventPlace]) -> None:
        """Store durably where new partitions begin: the offset, or the place. Raises UnavailableError, GoneError."""

    def files(self, keys: Sequence[str]) -> list[FilePlace]:
        """What the log has of files with these keys. Raises UnavailableError, GoneError."""
        raise NotImplementedError(f"the positions of this input are not positions in files: {keys}")

    def note(self, files: Sequence[FilePlace]) -> None:
        """Store durably how files were when everything in them was read. Raises as `begin` does."""
        raise NotImplementedError(f"the positions of this input are not positions in files: {files}")

    @abstractmethod
    def skip(self, ends: Mapping[StreamPartition, int | EventPlace]) -> None:
        """Store durably that what is before these offsets or places is not to be read any more. Raises as `begin` does."""


SettingsT = TypeVar("SettingsT", bound=InputSettings)


class Input(ABC, Generic[SettingsT]):
    """A configured input; `name` is the name its user gave it, `installation` tells this installation from others.

    One thread uses it at a time. Creating one does no I/O. Methods raise SourceError and ConfigError; the input is then closed, and opened
    again later.
    """

    def __init__(self, name: str, settings: SettingsT, installation: str = "") -> None:
        self.name, self.settings, self.installation = name, settings, installation

    @abstractmethod
    def test(self, judge: Callable[[IncomingRecord], str]) -> Iterator[SourceCheck]:
        """Try each step of reading, and continue after a failed step as far as that makes sense. Nothing is acknowledged.

        `judge` says what would become of a record; it raises RequestError if that would be rejected.
        """

    @abstractmethod
    def open(self, positions: Positions) -> None:
        """Connect. May be called again after `close`."""

    @abstractmethod
    def read(self, most: int) -> Sequence[IncomingRecord]:
        """The next records, in the order of their offsets in each partition; waits for the first at most `poll_s` seconds."""

    @abstractmethod
    def acknowledge(self, ends: Mapping[StreamPartition, int]) -> None:
        """The log has everything before these offsets. What the stream's own tools show of it is only a copy."""

    @abstractmethod
    def keep_alive(self) -> None:
        """Called about every second while the log takes nothing."""

    @abstractmethod
    def reading_state(self) -> ReadingState:
        """How it stands now. Called about every second; no I/O."""

    @abstractmethod
    def close(self) -> None:
        """Close connections. Does not raise."""


class StreamInput(ABC, Generic[SettingsT]):
    """An input that Spark reads, in the stream, beside the log; attributes and errors are those of Input.

    One thread uses it at a time.
    """

    def __init__(self, name: str, settings: SettingsT, installation: str = "") -> None:
        self.name, self.settings, self.installation = name, settings, installation

    @abstractmethod
    def open(self, positions: Positions) -> None:
        """Connect. May be called again after `close`."""

    @abstractmethod
    def plan(self, most: int) -> Sequence[StreamRange]:
        """The next ranges to read, with at most about so many records together; none if nothing waits."""

    @abstractmethod
    def is_same(self, ranges: Sequence[StreamRange]) -> bool:
        """Whether the streams are still those that the ranges were planned for; asked when they have been read."""

    @abstractmethod
    def read(self, ranges: Sequence[StreamRange], parallelism: int) -> SparkRead:
        """How Spark reads ranges, in about so many tasks."""

    @abstractmethod
    def taken(self, ranges: Sequence[StreamRange]) -> None:
        """The archive has these ranges: go on behind them."""

    @abstractmethod
    def set_back(self, given: StreamRange, error: LineageBridgeError) -> None:
        """A range cannot be read by itself: leave its partition out for a while, and say so in the state."""

    @abstractmethod
    def reading_state(self) -> ReadingState:
        """How it stands now; no I/O."""

    @abstractmethod
    def close(self) -> None:
        """Close connections. Does not raise."""


@dataclass(frozen=True)
class InputKind:
    """A kind of input: its settings, how to create it, and one line that describes it in lists.

    `channel` is that of its records. `stream` creates the form that Spark reads, if the kind has one.
    """

    settings: type[InputSettings]
    make: Callable[[str, Any, str], Input[Any]]
    summary: str
    channel: str
    stream: Callable[[str, Any, str], StreamInput[Any]] | None = None
