"""Files of the archive: what is put in a place is read back, also while small files become one; what is unfinished counts for nothing."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from lineage_bridge.errors import OffsetError, PositionError
from lineage_bridge.eventlog.archive.files import ArchivedPartition, files_in
from lineage_bridge.eventlog.archive.progress import SavedProgress, saved_progress
from lineage_bridge.eventlog.archive.reader import INDEX_EVERY, ArchiveReader
from lineage_bridge.eventlog.archive.writer import PARTS, ArchiveWriter, PartFile
from lineage_bridge.eventlog.segment import UnreadableBytes, walk_records
from lineage_bridge.graph.ids import event_id
from lineage_bridge.graph.log_record import LogRecord, RecordAddress, RecordKind, RecordNote, write_note
from lineage_bridge.graph.record_origin import EventPosition, RecordOrigin, StreamPartition

OF = ArchivedPartition("events", StreamPartition("topic.a", "id/1+2", "3"))


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return tmp_path / "archive"


def record(offset: int, number: int = 0, count: int = 1, kind: RecordKind = RecordKind.EVENT) -> LogRecord:
    body = f"{offset}/{number}".encode()
    origin = RecordOrigin("events", *OF.where, offset, number, count)
    note = RecordNote(code="" if kind == RecordKind.EVENT else "not_json", origin=origin)
    return LogRecord(kind, event_id(body), 7, "kafka", "input:events", write_note(note), body)


def put(writer: ArchiveWriter, start: int, end: int, *records: LogRecord, parts: int = 1) -> None:
    """Archive the records between two offsets, in so many parts."""
    with writer.parts() as folder:
        made = [PartFile(folder) for _ in range(parts if records else 0)]
        for number, part in enumerate(made):
            for some in records[number * len(records) // parts : (number + 1) * len(records) // parts]:
                part.append(some)
            part.close()
        writer.put({OF: (EventPosition(start, 0).address, EventPosition(end, 0).address)}, {OF: [part.path for part in made]})


def bodies(root: Path, first: int = 0, end: int = 1 << 40) -> list[bytes]:
    found = ArchiveReader(root).read(OF.source, OF.partition, EventPosition(first, 0).address, EventPosition(end, 0).address)
    return [stored.record.body for stored in found]


def test_records_are_read_back_by_their_addresses(root: Path) -> None:
    writer = ArchiveWriter(root)
    put(writer, 0, 5)
    put(writer, 5, 8, record(5), record(6, 0, 2), record(6, 1, 2), record(7))
    put(writer, 8, 12, record(8), record(11), parts=2)
    reader = ArchiveReader(root)
    assert reader.partitions() == [OF]
    assert reader.end(OF.source, OF.partition) == writer.end(OF) == EventPosition(12, 0).address
    assert bodies(root) == [b"5/0", b"6/0", b"6/1", b"7/0", b"8/0", b"11/0"]
    assert bodies(root, 6, 8) == [b"6/0", b"6/1", b"7/0"]
    assert reader.record_at(RecordAddress(OF.source, OF.partition, EventPosition(6, 1).address)) == record(6, 1, 2)
    for absent in (EventPosition(9, 0), EventPosition(99, 0)):
        with pytest.raises(OffsetError):
            reader.record_at(RecordAddress(OF.source, OF.partition, absent.address))
    assert list((root / PARTS).iterdir()) == []


def test_many_small_files_become_one_and_nothing_changes_for_readers(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("lineage_bridge.eventlog.archive.writer.MANY", 4)
    writer = ArchiveWriter(root)
    for offset in range(19):
        put(writer, offset, offset + 1, record(offset))
    levels = [file.level for file in files_in(OF.folder(root))]
    assert levels == [2, 0, 0, 0]
    assert bodies(root) == [f"{offset}/0".encode() for offset in range(19)]
    assert bodies(root, 10, 12) == [b"10/0", b"11/0"]


def test_of_a_file_and_those_it_was_made_of_one_counts(root: Path) -> None:
    writer = ArchiveWriter(root)
    for offset in range(3):
        put(writer, offset, offset + 1, record(offset))
    small = files_in(OF.folder(root))
    joined = OF.folder(root) / f"{small[0].start:020d}-{small[-1].end:020d}.1"
    joined.write_bytes(b"".join(file.path.read_bytes() for file in small))
    assert [file.path for file in files_in(OF.folder(root))] == [joined]
    assert bodies(root) == [b"0/0", b"1/0", b"2/0"]


def test_what_is_archived_is_never_replaced(root: Path) -> None:
    writer = ArchiveWriter(root)
    put(writer, 0, 3, record(0), record(1), record(2))
    for start, end in ((0, 3), (2, 5), (1, 2), (0, 9)):
        with pytest.raises(PositionError, match="after the start"):
            put(writer, start, end)
    with pytest.raises(PositionError, match="after the start"):
        put(ArchiveWriter(root), 0, 3)
    put(writer, 3, 4, record(3))
    assert bodies(root) == [b"0/0", b"1/0", b"2/0", b"3/0"]
    assert len(files_in(OF.folder(root))) == 2


def test_a_partition_that_is_read_again_from_an_earlier_position_ends_where_its_records_do(root: Path) -> None:
    """Its folder was lost while the graph had its records up to offset 1000, and the topic begins at 10 by now."""
    writer = ArchiveWriter(root)
    put(writer, 1000, 10)
    put(writer, 10, 12, record(10), record(11))
    assert ArchiveWriter(root).end(OF) == writer.end(OF) == EventPosition(12, 0).address
    assert bodies(root) == [b"10/0", b"11/0"]
    folder = OF.folder(root)
    (folder / f"{EventPosition(1000, 0).address:020d}-{EventPosition(10, 0).address:020d}.0").touch()  # as earlier versions made it
    assert ArchiveWriter(root).end(OF) == EventPosition(12, 0).address


def test_parts_that_nobody_put_in_a_place_are_removed(root: Path) -> None:
    writer = ArchiveWriter(root)
    left = PartFile(root / PARTS)
    left.append(record(0))
    left.close()
    assert (ArchiveReader(root).partitions(), writer.end(OF)) == ([], 0)
    ArchiveWriter(root)
    assert not left.path.exists()


def test_parts_are_not_looked_at_for_partitions(root: Path) -> None:
    """They come and go while others read."""
    put(ArchiveWriter(root), 0, 1, record(0))
    (root / PARTS / "batch" / "life" / "7").mkdir(parents=True)
    assert ArchiveReader(root).partitions() == [OF]


def test_damage_is_told_and_the_rest_is_read(root: Path, caplog: pytest.LogCaptureFixture) -> None:
    writer = ArchiveWriter(root)
    put(writer, 0, 3, record(0), record(1), record(2))
    (file,) = files_in(OF.folder(root))
    content = bytearray(file.path.read_bytes())
    content[content.index(b"1/0")] ^= 1
    file.path.write_bytes(content)
    gaps: list[UnreadableBytes] = []
    found = list(ArchiveReader(root).read(OF.source, OF.partition, 0, file.end, gaps.append))
    assert ([stored.record.body for stored in found], len(gaps)) == ([b"0/0", b"2/0"], 1)
    assert "cannot be read" in caplog.text


def test_a_record_is_found_without_reading_those_before_it_again(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    writer = ArchiveWriter(root)
    put(writer, 0, 1000, *(record(offset) for offset in range(0, 1000, 2)))
    archive, seen = ArchiveReader(root), list[int]()

    def noted(*given: Any) -> Iterator[tuple[int, int, LogRecord]]:
        for found in walk_records(*given):
            seen.append(found[0])
            yield found

    monkeypatch.setattr("lineage_bridge.eventlog.archive.reader.walk_records", noted)
    for offset in range(0, 1000, 2):
        assert archive.record_at(RecordAddress(OF.source, OF.partition, EventPosition(offset, 0).address)) == record(offset)
    assert len(seen) <= 500 + 500 * INDEX_EVERY
    with pytest.raises(OffsetError):
        archive.record_at(RecordAddress(OF.source, OF.partition, EventPosition(501, 0).address))


def test_what_is_behind_positions_is_measured(root: Path) -> None:
    writer, reader = ArchiveWriter(root), ArchiveReader(root)
    assert reader.size_behind({}) == 0
    put(writer, 0, 5)
    put(writer, 5, 7, record(5), record(6))
    put(writer, 7, 9, record(7), record(8))
    sizes = [file.size for file in files_in(OF.folder(root))]
    behind = [reader.size_behind({(OF.source, OF.partition): EventPosition(offset, 0).address}) for offset in (0, 5, 6, 7, 9)]
    assert behind == [sizes[1] + sizes[2], sizes[1] + sizes[2], sizes[1] + sizes[2], sizes[2], 0]
    assert reader.size_behind({}) == behind[0]


def test_ranges_are_split_at_files(root: Path) -> None:
    writer = ArchiveWriter(root)
    for offset in range(4):
        put(writer, offset, offset + 1, record(offset))
    reader, at = ArchiveReader(root), [EventPosition(offset, 0).address for offset in range(5)]
    size = files_in(OF.folder(root))[0].size
    assert reader.split(OF.source, OF.partition, 0, at[4], 2 * size) == [(0, at[2]), (at[2], at[4])]
    assert reader.split(OF.source, OF.partition, at[1], at[4], 1) == [(at[1], at[2]), (at[2], at[3]), (at[3], at[4])]
    assert reader.split(OF.source, OF.partition, at[4], at[4], 1) == []
    assert reader.size_between(OF.source, OF.partition, 0, at[4]) == reader.disk_bytes() == 4 * size


def test_counts_that_were_not_saved_are_counted_from_the_files(root: Path) -> None:
    writer = ArchiveWriter(root)
    put(writer, 0, 2, record(0), record(1, kind=RecordKind.REJECTED))
    saved = SavedProgress(ArchiveReader(root), "events")
    saved.save()
    put(writer, 2, 3, record(2))
    again = SavedProgress(ArchiveReader(root), "events")
    assert (again.progress.accepted, again.progress.rejected) == (2, {"not_json": 1})
    assert again.progress.last == RecordOrigin("events", *OF.where, 2)
    known = saved_progress(root, "events")
    assert known is not None
    assert known.accepted == 1
