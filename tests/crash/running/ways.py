"""The ways by which events come in, as something that sends numbered events until they are accepted. A further way is an entry of WAYS."""

import os
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from itertools import count
from types import MappingProxyType
from typing import Any, Protocol

import httpx
from confluent_kafka import KafkaException, Producer
from tests.crash.running.support import LINEAGE, SPARK_S, until
from tests.servers.broker import Kafka
from tests.servers.kinesis import REGION, Kinesis

from lineage_bridge.config import Settings

PARTITIONS = 2


class Surroundings(Protocol):
    """What a way needs: the server's settings, a broker, and a server with the API of Kinesis."""

    settings: Settings
    kafka: Kafka
    kinesis: Kinesis


class Way(ABC):
    """One way in. `send` returns when whoever takes the events in has said that it has them."""

    def __init__(self, name: str, around: Surroundings) -> None:
        self.name, self.around = name, around
        self.http = httpx.Client(base_url=around.settings.address, timeout=30, trust_env=False)

    @abstractmethod
    def open(self) -> None:
        """Make what events are sent to."""

    @abstractmethod
    def send(self, events: Sequence[bytes]) -> None:
        """Send events, again and again until they are accepted."""

    def close(self) -> None:
        self.http.close()


class HttpWay(Way):
    """Posts to the API; what has no answer is sent again."""

    def open(self) -> None:
        """The API is there."""

    def send(self, events: Sequence[bytes]) -> None:
        for at in range(0, len(events), 7):
            body = b"[" + b",".join(events[at : at + 7]) + b"]"
            until(lambda body=body: self._is_accepted(body), SPARK_S, "an answer")  # type: ignore[misc]  # one each

    def _is_accepted(self, body: bytes) -> bool:
        with suppress(httpx.TransportError):
            answer = self.http.post(LINEAGE, content=body, headers={"Content-Type": "application/json"})
            assert answer.status_code in (201, 503, 507), answer.text
            return answer.status_code == 201
        return False


class KafkaWay(Way):
    """Produces to a topic that an input reads, in one of its forms; the broker acknowledges each record, once."""

    form = "embedded"

    def open(self) -> None:
        self.around.kafka.create_topics(self.name, partitions=PARTITIONS)
        settings: dict[str, Any] = {"bootstrap_servers": self.around.kafka.bootstrap, "topics": [self.name], "form": self.form}
        settings |= {"poll_s": 0.1, "refresh_s": 1, "session_timeout_s": 6, "timeout_s": 5, "batch_records": 20}
        body = {"name": self.name, "kind": "kafka", "settings": settings}
        assert self.http.post("/api/v1/inputs", json=body).status_code == 201
        limits: dict[str, Any] = {"enable.idempotence": True, "message.timeout.ms": 120_000, "log_level": 0}
        self.producer = Producer({**self.around.kafka.client_config(), **limits})

    def send(self, events: Sequence[bytes]) -> None:
        failures: list[object] = []
        for number, event in enumerate(events):
            with suppress(KafkaException):
                self.producer.produce(self.name, event, partition=number % PARTITIONS, on_delivery=lambda error, _: failures.append(error))
        deadline = time.monotonic() + SPARK_S
        while self.producer.flush(1):
            assert time.monotonic() < deadline, "the broker does not answer"
        assert [failure for failure in failures if failure] == []
        assert len(failures) == len(events)


class StreamedKafkaWay(KafkaWay):
    """The same, read by Spark."""

    form = "stream"


class KinesisWay(Way):
    """Puts records into a stream of two shards; its server acknowledges each."""

    def open(self) -> None:
        self.around.kinesis.create(self.name, PARTITIONS)
        settings: dict[str, Any] = {"stream": self.name, "region": REGION, "endpoint_url": self.around.kinesis.url, "reads_per_s": 5}
        settings |= {"poll_s": 0.1, "refresh_s": 1, "batch_records": 20}
        body = {"name": self.name, "kind": "kinesis", "settings": settings}
        assert self.http.post("/api/v1/inputs", json=body).status_code == 201

    def send(self, events: Sequence[bytes]) -> None:
        for side in range(PARTITIONS):
            self.around.kinesis.put(self.name, events[side::PARTITIONS], at=side)


class FilesWay(Way):
    """Appends lines to a file that is rotated, and writes files of one event."""

    numbers = count()

    def open(self) -> None:
        self.folder = self.around.settings.data_dir.parent / self.name
        self.folder.mkdir()
        settings: dict[str, Any] = {"folder": str(self.folder), "poll_s": 0.1, "refresh_s": 0.2, "batch_records": 20}
        body = {"name": self.name, "kind": "folder", "settings": settings}
        assert self.http.post("/api/v1/inputs", json=body).status_code == 201

    def send(self, events: Sequence[bytes]) -> None:
        number, growing = next(self.numbers), self.folder / "events.ndjson"
        if number % 5 == 4:
            growing.rename(self.folder / f"events.ndjson.{number}")
        with growing.open("ab") as file:
            file.write(b"".join(event + b"\n" for event in events[1:]))
            os.fsync(file.fileno())
        whole = self.folder / f".{number}.json"
        whole.write_bytes(events[0])
        whole.rename(self.folder / f"{number}.json")


WAYS: Mapping[str, Callable[[str, Surroundings], Way]] = MappingProxyType(
    {"http": HttpWay, "kafka-embedded": KafkaWay, "kafka-stream": StreamedKafkaWay, "kinesis": KinesisWay, "files": FilesWay}
)
