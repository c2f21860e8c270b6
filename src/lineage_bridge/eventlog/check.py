"""Checks a log for damaged or missing segments. Damage is not stored anywhere: each check finds it from the segments and their headers."""

import json
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from itertools import zip_longest
from pathlib import Path
from typing import Final, Literal, NamedTuple

from lineage_bridge.errors import LogError, RecordError
from lineage_bridge.eventlog.compressed.segment_file import damaged_frames, segment_size, stored_path
from lineage_bridge.eventlog.mark import read_mark
from lineage_bridge.eventlog.segment import (
    HEADER_BYTES,
    UnreadableBytes,
    byte_of,
    list_segments,
    read_header,
    segment_end,
    segment_of,
    segment_path,
    walk_records,
)

_ACKNOWLEDGED: Final = "acknowledged.json"
_PIECE_RECORDS: Final = 200
Kind = Literal["unreadable", "shortened", "missing", "header", "changed"]


class Damage(NamedTuple):
    """A part of the log that cannot be read: `unreadable` bytes of a segment, a segment that is `shortened` or `missing`, or a damaged
    `header` of a segment.

    `first` and `end` are byte positions in the segment. For a missing segment, `end` is 0 if its length is unknown. For damage of the
    archive, `file` is the path of the file in the archive, and there is no segment. `changed`: the content can be read, but the file
    differs from what was written. This is a file of the archive, or a part of a compressed segment that was restored from its parity.
    """

    kind: Kind
    segment: int
    first: int
    end: int
    detail: str
    file: str = ""

    @property
    def key(self) -> str:
        """The values that identify this damage. Acknowledging it does not acknowledge damage with another key."""
        return f"{self.kind} {f'archive/{self.file}' if self.file else self.segment} {self.first} {self.end}"

    @property
    def size(self) -> int:
        """The number of damaged bytes, as far as it is known."""
        return max(0, self.end - self.first)


class LogCheck(NamedTuple):
    """The result of a check: the number of segments of the log, of records that can be read, and of files of the archive; and the damage.
    `new` is the damage that no operator has acknowledged.
    """

    segments: int
    records: int
    damage: tuple[Damage, ...]
    new: tuple[Damage, ...]
    files: int = 0

    @property
    def unreadable_bytes(self) -> int:
        """The number of bytes that cannot be read, as far as it is known."""
        return sum(item.size for item in self.damage if item.kind != "changed")

    def __str__(self) -> str:
        if not self.damage:
            return "all records can be read"
        damaged = f"{len(self.damage)} damaged {'place' if len(self.damage) == 1 else 'places'}"
        if all(item.kind == "changed" for item in self.damage):
            return f"{damaged}, all records can be read"
        return f"{damaged}, {self.unreadable_bytes:,} bytes cannot be read"


def check_log(directory: Path, on_piece: Callable[[], None] = lambda: None) -> LogCheck:
    """Read every record of the log below its durable end.

    `on_piece` is called after each piece; it may sleep, or raise to end the check.
    """
    damage = check_segments(directory)
    numbers = list_segments(directory)
    durable, records = _durable_end(directory), 0
    for number, following in zip_longest(numbers, numbers[1:]):
        gaps: list[UnreadableBytes] = []
        with suppress(FileNotFoundError):
            records += _count_records(directory, number, _limit(directory, number, following, durable), gaps.append, on_piece)
        name = segment_path(directory, number).name
        damage += [Damage("unreadable", number, gap.first, gap.end, f"{name}, byte {gap.first}: {gap.reason}") for gap in gaps]
        with suppress(FileNotFoundError):
            damage += _check_compressed(segment_path(directory, number), number)
    damage.sort(key=lambda item: (item.segment, item.first, item.kind))
    return LogCheck(len(numbers), records, tuple(damage), unacknowledged(directory, damage))


def check_segments(directory: Path) -> list[Damage]:
    """Find the damage that shows in the names, sizes and headers of the segments, without reading records."""
    numbers = list_segments(directory)
    durable = _durable_end(directory)
    damage = [item for number in numbers for item in _check_header(directory, numbers, number)]
    for number, following in zip_longest(numbers, numbers[1:]):
        with suppress(FileNotFoundError):
            damage += _check_size(directory, number, _limit(directory, number, following, durable))
    return [*damage, *_missing(directory, max(numbers, default=0) + 1, segment_of(durable), byte_of(durable))]


def unacknowledged(directory: Path, damage: Sequence[Damage]) -> tuple[Damage, ...]:
    """The damage that no operator has acknowledged."""
    known = _acknowledged(directory)
    return tuple(item for item in damage if item.key not in known)


def acknowledge(directory: Path, damage: Sequence[Damage]) -> None:
    """Record that an operator knows of exactly this damage."""
    path = directory / _ACKNOWLEDGED
    fresh = path.with_name(f"{path.name}.{os.getpid()}.new")
    fresh.write_text(json.dumps(sorted(item.key for item in damage)), encoding="utf-8")
    fresh.replace(path)


def _acknowledged(directory: Path) -> frozenset[str]:
    try:
        return frozenset(json.loads((directory / _ACKNOWLEDGED).read_bytes()))
    except (OSError, ValueError, TypeError):
        return frozenset()


def _durable_end(directory: Path) -> int:
    """The position in the durable mark (see `mark.py`); 0 if the mark is lost, so that every segment is read to its end."""
    try:
        return read_mark(directory)
    except LogError:
        return 0


def _check_header(directory: Path, numbers: Sequence[int], number: int) -> Iterator[Damage]:
    before = max((other for other in numbers if other < number), default=0)
    try:
        header = read_header(directory, number)
    except FileNotFoundError:
        return
    except RecordError as error:
        yield Damage("header", number, 0, HEADER_BYTES, str(error))
        return
    if header.previous > before:
        yield from _missing(directory, before + 1, header.previous, header.previous_end)


def _missing(directory: Path, first: int, last: int, end: int) -> Iterator[Damage]:
    """Find the missing segments from `first` to `last`. The last one had records up to `end`."""
    if first <= last and end > HEADER_BYTES:
        name = segment_path(directory, last).name
        which = f"segments {first} to {last} are" if first < last else "the segment is"
        yield Damage("missing", last, HEADER_BYTES, end, f"{name}: {which} missing")


def _limit(directory: Path, number: int, following: int | None, durable: int) -> int:
    return byte_of(durable) if number == segment_of(durable) else segment_end(directory, number, following)


def _check_size(directory: Path, number: int, limit: int) -> Iterator[Damage]:
    path = segment_path(directory, number)
    size = segment_size(path)
    if size < limit:
        yield Damage("shortened", number, size, limit, f"{path.name} ends at byte {size}, its records ended at byte {limit}")


def _check_compressed(path: Path, number: int) -> Iterator[Damage]:
    for frame in damaged_frames(path):
        if frame.is_restored:
            what = f"bytes {frame.first} to {frame.end} are restored" if frame.end else "a table or parity is damaged; nothing is lost"
            yield Damage("changed", number, frame.first, frame.end, f"{stored_path(path).name}: {what}")


def _count_records(
    directory: Path, number: int, limit: int, on_gap: Callable[[UnreadableBytes], None], on_piece: Callable[[], None]
) -> int:
    """Read a segment, report its unreadable bytes, and return the number of records."""
    path, count = segment_path(directory, number), 0
    stop = min(segment_size(path), limit)
    for count, _ in enumerate(walk_records(path, HEADER_BYTES, stop, stop, on_gap), start=1):
        if count % _PIECE_RECORDS == 0:
            on_piece()
    on_piece()
    return count
