"""Writes the archive: workers write parts, the pipeline, which alone does, puts them in their places."""

import os
import shutil
import uuid
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path
from typing import Final

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
    """A part that a worker writes: the records of one partition, in order, in `folder`. `close` makes it durable."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / uuid.uuid4().hex
        self._file = self.path.open("wb")

    def append(self, record: LogRecord) -> None:
        """Add a record. Raises OSError when the disk is full."""
        self._file.write(encode_record(record))

    def close(self) -> None:
        """Make it durable. Raises OSError."""
        with self._file:
            self._file.flush()
            os.fsync(self._file.fileno())


class ArchiveWriter:
    """The archive in `root`, for the one process that writes it. What others left unfinished is removed."""

    def __init__(self, root: Path) -> None:
        self.root = root
        make_folder(root / PARTS, root.parent)
        self._files: dict[ArchivedPartition, list[ArchivedFile]] = {}
        self.clear()
        self._manifest = Manifest(root)
        self._adopt()

    def clear(self) -> None:
        """Remove parts that nobody puts in a place."""
        shutil.rmtree(self.root / PARTS)
        (self.root / PARTS).mkdir()

    @contextmanager
    def parts(self) -> Iterator[Path]:
        """A folder for the parts of one batch, which is removed with what is left in it."""
        folder = self.root / PARTS / uuid.uuid4().hex
        folder.mkdir()
        try:
            yield folder
        finally:
            shutil.rmtree(folder, ignore_errors=True)

    def end(self, of: ArchivedPartition) -> int:
        """Up to which address a partition is archived."""
        files = self._known(of)
        return files[-1].end if files else 0

    def put(self, ranges: Mapping[ArchivedPartition, tuple[int, int]], parts: Mapping[ArchivedPartition, Sequence[Path]]) -> None:
        """Make the records of partitions in [start, end) durable: those of the parts, in their order. Raises OSError."""
        for of, (start, end) in ranges.items():
            folder = of.folder(self.root)
            known = self._known(of)
            if not folder.exists():
                make_folder(folder, self.root)
            file = ArchivedFile(start, end, 0, path_of(folder, start, end))
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
        """List files that a process put in their places when it was killed, or a version that had no list."""
        every = [(of.folder(self.root), file) for of in partitions_in(self.root) for file in files_in(of.folder(self.root))]
        if new := [(folder, file) for folder, file in every if self._manifest.is_new(folder, file)]:
            self._manifest.add(new, checked=False)

    def _scratch(self) -> Path:
        return self.root / PARTS / uuid.uuid4().hex

    def _compact(self, of: ArchivedPartition) -> None:
        """Join the last files, if there are many of one level that are adjacent and small."""
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
