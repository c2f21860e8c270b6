"""Runs whose events are complete snapshots: what is closed, and what is not."""

from typing import Any

import pytest
from tests.events import KEY, RUNS, T0, columns, dataset, facet, records_of, run_event

from lineage_bridge.graph.facts.fold import fold_records
from lineage_bridge.graph.facts.names import Names
from lineage_bridge.graph.flows.derive import derive

NAMES = Names(KEY)
MINUTE = 60_000_000
NAME_OF = {NAMES.dataset("ns", name): name for name in "abct"} | {NAMES.job("jobs", "job"): ":job"}
SNAPSHOT = {"eventTrigger": "PERIODIC", "eventContentMode": "COMPLETE_SNAPSHOT"}


def event_of(minute: int, inputs: str | None = None, outputs: list[dict[str, Any]] | str | None = None, **more: Any) -> bytes:
    """An event of the stream; `pattern` is its emission pattern, None for an event without a job type."""
    pattern = more.pop("pattern", SNAPSHOT)
    job_type = facet(processingType="STREAMING", integration="TEST", emissionPattern=pattern) if pattern else None
    facets = {**({"jobType": job_type} if job_type else {}), **more.pop("job_facets", {})}
    named = [dataset(name) for name in outputs] if isinstance(outputs, str) else outputs
    read = None if inputs is None else [dataset(name) for name in inputs]
    return run_event("RUNNING", time_us=T0 + minute * MINUTE, inputs=read, outputs=named, job_facets=facets, **more)


def flows(*bodies: bytes) -> set[tuple[str, str]]:
    results = [
        {(NAME_OF[row[0]], NAME_OF[row[1]]) for row in derive(fold_records(records_of(list(order)), NAMES), NAMES).get("flow", set())}
        for order in (bodies, bodies[::-1])
    ]
    assert results[0] == results[1]
    return results[0]


def test_a_newer_event_that_names_a_side_closes_what_it_omits_there() -> None:
    assert flows(event_of(0, "ab", "t"), event_of(1, "b")) == {("b", "t")}
    assert flows(event_of(0, "a", "tb"), event_of(1, None, "t")) == {("a", "t")}


def test_an_event_that_names_nothing_closes_nothing() -> None:
    assert flows(event_of(0, "ab", "t"), event_of(1), event_of(2, "", [])) == {("a", "t"), ("b", "t")}


def test_what_is_named_again_is_open_again() -> None:
    assert flows(event_of(0, "ab", "t"), event_of(1, "b"), event_of(2, "ab")) == {("a", "t"), ("b", "t")}


def test_one_event_of_the_run_that_says_so_is_enough() -> None:
    assert flows(event_of(0, "ab", "t"), event_of(1, "b", pattern=None)) == {("b", "t")}


@pytest.mark.parametrize("pattern", [{"eventTrigger": "PERIODIC", "eventCompleteness": "COMPLETE_SNAPSHOT"}, SNAPSHOT])
def test_either_spelling_of_the_mode_is_read(pattern: dict[str, Any]) -> None:
    assert flows(event_of(0, "ab", "t", pattern=pattern), event_of(1, "b", pattern=pattern)) == {("b", "t")}


def test_events_that_accumulate_close_nothing() -> None:
    pattern = {**SNAPSHOT, "eventContentMode": "ACCUMULATIVE"}
    assert flows(event_of(0, "ab", "t", pattern=pattern), event_of(1, "b", pattern=pattern)) == {("a", "t"), ("b", "t")}


def test_a_snapshot_speaks_for_its_own_run_alone() -> None:
    assert flows(event_of(0, "a", "t"), event_of(1, "b", "t", run=RUNS[1])) == {("a", "t"), ("b", "t")}


def test_the_newest_columns_of_an_output_are_all_of_them() -> None:
    def outputs(*sources: str) -> list[dict[str, Any]]:
        return [dataset("t", columnLineage=columns(x=[("ns", source, "x") for source in sources]))]

    assert flows(event_of(0, "ab", outputs("a", "b")), event_of(1, "b", outputs("b"))) == {("b", "t")}


def test_the_newest_entries_are_all_of_them() -> None:
    def entries(source: str) -> dict[str, Any]:
        ends = [{"type": "DATASET", "namespace": "ns", "name": name} for name in ("t", source)]
        return {"lineage": facet(entries=[{**ends[0], "inputs": [ends[1]]}])}

    assert flows(event_of(0, "a", "t", job_facets=entries("a")), event_of(1, "b", "t", job_facets=entries("b"))) == {("b", "t")}


def test_the_columns_of_a_closed_output_go_with_it() -> None:
    of_t = [dataset("t", columnLineage=columns(x=[("ns", "a", "x")]))]
    assert flows(event_of(0, "a", of_t), event_of(1, None, "c")) == {("a", "c")}
