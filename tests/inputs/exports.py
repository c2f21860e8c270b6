"""The same events through every way in, each into an installation of its own; what is exported of each graph. A further way is an entry.

`python -m tests.inputs.exports --events 100000` compares them, and prints the digest of each export and what it took.
"""

import argparse
import gzip
import hashlib
import os
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from itertools import count, islice
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

import httpx
import psutil
import pytest
from bench.generator import Corpus, generate
from bench.load import is_json
from confluent_kafka import Producer
from pyspark.sql import SparkSession
from tests.crash.running.support import LINEAGE, SOON_S, Asking, Process, nothing_left, settings_in
from tests.crash.running.support import until as hold_until
from tests.events import KEY, T0
from tests.inputs.kinesis.aggregate import aggregated
from tests.inputs.streamed import Streamed
from tests.inputs.support import installed
from tests.servers import broker
from tests.servers.broker import Kafka
from tests.servers.kinesis import REGION, Kinesis, local_started
from tests.servers.process import GUARD
from tests.servers.quick_spark import quickly
from tests.store.reading import reader_of

from lineage_bridge.config import DataFolder
from lineage_bridge.graph.facts.names import Names
from lineage_bridge.inputs.reading import SessionReader
from lineage_bridge.pipeline.replay import Chunk, replay
from lineage_bridge.pipeline.session import start_session
from lineage_bridge.pipeline.streams.jars import KAFKA, default_cache, fetch_jars, ivy_for
from lineage_bridge.ports.graph_store import Budget
from lineage_bridge.sources.common.settings import SourceContext
from lineage_bridge.store.write.apply import GraphWriter
from lineage_bridge.wiring.shared import state_database


class Servers(NamedTuple):
    """What the ways need."""

    kafka: Kafka
    kinesis: Kinesis
    spark: SparkSession


Bring = Callable[[Path, Sequence[bytes], Servers], bytes]
PARTITIONS = 4
PUT_TOGETHER = 10
"""How many records of an event each the producer library puts together."""
STUCK_S = 300.0
NUMBERS = count()


def by_http(folder: Path, events: Sequence[bytes], servers: Servers) -> bytes:
    """Posted to a server in arrays of 100."""
    settings = settings_in(folder)
    with nothing_left(folder), Asking(settings) as asking:
        api = Process("api", settings)
        hold_until(asking.answers, SOON_S, "the API")
        _post_all(settings.address, events)
        api.stop()
    return _folded(folder, servers.spark, state_database(settings).key())


def by_http_into_a_topic(folder: Path, events: Sequence[bytes], servers: Servers) -> bytes:
    """Posted to a server in arrays of 100, which writes them to a topic that Spark reads."""
    kafka, topic = servers.kafka, _topic(servers.kafka, ())
    given = {"kind": "kafka", "form": "stream", "bootstrap_servers": kafka.bootstrap, "topics": [topic]}
    settings = settings_in(folder, inputs={"events": given}, intake="events")
    with nothing_left(folder), Asking(settings) as asking:
        api = Process("api", settings)
        hold_until(lambda: asking.answers() and asking.ready()[1]["parts"]["intake"]["state"] == "ok", SOON_S, "the API")
        _post_all(settings.address, events)
        api.stop()
    made, key = Streamed(folder, servers.spark), state_database(settings).key()
    with (
        made.feeding(key=key) as feed,
        made.streaming(feed, restores=True, bootstrap_servers=kafka.bootstrap, topics=[topic]) as reader,
    ):
        _wait(reader, len(events))
    made.close()
    return _exported(_settled(folder, key))


def by_kafka(folder: Path, events: Sequence[bytes], servers: Servers) -> bytes:
    """From a topic into the log."""
    with installed(folder) as installation:
        kafka = servers.kafka
        settings = {"bootstrap_servers": kafka.bootstrap, "topics": [_topic(kafka, events)], "batch_records": 5_000}
        with installation.reading(**settings) as reader:  # type: ignore[arg-type]  # settings of several types
            _wait(reader, len(events))
    return _folded(folder, servers.spark, KEY)


def by_kinesis(folder: Path, events: Sequence[bytes], servers: Servers) -> bytes:
    """From a stream into the log: a shard with plain records, one with packed ones, one as the producer library puts them together, and
    one with packed ones put together so. What kinesis-local costs grows with the bytes: half a second a megabyte, each way.
    """
    stream = f"exported-{next(NUMBERS)}"
    servers.kinesis.create(stream, PARTITIONS)
    for number in range(PARTITIONS):
        values: Sequence[bytes] = events[number::PARTITIONS]
        if number % 2:
            values = [gzip.compress(value, 1) for value in values]
        if number >= 2:
            values = [
                aggregated(*(("key", value) for value in values[at : at + PUT_TOGETHER])) for at in range(0, len(values), PUT_TOGETHER)
            ]
        servers.kinesis.put(stream, values, at=(number + 0.5) / PARTITIONS)
    settings = {"kind": "kinesis", "stream": stream, "region": REGION, "endpoint_url": servers.kinesis.url, "reads_per_s": 5}
    with installed(folder) as installation, pytest.MonkeyPatch.context() as keys:
        keys.setenv("AWS_ACCESS_KEY_ID", "AKIATEST")
        keys.setenv("AWS_SECRET_ACCESS_KEY", "secret")
        with installation.reading(**settings) as reader:  # type: ignore[arg-type]  # settings of several types
            _wait(reader, len(events))
    return _folded(folder, servers.spark, KEY)


def by_files(folder: Path, events: Sequence[bytes], servers: Servers) -> bytes:
    """From files of lines, and files of one event, into the log."""
    files = folder / "files"
    files.mkdir()
    single, lines = events[:20], events[20:]
    for number, event in enumerate(single):
        (files / f"{number}.json").write_bytes(event)
    for number in range(PARTITIONS):
        (files / f"{number}.ndjson").write_bytes(b"".join(event + b"\n" for event in lines[number::PARTITIONS]))
    context = SourceContext(input_folders=(folder,))
    with (
        installed(folder) as installation,
        installation.reading(kind="folder", context=context, folder=str(files), batch_records=5_000) as reader,
    ):
        _wait(reader, len(events))
    return _folded(folder, servers.spark, KEY)


def by_kafka_in_the_stream(folder: Path, events: Sequence[bytes], servers: Servers) -> bytes:
    """From a topic, read by Spark."""
    kafka, made = servers.kafka, Streamed(folder, servers.spark)
    with made.feeding() as feed, made.streaming(feed, bootstrap_servers=kafka.bootstrap, topics=[_topic(kafka, events)]) as reader:
        _wait(reader, len(events))
    made.close()
    return _exported(_settled(folder, KEY))


def _settled(folder: Path, key: bytes) -> GraphWriter:
    store = GraphWriter(folder / "graph.db", Names(key))
    while store.settle(Budget(10**9)):
        pass
    return store


def _post_all(address: str, events: Sequence[bytes]) -> None:
    for at in range(0, len(events), 100):
        body = b"[" + b",".join(events[at : at + 100]) + b"]"
        answer = httpx.post(address + LINEAGE, content=body, headers={"Content-Type": "application/json"}, trust_env=False)
        assert answer.status_code == 201, answer.text


WAYS: Mapping[str, Bring] = MappingProxyType(
    {
        "http": by_http,
        "http into a topic": by_http_into_a_topic,
        "kafka embedded": by_kafka,
        "kafka in the stream": by_kafka_in_the_stream,
        "kinesis": by_kinesis,
        "files": by_files,
    }
)


def _topic(kafka: Kafka, events: Sequence[bytes]) -> str:
    """A new topic with these events, in several partitions."""
    name = f"exported-{next(NUMBERS)}"
    kafka.create_topics(name, partitions=PARTITIONS)
    producer = Producer({**kafka.client_config(), "linger.ms": 5, "queue.buffering.max.messages": 1_000_000})
    for number, event in enumerate(events):
        producer.produce(name, event, partition=number % PARTITIONS)
        producer.poll(0)
    assert producer.flush(120) == 0
    return name


def _wait(reader: SessionReader, count: int) -> None:
    """Wait until a reader has read so many records; on a slow machine that may take long, as long as some come."""
    read, deadline = 0, time.monotonic() + STUCK_S
    while (now := reader.meter.status.read) < count:
        if now > read:
            read, deadline = now, time.monotonic() + STUCK_S
        assert time.monotonic() < deadline, f"{read} of {count} came, then none for {STUCK_S} s: {reader.meter.status}"
        time.sleep(0.05)


def _folded(folder: Path, spark: SparkSession, key: bytes) -> bytes:
    """The export of what Spark folds from the log."""
    store = GraphWriter(folder / "folded.db", Names(key), feed=False)
    replay(spark, DataFolder(folder), store, key, Chunk(), lambda _: None)
    return _exported(store)


def _exported(store: GraphWriter) -> bytes:
    lines = b"\n".join(reader_of(store).whole.lines(frozenset(), now_us=T0))
    store.close()
    return lines


def compared(
    folder: Path, events: Sequence[bytes], servers: Servers, report: Callable[[str], None], ways: Mapping[str, Bring] = WAYS
) -> None:
    """The exports of all ways are equal byte for byte."""
    exports: dict[str, bytes] = {}
    for name, bring in ways.items():
        began, spent, own = time.monotonic(), _cpu_s(), folder / name.replace(" ", "-")
        own.mkdir()
        exports[name] = bring(own, events, servers)
        taken = f"{time.monotonic() - began:.0f} s, {_cpu_s() - spent:.0f} s of processor time with making the export"
        digest = hashlib.sha256(exports[name]).hexdigest()
        report(f"{name}: {len(events)} events, an export of {len(exports[name])} bytes, SHA-256 {digest}, {taken}")
    first, *others = exports
    for other in others:
        pairs = zip(exports[first].splitlines(), exports[other].splitlines(), strict=False)
        line = next((pair for pair in pairs if pair[0] != pair[1]), None)
        assert exports[first] == exports[other], f"{first} and {other}: {line}"


def _cpu_s() -> float:
    """Seconds of processor time of this program and all that it started, servers aside."""
    this = psutil.Process()
    servers = [child for child in this.children() if str(GUARD) in child.cmdline()]
    aside = {process for server in servers for process in (server, *server.children(recursive=True))}
    spent = 0.0
    for process in (this, *this.children(recursive=True)):
        with suppress(psutil.NoSuchProcess):
            times = process.cpu_times()
            spent += 0.0 if process in aside else times.user + times.system + times.children_user + times.children_system
    return spent


def compare(folder: Path, events: int, report: Callable[[str], None], ways: Mapping[str, Bring] = WAYS) -> None:
    """Bring so many generated events, and a damaged one, in by these ways, with servers of their own, and compare the exports."""
    bodies = [body for sent in islice(generate(Corpus(events)), events) if is_json(body := sent.body)]
    for name in ("broker", "kinesis", "exports"):
        (folder / name).mkdir()
    jars = fetch_jars(KAFKA, default_cache(), ivy_for(os.environ))
    with quickly():
        spark = start_session(folder / "spark", master="local[2]", memory="1g", jars=jars)
    try:
        with broker.started(folder / "broker") as kafka, local_started(folder / "kinesis") as kinesis:
            compared(folder / "exports", [*bodies, b'{"no": "event"}'], Servers(kafka, kinesis, spark), report, ways)
    finally:
        spark.stop()
    report("the exports are equal")


def print_line(line: str) -> None:
    """Print a line at once."""
    print(line, flush=True)  # noqa: T201 - the point of it


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.inputs.exports", description=__doc__)
    parser.add_argument("--events", type=int, default=100_000, help="how many events come by each way")
    parser.add_argument("--ways", nargs="+", choices=WAYS, default=list(WAYS), metavar="WAY", help=f"some of: {', '.join(WAYS)}")
    given = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory(prefix="lineage-bridge-exports-") as folder:
        compare(Path(folder), given.events, print_line, {name: WAYS[name] for name in given.ways})
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
