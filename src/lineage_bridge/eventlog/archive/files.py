"""The files of the archive. Each has the records of a partition with addresses in [start, end), and never changes.

Its path is `INPUT/STREAM/LIFE/PARTITION/START-END.LEVEL`: the names are quoted, START and END are addresses (see EventPosition). A file
contains nothing but records, in order. Several small files are merged into one of the next level, which is complete before the small ones
are removed; while both exist, the longer one is read.
"""

import hashlib
import os
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Final, NamedTuple
from urllib.parse import quote, unquote

from lineage_bridge.graph.record_origin import EventPosition, StreamPartition

PREFIX: Final = "input"
TOPIC: Final = "topic"
"""In positions, the prefix of a source that is a topic to which received events are written."""
_AGAIN: Final = "+"
"""Separates the id of a topic from a number: how many times the topic's records were replaced, without the topic being created again."""
_NAME: Final = re.compile(r"(\d{20})-(\d{20})\.(\d)")


class ArchivedFile(NamedTuple):
    """A file of the archive with the records whose addresses are in [start, end)."""

    start: int
    end: int
    level: int
    path: Path

    @property
    def size(self) -> int:
        """The size of the file in bytes. Raises FileNotFoundError if another file has replaced it."""
        return self.path.stat().st_size


class ArchivedPartition(NamedTuple):
    """A partition that an input reads, with the source and partition under which its records are known in the graph."""

    input: str
    where: StreamPartition

    @property
    def source(self) -> str:
        """The source of the partition's records in the graph: input, stream and life, quoted."""
        return "/".join((PREFIX, *map(quoted, (self.input, self.where.stream, self.where.life))))

    @property
    def partition(self) -> int:
        """The name of the partition in the graph."""
        return int(self.where.partition)

    def folder(self, root: Path) -> Path:
        """The folder with the files of the partition."""
        return folder_of(root, self.source, self.partition)


def quoted(text: str) -> str:
    """Quote a text so that it can be the name of a folder."""
    return quote(text, safe="").replace(".", "%2E")


def folder_of(root: Path, source: str, partition: int) -> Path:
    """The folder of the records of a source and partition."""
    _, *parts = source.split("/")
    return root.joinpath(*parts, str(partition))


def is_archived(source: str) -> bool:
    """Whether the records of a source are in the archive."""
    return source.startswith(f"{PREFIX}/")


def topic_source(stream: str, life: str) -> str:
    """The source that stands for a topic in positions. It is the same in all installations that read the topic, and does not contain the
    topic's name.
    """
    named = f"{stream}\0{life.partition(_AGAIN)[0]}"
    return f"{TOPIC}/{hashlib.sha256(named.encode()).hexdigest()[:24]}"


def topic_ends(applied: Mapping[tuple[str, int], int]) -> dict[tuple[str, int], int]:
    """Convert positions in the archive (the address of each source and partition) to positions in topics (the next offset of each)."""
    found: dict[tuple[str, int], tuple[int, int]] = {}
    for (source, partition), address in applied.items():
        if is_archived(source):
            stream, life = map(unquote, source.split("/")[-2:])
            again = life.partition(_AGAIN)[2]
            at = topic_source(stream, life), partition
            reached = int(again) if again.isdecimal() else 0, EventPosition.at(address).offset
            found[at] = max(found.get(at, reached), reached)
    return {at: offset for at, (_, offset) in found.items()}


def partitions_in(root: Path) -> list[ArchivedPartition]:
    """The partitions that have a folder, sorted."""
    # Not in hidden folders: parts of batches are created and removed there.
    folders = (path for path in root.glob("[!.]*/*/*/*") if path.is_dir() and path.name.isdecimal())
    found = (path.relative_to(root).parts for path in folders)
    return sorted(
        ArchivedPartition(unquote(name), StreamPartition(unquote(stream), unquote(life), part)) for name, stream, life, part in found
    )


def path_of(folder: Path, start: int, end: int, level: int = 0) -> Path:
    """The path of a file."""
    return folder / f"{start:020d}-{end:020d}.{level}"


def files_in(folder: Path) -> list[ArchivedFile]:
    """The current files of a folder, in order. A missing file leaves a gap: the next file begins after the end of the previous one."""
    try:
        names = [(path, _NAME.fullmatch(path.name)) for path in folder.iterdir()]
    except FileNotFoundError:
        return []
    every = sorted(
        (ArchivedFile(int(found[1]), int(found[2]), int(found[3]), path) for path, found in names if found and found[1] <= found[2]),
        key=lambda file: (file.start, -file.end, file.level),
    )
    counting: list[ArchivedFile] = []
    for file in every:
        if not counting or file.start >= counting[-1].end:
            counting.append(file)
    return counting


def join(paths: Iterable[Path], target: Path, scratch: Path) -> None:
    """Concatenate files to the file `target`, which becomes visible once it is complete and durable."""
    with scratch.open("wb") as joined:
        for path in paths:
            with path.open("rb") as part:
                _copy(part.fileno(), joined.fileno())
        os.fsync(joined.fileno())
    scratch.replace(target)


def _copy(source: int, target: int) -> None:
    while os.sendfile(target, source, None, 1 << 24):
        pass


def make_folder(folder: Path, root: Path) -> None:
    """Create a folder below `root`, durably."""
    missing = [path for path in (folder, *folder.parents) if path.is_relative_to(root) and not path.exists()]
    folder.mkdir(parents=True, exist_ok=True)
    sync_folders([path.parent for path in missing])


def sync_folders(folders: Sequence[Path]) -> None:
    """Make the creation and removal of files in these folders durable."""
    for folder in folders:
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
