"""Flows that only failed runs know of are marked, and impact lists what they lead to apart."""

import json
from functools import partial
from typing import Any

import pytest
from tests.events import RUNS, T0, dataset, facet, run_event
from tests.store.reading import listening_reader_of, node
from tests.store.writing import add as add_events

from lineage_bridge.graph.ids import NodeKind
from lineage_bridge.model.graph import WalkLimits
from lineage_bridge.store.reader import StoreReader
from lineage_bridge.store.write.apply import GraphWriter

DAY = 86_400_000_000
MOVE: dict[str, Any] = {"inputs": [dataset("a")], "outputs": [dataset("b")]}
DEBEZIUM = {"jobType": facet(processingType="STREAMING", integration="DEBEZIUM")}


add = partial(add_events, seed=5, arrival=T0 + 9 * DAY)


def marked(reader: StoreReader, name: str = "a", at_us: int | None = None) -> set[tuple[str, str, bool]]:
    walk = reader.lineage.walk(node(reader, name), "downstream", 5, WalkLimits(), now_us=T0 + DAY, at_us=at_us)
    return {(edge.source.name, edge.target.name, edge.only_failed) for edge in walk.edges}


def affected(reader: StoreReader, name: str = "a", at_us: int | None = None) -> list[tuple[str, bool]]:
    found = reader.lineage.impact([node(reader, name)], "downstream", 9, WalkLimits(), at_us).affected
    return [(item.node.name, item.only_failed) for item in found]


def exported(reader: StoreReader, *types: str) -> list[tuple[str, bool]]:
    lines = [json.loads(line) for line in reader.whole.lines(frozenset(types), now_us=T0 + DAY)]
    return [(line["type"], line.get("only_failed", False)) for line in lines]


def test_a_flow_of_failed_runs_alone_is_marked(writer: GraphWriter) -> None:
    reader = add(writer, run_event("START", **MOVE), run_event("FAIL", time_us=T0 + 1), run_event("FAIL", RUNS[1], **MOVE))
    assert marked(reader) == {("a", "b", True)}
    assert affected(reader) == [("b", True), ("job", True)]
    (job_port, _) = reader.lineage.job_ports(
        reader.lineage.walk(node(reader, "a"), "downstream", 1, WalkLimits(), now_us=T0).edges[0].job, now_us=T0
    )
    assert job_port.only_failed
    assert exported(reader, "flow", "input", "output") == [("input", True), ("output", True), ("flow", True)]


@pytest.mark.parametrize("type_", ["START", "RUNNING", "COMPLETE", "ABORT", "OTHER"])
def test_one_run_that_did_not_fail_is_enough(writer: GraphWriter, type_: str) -> None:
    reader = add(writer, run_event("FAIL", **MOVE), run_event(type_, RUNS[1], **MOVE))
    assert marked(reader) == {("a", "b", False)}
    assert affected(reader) == [("b", False), ("job", False)]
    assert exported(reader, "flow", "input", "output") == [("input", False), ("output", False), ("flow", False)]


def test_as_of_a_time_the_runs_that_had_failed_by_then_count(writer: GraphWriter) -> None:
    reader = add(
        writer,
        run_event("START", **MOVE),
        run_event("FAIL", time_us=T0 + DAY),
        run_event("COMPLETE", RUNS[1], time_us=T0 + 2 * DAY, **MOVE),
    )
    assert [marked(reader, at_us=T0 + days * DAY + 1) for days in (0, 1, 2)] == [
        {("a", "b", False)},
        {("a", "b", True)},
        {("a", "b", False)},
    ]
    assert affected(reader, at_us=T0 + DAY + 1) == [("b", True), ("job", True)]
    assert affected(reader, at_us=T0 + 2 * DAY + 1) == [("b", False), ("job", False)]


def test_as_of_a_time_a_run_counts_with_what_it_had_named_by_then(writer: GraphWriter) -> None:
    reader = add(
        writer,
        run_event("FAIL", **MOVE),
        run_event("START", RUNS[1], time_us=T0 + DAY, **MOVE),
        run_event("COMPLETE", RUNS[1], time_us=T0 + 2 * DAY, outputs=[dataset("c")]),
        run_event("START", RUNS[2], job="other", inputs=[dataset("a")], outputs=[dataset("x")]),
        run_event("FAIL", RUNS[2], job="other", time_us=T0 + 1, outputs=[dataset("y")]),
        run_event("START", RUNS[2], job="other", time_us=T0 + 2 * DAY, outputs=[dataset("z")]),
    )
    failed = {("a", "x", True), ("a", "y", True)}
    assert marked(reader, at_us=T0 + 2) == {("a", "b", True), *failed}
    assert marked(reader, at_us=T0 + DAY + 1) == {("a", "b", False), *failed}


def test_a_sound_run_counts_under_other_names_of_the_same(writer: GraphWriter) -> None:
    schemes = "s3a://lake", "s3://lake"
    moves: list[dict[str, Any]] = [{"inputs": [dataset("a", scheme)], "outputs": [dataset("b", scheme)]} for scheme in schemes]
    reader = add(writer, run_event("FAIL", **moves[0]), run_event("COMPLETE", RUNS[1], **moves[1]))
    assert exported(reader, "flow", "input", "output") == [("input", False), ("output", False), ("flow", False)]
    start = reader.nodes.find(NodeKind.DATASET, "s3a://lake", "a")
    assert start is not None
    walk = reader.lineage.walk(start, "downstream", 5, WalkLimits(), now_us=T0 + DAY)
    assert {edge.only_failed for edge in walk.edges} == {False}


def test_a_fail_that_a_stream_goes_on_after_is_no_failure(writer: GraphWriter) -> None:
    reader = add(
        writer, run_event("START", job_facets=DEBEZIUM, **MOVE), run_event("FAIL", time_us=T0 + 5), run_event("RUNNING", time_us=T0 + 9)
    )
    assert marked(reader) == {("a", "b", False)}


def test_what_a_failed_run_adds_to_a_sound_flow_is_marked_alone(writer: GraphWriter) -> None:
    reader = add(
        writer,
        run_event("COMPLETE", **MOVE),
        run_event("FAIL", RUNS[1], inputs=[dataset("a")], outputs=[dataset("b"), dataset("never made")]),
        run_event("COMPLETE", RUNS[2], job="after", inputs=[dataset("never made")], outputs=[dataset("z")]),
    )
    assert marked(reader) == {("a", "b", False), ("a", "never made", True), ("never made", "z", False)}
    assert affected(reader) == [("b", False), ("job", False), ("never made", True), ("z", True), ("after", True)]


def test_a_wide_run_that_failed_is_marked(writer: GraphWriter) -> None:
    wide = [dataset(f"i{n}") for n in range(600)]
    reader = add(writer, run_event("FAIL", inputs=wide, outputs=[dataset("o1"), dataset("o2")]))
    assert {(source, failed) for source, _, failed in marked(reader, "i7")} == {("i7", True)}
    assert exported(reader, "hub") == [("hub", True)]


def test_another_job_that_did_not_fail_leads_there_too(writer: GraphWriter) -> None:
    reader = add(writer, run_event("FAIL", **MOVE), run_event("COMPLETE", RUNS[1], job="other", **MOVE))
    assert marked(reader) == {("a", "b", True), ("a", "b", False)}
    assert ("b", False) in affected(reader)


def test_the_states_of_many_failed_runs_are_read_at_once(writer: GraphWriter) -> None:
    add(writer, *(run_event("FAIL", f"run {n}", time_us=T0 + n, **MOVE) for n in range(100)))
    reader, statements = listening_reader_of(writer)
    assert marked(reader) == {("a", "b", True)}
    assert 0 < sum("run_event" in statement for statement in statements) < 10
