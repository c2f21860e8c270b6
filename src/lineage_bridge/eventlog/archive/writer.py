"""Writes the archive. Spark's workers write part files, and the pipeline, as the only writer, moves these into the archive."""

import os
import shutil
import uuid
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path
from typing import Final

from lineage_bridge.errors import PositionError
from lineage_bridge.eventlog.archive.files import (
    ArchivedFile,
    ArchivedPartition,
    files_in,
    join,
    make_folder,
    partitions_in,
    path_of,
    sync_folders,
)
from lineage_bridge.eventlog.archive.manifest import Manifest
from lineage_bridge.eventlog.record_format import encode_record
from lineage_bridge.graph.log_record import LogRecord

PARTS: Final = ".parts"
MANY: Final = 64
"""How many files of one level are merged into one file of the next level."""
LARGE_BYTES: Final = 64 << 20
"""Files of this size, in bytes, or larger are not merged."""


class PartFile:
    """A part file that a Spark worker writes in `folder`: records of one partition, in order. `close` makes it durable."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / uuid.uuid4().hex
        self._file = self.path.open("wb")

    def append(self, record: LogRecord) -> None:
        """Append a record to the part file. Raises OSError when the disk is full."""
        self._file.write(encode_record(record))

    def close(self) -> None:
        """Make the part file durable. Raises OSError."""
        with self._file:
            self._file.flush()
            os.fsync(self._file.fileno())


class ArchiveWriter:
    """The only writer of the archive in `root`. When it is created, unfinished files of earlier processes are removed."""

    def __init__(self, root: Path) -> None:
        self.root = root
        make_folder(root / PARTS, root.parent)
        self._files: dict[ArchivedPartition, list[ArchivedFile]] = {}
        self.clear()
        self._manifest = Manifest(root)
        self._adopt()

    def clear(self) -> None:
        """Remove part files that were never moved into the archive."""
        shutil.rmtree(self.root / PARTS)
        (self.root / PARTS).mkdir()

    @contextmanager
    def parts(self) -> Iterator[Path]:
        """Make a folder for the part files of one batch. It is removed at the end of the `with` block."""
        folder = self.root / PARTS / uuid.uuid4().hex
        folder.mkdir()
        try:
            yield folder
        finally:
            shutil.rmtree(folder, ignore_errors=True)

    def end(self, of: ArchivedPartition) -> int:
        """The address up to which a partition is archived."""
        files = self._known(of)
        return files[-1].end if files else 0

    def put(self, ranges: Mapping[ArchivedPartition, tuple[int, int]], parts: Mapping[ArchivedPartition, Sequence[Path]]) -> None:
        """Move the part files with the records of partitions in [start, end) into the archive, durably and in order.

        Raises PositionError, and changes nothing, if the archive already has records after `start`; OSError.
        """
        for of, (start, _) in ranges.items():
            if start < self.end(of):
                raise PositionError(
                    f"the archive of {of.source}, partition {of.partition}, ends at {self.end(of)}, after the start {start} of new records",
                    "restart the pipeline: it first folds what the archive has, then reads on",
                )
        for of, (start, end) in ranges.items():
            folder = of.folder(self.root)
            known = self._known(of)
            if not folder.exists():
                make_folder(folder, self.root)
            first = min(start, end)  # a partition whose folder was lost can be read again from an earlier position
            file = ArchivedFile(first, end, 0, path_of(folder, first, end))
            given = parts.get(of, ())
            if len(given) == 1:
                given[0].replace(file.path)
            else:
                join(given, file.path, self._scratch())
            known.append(file)
        sync_folders([of.folder(self.root) for of in ranges])
        self._manifest.add([(of.folder(self.root), self._known(of)[-1]) for of in ranges])
        for of in ranges:
            self._compact(of)

    def _known(self, of: ArchivedPartition) -> list[ArchivedFile]:
        if of not in self._files:
            self._files[of] = files_in(of.folder(self.root))
        return self._files[of]

    def _adopt(self) -> None:
        """Add the files that the manifest lacks, because a process was killed, or because an older version without manifests wrote them."""
        every = [(of.folder(self.root), file) for of in partitions_in(self.root) for file in files_in(of.folder(self.root))]
        if new := [(folder, file) for folder, file in every if self._manifest.find(folder, file) is None]:
            self._manifest.add(new, checked=False)

    def _scratch(self) -> Path:
        return self.root / PARTS / uuid.uuid4().hex

    def _compact(self, of: ArchivedPartition) -> None:
        """Merge the last files of a partition if many adjacent files of the same level are small."""
        files, folder = self._known(of), of.folder(self.root)
        while len(last := files[-MANY:]) == MANY and _are_joined(last):
            first, final, level = last[0], last[-1], last[0].level
            joined = path_of(folder, first.start, final.end, level + 1)
            join([file.path for file in last], joined, self._scratch())
            sync_folders([folder])
            files[-MANY:] = [ArchivedFile(first.start, final.end, level + 1, joined)]
            self._manifest.add([(folder, files[-1])])
            for file in last:
                file.path.unlink()


def _are_joined(files: Sequence[ArchivedFile]) -> bool:
    level = files[0].level
    adjacent = all(file.end == following.start for file, following in pairwise(files))
    return adjacent and level < 9 and all(file.level == level for file in files) and sum(file.size for file in files) < LARGE_BYTES
