"""The interfaces of inputs: their stored state, users' operations on them, and the log to which their events are appended."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, Protocol

import msgspec

from lineage_bridge.graph.log_record import LogRecord
from lineage_bridge.graph.record_origin import EventPosition, StreamPartition
from lineage_bridge.model.sources import InputRecord, InputStatus, KindRecord, SourceCheck
from lineage_bridge.openlineage.event import Event
from lineage_bridge.openlineage.verdict import Rejected


class PartitionPosition(NamedTuple):
    """The position in a partition: the next event to read."""

    where: StreamPartition
    at: EventPosition


class FilePosition(NamedTuple):
    """The position in a file: the next event to read.

    `mark` is the version of the file when everything in it had been read, to detect later changes; empty if unknown.
    """

    where: StreamPartition
    at: EventPosition
    mark: str = ""


class InputPositions(msgspec.Struct, frozen=True):
    """The positions from which to continue reading an input.

    `opened`: the input was opened before, so a partition without a position is new. `session` identifies the API process that answers;
    later requests must name it. `files` only has the files that the request named.
    """

    session: str
    opened: bool
    partitions: list[PartitionPosition]
    files: list[FilePosition] = []


class InputStart(msgspec.Struct, frozen=True):
    """The first positions of partitions that have none yet. After them, the input counts as opened."""

    session: str
    partitions: list[PartitionPosition]


class InputBatch(msgspec.Struct, frozen=True):
    """Records to append, in the order of their positions in each partition, and the positions up to which everything was read.

    `files` are files that were read completely.
    """

    session: str
    records: list[LogRecord]
    ends: list[PartitionPosition]
    files: list[FilePosition] = []


class _PackedBatch(msgspec.Struct, frozen=True):
    """A batch as it is sent: positions are JSON, because MessagePack has no integers of more than 64 bits."""

    session: str
    records: list[LogRecord]
    ends: bytes
    files: bytes


_PACKED = msgspec.msgpack.Decoder(_PackedBatch)
_POSITIONS = msgspec.json.Decoder(list[PartitionPosition])
_FILES = msgspec.json.Decoder(list[FilePosition])


def pack_batch(batch: InputBatch) -> bytes:
    """Encode a batch as bytes."""
    ends, files = msgspec.json.encode(batch.ends), msgspec.json.encode(batch.files)
    return msgspec.msgpack.encode(_PackedBatch(batch.session, batch.records, ends, files))


def unpack_batch(body: bytes) -> InputBatch:
    """Decode a batch that `pack_batch` encoded. Raises msgspec.DecodeError."""
    packed = _PACKED.decode(body)
    return InputBatch(packed.session, packed.records, _POSITIONS.decode(packed.ends), _FILES.decode(packed.files))


class InputsReport(msgspec.Struct, frozen=True):
    """The report that the process that reads inputs writes about every second."""

    pid: int
    beat_us: int
    inputs: dict[str, InputStatus]


class InputRepository(Protocol):
    """Stores inputs. Safe for many processes and threads at once."""

    def added(self) -> dict[str, tuple[str, dict[str, Any]]]:
        """The kind and settings of each input that users added, by name."""

    def save(self, name: str, kind: str, settings: Mapping[str, Any]) -> None:
        """Add an input, or replace its settings."""

    def remove(self, name: str) -> None:
        """Delete an input that a user added. Its positions stay."""

    def paused(self) -> frozenset[str]:
        """The names of the paused inputs."""

    def pause(self, name: str, *, paused: bool) -> None:
        """Pause or resume an input."""

    def ledgers(self) -> dict[str, bytes]:
        """The last saved positions and counts of each input, by name."""

    def save_ledger(self, name: str, ledger: bytes, files: Sequence[FilePosition] = (), *, replaces: bool = False) -> None:
        """Save positions and counts of an input, and the positions of files that have changed. With `replaces`, the positions of all other
        files are deleted.
        """

    def file_positions(self, name: str, keys: Sequence[str]) -> list[FilePosition]:
        """The saved positions of files with these keys, at most one for each key."""

    def save_files(self, name: str, files: Sequence[FilePosition], *, replaces: bool) -> None:
        """Save only the positions of files, in the way of `save_ledger`."""


class InputService(Protocol):
    """Users' operations on inputs. Raises NotFoundError for an unknown input, ConfigError and RequestError for invalid requests."""

    def kinds(self) -> list[KindRecord]:
        """The kinds of inputs."""

    def records(self) -> list[InputRecord]:
        """All inputs, by name."""

    def record(self, name: str) -> InputRecord:
        """The input with this name."""

    def check(self, name: str) -> None:
        """Check that there is an input with this name. Raises NotFoundError otherwise."""

    def add(self, name: str, kind: str, settings: Mapping[str, Any], *, replace: bool) -> InputRecord:
        """Add an input."""

    def remove(self, name: str) -> None:
        """Remove an input. The events that it has read stay."""

    def pause(self, name: str, *, paused: bool) -> InputRecord:
        """Pause or resume an input."""

    def test(self, name: str) -> list[SourceCheck]:
        """Try each step of reading an input, without ingesting an event."""

    def left_out(self, name: str, event: Event) -> Rejected | None:
        """The reason why an input does not accept an event, according to its present setting `jobs`; None if it accepts it, or if
        there is no such input.
        """

    def events_in(self, value: bytes) -> Sequence[bytes]:
        """Split the value of a record into events, in the way in which inputs now read values. If that is not possible, return the value
        itself.
        """

    def problem(self, records: Sequence[InputRecord]) -> str:
        """The reason why these inputs are not read; empty if they are."""


class InputLog(Protocol):
    """Appends records of inputs to the log, each once."""

    def positions(self, name: str, files: Sequence[str] = ()) -> InputPositions:
        """The positions from which an input continues; with keys of files, only the positions in those files."""

    def begin(self, name: str, start: InputStart) -> None:
        """Store the first positions of partitions that have none yet."""

    def append(self, name: str, batch: InputBatch) -> None:
        """Append the records that the log does not have yet, and wait until they are durable."""
