"""Column lineage and inputs that spell one dataset differently are compared by what the names denote."""

import json
from typing import Any

import pytest
from tests.events import RUNS, T0, columns, dataset, facet, records_of, run_event
from tests.store.reading import reader_of
from tests.store.writing import apply

from lineage_bridge.graph.ids import DAY_US, NodeKind
from lineage_bridge.graph.relations import Evidence
from lineage_bridge.model.graph import WalkLimits
from lineage_bridge.model.lineage import TraceOptions
from lineage_bridge.store.write.apply import GraphWriter

Pair = tuple[str, str]
COLUMN, CO_OCCURRENCE = Evidence.COLUMN, Evidence.CO_OCCURRENCE
SPELLINGS = [
    (("s3a://b", "t"), ("s3://b", "t")),
    (("postgres://h", "d.s.t"), ("postgres://h:5432", "d.s.t")),
    (("ns", "p"), ("ns", "q")),
]


def job_run(inputs: list[dict[str, Any]], outputs: list[dict[str, Any]], run: str = RUNS[0]) -> bytes:
    return run_event(run=run, inputs=inputs, outputs=outputs)


def edges(writer: GraphWriter, name: Pair, **how: Any) -> set[tuple[str, Evidence]]:
    reader = reader_of(writer)
    node = reader.nodes.find(NodeKind.DATASET, *name)
    assert node is not None
    walk = reader.lineage.walk(node, "downstream", 1, WalkLimits(), now_us=T0 + DAY_US, **how)
    return {(edge.target.name, edge.evidence) for edge in walk.edges}


def exported(writer: GraphWriter) -> set[tuple[str, str, str]]:
    lines = (json.loads(line) for line in reader_of(writer).whole.lines(frozenset({"flow"}), now_us=T0 + DAY_US))
    return {(line["source"]["dataset"]["name"], line["target"]["dataset"]["name"], line["evidence"]) for line in lines}


def named(spelling: Pair, **facets: Any) -> dict[str, Any]:
    links: dict[str, Any] = (
        {"symlinks": facet(identifiers=[{"namespace": "ns", "name": "q", "type": "TABLE"}])} if spelling == ("ns", "p") else {}
    )
    return dataset(spelling[1], spelling[0], **links, **facets)


@pytest.mark.parametrize(("read", "stated"), SPELLINGS)
def test_an_input_that_columns_name_otherwise_flows_where_they_say(writer: GraphWriter, read: Pair, stated: Pair) -> None:
    of_read = columns(x=[(*stated, "x")])
    of_other = columns(x=[("ns", "other", "x")])
    outputs = [dataset("o1", columnLineage=of_read), dataset("o2", columnLineage=of_other)]
    apply(writer, records_of([job_run([named(read), dataset("other")], outputs)]))
    assert edges(writer, read) == {("o1", COLUMN)}
    assert edges(writer, read, at_us=T0 + 1) == {("o1", COLUMN)}
    assert edges(writer, ("ns", "other")) == {("o2", COLUMN)}
    assert {line[1:] for line in exported(writer)} == {("o1", "column"), ("o2", "column")}
    reader = reader_of(writer)
    node = reader.nodes.find(NodeKind.DATASET, "ns", "o1")
    assert node is not None
    coverage = reader.lineage.trace(node, TraceOptions("x", "upstream"), WalkLimits()).coverage
    assert (coverage.with_columns, coverage.without_columns) == (1, 0)


@pytest.mark.parametrize(("read", "stated"), SPELLINGS)
def test_a_run_that_states_no_columns_still_flows_by_co_occurrence(writer: GraphWriter, read: Pair, stated: Pair) -> None:
    of_read, of_other = columns(x=[(*stated, "x")]), columns(x=[("ns", "other", "x")])
    outputs = [dataset("o1", columnLineage=of_read), dataset("o2", columnLineage=of_other)]
    bodies = [job_run([named(read), dataset("other")], outputs), job_run([named(read)], [dataset("o2")], RUNS[1])]
    apply(writer, records_of(bodies))
    assert edges(writer, read) == {("o1", COLUMN), ("o2", CO_OCCURRENCE)}


def test_an_input_that_no_column_mentions_flows_everywhere(writer: GraphWriter) -> None:
    of_other = columns(x=[("ns", "other", "x")])
    inputs = [dataset("t", "s3a://b"), dataset("t", "s3://b"), dataset("other")]
    apply(writer, records_of([job_run(inputs, [dataset("o", columnLineage=of_other)])]))
    assert edges(writer, ("s3a://b", "t")) == {("o", CO_OCCURRENCE)}


def test_an_output_under_two_names_comes_from_what_its_columns_say(writer: GraphWriter) -> None:
    of_output = columns(x=[("ns", "a", "x")])
    outputs = [dataset("o", "s3://b", columnLineage=of_output), dataset("o", "s3a://b")]
    apply(writer, records_of([job_run([dataset("a"), dataset("c")], outputs)]))
    assert edges(writer, ("ns", "a")) == {("o", COLUMN)}
    assert edges(writer, ("ns", "c")) == {("o", CO_OCCURRENCE)}


def test_a_dataset_that_newer_runs_name_otherwise_is_not_superseded(writer: GraphWriter) -> None:
    names = ["s3://b", *["s3a://b"] * 3]
    bodies = [
        run_event(run=RUNS[number], time_us=T0 + number, inputs=[dataset("t", namespace)], outputs=[dataset("o")])
        for number, namespace in enumerate(names)
    ]
    apply(writer, records_of(bodies))
    reader = reader_of(writer)
    node = reader.nodes.find(NodeKind.DATASET, "ns", "o")
    assert node is not None
    walk = reader.lineage.walk(node, "upstream", 1, WalkLimits(), now_us=T0 + DAY_US)
    assert {edge.label.value for edge in walk.edges} == {"current"}
