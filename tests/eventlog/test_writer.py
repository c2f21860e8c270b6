import subprocess
import sys
import threading
from pathlib import Path

import pytest
from tests.eventlog.support import SlowDisk, child_environment, number_of, record_of

from lineage_bridge.errors import ConfigError, LogError, LogLockedError, RecordError, UnavailableError
from lineage_bridge.eventlog.reader import LogReader
from lineage_bridge.eventlog.record_format import encode_record
from lineage_bridge.eventlog.segment import HEADER_BYTES, list_segments, make_offset, segment_of, segment_path
from lineage_bridge.eventlog.writer import LogWriter
from lineage_bridge.graph.log_record import LogRecord, RecordKind

SIZE = len(encode_record(record_of(0)))


def content(directory: Path) -> list[tuple[int, int]]:
    reader = LogReader(directory)
    return [(offset, number_of(record)) for offset, record in reader.read(0, reader.durable_end())]


def test_records_get_their_offsets_in_order(tmp_path: Path):
    with LogWriter(tmp_path / "data" / "log") as writer:
        first = writer.append([record_of(1), record_of(2)])
        second = writer.append([record_of(3)])
        end = writer.end()
    start = make_offset(1, HEADER_BYTES)
    assert first + second == [start, start + SIZE, start + 2 * SIZE]
    assert end == start + 3 * SIZE
    assert content(tmp_path / "data" / "log") == [(start, 1), (start + SIZE, 2), (start + 2 * SIZE, 3)]


def test_an_empty_submission_is_done_at_once(tmp_path: Path):
    with LogWriter(tmp_path) as writer:
        assert writer.append([]) == []
        assert writer.end() == 0


def test_a_restart_continues_at_the_end(tmp_path: Path):
    with LogWriter(tmp_path) as writer:
        before = writer.append([record_of(1)])
    with LogWriter(tmp_path) as writer:
        assert writer.end() == before[0] + SIZE
        assert writer.append([record_of(2)]) == [before[0] + SIZE]
    assert [number for _, number in content(tmp_path)] == [1, 2]


def test_segments_roll_at_their_size(tmp_path: Path):
    with LogWriter(tmp_path, segment_bytes=HEADER_BYTES + 3 * SIZE) as writer:
        offsets = [writer.append([record_of(number)])[0] for number in range(8)]
    assert [segment_of(offset) for offset in offsets] == [1, 1, 1, 2, 2, 2, 3, 3]
    assert content(tmp_path) == list(zip(offsets, range(8), strict=True))
    assert all(segment_path(tmp_path, number).stat().st_size <= HEADER_BYTES + 3 * SIZE for number in (1, 2, 3))


def test_a_submission_larger_than_a_segment_has_one_to_itself(tmp_path: Path):
    with LogWriter(tmp_path, segment_bytes=HEADER_BYTES + 2 * SIZE) as writer:
        offsets = writer.append([record_of(0)]) + writer.append([record_of(n) for n in range(1, 6)])
        offsets += writer.append([record_of(6)])
    assert [segment_of(offset) for offset in offsets] == [1, 2, 2, 2, 2, 2, 3]
    assert [number for _, number in content(tmp_path)] == list(range(7))


def test_a_log_that_ends_below_the_floor_opens_a_higher_segment(tmp_path: Path):
    with LogWriter(tmp_path) as writer:
        writer.append([record_of(1)])
    floor = make_offset(7, 900)
    with LogWriter(tmp_path, floor) as writer:
        assert LogReader(tmp_path).durable_end() == writer.end() == make_offset(1, HEADER_BYTES + SIZE)
        assert writer.append([record_of(2)]) == [make_offset(8, HEADER_BYTES)]
    assert list_segments(tmp_path) == [1, 8]
    assert [number for _, number in content(tmp_path)] == [1, 2]


def test_a_floor_holds_for_an_empty_log_and_over_restarts(tmp_path: Path):
    floor = make_offset(3, HEADER_BYTES + 5)
    for _ in range(2):
        LogWriter(tmp_path, floor).close()
    with LogWriter(tmp_path, floor) as writer:
        assert writer.append([record_of(1)]) == [make_offset(4, HEADER_BYTES)]
    with LogWriter(tmp_path, floor) as writer:
        assert writer.append([record_of(2)]) == [make_offset(4, HEADER_BYTES + SIZE)]


def test_a_floor_at_the_end_changes_nothing(tmp_path: Path):
    with LogWriter(tmp_path) as writer:
        end = writer.append([record_of(1)])[0] + SIZE
    with LogWriter(tmp_path, end) as writer:
        assert writer.append([record_of(2)]) == [end]


def test_a_floor_without_numbers_above_it_is_refused(tmp_path: Path):
    with LogWriter(tmp_path, 2**63 - 1) as writer, pytest.raises(LogError):
        writer.append([record_of(1)])


def test_a_second_writer_is_refused_with_the_first_ones_name(tmp_path: Path):
    with LogWriter(tmp_path) as writer:
        with pytest.raises(LogLockedError, match=str(tmp_path)):
            LogWriter(tmp_path)
        writer.append([record_of(1)])
    LogWriter(tmp_path).close()


def test_another_process_keeps_the_lock_until_it_is_killed(tmp_path: Path):
    program = "import sys; from pathlib import Path; from lineage_bridge.eventlog.writer import LogWriter\n"
    program += "writer = LogWriter(Path(sys.argv[1])); print('held', flush=True); sys.stdin.read()"
    command = [sys.executable, "-c", program, str(tmp_path)]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, env=child_environment()) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == b"held\n"
        with pytest.raises(LogLockedError, match=f"process {holder.pid}"):
            LogWriter(tmp_path, lock_timeout_s=0.2)
        holder.kill()
        holder.wait()
        LogWriter(tmp_path).close()


def test_many_threads_share_few_syncs(tmp_path: Path):
    disk = SlowDisk()
    with LogWriter(tmp_path, disk=disk) as writer:
        writer.append([record_of(0)])
        disk.go.clear()
        disk.waiting.clear()
        first = writer.submit([record_of(1)])
        assert disk.waiting.wait(30)
        before = disk.syncs
        others = [writer.submit([record_of(2 + 2 * n), record_of(3 + 2 * n)]) for n in range(100)]
        disk.go.set()
        offsets = first.result() + [offset for future in others for offset in future.result()]
        assert disk.syncs == before + 1
    assert content(tmp_path)[1:] == list(zip(offsets, range(1, 202), strict=True))


def test_every_thread_gets_the_offsets_of_its_own_records(tmp_path: Path):
    acknowledged: dict[int, int] = {}

    def work(thread: int) -> None:
        for turn in range(20):
            numbers = [thread * 1000 + turn * 10 + index for index in range(1 + turn % 3)]
            acknowledged.update(zip(writer.append([record_of(n, b"x" * n) for n in numbers]), numbers, strict=True))

    with LogWriter(tmp_path, segment_bytes=1 << 20) as writer:
        threads = [threading.Thread(target=work, args=(number,)) for number in range(16)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert writer.pending_bytes == 0
    assert len(acknowledged) == 16 * (7 + 14 + 18)
    assert content(tmp_path) == sorted(acknowledged.items())


def test_readers_never_see_what_is_not_synced(tmp_path: Path):
    disk = SlowDisk()
    with LogWriter(tmp_path, disk=disk) as writer:
        end = writer.append([record_of(0)])[0] + SIZE
        disk.go.clear()
        disk.waiting.clear()
        future = writer.submit([record_of(1)])
        assert disk.waiting.wait(30)
        assert segment_path(tmp_path, 1).stat().st_size == HEADER_BYTES + 2 * SIZE
        assert LogReader(tmp_path).durable_end() == writer.end() == end
        assert not future.done()
        disk.go.set()
        assert future.result() == [end]
        assert LogReader(tmp_path).durable_end() == end + SIZE


def test_a_full_queue_refuses_and_accepts_again_later(tmp_path: Path):
    disk = SlowDisk()
    with LogWriter(tmp_path, max_pending_bytes=3 * SIZE, disk=disk) as writer:
        disk.go.clear()
        accepted = [writer.submit([record_of(number)]) for number in range(3)]
        assert writer.pending_bytes == 3 * SIZE
        with pytest.raises(UnavailableError):
            writer.submit([record_of(3)])
        disk.go.set()
        offsets = [future.result()[0] for future in accepted]
        offsets += writer.append([record_of(4)])
    assert content(tmp_path) == list(zip(offsets, (0, 1, 2, 4), strict=True))


def test_a_cancelled_submission_is_dropped_alone(tmp_path: Path):
    disk = SlowDisk()
    with LogWriter(tmp_path, disk=disk) as writer:
        disk.go.clear()
        disk.waiting.clear()
        running = writer.submit([record_of(0)])
        assert disk.waiting.wait(30)
        dropped, kept = writer.submit([record_of(1)]), writer.submit([record_of(2)])
        assert dropped.cancel()
        assert not running.cancel()
        disk.go.set()
        kept.result()
        assert writer.pending_bytes == 0
    assert [number for _, number in content(tmp_path)] == [0, 2]


def test_closing_writes_queued_records(tmp_path: Path):
    writer = LogWriter(tmp_path)
    futures = [writer.submit([record_of(number)]) for number in range(50)]
    writer.close()
    writer.close()
    assert content(tmp_path) == [(future.result()[0], number) for number, future in enumerate(futures)]
    with pytest.raises(LogError):
        writer.submit([record_of(51)])


def test_a_record_over_its_limits_is_refused_alone(tmp_path: Path):
    with LogWriter(tmp_path) as writer:
        with pytest.raises(RecordError):
            writer.submit([record_of(1), LogRecord(RecordKind.EVENT, b"", 0, "", "", b"", b"")])
        writer.append([record_of(2)])
    assert [number for _, number in content(tmp_path)] == [2]


@pytest.mark.parametrize("sizes", [{"segment_bytes": HEADER_BYTES}, {"segment_bytes": 2**31}, {"max_pending_bytes": 0}])
def test_impossible_sizes_are_refused(tmp_path: Path, sizes: dict[str, int]):
    with pytest.raises(ConfigError):
        LogWriter(tmp_path, **sizes)  # type: ignore[arg-type]  # the names are of ints


def test_a_folder_that_cannot_be_made_is_a_log_error(tmp_path: Path):
    (tmp_path / "file").touch()
    with pytest.raises(LogError):
        LogWriter(tmp_path / "file" / "log")
