"""What has ended, and what goes on under another name."""

import json
from typing import Any

import pytest
from tests.events import RUNS, T0, dataset, dataset_event, facet, job_event, run_event, stored_record
from tests.store.reading import reader_of
from tests.store.writing import NAMES, add

from lineage_bridge.graph.facts.events import facts
from lineage_bridge.graph.flows.labels import Label
from lineage_bridge.graph.ids import DAY_US, NodeKind
from lineage_bridge.graph.log_record import RecordKind
from lineage_bridge.model.graph import WalkLimits
from lineage_bridge.store.write.apply import GraphWriter

HOUR = 3_600_000_000


def moved(source: str, target: str, time_us: int, run: str = RUNS[0], job: str = "job", type_: str = "COMPLETE") -> bytes:
    return run_event(type_, run=run, job=job, time_us=time_us, inputs=[dataset(source)], outputs=[dataset(target)])


def lifecycle(change: str, previous: str | None = None) -> dict[str, Any]:
    more = {"previousIdentifier": {"namespace": "ns", "name": previous}} if previous else {}
    return facet(lifecycleStateChange=change, **more)


def order(operation: str, at: str = "", **ends: str) -> bytes:
    named = {end: {"namespace": "ns", "name": name} for end, name in ends.items()}
    return json.dumps({"operation": operation, "job": {"namespace": "jobs", "name": "job"}, **named, **({"at": at} if at else {})}).encode()


def flows(writer: GraphWriter, name: str, direction: str = "both", **how: Any) -> dict[tuple[str, str], Label]:
    reader = reader_of(writer)
    node = reader.nodes.find(NodeKind.DATASET, "ns", name)
    assert node is not None
    walk = reader.lineage.walk(node, direction, 20, WalkLimits(), now_us=how.pop("now_us", T0 + DAY_US), **how)
    return {(edge.source.name, edge.target.name): edge.label for edge in walk.edges}


def test_a_drop_ends_earlier_flows(writer: GraphWriter) -> None:
    add(writer, moved("a", "b", T0), dataset_event(dataset("b", lifecycleStateChange=lifecycle("DROP")), T0 + HOUR))
    assert flows(writer, "a") == {}
    assert flows(writer, "a", ended=True) == {("a", "b"): Label.ENDED}
    assert flows(writer, "a", at_us=T0 + HOUR - 1) == {("a", "b"): Label.CURRENT}
    assert flows(writer, "a", at_us=T0 + HOUR) == {}
    lines = list(reader_of(writer).whole.lines(frozenset({"flow", "input", "output"}), now_us=T0 + DAY_US))
    assert [json.loads(line)["type"] for line in lines] == ["input"]


def test_a_later_mention_revives_an_edge_but_a_heartbeat_does_not(writer: GraphWriter) -> None:
    add(writer, moved("a", "b", T0), dataset_event(dataset("b", lifecycleStateChange=lifecycle("DROP")), T0 + HOUR))
    add(writer, run_event("RUNNING", time_us=T0 + 2 * HOUR))
    assert flows(writer, "a") == {}
    add(writer, moved("a", "b", T0 + 3 * HOUR, run=RUNS[1]))
    assert flows(writer, "a") == {("a", "b"): Label.CURRENT}
    assert flows(writer, "a", at_us=T0 + 2 * HOUR) == {}


def test_another_job_that_names_a_dropped_dataset_does_not_revive_what_ended(writer: GraphWriter) -> None:
    add(writer, moved("a", "b", T0), dataset_event(dataset("b", lifecycleStateChange=lifecycle("DROP")), T0 + HOUR))
    add(writer, moved("c", "b", T0 + 2 * HOUR, run=RUNS[1], job="other"))
    assert flows(writer, "b", "upstream") == {("c", "b"): Label.CURRENT}


def test_a_declaration_that_is_older_than_a_drop_has_ended(writer: GraphWriter) -> None:
    add(writer, job_event(inputs=[dataset("a")], outputs=[dataset("b")]))
    add(writer, dataset_event(dataset("a", lifecycleStateChange=lifecycle("DROP")), T0 + HOUR))
    assert flows(writer, "b") == {}
    add(writer, job_event(time_us=T0 + 2 * HOUR, inputs=[dataset("a")], outputs=[dataset("b")]))
    assert flows(writer, "b") == {("a", "b"): Label.CURRENT}


def test_an_operator_ends_an_edge_and_takes_that_back(writer: GraphWriter) -> None:
    add(writer, moved("a", "b", T0), moved("a", "c", T0, run=RUNS[1]))
    add(writer, order("end", source="a", target="b"), kind=RecordKind.OPERATOR, arrival=T0 + HOUR)
    assert flows(writer, "a") == {("a", "c"): Label.CURRENT}
    assert flows(writer, "a", ended=True) == {("a", "b"): Label.ENDED, ("a", "c"): Label.CURRENT}
    assert flows(writer, "a", at_us=T0 + 1) == {("a", "b"): Label.CURRENT, ("a", "c"): Label.CURRENT}
    add(writer, order("unend", source="a", target="b"), kind=RecordKind.OPERATOR, arrival=T0 + 2 * HOUR)
    assert flows(writer, "a") == {("a", "b"): Label.CURRENT, ("a", "c"): Label.CURRENT}


def test_an_operator_ends_all_that_a_job_takes_from_a_dataset_until_it_names_it_again(writer: GraphWriter) -> None:
    add(writer, moved("a", "b", T0), moved("x", "b", T0, run=RUNS[1]))
    add(writer, order("end", source="a"), kind=RecordKind.OPERATOR, arrival=T0 + HOUR)
    assert flows(writer, "b") == {("x", "b"): Label.CURRENT}
    reader = reader_of(writer)
    job = reader.nodes.find(NodeKind.JOB, "jobs", "job")
    assert job is not None
    assert {port.dataset.name for port in reader.lineage.job_ports(job, now_us=T0 + DAY_US)} == {"b", "x"}
    add(writer, moved("a", "b", T0 + 2 * HOUR, run=RUNS[2]))
    assert flows(writer, "b") == {("a", "b"): Label.CURRENT, ("x", "b"): Label.CURRENT}


@pytest.mark.parametrize(
    "body", [b"{}", b"[", b'{"operation": "end"}', order("end"), order("end", at="soon", source="a"), order("stop", source="a")]
)
def test_a_malformed_ending_has_no_effect(body: bytes) -> None:
    operator = stored_record(body, kind=RecordKind.OPERATOR)
    if body not in (b"{}", b"["):
        assert facts(operator, NAMES) == []


def test_walks_cross_a_rename_in_the_direction_of_time(writer: GraphWriter) -> None:
    add(writer, moved("a", "old", T0), moved("old", "z", T0 + 1, run=RUNS[1], job="reader"))
    renamed = run_event(
        run=RUNS[2], job="ddl", time_us=T0 + HOUR, outputs=[dataset("new", lifecycleStateChange=lifecycle("RENAME", "old"))]
    )
    add(writer, renamed, moved("new", "y", T0 + 2 * HOUR, run=RUNS[3], job="later"))
    assert set(flows(writer, "y", "upstream")) == {("new", "y"), ("old", "new"), ("a", "old")}
    assert set(flows(writer, "a", "downstream")) == {("a", "old"), ("old", "z"), ("old", "new"), ("new", "y")}
    assert set(flows(writer, "new", "downstream")) == {("new", "y")}
    assert set(flows(writer, "old", "upstream")) == {("a", "old")}
    assert set(flows(writer, "a", "downstream", at_us=T0 + HOUR - 1)) == {("a", "old"), ("old", "z")}
