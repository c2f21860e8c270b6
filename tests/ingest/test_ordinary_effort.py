"""Ordinary events take at most a quarter of the work that they may cause, however many are sent at once."""

import gzip
from collections.abc import Iterator
from types import ModuleType
from typing import Any

import pytest
from tests.events import T0, run_event
from tests.ingest.test_effort import Kept
from tests.openlineage.support import SAMPLES

from lineage_bridge.ingest import ingest as ingesting
from lineage_bridge.ingest import masking
from lineage_bridge.ingest.effort import Effort
from lineage_bridge.ingest.ingest import Sender, ingest
from lineage_bridge.ingest.payload import Payload

HEADROOM = 4


def sampled() -> Iterator[tuple[str, list[bytes]]]:
    """The recorded events by file."""
    for path in sorted(SAMPLES.rglob("*.ndjson")):
        yield path.name, [line for line in path.read_bytes().splitlines() if line.strip()]


def output(facet: str, content: object) -> bytes:
    """An event with a facet of its output."""
    return run_event(outputs=[{"namespace": "s3://lake", "name": "gold/access_tokens", "facets": {facet: content}}])


NAMES = ("id", "access_token", "password_hash", "amount", "api_key_id", "country", "secret_rotated_at", "pass_rate")
FIELDS = [{"name": f"c{n}_{NAMES[n % 8]}", "type": "STRING", "description": f"the {NAMES[n % 8]} of {n}"} for n in range(10_000)]
INPUTS = [{"namespace": "s3://lake", "name": f"raw/user_tokens_{n % 20}", "field": f"c{n}_{NAMES[n % 8]}"} for n in range(2_000)]
LINEAGE = {f"c{n}_{NAMES[n % 8]}": {"inputFields": [INPUTS[(n * 7 + k) % 2_000] for k in range(20)]} for n in range(2_000)}
COLUMNS = ", ".join(
    f"t.c{n}, coalesce(t.access_token_{n}, '') as tok{n}, case when t.password_changed_at > '2026-01-01' then 'x{n}' end as p{n}"
    for n in range(3_000)
)
SQL = f"with a as (select {COLUMNS} from t join user_tokens u on u.token_id = t.token_id) select * from a"
WIDE = {
    "10,000 columns": output("schema", {"fields": FIELDS}),
    "lineage of 2,000 columns of 2,000": output("columnLineage", {"fields": LINEAGE}),
    "dense SQL": run_event(job_facets={"sql": {"query": SQL}}),
}


@pytest.fixture
def efforts(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, Effort, int]]:
    """The efforts of what is ingested, each with what it is for and what it was allowed at first."""
    made: list[tuple[str, Effort, int]] = []

    def noted(module: ModuleType, name: str) -> None:
        make = getattr(module, name)

        def note(content: Any) -> Effort:
            effort: Effort = make(content)
            made.append((name, effort, effort.left_ns))
            return effort

        monkeypatch.setattr(module, name, note)

    noted(ingesting, "judging_effort")
    noted(ingesting, "payload_masking_effort")
    noted(ingesting, "masking_effort")
    noted(masking, "masking_effort")
    return made


def headroom(payload: Payload, efforts: list[tuple[str, Effort, int]]) -> dict[str, float]:
    """How many times the work that was done its limit is: the least of each kind. All events are accepted, none is masked whole."""
    found = ingest(payload, Sender("http"), Kept(), T0)
    assert found.accepted == len(found.events)
    assert len(efforts) == len(found.events) + 2, "an event was masked twice"
    least: dict[str, float] = {}
    for name, effort, allowed in efforts:
        least[name] = min(least.get(name, 1e9), allowed / max(1, allowed - effort.left_ns))
    efforts.clear()
    return least


def test_recorded_events_are_far_from_the_limit(efforts: list[tuple[str, Effort, int]]) -> None:
    seen = 0
    for name, lines in sampled():
        for line in lines:
            assert min(headroom(Payload(line), efforts).values()) >= HEADROOM, name
        many = b"[" + b",".join(lines * (1 + 300_000 // sum(map(len, lines)))) + b"]"
        assert min(headroom(Payload(many), efforts).values()) >= HEADROOM, name
        assert min(headroom(Payload(gzip.compress(b"\n".join(lines)), compressed=True, ndjson=True), efforts).values()) >= HEADROOM, name
        seen += len(lines)
    assert seen > 500


@pytest.mark.parametrize("name", WIDE)
def test_wide_tables_and_dense_statements_are_masked_text_by_text(name: str, efforts: list[tuple[str, Effort, int]]) -> None:
    assert min(headroom(Payload(WIDE[name]), efforts).values()) > 1
