"""Repairs a log while no process writes it: corrects records with one wrong byte, and sets other unreadable bytes aside.

A record has two check values: its checksum, which says where a single wrong byte is and what it was, and the event id, which is the hash
of the body and confirms the correction.
"""

import os
from collections.abc import Callable, Container, Iterable, Iterator
from pathlib import Path
from typing import Final, NamedTuple
from zlib import crc32

from lineage_bridge.errors import RecordError
from lineage_bridge.eventlog.check import Damage, check_log
from lineage_bridge.eventlog.compressed.compressor import decompress_segment
from lineage_bridge.eventlog.compressed.segment_file import segment_size
from lineage_bridge.eventlog.disk import Disk
from lineage_bridge.eventlog.record_format import CHECKED_FROM, HEAD, START, decode_record, filler
from lineage_bridge.eventlog.recovery import cut_path, save, write_header
from lineage_bridge.eventlog.segment import HEADER_BYTES, list_segments, segment_path, walk_records
from lineage_bridge.eventlog.writer import LogWriter
from lineage_bridge.graph.ids import event_id
from lineage_bridge.graph.log_record import LogRecord, RecordKind

_TABLE: Final = tuple(crc32(bytes([value])) ^ crc32(b"\0") for value in range(256))
"""For each XOR difference in the last byte of a record: the XOR difference that it causes in the checksum."""
_BY_VALUE: Final = {change: value for value, change in enumerate(_TABLE)}
_STEPS: Final = {change >> 24: (change, value) for value, change in enumerate(_TABLE)}


class RepairOutcome(NamedTuple):
    """The outcome of repairing one piece of damage: it was `corrected`; a header was `rewritten`; the bytes were `set aside` in the file
    `saved`; or the damage was `left` as it is.
    """

    damage: Damage
    outcome: str
    saved: Path | None


def repair_log(directory: Path, disk: Disk) -> list[RepairOutcome]:
    """Repair all damage of the log in place, and return one outcome per damage. The caller holds the log's lock. Raises OSError.

    Damaged compressed segments are decompressed first; the damaged file is kept.
    """
    found = check_log(directory).damage
    saved = {number: decompress_segment(directory, number, disk) for number in sorted({damage.segment for damage in found})}
    return [_repair(directory, damage, disk, saved[damage.segment]) for damage in found]


def _repair(directory: Path, damage: Damage, disk: Disk, compressed: Path | None) -> RepairOutcome:
    if damage.kind == "changed":
        return RepairOutcome(damage, "corrected", compressed)
    if damage.kind == "header":
        saved = save(segment_path(directory, damage.segment), 0, HEADER_BYTES, cut_path(directory, damage.segment, 0))
        write_header(directory, damage.segment, disk)
        return RepairOutcome(damage, "rewritten", saved)
    return repair_bytes(segment_path(directory, damage.segment), cut_path(directory, damage.segment, damage.first), damage, disk)


def repair_bytes(path: Path, cut: Path, damage: Damage, disk: Disk) -> RepairOutcome:
    """Repair a range of unreadable bytes of a file in place, after saving the original bytes in the file `cut`. Raises OSError."""
    if damage.kind != "unreadable":
        return RepairOutcome(damage, "left", None)
    data = _bytes_of(path, damage)
    better = corrected(data)
    outcome = "corrected" if better else "set aside"
    better = better or filler(len(data))
    if better is None:
        return RepairOutcome(damage, "left", None)
    saved = save(path, damage.first, damage.end, cut)
    fd = disk.open(path)
    try:
        disk.write(fd, [better], damage.first)
        disk.sync(fd)
    finally:
        os.close(fd)
    return RepairOutcome(damage, outcome, saved)


def _bytes_of(path: Path, damage: Damage) -> bytes:
    with path.open("rb") as file:
        file.seek(damage.first)
        return file.read(damage.size)


def corrected(data: bytes) -> bytes | None:
    """Find the record that these bytes were before one byte changed; None if that cannot be determined."""
    for candidate in _candidates(data):
        try:
            record = decode_record(candidate)
        except (RecordError, UnicodeDecodeError):
            continue
        if record.kind != RecordKind.ERASED and record.event_id == event_id(record.body):
            return candidate
    return None


def _candidates(data: bytes) -> Iterator[bytes]:
    """The possible originals of the bytes, if they are one record with one wrong byte."""
    if len(data) < HEAD.size:
        return
    magic, version, _ = START.unpack_from(filler(HEAD.size) or b"")
    stated = START.unpack_from(data)[2]
    actual = crc32(data[CHECKED_FROM:])
    difference = stated ^ actual
    if sum(byte != 0 for byte in difference.to_bytes(4, "big")) <= 1:
        yield START.pack(magic, version, actual) + data[CHECKED_FROM:]
    for byte in range(len(data) - 1, CHECKED_FROM - 1, -1):
        if difference in _BY_VALUE:
            changed = bytes([data[byte] ^ _BY_VALUE[difference]])
            yield START.pack(magic, version, stated) + data[CHECKED_FROM:byte] + changed + data[byte + 1 :]
        change, value = _STEPS[difference >> 24]
        difference = ((difference ^ change) << 8 | value) & 0xFFFFFFFF


def restore_records(
    writer: LogWriter,
    known: Iterable[LogRecord],
    files: Iterable[Path],
    on_record: Callable[[], None],
    erased: Container[bytes] = frozenset(),
) -> int:
    """Append to the log the records of `files` (segments, pieces of them, or folders of segments) that are not among `known`, nor among
    the `erased`. Returns how many.

    The appended records keep their arrival times and channels, and get new offsets. `on_record` is called for each of them. Raises OSError,
    LogError.
    """
    present = {_identity(record) for record in known}
    count = 0
    for path in _segments_in(files):
        size = segment_size(path)
        for _, _, record in walk_records(path, 0, size, size):
            if record.kind != RecordKind.ERASED and _identity(record) not in present and record.event_id not in erased:
                present.add(_identity(record))
                writer.append([record])
                count += 1
                on_record()
    return count


def _segments_in(paths: Iterable[Path]) -> Iterator[Path]:
    for path in paths:
        if path.is_dir():
            yield from (segment_path(path, number) for number in list_segments(path))
            yield from sorted(path.glob("*.cut"))
        else:
            yield path


def _identity(record: LogRecord) -> tuple[int, bytes, int, str]:
    return record.kind, record.event_id, record.arrival_us, record.channel
