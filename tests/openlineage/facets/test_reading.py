import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.openlineage.support import META, sample_lines, text

from lineage_bridge.openlineage import facets
from lineage_bridge.openlineage.facets import KINDS, Where, has_meta, inspect, is_deleted, read, read_as
from lineage_bridge.openlineage.verdict import Clean, Repaired, judge

JOB = {"namespace": "n", "name": "j"}
RUN = {"runId": "r"}
COLUMN = {"namespace": "n", "name": "d", "field": "c"}
FULL: dict[tuple[Where, str], dict[str, Any]] = {
    ("dataset", "catalog"): {"framework": "iceberg", "type": "rest", "name": "c", "catalogProperties": {"a": None}},
    ("dataset", "columnLineage"): {
        "fields": {"a": {"inputFields": [{**COLUMN, "transformations": [{"type": "DIRECT", "masking": None}]}]}},
        "dataset": [COLUMN],
    },
    ("dataset", "dataQualityAssertions"): {"assertions": [{"assertion": "not_null", "success": True, "params": {"a": 1}}]},
    ("dataset", "dataQualityMetrics"): {"rowCount": 5, "columnMetrics": {"a": {"nullCount": 0, "quantiles": {"0.5": 1.5}}}},
    ("dataset", "dataSource"): {"name": "db", "uri": "postgres"},
    ("dataset", "datasetType"): {"datasetType": "TABLE"},
    ("dataset", "documentation"): {"description": ""},
    ("dataset", "hierarchy"): {"hierarchy": [{"type": "DATABASE", "name": "db"}]},
    ("dataset", "lifecycleStateChange"): {"lifecycleStateChange": "RENAME", "previousIdentifier": JOB},
    ("dataset", "lineage"): {"inputs": [{"type": "JOB"}], "fields": {"a": {"inputs": [{"type": "DATASET", **COLUMN}]}}},
    ("dataset", "ownership"): {"owners": [{"name": "team", "type": None}]},
    ("dataset", "schema"): {"fields": [{"name": "a", "type": "struct", "fields": [{"name": "b", "ordinal_position": 1}]}]},
    ("dataset", "storage"): {"storageLayer": "delta", "fileFormat": None},
    ("dataset", "symlinks"): {"identifiers": [{**JOB, "type": "TABLE"}]},
    ("dataset", "tags"): {"tags": [{"key": "pii", "value": "true", "field": "a"}]},
    ("dataset", "version"): {"datasetVersion": "1"},
    ("input", "dataQualityAssertions"): {"assertions": []},
    ("input", "dataQualityMetrics"): {"columnMetrics": {}},
    ("input", "inputStatistics"): {"rowCount": 1, "size": 2, "fileCount": 3},
    ("input", "subset"): {
        "inputCondition": {
            "type": "binary",
            "operator": "AND",
            "left": {"type": "location", "locations": ["s3://a/b"]},
            "right": {
                "type": "compare",
                "comparison": "EQUAL",
                "left": {"type": "field", "field": "day"},
                "right": {"type": "literal", "value": "1"},
            },
        }
    },
    ("output", "outputStatistics"): {"rowCount": 1, "size": 2, "fileCount": 3},
    ("output", "subset"): {"outputCondition": {"type": "partition", "partitions": [{"dimensions": {"day": 1}, "identifier": "p"}]}},
    ("job", "documentation"): {"description": "x", "contentType": "text/plain"},
    ("job", "jobType"): {
        "processingType": "STREAMING",
        "integration": "FLINK",
        "emissionPattern": {"eventTrigger": "PERIODIC", "eventContentMode": "ACCUMULATIVE", "windowDuration": 60},
    },
    ("job", "lineage"): {"entries": [{"type": "DATASET", **JOB, "inputs": [], "fields": {}}, {"type": "JOB"}]},
    ("job", "ownership"): {"owners": []},
    ("job", "sourceCode"): {"language": "python", "sourceCode": "pass"},
    ("job", "sourceCodeLocation"): {"type": "git", "url": "https://example.org"},
    ("job", "sql"): {"query": "SELECT 1", "dialect": "flink"},
    ("job", "tags"): {"tags": None},
    ("run", "environmentVariables"): {"environmentVariables": [{"name": "A", "value": "b"}]},
    ("run", "errorMessage"): {"message": "x", "programmingLanguage": "JAVA", "stackTrace": None},
    ("run", "executionParameters"): {"parameters": [{"key": "a", "value": None}]},
    ("run", "externalQuery"): {"externalQueryId": "1", "source": "x"},
    ("run", "extractionError"): {"totalTasks": 1, "failedTasks": 1, "errors": [{"errorMessage": "x", "taskNumber": 0}]},
    ("run", "jobDependencies"): {"upstream": [{"job": JOB, "run": RUN, "type": "DIRECT_INVOCATION"}], "downstream": None},
    ("run", "nominalTime"): {"nominalStartTime": "2026-11-20", "nominalEndTime": None},
    ("run", "parent"): {"run": RUN, "job": JOB, "root": {"run": RUN, "job": JOB}},
    ("run", "processing_engine"): {"version": "4.1", "name": "spark"},
    ("run", "tags"): {"tags": []},
    ("run", "test"): {"tests": [{"name": "a", "status": "pass"}]},
}


def test_every_kind_has_an_example_here() -> None:
    assert set(FULL) == set(KINDS)


@pytest.mark.parametrize("facet_key", sorted(FULL))
def test_a_facet_reads(facet_key: tuple[Where, str]) -> None:
    found = inspect(*facet_key, text({**META, **FULL[facet_key], "unknownMember": [1]}))
    assert found.problems == ()
    assert type(found.facet) is KINDS[facet_key]
    assert read_as(KINDS[facet_key], *facet_key, text({**META, **FULL[facet_key]})) is not None


@pytest.mark.parametrize("facet_key", sorted(facet_key for facet_key, body in FULL.items() if None not in body.values()))
def test_members_of_a_wrong_type_are_a_wrong_shape(facet_key: tuple[Where, str]) -> None:
    for member in FULL[facet_key]:
        found = inspect(*facet_key, text({**META, **FULL[facet_key], member: {"odd": [5]}}))
        assert (found.facet, found.problems) == (None, ("facet_shape",)), member


def test_optional_members_may_be_null() -> None:
    body = {**META, "fields": [{"name": "a", "type": None, "description": None, "ordinal_position": None, "fields": None}]}
    schema = read("dataset", "schema", text(body))
    assert isinstance(schema, facets.SchemaDatasetFacet)
    assert schema.fields is not None
    assert (schema.fields[0].name, schema.fields[0].fields) == ("a", None)


def test_deprecated_column_transformations() -> None:
    sources = {"inputFields": [COLUMN], "transformationDescription": "copied", "transformationType": "IDENTITY"}
    lineage = read("dataset", "columnLineage", text({**META, "fields": {"a": sources}}))
    assert isinstance(lineage, facets.ColumnLineageDatasetFacet)
    assert lineage.fields["a"].transformationType == "IDENTITY"


@pytest.mark.parametrize(
    ("facet_key", "body", "expected"),
    [
        (("input", "inputStatistics"), {"rowCount": 7.0, "byteCount": 9}, (7, 9, None)),
        (("input", "inputStatistics"), {"size": 8, "byteCount": 9}, (None, 8, None)),
        (("output", "outputStatistics"), {"rowCount": 1, "bytes": 9, "fileCount": 2}, (1, 9, 2)),
        (("output", "outputStatistics"), {"rowCount": -1, "size": 2**63 - 1}, (None, 2**63 - 1, None)),
    ],
)
def test_counters(facet_key: tuple[Where, str], body: dict[str, Any], expected: tuple[int | None, ...]) -> None:
    found = read(*facet_key, text({**META, **body}))
    assert isinstance(found, (facets.InputStatisticsInputDatasetFacet, facets.OutputStatisticsOutputDatasetFacet))
    assert (found.rowCount, found.size, found.fileCount) == expected
    assert all(value is None or type(value) is int for value in (found.rowCount, found.size, found.fileCount))


@pytest.mark.parametrize("value", ["5", 5.5, True, 2**63, 1e300, [5]])
def test_what_is_no_counter(value: object) -> None:
    assert inspect("output", "outputStatistics", text({**META, "rowCount": value})).problems == ("facet_shape",)


@pytest.mark.parametrize(
    "end",
    [
        {"type": "DATASET"},
        {"type": "DATASET", "namespace": "n"},
        {"type": "JOB", "namespace": "n"},
        {"type": "JOB", "name": "n"},
        {"type": "TABLE", "namespace": "n", "name": "n"},
        {"namespace": "n", "name": "n"},
    ],
)
def test_half_an_end_of_a_lineage_is_a_wrong_shape(end: dict[str, str]) -> None:
    assert inspect("job", "lineage", text({**META, "entries": [end]})).problems == ("facet_shape",)
    entry = {"type": "JOB", "inputs": [end]}
    assert inspect("job", "lineage", text({**META, "entries": [entry]})).problems == ("facet_shape",)


def test_a_job_carries_entries_and_a_dataset_does_not() -> None:
    body = text({**META, "inputs": [], "fields": {}})
    assert inspect("job", "lineage", body).problems == ("facet_shape",)
    assert inspect("dataset", "lineage", body).problems == ()


def test_other_spellings_of_the_documentation() -> None:
    pattern = {"eventTrigger": "PERIODIC", "eventCompleteness": "COMPLETE_SNAPSHOT"}
    kind = read("job", "jobType", text({**META, "processingType": "BATCH", "integration": "X", "emissionPattern": pattern}))
    assert isinstance(kind, facets.JobTypeJobFacet)
    assert kind.emissionPattern is not None
    assert kind.emissionPattern.eventContentMode == "COMPLETE_SNAPSHOT"
    depends = read("run", "jobDependencies", text({**META, **FULL["run", "jobDependencies"]}))
    assert isinstance(depends, facets.JobDependenciesRunFacet)
    assert depends.upstream is not None
    assert depends.upstream[0].dependency_type == "DIRECT_INVOCATION"


def test_names_that_become_nodes_are_limited() -> None:
    for length, problems in ((8192, ()), (8193, ("facet_shape",))):
        body = {**META, "identifiers": [{"namespace": "n" * length, "name": "x", "type": "TABLE"}]}
        assert inspect("dataset", "symlinks", text(body)).problems == problems


@pytest.mark.parametrize("body", [{"_deleted": True}, {"_deleted": True, "query": 5}, {"_deleted": True, "_producer": 5}])
def test_a_tombstone_has_no_problems_and_no_content(body: dict[str, object]) -> None:
    for key in ("sql", "unknown"):
        found = inspect("job", key, text(body))
        assert (found.facet, found.problems) == (None, ())
    assert is_deleted(text(body))
    assert has_meta(text(body))


@pytest.mark.parametrize("body", [{"_deleted": False}, {"_deleted": "true"}, {"_deleted": 1}, {}, [], "_deleted", {"a": META}])
def test_what_is_no_tombstone(body: object) -> None:
    assert not is_deleted(text(body))
    assert not has_meta(text(body))


def test_meta() -> None:
    assert has_meta(text(META))
    assert not has_meta(text({**META, "_producer": None}))
    assert not has_meta(text({**META, "_schemaURL": 5}))


def test_an_unknown_facet_reads_as_none() -> None:
    assert inspect("run", "spark.logicalPlan", text(META)).problems == ()
    assert read("run", "spark.logicalPlan", text(META)) is None
    assert read("run", "sql", text({**META, "query": "x"})) is None


def test_large_texts_read_like_small_ones() -> None:
    body = text({**META, "query": "x" * 100_000})
    sql = read("job", "sql", body)
    assert isinstance(sql, facets.SQLJobFacet)
    assert len(sql.query) == 100_000


@given(st.sampled_from(sorted(KINDS)), st.binary() | st.text().map(str.encode))
def test_reading_never_fails(facet_key: tuple[Where, str], raw: bytes) -> None:
    read(*facet_key, raw)
    assert is_deleted(raw) is False
    assert has_meta(raw) is False


def test_the_facets_of_all_samples_read() -> None:
    seen = set()
    for line in sample_lines():
        verdict = judge(line, 2**62)
        assert isinstance(verdict, (Clean, Repaired))
        event = verdict.event
        datasets = (*event.inputs, *event.outputs)
        holders: list[tuple[Where, dict[str, bytes]]] = [("dataset", dataset.facets) for dataset in datasets]
        holders += [("input", dataset.access) for dataset in event.inputs]
        holders += [("output", dataset.access) for dataset in event.outputs]
        holders += [("run", event.run.facets)] if event.run else []
        holders += [("job", event.job.facets)] if event.job else []
        for where, texts in holders:
            for key, body in texts.items():
                assert json.loads(body).keys() >= META.keys()
                if (where, key) in KINDS:
                    seen.add((where, key))
                    assert read(where, key, body) is not None, (where, key, body)
    assert {("run", "parent"), ("dataset", "columnLineage"), ("output", "outputStatistics"), ("job", "jobType")} <= seen
