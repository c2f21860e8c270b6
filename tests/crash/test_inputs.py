"""A topic is read by real processes that are killed: every record is in the log once."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path

import httpx
import pytest
from tests.crash.running.support import SOON_S, Asking, Process, nothing_left, settings_in, until
from tests.events import run_event
from tests.inputs.kinesis.aggregate import aggregated
from tests.servers.broker import Kafka
from tests.servers.kinesis import REGION, Kinesis

from lineage_bridge.config import Settings
from lineage_bridge.eventlog.reader import LogReader
from lineage_bridge.graph.record_origin import read_origin

NUMBERS = count()


@contextmanager
def reading(settings: Settings) -> Iterator["subprocess.Popen[bytes]"]:
    """The process that reads inputs, killed at the end."""
    command = [sys.executable, "-m", "lineage_bridge.cli.main", "inputs"]
    process = subprocess.Popen(command, env={**os.environ, **settings.environment()})
    try:
        yield process
    finally:
        process.kill()
        process.wait()


def events(first: int, last: int) -> list[bytes]:
    return [run_event(job=f"job-{number}", number=number) for number in range(first, last)]


def numbers_in_log(settings: Settings) -> list[int]:
    """The numbers of the events in the log, each as often as it is there."""
    reader = LogReader(settings.paths.log)
    records = [record for _, record in reader.read(0, reader.durable_end())]
    return sorted(json.loads(record.body)["number"] for record in records if read_origin(record.note))


def add_input(settings: Settings, kafka: Kafka, topic: str) -> None:
    order = {"bootstrap_servers": kafka.bootstrap, "topics": [topic], "poll_s": 0.1, "session_timeout_s": 6, "batch_records": 20}
    body = {"name": "events", "kind": "kafka", "settings": order}
    answer = httpx.post(f"{settings.address}/api/v1/inputs", json=body, trust_env=False)
    assert answer.status_code == 201, answer.text


@pytest.mark.parametrize("point", ["part", "written", "synced", "shown"])
def test_the_api_is_killed_in_the_middle_of_an_append(kafka: Kafka, tmp_path: Path, point: str) -> None:
    topic = f"killed-{next(NUMBERS)}"
    kafka.create_topics(topic, partitions=2)
    settings = settings_in(tmp_path)
    with nothing_left(tmp_path), Asking(settings) as asking:
        api = Process("api", settings)
        until(asking.answers, SOON_S, "the API")
        with reading(settings):
            add_input(settings, kafka, topic)
            kafka.produce(topic, events(0, 30))
            until(lambda: len(numbers_in_log(settings)) == 30, SOON_S, "the first events")
            api.request(point)
            kafka.produce(topic, events(30, 130))
            api.wait_for_point(point)
            api.kill()
            again = Process("api", settings)
            until(lambda: len(numbers_in_log(settings)) >= 130, SOON_S, "all events")
            kafka.produce(topic, events(130, 140))
            until(lambda: len(numbers_in_log(settings)) >= 140, SOON_S, "the last events")
        assert numbers_in_log(settings) == list(range(140))
        item = httpx.get(f"{settings.address}/api/v1/inputs/events", trust_env=False).json()
        assert (item["accepted"], item["rejected"]) == (140, {})
        again.stop()


def test_the_reader_is_killed_again_and_again(kafka: Kafka, tmp_path: Path) -> None:
    topic = f"killed-{next(NUMBERS)}"
    kafka.create_topics(topic, partitions=2)
    settings = settings_in(tmp_path)
    with nothing_left(tmp_path), Asking(settings) as asking:
        api = Process("api", settings)
        until(asking.answers, SOON_S, "the API")
        add_input(settings, kafka, topic)
        kafka.produce(topic, events(0, 400))
        for least in (50, 150, 250, 400):
            with reading(settings):
                until(lambda least=least: len(numbers_in_log(settings)) >= least, SOON_S, f"{least} events")  # type: ignore[misc]  # one each
        assert numbers_in_log(settings) == list(range(400))
        api.stop()


@pytest.mark.parametrize("point", ["written", "synced"])
def test_a_stream_of_kinesis_is_read_once_while_reader_and_api_are_killed(
    kinesis_local: Kinesis, tmp_path: Path, point: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    stream = f"killed-{next(NUMBERS)}"
    kinesis_local.create(stream, 2)
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "AKIATEST")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "secret")
    settings = settings_in(tmp_path)

    def put(first: int, last: int) -> None:
        for side in (0, 1):
            single, several = events(first + side, last)[::2], events(first, last)[side::2]
            half = len(single) // 2
            kinesis_local.put(stream, [*single[:half], aggregated(*(("key", value) for value in several[half:]))], at=side)

    with nothing_left(tmp_path), Asking(settings) as asking:
        api = Process("api", settings)
        until(asking.answers, SOON_S, "the API")
        order = {
            "stream": stream,
            "region": REGION,
            "endpoint_url": kinesis_local.url,
            "poll_s": 0.1,
            "batch_records": 20,
            "refresh_s": 0.5,
        }
        body = {"name": "events", "kind": "kinesis", "settings": order}
        assert httpx.post(f"{settings.address}/api/v1/inputs", json=body, trust_env=False).status_code == 201
        put(0, 200)
        for least in (20, 100, 200):
            with reading(settings):
                until(lambda least=least: len(numbers_in_log(settings)) >= least, SOON_S, f"{least} events")  # type: ignore[misc]  # one each
        kinesis_local.split(stream, "shardId-000000000000")
        with reading(settings):
            api.request(point)
            put(200, 300)
            api.wait_for_point(point)
            api.kill()
            again = Process("api", settings)
            until(lambda: len(numbers_in_log(settings)) >= 300, SOON_S, "all events")
        assert numbers_in_log(settings) == list(range(300))
        again.stop()
