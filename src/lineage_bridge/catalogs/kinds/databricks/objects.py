"""The objects of a job in a metastore: external metadata for it and for its datasets that are not tables, and external lineage between
them.

Columns pass through a job: each column that it writes is a column of the job too, read from the inputs and written to the output. Pure.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from lineage_bridge.catalogs.events import column_fields, in_form, with_held
from lineage_bridge.catalogs.kinds.databricks.naming import entity_type, metadata_name, system_type, table_of
from lineage_bridge.catalogs.kinds.databricks.settings import DatabricksSettings
from lineage_bridge.catalogs.target import Expressed, Json
from lineage_bridge.openlineage.event_builder import digest_of
from lineage_bridge.openlineage.facets.publication import PUBLICATION

LONGEST_TEXT: Final = 4000
"""The maximum lengths of a description and of a property, in characters."""
_HELD_OF_JOBS: Final = frozenset(("documentation", "jobType", "sql", PUBLICATION))
_HELD_OF_DATASETS: Final = frozenset(("columnLineage", "datasetType", "documentation", "schema", "symlinks"))
_NOT_HELD: Final = "facets that Unity Catalog does not hold"


class RelationshipEnd(NamedTuple):
    """One end of a relationship: `kind` is `table` or `external_metadata`."""

    kind: str
    name: str

    @property
    def as_json(self) -> Json:
        """Write the end in the API's form."""
        return {self.kind: {"name": self.name}}


@dataclass(frozen=True)
class JobObjects:
    """External metadata of a job and of its datasets that are not tables, and the relationships of the job, in the API's form."""

    job: Json
    datasets: Sequence[Json]
    relationships: Sequence[Json]


def express_job(event: Json) -> Expressed:
    """Convert an event to a completed run with everything that can be represented. Raises InexpressibleError."""
    made, lost = in_form(event, "runs").event, Counter[str]()
    made["job"] = with_held(made["job"], _HELD_OF_JOBS, lost, _NOT_HELD)
    for side in ("inputs", "outputs"):
        made[side] = [with_held(dataset, _HELD_OF_DATASETS, lost, _NOT_HELD) for dataset in made.get(side, ())]
    inputs = {_identity(dataset) for dataset in made["inputs"]}
    for dataset in made["outputs"]:
        sources = [source for _, found in column_fields(dataset) for source in found]
        lost["columns of datasets that the job does not read"] += sum(_identity(source) not in inputs for source in sources)
    for text in _texts(made["job"]):
        lost["ends of descriptions and statements that are too long"] += len(text) > LONGEST_TEXT
    return Expressed(made, +lost)


def job_objects(event: Json, settings: DatabricksSettings) -> JobObjects:
    """The objects that a job needs, from an event as `express_job` returns it."""
    inputs, outputs = ({_identity(dataset): dataset for dataset in event.get(side, ())} for side in ("inputs", "outputs"))
    ends = {name: _end(dataset, settings) for name, dataset in (inputs | outputs).items()}
    job = job_end(event["job"]["namespace"], event["job"]["name"], settings)
    reads: dict[RelationshipEnd, set[tuple[str, str]]] = {ends[name]: set() for name in inputs}
    writes: dict[RelationshipEnd, set[tuple[str, str]]] = {ends[name]: set() for name in outputs}
    named = Counter(column for dataset in outputs.values() for column, _ in column_fields(dataset))
    named_in = Counter((dataset["name"], column) for dataset in outputs.values() for column, _ in column_fields(dataset))
    for name, dataset in outputs.items():
        for column, sources in column_fields(dataset):
            own = column if named[column] == 1 else f"{dataset['name']}.{column}"
            if named_in[dataset["name"], column] > 1:
                own = f"{dataset['namespace']}/{own}"
            writes[ends[name]].add((own, column))
            for source in sources:
                if _identity(source) in inputs:
                    reads[ends[_identity(source)]].add((source["field"], own))
    properties = {f"{settings.prefix}.job": f"{event['job']['namespace']} {event['job']['name']}"[:LONGEST_TEXT]}
    relationships = [
        *(_relationship(end, job, pairs, properties) for end, pairs in sorted(reads.items())),
        *(_relationship(job, end, pairs, properties) for end, pairs in sorted(writes.items())),
    ]
    columns = sorted({own for pairs in writes.values() for own, _ in pairs})
    datasets = {ends[name]: _dataset(ends[name], dataset, settings) for name, dataset in sorted((inputs | outputs).items())}
    external = [made for end, made in sorted(datasets.items()) if end.kind == "external_metadata"]
    return JobObjects(_job(job, event["job"], columns, settings), external, relationships)


def job_end(namespace: str, name: str, settings: DatabricksSettings) -> RelationshipEnd:
    """The end of a relationship that stands for a job."""
    return RelationshipEnd("external_metadata", metadata_name("job", namespace, name, settings))


def digest_of_relationships(relationships: Iterable[Json]) -> str:
    """A digest of relationships: the objects and columns that they connect. Upper and lower case are the same."""
    return digest_of(
        sorted(
            [
                *end_of(found["source"]),
                *end_of(found["target"]),
                sorted([_folded(pair, "source"), _folded(pair, "target")] for pair in pairs),
            ]
            for found in relationships
            for pairs in [found.get("columns") or ()]
        )
    )


def end_of(found: Json) -> RelationshipEnd:
    """Read an end from the API's form, an object with one member."""
    for kind, member in found.items():
        if isinstance(member, dict):
            return RelationshipEnd(kind, str(member.get("name") or member.get("url") or "").lower())
    return RelationshipEnd("", "")


def _folded(pair: Json, side: str) -> str:
    return str(pair.get(side, "")).lower()


def _identity(dataset: Json) -> tuple[str, str]:
    return dataset["namespace"], dataset["name"]


def _end(dataset: Json, settings: DatabricksSettings) -> RelationshipEnd:
    table = table_of(dataset, settings)
    return (
        RelationshipEnd("table", table)
        if table
        else RelationshipEnd("external_metadata", metadata_name("dataset", *_identity(dataset), settings))
    )


def _relationship(source: RelationshipEnd, target: RelationshipEnd, pairs: Iterable[tuple[str, str]], properties: Json) -> Json:
    columns = [{"source": from_, "target": to} for from_, to in sorted(pairs)]
    found: Json = {"source": source.as_json, "target": target.as_json, "properties": properties}
    return {**found, "columns": columns} if columns else found


def _job(end: RelationshipEnd, job: Json, columns: list[str], settings: DatabricksSettings) -> Json:
    facets = job.get("facets", {})
    job_type = facets.get("jobType", {})
    properties = {name: job_type[name] for name in ("processingType", "integration") if isinstance(job_type.get(name), str)}
    properties["installations"] = ",".join(map(str, facets.get(PUBLICATION, {}).get("installations", ())))
    statement = facets.get("sql", {}).get("query")
    properties |= {"sql": statement} if isinstance(statement, str) else {}
    kind = job_type.get("jobType")
    return _metadata(end, job, {"system_type": "OTHER", "entity_type": str(kind or "Job"), "columns": columns}, properties, settings)


def _dataset(end: RelationshipEnd, dataset: Json, settings: DatabricksSettings) -> Json:
    fields = dataset.get("facets", {}).get("schema", {}).get("fields") or ()
    columns = [str(field["name"]) for field in fields if isinstance(field, dict) and field.get("name")]
    about = {"system_type": system_type(dataset["namespace"]), "entity_type": entity_type(dataset), "columns": columns}
    return _metadata(end, dataset, about, {}, settings)


def _metadata(end: RelationshipEnd, subject: Json, about: Json, properties: Json, settings: DatabricksSettings) -> Json:
    described = subject.get("facets", {}).get("documentation", {}).get("description")
    text = described if isinstance(described, str) else ""
    every = {"namespace": subject["namespace"], "name": subject["name"], **properties}
    found: dict[str, Any] = {
        "name": end.name,
        **about,
        "description": text[:LONGEST_TEXT],
        "properties": {f"{settings.prefix}.{name}": value[:LONGEST_TEXT] for name, value in every.items() if value},
    }
    return {member: value for member, value in found.items() if value}


def _texts(job: Json) -> list[str]:
    facets = job.get("facets", {})
    texts = (facets.get("documentation", {}).get("description"), facets.get("sql", {}).get("query"))
    return [text for text in texts if isinstance(text, str)]
