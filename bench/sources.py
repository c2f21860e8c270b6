"""sources: what it costs to observe 1,000 connectors and 5,000 topics: the first time, when nothing has changed, when ten have."""

import json
import time
from collections import Counter
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Any
from urllib.request import urlopen

from bench import worker
from bench.meter import Clock, Result, alone
from lineage_bridge.ports import Parcel
from lineage_bridge.sources.desk import SourceDesk
from lineage_bridge.sources.poller import Poller
from lineage_bridge.store.control import Control
from lineage_bridge.store.sourcebook import SourceBook

CHANGED = 10


def run(work: Path, *, quick: bool = False) -> Result:
    """Requests, processor seconds and events of each poll."""
    connectors, topics = (100, 500) if quick else (1_000, 5_000)
    out: Result = {"connectors": connectors, "topics": topics}
    with ExitStack() as stack:
        url = stack.enter_context(worker.worker(connectors))
        out["connect"] = alone(
            _polls, work / "connect.db", "connect", {"url": url, "kafka": "broker.example.com:9092"}, f"{url}/change/{CHANGED}"
        )
    return out


def _polls(path: Path, kind: str, settings: dict[str, Any], change: str) -> Result:
    book = SourceBook(Control(path))
    desk = SourceDesk({}, book)
    told: list[bytes] = []
    poller = Poller(desk.records, book, lambda parcel: told.append(_events(parcel)), lambda: time.time_ns() // 1000)
    desk.add("bench", kind, settings, replace=False)
    return {
        "first": _poll(desk, poller, told, lambda: None),
        "unchanged": [_poll(desk, poller, told, lambda: None) for _ in range(3)],
        f"{CHANGED}_changed": _poll(desk, poller, told, lambda: urlopen(change).read()),
        "snapshot_bytes": len(book.snapshot("bench") or b""),
    }


def _poll(desk: SourceDesk, poller: Poller, told: list[bytes], change: Callable[[], object]) -> Result:
    change()
    told.clear()
    url = str(desk.record("bench").settings["url"])
    asked, clock = _requests(url), Clock().start()
    clock.calibrate()
    poller.poll(desk.record("bench"))
    poller.deliver()
    cpu, wall = clock.read()
    clock.calibrate()
    state = desk.record("bench").state
    if state.failures:
        raise RuntimeError(state.error)
    events = [event for body in told for event in json.loads(body)]
    return {
        "requests": _requests(url) - asked,
        "cpu_s": round(cpu, 2),
        "wall_s": round(wall, 2),
        "calibration": round(clock.calibration, 1),
        "events": dict(Counter(event.get("eventType", "DATASET") for event in events)),
        "event_bytes": sum(map(len, told)),
        "unseen": len(state.unseen),
    }


def _requests(url: str) -> int:
    return int(urlopen(f"{url}/requests").read())


def _events(parcel: Parcel) -> bytes:
    return parcel.body if parcel.path.endswith("/lineage") else b"[]"
