"""Events to judge, made from one plain event by changing what a test is about."""

import json
from pathlib import Path
from typing import Any

from lineage_bridge.openlineage.event import Event
from lineage_bridge.openlineage.times import parse_time
from lineage_bridge.openlineage.verdict import Clean, Rejected, Repaired, judge

SAMPLES = Path(__file__).parent.parent / "samples"
RUN_ID = "01a1fb62-883d-7e47-9f65-8da98960457e"
META = {"_producer": "https://example.org/agent", "_schemaURL": "https://example.org/Facet.json#/$defs/Facet"}
_PARSED = parse_time("2026-11-21T00:00:00Z")
assert _PARSED is not None
ARRIVAL_US = _PARSED.us
ABSENT = object()


def event(**changes: Any) -> dict[str, Any]:
    """A clean run event with some members replaced, or left out where the change is ABSENT."""
    plain: dict[str, Any] = {
        "eventTime": "2026-11-20T12:00:00Z",
        "eventType": "START",
        "producer": "https://example.org/agent",
        "schemaURL": "https://openlineage.io/spec/2-0-2/OpenLineage.json#/$defs/RunEvent",
        "run": {"runId": RUN_ID, "facets": {}},
        "job": {"namespace": "jobs", "name": "load", "facets": {}},
        "inputs": [{"namespace": "kafka://a:9092", "name": "orders"}],
        "outputs": [{"namespace": "s3://lake", "name": "orders"}],
    }
    return {key: value for key, value in (plain | changes).items() if value is not ABSENT}


def text(value: object) -> bytes:
    """The JSON text of a value."""
    return json.dumps(value).encode()


def clean(raw: bytes) -> Event:
    """The event of a clean verdict."""
    verdict = judge(raw, ARRIVAL_US)
    assert isinstance(verdict, Clean), verdict
    return verdict.event


def repaired(raw: bytes) -> tuple[Event, list[tuple[str, str]]]:
    """The event of a repaired verdict, and its repairs."""
    verdict = judge(raw, ARRIVAL_US)
    assert isinstance(verdict, Repaired), verdict
    return verdict.event, [(repair.code, repair.path) for repair in verdict.repairs]


def rejected(raw: bytes) -> tuple[str, str]:
    """Code and path of a rejection."""
    verdict = judge(raw, ARRIVAL_US)
    assert isinstance(verdict, Rejected), verdict
    return verdict.code, verdict.path


def sample_lines() -> list[bytes]:
    """Every recorded event."""
    files = sorted(SAMPLES.rglob("*events*.ndjson")) + sorted((SAMPLES / "spark").glob("*.ndjson"))
    return [line for file in files for line in file.read_bytes().splitlines() if line.strip()]
