"""Reading streams of two implementations of Kinesis' API: every record once, whatever happens to shards, stream and reader."""

import gzip
import json
import time
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from tests.events import run_event
from tests.inputs.kinesis.aggregate import aggregated
from tests.inputs.support import FailingLedger, Installation, installed, until
from tests.servers.kinesis import REGION, Kinesis

from lineage_bridge.graph.log_record import RecordKind
from lineage_bridge.graph.record_origin import PART_BITS, read_origin

NUMBERS = count()


@pytest.fixture
def installation(tmp_path: Path) -> Iterator[Installation]:
    with installed(tmp_path) as made:
        yield made


@pytest.fixture(autouse=True)
def _keys(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("INPUT_SECRET", "secret")


@pytest.fixture(params=["moto", "kinesis_local"])
def server(request: pytest.FixtureRequest) -> Kinesis:
    found: Kinesis = request.getfixturevalue(request.param)
    return found


def stream_of(server: Kinesis, shards: int = 1) -> str:
    name = f"lineage-{next(NUMBERS)}"
    server.create(name, shards)
    return name


def settings_of(server: Kinesis, stream: str, **more: Any) -> dict[str, Any]:
    login = {"region": REGION, "access_key_id": "AKIATEST", "secret_access_key": "${env:INPUT_SECRET}"}
    return {"kind": "kinesis", "endpoint_url": server.url, "stream": stream, "reads_per_s": 5, **login, **more}


def event(number: int, **more: Any) -> bytes:
    return run_event(job=f"job-{number}", number=number, **more)


def numbers(installation: Installation) -> list[int]:
    return [json.loads(record.body)["number"] for record in installation.records() if record.kind == RecordKind.EVENT]


def test_each_record_keeps_where_it_comes_from(server: Kinesis, installation: Installation) -> None:
    stream = stream_of(server, 2)
    server.put(stream, [event(0), b"no event"], key="run:jobs/job-0", at=0)
    server.put(stream, [gzip.compress(event(1)), b"[" + event(2) + b"," + event(3) + b"]"], at=1)
    installation.bring(5, **settings_of(server, stream))
    records = {record.body: (record, origin) for record in installation.records() if (origin := read_origin(record.note))}
    record, origin = records[event(0)]
    assert (record.kind, record.channel, record.principal) == (RecordKind.EVENT, "kinesis", "input:events")
    assert (origin.stream, origin.partition, origin.key, origin.part) == (stream, "shardId-000000000000", "run:jobs/job-0", 0)
    assert origin.life.isdigit()
    assert origin.at_ms is not None
    assert abs(origin.at_ms - time.time() * 1000) < 60_000
    rejected, where = records[b"no event"]
    assert (rejected.kind, where.partition) == (RecordKind.REJECTED, "shardId-000000000000")
    assert where.offset > origin.offset
    assert [(records[event(n)][1].index, records[event(n)][1].count) for n in (1, 2, 3)] == [(0, 1), (0, 2), (1, 2)]


def test_it_goes_on_where_the_log_ends_and_nothing_comes_twice(server: Kinesis, installation: Installation) -> None:
    stream = stream_of(server, 2)
    settings = settings_of(server, stream, batch_records=3)
    server.put(stream, [event(number) for number in range(10)], at=0)
    installation.bring(10, **settings)
    server.put(stream, [event(number) for number in range(10, 15)], at=0)
    server.put(stream, [event(15)], at=1)
    installation.bring(16, **settings)
    with installation.reading(**settings) as reader:
        until(lambda: reader.meter.status.lag_s == 0)
    assert sorted(numbers(installation)) == list(range(16))
    assert [number for number in numbers(installation) if number < 15] == list(range(15)), "in order within a shard"


def test_while_the_log_takes_nothing_it_waits_and_loses_and_doubles_nothing(server: Kinesis, installation: Installation) -> None:
    stream = stream_of(server)
    server.put(stream, [event(number) for number in range(20)])
    log = FailingLedger(installation.ledger, is_gone=True, is_written=True)
    with installation.reading(log, **settings_of(server, stream, batch_records=7)) as reader:
        until(lambda: reader.meter.status.state == "waiting" and log.calls > 3)
        log.is_gone = False
        until(lambda: len(installation.records()) == 20)
    assert numbers(installation) == list(range(20))


def test_records_that_a_producer_put_together_are_taken_apart(server: Kinesis, installation: Installation) -> None:
    stream = stream_of(server)
    settings = settings_of(server, stream, batch_records=2)
    together = aggregated(("run:a", event(0)), ("run:b", event(1)), ("run:a", b"bad"), ("run:a", b"[" + event(2) + b"," + event(3) + b"]"))
    damaged = together[:-1] + bytes([together[-1] ^ 1])
    strange = aggregated(("run:a", event(5)), keys=[])
    server.put(stream, [together, damaged, strange, aggregated(), event(4)], key="any")
    with installation.reading(**settings) as reader:
        until(lambda: reader.meter.status.read == 8, f"{reader.meter.status}")
        assert reader.meter.status.skipped == 1
    installation.bring(8, **settings)
    origins = {record.body: origin for record in installation.records() if (origin := read_origin(record.note))}
    parts = [(origins[event(number)].part, origins[event(number)].index, origins[event(number)].key) for number in range(5)]
    assert parts == [(0, 0, "run:a"), (1, 0, "run:b"), (3, 0, "run:a"), (3, 1, "run:a"), (0, 0, "any")]
    assert len({origins[event(number)].offset for number in range(4)}) == 1
    assert origins[event(3)].position.number == (3 << PART_BITS) + 1
    rejected = [json.loads(record.note) for record in installation.records() if record.kind == RecordKind.REJECTED]
    assert [(found["code"], "checksum" in found["message"]) for found in rejected] == [("not_json", False)] + [("not_json", True)] * 2
    assert numbers(installation) == list(range(5))


def test_what_a_crash_left_of_an_aggregated_record_is_read_again_without_the_rest(server: Kinesis, installation: Installation) -> None:
    stream = stream_of(server)
    server.put(stream, [aggregated(*(("key", event(number)) for number in range(6)))])
    log = FailingLedger(installation.ledger)
    with installation.reading(log, **settings_of(server, stream, batch_records=4)):
        until(lambda: log.calls >= 1)
    installation.bring(6, **settings_of(server, stream))
    assert numbers(installation) == list(range(6))


def test_children_are_read_once_their_parents_are(kinesis_local: Kinesis, installation: Installation) -> None:
    stream = stream_of(kinesis_local, 1)
    parent = kinesis_local.shards(stream)[0]["ShardId"]
    kinesis_local.put(stream, [event(number) for number in range(10)])
    settings = settings_of(kinesis_local, stream, batch_records=3)
    with installation.reading(**settings):
        until(lambda: len(installation.records()) == 10)
        kinesis_local.split(stream, parent)
        for number in range(10, 20):
            kinesis_local.put(stream, [event(number)], at=number % 2)
        until(lambda: len(installation.records()) == 20)
    first, second = (shard["ShardId"] for shard in kinesis_local.shards(stream)[1:3])
    kinesis_local.put(stream, [event(number) for number in range(20, 30)], at=0)
    kinesis_local.merge(stream, first, second)
    kinesis_local.put(stream, [event(number) for number in range(30, 40)])
    with installation.reading(**settings) as reader:
        until(lambda: len(installation.records()) == 40)
        until(lambda: reader.meter.status.partitions == 1)
        assert reader.meter.status.lost == 0
    assert numbers(installation)[:10] == list(range(10))
    assert sorted(numbers(installation)) == list(range(40))
    assert numbers(installation)[20:] == list(range(20, 40)), "the merged shard is read behind those that it was made from"
    with installation.reading(**settings) as reader:
        until(lambda: reader.meter.status.partitions == 1 and reader.meter.status.lag_s == 0)
    assert len(installation.records()) == 40


def test_resharding_while_nobody_reads_keeps_the_order(kinesis_local: Kinesis, installation: Installation) -> None:
    stream = stream_of(kinesis_local, 1)
    kinesis_local.put(stream, [event(number) for number in range(30)])
    kinesis_local.split(stream, kinesis_local.shards(stream)[0]["ShardId"])
    kinesis_local.put(stream, [event(number) for number in range(30, 50)], at=0)
    settings = settings_of(kinesis_local, stream, batch_records=7)
    # Stopped in the middle of the parent: it is read on before its children are.
    with installation.reading(FailingLedger(installation.ledger), **settings):
        until(lambda: len(installation.records()) >= 7)
    installation.bring(50, **settings)
    assert numbers(installation) == list(range(50))


def test_a_stream_that_was_created_again_is_read_from_its_beginning(server: Kinesis, installation: Installation) -> None:
    stream = stream_of(server)
    settings = settings_of(server, stream)
    server.put(stream, [event(number) for number in range(3)])
    installation.bring(3, **settings)
    server.delete(stream)
    server.create(stream)
    server.put(stream, [event(number) for number in range(3, 8)])
    installation.bring(8, **settings)
    assert numbers(installation) == list(range(8))
    assert len({origin.life for origin in installation.origins()}) == 2


def test_a_stream_that_is_created_again_while_it_is_read(kinesis_local: Kinesis, installation: Installation) -> None:
    stream = stream_of(kinesis_local)
    kinesis_local.put(stream, [event(number) for number in range(3)])
    with installation.reading(**settings_of(kinesis_local, stream)) as reader:
        until(lambda: len(installation.records()) == 3)
        kinesis_local.delete(stream)
        until(lambda: reader.meter.status.state == "failing")
        assert stream in reader.meter.status.error
        kinesis_local.create(stream)
        kinesis_local.put(stream, [event(number) for number in range(3, 8)])
        until(lambda: len(installation.records()) == 8)
    assert numbers(installation) == list(range(8))


def test_what_was_read_before_a_stream_is_created_again_is_taken_in(kinesis_local: Kinesis, installation: Installation) -> None:
    stream = stream_of(kinesis_local)
    kinesis_local.put(stream, [aggregated(*((f"key:{number}", event(number)) for number in range(6)))])
    log = FailingLedger(installation.ledger, is_gone=True)
    with installation.reading(log, **settings_of(kinesis_local, stream, batch_records=2)) as reader:
        until(lambda: reader.meter.status.state == "waiting")
        kinesis_local.delete(stream)
        kinesis_local.create(stream)
        kinesis_local.put(stream, [event(number) for number in range(6, 8)])
        calls = log.calls
        until(lambda: log.calls > calls + 3, "a pause that is longer than until the next look at the stream")
        log.is_gone = False
        until(lambda: {6, 7} <= {*numbers(installation)})
    assert numbers(installation) == list(range(8))


@pytest.mark.parametrize("start", ["latest", "time"])
def test_where_it_begins_counts_once_and_what_comes_while_nobody_reads_is_behind_it(
    server: Kinesis, installation: Installation, start: str
) -> None:
    stream = stream_of(server)
    server.put(stream, [event(0)])
    time.sleep(2.1)  # the server's clock is told in whole seconds
    begin = "latest" if start == "latest" else time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
    settings = settings_of(server, stream, start=begin)
    if start == "latest":
        with installation.reading(**settings) as reader:
            until(lambda: reader.meter.status.lag_s == 0)
    else:
        time.sleep(1.1)
    server.put(stream, [event(1)])
    installation.bring(1, **settings)
    assert numbers(installation) == [1]
