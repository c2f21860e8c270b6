"""Erasing records in the files of the log: nothing of them stays, nothing else moves, and a crash leaves the old or the new file."""

import json
import shutil
from pathlib import Path

import msgspec
import pytest
from tests.eventlog.support import FaultyDisk

from lineage_bridge.errors import LogError
from lineage_bridge.eventlog.check import check_log
from lineage_bridge.eventlog.compressed.compressor import compress_closed
from lineage_bridge.eventlog.compressed.segment_file import damaged_frames, open_segment, stored_path
from lineage_bridge.eventlog.disk import LocalDisk
from lineage_bridge.eventlog.erasing.rewriting import FileErasure, erase_in_log, leftovers
from lineage_bridge.eventlog.erasing.selection import choose_records
from lineage_bridge.eventlog.reader import LogReader
from lineage_bridge.eventlog.segment import list_segments, segment_path
from lineage_bridge.eventlog.writer import LogWriter
from lineage_bridge.graph.ids import event_id
from lineage_bridge.graph.log_record import LogRecord, RecordKind, RecordNote, write_note
from lineage_bridge.graph.record_origin import RecordOrigin, read_origin
from lineage_bridge.model.erasing.erasure import DATASET, NAMESPACE, PERSON, RUN, ErasureRequest

ADA = "ada@example.com"
RUN_ID = "01940000-0000-7000-8000-000000000ada"
SEGMENT_BYTES = 40_000
ORIGIN = RecordOrigin("orders", "topic", "life", "0", 7, key="k")


def events() -> list[LogRecord]:
    """Some events; every tenth names Ada, and every seventh was sent by her."""
    found = []
    for number in range(300):
        run = RUN_ID if number == 50 else f"01940000-0000-7000-8000-{number:012x}"
        event = {
            "run": {"runId": run},
            "job": {"namespace": "jobs" if number % 2 else "ftp://old", "name": f"job {number}"},
            "inputs": [{"namespace": "kafka://a", "name": f"topic {number % 20}", "facets": {"filler": "x" * (number * 7 % 500)}}],
        }
        if number % 10 == 0:
            event["owner"] = f"user:{ADA}"
        body = json.dumps(event).encode()
        note = write_note(RecordNote(origin=ORIGIN, message="m")) if number % 10 == 0 else b""
        sender = f"{ADA}/key" if number % 7 == 0 else "input orders" if number % 10 == 0 else "sender"
        kind = RecordKind.REJECTED if number % 30 == 0 else RecordKind.EVENT
        found.append(LogRecord(kind, event_id(body), 1_000_000 + number, "http", sender, note, body))
    return found


@pytest.fixture(scope="module", params=["plain", "compressed"])
def written(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = Path(tmp_path_factory.mktemp("erasing") / "log")
    with LogWriter(folder, segment_bytes=SEGMENT_BYTES) as log:
        for record in events():
            log.append([record])
    if request.param == "compressed":
        assert compress_closed(folder, LocalDisk(), least=1) > 1
    return folder


@pytest.fixture
def folder(written: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(written, tmp_path / "log"))


def everything(folder: Path) -> dict[int, LogRecord]:
    reader = LogReader(folder)
    return dict(reader.read(0, reader.durable_end()))


def content(folder: Path) -> bytes:
    """All bytes of all segments, uncompressed."""
    found = b""
    for number in list_segments(folder):
        with open_segment(segment_path(folder, number)) as file:
            found += file.read(file.size, 0)
    return found


def erase(folder: Path, request: ErasureRequest, disk: LocalDisk | None = None, *, dry_run: bool = False) -> list[FileErasure]:
    found: list[FileErasure] = []

    def note(file: FileErasure) -> bool:
        found.append(file)
        return not dry_run

    erase_in_log(folder, choose_records(request), disk or LocalDisk(), note)
    return found


def test_a_person_leaves_the_log_and_nothing_else_moves(folder: Path) -> None:
    before = everything(folder)
    assert ADA.encode() in content(folder)
    found = erase(folder, ErasureRequest("1", PERSON, "ADA@Example.com"))
    after = everything(folder)
    assert ADA.encode() not in content(folder)
    assert list(after) == list(before)
    assert check_log(folder).damage == ()
    assert all(damaged_frames(stored_path(segment_path(folder, number))) == [] for number in list_segments(folder))
    named = [record for record in events() if ADA.encode() in record.body]
    assert sorted(id_ for file in found for id_ in file.erased_ids) == sorted(record.event_id for record in named)
    assert sum(file.erased for file in found) == len(named)
    assert sum(file.masked for file in found) == len([record for record in events() if ADA in record.principal and record not in named])
    for old, new in zip(before.values(), after.values(), strict=True):
        assert (new.event_id, new.arrival_us) == (old.event_id, old.arrival_us)
        if ADA.encode() in old.body:
            assert (new.kind, new.body) == (RecordKind.ERASED, b"")
            assert read_origin(new.note) == msgspec.structs.replace(ORIGIN, key="")
        else:
            assert (new.kind, new.body) == (old.kind, old.body)
            assert new.principal == old.principal.replace(ADA, "#" * len(ADA))


def test_an_input_still_finds_its_erased(folder: Path) -> None:
    erase(folder, ErasureRequest("1", PERSON, ADA))
    assert any(record.kind == RecordKind.ERASED and record.principal == "input orders" for record in everything(folder).values())


@pytest.mark.parametrize(
    ("request_", "count"),
    [
        (ErasureRequest("1", RUN, RUN_ID.upper()), 1),
        (ErasureRequest("1", DATASET, "topic 3", "kafka://a"), 15),
        (ErasureRequest("1", DATASET, "job 4", "ftp://old"), 0),
        (ErasureRequest("1", NAMESPACE, namespace="ftp://old"), 150),
        (ErasureRequest("1", NAMESPACE, namespace="ftp://"), 0),
    ],
)
def test_runs_datasets_and_namespaces_are_erased_by_their_names(folder: Path, request_: ErasureRequest, count: int) -> None:
    assert sum(file.erased for file in erase(folder, request_)) == count
    assert sum(record.kind == RecordKind.ERASED for record in everything(folder).values()) == count
    assert sum(file.erased for file in erase(folder, request_)) == 0


def test_a_dry_run_changes_nothing(folder: Path) -> None:
    before = {path: path.read_bytes() for path in folder.iterdir()}
    assert sum(file.erased for file in erase(folder, ErasureRequest("1", PERSON, ADA), dry_run=True)) == 30
    assert {path: path.read_bytes() for path in folder.iterdir()} == before


class CrashError(Exception):
    """The process ends here."""


class CrashingDisk(LocalDisk):
    """Ends the process at one of the calls that change the disk."""

    def __init__(self, at: int) -> None:
        self.left = at

    def _step(self) -> None:
        self.left -= 1
        if self.left < 0:
            raise CrashError

    def create(self, path: Path) -> int:
        self._step()
        return super().create(path)

    def write(self, fd, pieces, byte: int) -> int:
        self._step()
        return super().write(fd, pieces, byte)

    def sync(self, fd: int) -> None:
        self._step()
        super().sync(fd)

    def sync_directory(self, directory: Path) -> None:
        self._step()
        super().sync_directory(directory)


@pytest.mark.parametrize("at", range(0, 40, 3))
def test_after_a_crash_the_rest_is_erased(folder: Path, at: int) -> None:
    before, request = everything(folder), ErasureRequest("1", PERSON, ADA)
    try:
        erase(folder, request, CrashingDisk(at))
    except CrashError:
        assert check_log(folder).damage == ()
        assert list(everything(folder)) == list(before)
    erase(folder, request)
    assert ADA.encode() not in content(folder)
    assert list(everything(folder)) == list(before)


def test_what_killed_processes_left_is_found(folder: Path) -> None:
    first = segment_path(folder, 1)
    unfinished = [first.with_name(f"{first.name}.new"), first.with_name(f"{first.name}.zst.new")]
    for path in unfinished:
        path.write_bytes(ADA.encode())
    if first.exists():
        unfinished.append(first.with_name(f"{first.name}.zst"))
        unfinished[-1].write_bytes(ADA.encode())
    assert sorted(leftovers(folder, folder.parent / "archive")) == sorted(unfinished)


def test_bytes_after_the_last_record_of_a_segment_go_too(folder: Path) -> None:
    last = segment_path(folder, list_segments(folder)[-1])
    size = last.stat().st_size
    with last.open("ab") as file:
        file.write(f"an unfinished write of {ADA}".encode())
    erase(folder, ErasureRequest("1", PERSON, "nobody@example.com"))
    assert last.stat().st_size == size


def test_bytes_that_cannot_be_read_must_be_repaired_first(folder: Path) -> None:
    path = segment_path(folder, list_segments(folder)[-1])
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 0x5A
    path.write_bytes(data)
    with pytest.raises(LogError, match="bytes that cannot be read"):
        erase(folder, ErasureRequest("1", PERSON, ADA))


@pytest.mark.parametrize("room", [0, 3_000, 10_000])
def test_a_full_disk_leaves_whole_segments(folder: Path, room: int) -> None:
    disk, before = FaultyDisk(), everything(folder)
    disk.room = room
    with pytest.raises(OSError, match="space"):
        erase(folder, ErasureRequest("1", PERSON, ADA), disk)
    assert list(everything(folder)) == list(before)
    assert check_log(folder).damage == ()
    assert not list(folder.glob("*.new"))


@pytest.mark.parametrize("goes_on", [False, True])
def test_a_segment_that_lost_its_end_does_not_prevent_erasing(tmp_path: Path, goes_on: bool) -> None:
    folder = tmp_path / "log"
    with LogWriter(folder) as log:
        for record in events()[:20]:
            log.append([record])
        (*_, last) = [found.event_id for _, found in LogReader(folder).read(0, log.end())]
    assert last == events()[19].event_id
    path = segment_path(folder, 1)
    at = [offset for offset, _ in LogReader(folder).read(0, LogReader(folder).durable_end())][-1]
    with path.open("r+b") as file:
        file.truncate(at & 0xFFFFFFFF)
    if goes_on:
        with LogWriter(folder) as log:
            log.append([events()[30]])
    assert [damage.kind for damage in check_log(folder).damage] == ["shortened"]
    assert sum(file.erased for file in erase(folder, ErasureRequest("1", PERSON, ADA))) == 2 + goes_on
    assert ADA.encode() not in content(folder)
