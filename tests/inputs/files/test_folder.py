"""Files in a real folder, read into a real log."""

import os
from pathlib import Path

import pytest
from openlineage.client import OpenLineageClient
from openlineage.client.event_v2 import Job, Run, RunEvent, RunState
from openlineage.client.transport.file import FileConfig, FileTransport
from openlineage.client.uuid import generate_new_uuid
from tests.inputs.files.support import bring, event, lines, numbers, packed, reading, rejected, write
from tests.inputs.support import FailingLedger, Installation, installed, until

from lineage_bridge.errors import ConfigError
from lineage_bridge.inputs.input_ledger import InputLedger
from lineage_bridge.sources.common.settings import SourceContext

TIME = "2026-01-01T00:00:00Z"


def test_lines_are_read_once_while_they_grow(tmp_path: Path) -> None:
    folder = tmp_path / "events"
    path = write(folder, "a.ndjson", lines(1, 2))
    with installed(tmp_path) as installation, reading(installation, folder=str(folder)) as reader:
        until(lambda: numbers(installation) == [1, 2])
        with path.open("ab") as file:
            file.write(lines(3) + event(4)[:100])
            file.flush()
            until(lambda: numbers(installation) == [1, 2, 3])
            until(lambda: (reader.meter.status.lag_files, reader.meter.status.lag_bytes) == (1, 100))
            file.write(event(4)[100:] + b"\n" + lines(5))
        until(lambda: numbers(installation) == [1, 2, 3, 4, 5])
        until(lambda: (reader.meter.status.lag_files, reader.meter.status.lag_bytes) == (0, 0))
        origins = installation.origins()
    assert {origin.stream for origin in origins} == {"a.ndjson"}
    assert [origin.offset for origin in origins] == [len(lines(*range(1, number))) for number in range(1, 6)]


def test_events_of_jobs_that_are_left_out_are_read_once_and_not_taken_in(tmp_path: Path) -> None:
    folder = tmp_path / "events"
    write(folder, "a.ndjson", lines(1, 2, 3))
    with installed(tmp_path) as installation:
        with reading(installation, folder=str(folder), jobs={"exclude": ["jobs-job-[13]$"]}) as reader:
            until(lambda: reader.meter.status.read == 3 and reader.meter.status.lag_files == 0, "an end")
        assert (reader.meter.status.filtered, numbers(installation)) == (2, [2])
        write(folder, "b.ndjson", lines(4))
        with reading(installation, folder=str(folder)):
            until(lambda: 4 in numbers(installation))
        assert numbers(installation) == [2, 4]


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        pytest.param(event(1), [1], id="one-event"),
        pytest.param(b"\xef\xbb\xbf" + lines(1, 2), [1, 2], id="byte-order-mark"),
        pytest.param(lines(1, 2).replace(b"\n", b"\r\n\r\n"), [1, 2], id="other-line-ends"),
        pytest.param(lines(1) + event(2), [1, 2], id="no-last-line-end"),
        pytest.param(b"[\n" + event(1) + b",\n" + event(2) + b"\n]\n", [1, 2], id="array-over-lines"),
        pytest.param(b"[" + event(1) + b",\n " + event(2) + b"]", [1, 2], id="array-begun-on-its-first-line"),
        pytest.param(b"[" + event(1) + b"," + event(2) + b"]\n[" + event(3) + b"]\n", [1, 2, 3], id="an-array-a-line"),
        pytest.param(b'{\n"events": [\n' + event(1) + b"]\n}", [1], id="object-with-events"),
        pytest.param(event(1).replace(b"{", b"{\n", 1).replace(b',"job"', b',\n"job"'), [1], id="one-event-over-lines"),
        pytest.param(packed(lines(1, 2)) + packed(lines(3)), [1, 2, 3], id="gzip-of-two-members"),
        pytest.param(packed(b"[\n" + event(1) + b"\n]"), [1], id="gzip-of-an-array"),
    ],
)
def test_every_spelling_is_read(tmp_path: Path, data: bytes, expected: list[int]) -> None:
    folder = tmp_path / "events"
    write(folder, "a.json", data)
    with installed(tmp_path) as installation:
        bring(installation, expected, folder=str(folder))
        bring(installation, expected, folder=str(folder))
        assert rejected(installation) == []


def test_two_comes_before_ten_and_hidden_files_do_not_count(tmp_path: Path) -> None:
    folder = tmp_path / "events"
    for number in (10, 2, 1):
        write(folder, f"part-{number}.json", event(number))
    write(folder, ".secret.json", event(90))
    write(folder, "_temporary/a.json", event(91))
    write(folder, "a.txt", event(92))
    write(folder, "inner/b.json", event(11))
    with installed(tmp_path) as installation:
        bring(installation, [11, 1, 2, 10], folder=str(folder), include=["*.json"])
        assert numbers(installation) == [11, 1, 2, 10]


def test_rotated_and_replaced_files(tmp_path: Path) -> None:
    folder = tmp_path / "events"
    path = write(folder, "a.ndjson", lines(1, 2))
    with installed(tmp_path) as installation:
        bring(installation, [1, 2], folder=str(folder))
        path.rename(folder / "a.ndjson.1")
        write(folder, "a.ndjson", lines(3))
        bring(installation, [1, 2, 3], folder=str(folder))
        with (folder / "a.ndjson.1").open("ab") as file:
            file.write(lines(4))
        bring(installation, [1, 2, 3, 4], folder=str(folder))
        path.write_bytes(lines(5))
        bring(installation, [1, 2, 3, 4, 5], folder=str(folder))
        (folder / "new").write_bytes(lines(6))
        (folder / "new").replace(path)
        bring(installation, [1, 2, 3, 4, 5, 6], folder=str(folder))


def test_a_file_that_is_written_anew_with_the_same_first_line_is_read_anew(tmp_path: Path) -> None:
    folder = tmp_path / "events"
    path = write(folder, "a.ndjson", lines(11, 12))
    with installed(tmp_path) as installation:
        bring(installation, [11, 12], folder=str(folder))
        path.write_bytes(lines(11, 13, 14))
        bring(installation, [11, 12, 11, 13, 14], folder=str(folder))
        path.write_bytes(lines(11, 13))
        bring(installation, [11, 12, 11, 13, 14, 11, 13], folder=str(folder))


def test_bad_records_block_nothing_and_have_their_places(tmp_path: Path) -> None:
    folder = tmp_path / "events"
    write(folder, "a.ndjson", lines(1) + b'{"bad": \n' + lines(2))
    write(folder, "b.ndjson", b'{"eventTime": \n' + lines(3))
    write(folder, "c.ndjson", b"garbage\n" + lines(4))
    damaged = bytearray(packed(lines(5, 6)))
    damaged[-6] ^= 1
    write(folder, "d.gz", bytes(damaged))
    write(folder, "e.gz", packed(lines(7))[:10] + b"\xff" * 200)
    write(folder, "f.json", event(8))
    with installed(tmp_path) as installation:
        bring(installation, [1, 2, 3, 4, 5, 6, 8], folder=str(folder))
        bring(installation, [1, 2, 3, 4, 5, 6, 8], folder=str(folder))
        found = {(path, offset) for path, offset, _ in rejected(installation)}
        assert len(rejected(installation)) == 5
        assert {("a.ndjson", len(lines(1))), ("b.ndjson", 0), ("c.ndjson", 0)} <= found
        messages = {path: message for path, _, message in rejected(installation)}
        assert "damaged" in messages["d.gz"]
        assert "damaged" in messages["e.gz"]
        write(folder, "d.gz", packed(lines(5, 6, 9)))
        bring(installation, [1, 2, 3, 4, 5, 6, 8, 5, 6, 9], folder=str(folder))


def test_an_incomplete_end_is_judged_when_the_file_has_settled_and_read_if_it_grows_then(tmp_path: Path) -> None:
    folder = tmp_path / "events"
    write(folder, "a.ndjson", lines(1) + event(2)[:80])
    write(folder, "b.gz", packed(lines(3))[:-12])
    write(folder, "c.json", b"[\n" + event(4))
    with installed(tmp_path) as installation:
        with reading(installation, folder=str(folder)) as reader:
            until(lambda: numbers(installation) == [1])
            until(lambda: reader.meter.status.lag_files == 3)
        bring(installation, [1], folder=str(folder), settle_s=0.2)
        bring(installation, [1], folder=str(folder), settle_s=0.2)
        assert sorted(path for path, *_ in rejected(installation)) == ["a.ndjson", "b.gz", "c.json"]
        write(folder, "c.json", b"[\n" + event(4) + b"]")
        bring(installation, [1, 4], folder=str(folder))
        with (folder / "a.ndjson").open("ab") as file:
            file.write(event(2)[80:] + b"\n")
        bring(installation, [1, 4, 1, 2], folder=str(folder))


def test_what_is_not_there_or_cannot_be_read_is_told_and_is_no_empty_folder(tmp_path: Path) -> None:
    folder = tmp_path / "events"
    path = write(folder, "a.ndjson", lines(1) + event(2)[:50])
    with installed(tmp_path) as installation, reading(installation, folder=str(folder)) as reader:
        until(lambda: reader.meter.status.lag_bytes == 50)
        path.unlink()
        until(lambda: any("a.ndjson was deleted before 50 of its bytes were read" in problem for problem in reader.meter.status.problems))
        folder.rename(tmp_path / "other")
        until(lambda: reader.meter.status.state == "failing")
        assert "there is no folder" in reader.meter.status.error
        assert reader.meter.status.lag_files is None
        write(folder, "b.ndjson", lines(3))
        until(lambda: numbers(installation) == [1, 3])


def test_symbolic_links_are_not_followed(tmp_path: Path) -> None:
    folder = tmp_path / "events"
    outside = write(tmp_path / "outside", "secret.json", event(90))
    write(folder, "a.json", event(1))
    (folder / "link.json").symlink_to(outside)
    (folder / "links").symlink_to(outside.parent)
    os.mkfifo(folder / "pipe.json")
    with installed(tmp_path) as installation, reading(installation, folder=str(folder)) as reader:
        until(lambda: numbers(installation) == [1])
        until(lambda: any("link.json is a symbolic link" in problem for problem in reader.meter.status.problems))
        write(folder, "b.json", event(2))
        until(lambda: numbers(installation) == [1, 2])


def test_folders_that_the_operator_does_not_allow_are_refused(tmp_path: Path) -> None:
    allowed, other = tmp_path / "allowed", tmp_path / "other"
    write(allowed / "in", "a.json", event(1))
    write(other, "b.json", event(2))
    context = SourceContext(input_folders=(allowed,))
    with installed(tmp_path) as installation:
        with reading(installation, folder=str(allowed / "in"), context=context):
            until(lambda: numbers(installation) == [1])
        for folder in (other, allowed / ".." / "other", tmp_path):
            with pytest.raises(ConfigError, match="inputs may not read"), reading(installation, folder=str(folder), context=context):
                pass
        with (
            pytest.raises(ConfigError, match="input_folders"),
            reading(installation, folder=str(allowed), context=SourceContext(input_folders=())),
        ):
            pass
        (allowed / "later").mkdir()
        with reading(installation, folder=str(allowed / "later"), context=context) as reader:
            (allowed / "later").rmdir()
            (allowed / "later").symlink_to(other)
            until(lambda: reader.meter.status.state == "failing" and "inputs may not read" in reader.meter.status.error)
        assert numbers(installation) == [1]


def test_an_answer_that_is_lost_doubles_nothing(tmp_path: Path) -> None:
    folder = tmp_path / "events"
    write(folder, "a.ndjson", lines(*range(200)))
    with installed(tmp_path) as installation:
        log = FailingLedger(installation.ledger, is_gone=True, is_written=True)
        with reading(installation, log=log, folder=str(folder), batch_records=20) as reader:
            until(lambda: log.calls >= 3)
            log.is_gone = False
            until(lambda: len(numbers(installation)) >= 200 and reader.meter.status.lag_files == 0)
        assert numbers(installation) == list(range(200))


@pytest.mark.parametrize("is_lost", [False, True], ids=["log-alone", "state-and-log"])
def test_after_a_crash_the_log_says_what_was_read(tmp_path: Path, is_lost: bool) -> None:
    folder = tmp_path / "events"
    write(folder, "a.ndjson", lines(*range(30)) + event(99)[:60])
    write(folder, "b.json", b"[\n" + event(30) + b",\n" + event(31) + b"\n]")
    write(folder, "c.gz", packed(lines(32))[:-3] + b"xxx")
    expected = [*range(30), 30, 31, 32]
    with installed(tmp_path) as installation:
        bring(installation, expected, folder=str(folder), settle_s=0.1)
        bad = rejected(installation)
        assert len(bad) == 2
        _forget(installation, everything=is_lost)
        bring(installation, expected, folder=str(folder), settle_s=0.1)
        assert rejected(installation) == bad


def _forget(installation: Installation, *, everything: bool) -> None:
    """What a process knows that is killed, and that never saved anything."""
    if everything:
        with installation.repository._state.transaction() as connection:
            connection.execute("DELETE FROM input_file")
            connection.execute("DELETE FROM input_state")
    installation.ledger = InputLedger(installation.writer, installation.reader.read, installation.repository, "session 2")


def test_the_files_of_the_python_client_are_read_while_it_writes(tmp_path: Path) -> None:
    folder = tmp_path / "events"
    folder.mkdir()
    ways = ({"append": True}, {"append": False}, {"append": False, "debug_mode": True})
    with installed(tmp_path) as installation, reading(installation, folder=str(folder)) as reader:
        for number, way in enumerate(ways):
            config = FileConfig.from_dict({"log_file_path": str(folder / f"way{number}"), **way})
            client = OpenLineageClient(transport=FileTransport(config))
            for state in (RunState.START, RunState.RUNNING, RunState.COMPLETE):
                run = Run(runId=str(generate_new_uuid()))
                job = Job(namespace="python", name=f"job{number}")
                client.emit(RunEvent(eventTime=TIME, run=run, job=job, eventType=state, producer="https://example.org"))
        until(lambda: len(installation.bodies()) >= 9 and reader.meter.status.lag_files == 0, "nine events")
        assert rejected(installation) == []
        assert len(set(installation.bodies())) == len(installation.bodies()) == 9
