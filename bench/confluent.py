"""confluent: how long extracting an organization takes within the limits of calls, and whether memory grows over many polls."""

import json
import math
import os
import time
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psutil
from tests.confluent.cloud import Cloud, running
from tests.confluent.minimum_calls import minimum_calls

from bench.meter import Result, alone
from bench.progress import report
from lineage_bridge.sources.common.shared_metadata import NO_METADATA
from lineage_bridge.sources.confluent.observer import ConfluentObserver
from lineage_bridge.sources.confluent.settings import ConfluentSettings
from lineage_bridge.sources.runtime.poller import Poller, outbox_messages
from lineage_bridge.sources.runtime.service import SourceService
from lineage_bridge.store.state.database import StateDatabase
from lineage_bridge.store.state.sources import SourceRepository

_INTERVAL_US = 300_000_000
_WIDE = 1000.0
"""So many times the limits: no call waits."""


def run(work: Path, *, quick: bool = False) -> Result:
    """Extract the stand-in's organization within its limits, then poll it unchanged without limits: only heartbeats, and the memory used.

    There are no brokers, so groups are read over REST.
    """
    with running() as cloud:
        settings, secrets = {**cloud.settings(), "groups_by": "rest"}, cloud.environment()
        cloud.limits.on = True
        report("confluent: extracting the organization within its limits")
        began = time.monotonic()
        extraction = alone(_extract, settings, secrets)
        out: Result = {"extraction": {**extraction, **_buckets(cloud, extraction["wall_s"])}}
        out["extraction"]["started_after_s"] = round(min(call.at for call in cloud.calls) - began, 2)
        cloud.limits.on, cloud.limits.scale = False, _WIDE
        report("confluent: polling it unchanged")
        out["unchanged"] = alone(_polls, work / "polls.db", settings, secrets, (2, 5, 10) if quick else (20, 100, 200))
    return out


def _extract(settings: dict[str, Any], secrets: dict[str, str]) -> Result:
    """A first extraction: calls, events and seconds of fetching by kind of plane, and in total."""
    os.environ.update(secrets)
    observer = ConfluentObserver("bench", ConfluentSettings.model_validate(settings))
    kinds: dict[str, dict[str, Any]] = defaultdict(lambda: {"scopes": 0, "requests": 0, "events": 0, "longest_s": 0.0, "states": set()})
    size, cpu, began = 0, time.process_time(), time.monotonic()
    for step in observer.steps(None, NO_METADATA, time.time_ns() // 1000):
        outcome, kind = step.plane, kinds[step.plane.key.partition(" ")[0]]
        kind["scopes"] += 1
        kind["requests"] += outcome.requests
        kind["events"] += outcome.events
        kind["longest_s"] = max(kind["longest_s"], round(outcome.took_us / 1e6, 2))
        kind["states"].add(outcome.state)
        size += sum(len(body) for _, body in outbox_messages(step.observation))
    wall = time.monotonic() - began
    observer.close()
    planes = {name: {**kind, "states": sorted(kind["states"])} for name, kind in kinds.items()}
    return {"wall_s": round(wall, 2), "cpu_s": round(time.process_time() - cpu, 2), "message_bytes": size, "planes": planes}


def _buckets(cloud: Cloud, wall_s: float) -> Result:
    """The calls counted by each limit beside the minimum, and the whole beside its slowest limit."""
    least = minimum_calls(cloud.organization)
    names = dict(_keys(cloud))
    requested: dict[str, list[float]] = defaultdict(list)
    refused: dict[str, int] = defaultdict(int)
    for call in cloud.calls:
        bucket = "metrics" if call.plane == "metrics" else names.get(call.key, call.key)
        requested[bucket].append(call.at)
        refused[bucket] += call.status == 429
    buckets = {}
    for name, (calls, seconds) in sorted(least.items()):
        at = requested.pop(name, [])
        taken = max(at) - min(at) if at else 0.0
        figures = {"requests": len(at), "refused": refused[name], "least_requests": calls, "floor_s": seconds, "taken_s": round(taken, 2)}
        buckets[name] = {**figures, "ratio": round(taken / seconds, 2) if seconds else None}
    longest = max(seconds for _, seconds in least.values())
    return {
        "buckets": buckets,
        "others": {name: len(at) for name, at in requested.items()},
        "floor_s": longest,
        "ratio": _ratio(wall_s, longest),
    }


def _ratio(taken: float, least: float) -> float:
    return round(taken / least, 2) if least else math.inf


def _keys(cloud: Cloud) -> Iterator[tuple[str, str]]:
    """Each API key, and the name of the limit that counts its calls."""
    for name, held in cloud.organization["credentials"].items():
        if "key" in held:
            yield held["key"], name
        else:
            yield from ((item["key"], f"{name} {ident}") for ident, item in held.items())


def _polls(path: Path, settings: dict[str, Any], secrets: dict[str, str], counts: tuple[int, ...]) -> Result:
    """The memory held after so many polls, and the events of the last one."""
    os.environ.update(secrets)
    repository = SourceRepository(StateDatabase(path))
    service = SourceService({}, repository)
    delivered: list[Any] = []
    clock = [time.time_ns() // 1000]
    poller = Poller(service.records, repository, lambda message: delivered.extend(_events(message.path, message.body)), lambda: clock[0])
    service.add("bench", "confluent", settings, replace=False)
    process, cpu, began = psutil.Process(), time.process_time(), time.monotonic()
    held: dict[str, int] = {}
    for number in range(1, counts[-1] + 1):
        delivered.clear()
        poller.poll(service.record("bench"))
        poller.deliver()
        clock[0] += _INTERVAL_US
        if number in counts:
            held[str(number)] = round(process.memory_info().rss / 2**20)
            report(f"confluent: {number} polls, {held[str(number)]} MB")
    state = service.record("bench").state
    if state.failures:
        raise RuntimeError(state.error)
    return {
        "polls": counts[-1],
        "rss_mb": held,
        "cpu_s_per_poll": round((time.process_time() - cpu) / counts[-1], 2),
        "wall_s_per_poll": round((time.monotonic() - began) / counts[-1], 2),
        "snapshot_bytes": len(repository.snapshot("bench") or b""),
        "last_events": sorted({event.get("eventType", "none") for event in delivered}),
    }


def _events(path: str, body: bytes) -> list[Any]:
    return json.loads(body) if path.endswith("/lineage") else []
