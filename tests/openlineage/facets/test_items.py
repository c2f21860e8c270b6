"""Facets are read item by item: a malformed item is lost alone, with a repair that has its path."""

from typing import Any

import pytest
from tests.openlineage.support import META, clean, event, repaired, text

from lineage_bridge.openlineage import facets as standard
from lineage_bridge.openlineage.facets import Where, inspect, read_as
from lineage_bridge.openlineage.verdict import Rejected, judge

SOURCE = {"namespace": "n", "name": "t", "field": "f"}


def column(*sources: dict[str, Any]) -> dict[str, Any]:
    return {"fields": {"a": {"inputFields": list(sources)}}}


SCHEMA: tuple[Where, str] = ("dataset", "schema")
COLUMNS: tuple[Where, str] = ("dataset", "columnLineage")
METRICS: tuple[Where, str] = ("dataset", "dataQualityMetrics")
CASES: list[tuple[tuple[Where, str], dict[str, Any], list[str]]] = [
    (SCHEMA, {"fields": [{"name": "a"}, {"type": "INT"}, {"name": 5}, None]}, [".fields[1]", ".fields[2]", ".fields[3]"]),
    (SCHEMA, {"fields": [{"name": "a", "fields": [{"name": "b"}, {}]}]}, [".fields[0].fields[1]"]),
    (SCHEMA, {"fields": [{"name": "a"}, {"name": "b", "fields": [{}]}]}, [".fields[1]"]),
    (COLUMNS, column(SOURCE, {"namespace": "n", "name": "t"}), [".fields.a.inputFields[1]"]),
    (COLUMNS, {"fields": {**column(SOURCE)["fields"], "b": {"inputFields": None}, "c d": {}}}, [".fields.b", ".fields['c d']"]),
    (COLUMNS, column({**SOURCE, "transformations": [{"type": "DIRECT"}, {}]}), [".fields.a.inputFields[0].transformations[1]"]),
    (COLUMNS, {"fields": {}, "dataset": [SOURCE, {"field": "f"}]}, [".dataset[1]"]),
    (("dataset", "symlinks"), {"identifiers": [{"namespace": "n", "name": "t", "type": "TABLE"}, {"name": "t"}]}, [".identifiers[1]"]),
    (("dataset", "tags"), {"tags": [{"key": "a", "value": "b"}, {"value": "b"}]}, [".tags[1]"]),
    (("job", "ownership"), {"owners": [{"name": "team"}, {"type": "OWNER"}]}, [".owners[1]"]),
    (("run", "jobDependencies"), {"upstream": [{"job": {"namespace": "n", "name": "j"}}, {"job": {"name": "j"}}]}, [".upstream[1]"]),
    (("input", "dataQualityAssertions"), {"assertions": [{"assertion": "a", "success": True}, {"assertion": "b"}]}, [".assertions[1]"]),
    (METRICS, {"columnMetrics": {"a": {"nullCount": 1}, "b": {"nullCount": "x"}}}, [".columnMetrics.b"]),
]


@pytest.mark.parametrize(("facet_key", "body", "lost"), CASES)
def test_a_malformed_item_is_lost_alone(facet_key: tuple[Where, str], body: dict[str, Any], lost: list[str]) -> None:
    found = inspect(*facet_key, text({**META, **body}))
    assert found.facet is not None
    assert (found.problems, sorted(found.lost)) == (("facet_item",), lost)


def test_what_is_left_is_read() -> None:
    columns = {"a": {"inputFields": [{"name": "t", "field": "f"}, SOURCE]}, "b": {"inputFields": [{}]}}
    facet = read_as(standard.ColumnLineageDatasetFacet, "dataset", "columnLineage", text({**META, "fields": columns}))
    assert facet is not None
    assert list(facet.fields) == ["a"]
    assert [source.field for source in facet.fields["a"].inputFields] == ["f"]


@pytest.mark.parametrize("body", [{"fields": [{}]}, {"fields": [{"name": None}]}, {"fields": 7}, {"fields": "x"}])
def test_a_facet_without_any_item_that_can_be_read_has_a_wrong_shape(body: dict[str, Any]) -> None:
    assert inspect("dataset", "schema", text({**META, **body})).problems == ("facet_shape",)


def test_explicit_lineage_is_read_as_a_whole() -> None:
    """It is complete: without one of its inputs it would state that there is no flow from it."""
    ends = [{"type": "DATASET", "namespace": "n", "name": "a"}, {"type": "DATASET", "name": "b"}]
    assert inspect("dataset", "lineage", text({**META, "inputs": ends})).problems == ("facet_shape",)
    entry = {"type": "DATASET", "namespace": "n", "name": "o", "inputs": ends}
    assert inspect("job", "lineage", text({**META, "entries": [entry]})).problems == ("facet_shape",)


def test_the_repair_has_the_path_of_the_item() -> None:
    facets = {"schema": {**META, "fields": [{"name": "a"}, {}]}}
    found, repairs = repaired(text(event(inputs=[{"namespace": "n", "name": "t", "facets": facets}])))
    assert repairs == [("facet_item", "$.inputs[0].facets.schema.fields[1]")]
    assert list(found.inputs[0].facets) == ["schema"]


@pytest.mark.parametrize(("member", "side"), [("inputs", "input"), ("outputs", "output")])
def test_facets_of_an_access_are_read_among_those_of_the_dataset_too(member: str, side: str) -> None:
    statistics = {**META, "rowCount": 3}
    facets = {f"{side}Statistics": statistics, "schema": {**META, "fields": []}, "dataQualityMetrics": {**META, "columnMetrics": {}}}
    found, repairs = repaired(text(event(**{member: [{"namespace": "n", "name": "t", "facets": facets}]})))
    dataset = (found.inputs if member == "inputs" else found.outputs)[0]
    assert (sorted(dataset.facets), sorted(dataset.access)) == (["dataQualityMetrics", "schema"], [f"{side}Statistics"])
    assert repairs == [("facet_place", f"$.{member}[0].facets.{side}Statistics")]


def test_facets_of_a_dataset_are_read_among_those_of_an_access_too() -> None:
    access = {"schema": {**META, "fields": [{"name": "a"}]}, "outputStatistics": META}
    found, repairs = repaired(text(event(outputs=[{"namespace": "n", "name": "t", "outputFacets": access}])))
    assert (list(found.outputs[0].facets), list(found.outputs[0].access)) == (["schema"], ["outputStatistics"])
    assert repairs == [("facet_place", "$.outputs[0].outputFacets.schema")]


def test_the_facet_in_its_own_place_counts() -> None:
    own, other = ({**META, "rowCount": rows} for rows in (1, 2))
    dataset = {"namespace": "n", "name": "t", "facets": {"inputStatistics": other}, "inputFacets": {"inputStatistics": own}}
    found, _ = repaired(text(event(inputs=[dataset])))
    assert found.inputs[0].access == {"inputStatistics": text(own)}


def test_statistics_of_the_other_side_stay_where_they_are() -> None:
    found = clean(text(event(inputs=[{"namespace": "n", "name": "t", "facets": {"outputStatistics": META}}])))
    assert list(found.inputs[0].facets) == ["outputStatistics"]


@pytest.mark.parametrize("member", ["namespace", "name"])
def test_a_null_name_is_repaired_as_an_empty_one_is(member: str) -> None:
    dataset = {"namespace": "n", "name": "t", member: None}
    _, repairs = repaired(text(event(inputs=[dataset], outputs=[dataset])))
    assert repairs == [("empty_name", f"$.inputs[0].{member}"), ("empty_name", f"$.outputs[0].{member}")]


def test_an_absent_name_is_missing() -> None:
    verdict = judge(text(event(inputs=[{"namespace": "n"}])), 0)
    assert isinstance(verdict, Rejected)
    assert verdict.code == "missing_field"
