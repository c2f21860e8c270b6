"""Jobs of several names: what one of them states, and how the job stands."""

import json

from tests.events import RUNS, T0, dataset, facet, run_event, stored_record
from tests.store.reading import node, reader_of
from tests.store.walks import affected
from tests.store.writing import NAMES, add

from lineage_bridge.graph.facts.fold import flat, fold_records
from lineage_bridge.graph.ids import DAY_US, NodeKind
from lineage_bridge.graph.log_record import RecordKind
from lineage_bridge.model.analysis import GraphTable
from lineage_bridge.model.graph import WalkLimits
from lineage_bridge.model.runs import RunFilter
from lineage_bridge.ports.graph_store import Batch, Budget
from lineage_bridge.store.reader import StoreReader
from lineage_bridge.store.write.apply import GraphWriter

NOW = T0 + 400 * DAY_US
PERIOD = {"eventTrigger": "PERIODIC", "eventContentMode": "ACCUMULATIVE", "windowDuration": 60}
GUESSED = run_event("RUNNING", job="own", inputs=[dataset("a"), dataset("b")], outputs=[dataset("ta"), dataset("tb"), dataset("other")])


def stating(type_: str = "RUNNING", time_us: int = T0) -> bytes:
    """The same job by its other name, with heartbeats promised."""
    entries = [
        {"type": "DATASET", "namespace": "ns", "name": f"t{name}", "inputs": [{"type": "DATASET", "namespace": "ns", "name": name}]}
        for name in ("a", "b")
    ]
    kind = facet(processingType="STREAMING", integration="KAFKA_CONNECT", emissionPattern=PERIOD)
    facets = {"lineage": facet(entries=entries), "jobType": kind}
    return run_event(type_, job="seen", run=RUNS[1], time_us=time_us, job_facets=facets, inputs=[dataset("a"), dataset("b")])


def state_alias(writer: GraphWriter, operation: str, arrival: int = NOW) -> None:
    ends = {"a": {"namespace": "jobs", "name": "own"}, "b": {"namespace": "jobs", "name": "seen"}}
    body = json.dumps({"operation": operation, "aliases": [{"entity": "job", **ends, "evidence": "one connector"}]}).encode()
    rows = dict(flat(fold_records([stored_record(body, offset=arrival, arrival=arrival, kind=RecordKind.OPERATOR)], NAMES)))
    writer.apply(Batch({}, rows), Budget(10**6))


def edges(reader: StoreReader, name: str, direction: str, at_us: int | None = None) -> set[tuple[str, str]]:
    walk = reader.lineage.walk(node(reader, name), direction, 1, WalkLimits(), now_us=NOW, at_us=at_us)
    return {(edge.source.name, edge.target.name) for edge in walk.edges}


def all_flows(writer: GraphWriter) -> set[tuple[str, str]]:
    names = {row[0]: row[4] for row in reader_of(writer).whole.tables().rows(GraphTable.NODE)}
    return {(names[source], names[target]) for source, target in reader_of(writer).whole.tables().rows(GraphTable.FLOW)}


ALL = {(source, target) for source in ("a", "b") for target in ("ta", "tb", "other")}
STATED = {("a", "ta"), ("b", "tb"), ("a", "other"), ("b", "other")}


def test_explicit_lineage_of_one_name_hides_inferred_lineage_of_another_in_every_question(writer: GraphWriter) -> None:
    reader = add(writer, GUESSED, stating())
    assert edges(reader, "a", "downstream") | edges(reader, "b", "downstream") == all_flows(writer) == ALL
    state_alias(writer, "alias")
    reader = reader_of(writer)
    assert edges(reader, "a", "downstream") | edges(reader, "b", "downstream") == STATED
    assert {pair for name in ("ta", "tb", "other") for pair in edges(reader, name, "upstream")} == STATED
    assert set(affected(reader.lineage.impact([node(reader, "a")], "downstream", 5, WalkLimits()))) == {"ta", "other", "own"}
    assert all_flows(writer) == STATED


def test_a_veto_brings_back_what_was_hidden_and_the_past_is_as_it_was(writer: GraphWriter) -> None:
    add(writer, GUESSED, stating())
    state_alias(writer, "alias")
    assert edges(reader_of(writer), "a", "downstream", at_us=NOW - 1) == {pair for pair in ALL if pair[0] == "a"}
    state_alias(writer, "veto", NOW + 1)
    assert edges(reader_of(writer), "a", "downstream") == {pair for pair in ALL if pair[0] == "a"}


def test_the_name_that_promises_heartbeats_decides_whether_the_job_is_alive(writer: GraphWriter) -> None:
    late = run_event("COMPLETE", job="own", time_us=T0 + DAY_US)
    reader = add(writer, GUESSED, late, stating(), stating("FAIL", T0 + 1))
    own, seen = (node(reader, name, NodeKind.JOB) for name in ("own", "seen"))
    newest = reader.runs.latest(own, with_datasets=False)
    assert newest is not None
    assert newest.state == "COMPLETE"
    state_alias(writer, "alias")
    reader = reader_of(writer)
    for job in (own, seen):
        newest = reader.runs.latest(job, with_datasets=True)
        assert newest is not None
        assert (newest.job.name, newest.state) == ("seen", "FAIL")
        runs = reader.runs.page(RunFilter(job.id, None, None, None, None, 10, 0)).runs
        assert [(run.job.name, run.state) for run in runs] == [("own", "COMPLETE"), ("seen", "FAIL")]
