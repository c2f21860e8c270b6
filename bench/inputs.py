"""inputs: events a second and processor time an event over Kafka and from files, beside HTTP in one run; and the time to an answer."""

import sqlite3
import time
from collections.abc import Callable
from contextlib import closing, suppress
from itertools import islice
from pathlib import Path
from uuid import UUID

import httpx
import psutil
from confluent_kafka import Producer
from tests.servers import broker

from bench.generator import Corpus, generate
from bench.load import batches, fire, is_json
from bench.meter import Clock, Result, calibrate, per_event, quantiles
from bench.progress import report
from bench.server import Running, started

TOPIC, PARTITIONS = "lineage", 4
BATCH, CONNECTIONS = 100, 4
_NAMESPACE = "bench://fresh"


def run(work: Path, *, quick: bool = False) -> Result:
    """The same events over HTTP, in arrays of 100, and over a topic; then freshness by both, in turns. The broker is not counted."""
    share = 10 if quick else 1
    events = [body for sent in islice(generate(Corpus(40_000 // share)), 40_000 // share) if is_json(body := sent.body)]
    (work / "kafka").mkdir()
    (work / "files").mkdir()
    with (
        broker.started(work / "kafka") as kafka,
        started("serve", work / "data", LINEAGE_BRIDGE_INPUT_FOLDERS=str(work)) as server,
    ):
        kafka.create_topics(TOPIC, partitions=PARTITIONS)
        producer = Producer({**kafka.client_config(), "linger.ms": 5, "log_level": 0})
        server.wait("/api/v1/ready", 0.1)
        with httpx.Client(base_url=server.url, timeout=75.0) as client:
            settings = {"bootstrap_servers": kafka.bootstrap, "topics": [TOPIC], "poll_s": 0.2}
            client.post("/api/v1/inputs", json={"name": "bench", "kind": "kafka", "settings": settings}).raise_for_status()
            _brought(server, client, lambda: _produce(producer, events[:500]), 500)
            out: Result = {"bytes_per_event": round(sum(map(len, events)) / len(events))}
            report("inputs: HTTP")
            out["http"] = _measured(server, len(events), lambda: fire(batches(events, server.port, BATCH), server.port, CONNECTIONS))
            _settle(client)
            report("inputs: Kafka")
            _produce(producer, events)
            total = _taken(client)
            out["kafka"] = _measured(server, len(events), lambda: _brought(server, client, lambda: None, len(events), total))
            _settle(client)
            report("inputs: files")
            _write(work / "files", events)
            out["files"] = _measured(server, len(events), lambda: _read_files(server, client, work / "files", len(events)))
            out["files_to_kafka"] = round(out["files"]["events_per_s"] / out["kafka"]["events_per_s"], 2)
            _settle(client)
            out["to_the_graph"] = {form: _to_the_graph(server, client, kafka, producer, events, form) for form in ("embedded", "stream")}
            report("inputs: freshness")
            out["freshness"] = _freshness(client, producer, 5 if quick else 40)
    return out


def _measured(server: Running, count: int, work: Callable[[], object]) -> Result:
    """What taking events in costs, the pipeline included, which folds meanwhile."""
    parts = {name: _process(server, name) for name in ("api", "inputs")}
    clocks = {name: Clock(process).start() for name, process in parts.items()}
    began = time.monotonic()
    work()
    wall = time.monotonic() - began
    spent = {name: clock.read()[0] for name, clock in clocks.items()}
    shares = {f"{name}_cpu_us_per_event": round(1e6 * cpu / count, 1) for name, cpu in spent.items()}
    return {**per_event(count, sum(spent.values()), wall, calibrate()), **shares}


def _to_the_graph(server: Running, client: httpx.Client, kafka: broker.Kafka, producer: Producer, events: list[bytes], form: str) -> Result:
    """A backlog in a topic until the graph has all of it, with the processor time of all processes of the server, Spark's included.

    The input is read for a while before, so that what is measured is no start.
    """
    report(f"inputs: to the graph, {form}")
    topic, first = f"backlog-{form}", events[:500]
    kafka.create_topics(topic, partitions=PARTITIONS)
    settings = {"bootstrap_servers": kafka.bootstrap, "topics": [topic], "form": form, "poll_s": 0.2}
    before = _in_graph(server)
    client.post("/api/v1/inputs", json={"name": topic, "kind": "kafka", "settings": settings}).raise_for_status()
    _produce(producer, first, topic)
    _until(server, lambda: _in_graph(server) >= before + len(first))
    client.post(f"/api/v1/inputs/{topic}/pause").raise_for_status()
    time.sleep(2)
    _produce(producer, events, topic)
    processes = [server.process, *server.process.children(recursive=True)]
    cpu, began = _cpu(processes), time.monotonic()
    client.post(f"/api/v1/inputs/{topic}/resume").raise_for_status()
    _until(server, lambda: _in_graph(server) >= before + len(first) + len(events))
    wall = time.monotonic() - began
    spent = _cpu([server.process, *server.process.children(recursive=True)]) - cpu
    client.post(f"/api/v1/inputs/{topic}/pause").raise_for_status()
    _settle(client)
    return {**per_event(len(events), spent, wall, calibrate()), "backlog_recovery_s": round(wall, 2)}


def _cpu(processes: list[psutil.Process]) -> float:
    """Seconds of processor time of processes, and of those of their children that have ended."""
    total = 0.0
    for process in processes:
        with suppress(psutil.NoSuchProcess):
            times = process.cpu_times()
            total += times.user + times.system + times.children_user + times.children_system
    return total


def _in_graph(server: Running) -> int:
    """How many records of events the graph has."""
    with closing(sqlite3.connect(f"file:{server.data_dir / 'graph.db'}?mode=ro", uri=True, timeout=30)) as graph:
        return int(graph.execute("SELECT (SELECT count(*) FROM event_record) + (SELECT count(*) FROM quarantine)").fetchone()[0])


def _until(server: Running, holds: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 600
    while not holds():
        if time.monotonic() > deadline or not server.process.is_running():
            raise TimeoutError("the backlog was not taken in")
        time.sleep(0.1)


def _process(server: Running, command: str) -> psutil.Process:
    return next(child for child in server.process.children() if command in child.cmdline())


def _produce(producer: Producer, events: list[bytes], topic: str = TOPIC) -> None:
    for number, event in enumerate(events):
        producer.produce(topic, event, partition=number % PARTITIONS)
        producer.poll(0)
    producer.flush(60)


def _write(folder: Path, events: list[bytes]) -> None:
    for number in range(PARTITIONS):
        (folder / f"{number}.ndjson").write_bytes(b"".join(event + b"\n" for event in events[number::PARTITIONS]))


def _read_files(server: Running, client: httpx.Client, folder: Path, count: int) -> None:
    """Add an input for a folder, and wait until the log has so many events of it."""
    settings = {"folder": str(folder), "poll_s": 0.2}
    client.post("/api/v1/inputs", json={"name": "files", "kind": "folder", "settings": settings}).raise_for_status()
    _brought(server, client, lambda: None, count, 0, "files")


def _taken(client: httpx.Client, name: str = "bench") -> int:
    item = client.get(f"/api/v1/inputs/{name}").json()
    taken: int = sum((item["accepted"], *item["rejected"].values()))
    return taken


def _brought(
    server: Running, client: httpx.Client, produce: Callable[[], None], count: int, before: int | None = None, name: str = "bench"
) -> None:
    """Wait until the log has so many more events of the input."""
    target = (_taken(client) if before is None else before) + count
    produce()
    deadline = time.monotonic() + 600
    while _taken(client, name) < target:
        if time.monotonic() > deadline or not server.process.is_running():
            raise TimeoutError(f"{_taken(client, name)} of {target} events came")
        time.sleep(0.05)


def _settle(client: httpx.Client) -> None:
    """Wait until the graph has everything, so that folding does not compete with what is measured next."""
    while not client.get("/api/v1/ready").json()["lag"]["caught_up"]:
        time.sleep(0.2)


def _freshness(client: httpx.Client, producer: Producer, samples: int) -> Result:
    """From sending an event to the first answer that shows it: by HTTP and by Kafka, in turns."""
    seconds: dict[str, list[float]] = {"http": [], "kafka": []}
    for number in range(samples):
        for way in ("http", "kafka"):
            name = f"{way}_{number}"
            time.sleep(0.3 + 0.037 * (number % 10))
            began = time.monotonic()
            if way == "http":
                client.post("/api/v1/lineage", content=_event(name, number)).raise_for_status()
            else:
                producer.produce(TOPIC, _event(name, number), partition=number % PARTITIONS)
                producer.flush(10)
            _see(client, f"{name}_out")
            seconds[way].append(time.monotonic() - began)
    return {way: {"samples": samples, **quantiles(found)} for way, found in seconds.items()}


def _see(client: httpx.Client, name: str) -> None:
    question: dict[str, str | int] = {"namespace": _NAMESPACE, "name": name, "direction": "upstream", "depth": 1}
    deadline = time.monotonic() + 60
    while name.removesuffix("_out") + "_in" not in client.get("/api/v1/lineage/datasets/lineage", params=question).text:
        if time.monotonic() > deadline:
            raise TimeoutError(f"{name} is in no answer")
        time.sleep(0.01)


def _event(name: str, number: int) -> bytes:
    run = UUID(int=(hash(name) & (1 << 64) - 1) << 32 | number, version=4)
    datasets = [f'[{{"namespace":"{_NAMESPACE}","name":"{name}_{side}"}}]' for side in ("in", "out")]
    return (
        f'{{"eventType":"COMPLETE","eventTime":"2026-01-01T00:00:00Z","run":{{"runId":"{run}"}},"job":{{"namespace":"bench","name":"{name}"}},'
        f'"inputs":{datasets[0]},"outputs":{datasets[1]},"producer":"bench","schemaURL":"bench"}}'
    ).encode()
