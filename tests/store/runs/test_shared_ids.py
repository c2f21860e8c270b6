"""Runs of several jobs under one id, and one run under several names of its job."""

import json
from functools import partial
from typing import Any
from uuid import UUID

import pytest
from tests.corpora.aliases import alias_operation, between_names, operator
from tests.events import RUNS, T0, dataset, erase, facet, run_event, stored_record
from tests.store.reading import node, reader_of
from tests.store.tables import contents
from tests.store.writing import add as add_events
from tests.store.writing import apply

from lineage_bridge.graph.ids import DAY_US, NodeKind
from lineage_bridge.graph.log_record import RecordKind
from lineage_bridge.model.runs import RunFilter, RunRecord
from lineage_bridge.store.reader import StoreReader
from lineage_bridge.store.write.apply import GraphWriter

MINUTE = 60_000_000
STREAM = {"jobType": facet(processingType="STREAMING", integration="FLINK")}
ALIAS = operator(alias_operation("alias", between_names(("jobs", "a"), ("jobs", "b"), entity="job")))


add = partial(add_events, seed=3, batches=2)


def runs_of(reader: StoreReader, job: str, **which: Any) -> list[RunRecord]:
    return list(reader.runs.page(RunFilter(node(reader, job, NodeKind.JOB).id, **which)).runs)


def exported_runs(reader: StoreReader) -> dict[str, str]:
    lines = [json.loads(line) for line in reader.whole.lines(frozenset({"run"}), now_us=T0 + DAY_US)]
    assert len({line["job"]["name"] for line in lines}) == len(lines)
    return {line["job"]["name"]: line["state"] for line in lines}


def test_one_id_used_by_two_jobs_gives_each_its_own_state_and_times(writer: GraphWriter) -> None:
    reader = add(
        writer,
        run_event("START", job="a", time_us=T0),
        run_event("COMPLETE", job="a", time_us=T0 + 5 * MINUTE),
        run_event("START", job="b", time_us=T0 + 60 * MINUTE),
    )
    assert {run.job.name: (run.state, run.started, run.ended) for run in reader.runs.find(RUNS[0])} == {
        "a": ("COMPLETE", T0, T0 + 5 * MINUTE),
        "b": ("START", T0 + 60 * MINUTE, None),
    }
    reader = add(writer, run_event("FAIL", job="b", time_us=T0 + 61 * MINUTE))
    assert exported_runs(reader) == {"a": "COMPLETE", "b": "FAIL"}
    assert [run.job.name for run in runs_of(reader, "a", state="COMPLETE")] == ["a"]
    assert runs_of(reader, "a", state="FAIL") == []


def test_the_heartbeats_of_another_job_with_the_same_id_do_not_count(writer: GraphWriter) -> None:
    """A regular RUNNING of `other` every ten minutes would make the one of `job`, two minutes after its end, a straggler."""
    other = [run_event("RUNNING", job="other", time_us=T0 + n * 10 * MINUTE) for n in range(20)]
    own = [
        run_event("START", time_us=T0, job_facets=STREAM),
        run_event("ABORT", time_us=T0 + 10 * MINUTE),
        run_event("RUNNING", time_us=T0 + 12 * MINUTE),
    ]
    reader = add(writer, *other, *own)
    assert {run.job.name: run.state for run in reader.runs.find(RUNS[0])} == {"job": "RUNNING", "other": "RUNNING"}


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_one_run_under_two_names_of_one_job_stays_one_run(writer: GraphWriter, seed: int) -> None:
    above = {"parent": facet(run={"runId": RUNS[1]}, job={"namespace": "jobs", "name": "above"})}
    apply(writer, [ALIAS])
    reader = add(
        writer,
        run_event("START", job="a", time_us=T0, inputs=[dataset("x")], run_facets=above),
        run_event("COMPLETE", job="b", time_us=T0 + MINUTE, outputs=[dataset("y")]),
        seed=seed,
    )
    (run,) = reader.runs.find(RUNS[0])
    assert (run.state, run.started, run.ended, run.parent_run_id) == ("COMPLETE", T0, T0 + MINUTE, RUNS[1])
    assert ([found.name for found in run.inputs], [found.name for found in run.outputs]) == (["x"], ["y"])
    for name in ("a", "b"):
        assert [run.state for run in runs_of(reader, name)] == ["COMPLETE"]
    assert sorted(exported_runs(reader).values()) == ["COMPLETE", "UNKNOWN"], "the run and its parent"
    assert len(reader.runs.lineage(UUID(RUNS[0]).bytes, "upstream", 3, 10).runs) == 1


def inside(run: int, job: str) -> dict[str, Any]:
    return {"parent": facet(run={"runId": RUNS[run]}, job={"namespace": "jobs", "name": job})}


def tree(reader: StoreReader, run: int) -> list[tuple[int, str]]:
    return [(depth, record.job.name) for depth, record in reader.runs.tree(UUID(RUNS[run]).bytes, 100).runs]


@pytest.mark.parametrize("seed", [1, 2])
def test_runs_lie_inside_the_job_that_they_name(writer: GraphWriter, seed: int) -> None:
    below = [
        run_event(run=RUNS[2], job="in b", time_us=T0 + 2, run_facets=inside(0, "b")),
        run_event(run=RUNS[3], job="in a", time_us=T0 + 3, run_facets=inside(0, "a")),
        run_event(run=RUNS[4], job="in any", time_us=T0 + 4, run_facets=inside(0, "unheard of")),
        run_event(run=RUNS[2], job="other use", time_us=T0 + 5),
        run_event(run=RUNS[1], job="deeper", time_us=T0 + 6, run_facets=inside(2, "in b")),
    ]
    reader = add(writer, *below, run_event(job="a"), seed=seed)
    in_one = [(0, "a"), (1, "in b"), (2, "deeper"), (1, "in a"), (1, "in any")]
    assert tree(reader, 0) == in_one, "one job has the id: nothing else is known under the other names"
    reader = add(writer, run_event(job="b"), seed=seed)
    assert tree(reader, 0) == [(0, "a"), (1, "in a"), (1, "in any"), (0, "b"), (1, "in b"), (2, "deeper")]
    assert tree(reader, 2) == [(0, "in b"), (1, "deeper"), (0, "other use")]
    assert reader.runs.tree(UUID(RUNS[0]).bytes, 3).truncated


def test_runs_inside_a_run_that_never_spoke_lie_inside_the_job_that_they_name(writer: GraphWriter) -> None:
    reader = add(
        writer,
        run_event(run=RUNS[1], job="in a", run_facets=inside(0, "a")),
        run_event(run=RUNS[2], job="in b", run_facets=inside(0, "b")),
    )
    assert tree(reader, 0) == [(0, "a"), (1, "in a"), (0, "b"), (1, "in b")]


def test_the_parent_is_the_job_that_is_named_under_any_of_its_names(writer: GraphWriter) -> None:
    apply(writer, [operator(alias_operation("alias", between_names(("jobs", "b"), ("jobs", "B"), entity="job")))])
    reader = add(writer, run_event(job="a"), run_event(job="b"), run_event(run=RUNS[1], job="in b", run_facets=inside(0, "B")))
    (run,) = reader.runs.find(RUNS[1])
    assert run.named_parent_job is None
    assert tree(reader, 0) == [(0, "a"), (0, "b"), (1, "in b")]


def test_an_erased_id_is_erased_under_all_its_jobs(writer: GraphWriter) -> None:
    add(writer, run_event("START", job="a"), run_event("FAIL", job="b"))
    apply(writer, [stored_record(erase(RUNS[0]), offset=9, kind=RecordKind.OPERATOR)])
    assert reader_of(writer).runs.find(RUNS[0]) == []
    assert contents(writer, "run_event") == set()
