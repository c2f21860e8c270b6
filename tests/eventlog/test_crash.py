"""Whatever moment a process dies or the power fails at: what was acknowledged is there, at its offset, once."""

import os
import random
import shutil
import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest
from tests.eventlog.support import child_environment, newest_segment, number_of, opened_name, record_of

from lineage_bridge.eventlog.disk import LocalDisk
from lineage_bridge.eventlog.reader import LogReader
from lineage_bridge.eventlog.record_format import encode_record
from lineage_bridge.eventlog.segment import HEADER_BYTES
from lineage_bridge.eventlog.writer import LogWriter

ROUNDS = 8
APPENDER = """
import os, sys, threading
from pathlib import Path
from lineage_bridge.eventlog.writer import LogWriter
from tests.eventlog.support import record_of

writer = LogWriter(Path(sys.argv[1]), segment_bytes=200_000)
first = int(sys.argv[2])

def work(thread):
    for number in range(first + thread, first + 10_000_000, 4):
        offset, = writer.append([record_of(number, b"x" * (number * 37 % 9_000))])
        os.write(1, b"%d %d\\n" % (offset, number))

for thread in range(4):
    threading.Thread(target=work, args=(thread,)).start()
"""


def content(directory: Path) -> dict[int, int]:
    reader = LogReader(directory)
    return {offset: number_of(record) for offset, record in reader.read(0, reader.durable_end())}


def killed_appender(directory: Path, first: int, acknowledgements: int) -> list[tuple[int, int]]:
    """The (offset, number) a process acknowledged before it was killed, soon after so many of them."""
    command = [sys.executable, "-c", APPENDER, str(directory), str(first)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, env=child_environment()) as appender:
        assert appender.stdout is not None
        lines = [appender.stdout.readline() for _ in range(acknowledgements)]
        appender.send_signal(signal.SIGKILL)
        lines += appender.stdout.readlines()
    assert appender.returncode == -signal.SIGKILL
    return [(int(offset), int(number)) for offset, number in (line.split() for line in lines)]


def test_kill_9_loses_nothing_acknowledged(tmp_path: Path):
    chance = random.Random(7)
    acknowledged: dict[int, int] = {}
    for turn in range(ROUNDS):
        fresh = killed_appender(tmp_path, turn * 10_000_000, chance.randrange(1, 300))
        assert not acknowledged.keys() & dict(fresh).keys()
        acknowledged.update(fresh)
        with LogWriter(tmp_path, segment_bytes=200_000) as writer:
            assert writer.recovery.saved is None
        found = content(tmp_path)
        assert found.items() >= acknowledged.items()
        assert len(set(found.values())) == len(found)


class RecordedDisk(LocalDisk):
    """A disk that before each of its operations keeps what a power loss at that moment might leave of a folder."""

    def __init__(self, directory: Path, images: Path) -> None:
        self.directory = directory
        self.images = images
        self.acknowledged: dict[int, int] = {}
        self.moments: list[tuple[Path, dict[int, int]]] = []
        self._synced = {path.name: path.stat().st_size for path in directory.glob("*.log")}
        self._named = set(self._synced)

    def _record(self) -> None:
        for share in (0.0, 0.3, 0.99, 1.0):
            self._image(share, forget_names=False)
        self._image(0.0, forget_names=True)

    def _image(self, share: float, *, forget_names: bool) -> None:
        """Of what was not synced, keep a share; of names that were not, keep all or none. The mark is any page: kept."""
        image = self.images / str(len(self.moments))
        image.mkdir()
        for path in sorted(self.directory.iterdir()):
            if path.suffix == ".log" and not (forget_names and path.name not in self._named):
                size, safe = path.stat().st_size, self._synced.get(path.name, 0)
                (image / path.name).write_bytes(path.read_bytes()[: safe + int(share * max(0, size - safe))])
            elif path.name == "durable":
                shutil.copy(path, image)
        self.moments.append((image, dict(self.acknowledged)))

    def create(self, path: Path) -> int:
        self._record()
        self._synced[path.name] = 0
        return super().create(path)

    def write(self, fd: int, pieces: Sequence[bytes | memoryview], byte: int) -> int:
        self._record()
        return super().write(fd, pieces, byte)

    def sync(self, fd: int) -> None:
        self._record()
        super().sync(fd)
        self._synced[opened_name(fd)] = os.fstat(fd).st_size

    def sync_directory(self, directory: Path) -> None:
        self._record()
        super().sync_directory(directory)
        self._named = {path.name for path in self.directory.iterdir()}


def test_a_power_loss_at_any_operation_loses_nothing_acknowledged(tmp_path: Path):
    directory, images = tmp_path / "log", tmp_path / "images"
    directory.mkdir()
    images.mkdir()
    disk = RecordedDisk(directory, images)
    with LogWriter(directory, segment_bytes=HEADER_BYTES + 2 * len(encode_record(record_of(0))), disk=disk) as writer:
        for number in range(5):
            disk.acknowledged[writer.append([record_of(number)])[0]] = number
    assert len(disk.moments) > 100
    for image, acknowledged in disk.moments:
        assert content(image).items() >= acknowledged.items()
        with LogWriter(image) as writer:
            found = content(image)
            assert found.items() >= acknowledged.items()
            assert list(found.values()) == list(range(len(found)))
            assert writer.recovery.saved is None
            added = writer.append([record_of(99)])[0]
        assert content(image) == {**found, added: 99}


def test_a_power_loss_during_a_start_removes_nothing_that_readers_saw(tmp_path: Path):
    directory, images = tmp_path / "log", tmp_path / "images"
    images.mkdir()
    with LogWriter(directory) as writer:
        acknowledged = {writer.append([record_of(number)])[0]: number for number in range(2)}
    disk = RecordedDisk(directory, images)
    with newest_segment(directory).open("ab") as segment:
        segment.write(encode_record(record_of(2)) + b"torn")
    LogWriter(directory, disk=disk).close()
    assert len(content(directory)) == 3
    for image, _ in disk.moments:
        seen = content(image)
        assert seen.items() >= acknowledged.items()
        LogWriter(image).close()
        assert content(image).items() >= seen.items()


def test_the_recorded_disk_shows_a_log_that_answers_before_it_syncs(tmp_path: Path):
    directory, images = tmp_path / "log", tmp_path / "images"
    directory.mkdir()
    images.mkdir()

    class HastyDisk(RecordedDisk):
        def sync(self, fd: int) -> None:  # noqa: ARG002 the fault is that nothing is done with it
            self._record()

    disk = HastyDisk(directory, images)
    with LogWriter(directory, disk=disk) as writer:
        for number in range(2):
            disk.acknowledged[writer.append([record_of(number)])[0]] = number
    losses = 0
    for image, acknowledged in disk.moments:
        LogWriter(image).close()
        losses += not content(image).items() >= acknowledged.items()
    assert losses


@pytest.mark.parametrize("number", [1, 9])
def test_a_killed_reader_or_writer_leaves_no_lock(tmp_path: Path, number: int):
    assert killed_appender(tmp_path, 0, number)
    LogWriter(tmp_path).close()
