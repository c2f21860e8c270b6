"""Compressing and reading at once: what readers see and writers need while a segment is replaced, and what a single record costs."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.eventlog.compressed.support import EVENTS, readable

from lineage_bridge.errors import RecordError
from lineage_bridge.eventlog.compressed.compressor import compress_closed
from lineage_bridge.eventlog.compressed.layout import FRAME_BYTES, compress_frame, decode_table, decompress_frame, encode_table, entry_of
from lineage_bridge.eventlog.compressed.segment_file import compressed_path
from lineage_bridge.eventlog.disk import LocalDisk
from lineage_bridge.eventlog.reader import LogReader
from lineage_bridge.eventlog.segment import list_segments, segment_path
from lineage_bridge.eventlog.writer import LogWriter
from lineage_bridge.graph.log_record import RecordAddress
from lineage_bridge.ports.log import LOG_SOURCE


@pytest.fixture
def log(tmp_path: Path) -> Path:
    """A log of several small segments."""
    folder = tmp_path / "log"
    with LogWriter(folder, segment_bytes=50_000) as writer:
        for record in EVENTS[1:8]:
            writer.append([record])
    assert len(list_segments(folder)) > 2
    return folder


def test_a_segment_that_is_replaced_while_the_directory_is_listed_is_not_missed(log: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A large directory is listed in parts: the first may be older than the new name of a segment, the last newer than its old name."""
    expected, iterdir = readable(log), Path.iterdir

    def listed(directory: Path) -> Iterator[Path]:
        before = list(iterdir(directory))
        monkeypatch.setattr(Path, "iterdir", iterdir)
        compress_closed(log, LocalDisk())
        return (path for path in before if path.exists())

    monkeypatch.setattr(Path, "iterdir", listed)
    assert readable(log) == expected
    assert not segment_path(log, 1).exists()


def test_the_size_of_a_log_is_known_while_a_segment_is_replaced(log: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    exists = Path.exists

    def existed(path: Path) -> bool:
        found = exists(path)
        monkeypatch.setattr(Path, "exists", exists)
        compress_closed(log, LocalDisk())
        return found

    monkeypatch.setattr(Path, "exists", existed)
    assert LogReader(log).disk_bytes() > 0


def test_a_segment_that_cannot_be_compressed_does_not_keep_others_from_it(log: Path) -> None:
    expected = readable(log)
    compressed_path(segment_path(log, 1)).with_suffix(".zst.new").mkdir()
    with pytest.raises(OSError, match="directory"):
        compress_closed(log, LocalDisk())
    assert [segment_path(log, number).exists() for number in list_segments(log)[:3]] == [True, False, False]
    assert readable(log) == expected


def test_compressing_leaves_room_for_the_writer(log: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The disk has all its room, of which more is wanted than it has."""
    before = {path.name: path.stat().st_ino for path in log.iterdir()}
    monkeypatch.setattr("lineage_bridge.eventlog.compressed.compressor.ROOM_BYTES", 1 << 62)
    with pytest.raises(OSError, match="would be left"):
        compress_closed(log, LocalDisk())
    assert {path.name: path.stat().st_ino for path in log.iterdir()} == before


def test_a_single_record_is_read_without_decompressing_what_is_far_from_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with LogWriter(tmp_path, segment_bytes=6 * FRAME_BYTES) as writer:
        offsets = [writer.append([record])[0] for record in EVENTS[1:90]]
    assert compress_closed(tmp_path, LocalDisk()) == 1
    counted: list[int] = []

    def counting(stored: bytes, size: int) -> bytes | None:
        counted.append(size)
        return decompress_frame(stored, size)

    monkeypatch.setattr("lineage_bridge.eventlog.compressed.segment_file.decompress_frame", counting)
    assert LogReader(tmp_path).record_at(RecordAddress(LOG_SOURCE, 0, offsets[2])) == EVENTS[3]
    assert 1 <= len(counted) <= 2


def test_a_table_with_frames_that_cannot_be_so_large_is_damaged() -> None:
    frame = entry_of(compress_frame(bytes(FRAME_BYTES)))
    assert decode_table(encode_table(FRAME_BYTES, [frame, frame])).size == FRAME_BYTES
    with pytest.raises(RecordError, match="more than"):
        decode_table(encode_table(FRAME_BYTES, [(0xFFFFFFFF, 0), frame]))
