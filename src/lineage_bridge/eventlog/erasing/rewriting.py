"""Rewrites the files of the log and of the archive without the records that an erasure chooses. Offsets and sizes stay.

A file is replaced as a whole, so that after a crash it is the old one or the new one. Bytes that cannot be read might contain what is to be
erased: they must be repaired first. The caller holds the locks of the log and of the pipeline.
"""

import re
from collections.abc import Callable, Iterator
from functools import partial
from itertools import zip_longest
from pathlib import Path
from typing import Final, NamedTuple, NoReturn
from zlib import crc32

from lineage_bridge.errors import LogError
from lineage_bridge.eventlog.archive.files import ArchivedFile, files_in, partitions_in
from lineage_bridge.eventlog.archive.manifest import Manifest, checksum_of
from lineage_bridge.eventlog.archive.writer import PARTS
from lineage_bridge.eventlog.compressed.compressor import rewrite_stored
from lineage_bridge.eventlog.compressed.segment_file import (
    SegmentFile,
    compressed_path,
    damaged_frames,
    open_segment,
    segment_size,
    stored_path,
)
from lineage_bridge.eventlog.disk import Disk
from lineage_bridge.eventlog.erasing.patches import Patch, PatchedFile
from lineage_bridge.eventlog.erasing.selection import Choose
from lineage_bridge.eventlog.mark import read_mark
from lineage_bridge.eventlog.record_format import encode_like
from lineage_bridge.eventlog.segment import (
    HEADER_BYTES,
    UnreadableBytes,
    byte_of,
    list_segments,
    segment_end,
    segment_of,
    segment_path,
    walk_records,
)
from lineage_bridge.graph.log_record import RecordKind

_SEGMENT: Final = re.compile(r"\d{10}\.log(\.zst)?")
_ARCHIVED: Final = re.compile(r"\d+-\d+\.\d")
_PIECE: Final = 1 << 20


class FileErasure(NamedTuple):
    """What is to be erased of a file with a number of `records`, up to the byte `end`: how many of them are `erased`, and how many only
    `masked`. `erased_ids`: the event ids of all erased records of the file, also of those that were erased before.
    """

    path: Path
    records: int
    erased: int
    masked: int
    erased_ids: list[bytes]
    patches: list[Patch]
    end: int


OnFile = Callable[[FileErasure], bool]
"""Called with each file before it is rewritten, and with those that stay. Returns whether the file may be rewritten."""


def erase_in_log(directory: Path, choose: Choose, disk: Disk, on_file: OnFile) -> None:
    """Erase the chosen records of the log. Raises LogError for bytes that cannot be read, OSError."""
    numbers, durable = list_segments(directory), read_mark(directory)
    for number, following in zip_longest(numbers, numbers[1:]):
        path = segment_path(directory, number)
        end = byte_of(durable) if number == segment_of(durable) else segment_end(directory, number, following)
        # A segment that lost its end stays as short as it is: what is not there need not be erased.
        _erase_in(path, HEADER_BYTES, min(end, segment_size(path)), choose, disk, on_file)


def erase_in_archive(root: Path, choose: Choose, disk: Disk, on_file: OnFile) -> None:
    """Erase the chosen records of the archive. Raises LogError for bytes that cannot be read, OSError."""
    manifest = Manifest(root)
    for of in partitions_in(root):
        folder = of.folder(root)
        for file in files_in(folder):
            _erase_in(file.path, 0, file.path.stat().st_size, choose, disk, on_file, partial(_announce, manifest, folder, file))
            listed = manifest.find(folder, file)
            if listed is not None and listed.replaced is not None and checksum_of(file.path) in (listed.checksum, listed.replaced):
                manifest.add([(folder, file)])


def _announce(manifest: Manifest, folder: Path, file: ArchivedFile, content: SegmentFile) -> None:
    checksum = 0
    for byte in range(0, content.size, _PIECE):
        checksum = crc32(content.read(_PIECE, byte), checksum)
    manifest.announce(folder, file, checksum)


def leftovers(log: Path, archive: Path) -> Iterator[Path]:
    """Files that processes left when they were killed, and that nothing reads: unfinished forms of segments, and of the archive unfinished
    files and those that longer ones contain.
    """
    yield from sorted(log.glob("*.new"))
    yield from sorted(stored for path in log.glob("*.log") if (stored := compressed_path(path)).exists())
    yield from sorted((archive / PARTS).glob("*"))
    for of in partitions_in(archive):
        current = {file.path for file in files_in(of.folder(archive))}
        yield from sorted(path for path in of.folder(archive).glob("[0-9]*-[0-9]*.[0-9]") if path not in current)


def cut_files(log: Path, archive: Path) -> list[Path]:
    """The files in which repairs have set unreadable bytes aside."""
    return sorted([*log.glob("*.cut"), *archive.rglob("*.cut")])


def pieces_of(path: Path) -> Iterator[bytes]:
    """The content of a file (of a compressed segment, its uncompressed form) in pieces that overlap: each begins with the end of the one
    before. Raises LogError for a damaged segment that cannot be read whole, OSError.
    """
    piece, overlap = 4 << 20, 16 << 10
    with open_segment(path) as file:
        if any(not frame.is_restored for frame in damaged_frames(path)):
            raise LogError(f"{path} is damaged, and cannot be searched")
        size = file.size
        for byte in range(0, size, piece):
            first = max(0, byte - overlap)
            yield file.read(byte + piece - first, first)


def is_chosen_in(path: Path, choose: Choose) -> bool:
    """Whether a file has a record that would be erased or masked. True for files of another kind, and if bytes cannot be read."""
    is_segment = _SEGMENT.fullmatch(path.name) is not None
    if not is_segment and _ARCHIVED.fullmatch(path.name) is None:
        return True
    gaps: list[UnreadableBytes] = []
    size = segment_size(path)
    records = walk_records(path, HEADER_BYTES if is_segment else 0, size, size, gaps.append)
    return any(choose(record) is not record for _, _, record in records) or bool(gaps)


def _erase_in(
    path: Path,
    first: int,
    end: int,
    choose: Choose,
    disk: Disk,
    on_file: OnFile,
    announce: Callable[[SegmentFile], None] = lambda _: None,
) -> FileErasure:
    def fail(gap: UnreadableBytes) -> NoReturn:
        raise LogError(
            f"{path} has bytes that cannot be read, from {gap.first} to {gap.end}: what is to be erased may be in them",
            "lineage-bridge log check lists all damage; restore or repair it first: lineage-bridge log repair",
        )

    found = _search(path, first, end, choose, fail)
    if on_file(found) and (found.patches or segment_size(path) > end):
        with open_segment(path) as original:
            content = PatchedFile(original, found.patches, end)
            announce(content)
            rewrite_stored(stored_path(path), content, disk)
    return found


def _search(path: Path, first: int, end: int, choose: Choose, on_gap: Callable[[UnreadableBytes], NoReturn]) -> FileErasure:
    patches: list[Patch] = []
    erased_ids: list[bytes] = []
    records, erased = 0, 0
    for byte, size, record in walk_records(path, first, end, end, on_gap):
        records += 1
        chosen = choose(record)
        if chosen.kind == RecordKind.ERASED:
            erased_ids.append(record.event_id)
            erased += record.kind != RecordKind.ERASED
        if chosen is not record:
            patches.append(Patch(byte, size, encode_like(chosen, size).rstrip(b"\0")))
    return FileErasure(path, records, erased, len(patches) - erased, erased_ids, patches, end)
