"""Reads records that were appended to known files, and the records of new files."""

import time
from abc import abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final, Generic, TypeVar

from lineage_bridge.errors import SourceError
from lineage_bridge.graph.record_origin import StreamPartition
from lineage_bridge.inputs.files.checks import checks
from lineage_bridge.inputs.files.listing import FileListing, Task
from lineage_bridge.inputs.files.open_file import OpenFile
from lineage_bridge.inputs.files.settings import FilesSettings
from lineage_bridge.inputs.files.store import FileStore
from lineage_bridge.inputs.input import IncomingRecord, Input, Positions, ReadingState
from lineage_bridge.model.sources import SourceCheck
from lineage_bridge.ports.inputs import FilePosition

READ_BYTES: Final = 16 << 20
"""The maximum bytes of values that one read returns, unless it returns a single value."""
MOST_NOTES: Final = 500
FilesSettingsT = TypeVar("FilesSettingsT", bound=FilesSettings)


class FilesInput(Input[FilesSettingsT], Generic[FilesSettingsT]):
    """Reads files one after the other. The log supplies the position of each changed file."""

    _listing: FileListing | None = None

    @abstractmethod
    def store(self) -> FileStore:
        """Make the store of the files. Does no input or output. Raises SourceError, ConfigError."""

    def test(self, judge: Callable[[IncomingRecord], str]) -> Iterator[SourceCheck]:
        """Check the store, list its files, and read and validate a record."""
        return checks(self.store(), judge)

    def open(self, positions: Positions) -> None:
        """Check the location of the files."""
        self._positions = positions
        self._store = self.store()
        self._store.check()
        self._listing = FileListing(self._store, positions)
        self._current: OpenFile | None = None
        self._notes: list[FilePosition] = []
        if positions.is_new:
            positions.begin({})

    def read(self, most: int) -> Sequence[IncomingRecord]:
        """Read the next records of the files."""
        listing = self._open_listing()
        until = time.monotonic() + self.settings.poll_s
        while True:
            records = [*self._records(listing, most, until)]
            now = time.monotonic()
            if records or now >= until:
                return records
            time.sleep(max(0.0, min(until, listing.due_at) - now))

    def _records(self, listing: FileListing, most: int, until: float) -> Iterator[IncomingRecord]:
        """Yield the records of the open file, then of the files that wait to be read."""
        size = count = 0
        while count < most and size < READ_BYTES:
            record = self._next(listing, until)
            if record is None:
                break
            count, size = count + 1, size + len(record.value or b"")
            yield record

    def _next(self, listing: FileListing, until: float) -> IncomingRecord | None:
        """The next record; None if there is none at the moment, or none was found in time."""
        while True:
            if self._current is not None:
                record = self._read_on(listing, self._current)
                if record is not None:
                    return record
                self._current.close()
                self._current = None
            task = listing.next() if time.monotonic() < until else None
            if task is None:
                self._store_notes()
                return None
            self._current = self._opened(listing, task)

    def _opened(self, listing: FileListing, task: Task) -> OpenFile | None:
        try:
            return OpenFile(self._store, task)
        except FileNotFoundError:
            listing.missed(task)
        except OSError as error:
            listing.failed(task, error)
        return None

    def _read_on(self, listing: FileListing, opened: OpenFile) -> IncomingRecord | None:
        try:
            record = opened.next()
        except OSError as error:
            listing.failed(opened.task, error)
            return None
        if record is None:
            note = listing.finished(opened)
            if note is not None:
                self._notes.append(note)
                if len(self._notes) >= MOST_NOTES:
                    self._store_notes()
        return record

    def _store_notes(self) -> None:
        """Store which files were read completely and had no new records."""
        notes, self._notes = self._notes, []
        if notes:
            self._positions.note(notes)

    def acknowledge(self, ends: Mapping[StreamPartition, int]) -> None:
        """Does nothing: only the log keeps positions."""

    def keep_alive(self) -> None:
        """Does nothing: files need no heartbeat."""

    def reading_state(self) -> ReadingState:
        """The state of reading, with the files and bytes that wait to be read."""
        listing = self._open_listing()
        if not listing.is_known:
            return ReadingState()
        files, size = listing.waiting
        if self._current is not None:
            files += 1
            size += self._current.bytes_left
        lag_records = None if files else 0
        return ReadingState(partitions=1, lag_records=lag_records, problems=listing.problems, lag_files=files, lag_bytes=size)

    def close(self) -> None:
        """Close the file that is open."""
        current, self._current = self._current if self._listing else None, None
        self._listing = None
        if current is not None:
            current.close()

    def _open_listing(self) -> FileListing:
        if self._listing is None:
            raise SourceError(f"internal error: input {self.name} was read before it was opened", "please report this")
        return self._listing
