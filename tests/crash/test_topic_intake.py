"""Received events go to a topic: what was acknowledged survives kills of the server and of the broker, and is in the graph once."""

import json
import threading
from collections.abc import Iterator
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Any

import httpx
import pytest
from tests.crash.running.support import LINEAGE, SOON_S, SPARK_S, Asking, Process, is_running, nothing_left, settings_in, until
from tests.events import run_event
from tests.servers.broker import Kafka, started, started_again

from lineage_bridge.config import Settings
from lineage_bridge.eventlog.archive.reader import ArchiveReader
from lineage_bridge.eventlog.reader import LogReader
from lineage_bridge.graph.log_record import LogRecord
from lineage_bridge.store.schema.sqlite import connect_reader

pytestmark = pytest.mark.servers
TOPIC = "received"
BOUND_S = 3.0
"""How long the producer tries; the answer comes a little later."""


def event(number: int) -> bytes:
    return run_event("COMPLETE", f"00000000-0000-0000-0000-{number:012d}", f"job-{number}", number=number)


def intake_settings(folder: Path, kafka: Kafka) -> Settings:
    given: dict[str, Any] = {"kind": "kafka", "form": "stream", "bootstrap_servers": kafka.bootstrap, "topics": [TOPIC]}
    given |= {"poll_s": 0.1, "refresh_s": 0.5, "timeout_s": BOUND_S}
    return settings_in(folder, inputs={"events": given}, intake="events")


def archived(settings: Settings) -> list[LogRecord]:
    archive = ArchiveReader(settings.paths.archive)
    return [
        stored.record
        for of in archive.partitions()
        for stored in archive.read(of.source, of.partition, 0, archive.end(of.source, of.partition))
    ]


def is_accepting(asking: Asking) -> bool:
    return bool(asking.answers() and asking.ready()[1]["parts"]["intake"]["state"] == "ok")


class Sending(threading.Thread):
    """Posts one event after the other, each again until it is acknowledged; `refused` are the other answers."""

    def __init__(self, url: str, first: int) -> None:
        super().__init__(daemon=True)
        self.url, self.number, self.enough = url, first, threading.Event()
        self.acknowledged: list[int] = []
        self.refused: list[httpx.Response] = []

    def run(self) -> None:
        with httpx.Client(base_url=self.url, timeout=60, trust_env=False) as http:
            while not self.enough.is_set():
                self._send(http, event(self.number))
                self.acknowledged.append(self.number)
                self.number += 1

    def _send(self, http: httpx.Client, body: bytes) -> None:
        while True:
            try:
                answer = http.post(LINEAGE, content=body, headers={"Content-Type": "application/json"})
            except httpx.TransportError:
                self.enough.wait(0.1)
                continue
            if answer.status_code == 201:
                return
            self.refused.append(answer)
            self.enough.wait(0.1)

    def finish(self) -> list[int]:
        self.enough.set()
        self.join(SPARK_S)
        assert not self.is_alive()
        return self.acknowledged


@pytest.fixture
def sending() -> Iterator[list[Sending]]:
    made: list[Sending] = []
    yield made
    for thread in made:
        thread.enough.set()


def test_acknowledged_events_survive_kills_of_server_and_broker(tmp_path: Path, sending: list[Sending]) -> None:
    folder, data = tmp_path / "kafka", tmp_path / "data"
    folder.mkdir()
    with nothing_left(data), ExitStack() as stack:
        broker = stack.enter_context(ExitStack())
        kafka = broker.enter_context(started(folder, "dG9waWMtb2YtcmVjZWl2ZQ"))
        kafka.create_topics(TOPIC, partitions=3)
        settings = intake_settings(data, kafka)
        data.mkdir()
        asking = stack.enter_context(Asking(settings))
        api, pipeline = Process("api", settings), Process("pipeline", settings)
        until(lambda: is_accepting(asking), SOON_S, "the API")
        sending.append(Sending(settings.address, 0))
        sending[0].start()
        until(lambda: len(sending[0].acknowledged) >= 50, SOON_S, "events")
        api.kill()
        api = Process("api", settings)
        before = len(sending[0].acknowledged)
        until(lambda: len(sending[0].acknowledged) >= before + 20, SOON_S, "events after the API was killed")
        broker.close()
        until(lambda: sending[0].refused, SOON_S, "a refusal")
        refusal = sending[0].refused[0]
        assert (refusal.status_code, refusal.headers["Retry-After"]) == (503, "1")
        until(lambda: not is_accepting(asking), SOON_S, "the state of the intake")
        broker.enter_context(started_again(kafka))
        before = len(sending[0].acknowledged)
        until(lambda: len(sending[0].acknowledged) >= before + 20, SPARK_S, "events after the broker was back")
        until(lambda: is_accepting(asking), SOON_S, "the state of the intake")
        acknowledged = sending[0].finish()
        assert all(answer.status_code == 503 for answer in sending[0].refused)

        until(lambda: is_running(settings, pipeline.pid), SPARK_S, "the pipeline")
        answer = asking.http.post(LINEAGE, content=event(1_000_000)).json()
        found = asking.http.get(
            "/api/v1/graph/runs/00000000-0000-0000-0000-000001000000", params={"min_position": answer["position"], "wait": 60}
        )
        assert found.status_code == 200, found.text
        until(asking.caught_up, SPARK_S, "the graph")
        # Counters are reported after a batch, at the latest a second later.
        until(lambda: asking.http.get("/api/v1/inputs/events").json()["accepted"] == len(archived(settings)), SOON_S, "the report")
        for process in (api, pipeline):
            process.stop()
    numbers = [json.loads(record.body)["number"] for record in archived(settings)]
    assert set(acknowledged) <= set(numbers)
    assert not [
        record
        for _, record in LogReader(settings.paths.log).read(0, LogReader(settings.paths.log).durable_end())
        if b"number" in record.body
    ]
    with closing(connect_reader(settings.paths.graph)) as graph:
        (runs,) = graph.execute("SELECT count(*) FROM (SELECT event FROM event GROUP BY event)").fetchone()
    assert runs == len(set(numbers))


def test_two_servers_write_to_one_topic_and_have_one_graph(kafka: Kafka, tmp_path: Path) -> None:
    kafka.create_topics(TOPIC, partitions=2)
    first, second = (intake_settings(tmp_path / name, kafka) for name in ("first", "second"))
    with ExitStack() as stack:
        askings = []
        for settings in (first, second):
            settings.data_dir.mkdir()
            stack.enter_context(nothing_left(settings.data_dir))
            askings.append(stack.enter_context(Asking(settings)))
        servers = [Process(part, settings) for settings in (first, second) for part in ("api",)]
        pipeline = Process("pipeline", second)
        for asking in askings:
            until(lambda asking=asking: is_accepting(asking), SOON_S, "the API")  # type: ignore[misc]  # one each
        until(lambda: is_running(second, pipeline.pid), SPARK_S, "the pipeline")
        answer = askings[0].http.post(LINEAGE, content=event(1))
        assert answer.status_code == 201, answer.text
        refused = askings[1].http.post(LINEAGE, content=b"no event")
        assert refused.status_code == 400, refused.text
        waiting = {"min_position": answer.json()["position"], "wait": 60}
        found = askings[1].http.get("/api/v1/graph/runs/00000000-0000-0000-0000-000000000001", params=waiting, timeout=SPARK_S)
        assert found.status_code == 200, found.text
        found = askings[1].http.get("/api/v1/quarantine", params={"min_position": refused.json()["position"], "wait": 60}, timeout=SPARK_S)
        assert found.json()["counts"] == {"not_json": 1}
        for process in (*servers, pipeline):
            process.stop()
