"""The ledger of inputs over a real log: what it appends once, what it counts, and what it knows after a stop."""

import json
import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from tests.api.support import FailingLog
from tests.events import KEY, T0, run_event
from tests.inputs.support import Installation, installed

from lineage_bridge.errors import GoneError, LogFullError, RequestError
from lineage_bridge.eventlog.writer import LogWriter
from lineage_bridge.graph.log_record import RETRY, LogRecord, read_note
from lineage_bridge.graph.record_origin import EventPosition, RecordOrigin, StreamPartition, read_origin
from lineage_bridge.ingest.ingest import Sender, ingest
from lineage_bridge.ingest.payload import Payload
from lineage_bridge.inputs.input_ledger import InputLedger
from lineage_bridge.inputs.judging import CollectingLog, principal_name
from lineage_bridge.model.access import Principal
from lineage_bridge.ports.inputs import InputBatch, InputStart, PartitionPosition

WHERE = StreamPartition("lineage", "id", "0")


@pytest.fixture
def installation(tmp_path: Path) -> Iterator[Installation]:
    with installed(tmp_path) as made:
        yield made


def records(offset: int, *values: bytes, name: str = "events", partition: str = "0", life: str = "id") -> list[LogRecord]:
    """The records of one record of a stream, which holds these events."""
    collected = CollectingLog()
    origin = RecordOrigin(name, "lineage", life, partition, offset)
    body = values[0] if len(values) == 1 else b"[" + b",".join(values) + b"]"
    ingest(Payload(body), Sender("kafka", Principal(principal_name(name), frozenset()), origin=origin), collected, T0, key=KEY)
    return collected.records


def batch(*portions: Sequence[LogRecord], session: str = "session 1", ends: dict[StreamPartition, int] | None = None) -> InputBatch:
    positions = [PartitionPosition(where, EventPosition(offset, 0)) for where, offset in (ends or {}).items()]
    return InputBatch(session, [record for portion in portions for record in portion], positions)


def next_positions(ledger: InputLedger, name: str = "events") -> dict[tuple[str, str], tuple[int, int]]:
    return {(where.life, where.partition): tuple(position) for where, position in ledger.positions(name).partitions}  # type: ignore[misc]  # pairs


def again(installation: Installation, session: str = "session 2") -> InputLedger:
    """The ledger after the process was killed."""
    return InputLedger(installation.writer, installation.reader.read, installation.repository, session)


def test_what_comes_twice_is_appended_once(installation: Installation) -> None:
    first, second, bad = records(4, run_event(job="a"), run_event(job="b")), records(6, run_event(job="c")), records(7, b"bad")
    for _ in range(2):
        installation.ledger.append("events", batch(first, second))
    installation.ledger.append("events", batch(first, second, second, bad, bad))
    assert [(origin.offset, origin.index) for origin in installation.origins()] == [(4, 0), (4, 1), (6, 0), (7, 0)]
    progress = installation.ledger.progress("events")
    assert progress is not None
    assert (progress.accepted, progress.rejected, progress.last and progress.last.offset) == (3, {"not_json": 1}, 7)


def test_after_a_kill_the_log_tells_where_it_ends(installation: Installation) -> None:
    installation.ledger.begin("events", InputStart("session 1", [PartitionPosition(WHERE, EventPosition(4, 0))]))
    first, second = records(4, run_event(job="a"), run_event(job="b"))
    installation.ledger.append("events", batch([first]))
    installation.ledger.append("other", batch(records(90, run_event(), name="other")))
    killed = again(installation)
    assert next_positions(killed) == {("id", "0"): (4, 1)}, "half of a record: its other event is still to come"
    killed.append("events", batch([first, second], records(5, run_event()), session="session 2"))
    assert [(origin.offset, origin.index) for origin in installation.origins()] == [(4, 0), (4, 1), (5, 0)]
    third = again(installation)
    assert next_positions(third) == {("id", "0"): (6, 0)}
    progress = third.progress("events")
    assert progress is not None
    assert progress.accepted == 3


def test_what_is_stored_in_order_is_neither_counted_twice_nor_lost(installation: Installation) -> None:
    for offset in range(3):
        installation.ledger.append("events", batch(records(offset, run_event(), b"no event")))
    installation.ledger.close()
    ledger = again(installation)
    ledger.append("events", batch(records(2, run_event(), b"no event"), records(3, run_event()), session="session 2"))
    progress = again(installation).progress("events")
    assert progress is not None
    assert (progress.accepted, sum(progress.rejected.values())) == (len(installation.records()) - sum(progress.rejected.values()), 3)
    assert next_positions(again(installation)) == {("id", "0"): (4, 0)}


def test_a_log_that_was_put_back_is_asked_and_what_it_lacks_comes_again(installation: Installation, tmp_path: Path) -> None:
    installation.ledger.append("events", batch(records(0, run_event())))
    installation.ledger.begin("events", InputStart("session 1", [PartitionPosition(WHERE._replace(partition="1"), EventPosition(50, 0))]))
    shutil.copytree(tmp_path / "log", tmp_path / "copy")
    installation.ledger.append("events", batch(records(1, run_event()), ends={WHERE: 9}))
    installation.close()
    shutil.rmtree(tmp_path / "log")
    shutil.move(tmp_path / "copy", tmp_path / "log")
    with installed(tmp_path) as restored:
        assert next_positions(restored.ledger) == {("id", "0"): (1, 0), ("id", "1"): (50, 0)}


def put_back(folder: Path) -> None:
    shutil.rmtree(folder / "log")
    shutil.copytree(folder / "copy", folder / "log")


def filled(folder: Path) -> int:
    """Fill a log of which a copy is kept in between; the end that it reached."""
    with installed(folder) as before:
        before.ledger.append("events", batch(records(0, run_event())))
        shutil.copytree(folder / "log", folder / "copy")
        before.ledger.append("events", batch(records(1, run_event()), records(2, run_event())))
        return before.writer.end()


def test_a_log_that_was_put_back_and_grew_again_while_nobody_asked_is_no_other(tmp_path: Path) -> None:
    end = filled(tmp_path)
    put_back(tmp_path)
    with installed(tmp_path) as paused:
        while paused.writer.end() <= end:
            paused.writer.append(records(0, run_event(), name="other"))
    with installed(tmp_path) as resumed:
        assert next_positions(resumed.ledger) == {("id", "0"): (1, 0)}


def test_a_log_that_was_put_back_and_grew_before_a_server_opened_it_is_noticed(tmp_path: Path) -> None:
    end = filled(tmp_path)
    put_back(tmp_path)
    with LogWriter(tmp_path / "log") as writer:
        while writer.end() <= end:
            writer.append(records(0, run_event(), name="other"))
    with installed(tmp_path) as restored:
        assert next_positions(restored.ledger) == {("id", "0"): (1, 0)}


def test_positions_without_records_are_kept(installation: Installation) -> None:
    """What was skipped: its end is known although no record of the log shows it."""
    installation.ledger.append("events", batch(ends={WHERE: 7}))
    assert next_positions(again(installation)) == {("id", "0"): (7, 0)}


def test_where_a_partition_begins_counts_once(installation: Installation) -> None:
    assert not installation.ledger.positions("events").opened
    for offset in (7, 3):
        installation.ledger.begin("events", InputStart("session 1", [PartitionPosition(WHERE, EventPosition(offset, 0))]))
    killed = again(installation)
    assert (next_positions(killed), killed.positions("events").opened) == ({("id", "0"): (7, 0)}, True)


def test_lives_of_a_topic_are_apart(installation: Installation) -> None:
    installation.ledger.append("events", batch(records(8, run_event())))
    installation.ledger.append("events", batch(records(0, run_event(), life="another")))
    assert next_positions(installation.ledger) == {("id", "0"): (9, 0), ("another", "0"): (1, 0)}


def test_positions_of_an_earlier_process_are_refused(installation: Installation) -> None:
    with pytest.raises(GoneError):
        installation.ledger.append("events", batch(records(0, run_event()), session="session 0"))
    with pytest.raises(GoneError):
        installation.ledger.begin("events", InputStart("session 0", []))
    assert installation.records() == []


@pytest.mark.parametrize("name", ["other", ""])
def test_records_of_something_else_are_refused(installation: Installation, name: str) -> None:
    with pytest.raises(RequestError):
        installation.ledger.append("events", batch(records(0, run_event(), name=name or "other")))
    plain = CollectingLog()
    ingest(Payload(run_event()), Sender("http"), plain, T0)
    with pytest.raises(RequestError):
        installation.ledger.append("events", batch(plain.records))


def test_what_the_log_refuses_does_not_count(installation: Installation) -> None:
    failing = InputLedger(FailingLog(failure=LogFullError("full")), installation.reader.read, installation.repository, "session 1")
    with pytest.raises(LogFullError):
        failing.append("events", batch(records(0, run_event())))
    progress = failing.progress("events")
    assert progress is not None
    assert (progress.accepted, next_positions(failing)) == (0, {})


def test_what_somebody_tries_again_keeps_where_it_comes_from_and_is_no_position(installation: Installation) -> None:
    (rejected,) = records(3, b'{"job": 1}')
    installation.ledger.append("events", batch([rejected]))
    repeated = CollectingLog()
    ingest(Payload(rejected.body), Sender(RETRY, Principal("operator", frozenset()), read_note(rejected.note)), repeated, T0, key=KEY)
    (record,) = repeated.records
    assert read_origin(record.note) == read_origin(rejected.note) is not None
    with pytest.raises(RequestError):
        installation.ledger.append("events", batch([record]))
    installation.writer.append([record])
    progress = again(installation).progress("events")
    assert progress is not None
    assert (progress.accepted, sum(progress.rejected.values())) == (0, 1)


def test_a_note_holds_the_reason_and_the_origin(installation: Installation) -> None:
    (record,) = records(3, b"bad")
    assert json.loads(record.note) == {
        "code": "not_json",
        "path": "$",
        "message": json.loads(record.note)["message"],
        "origin": {"input": "events", "stream": "lineage", "life": "id", "partition": "0", "offset": 3},
        "whole": True,
    }
    del installation
