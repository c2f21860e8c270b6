"""Runs that others name and that never sent an event: listed under their job, and found by the id as it was sent."""

import json
from typing import Any

import pytest
from tests.corpora.aliases import alias_operation, between_names, operator
from tests.events import RUNS, T0, facet, run_event
from tests.store.reading import node
from tests.store.writing import add, apply

from lineage_bridge.graph.ids import NodeKind
from lineage_bridge.model.runs import RunFilter, RunRecord
from lineage_bridge.store.reader import StoreReader
from lineage_bridge.store.write.apply import GraphWriter

RAW = "scheduled__2022-05-10T00:00:00+00:00"


def under(run: str, job: str, root: tuple[str, str] | None = None) -> dict[str, Any]:
    above = {"root": {"run": {"runId": root[0]}, "job": {"namespace": "jobs", "name": root[1]}}} if root else {}
    return {"parent": facet(run={"runId": run}, job={"namespace": "jobs", "name": job}, **above)}


def listed(reader: StoreReader, job: str, **which: Any) -> list[RunRecord]:
    return list(reader.runs.page(RunFilter(node(reader, job, NodeKind.JOB).id, **which)).runs)


def test_a_placeholder_is_listed_under_its_job_until_it_sends_an_event(writer: GraphWriter) -> None:
    reader = add(
        writer,
        run_event(run=RUNS[0], job="task", time_us=T0 + 5, run_facets=under(RUNS[3], "dag", (RUNS[4], "top"))),
        run_event("COMPLETE", run=RUNS[2], job="dag", time_us=T0 + 3),
    )
    assert [(run.run_id, run.observed, run.state, run.last) for run in listed(reader, "dag")] == [
        (RUNS[3], False, "UNKNOWN", T0 + 5),
        (RUNS[2], True, "COMPLETE", T0 + 3),
    ]
    assert [run.run_id for run in listed(reader, "top")] == [RUNS[4]]
    assert [run.run_id for run in listed(reader, "dag", state="UNKNOWN")] == [RUNS[3]]
    assert [run.run_id for run in listed(reader, "dag", state="COMPLETE")] == [RUNS[2]]
    assert [run.run_id for run in listed(reader, "dag", since=T0 + 6)] == []
    assert [run.run_id for run in listed(reader, "dag", limit=1, offset=1)] == [RUNS[2]]
    reader = add(writer, run_event("START", run=RUNS[3], job="dag", time_us=T0 + 9))
    assert [(run.run_id, run.observed) for run in listed(reader, "dag")] == [(RUNS[3], True), (RUNS[2], True)]


def test_a_placeholder_is_found_by_its_raw_id(writer: GraphWriter) -> None:
    reader = add(writer, run_event(job="task", run_facets=under(RAW, "dag", ("manual__1", "top"))))
    for raw, job in ((RAW, "dag"), ("manual__1", "top")):
        (run,) = reader.runs.find(raw)
        assert (run.raw_id, run.job.name, run.observed) == (raw, job, False)
        assert [found.run_id for found in reader.runs.find(run.run_id)] == [run.run_id]
        assert [found.raw_id for found in listed(reader, job)] == [raw]
    reader = add(writer, run_event("START", run=RAW, job="dag"))
    assert [(run.raw_id, run.observed) for run in reader.runs.find(RAW)] == [(RAW, True)]


def test_a_placeholder_is_listed_under_all_names_of_its_job(writer: GraphWriter) -> None:
    apply(writer, [operator(alias_operation("alias", between_names(("jobs", "dag"), ("jobs", "DAG"), entity="job")))])
    reader = add(
        writer,
        run_event(run=RUNS[0], job="task", run_facets=under(RUNS[3], "dag")),
        run_event(run=RUNS[1], job="task", run_facets=under(RUNS[3], "DAG")),
    )
    for name in ("dag", "DAG"):
        assert [run.run_id for run in listed(reader, name)] == [RUNS[3]]
    assert len(reader.runs.find(RUNS[3])) == 1


@pytest.mark.parametrize("job", ["task", "other"])
def test_a_run_that_names_itself_its_parent_has_none(writer: GraphWriter, job: str) -> None:
    reader = add(writer, run_event(run=RUNS[0], job="task", run_facets=under(RUNS[0], job)))
    (run,) = reader.runs.find(RUNS[0])
    assert (run.parent_run_id, run.parent_job) == (None, None)
    lines = [json.loads(line) for line in reader.whole.lines(frozenset({"run"}), now_us=T0)]
    assert [line for line in lines if "parent" in line] == []
