"""The open segment at the end of the log, to which records are appended."""

import errno
import os
from collections.abc import Sequence
from pathlib import Path

from lineage_bridge.errors import LogError
from lineage_bridge.eventlog.disk import Disk, is_linked, write_all
from lineage_bridge.eventlog.mark import DurableMark
from lineage_bridge.eventlog.recovery import Recovery
from lineage_bridge.eventlog.segment import (
    HEADER_BYTES,
    MAX_SEGMENT,
    SegmentHeader,
    byte_of,
    encode_header,
    make_offset,
    segment_of,
    segment_path,
)


class Tail:
    """Appends to the open segment. Not thread-safe; the caller holds the folder's lock. Everything before `end` is durable and readable.

    Continues at the end that recovery found. If that end is lower than `floor`, or lower than what readers could see before, it continues
    in a new segment beyond these positions, so that no offset is used twice.
    """

    def __init__(self, directory: Path, found: Recovery, *, floor: int, segment_bytes: int, disk: Disk, mark: DurableMark) -> None:
        self._directory = directory
        self._segment_bytes = segment_bytes
        self._disk = disk
        self._mark = mark
        self._number = found.number
        self._byte = found.byte
        self.end = found.end
        issued = max(floor, found.published)
        self._must_roll = not found.is_open or make_offset(found.number, found.byte) < issued
        self._next_number = max(found.number, segment_of(issued) if self._must_roll else 0) + 1
        self._path = segment_path(directory, found.number)
        self._fd = disk.open(self._path) if found.is_open else -1
        if make_offset(found.number, found.byte) < issued:
            # The log once reached further. The next header records how far, so that the missing part can be recognised later.
            self._number, self._byte = segment_of(issued), byte_of(issued)

    def append(self, pieces: Sequence[bytes], size: int) -> int:
        """Write `size` bytes of complete records durably, let readers see them, and return the offset of the first.

        After an OSError, none of the records is in the log, and a later call can succeed. All records go to one segment: a new one if the
        open segment would become too large.
        """
        if self._must_roll or self._byte + size > max(self._segment_bytes, HEADER_BYTES + size) or not is_linked(self._fd, self._path):
            self._roll()
        self._write_records(pieces)
        end = make_offset(self._number, self._byte + size)
        self._make_durable(end)
        start = make_offset(self._number, self._byte)
        self._byte += size
        self.end = end
        return start

    def heal(self) -> None:
        """Write the durable mark again if its file was damaged or deleted. Raises OSError."""
        self._mark.heal(self.end)

    def close(self) -> None:
        """Close the segment's file."""
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1

    def _write_records(self, pieces: Sequence[bytes]) -> None:
        try:
            write_all(self._disk, self._fd, pieces, self._byte)
        except OSError:
            self._must_roll = not self._cut_back()
            raise

    def _make_durable(self, end: int) -> None:
        try:
            self._disk.sync(self._fd)
            self._mark.publish(end)
            if not is_linked(self._fd, self._path):
                raise FileNotFoundError(errno.ENOENT, "the segment was deleted while records were written to it", str(self._path))
        except OSError:
            # The kernel counts pages whose sync failed as clean: a second sync would succeed without writing them.
            self._cut_back()
            self._must_roll = True
            raise

    def _cut_back(self) -> bool:
        try:
            self._disk.truncate(self._fd, self._byte)
        except OSError:
            return False
        return True

    def _roll(self) -> None:
        """Open the next segment. Once this was tried, the old segment is no longer written, because the new header states where the old
        segment ends.
        """
        self._must_roll = True
        if self._next_number > MAX_SEGMENT:
            raise LogError(f"the log in {self._directory} has no segment numbers left above {self._next_number - 1}")
        path = segment_path(self._directory, self._next_number)
        fd = self._disk.create(path)
        try:
            header = encode_header(SegmentHeader(self._next_number, self._number, self._byte))
            write_all(self._disk, fd, [header], 0)
            self._disk.sync(fd)
            self._disk.sync_directory(self._directory)
        except OSError:
            os.close(fd)
            raise
        self.close()
        self._fd, self._path, self._number, self._byte = fd, path, self._next_number, HEADER_BYTES
        self._next_number += 1
        self._must_roll = False
