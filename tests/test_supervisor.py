"""The supervisor over small real processes: what dies is started again, what runs is stopped in order."""

import os
import signal
import sys
import threading
import time
from contextlib import contextmanager
from pathlib import Path

import msgspec
import pytest

from lineage_bridge import supervisor
from lineage_bridge.config import DataFolder, Settings
from lineage_bridge.errors import UnavailableError
from lineage_bridge.model.erasing.erasure import ErasureRequest
from lineage_bridge.supervisor import Program, ending, pause, programs, supervise, write_status
from lineage_bridge.wiring.erasing.server import ErasureProcess

WRITE = """
import os, select, signal, sys, time
path = sys.argv[1]
def note(word):
    with open(path, "a") as file:
        file.write(f"{word} {sys.argv[2]} {os.getpid()}\\n")
def stop(*_):
    note("stopped")
    sys.exit(0)
signal.signal(signal.SIGTERM, stop if sys.argv[3] == "polite" else signal.SIG_IGN)
note("started")
if sys.argv[3] == "watching":
    note("alone" if select.select([0], [], [], 0)[0] else "watched")
    os.read(0, 1)
    note("orphaned")
    sys.exit(0)
while True:
    time.sleep(0.02)
"""


def program(notes: Path, name: str, manner: str = "polite", grace_s: float = 10.0) -> Program:
    return Program(name, (sys.executable, "-c", WRITE, str(notes), name, manner), grace_s=grace_s)


@contextmanager
def supervised(*programs: Program, stop_timeout_s: float = 60.0, erasures: ErasureProcess | None = None):
    stop, kill_now = threading.Event(), threading.Event()
    thread = threading.Thread(target=supervise, args=(programs, os.environ, stop, kill_now, stop_timeout_s, erasures))
    thread.start()
    try:
        yield stop, kill_now
    finally:
        stop.set()
        kill_later = threading.Timer(20, kill_now.set)
        kill_later.start()
        thread.join()
        kill_later.cancel()


def noted(notes: Path, count: int, within_s: float = 20.0) -> list[list[str]]:
    deadline = time.monotonic() + within_s
    while time.monotonic() < deadline:
        lines = [line.split() for line in notes.read_text().splitlines()] if notes.exists() else []
        if len(lines) >= count:
            return lines
        time.sleep(0.02)
    raise AssertionError(f"{count} notes were expected within {within_s} s, there are {lines}")


def test_a_killed_child_is_started_again_and_the_others_stay(tmp_path):
    notes = tmp_path / "notes"
    with supervised(program(notes, "one"), program(notes, "two")):
        pids = {name: int(pid) for _, name, pid in noted(notes, 2)}
        killed_at = time.monotonic()
        os.kill(pids["one"], signal.SIGKILL)
        again = noted(notes, 3)[2]
        assert time.monotonic() - killed_at >= supervisor.FIRST_PAUSE_S
        assert again[:2] == ["started", "one"]
        assert int(again[2]) != pids["one"]
        os.kill(pids["two"], 0)


def test_a_stopped_child_is_killed_and_started_again(tmp_path, caplog):
    notes = tmp_path / "notes"
    with supervised(program(notes, "one")):
        pid = int(noted(notes, 1)[0][2])
        stopped_at = time.monotonic()
        os.kill(pid, signal.SIGSTOP)
        again = noted(notes, 2, within_s=supervisor.STOPPED_S + 20)[1]
    assert time.monotonic() - stopped_at >= supervisor.STOPPED_S
    assert again[0] == "started"
    assert int(again[2]) != pid
    assert "one is suspended" in caplog.text


def test_a_child_that_continues_stays(tmp_path):
    notes = tmp_path / "notes"
    with supervised(program(notes, "one")):
        pid = int(noted(notes, 1)[0][2])
        os.kill(pid, signal.SIGSTOP)
        time.sleep(0.5)
        assert supervisor.is_stopped(pid)
        os.kill(pid, signal.SIGCONT)
        deadline = time.monotonic() + 10
        while supervisor.is_stopped(pid):
            assert time.monotonic() < deadline
            time.sleep(0.02)
        os.kill(pid, 0)


def test_programs_are_stopped_in_their_order(tmp_path):
    notes = tmp_path / "notes"
    with supervised(program(notes, "one"), program(notes, "two")):
        noted(notes, 2)
    assert [line[:2] for line in noted(notes, 4)[2:]] == [["stopped", "one"], ["stopped", "two"]]


def test_a_program_that_does_not_stop_is_killed_after_its_grace_period(tmp_path):
    notes = tmp_path / "notes"
    with supervised(program(notes, "deaf", "deaf", grace_s=0.5)):
        pid = int(noted(notes, 1)[0][2])
        began = time.monotonic()
    assert 0.4 < time.monotonic() - began < 10
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)


def test_everything_has_ended_within_the_limit_for_stopping(tmp_path):
    notes = tmp_path / "notes"
    with supervised(program(notes, "deaf", "deaf", 60), program(notes, "polite"), program(notes, "mute", "deaf", 60), stop_timeout_s=1.0):
        pids = {name: int(pid) for _, name, pid in noted(notes, 3)}
        began = time.monotonic()
    assert 0.9 < time.monotonic() - began < 15
    for pid in pids.values():
        with pytest.raises(ProcessLookupError):
            os.kill(pid, 0)


def test_a_second_signal_does_not_wait(tmp_path):
    notes = tmp_path / "notes"
    with supervised(program(notes, "deaf", "deaf", grace_s=60)) as (stop, kill_now):
        noted(notes, 1)
        began = time.monotonic()
        stop.set()
        kill_now.set()
    assert time.monotonic() - began < 10


def test_a_child_learns_that_its_supervisor_was_killed(tmp_path):
    notes = tmp_path / "notes"
    code = f"""
import os, threading
from lineage_bridge.supervisor import Program, supervise
program = Program("watching", {program(notes, "watching", "watching").command!r})
supervise([program], os.environ, threading.Event(), threading.Event())
"""
    pid = os.spawnv(os.P_NOWAIT, sys.executable, [sys.executable, "-c", code])
    assert [line[0] for line in noted(notes, 2)] == ["started", "watched"]
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
    assert noted(notes, 3)[2][0] == "orphaned"


def test_pauses_grow_to_a_limit():
    assert [pause(failures) for failures in (1, 2, 3, 4, 5, 6, 60)] == [1, 2, 4, 8, 16, 30, 30]


def test_endings_are_described():
    assert ending(-9) == "killed by SIGKILL"
    assert ending(1) == "exit code 1"


def test_a_second_server_on_the_same_data_names_the_address_of_the_first(tmp_path):
    settings = Settings(data_dir=tmp_path, port=8123)
    with supervisor._exclusive(settings.paths):
        write_status(settings)
        with pytest.raises(UnavailableError, match=rf"already running at http://127.0.0.1:8123 \(process {os.getpid()}\)"):
            supervisor._exclusive(settings.paths).__enter__()


def test_the_lock_is_free_again_afterwards(tmp_path):
    settings = Settings(data_dir=tmp_path)
    for _ in range(2):
        with supervisor._exclusive(settings.paths):
            pass


def test_inputs_stop_while_the_api_still_answers_them() -> None:
    """Nobody accepts the connections of the socket, which stays open, once the API has ended."""
    names = [program.name for program in programs(7)]
    assert sorted(names) == ["api", "inputs", "observe", "pipeline", "publisher"]
    assert names.index("inputs") < names.index("api")
    assert [program.descriptors for program in programs(7) if program.name == "api"] == [(7,)]


ERASE = """
import os, sys
path, requests = sys.argv[1:3]
with open(path, "a") as file:
    file.write(f"erasing {'dry' if '--dry-runs' in sys.argv else 'all'} {os.getpid()}\\n")
for name in os.listdir(requests):
    content = open(os.path.join(requests, name)).read()
    if ("dry_run" in content) == ("--dry-runs" in sys.argv) and "stays" not in content:
        os.remove(os.path.join(requests, name))
"""


def request(paths: DataFolder, name: str, *, dry_run: bool = False) -> None:
    paths.erasing.mkdir(exist_ok=True)
    paths.erasing.joinpath(f"{name}.json").write_bytes(msgspec.json.encode(ErasureRequest(name, "person", name, dry_run=dry_run)))


def test_while_something_is_erased_no_program_runs(tmp_path):
    notes, paths = tmp_path / "notes", DataFolder(tmp_path)
    erasures = ErasureProcess(paths, (sys.executable, "-c", ERASE, str(notes), str(paths.erasing)), os.environ)
    with supervised(program(notes, "one"), erasures=erasures):
        noted(notes, 1)
        request(paths, "ada@example.com")
        words = [word for word, *_ in noted(notes, 4)]
        assert words == ["started", "stopped", "erasing", "started"]


def test_a_dry_run_stops_nothing(tmp_path):
    notes, paths = tmp_path / "notes", DataFolder(tmp_path)
    erasures = ErasureProcess(paths, (sys.executable, "-c", ERASE, str(notes), str(paths.erasing)), os.environ)
    with supervised(program(notes, "one"), erasures=erasures):
        noted(notes, 1)
        request(paths, "ada@example.com", dry_run=True)
        assert [line[:2] for line in noted(notes, 2)] == [["started", "one"], ["erasing", "dry"]]
        time.sleep(0.5)
        assert len(noted(notes, 2)) == 2
        assert not list(paths.erasing.iterdir())


def test_an_erasure_that_fails_is_not_tried_for_ever(tmp_path):
    notes, paths = tmp_path / "notes", DataFolder(tmp_path)
    erasures = ErasureProcess(paths, (sys.executable, "-c", ERASE, str(notes), str(paths.erasing)), os.environ)
    request(paths, "stays@example.com")
    with supervised(program(notes, "one"), erasures=erasures):
        assert [word for word, *_ in noted(notes, 2)] == ["erasing", "started"]
        time.sleep(0.5)
        assert len(noted(notes, 2)) == 2


def test_a_file_that_is_no_request_stops_nothing(tmp_path):
    notes, paths = tmp_path / "notes", DataFolder(tmp_path)
    erasures = ErasureProcess(paths, (sys.executable, "-c", ERASE, str(notes), str(paths.erasing)), os.environ)
    paths.erasing.mkdir()
    (paths.erasing / "broken.json").write_text("no request")
    with supervised(program(notes, "one"), erasures=erasures):
        assert [line[:2] for line in noted(notes, 1)] == [["started", "one"]]
