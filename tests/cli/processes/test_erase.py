"""The command `erase`: afterwards no file of the data folder contains the person, also after the log was folded again."""

import json
import os
import shutil
import signal
import sqlite3
import subprocess
import time
import zlib
from base64 import b64encode
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import httpx
import pytest
from tests.cli.conftest import COMMAND, Server, serving
from tests.events import dataset, facet, run_event
from tests.serving import run
from tests.serving import serving as server_with_spark

from lineage_bridge.config import DataFolder, Settings
from lineage_bridge.eventlog.archive.files import ArchivedPartition
from lineage_bridge.eventlog.archive.progress import SavedProgress
from lineage_bridge.eventlog.archive.reader import ArchiveReader
from lineage_bridge.eventlog.archive.writer import PARTS, ArchiveWriter, PartFile
from lineage_bridge.eventlog.check import check_log
from lineage_bridge.eventlog.compressed.compressor import compress_closed
from lineage_bridge.eventlog.compressed.segment_file import open_segment
from lineage_bridge.eventlog.disk import LocalDisk
from lineage_bridge.eventlog.erasing.identifier import PersonIdentifier
from lineage_bridge.eventlog.reader import LogReader
from lineage_bridge.eventlog.writer import LogWriter
from lineage_bridge.graph.ids import event_id
from lineage_bridge.graph.log_record import LogRecord, RecordKind, RecordNote, write_note
from lineage_bridge.graph.record_origin import EventPosition, RecordOrigin, StreamPartition
from lineage_bridge.model.audit import Change
from lineage_bridge.model.sources import SourceState
from lineage_bridge.store.state.database import StateDatabase
from lineage_bridge.store.state.pins import PinStore
from lineage_bridge.store.state.sources import SourceRepository
from lineage_bridge.wiring.audit import audit_trail
from lineage_bridge.wiring.erasing.erasing import erase as erase_now
from lineage_bridge.wiring.erasing.requests import erasure_requests, waiting_requests

ADA = "ada@example.com"
RUNS = [f"01940000-0000-7000-8000-{number:012x}" for number in range(6)]
ABOUT_ADA = run_event(run=RUNS[0], job="ada's", outputs=[dataset("users", owners=facet(owners=[{"name": f"user:{ADA}"}]))])
ESCAPED = run_event(run=RUNS[1], job="b", outputs=[dataset("b", note=facet(text="x"))]).replace(b'"x"', b'"\\u0061da\\u0040example.com"')
IN_BASE64 = run_event(run=RUNS[2], job="c", outputs=[dataset("c", note=facet(text=b64encode(b"to: " + ADA.encode()).decode()))])
OTHERS = [run_event(run=RUNS[number], job=f"j{number}", outputs=[dataset(f"d{number}")]) for number in (3, 4, 5)]
REJECTED = b'{"run": "none", "by": "ADA@EXAMPLE.COM"}'
WHERE = StreamPartition("topic", "life", "0")


def record(body: bytes, principal: str = "", kind: RecordKind = RecordKind.EVENT, note: bytes = b"") -> LogRecord:
    return LogRecord(kind, event_id(body), 5, "http", principal, note, body)


RECORDS = [
    record(ABOUT_ADA),
    record(OTHERS[0], f"key of {ADA}"),
    record(ESCAPED),
    record(REJECTED, kind=RecordKind.REJECTED, note=write_note(RecordNote("not_an_event", "$.by", f"who is {ADA}?"))),
    record(OTHERS[1]),
    record(IN_BASE64),
    record(run_event(run=RUNS[1], job="b", outputs=[dataset("b")])),
]


@pytest.fixture
def paths(tmp_path: Path) -> DataFolder:
    """A data folder with a person in every part of it; some segments are compressed."""
    found = DataFolder(tmp_path / "data")
    with LogWriter(found.log, segment_bytes=3_000) as log:
        for written in RECORDS:
            log.append([written])
    compress_closed(found.log, LocalDisk(), least=2_000)
    with LogWriter(found.log, segment_bytes=3_000) as log:
        log.append([record(OTHERS[2])])
    (found.log / "0000000001-0000000028.cut").write_bytes(b"cut out: " + ADA.encode())
    (found.log / "0000000001.log.new").write_bytes(ABOUT_ADA)
    archive_events(found)
    Server("", found).fold()
    state = StateDatabase(found.state)
    PinStore(state).keep("/lineage?q=a", "users of ada", ADA, 1)
    sources = SourceRepository(state)
    sources.save_poll("s", SourceState(polls=1), json.dumps({"owner": ADA}).encode(), [("/lineage", ABOUT_ADA), ("/lineage", OTHERS[0])])
    audit_trail(Settings(data_dir=found.data_dir)).record(Change(ADA, "127.0.0.1", "POST /pins", "users", "{}"))
    audit_trail(Settings(data_dir=found.data_dir)).record(Change("bob", "127.0.0.1", "POST /pins", "users", "{}"))
    state.copy_to(found.state_copy)
    found.logs.mkdir()
    (found.logs / "spark.log").write_text(f"user {ADA} failed\n")
    (found.spark / "checkpoints").mkdir(parents=True)
    (found.spark / "checkpoints" / "offsets").write_bytes(zlib.compress(ABOUT_ADA))
    found.analysis.write_text(f'{{"owner": "{ADA}"}}\n')
    return found


def archive_events(paths: DataFolder) -> None:
    writer, of = ArchiveWriter(paths.archive), ArchivedPartition("orders", WHERE)
    with writer.parts() as folder:
        file = PartFile(folder)
        for offset, body in enumerate((ABOUT_ADA, OTHERS[0])):
            origin = RecordOrigin("orders", WHERE.stream, WHERE.life, WHERE.partition, offset, key=ADA)
            file.append(record(body, "input orders", note=write_note(RecordNote(origin=origin))))
        file.close()
        writer.put({of: (0, EventPosition(2, 0).address)}, {of: [file.path]})
    SavedProgress(ArchiveReader(paths.archive), "orders").save()
    unfinished = paths.archive / PARTS / "of-a-killed-process"
    unfinished.mkdir()
    (unfinished / "part").write_bytes(ABOUT_ADA)


def files_with(paths: DataFolder, text: str = ADA) -> list[str]:
    """The files that contain a text in any encoding: segments are uncompressed, of databases all bytes and what is compressed in them."""
    identifier = PersonIdentifier(text)
    found = []
    for path in sorted(path for path in paths.data_dir.rglob("*") if path.is_file()):
        with open_segment(path) as file:
            content = file.read(file.size, 0)
        if path.name.startswith("state.db") and path.stat().st_size and "-" not in path.name:
            with closing(sqlite3.connect(path)) as database:
                rows = database.execute("SELECT snapshot FROM source_state WHERE snapshot IS NOT NULL").fetchall()
                content += b"".join(zlib.decompress(snapshot) for (snapshot,) in rows)
        if identifier.is_in(content) or identifier.is_in(path.name.encode()):
            found.append(str(path.relative_to(paths.data_dir)))
    return found


def erase(call, paths: DataFolder, *line: str) -> dict:
    done = call("erase", *line, "--json", "--data-dir", paths.data_dir)
    assert done.code == 0, done.err
    report: dict = json.loads(done.out)
    return report


def test_after_erasing_a_person_no_byte_of_the_data_folder_names_them(call, paths: DataFolder):
    before = files_with(paths)
    assert {name.split("/")[0] for name in before} >= {"log", "archive", "graph.db", "state.db", "state.db.copy", "logs", "analysis.ndjson"}
    report = erase(call, paths, "person", "Ada@Example.com")
    assert files_with(paths) == []
    assert (report["status"], report["erased"], report["masked"], report["records"]) == ("done", 5, 2, 10)
    assert report["repeats"] == 4
    assert report["rows"] == {"audit": 1, "outbox_message": 1, "pin": 1, "source_state": 1}
    assert {"graph.db", "logs/spark.log", "spark", "log/0000000001-0000000028.cut", "analysis.ndjson"} <= set(report["removed"])
    assert "archive/orders/progress.json" in report["removed"]
    assert SavedProgress(ArchiveReader(paths.archive), "orders").progress.accepted == 2
    assert any("backups" in line for line in report["elsewhere"])
    assert not list(paths.erasing.iterdir())

    Server("", paths).fold()
    assert files_with(paths) == []
    verified, checked = call("verify", "--data-dir", paths.data_dir), call("log", "check", "--data-dir", paths.data_dir)
    assert (verified.code, checked.code) == (0, 0), verified.out + checked.out
    assert call("audit", "verify", "--data-dir", paths.data_dir).code == 0
    exported = call("export", "--data-dir", paths.data_dir).out
    assert "d3" in exported
    assert "users" not in exported
    assert [message.body for message in SourceRepository(StateDatabase(paths.state)).pending_messages(9)] == [OTHERS[0]]


def test_a_dry_run_says_what_goes_and_changes_nothing(call, paths: DataFolder):
    before = files_with(paths)
    log = {path: path.read_bytes() for path in paths.log.iterdir()}
    report = erase(call, paths, "person", ADA, "--dry-run")
    assert (report["status"], report["dry_run"], report["erased"], report["masked"]) == ("done", True, 5, 2)
    assert report["rows"] == {"audit": 1, "outbox_message": 1, "pin": 1, "source_state": 1}
    assert files_with(paths) == before
    assert {path: path.read_bytes() for path in paths.log.iterdir() if path.name != "lock"} == {
        path: content for path, content in log.items() if path.name != "lock"
    }


def test_a_repeat_of_an_erased_event_does_not_bring_it_back(call, paths: DataFolder):
    erase(call, paths, "person", ADA)
    with serving(paths.data_dir) as server:
        for body in (ABOUT_ADA, ESCAPED, REJECTED, OTHERS[1]):
            httpx.post(f"{server.url}/api/v1/lineage", content=body, headers={"Content-Type": "application/json"})
    assert files_with(paths) == []
    Server("", paths).fold()
    assert files_with(paths) == []
    reader = LogReader(paths.log)
    last = [found.kind for _, found in reader.read(0, reader.durable_end())][-4:]
    assert last == [RecordKind.ERASED] * 3 + [RecordKind.EVENT]


def test_the_proof_names_what_was_erased_only_to_who_knows_it(call, paths: DataFolder):
    report = erase(call, paths, "person", ADA)
    shown = call("erase", "show", report["id"], "--of", "ADA@example.com", "--data-dir", paths.data_dir)
    assert (shown.code, "this is what was erased" in shown.err) == (0, True)
    assert "5 erased and 2 masked" in shown.out
    other = call("erase", "show", report["id"], "--of", "bob@example.com", "--data-dir", paths.data_dir)
    assert (other.code, "something else was erased" in other.err) == (1, True)
    listed = call("erase", "list", "--data-dir", paths.data_dir)
    assert report["id"] in listed.out
    assert ADA not in listed.out + shown.out


def test_what_only_the_graph_has_is_erased_too(call, paths: DataFolder):
    erase(call, paths, "namespace", "ns")
    shutil.rmtree(paths.log)
    with LogWriter(paths.log) as log:
        log.append([record(ABOUT_ADA)])
    Server("", paths).fold()
    shutil.rmtree(paths.log)
    assert "graph.db" in files_with(paths)
    report = erase(call, paths, "person", ADA)
    assert (report["erased"], "graph.db" in report["removed"]) == (0, True)
    assert files_with(paths) == []


def test_what_only_an_operator_can_change_is_named(call, paths: DataFolder):
    SourceRepository(StateDatabase(paths.state)).save("s", "connect", {"url": "http://h:8083", "username": ADA})
    done = call("erase", "person", ADA, "--data-dir", paths.data_dir)
    assert (done.code, "left: source in state.db (1)" in done.out, "incomplete" in done.out) == (1, True, True)
    SourceRepository(StateDatabase(paths.state)).remove("s")
    assert erase(call, paths, "person", ADA)["status"] == "done"
    assert files_with(paths) == []


@pytest.mark.parametrize(
    ("line", "gone", "erased"),
    [(("dataset", "ns", "d4"), "d4", 1), (("run", RUNS[4]), "d4", 1), (("namespace", "ns"), "d3", 9)],
    ids=["dataset", "run", "namespace"],
)
def test_datasets_runs_and_namespaces_are_erased(call, paths: DataFolder, line: tuple[str, ...], gone: str, erased: int):
    assert f'"{gone}"' in call("export", "--data-dir", paths.data_dir).out
    assert erase(call, paths, *line)["erased"] == erased
    Server("", paths).fold()
    assert f'"{gone}"' not in call("export", "--data-dir", paths.data_dir).out
    assert call("log", "check", "--data-dir", paths.data_dir).code == 0


@pytest.mark.parametrize("line", [("person", "ab"), ("run", "x"), ("dataset", "", "a"), ("namespace", "")], ids=str)
def test_requests_that_cannot_be_meant_are_refused(call, paths: DataFolder, line: tuple[str, ...]):
    refused = call("erase", *line, "--data-dir", paths.data_dir)
    assert refused.code == 2
    assert not list(paths.erasing.glob("*"))


def test_damage_must_be_repaired_first(call, paths: DataFolder):
    path = paths.log / "0000000001.log"
    path = path if path.exists() else path.with_name("0000000002.log")
    data = bytearray(path.read_bytes())
    data[200] ^= 0x5A
    path.write_bytes(data)
    failed = call("erase", "person", ADA, "--data-dir", paths.data_dir)
    assert (failed.code, "log repair" in failed.err) == (1, True)
    assert "failed" in call("erase", "list", "--data-dir", paths.data_dir).out
    assert call("log", "repair", "--data-dir", paths.data_dir).code == 0
    assert call("erase", "resume", "--data-dir", paths.data_dir).code == 0
    assert files_with(paths) == []


class _KilledError(BaseException):
    """The process ends here, and nothing is put in order."""


def test_an_erasure_that_ends_before_any_step_is_finished_later(call, paths: DataFolder, tmp_path: Path):
    settings = Settings(data_dir=paths.data_dir)
    request = erasure_requests(settings).request("person", ADA, "", False)
    (waiting,) = waiting_requests(paths)
    steps: list[str] = []
    whole = Path(shutil.copytree(paths.data_dir, tmp_path / "whole"))
    erase_now(Settings(data_dir=whole), waiting, steps.append)
    assert "the state database" in steps
    for number in range(len(steps)):
        folder = Path(shutil.copytree(paths.data_dir, tmp_path / str(number)))
        left = iter(range(number))

        def die(_: str, left: Iterator[int] = left) -> None:
            if next(left, None) is None:
                raise _KilledError

        own = Settings(data_dir=folder)
        with pytest.raises(_KilledError):
            erase_now(own, waiting, die)
        assert check_log(folder / "log").damage == (), steps[number]
        report = erase_now(own, waiting)
        assert (report.status, report.erased, report.masked, report.repeats) == ("done", 5, 2, 4), steps[number]
        assert files_with(DataFolder(folder)) == [], steps[number]
        shutil.rmtree(folder)
    assert call("erase", "show", request.id, "--data-dir", whole).code == 0


def test_a_running_server_erases_and_answers_again(tmp_path: Path):
    with server_with_spark(tmp_path) as served:
        send(served.url, ABOUT_ADA, ESCAPED, OTHERS[0])
        assert served.ask("/lineage/datasets/detail", namespace="ns", name="users")["facets"]["owners"]
        counted = request_over_http(served.url, kind="person", name=ADA, dry_run=True)
        assert (counted["erased"], counted["dry_run"]) == (2, True)
        erased = request_over_http(served.url, kind="person", name=ADA)
        assert (erased["erased"], erased["rows"]) == (2, {"audit": 2})
        assert files_with(served.paths) == []
        send(served.url, ABOUT_ADA, OTHERS[1])
        assert {item["name"] for item in served.ask("/lineage/datasets")} == {"d3", "d4"}
        run("erase", "run", RUNS[3], "--data-dir", served.paths.data_dir)
        assert {item["name"] for item in served.ask("/lineage/datasets")} == {"d4"}
    assert files_with(served.paths) == []


def request_over_http(url: str, **body: object) -> dict:
    """Request an erasure, and return its proof when it is finished."""
    asked = httpx.post(f"{url}/api/v1/erasures", json=body, timeout=120)
    assert asked.status_code == 202, asked.text
    deadline, report = time.monotonic() + 240, asked.json()
    while report["status"] in ("waiting", "running"):
        assert time.monotonic() < deadline
        time.sleep(0.2)
        report = httpx.get(f"{url}/api/v1/erasures/{report['id']}", timeout=120).json()
    found: dict = report
    return found


def send(url: str, *bodies: bytes) -> None:
    for body in bodies:
        sent = httpx.post(f"{url}/api/v1/lineage", content=body, headers={"Content-Type": "application/json"}, timeout=120)
        assert sent.status_code == 201, sent.text


@pytest.mark.parametrize("after_s", [0.0, 0.1, 0.4])
def test_an_erasure_that_was_killed_is_finished_later(call, paths: DataFolder, after_s: float):
    process = subprocess.Popen(
        [*COMMAND, "erase", "person", ADA, "--data-dir", str(paths.data_dir)],
        env={name: value for name, value in os.environ.items() if not name.startswith("LINEAGE_BRIDGE_")},
        stderr=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
    )
    assert process.stderr is not None
    process.stderr.readline()
    time.sleep(after_s)
    process.send_signal(signal.SIGKILL)
    process.communicate()
    assert call("log", "check", "--data-dir", paths.data_dir).code == 0
    assert call("erase", "resume", "--data-dir", paths.data_dir).code == 0
    assert files_with(paths) == []
    (report,) = json.loads(call("erase", "list", "--json", "--data-dir", paths.data_dir).out)
    assert (report["status"], report["erased"], report["masked"]) == ("done", 5, 2)
    Server("", paths).fold()
    assert call("verify", "--data-dir", paths.data_dir).code == 0
    assert len(list(ArchiveReader(paths.archive).read("input/orders/topic/life", 0, 0, EventPosition(2, 0).address))) == 2
