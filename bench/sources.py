"""sources: what it costs to observe 1,000 connectors and 5,000 topics: the first time, when nothing has changed, when ten have."""

import json
import time
from collections import Counter
from collections.abc import Callable, Iterable
from contextlib import ExitStack
from pathlib import Path
from typing import Any
from urllib.request import urlopen

from confluent_kafka import TopicPartition
from confluent_kafka.admin import AdminClient, NewPartitions, OffsetSpec
from tests.servers import broker

from bench import worker
from bench.meter import Clock, Result, alone
from bench.progress import report
from lineage_bridge.ports.sources import OutboxMessage
from lineage_bridge.sources.common.kafka.protocol.wire import KafkaProtocol
from lineage_bridge.sources.runtime.poller import Poller
from lineage_bridge.sources.runtime.service import SourceService
from lineage_bridge.store.state.database import StateDatabase
from lineage_bridge.store.state.sources import SourceRepository

CHANGED = 10
_UNCHANGED = 3
_AT_ONCE = 500


def run(work: Path, *, quick: bool = False) -> Result:
    """Requests, processor seconds and events of each poll. The worker is a stand-in in a process of its own, the broker is a real one."""
    connectors, topics = (100, 500) if quick else (1_000, 5_000)
    out: Result = {"connectors": connectors, "topics": topics}
    with ExitStack() as stack:
        report(f"sources: {connectors} connectors")
        url = stack.enter_context(worker.worker(connectors))
        out["connect"] = alone(_connect, work / "connect.db", url)
        report(f"sources: making {topics} topics")
        (work / "kafka").mkdir()
        kafka = stack.enter_context(broker.started(work / "kafka"))
        names = [name for number in range(topics // worker.PER_CONNECTOR) for name in worker.topics_of(2 * number)]
        for start in range(0, topics, _AT_ONCE):
            kafka.create_topics(*names[start : start + _AT_ONCE])
        _until_led(AdminClient({"bootstrap.servers": kafka.bootstrap}), names)
        report("sources: observing them")
        out["kafka"] = alone(_kafka, work / "kafka.db", kafka.bootstrap, names[:CHANGED])
    return out


def _until_led(admin: AdminClient, names: list[str]) -> None:
    """Wait until the broker answers for all topics: that takes a while after they were made."""
    left, newest = names, OffsetSpec.latest()  # type: ignore[no-untyped-call]  # the client has few types
    while left:
        requested = admin.list_offsets({TopicPartition(name, 0): newest for name in left})
        left = [partition.topic for partition, answer in requested.items() if answer.exception()]


def _connect(path: Path, url: str) -> Result:
    settings = {"url": url, "kafka": "broker.example.com:9092"}
    return _polls(path, "connect", settings, lambda: _get(f"{url}/requests"), lambda: _get(f"{url}/change/{CHANGED}"))


def _kafka(path: Path, bootstrap: str, changed: list[str]) -> Result:
    requested, original = [0], KafkaProtocol.request_all

    def counted(wire: KafkaProtocol, requests: Iterable[tuple[int, Any]]) -> list[Any]:
        every = list(requests)
        requested[0] += len(every)
        return original(wire, every)

    def change() -> None:
        admin = AdminClient({"bootstrap.servers": bootstrap})
        for done in admin.create_partitions([NewPartitions(name, 2) for name in changed]).values():
            done.result()

    setattr(KafkaProtocol, "request_all", counted)  # noqa: B010  # counts the source's requests; mypy forbids assigning to a method
    return _polls(path, "kafka", {"bootstrap_servers": bootstrap}, lambda: requested[0], change)


def _polls(path: Path, kind: str, settings: dict[str, Any], requests: Callable[[], int], change: Callable[[], object]) -> Result:
    repository = SourceRepository(StateDatabase(path))
    service = SourceService({}, repository)
    delivered: list[bytes] = []
    poller = Poller(service.records, repository, lambda message: delivered.append(_events(message)), lambda: time.time_ns() // 1000)
    service.add("bench", kind, settings, replace=False)

    def poll() -> Result:
        delivered.clear()
        requested, clock = requests(), Clock().start()
        clock.calibrate()
        poller.poll(service.record("bench"))
        poller.deliver()
        cpu, wall = clock.read()
        clock.calibrate()
        state = service.record("bench").state
        if state.failures:
            raise RuntimeError(state.error)
        events = [event for body in delivered for event in json.loads(body)]
        return {
            "requests": requests() - requested,
            "cpu_s": round(cpu, 2),
            "wall_s": round(wall, 2),
            "calibration": round(clock.calibration, 1),
            "events": dict(Counter(event.get("eventType", "DATASET") for event in events)),
            "event_bytes": sum(map(len, delivered)),
            "unseen": len(state.unseen),
        }

    first, unchanged = poll(), [poll() for _ in range(_UNCHANGED)]
    change()
    return {
        "first": first,
        "unchanged": unchanged,
        f"{CHANGED}_changed": [poll() for _ in range(2)],
        "snapshot_bytes": len(repository.snapshot("bench") or b""),
    }


def _get(url: str) -> int:
    found: int = json.loads(urlopen(url).read())
    return found


def _events(message: OutboxMessage) -> bytes:
    return message.body if message.path.endswith("/lineage") else b"[]"
