"""From records to the log, with an input that tests write down: nothing blocks, nothing is acknowledged before it is durable."""

import json
import threading
import time
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from tests.events import KEY, run_event
from tests.inputs.scripted import KINDS, WHERE, ScriptedInput, record
from tests.inputs.support import FailingLedger, Installation, installed, running, until

from lineage_bridge.errors import UnreachableError
from lineage_bridge.graph.facts.fold import fold_records
from lineage_bridge.graph.facts.names import Names
from lineage_bridge.graph.log_record import RecordKind, StoredRecord
from lineage_bridge.graph.record_origin import EventPosition, StreamPartition
from lineage_bridge.inputs.manager import InputManager
from lineage_bridge.inputs.reading import BATCH_BYTES, InputReader
from lineage_bridge.model.sources import InputRecord
from lineage_bridge.ports.inputs import FilePosition, InputsReport
from lineage_bridge.wiring.processes import now_us

NUMBERS = count()


@pytest.fixture
def installation(tmp_path: Path) -> Iterator[Installation]:
    with installed(tmp_path) as made:
        yield made


def reader_of(installation: Installation, *batches: Any, log: Any = None, **settings: Any) -> InputReader:
    """A reader of an input of its own name, which reads these batches."""
    name = f"scripted-{next(NUMBERS)}"
    ScriptedInput.SCRIPTS[name] = list(batches)
    made = KINDS.make(name, "scripted", {"script": name, **settings})
    return InputReader(made, "scripted", log or installation.ledger, KEY, now_us, time.monotonic)


def test_bad_records_are_kept_with_their_position_and_the_others_are_used(installation: Installation) -> None:
    other = WHERE._replace(partition="1")
    values = [record(0, b"{"), record(1, run_event(job="a")), record(2, b"\xff\xfe"), record(3, None), record(0, run_event(job="b"), other)]
    reader = reader_of(installation, values)
    with running(reader):
        until(lambda: reader.meter.status.read == 5)
    records = installation.records()
    assert [record.kind for record in records] == [RecordKind.REJECTED, RecordKind.EVENT, RecordKind.REJECTED, RecordKind.EVENT]
    stored = [StoredRecord("log", 0, number, record) for number, record in enumerate(records)]
    quarantine = fold_records(stored, Names(KEY))["quarantine"]
    messages = sorted(str(row[2]) for row in quarantine.values())
    assert [message[message.rindex("(") :] for message in messages] == [
        "(stream, partition 0, offset 0)",
        "(stream, partition 0, offset 2)",
    ]
    assert ScriptedInput.acknowledged[reader.input.name] == {WHERE: 4, other: 1}
    assert {record.principal for record in records} == {f"input:{reader.input.name}"}


def test_of_files_with_one_key_that_are_read_together_the_last_has_the_key(installation: Installation) -> None:
    first, second = StreamPartition("a.json", "key lb", ""), StreamPartition("a.json", "key la", "")
    values = [record(0, run_event(job=f"job-{number}"), where)._replace(mark=where.life) for number, where in enumerate((first, second))]
    reader = reader_of(installation, values)
    with running(reader):
        until(lambda: reader.meter.status.read == 2)
    positions = installation.ledger.positions(reader.input.name, ["key"]).files
    assert positions == [FilePosition(second, EventPosition(1, 0), second.life)]


def test_events_of_foreign_namespaces_are_rejected(installation: Installation) -> None:
    reader = reader_of(
        installation, [record(0, run_event(namespace="team-a")), record(1, run_event(namespace="other"))], namespaces=["team-*"]
    )
    with running(reader):
        until(lambda: len(installation.records()) == 2)
    assert [record.kind for record in installation.records()] == [RecordKind.EVENT, RecordKind.REJECTED]
    assert json.loads(installation.records()[1].note)["code"] == "foreign_namespace"


def test_what_is_large_is_sent_in_portions(installation: Installation) -> None:
    log = FailingLedger(installation.ledger)
    large = run_event(job_facets={"text": {"_producer": "p", "_schemaURL": "s", "text": "x" * (BATCH_BYTES // 3)}})
    reader = reader_of(installation, [record(0, b"[" + b",".join([large] * 5) + b"]"), record(1, run_event())], log=log)
    with running(reader):
        until(lambda: len(installation.records()) == 6)
    assert [len(batch.records) for batch in log.batches] == [2, 2, 2]
    assert [[position.offset for _, position in batch.ends] for batch in log.batches] == [[], [], [2]], "acknowledged as a whole only"


def test_nothing_is_acknowledged_before_it_is_durable(installation: Installation) -> None:
    log = FailingLedger(installation.ledger, is_gone=True)
    reader = reader_of(installation, [record(0, run_event())], log=log)
    with running(reader):
        until(lambda: log.calls > 2)
        assert (reader.meter.status.state, "nobody answers" in reader.meter.status.error) == ("waiting", True)
        assert reader.input.name not in ScriptedInput.acknowledged
        log.is_gone = False
        until(lambda: reader.input.name in ScriptedInput.acknowledged)
    assert len(installation.records()) == 1


def test_a_failure_is_reported_and_reading_begins_again(installation: Installation) -> None:
    reader = reader_of(installation, UnreachableError("no broker", "start it"), ValueError("a fault"), [record(0, run_event())])
    with running(reader):
        until(lambda: len(installation.records()) == 1)
    name = reader.input.name
    assert (ScriptedInput.opened[name], ScriptedInput.closed[name]) == (3, 3)
    assert reader.meter.status.error == "ValueError: a fault"


def test_what_does_not_work_is_told_although_nothing_can_be_read(installation: Installation) -> None:
    reader = reader_of(installation, UnreachableError("no broker", "start it"))
    ScriptedInput.problems[reader.input.name] = ("topic a: not allowed",)
    with running(reader):
        until(lambda: reader.meter.status.error == "no broker")
        assert reader.meter.status.problems == ("topic a: not allowed",)


def test_a_server_that_started_again_is_asked_for_the_positions_again(installation: Installation) -> None:
    log = FailingLedger(installation.ledger)
    reader = reader_of(installation, [record(0, run_event(job="a"))], log=log)
    with running(reader):
        until(lambda: len(installation.records()) == 1)
        again = type(installation.ledger)(installation.writer, installation.reader.read, installation.repository, "session 2")
        log.ledger = again
        ScriptedInput.SCRIPTS[reader.input.name] += [[record(1, run_event(job="b"))], [record(1, run_event(job="b"))]]
        until(lambda: len(installation.records()) == 2)
    assert (ScriptedInput.opened[reader.input.name], reader.meter.status.error) == (2, "")


def test_inputs_are_started_changed_paused_and_reported(installation: Installation) -> None:
    names = [f"managed-{next(NUMBERS)}" for _ in range(3)]
    for name in names:
        ScriptedInput.SCRIPTS[name] = [[record(0, run_event(job=name))]]
    good, bad = {"script": names[0]}, {"script": names[1], "unknown": 1}
    records = [
        InputRecord(names[0], "scripted", good, "added", False),
        InputRecord(names[1], "scripted", bad, "added", False),
        InputRecord(names[2], "scripted", {"script": names[2]}, "added", True),
    ]
    reports: list[InputsReport] = []
    manager = InputManager(
        lambda: list(records),
        installation.ledger,
        reports.append,
        pid=7,
        key=KEY,
        installation="i",
        clock_us=now_us,
        clock=time.monotonic,
        kinds=KINDS,
    )
    stop = threading.Event()
    thread = threading.Thread(target=manager.run, args=(stop, 0.05))
    thread.start()
    try:
        until(lambda: len(installation.records()) == 1 and reports[-1].inputs[names[0]].read == 1)
        assert reports[-1].inputs.keys() == {names[0], names[1]}
        assert reports[-1].inputs[names[1]].state == "failing"
        assert "unknown" in reports[-1].inputs[names[1]].error
        records[2] = records[2]._replace(paused=False)
        records[0] = records[0]._replace(paused=True)
        records[1] = records[1]._replace(settings={"script": names[1]})
        until(lambda: len(installation.records()) == 3)
        until(lambda: reports[-1].inputs.keys() == {names[1], names[2]})
        assert ScriptedInput.closed[names[0]] == 1
    finally:
        stop.set()
        thread.join()
    assert {record.principal for record in installation.records()} == {f"input:{name}" for name in names}
