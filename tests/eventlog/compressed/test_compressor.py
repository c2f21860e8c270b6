"""Compressed segments: the same log to every reader, restored after damage, and never lost while they are made."""

import os
import random
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from tests.eventlog.compressed.support import EVENTS, SEGMENT_BYTES, compressed, fill, readable
from tests.eventlog.support import FaultyDisk

from lineage_bridge.errors import LogError
from lineage_bridge.eventlog.check import check_log
from lineage_bridge.eventlog.compressed.compressor import LogCompressor, compress_closed, decompress_segment
from lineage_bridge.eventlog.compressed.layout import FRAME_BYTES, GROUP
from lineage_bridge.eventlog.compressed.segment_file import CompressedSegment, compressed_path, open_segment, segment_size
from lineage_bridge.eventlog.disk import LocalDisk
from lineage_bridge.eventlog.reader import LogReader
from lineage_bridge.eventlog.repair import repair_log, restore_records
from lineage_bridge.eventlog.segment import list_segments, segment_path
from lineage_bridge.eventlog.writer import LogWriter
from lineage_bridge.graph.log_record import RecordAddress
from lineage_bridge.ports.log import LOG_SOURCE


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A log that is not compressed."""
    folder = tmp_path_factory.mktemp("plain")
    fill(folder)
    return folder


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same log, compressed."""
    folder = tmp_path_factory.mktemp("compressed")
    compressed(folder)
    return folder


@pytest.fixture
def folder(small: Path, tmp_path: Path) -> Path:
    """A copy of the compressed log."""
    return Path(shutil.copytree(small, tmp_path / "log"))


def first_stored(folder: Path) -> Path:
    return compressed_path(segment_path(folder, 1))


def overwrite(path: Path, first: int, size: int) -> None:
    data = path.read_bytes()
    path.write_bytes(data[:first] + bytes(byte ^ 0x5A for byte in data[first : first + size]) + data[first + size :])


def test_every_reader_finds_the_same_log(plain: Path, small: Path) -> None:
    before, after = LogReader(plain), LogReader(small)
    end = before.durable_end()
    assert after.durable_end() == end
    offsets = [offset for offset, _ in readable(plain)]
    assert readable(small) == readable(plain)
    assert [record for _, record in readable(small)] == EVENTS
    chance = random.Random(1)
    for _ in range(10):
        first, last = sorted(chance.sample(offsets, 2))
        assert list(after.read(first, last)) == list(before.read(first, last))
        assert after.size_between(first, last) == before.size_between(first, last)
        assert after.record_at(RecordAddress(LOG_SOURCE, 0, first)) == before.record_at(RecordAddress(LOG_SOURCE, 0, first))
        assert after.cut(first, 2_000_000, 300) == before.cut(first, 2_000_000, 300)
    assert after.split(0, end, 7) == before.split(0, end, 7)
    assert after.disk_bytes() < before.disk_bytes() / 2
    assert check_log(small).records == len(EVENTS)
    assert check_log(small).damage == ()


def test_the_newest_segment_and_small_ones_stay_as_they_are(tmp_path: Path, small: Path) -> None:
    assert segment_path(small, list_segments(small)[-1]).exists()
    with LogWriter(tmp_path, segment_bytes=4096) as writer:
        for record in EVENTS[1:5]:
            writer.append([record])
    assert compress_closed(tmp_path, LocalDisk()) == 0


def test_zstd_itself_turns_a_file_back(plain: Path, small: Path) -> None:
    tool = shutil.which("zstd")
    if tool is None:
        pytest.skip("zstd is not installed")
    content = subprocess.run([tool, "-dc", str(first_stored(small))], check=True, capture_output=True).stdout
    assert content == segment_path(plain, 1).read_bytes()


def test_a_wrong_byte_anywhere_loses_nothing_is_reported_and_repaired(folder: Path, plain: Path) -> None:
    path, expected = first_stored(folder), readable(plain)
    content, chance = path.read_bytes(), random.Random(7)
    places = [0, 5, 8, 20, 40, len(content) - 1, len(content) - 5, len(content) - 30, *chance.sample(range(len(content)), 8)]
    for place in places:
        overwrite(path, place, 1)
        assert readable(folder) == expected, place
        (found,) = check_log(folder).damage
        assert (found.kind, found.segment) == ("changed", 1)
        assert str(check_log(folder)) == "1 damaged place, all records can be read"
        path.write_bytes(content)
    overwrite(path, places[-1], 1)
    (repair,) = repair_log(folder, LocalDisk())
    assert (repair.outcome, repair.saved) == ("corrected", path.with_name(f"{path.name}.cut"))
    assert not path.exists()
    assert segment_path(folder, 1).read_bytes() == segment_path(plain, 1).read_bytes()
    assert check_log(folder).damage == ()


def test_a_lost_frame_is_restored_and_two_of_a_group_cost_their_records_alone(folder: Path, plain: Path) -> None:
    path, expected = first_stored(folder), readable(plain)
    with open_segment(path) as file:
        assert isinstance(file, CompressedSegment)
        frames = file.table.frames
    overwrite(path, frames[3].first, frames[3].size)
    overwrite(path, frames[GROUP].first, frames[GROUP].size)
    assert readable(folder) == expected
    assert [(found.kind, found.first) for found in check_log(folder).damage] == [
        ("changed", 3 * FRAME_BYTES),
        ("changed", GROUP * FRAME_BYTES),
    ]
    overwrite(path, frames[5].first, 40)
    lost = [(3 * FRAME_BYTES, 4 * FRAME_BYTES), (5 * FRAME_BYTES, 6 * FRAME_BYTES)]
    sizes = dict(zip([offset for offset, _ in expected], lengths(plain), strict=True))
    hit = {o for o in sizes if o >> 32 == 1 and any((o & 0xFFFFFFFF) < end and (o & 0xFFFFFFFF) + sizes[o] > first for first, end in lost)}
    assert hit
    assert readable(folder) == [(offset, record) for offset, record in expected if offset not in hit]
    kinds = [found.kind for found in check_log(folder).damage]
    assert (kinds.count("changed"), set(kinds)) == (1, {"changed", "unreadable"})
    assert {repair.outcome for repair in repair_log(folder, LocalDisk())} == {"corrected", "set aside"}
    assert check_log(folder).damage == ()
    with LogWriter(folder, segment_bytes=SEGMENT_BYTES) as writer:
        known = [record for _, record in readable(folder)]
        assert restore_records(writer, known, [plain], lambda: None) == len(hit)
    assert {record.event_id for _, record in readable(folder)} >= {record.event_id for record in EVENTS}


def lengths(folder: Path) -> Iterator[int]:
    reader = LogReader(folder)
    for offset, _ in readable(folder):
        yield reader.cut(offset, 1, 1) - offset


@pytest.mark.parametrize("size", [0, 10, 5_000, 300_000])
def test_what_a_shortened_file_still_has_is_read_and_the_rest_is_reported(folder: Path, plain: Path, size: int) -> None:
    path = first_stored(folder)
    path.write_bytes(path.read_bytes()[:size])
    found = readable(folder)
    expected = readable(plain)
    assert found == [item for item in expected if item in found]
    assert [item for item in expected if item[0] >> 32 > 1] == [item for item in found if item[0] >> 32 > 1]
    assert check_log(folder).new
    assert size < 300_000 or any(offset >> 32 == 1 for offset, _ in found)
    repair_log(folder, LocalDisk())
    with LogWriter(folder, segment_bytes=SEGMENT_BYTES) as writer:
        missing = restore_records(writer, [record for _, record in readable(folder)], [plain], lambda: None)
    assert missing == len(EVENTS) - len(found)


def test_a_log_whose_newest_segments_are_lost_goes_on_in_an_uncompressed_one(folder: Path, plain: Path) -> None:
    last = list_segments(folder)[-1]
    segment_path(folder, last).unlink()
    before = [item for item in readable(plain) if item[0] >> 32 < last]
    with LogWriter(folder, segment_bytes=SEGMENT_BYTES) as writer:
        assert segment_path(folder, last - 1).read_bytes() == segment_path(plain, last - 1).read_bytes()
        added = writer.append([EVENTS[0]])
    assert readable(folder) == [*before, (added[0], EVENTS[0])]
    assert [damage.kind for damage in check_log(folder).damage] == ["missing"]


@pytest.mark.parametrize("begun", [b"", b"LBLOG"])
def test_a_segment_that_was_only_begun_hides_no_compressed_one(folder: Path, begun: bytes) -> None:
    """A full disk ends the beginning of a segment, and the one before it, which is closed, is compressed meanwhile."""
    last = list_segments(folder)[-1]
    segment_path(folder, last + 1).write_bytes(begun)
    compress_closed(folder, LocalDisk(), least=0)
    assert compressed_path(segment_path(folder, last)).exists()
    with LogWriter(folder, segment_bytes=SEGMENT_BYTES) as writer:
        assert writer.recovery.number == last
        writer.append([EVENTS[0]])
    assert [record for _, record in readable(folder)] == [*EVENTS, EVENTS[0]]
    assert check_log(folder).damage == ()


class PowerLossDisk(LocalDisk):
    """Keeps, before each of its operations, two folders that a power loss at that moment may leave: one with the names of that moment, one
    with the names as they were last synced. Files have the content that was last synced.
    """

    def __init__(self, directory: Path, images: Path) -> None:
        self._directory, self._images = directory, images
        self._synced = {path.stat().st_ino: path.read_bytes() for path in directory.iterdir()}
        self._names = self._current()
        self.count = 0

    def _current(self) -> dict[str, int]:
        return {path.name: path.stat().st_ino for path in self._directory.iterdir()}

    def record(self) -> None:
        for names in (self._names, self._current()):
            image = self._images / str(self.count)
            image.mkdir(parents=True)
            for name, inode in names.items():
                (image / name).write_bytes(self._synced.get(inode, b""))
            self.count += 1

    def create(self, path: Path) -> int:
        self.record()
        return super().create(path)

    def write(self, fd: int, pieces: Sequence[bytes | memoryview], byte: int) -> int:
        return super().write(fd, pieces, byte)

    def sync(self, fd: int) -> None:
        self.record()
        super().sync(fd)
        self._synced[os.fstat(fd).st_ino] = os.pread(fd, os.fstat(fd).st_size, 0)

    def sync_directory(self, directory: Path) -> None:
        self.record()
        super().sync_directory(directory)
        self._names = self._current()


def test_a_power_loss_at_any_operation_leaves_the_whole_log(tmp_path: Path, plain: Path) -> None:
    directory = Path(shutil.copytree(plain, tmp_path / "log"))
    disk = PowerLossDisk(directory, tmp_path / "images")
    compress_closed(directory, disk)
    decompress_segment(directory, 1, disk)
    disk.record()
    expected = readable(plain)
    assert disk.count > 15
    for number in range(disk.count):
        image = tmp_path / "images" / str(number)
        assert readable(image) == expected, number
        assert check_log(image).damage == (), number
    compress_closed(tmp_path / "images" / "3", LocalDisk())
    assert readable(tmp_path / "images" / "3") == expected


@pytest.mark.parametrize("operation", ["create", "write", "sync", "sync_directory"])
def test_an_operation_that_fails_leaves_the_segment_as_it_was(tmp_path: Path, plain: Path, operation: str) -> None:
    directory = Path(shutil.copytree(plain, tmp_path / "log"))
    disk = FaultyDisk()
    disk.faults[operation] = 28
    with pytest.raises(OSError, match="No space"):
        compress_closed(directory, disk)
    assert readable(directory) == readable(plain)
    assert not list(directory.glob("*.new"))


def test_a_form_that_differs_from_its_segment_never_replaces_it(tmp_path: Path, plain: Path) -> None:
    directory = Path(shutil.copytree(plain, tmp_path / "log"))

    class ForgetfulDisk(LocalDisk):
        """Writes zeros where the middle of the file should be."""

        def write(self, fd: int, pieces: Sequence[bytes | memoryview], byte: int) -> int:
            data = b"".join(pieces)
            return super().write(fd, [bytes(len(data)) if 0 < byte < 200_000 else data], byte)

    with pytest.raises(LogError, match="does not contain the bytes"):
        compress_closed(directory, ForgetfulDisk())
    assert segment_path(directory, 1).read_bytes() == segment_path(plain, 1).read_bytes()
    assert not list(directory.glob("*.zst*"))


def test_a_reader_is_not_disturbed_while_a_segment_is_compressed(tmp_path: Path, plain: Path) -> None:
    directory = Path(shutil.copytree(plain, tmp_path / "log"))
    reading = LogReader(directory).read(0, LogReader(directory).durable_end())
    found = [next(reading)]
    compress_closed(directory, LocalDisk())
    assert [*found, *reading] == readable(plain)


def test_the_compressor_compresses_by_itself(tmp_path: Path, plain: Path) -> None:
    directory = Path(shutil.copytree(plain, tmp_path / "log"))
    compressor = LogCompressor(directory)
    try:
        while any(segment_path(directory, number).exists() for number in list_segments(directory)[:-1]):
            assert compressor.is_running
    finally:
        compressor.close()
    assert readable(directory) == readable(plain)
    assert segment_size(segment_path(directory, 1)) == segment_size(segment_path(plain, 1))
