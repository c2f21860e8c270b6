"""Answers about a dataset fold its names: whichever is asked for, the answer is the same."""

import json
from functools import partial
from typing import Any

import pytest
from tests.events import RUNS, T0, dataset, facet, run_event, schema
from tests.store.reading import listening_reader_of, node
from tests.store.writing import add as add_events

from lineage_bridge.store.reader import StoreReader
from lineage_bridge.store.write.apply import GraphWriter

LINK: dict[str, Any] = {"symlinks": facet(identifiers=[{"namespace": "ns", "name": "q", "type": "TABLE"}])}


def lifecycle(change: str) -> dict[str, Any]:
    return {"lifecycleStateChange": facet(lifecycleStateChange=change)}


add = partial(add_events, seed=5)


def both(writer: GraphWriter) -> StoreReader:
    described = facet(description="under q")
    return add(
        writer,
        run_event(outputs=[dataset("p", **LINK, **lifecycle("CREATE"), schema=schema("id"))]),
        run_event(
            run=RUNS[1], time_us=T0 + 5, outputs=[dataset("q", **lifecycle("TRUNCATE"), documentation=described, schema=schema("id", "x"))]
        ),
    )


@pytest.mark.parametrize("name", ["p", "q"])
def test_lifecycle_changes_and_facets_are_those_of_all_names(writer: GraphWriter, name: str) -> None:
    reader = both(writer)
    asked = node(reader, name)
    assert [entry.change for entry in reader.history.lifecycle(asked, 9, 0)] == ["TRUNCATE", "CREATE"]
    assert [entry.change for entry in reader.history.lifecycle(asked, 1, 1)] == ["CREATE"]
    facets = reader.nodes.facets(asked)
    assert facets.keys() == {"symlinks", "lifecycleStateChange", "documentation", "schema"}
    assert json.loads(facets["lifecycleStateChange"])["lifecycleStateChange"] == "TRUNCATE"
    assert len(json.loads(facets["schema"])["fields"]) == 2


def test_a_facet_withdrawn_under_the_newest_name_is_gone(writer: GraphWriter) -> None:
    both(writer)
    reader = add(writer, run_event(run=RUNS[2], time_us=T0 + 9, outputs=[dataset("p", documentation=facet(_deleted=True))]))
    assert "documentation" not in reader.nodes.facets(node(reader, "q"))


def test_the_facets_of_many_datasets_are_those_of_each_and_take_one_statement(writer: GraphWriter) -> None:
    both(writer)
    add(
        writer,
        run_event(run=RUNS[2], time_us=T0 + 9, outputs=[dataset("p", documentation=facet(_deleted=True))]),
        run_event(run=RUNS[3], time_us=T0 + 9, outputs=[dataset(name, documentation=facet(description=name)) for name in "abc"]),
    )
    reader, statements = listening_reader_of(writer)
    nodes, keys = [node(reader, name) for name in "pqabc"], ("documentation", "schema")
    each = {found.id: reader.nodes.facets(found, keys=keys) for found in nodes}
    assert [set(facets) for facets in each.values()] == [{"schema"}] * 2 + [{"documentation"}] * 3
    statements.clear()
    assert reader.inventory.facets_of(nodes, keys) == each
    assert len(statements) == 1


def test_the_export_marks_the_schema_that_counts(writer: GraphWriter) -> None:
    lines = [json.loads(line) for line in both(writer).whole.lines(frozenset({"schema"}), now_us=T0)]
    assert {(line["dataset"]["name"], len(line["fields"]), line.get("current")) for line in lines} == {("p", 1, None), ("p", 2, True)}
