"""Counts the events of an input in the archive. The saved counts cover the records up to the saved addresses; later records are counted
from the files.
"""

import os
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Protocol

import msgspec

from lineage_bridge.eventlog.archive.files import ArchivedPartition, quoted
from lineage_bridge.eventlog.archive.reader import ArchiveReader
from lineage_bridge.graph.log_record import RecordKind, read_note
from lineage_bridge.graph.record_origin import RecordOrigin, read_origin
from lineage_bridge.model.sources import InputProgress

NAME = "progress.json"


class RecordCounts(Protocol):
    """The number of events, by outcome, in records that were added."""

    accepted: int
    rejected: dict[str, int]
    last: RecordOrigin | None
    last_us: int


class _SavedCounts(msgspec.Struct):
    progress: InputProgress
    ends: dict[str, int]


_DECODER = msgspec.json.Decoder(_SavedCounts)


class SavedProgress:
    """The counts of an input, kept in its folder of the archive."""

    def __init__(self, archive: ArchiveReader, name: str) -> None:
        self.path = archive.root / quoted(name) / NAME
        saved = _read(self.path) or _SavedCounts(InputProgress(), {})
        self.progress, self.ends, self.is_saved = saved.progress, saved.ends, True
        for of in archive.partitions():
            if of.input == name:
                self._count_files(archive, of)

    def count(self, parts: Sequence[RecordCounts], ranges: Mapping[ArchivedPartition, tuple[int, int]]) -> None:
        """Count added records."""
        for part in parts:
            rejected = dict(self.progress.rejected)
            for code, number in part.rejected.items():
                rejected[code] = rejected.get(code, 0) + number
            last, last_us = (part.last, part.last_us) if part.last else (self.progress.last, self.progress.last_us)
            self.progress = InputProgress(self.progress.accepted + part.accepted, rejected, last, last_us)
        for of, (_, end) in ranges.items():
            self.ends[_key(of)] = end
        self.is_saved = False

    def save(self) -> None:
        """Save the counts, if they have changed. If saving fails, the counts are computed again later."""
        if self.is_saved:
            return
        fresh = self.path.with_name(f"{NAME}.{os.getpid()}.new")
        with suppress(OSError):
            fresh.write_bytes(msgspec.json.encode(_SavedCounts(self.progress, self.ends)))
            fresh.replace(self.path)
            self.is_saved = True

    def _count_files(self, archive: ArchiveReader, of: ArchivedPartition) -> None:
        """Count the records of files after the saved addresses."""
        end, at = archive.end(of.source, of.partition), self.ends.get(_key(of), 0)
        for stored in archive.read(of.source, of.partition, at, end) if at < end else ():
            record, found = stored.record, _Count()
            if record.kind != RecordKind.REJECTED:
                found.accepted = 1
            else:
                found.rejected = {read_note(record.note).code: 1}
            found.last, found.last_us = read_origin(record.note), record.arrival_us
            self.count([found], {})
        if at < end:
            self.count([], {of: (at, end)})


class _Count(msgspec.Struct):
    accepted: int = 0
    rejected: dict[str, int] = {}
    last: RecordOrigin | None = None
    last_us: int = 0


def _key(of: ArchivedPartition) -> str:
    return f"{of.source}/{of.partition}"


def _read(path: Path) -> _SavedCounts | None:
    try:
        return _DECODER.decode(path.read_bytes())
    except (OSError, msgspec.DecodeError):
        return None


def saved_progress(root: Path, name: str) -> InputProgress | None:
    """Read the saved counts of an input; None if the input was never read with the form `stream`."""
    saved = _read(root / quoted(name) / NAME)
    return saved.progress if saved else None


def added(first: InputProgress | None, other: InputProgress | None) -> InputProgress | None:
    """Add up the counts of an input that was read in both forms: its events in the log (form `embedded`), and those in the archive (form
    `stream`).
    """
    if first is None or other is None:
        return first or other
    rejected = {code: first.rejected.get(code, 0) + other.rejected.get(code, 0) for code in {**first.rejected, **other.rejected}}
    latest = max(first, other, key=lambda progress: progress.last_us or 0)
    return InputProgress(first.accepted + other.accepted, rejected, latest.last, latest.last_us)
