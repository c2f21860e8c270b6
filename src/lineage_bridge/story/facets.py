"""The standard facets the demo's events carry, as JSON values.

Versions are those of OpenLineage 1.53; each function takes what its facet's JSON schema requires and a little more.
"""

from collections.abc import Iterable, Mapping
from typing import TypeAlias

Json: TypeAlias = dict[str, object]

PRODUCER = "https://lineagebridge.dev/demo"


def documentation(kind: str, description: str) -> Json:
    """Prose about a dataset or job; `kind` is "Dataset" or "Job"."""
    return _facet("1-1-0", f"Documentation{kind}Facet", description=description)


def ownership(kind: str, owner: str) -> Json:
    """The team that answers for a dataset or job; `kind` is "Dataset" or "Job"."""
    return _facet("1-0-1", f"Ownership{kind}Facet", owners=[{"name": owner, "type": "MAINTAINER"}])


def schema(fields: Iterable[Json]) -> Json:
    """The columns of a dataset, in order."""
    numbered = [{**field, "ordinal_position": position} for position, field in enumerate(fields, start=1)]
    return _facet("1-2-0", "SchemaDatasetFacet", fields=numbered)


def data_source(name: str, uri: str) -> Json:
    """The system that holds a dataset."""
    return _facet("1-0-1", "DatasourceDatasetFacet", name=name, uri=uri)


def dataset_type(kind: str) -> Json:
    """What a dataset is: TABLE, TOPIC, DASHBOARD."""
    return _facet("1-0-1", "DatasetTypeDatasetFacet", datasetType=kind)


def dataset_tags(tags: Iterable[Json]) -> Json:
    """Tags on a dataset or, with `field`, on a column of it."""
    return _facet("1-0-0", "TagsDatasetFacet", tags=list(tags))


def column_lineage(fields: Mapping[str, list[Json]], dataset: list[Json]) -> Json:
    """Which input columns each output column comes from, and which ones decide over every row (`dataset`)."""
    named = {name: {"inputFields": sources} for name, sources in fields.items()}
    return _facet("1-2-0", "ColumnLineageDatasetFacet", fields=named, dataset=dataset)


def input_statistics(rows: int, size: int) -> Json:
    """Rows and bytes read from a dataset since the run began."""
    return _facet("1-0-0", "InputStatisticsInputDatasetFacet", rowCount=rows, size=size)


def output_statistics(rows: int, size: int) -> Json:
    """Rows and bytes written to a dataset since the run began."""
    return _facet("1-0-2", "OutputStatisticsOutputDatasetFacet", rowCount=rows, size=size)


def job_type(processing: str, integration: str, kind: str, period_s: int | None = None) -> Json:
    """How a job works; `period_s` is the promised time between its events in seconds, if it promises one."""
    members: Json = {"processingType": processing, "integration": integration, "jobType": kind}
    if period_s is not None:
        members["emissionPattern"] = {
            "eventTrigger": "PERIODIC",
            "eventContentMode": "ACCUMULATIVE",
            "windowDuration": period_s,
        }
    return _facet("2-0-4", "JobTypeJobFacet", **members)


def sql(query: str, dialect: str) -> Json:
    """The statement a job runs."""
    return _facet("1-1-0", "SQLJobFacet", query=query, dialect=dialect)


def source_code_location(repository: str, path: str, version: str) -> Json:
    """Where a job's code lies in git."""
    url = f"{repository}/blob/{version}/{path}"
    return _facet(
        "1-1-0",
        "SourceCodeLocationJobFacet",
        type="git",
        url=url,
        repoUrl=repository,
        path=path,
        version=version,
        branch="main",
    )


def processing_engine(name: str, version: str) -> Json:
    """What executes a run."""
    return _facet("1-1-1", "ProcessingEngineRunFacet", name=name, version=version)


def nominal_time(start: str) -> Json:
    """The time a run was scheduled for, RFC 3339."""
    return _facet("1-0-1", "NominalTimeRunFacet", nominalStartTime=start)


def parent(run_id: str, job: Json) -> Json:
    """The run that a run is part of, which is the outermost one as well."""
    holder: Json = {"run": {"runId": run_id}, "job": job}
    return _facet("1-2-0", "ParentRunFacet", **holder, root=holder)


def error_message(message: str, stack_trace: str) -> Json:
    """Why a run failed."""
    return _facet("1-0-1", "ErrorMessageRunFacet", message=message, programmingLanguage="JAVA", stackTrace=stack_trace)


def _facet(version: str, name: str, /, **members: object) -> Json:
    url = f"https://openlineage.io/spec/facets/{version}/{name}.json#/$defs/{name}"
    return {"_producer": PRODUCER, "_schemaURL": url, **members}
