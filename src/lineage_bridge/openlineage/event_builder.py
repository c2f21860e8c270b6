"""Builds the events that LineageBridge sends: events and their facets as JSON values. Pure.

The versions of facets are those of OpenLineage 1.53. Each method takes the members that the JSON schema of its facet requires, and a few
optional ones.
"""

import json
from collections.abc import Iterable, Mapping
from hashlib import blake2b
from typing import Any, NamedTuple, TypeAlias
from uuid import NAMESPACE_URL, UUID, uuid5

import msgspec

from lineage_bridge.openlineage.facets import SchemaField
from lineage_bridge.openlineage.naming import DatasetName
from lineage_bridge.openlineage.times import format_time

Json: TypeAlias = dict[str, Any]

SPECIFICATION = "https://openlineage.io/spec/2-0-2/OpenLineage.json#/$defs/"
OWN_FACETS = "https://lineagebridge.dev/spec/facets/"
"""Base URL of the schemas of LineageBridge's own facets; the files are in `spec/facets`."""
_RUN_IDS = uuid5(NAMESPACE_URL, "https://lineagebridge.dev/runs")
_ENCODER = msgspec.json.Encoder(order="deterministic")


def run_id(*parts: str | int) -> UUID:
    """Derive the id of a run from parts. The same parts always give the same id."""
    return uuid5(_RUN_IDS, json.dumps(parts))


def encode(event: Json) -> bytes:
    """Encode an event as JSON. Equal events give the same bytes."""
    return _ENCODER.encode(event)


def digest_of(value: Any) -> str:  # noqa: ANN401 - a JSON edge
    """A digest of a JSON value, for comparing it with another one."""
    return blake2b(encode({"": value}), digest_size=16).hexdigest()


def schema_fields(fields: Iterable[SchemaField]) -> list[Json]:
    """Convert columns to the form of the schema facet."""
    return [_field_json(field, position) for position, field in enumerate(fields, start=1)]


def _field_json(field: SchemaField, position: int) -> Json:
    built: Json = {"name": field.name, "ordinal_position": position}
    if field.type is not None:
        built["type"] = field.type
    if field.description:
        built["description"] = field.description
    if field.fields:
        built["fields"] = [_field_json(inner, number) for number, inner in enumerate(field.fields, start=1)]
    return built


class RunContent(NamedTuple):
    """The full description of a run: its facets, and its datasets with their facets."""

    run_facets: dict[str, Json]
    job_facets: dict[str, Json]
    inputs: list[Json]
    outputs: list[Json]

    def names_only(self) -> "RunContent":
        """A copy of this run whose datasets have names only, without facets."""
        inputs, outputs = (
            [{key: dataset[key] for key in ("namespace", "name")} for dataset in side] for side in (self.inputs, self.outputs)
        )
        return RunContent({}, {}, inputs, outputs)


class EventBuilder:
    """Builds the events of one producer, named by its URI."""

    def __init__(self, producer: str) -> None:
        self.producer = producer

    # events; times are UTC microseconds

    def run_event(
        self,
        kind: str,
        time_us: int,
        run: UUID | str,
        job: DatasetName,
        *,
        run_facets: Mapping[str, Json] | None = None,
        job_facets: Mapping[str, Json] | None = None,
        inputs: Iterable[Json] = (),
        outputs: Iterable[Json] = (),
    ) -> Json:
        """Build a RunEvent; `kind` is START, RUNNING, COMPLETE, FAIL, ABORT or OTHER."""
        return {
            "eventType": kind,
            "eventTime": format_time(time_us),
            "producer": self.producer,
            "schemaURL": f"{SPECIFICATION}RunEvent",
            "run": {"runId": str(run), "facets": dict(run_facets or {})},
            "job": {"namespace": job[0], "name": job[1], "facets": dict(job_facets or {})},
            "inputs": list(inputs),
            "outputs": list(outputs),
        }

    def job_event(
        self,
        time_us: int,
        job: DatasetName,
        *,
        job_facets: Mapping[str, Json] | None = None,
        inputs: Iterable[Json] = (),
        outputs: Iterable[Json] = (),
    ) -> Json:
        """Build a JobEvent, which describes a job independently of its runs."""
        return {
            "eventTime": format_time(time_us),
            "producer": self.producer,
            "schemaURL": f"{SPECIFICATION}JobEvent",
            "job": {"namespace": job[0], "name": job[1], "facets": dict(job_facets or {})},
            "inputs": list(inputs),
            "outputs": list(outputs),
        }

    def dataset_event(self, time_us: int, name: DatasetName, facets: Mapping[str, Json]) -> Json:
        """Build a DatasetEvent, which describes a dataset independently of runs."""
        return {
            "eventTime": format_time(time_us),
            "producer": self.producer,
            "schemaURL": f"{SPECIFICATION}DatasetEvent",
            "dataset": {"namespace": name[0], "name": name[1], "facets": dict(facets)},
        }

    @staticmethod
    def dataset(name: DatasetName, facets: Mapping[str, Json] | None = None, **access: Mapping[str, Json]) -> Json:
        """Build a dataset of an event; `access` are its `inputFacets` or `outputFacets`."""
        built: Json = {"namespace": name[0], "name": name[1]}
        if facets:
            built["facets"] = dict(facets)
        return {**built, **{key: dict(value) for key, value in access.items() if value}}

    # facets

    def console(self, title: str, url: str) -> Json:
        """Build a `lineagebridge_console` job facet: the page of a console about the job."""
        return self.own_facet("1-0-0", "LineageBridgeConsoleJobFacet", title=title, url=url)

    def rebalance(self, since_us: int, until_us: int, what: str, **counts: int) -> Json:
        """Build a `kafka_rebalance` job facet: what was distributed anew (MEMBERS, ASSIGNMENT or TASKS), and the interval in which that
        happened: after `since_us`, and not later than `until_us`.
        """
        return self.own_facet(
            "1-0-0", "KafkaRebalanceJobFacet", since=format_time(since_us), until=format_time(until_us), what=what, **counts
        )

    def own_facet(self, version: str, name: str, **members: object) -> Json:
        """Build one of LineageBridge's own facets, such as `KafkaTopicDatasetFacet` 1-0-0."""
        return {"_producer": self.producer, "_schemaURL": f"{OWN_FACETS}{version}/{name}.json#/$defs/{name}", **members}

    def deleted_facet(self) -> Json:
        """Build a tombstone, which deletes the facet with the same key."""
        return {"_producer": self.producer, "_schemaURL": f"{SPECIFICATION}BaseFacet", "_deleted": True}

    def documentation(self, kind: str, description: str) -> Json:
        """Build the facet with the description of a dataset or job; `kind` is "Dataset" or "Job"."""
        return self._facet("1-1-0", f"Documentation{kind}Facet", description=description)

    def ownership(self, kind: str, owner: str) -> Json:
        """Build the facet with the owner of a dataset or job; `kind` is "Dataset" or "Job"."""
        return self.owners(kind, [(owner, "MAINTAINER")])

    def owners(self, kind: str, owners: Iterable[tuple[str, str]]) -> Json:
        """Build the facet with the owners of a dataset or job, each by name and type; `kind` is "Dataset" or "Job"."""
        return self._facet("1-0-1", f"Ownership{kind}Facet", owners=[{"name": name, "type": of} for name, of in owners])

    def schema(self, fields: Iterable[Json]) -> Json:
        """Build the facet with the columns of a dataset, in order."""
        numbered = [{**field, "ordinal_position": position} for position, field in enumerate(fields, start=1)]
        return self._facet("1-2-0", "SchemaDatasetFacet", fields=numbered)

    def data_source(self, name: str, uri: str) -> Json:
        """Build the facet with the system that contains a dataset."""
        return self._facet("1-0-1", "DatasourceDatasetFacet", name=name, uri=uri)

    def dataset_type(self, kind: str) -> Json:
        """Build the facet with the type of a dataset: TABLE, TOPIC, DASHBOARD."""
        return self._facet("1-0-1", "DatasetTypeDatasetFacet", datasetType=kind)

    def dataset_version(self, version: str) -> Json:
        """Build the facet with the version of a dataset that an event refers to."""
        return self._facet("1-0-1", "DatasetVersionDatasetFacet", datasetVersion=version)

    def symlinks(self, names: Iterable[DatasetName], kind: str) -> Json:
        """Build the facet with other names of a dataset; `kind` is TABLE, TOPIC, LOCATION."""
        named = [{"namespace": namespace, "name": name, "type": kind} for namespace, name in names]
        return self._facet("1-0-1", "SymlinksDatasetFacet", identifiers=named)

    def lifecycle(self, change: str) -> Json:
        """Build the facet for a change of a dataset: CREATE, ALTER, DROP, TRUNCATE, OVERWRITE."""
        return self._facet("1-0-1", "LifecycleStateChangeDatasetFacet", lifecycleStateChange=change)

    def dataset_tags(self, tags: Iterable[Json]) -> Json:
        """Build the facet with tags of a dataset or, with `field`, of one of its columns."""
        return self._facet("1-0-0", "TagsDatasetFacet", tags=list(tags))

    def job_tags(self, tags: Iterable[Json]) -> Json:
        """Build the facet with the tags of a job."""
        return self._facet("1-0-0", "TagsJobFacet", tags=list(tags))

    def column_lineage(self, fields: Mapping[str, list[Json]], dataset: list[Json]) -> Json:
        """Build the facet with the input columns of each output column, and those that affect all rows (`dataset`)."""
        named = {name: {"inputFields": sources} for name, sources in fields.items()}
        return self._facet("1-2-0", "ColumnLineageDatasetFacet", fields=named, dataset=dataset)

    def lineage(self, entries: Iterable[Json]) -> Json:
        """Build the facet with all flows of a job. Each entry is a target with its `inputs` and, by column, its `fields`. The facet states
        that there are no other flows.
        """
        url = "https://openlineage.io/spec/facets/1-0-0/LineageFacet.json#/$defs/LineageJobFacet"
        return {"_producer": self.producer, "_schemaURL": url, "entries": list(entries)}

    def dataset_lineage(self, inputs: Iterable[Json], fields: Mapping[str, list[Json]]) -> Json:
        """Build the facet of a DatasetEvent that states what flows into the dataset: the sources of the dataset and, by column, the sources
        of its columns.
        """
        url = "https://openlineage.io/spec/facets/1-0-0/LineageFacet.json#/$defs/LineageDatasetFacet"
        columns = {"fields": {name: {"inputs": sources} for name, sources in fields.items()}} if fields else {}
        return {"_producer": self.producer, "_schemaURL": url, "inputs": list(inputs), **columns}

    def input_statistics(self, rows: int | None = None, size: int | None = None) -> Json:
        """Build the facet with the rows and bytes read from a dataset."""
        return self._facet("1-0-0", "InputStatisticsInputDatasetFacet", **_counted(rows, size))

    def output_statistics(self, rows: int | None = None, size: int | None = None) -> Json:
        """Build the facet with the rows and bytes written to a dataset."""
        return self._facet("1-0-2", "OutputStatisticsOutputDatasetFacet", **_counted(rows, size))

    def job_type(self, processing: str, integration: str, kind: str, period_s: int | None = None, mode: str = "ACCUMULATIVE") -> Json:
        """Build the facet with the type of a job. `period_s` is the promised time between its events in seconds, if there is one.

        `mode` says what the counters in its events count: ACCUMULATIVE since the start of the run, DELTA since the previous event.
        """
        members: Json = {"processingType": processing, "integration": integration, "jobType": kind}
        if period_s is not None:
            members["emissionPattern"] = {"eventTrigger": "PERIODIC", "eventContentMode": mode, "windowDuration": period_s}
        return self._facet("2-0-4", "JobTypeJobFacet", **members)

    def sql(self, query: str, dialect: str) -> Json:
        """Build the facet with the SQL statement that a job runs."""
        return self._facet("1-1-0", "SQLJobFacet", query=query, dialect=dialect)

    def source_code_location(self, repository: str, path: str, version: str) -> Json:
        """Build the facet that states where the code of a job is in git."""
        url = f"{repository}/blob/{version}/{path}"
        return self._facet(
            "1-1-0", "SourceCodeLocationJobFacet", type="git", url=url, repoUrl=repository, path=path, version=version, branch="main"
        )

    def processing_engine(self, name: str, version: str) -> Json:
        """Build the facet with the engine that executes a run."""
        return self._facet("1-1-1", "ProcessingEngineRunFacet", name=name, version=version)

    def nominal_time(self, start: str) -> Json:
        """Build the facet with the time for which a run was scheduled, RFC 3339."""
        return self._facet("1-0-1", "NominalTimeRunFacet", nominalStartTime=start)

    def parent(self, run: UUID | str, job: Json) -> Json:
        """Build the facet with the parent of a run, which is also its root; `job` has namespace and name."""
        holder: Json = {"run": {"runId": str(run)}, "job": job}
        return self._facet("1-2-0", "ParentRunFacet", **holder, root=holder)

    def error_message(self, message: str, stack_trace: str) -> Json:
        """Build the facet that states why a run failed."""
        return self._facet("1-0-1", "ErrorMessageRunFacet", message=message, programmingLanguage="JAVA", stackTrace=stack_trace)

    def extraction_error(self, attempted: int, failed: int, errors: Iterable[Json]) -> Json:
        """Build the facet with what could not be extracted from a job. Each error has errorMessage, and may have task and taskNumber."""
        return self._facet("1-1-2", "ExtractionErrorRunFacet", totalTasks=attempted, failedTasks=failed, errors=list(errors))

    def _facet(self, version: str, name: str, /, **members: object) -> Json:
        return {
            "_producer": self.producer,
            "_schemaURL": f"https://openlineage.io/spec/facets/{version}/{name}.json#/$defs/{name}",
            **members,
        }


def _counted(rows: int | None, size: int | None) -> Json:
    return {name: value for name, value in (("rowCount", rows), ("size", size)) if value is not None}
