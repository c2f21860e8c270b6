"""The ways in that are measured: the settings of each input, and how events come to the place that it reads."""

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final, NamedTuple

from confluent_kafka import Producer
from tests.servers import broker, kinesis

from bench.load import batches, fire
from bench.server import Running
from lineage_bridge.pipeline.streams.jars import KAFKA, default_cache, fetch_jars, ivy_for

BATCH, CONNECTIONS = 100, 4
PARTITIONS = 4
"""Partitions of a topic, shards of a stream, files of a folder."""
NAME: Final = "bench"
"""Of the input, of its topic, and of its stream."""
POLL_S: Final = 0.25
"""Of the inputs that ask for news: an idle shard, a folder. Their default is a second, by which an event is shown later."""
Put = Callable[[Sequence[bytes]], None]


class Servers(NamedTuple):
    """What is read from, in processes that are not measured."""

    kafka: broker.Kafka
    kinesis: kinesis.Kinesis


@dataclass(frozen=True)
class Way:
    """A way in. `put` brings events to where they are read, durably; `environment` is that of the server."""

    put: Put
    kind: str = ""
    settings: dict[str, Any] = field(default_factory=dict)
    environment: dict[str, str] = field(default_factory=dict)
    is_in_log: bool = True


@contextmanager
def servers_started(work: Path) -> Iterator[Servers]:
    """A broker and a Kinesis, and the archives that Spark's source for Kafka needs."""
    fetch_jars(KAFKA, default_cache(), ivy_for(os.environ))
    with ExitStack() as stack:
        folders = [work / "servers" / name for name in ("kafka", "kinesis")]
        for folder in folders:
            folder.mkdir(parents=True)
        kafka = stack.enter_context(broker.started(folders[0]))
        yield Servers(kafka, stack.enter_context(kinesis.local_started(folders[1])))


def _http(work: Path, servers: Servers) -> Way:
    del work, servers
    return Way(lambda _: None)


def _kafka(work: Path, servers: Servers) -> Way:
    del work
    return _topic(servers.kafka, "embedded")


def _kafka_stream(work: Path, servers: Servers) -> Way:
    del work
    return _topic(servers.kafka, "stream")


def _topic(kafka: broker.Kafka, form: str) -> Way:
    topic = f"{NAME}-{form}"
    kafka.create_topics(topic, partitions=PARTITIONS)
    producer = Producer({**kafka.client_config(), "linger.ms": 5, "queue.buffering.max.messages": 1_000_000, "log_level": 0})

    def put(events: Sequence[bytes]) -> None:
        for number, event in enumerate(events):
            producer.produce(topic, event, partition=number % PARTITIONS)
            producer.poll(0)
        if producer.flush(60):
            raise TimeoutError("the broker did not take all records")

    return Way(put, "kafka", {"bootstrap_servers": kafka.bootstrap, "topics": [topic], "form": form}, is_in_log=form == "embedded")


def _kinesis(work: Path, servers: Servers) -> Way:
    del work
    server = servers.kinesis
    server.create(NAME, PARTITIONS)

    def put(events: Sequence[bytes]) -> None:
        for number in range(min(PARTITIONS, len(events))):
            server.put(NAME, events[number::PARTITIONS], at=(number + 0.5) / PARTITIONS)

    keys = {"AWS_ACCESS_KEY_ID": "AKIATEST", "AWS_SECRET_ACCESS_KEY": "secret"}
    return Way(put, "kinesis", {"stream": NAME, "region": kinesis.REGION, "endpoint_url": server.url, "poll_s": POLL_S}, keys)


def _files(work: Path, servers: Servers) -> Way:
    del servers
    folder = work / "files"
    folder.mkdir()

    def put(events: Sequence[bytes]) -> None:
        for number in range(min(PARTITIONS, len(events))):
            with (folder / f"{number}.ndjson").open("ab") as file:
                file.write(b"".join(event + b"\n" for event in events[number::PARTITIONS]))

    return Way(put, "folder", {"folder": str(folder), "refresh_s": POLL_S}, {"LINEAGE_BRIDGE_INPUT_FOLDERS": str(work)})


def post(server: Running, events: Sequence[bytes]) -> None:
    """Send events over HTTP, in arrays of 100 on four connections. Raises RuntimeError when the server does not take them."""
    answers = fire(batches(list(events), server.port, BATCH), server.port, CONNECTIONS)
    if failed := {status: count for status, count in answers.statuses.items() if status >= 500 or status == 429}:
        raise RuntimeError(f"the server answered {failed}")


WAYS: Final = MappingProxyType({"http": _http, "kafka": _kafka, "kafka_in_the_stream": _kafka_stream, "kinesis": _kinesis, "files": _files})
"""Each way by its name; HTTP, with which they are compared, is the first and has no input."""
