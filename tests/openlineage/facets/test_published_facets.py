"""Our types beside the published ones, as the standard's own Python client has them: every member of every facet can be read."""

import importlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import attr
import msgspec
import pytest
from openlineage.client import generated
from openlineage.client.serde import Serde

from lineage_bridge.openlineage import facets
from lineage_bridge.openlineage.facets import KINDS, Facet, Where, read

PUBLISHED: dict[tuple[Where, str], str] = {
    ("dataset", "catalog"): "catalog_dataset.CatalogDatasetFacet",
    ("dataset", "columnLineage"): "column_lineage_dataset.ColumnLineageDatasetFacet",
    ("dataset", "dataQualityAssertions"): "data_quality_assertions_dataset.DataQualityAssertionsDatasetFacet",
    ("dataset", "dataQualityMetrics"): "data_quality_metrics_dataset.DataQualityMetricsDatasetFacet",
    ("dataset", "dataSource"): "datasource_dataset.DatasourceDatasetFacet",
    ("dataset", "datasetType"): "dataset_type_dataset.DatasetTypeDatasetFacet",
    ("dataset", "documentation"): "documentation_dataset.DocumentationDatasetFacet",
    ("dataset", "hierarchy"): "hierarchy_dataset.HierarchyDatasetFacet",
    ("dataset", "lifecycleStateChange"): "lifecycle_state_change_dataset.LifecycleStateChangeDatasetFacet",
    ("dataset", "lineage"): "lineage.LineageDatasetFacet",
    ("dataset", "ownership"): "ownership_dataset.OwnershipDatasetFacet",
    ("dataset", "schema"): "schema_dataset.SchemaDatasetFacet",
    ("dataset", "storage"): "storage_dataset.StorageDatasetFacet",
    ("dataset", "symlinks"): "symlinks_dataset.SymlinksDatasetFacet",
    ("dataset", "tags"): "tags_dataset.TagsDatasetFacet",
    ("dataset", "version"): "dataset_version_dataset.DatasetVersionDatasetFacet",
    ("input", "dataQualityAssertions"): "data_quality_assertions_dataset.DataQualityAssertionsDatasetFacet",
    ("input", "dataQualityMetrics"): "data_quality_metrics_input_dataset.DataQualityMetricsInputDatasetFacet",
    ("input", "inputStatistics"): "input_statistics_input_dataset.InputStatisticsInputDatasetFacet",
    ("input", "subset"): "base_subset_dataset.InputSubsetInputDatasetFacet",
    ("output", "outputStatistics"): "output_statistics_output_dataset.OutputStatisticsOutputDatasetFacet",
    ("output", "subset"): "base_subset_dataset.OutputSubsetOutputDatasetFacet",
    ("job", "documentation"): "documentation_job.DocumentationJobFacet",
    ("job", "jobType"): "job_type_job.JobTypeJobFacet",
    ("job", "lineage"): "lineage.LineageJobFacet",
    ("job", "ownership"): "ownership_job.OwnershipJobFacet",
    ("job", "sourceCode"): "source_code_job.SourceCodeJobFacet",
    ("job", "sourceCodeLocation"): "source_code_location_job.SourceCodeLocationJobFacet",
    ("job", "sql"): "sql_job.SQLJobFacet",
    ("job", "tags"): "tags_job.TagsJobFacet",
    ("run", "environmentVariables"): "environment_variables_run.EnvironmentVariablesRunFacet",
    ("run", "errorMessage"): "error_message_run.ErrorMessageRunFacet",
    ("run", "executionParameters"): "execution_parameters_run.ExecutionParametersRunFacet",
    ("run", "externalQuery"): "external_query_run.ExternalQueryRunFacet",
    ("run", "extractionError"): "extraction_error_run.ExtractionErrorRunFacet",
    ("run", "jobDependencies"): "job_dependencies_run.JobDependenciesRunFacet",
    ("run", "nominalTime"): "nominal_time_run.NominalTimeRunFacet",
    ("run", "parent"): "parent_run.ParentRunFacet",
    ("run", "processing_engine"): "processing_engine_run.ProcessingEngineRunFacet",
    ("run", "tags"): "tags_run.TagsRunFacet",
    ("run", "test"): "test_run.TestRunFacet",
}
PARTS = {
    "column_lineage_dataset.InputField": "InputField",
    "column_lineage_dataset.Transformation": "Transformation",
    "column_lineage_dataset.Fields": "ColumnSources",
    "data_quality_assertions_dataset.Assertion": "DataQualityAssertion",
    "data_quality_metrics_dataset.ColumnMetrics": "ColumnMetrics",
    "job_type_job.EmissionPattern": "EmissionPattern",
    "job_dependencies_run.JobDependency": "JobDependency",
    "test_run.TestExecution": "TestExecution",
    "tags_dataset.TagsDatasetFacetFields": "Tag",
    "schema_dataset.SchemaDatasetFacetFields": "SchemaField",
    "ownership_dataset.Owner": "Owner",
    "symlinks_dataset.Identifier": "Identifier",
    "hierarchy_dataset.HierarchyDatasetFacetLevel": "HierarchyLevel",
    "environment_variables_run.EnvironmentVariable": "EnvironmentVariable",
    "execution_parameters_run.ExecutionParameter": "ExecutionParameter",
    "extraction_error_run.Error": "ExtractionError",
    "base_subset_dataset.Partition": "Partition",
}


def published(path: str) -> Any:
    module, _, name = path.partition(".")
    return getattr(importlib.import_module(f"{generated.__name__}.{module}"), name)


def members(kind: Any) -> set[str]:
    return {a.name for a in attr.fields(kind) if not a.name.startswith("_")}


def test_every_published_facet_is_typed() -> None:
    assert PUBLISHED.keys() == KINDS.keys()
    files = {path.stem for path in Path(str(generated.__path__[0])).glob("*.py")} - {"__init__", "base"}
    assert files == {path.partition(".")[0] for path in PUBLISHED.values()}


@pytest.mark.parametrize("facet_key", PUBLISHED, ids="-".join)
def test_with_every_member(facet_key: tuple[Where, str]) -> None:
    ours = {field.encode_name for field in msgspec.structs.fields(KINDS[facet_key])}
    assert members(published(PUBLISHED[facet_key])) <= ours


@pytest.mark.parametrize(("theirs", "ours"), list(PARTS.items()))
def test_and_every_member_of_its_parts(theirs: str, ours: str) -> None:
    kind = getattr(facets, ours)
    assert members(published(theirs)) <= {field.encode_name for field in msgspec.structs.fields(kind)}


def written() -> Iterator[tuple[tuple[Where, str], Any]]:
    """Facets as the client writes them."""
    condition = published("base_subset_dataset.CompareSubsetCondition")(
        left=published("base_subset_dataset.FieldBaseCompareExpression")("day"),
        right=published("base_subset_dataset.LiteralCompareExpression")("1"),
        comparison="EQUAL",
    )
    pattern = published("job_type_job.EmissionPattern")("PERIODIC", "COMPLETE_SNAPSHOT", 60)
    execution = published("test_run.TestExecution")("t", "pass", params={"a": 1})
    yield ("input", "subset"), published("base_subset_dataset.InputSubsetInputDatasetFacet")(condition)
    yield ("job", "jobType"), published("job_type_job.JobTypeJobFacet")("STREAMING", "X", "Y", pattern)
    yield ("run", "test"), published("test_run.TestRunFacet")([execution])
    yield ("dataset", "version"), published("dataset_version_dataset.DatasetVersionDatasetFacet")("7")
    yield ("run", "processing_engine"), published("processing_engine_run.ProcessingEngineRunFacet")("2.3", "flink", "1.5")


@pytest.mark.parametrize(("facet_key", "facet"), list(written()), ids=lambda value: "-".join(value) if isinstance(value, tuple) else "")
def test_what_the_client_writes_reads(facet_key: tuple[Where, str], facet: Any) -> None:
    text = Serde.to_json(facet).encode()
    found = read(*facet_key, text)
    assert isinstance(found, Facet)
    stated = {key: value for key, value in json.loads(text).items() if not key.startswith("_") and value}
    assert holds(msgspec.to_builtins(found), stated)


def holds(found: Any, expected: Any) -> bool:
    if isinstance(expected, dict):
        return all(key in found and holds(found[key], value) for key, value in expected.items())
    if isinstance(expected, list):
        return len(found) == len(expected) and all(holds(f, w) for f, w in zip(found, expected, strict=True))
    return bool(found == expected)
