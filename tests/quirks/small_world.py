"""The corpus told of a small world: its events with few runs, jobs, datasets and times, so that everything meets everything."""

import json
import random
from functools import cache
from typing import Any

from lineage_bridge.graph.ids import DAY_US, event_id
from lineage_bridge.graph.log_record import LogRecord, RecordKind, StoredRecord
from lineage_bridge.openlineage.redaction import mask
from lineage_bridge.openlineage.times import format_time
from tests.events import RUNS, T0, erase
from tests.quirks import quirks

_TIMES = (0, 0, 1_000_000, 60_000_000, DAY_US, DAY_US + 5, 3 * DAY_US, 90 * DAY_US)
_KEPT = ("hive://", "hdfs://", "file:")
"""Namespaces of names that stand for others: these keep their names."""


@cache
def events() -> list[dict[str, Any]]:
    """Every event of the corpus that is one."""
    found = []
    for shown in quirks():
        for body in shown.bodies:
            try:
                event = json.loads(body)
            except ValueError:
                continue
            if isinstance(event, dict) and ("job" in event or "dataset" in event) and str(event.get("eventTime")).startswith("2"):
                found.append(event)
    return found


def small_world(seed: int) -> list[StoredRecord]:
    """Some events, now and then with words of operators: erased runs, aliases, vetoes."""
    choice = random.Random(seed)
    bodies = [mask(squeezed(choice.choice(events()), choice)) for _ in range(choice.randint(3, 14))]
    records = [_record(body, offset, T0 + choice.choice((2, 2, 2, 100)) * DAY_US) for offset, body in enumerate(bodies, 1)]
    if choice.random() < 0.25:
        records.append(_record(erase(choice.choice(RUNS[:3])), 900, T0, RecordKind.OPERATOR))
    if choice.random() < 0.25:
        words = [operator(choice) for _ in range(choice.randint(1, 3))]
        records += [_record(word, 901 + offset, T0 + offset, RecordKind.OPERATOR) for offset, word in enumerate(words)]
    return records


def squeezed(event: dict[str, Any], choice: random.Random) -> bytes:
    """The event with a run, a job, datasets and a time of the small world."""
    event = json.loads(json.dumps(event))
    _rename(event, choice)
    if "run" in event:
        event["run"]["runId"] = choice.choice(RUNS[:3])
    if choice.random() < 0.3:
        event["inputs"], event["outputs"] = event.get("outputs"), event.get("inputs")
    event["eventTime"] = format_time(T0 + choice.choice(_TIMES))
    return json.dumps(event).encode()


def _rename(value: Any, choice: random.Random, under: str = "") -> None:
    if isinstance(value, dict):
        if isinstance(value.get("namespace"), str) and isinstance(value.get("name"), str) and not value["namespace"].startswith(_KEPT):
            of_job = under == "job" or value.get("type") == "JOB"
            value.update(namespace="jobs" if of_job else "ns", name=choice.choice(("j1", "j2", "j3") if of_job else ("a", "b", "c")))
        for key, inner in value.items():
            _rename(inner, choice, key)
    elif isinstance(value, list):
        for inner in value:
            _rename(inner, choice, under)


def operator(choice: random.Random) -> bytes:
    """An alias between two of the small world's datasets, a veto on it, or a veto lifted."""
    ends = [{"namespace": "ns", "name": name} for name in choice.sample(["a", "b", "c"], 2)]
    word = choice.choice(("alias", "alias", "veto", "lift"))
    return json.dumps({"operation": word, "aliases": [{"a": ends[0], "b": ends[1]}]}).encode()


def _record(body: bytes, offset: int, arrival: int, kind: RecordKind = RecordKind.EVENT) -> StoredRecord:
    return StoredRecord("log", 0, offset, LogRecord(kind, event_id(body), arrival, "http", "", b"", body))
