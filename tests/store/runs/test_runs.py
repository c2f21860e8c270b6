"""Runs, on what real producers were seen to send, in whatever order it came."""

import json
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from tests.events import RUNS, T0, dataset, facet, run_event
from tests.store.writing import add as add_events

from lineage_bridge.graph.flows.labels import Label
from lineage_bridge.graph.ids import DAY_US, NodeKind
from lineage_bridge.model.graph import WalkLimits
from lineage_bridge.model.runs import RunFilter, RunRecord
from lineage_bridge.store.reader import StoreReader
from lineage_bridge.store.write.apply import GraphWriter

MS, S, MINUTE = 1_000, 1_000_000, 60_000_000
FLINK = {"jobType": facet(processingType="STREAMING", integration="FLINK", jobType="JOB")}
DEBEZIUM = {"jobType": facet(processingType="STREAMING", integration="DEBEZIUM", jobType="TASK")}
SAMPLES = Path(__file__).parents[2] / "samples"


add = partial(add_events, seed=3, batches=2)


def only(reader: StoreReader, run: str = RUNS[0]) -> RunRecord:
    (record,) = reader.runs.find(run)
    return record


def flows(reader: StoreReader, name: str = "b") -> set[tuple[str, str, str]]:
    node = reader.nodes.find(NodeKind.DATASET, "ns", name)
    assert node is not None
    walk = reader.lineage.walk(node, "both", 1, WalkLimits(), now_us=T0 + DAY_US)
    assert {edge.label for edge in walk.edges} <= {Label.CURRENT}
    return {(edge.source.name, edge.job.name, edge.target.name) for edge in walk.edges}


IO: dict[str, Any] = {"inputs": [dataset("a")], "outputs": [dataset("b")]}
EDGE = {("a", "job", "b")}


def test_a_late_start_does_not_reopen_a_finished_run(writer: GraphWriter) -> None:
    reader = add(writer, run_event("COMPLETE", time_us=T0 + 5 * S, **IO), seed=None)
    assert (only(reader).state, only(reader).started_inferred) == ("COMPLETE", True)
    reader = add(writer, run_event("START", time_us=T0), seed=None)
    assert (only(reader).state, only(reader).started, only(reader).ended) == ("COMPLETE", T0, T0 + 5 * S)
    assert not only(reader).started_inferred
    assert flows(reader) == EDGE


def test_a_start_after_an_end_says_that_the_run_began_again(writer: GraphWriter) -> None:
    """Its clock decides, not the order of arrival: then it has no end, and the edge stays."""
    reader = add(writer, run_event("FAIL", time_us=T0, **IO), run_event("START", time_us=T0 + 5 * S))
    assert (only(reader).state, only(reader).ended) == ("START", None)
    assert flows(reader) == EDGE


def test_spark_fails_and_14_ms_later_completes(writer: GraphWriter) -> None:
    reader = add(
        writer,
        run_event("START", time_us=T0),
        run_event("FAIL", time_us=T0 + S, **IO),
        run_event("COMPLETE", time_us=T0 + S + 14 * MS, **IO),
    )
    assert (only(reader).state, only(reader).ended, only(reader).conflict) == ("FAIL", T0 + S, True)


def test_debezium_fails_at_each_retry_and_goes_on(writer: GraphWriter) -> None:
    events = [run_event("START", time_us=T0, job_facets=DEBEZIUM)]
    events += [run_event("FAIL", time_us=T0 + 10 * S + n * 500 * MS, job_facets=DEBEZIUM) for n in range(12)]
    assert only(add(writer, *events)).state == "FAIL"
    reader = add(writer, run_event("RUNNING", time_us=T0 + 16 * S, job_facets=DEBEZIUM, inputs=[dataset("a")]))
    assert (only(reader).state, only(reader).ended) == ("RUNNING", None)
    assert only(add(writer, run_event("COMPLETE", time_us=T0 + 30 * S, job_facets=DEBEZIUM))).state == "COMPLETE"


def test_flink_sends_a_straggling_running_after_abort(writer: GraphWriter) -> None:
    reader = add(
        writer,
        run_event("START", time_us=T0, job_facets=FLINK, **IO),
        run_event("RUNNING", time_us=T0 + 60 * S),
        run_event("ABORT", time_us=T0 + 70 * S),
        run_event("RUNNING", time_us=T0 + 75 * S),
    )
    assert (only(reader).state, only(reader).ended) == ("ABORT", T0 + 70 * S)
    assert flows(reader) == EDGE
    assert only(add(writer, run_event("RUNNING", time_us=T0 + 131 * S))).state == "RUNNING"


def test_how_long_a_straggler_may_take_is_declared(writer: GraphWriter) -> None:
    pattern = {"eventTrigger": "PERIODIC", "eventContentMode": "ACCUMULATIVE", "windowDuration": 300}
    declared = {"jobType": facet(processingType="STREAMING", integration="FLINK", emissionPattern=pattern)}
    reader = add(writer, run_event("ABORT", time_us=T0, job_facets=declared), run_event("RUNNING", time_us=T0 + 200 * S))
    assert only(reader).state == "ABORT"
    assert only(add(writer, run_event("RUNNING", time_us=T0 + 301 * S))).state == "RUNNING"


def test_or_learnt_from_the_heartbeats(writer: GraphWriter) -> None:
    beats = [run_event("RUNNING", time_us=T0 + n * 10 * S, job_facets=FLINK) for n in range(10)]
    reader = add(writer, *beats, run_event("FAIL", time_us=T0 + 93 * S))
    assert only(reader).state == "FAIL"
    assert only(add(writer, run_event("RUNNING", time_us=T0 + 100 * S))).state == "FAIL"
    assert only(add(writer, run_event("RUNNING", time_us=T0 + 110 * S))).state == "RUNNING"


def test_a_resent_event_changes_nothing(writer: GraphWriter) -> None:
    events = [run_event("START", time_us=T0), run_event("COMPLETE", time_us=T0 + S, **IO)]
    once = only(add(writer, *events))
    assert only(add(writer, *events, *events)) == once


def test_a_run_that_only_completes_has_an_inferred_start(writer: GraphWriter) -> None:
    record = only(add(writer, run_event("COMPLETE", time_us=T0, **IO)))
    assert (record.state, record.started, record.ended, record.started_inferred) == ("COMPLETE", T0, T0, True)


@pytest.mark.parametrize("type_", ["OTHER", None])
def test_other_changes_nothing(writer: GraphWriter, type_: str | None) -> None:
    ended = add(writer, run_event("START", time_us=T0), run_event("COMPLETE", time_us=T0 + S))
    before = only(ended)
    after = only(add(writer, run_event(type_, time_us=T0 + 5 * S, inputs=[dataset("a")])))
    assert (after.state, after.started, after.ended, after.conflict) == (before.state, before.started, before.ended, False)
    assert [node.name for node in after.inputs] == ["a"]


def test_an_empty_abort_ends_the_run_and_no_edge(writer: GraphWriter) -> None:
    reader = add(writer, run_event("START", time_us=T0, job_facets=FLINK, **IO), run_event("ABORT", time_us=T0 + S, inputs=[], outputs=[]))
    assert only(reader).state == "ABORT"
    assert flows(reader) == EDGE


def test_a_heartbeat_without_datasets_takes_nothing_away(writer: GraphWriter) -> None:
    reader = add(
        writer,
        run_event("START", time_us=T0, job_facets=FLINK, **IO),
        run_event("RUNNING", time_us=T0 + MINUTE, inputs=[], outputs=[]),
        run_event("RUNNING", time_us=T0 + 2 * MINUTE),
    )
    assert flows(reader) == EDGE
    assert only(reader).streaming


# how a job works


def test_that_a_job_streams_may_be_learnt_late(writer: GraphWriter) -> None:
    reader = add(writer, run_event("ABORT", time_us=T0), run_event("COMPLETE", time_us=T0 + S))
    assert (only(reader).state, only(reader).streaming) == ("ABORT", False)
    reader = add(writer, run_event("START", run=RUNS[1], time_us=T0 + DAY_US, job_facets=FLINK))
    assert (only(reader).state, only(reader).streaming) == ("COMPLETE", True)


@pytest.mark.parametrize(
    ("processing_type", "integration", "streaming"),
    [
        ("SERVICE", "X", True),
        ("streaming", "x", True),
        ("BATCH", "FLINK", False),
        ("NONE", "kafka-connect", True),
        ("", "Apache Flink", True),
        ("", "SPARK", False),
    ],
)
def test_a_job_streams_by_its_type_else_by_its_integration(
    writer: GraphWriter, processing_type: str, integration: str, streaming: bool
) -> None:
    reader = add(writer, run_event(job_facets={"jobType": facet(processingType=processing_type, integration=integration)}))
    assert only(reader).streaming is streaming


def test_without_a_job_type_the_engine_of_the_newest_run_decides(writer: GraphWriter) -> None:
    reader = add(writer, run_event("RUNNING", run_facets={"processing_engine": facet(version="2.3", name="flink")}))
    assert only(reader).streaming


# parents


def parent(run: str, job: str, **more: Any) -> dict[str, Any]:
    return {"parent": facet(run={"runId": run}, job={"namespace": "jobs", "name": job}, **more)}


def test_a_parent_that_sent_no_event_is_unobserved_until_it_does(writer: GraphWriter) -> None:
    reader = add(writer, run_event(run=RUNS[0], run_facets=parent(RUNS[4], "dag")))
    placeholder = only(reader, RUNS[4])
    assert (placeholder.observed, placeholder.state, placeholder.job.name, placeholder.last) == (False, "UNKNOWN", "dag", T0)
    reader = add(writer, run_event("START", run=RUNS[4], job="dag", time_us=T0 - S))
    real = only(reader, RUNS[4])
    assert (real.observed, real.state, real.started) == (True, "START", T0 - S)
    assert only(reader).parent_job == real.job


def test_a_root_that_is_nobodys_parent_is_unobserved_too(writer: GraphWriter) -> None:
    root = {"run": {"runId": RUNS[3]}, "job": {"namespace": "jobs", "name": "top"}}
    reader = add(writer, run_event(run_facets=parent(RUNS[4], "dag", root=root)))
    assert [(r.job.name, r.observed) for r in reader.runs.find(RUNS[3])] == [("top", False)]
    assert (only(reader).root_run_id, only(reader).root_job) == (RUNS[3], reader.nodes.find(NodeKind.JOB, "jobs", "top"))


def test_the_observed_name_of_a_parents_job_is_kept_and_another_is_shown(writer: GraphWriter) -> None:
    reader = add(
        writer,
        run_event(run=RUNS[4], job="spark_app"),
        run_event(run=RUNS[0], run_facets=parent(RUNS[4], "SparkApp")),
        run_event(run=RUNS[1], run_facets=parent(RUNS[4], "spark_app")),
    )
    differing, same = only(reader, RUNS[0]), only(reader, RUNS[1])
    assert (differing.parent_job, differing.named_parent_job) == (same.parent_job, reader.nodes.find(NodeKind.JOB, "jobs", "SparkApp"))
    assert same.named_parent_job is None
    assert [r.job.name for r in reader.runs.find(RUNS[4])] == ["spark_app"]


# lists


def listed(reader: StoreReader, **which: Any) -> list[int]:
    return [RUNS.index(run.run_id) for run in reader.runs.page(RunFilter(**which)).runs]


def test_runs_by_state_and_time(writer: GraphWriter) -> None:
    reader = add(
        writer,
        *(run_event("START", run=RUNS[n], time_us=T0 + n * MINUTE) for n in range(4)),
        *(run_event("COMPLETE" if n % 2 else "FAIL", run=RUNS[n], time_us=T0 + n * MINUTE + 30 * S) for n in range(4)),
    )
    job = reader.nodes.find(NodeKind.JOB, "jobs", "job")
    assert job is not None
    assert listed(reader, job=job.id) == [3, 2, 1, 0]
    assert listed(reader, job=job.id, state="FAIL") == [2, 0]
    assert listed(reader, job=job.id, state="FAIL", offset=1) == [0]
    assert listed(reader, job=job.id, since=T0 + MINUTE + 30 * S) == [3, 2, 1]
    assert listed(reader, job=job.id, since=T0 + MINUTE + 31 * S) == [3, 2]
    assert listed(reader, job=job.id, until=T0 + 2 * MINUTE) == [1, 0]
    assert listed(reader, job=job.id, until=T0 + 2 * MINUTE + 1) == [2, 1, 0]
    assert listed(reader, job=job.id, since=T0 + 40 * S, until=T0 + 2 * MINUTE + 1, limit=1) == [2]


def test_children_and_trees(writer: GraphWriter) -> None:
    reader = add(
        writer,
        run_event(run=RUNS[1], job="task", time_us=T0 + S, run_facets=parent(RUNS[0], "dag")),
        run_event(run=RUNS[2], job="task2", time_us=T0 + 2 * S, run_facets=parent(RUNS[0], "dag")),
        run_event(run=RUNS[3], job="step", time_us=T0 + 3 * S, run_facets=parent(RUNS[1], "task")),
        run_event(run=RUNS[4], job="alone"),
    )
    top = only(reader, RUNS[0])
    assert not top.observed
    key = bytes.fromhex(RUNS[0].replace("-", ""))
    assert listed(reader, parent=key) == [2, 1]
    assert listed(reader, parent=key, since=T0 + 2 * S) == [2]
    tree = reader.runs.tree(key, 10)
    assert [(depth, RUNS.index(run.run_id)) for depth, run in tree.runs] == [(0, 0), (1, 1), (2, 3), (1, 2)]
    assert not tree.truncated
    assert reader.runs.tree(key, 4).truncated is False
    cut = reader.runs.tree(key, 3)
    assert (len(cut.runs), cut.truncated) == (3, True)


def test_runs_inside_each_other_end(writer: GraphWriter) -> None:
    reader = add(writer, run_event(run=RUNS[0], run_facets=parent(RUNS[1], "b")), run_event(run=RUNS[1], run_facets=parent(RUNS[0], "a")))
    assert len(reader.runs.tree(bytes.fromhex(RUNS[0].replace("-", "")), 10).runs) == 2


@pytest.mark.parametrize(
    ("folder", "state"), [("debezium/debezium_events.ndjson", "COMPLETE"), ("spark/without_delta_4.1.4.ndjson", "FAIL")]
)
def test_recorded_runs_end_as_they_did(writer: GraphWriter, folder: str, state: str) -> None:
    lines = [line for line in (SAMPLES / folder).read_bytes().splitlines() if line]
    bodies = [json.dumps(json.loads(line).get("body", json.loads(line))).encode() for line in lines]
    reader = add(writer, *bodies)
    states = {run.state for run_id in {json.loads(body)["run"]["runId"] for body in bodies} for run in reader.runs.find(run_id)}
    assert state in states
    assert states <= {"COMPLETE", "FAIL", "START"}
