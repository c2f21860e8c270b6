"""What runs stated last about datasets and jobs, and which schemas were replaced last, on both databases."""

from typing import Any

from tests.events import RUNS, T0, dataset, facet, run_event
from tests.store.reading import reader_of
from tests.store.writing import add

from lineage_bridge.graph.ids import DAY_US, NodeKind
from lineage_bridge.store.write.apply import GraphWriter

MINUTE = 60_000_000


def counted(number: int, minute: int, column: str = "id") -> bytes:
    metrics: dict[str, Any] = facet(columnMetrics={column: {"distinctCount": number}})
    schema = facet(fields=[{"name": column, "type": "string"}])
    return run_event(
        "RUNNING",
        time_us=T0 + minute * MINUTE,
        run=RUNS[minute % 2],
        inputs=[dataset("a", access=("inputFacets", {"dataQualityMetrics": metrics}))],
        outputs=[dataset("b", schema=schema)],
        run_facets={"kafka_lag": facet(topics={"a": number}, namespaces={"a": "ns"})},
    )


def test_the_newest_numbers_of_keys_and_lags_are_found(writer: GraphWriter) -> None:
    add(writer, counted(7, 1), counted(9, 2))
    reader = reader_of(writer)
    nodes = {name: reader.nodes.find(NodeKind.DATASET, "ns", name) for name in "ab"}
    job = reader.nodes.find(NodeKind.JOB, "jobs", "job")
    assert job
    every = [node for node in nodes.values() if node]
    (found,) = reader.runs.distinct(every, T0, T0 + DAY_US).values()
    assert (found.column, found.number, found.at) == ("id", 9, T0 + 2 * MINUTE)
    (found,) = reader.runs.distinct(every, T0, T0 + 2 * MINUTE).values()
    assert found.number == 7
    assert reader.runs.distinct(every, T0 + 3 * MINUTE, T0 + DAY_US) == {}
    ((where, lag),) = reader.runs.lags([job], T0, T0 + DAY_US)[job.id].items()
    assert (where, lag.rows) == (("ns", "a"), 9)


def test_datasets_whose_schema_was_replaced_are_listed_the_latest_first(writer: GraphWriter) -> None:
    add(writer, counted(1, 1))
    add(writer, counted(1, 2, "key"))
    reader = reader_of(writer)
    assert [(node.kind, node.name) for node in reader.history.with_new_schemas()] == [(NodeKind.DATASET, "b")]
