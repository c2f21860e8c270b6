"""Facets that are empty, half malformed, or on the wrong side of an event, as questions show them."""

from functools import partial
from typing import Any

import pytest
from tests.events import RUNS, T0, columns, dataset, facet, job_event, run_event, schema
from tests.store.reading import node
from tests.store.writing import add as add_events

from lineage_bridge.graph.ids import DAY_US
from lineage_bridge.model.graph import WalkLimits
from lineage_bridge.model.lineage import TraceOptions
from lineage_bridge.model.statistics import StatisticsFilter
from lineage_bridge.store.reader import StoreReader
from lineage_bridge.store.write.apply import GraphWriter

NO_SCHEMA: list[dict[str, Any]] = [facet(fields=[]), facet(fields=None), facet(), facet(fields=[{"type": "INT"}]), facet(fields=7)]


add = partial(add_events, seed=5)


def columns_of(reader: StoreReader, name: str) -> list[list[str]]:
    versions = reader.history.schemas(node(reader, name)).versions
    return [[field.name for field in version.fields] for version in versions if version.current]


@pytest.mark.parametrize("empty", NO_SCHEMA)
def test_a_schema_without_fields_hides_none(writer: GraphWriter, empty: dict[str, Any]) -> None:
    reader = add(
        writer,
        run_event("START", job="reads", inputs=[dataset("topic", schema=schema("a", "b"))]),
        run_event("START", RUNS[1], job="writes", time_us=T0 + 1, outputs=[dataset("topic", schema=empty)]),
        run_event("START", RUNS[2], job="own", time_us=T0, outputs=[dataset("own", schema=schema("c"))]),
        run_event("COMPLETE", RUNS[2], job="own", time_us=T0 + 9, outputs=[dataset("own", schema=empty)]),
    )
    assert (columns_of(reader, "topic"), columns_of(reader, "own")) == ([["a", "b"]], [["c"]])
    assert [text.count("name") for key, text in reader.nodes.facets(node(reader, "topic")).items() if key == "schema"] == [2]


def test_a_malformed_field_is_lost_alone(writer: GraphWriter) -> None:
    half = facet(fields=[{"name": "a"}, {"type": "INT"}, {"name": "b"}])
    lineage = facet(fields={"x": {"inputFields": [{"namespace": "ns", "name": "s", "field": "a"}, {"name": "s"}]}, "y": None})
    reader = add(writer, run_event(inputs=[dataset("s")], outputs=[dataset("t", schema=half, columnLineage=lineage)]))
    assert columns_of(reader, "t") == [["a", "b"]]
    trace = reader.lineage.trace(node(reader, "t"), TraceOptions("x", "upstream"), WalkLimits())
    assert [(flow.source.name, flow.source_field) for flow in trace.flows] == [("s", "a")]


def test_statistics_among_the_facets_of_a_dataset_count(writer: GraphWriter) -> None:
    reader = add(
        writer,
        run_event(
            "COMPLETE", inputs=[dataset("s", inputStatistics=facet(rowCount=3))], outputs=[dataset("t", outputStatistics=facet(rowCount=2))]
        ),
    )
    for name, rows in (("s", 3), ("t", 2)):
        which = StatisticsFilter(T0, T0 + DAY_US, datasets=frozenset({node(reader, name).id}))
        assert [series.amount.rows for series in reader.runs.statistics(which).series] == [rows]


@pytest.mark.parametrize("event", [run_event, job_event])
def test_column_lineage_on_an_input_is_what_that_dataset_states_of_itself(writer: GraphWriter, event: Any) -> None:
    lineage = columns(x=[("ns", "origin", "y")])
    reader = add(writer, event(job="load", inputs=[dataset("s", columnLineage=lineage)], outputs=[dataset("t")]))
    walk = reader.lineage.walk(node(reader, "t"), "upstream", 5, WalkLimits(), now_us=T0 + 9)
    assert {(edge.source.name, edge.job.name, edge.target.name) for edge in walk.edges} == {("s", "load", "t"), ("origin", "s", "s")}
    trace = reader.lineage.trace(node(reader, "s"), TraceOptions("x", "upstream"), WalkLimits())
    assert [(flow.source.name, flow.source_field) for flow in trace.flows] == [("origin", "y")]
