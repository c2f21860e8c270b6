import errno
import subprocess
import sys
from pathlib import Path

import pytest
from tests.eventlog.support import FaultyDisk, child_environment, number_of, record_of

from lineage_bridge.errors import LogError, LogFullError
from lineage_bridge.eventlog.reader import LogReader
from lineage_bridge.eventlog.record_format import encode_record
from lineage_bridge.eventlog.segment import HEADER_BYTES, list_segments, make_offset, segment_of, segment_path
from lineage_bridge.eventlog.writer import LogWriter

SIZE = len(encode_record(record_of(0)))


def content(directory: Path) -> list[tuple[int, int]]:
    reader = LogReader(directory)
    return [(offset, number_of(record)) for offset, record in reader.read(0, reader.durable_end())]


def reopened(directory: Path) -> list[tuple[int, int]]:
    LogWriter(directory).close()
    return content(directory)


@pytest.mark.parametrize("room", [0, 1, SIZE - 1, SIZE, 3 * SIZE - 1])
def test_a_full_disk_refuses_whole_submissions_and_writing_goes_on_when_there_is_space(tmp_path: Path, room: int):
    disk = FaultyDisk()
    with LogWriter(tmp_path, disk=disk) as writer:
        kept = writer.append([record_of(0)])
        disk.room = room
        with pytest.raises(LogFullError):
            writer.append([record_of(1), record_of(2), record_of(3)])
        assert disk.room == room
        assert segment_path(tmp_path, 1).stat().st_size == HEADER_BYTES + SIZE
        disk.room = None
        kept += writer.append([record_of(4)])
    assert content(tmp_path) == list(zip(kept, (0, 4), strict=True))
    assert kept[1] == kept[0] + SIZE
    assert reopened(tmp_path) == content(tmp_path)


def test_what_still_fits_is_still_taken(tmp_path: Path):
    disk = FaultyDisk()
    with LogWriter(tmp_path, disk=disk) as writer:
        writer.append([record_of(0)])
        disk.room = SIZE
        with pytest.raises(LogFullError):
            writer.append([record_of(1), record_of(2)])
        writer.append([record_of(3)])
    assert [number for _, number in content(tmp_path)] == [0, 3]


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EDQUOT, errno.EFBIG])
def test_every_errno_of_no_space_is_reported_as_full(tmp_path: Path, number: int):
    disk = FaultyDisk()
    with LogWriter(tmp_path, disk=disk) as writer:
        disk.faults = {"write": number}
        with pytest.raises(LogFullError) as refusal:
            writer.append([record_of(0)])
        assert refusal.value.hint


def test_another_failure_is_not_reported_as_full(tmp_path: Path):
    disk = FaultyDisk()
    with LogWriter(tmp_path, disk=disk) as writer:
        disk.faults = {"write": errno.EIO}
        with pytest.raises(LogError) as refusal:
            writer.append([record_of(0)])
        assert not isinstance(refusal.value, LogFullError)


@pytest.mark.parametrize("operation", ["create", "write", "sync", "sync_directory"])
def test_a_segment_that_cannot_be_opened_is_tried_again(tmp_path: Path, operation: str):
    disk = FaultyDisk()
    with LogWriter(tmp_path, segment_bytes=HEADER_BYTES + 2 * SIZE, disk=disk) as writer:
        kept = writer.append([record_of(0), record_of(1)])
        for _ in range(2):
            disk.faults = {operation: errno.ENOSPC}
            with pytest.raises(LogFullError):
                writer.append([record_of(2)])
        disk.faults = {}
        assert content(tmp_path) == list(zip(kept, (0, 1), strict=True))
        kept += writer.append([record_of(3)])
    assert reopened(tmp_path) == list(zip(kept, (0, 1, 3), strict=True))
    assert list_segments(tmp_path) == [1, 2]


def test_nothing_goes_into_a_segment_whose_successor_was_begun(tmp_path: Path):
    disk = FaultyDisk()
    with LogWriter(tmp_path, segment_bytes=HEADER_BYTES + 3 * SIZE, disk=disk) as writer:
        kept = writer.append([record_of(0), record_of(1)])
        disk.faults = {"sync_directory": errno.EIO}
        with pytest.raises(LogError):
            writer.append([record_of(2), record_of(3)])
        disk.faults = {}
        kept += writer.append([record_of(4)])
    assert segment_of(kept[-1]) == 2
    assert reopened(tmp_path) == list(zip(kept, (0, 1, 4), strict=True))


def test_a_failed_sync_is_never_taken_for_success(tmp_path: Path):
    disk = FaultyDisk()
    with LogWriter(tmp_path, disk=disk) as writer:
        kept = writer.append([record_of(0)])
        disk.faults = {"sync": errno.EIO}
        before = disk.calls["sync"]
        with pytest.raises(LogError):
            writer.append([record_of(1)])
        assert disk.calls["sync"] == before + 1
        assert content(tmp_path) == [(kept[0], 0)]
        disk.faults = {}
        kept += writer.append([record_of(2)])
    assert segment_of(kept[1]) == 2
    assert reopened(tmp_path) == list(zip(kept, (0, 2), strict=True))


@pytest.mark.parametrize("operation", ["write", "sync", "publish"])
def test_bytes_that_cannot_be_cut_back_are_left_behind_in_a_closed_segment(tmp_path: Path, operation: str):
    disk = FaultyDisk()
    with LogWriter(tmp_path, disk=disk) as writer:
        kept = writer.append([record_of(0)])
        disk.faults = {operation: errno.ENOSPC, "truncate": errno.EIO}
        with pytest.raises(LogFullError):
            writer.append([record_of(1)])
        disk.faults = {"truncate": errno.EIO}
        kept += writer.append([record_of(2)])
    assert [segment_of(offset) for offset in kept] == [1, 2]
    assert content(tmp_path) == list(zip(kept, (0, 2), strict=True))
    assert reopened(tmp_path) == content(tmp_path)


def test_records_whose_mark_cannot_be_published_are_not_acknowledged(tmp_path: Path):
    disk = FaultyDisk()
    with LogWriter(tmp_path, disk=disk) as writer:
        kept = writer.append([record_of(0)])
        disk.faults = {"publish": errno.ENOSPC}
        with pytest.raises(LogFullError):
            writer.append([record_of(1)])
        assert content(tmp_path) == [(kept[0], 0)]
        disk.faults = {}
        kept += writer.append([record_of(2)])
    assert reopened(tmp_path) == list(zip(kept, (0, 2), strict=True))


def test_an_unexpected_error_reaches_the_caller(tmp_path: Path):
    class OddDisk(FaultyDisk):
        def sync(self, fd: int) -> None:
            if self.faults:
                raise RuntimeError("odd")
            super().sync(fd)

    disk = OddDisk()
    with LogWriter(tmp_path, disk=disk) as writer:
        kept = writer.append([record_of(0)])
        disk.faults = {"sync": errno.EIO}
        with pytest.raises(LogError, match="odd"):
            writer.append([record_of(1)])
        disk.faults = {}
        kept += writer.append([record_of(2)])
    assert reopened(tmp_path) == list(zip(kept, (0, 2), strict=True))


def test_a_start_on_a_failing_disk_releases_the_lock(tmp_path: Path):
    disk = FaultyDisk()
    disk.faults = {"publish": errno.ENOSPC}
    with pytest.raises(LogFullError):
        LogWriter(tmp_path, disk=disk)
    LogWriter(tmp_path).close()


LIMITED = """
import resource, sys
from pathlib import Path
from lineage_bridge.errors import LogFullError
from lineage_bridge.eventlog.writer import LogWriter
from tests.eventlog.support import record_of

writer = LogWriter(Path(sys.argv[1]))
_, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, hard))
number, refused = 0, 0
while refused < 3:
    try:
        print(*writer.append([record_of(number, b"x" * 1000)]), number, flush=True)
    except LogFullError:
        refused += 1
    number += 1
resource.setrlimit(resource.RLIMIT_FSIZE, (hard, hard))
print(*writer.append([record_of(number, b"x" * 1000)]), number, flush=True)
"""


def test_a_file_size_limit_refuses_loses_nothing_and_can_be_lifted(tmp_path: Path):
    command = [sys.executable, "-c", LIMITED, str(tmp_path)]
    run = subprocess.run(command, env=child_environment(), capture_output=True, text=True, check=True)
    acknowledged = [tuple(map(int, line.split())) for line in run.stdout.splitlines()]
    assert len(acknowledged) == 19
    assert acknowledged[-1][1] == 18 + 3
    assert content(tmp_path) == acknowledged
    assert reopened(tmp_path) == acknowledged
    assert make_offset(1, 20_000) < acknowledged[-1][0] + SIZE + 1000
