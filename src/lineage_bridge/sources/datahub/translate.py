"""Converts entities of DataHub to assets. Pure. Aspects and their members are those of DataHub's published schemas."""

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final, TypeAlias
from urllib.parse import unquote

from lineage_bridge.openlineage.event_builder import EventBuilder, Json, schema_fields
from lineage_bridge.openlineage.facets import SchemaField
from lineage_bridge.openlineage.facets.publication import PUBLICATION
from lineage_bridge.openlineage.naming import DatasetName
from lineage_bridge.sources.common.catalog.assets import Asset
from lineage_bridge.sources.common.catalog.reading import list_in, nested, object_in, source_of, text_in
from lineage_bridge.sources.common.datahub.urns import UNKNOWN, DataHubNames, column_of, decoded

EVENTS: Final = EventBuilder("https://lineagebridge.dev/sources/datahub")
DATASET_ASPECTS: Final = (
    "datasetProperties",
    "editableDatasetProperties",
    "schemaMetadata",
    "editableSchemaMetadata",
    "ownership",
    "globalTags",
    "glossaryTerms",
    "subTypes",
    "upstreamLineage",
)
JOB_ASPECTS: Final = ("dataJobInfo", "dataJobInputOutput")
_TYPES: Final = {"table": "TABLE", "view": "VIEW", "materialized view": "VIEW", "topic": "TOPIC", "stream": "STREAM"}
_JOB: Final = re.compile(
    r"urn:li:dataJob:\(urn:li:dataFlow:\((?P<orchestrator>[^,()]+),(?P<flow>[^,()]+),(?P<cluster>[^,()]+)\),(?P<job>[^,()]+)\)", re.DOTALL
)
Entity: TypeAlias = Mapping[str, Any]
_Columns: TypeAlias = dict[str, list[Json]]


def read_dataset(entity: Entity, urn: str, names: DataHubNames) -> Asset | None:
    """The asset of a dataset; None if it is in another environment."""
    name = names.dataset(urn)
    if name is None:
        return None
    facets: dict[str, Json] = {}
    edited = {
        column_of(text_in(found, "fieldPath")): found
        for found in list_in(_aspect(entity, "editableSchemaMetadata"), "editableSchemaFieldInfo")
    }
    columns = [found for found in list_in(_aspect(entity, "schemaMetadata"), "fields") if text_in(found, "fieldPath")]
    if columns:
        facets["schema"] = EVENTS.schema(schema_fields(nested(_column(found, edited) for found in columns)))
    described = text_in(_aspect(entity, "editableDatasetProperties"), "description")
    if described := described or text_in(_aspect(entity, "datasetProperties"), "description"):
        facets["documentation"] = EVENTS.documentation("Dataset", described)
    if owners := sorted(_owners(_aspect(entity, "ownership"))):
        facets["ownership"] = EVENTS.owners("Dataset", owners)
    stated = {(*tag, "") for tag in _tags(_aspect(entity, "globalTags"), _aspect(entity, "glossaryTerms"))}
    for column in (*columns, *edited.values()):
        path = column_of(text_in(column, "fieldPath"))
        stated |= {(*tag, path) for tag in _tags(object_in(column, "globalTags"), object_in(column, "glossaryTerms"))}
    if stated:
        facets["tags"] = EVENTS.dataset_tags(_tag(*tag) for tag in sorted(stated))
    types = [_TYPES.get(kind.lower()) for kind in list_in(_aspect(entity, "subTypes"), "typeNames") if isinstance(kind, str)]
    if kind := next(filter(None, types), None):
        facets["datasetType"] = EVENTS.dataset_type(kind)
    return Asset(name, {**facets, **_lineage(_aspect(entity, "upstreamLineage"), name, names)})


def read_job(entity: Entity, urn: str, names: DataHubNames) -> Asset | None:
    """Convert a job to an asset, which is empty if the job reads and writes nothing. None if LineageBridge published the job, if it is in
    another environment, or if nothing is known about it.
    """
    found, info = _JOB.fullmatch(urn), _aspect(entity, "dataJobInfo")
    if found is None or not info or PUBLICATION in object_in(info, "customProperties"):
        return None
    if names.is_elsewhere(text_in(info, "env") or decoded(found["cluster"])):
        return None
    aspect = _aspect(entity, "dataJobInputOutput")
    inputs, outputs = (_datasets(aspect, side, names) for side in ("input", "output"))
    columns: dict[DatasetName, _Columns] = {}
    for dataset, column, sources in _fine_grained(aspect, names):
        known = columns.setdefault(dataset, {}).setdefault(column, [])
        known += [source for source in sources if "field" in source and source not in known]
    described = text_in(info, "description") if inputs or outputs else ""
    facets = {"documentation": EVENTS.documentation("Job", described)} if described else {}
    return Asset(
        (f"{UNKNOWN}{decoded(found['orchestrator'])}", f"{decoded(found['flow'])}.{decoded(found['job'])}"),
        facets,
        is_job=True,
        inputs=tuple(EVENTS.dataset(name) for name in inputs),
        outputs=tuple(EVENTS.dataset(name, _column_lineage(columns.get(name, {}))) for name in outputs),
    )


def _aspect(entity: Entity, name: str) -> Mapping[str, Any]:
    return object_in(entity, name, "value")


def _column(found: Mapping[str, Any], edited: Mapping[str, Any]) -> SchemaField:
    path = column_of(text_in(found, "fieldPath"))
    described = text_in(edited.get(path), "description") or text_in(found, "description")
    return SchemaField(name=path, type=text_in(found, "nativeDataType") or None, description=described or None)


def _owners(aspect: Mapping[str, Any]) -> set[tuple[str, str]]:
    found = ((_last_part(text_in(owner, "owner")), text_in(owner, "type") or "OWNER") for owner in list_in(aspect, "owners"))
    return {owner for owner in found if owner[0]}


def _tags(tags: Mapping[str, Any], terms: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """The tags as pairs of key and value. The terms of DataHub's glossary become values of one tag."""
    yield from ((name, "true") for found in list_in(tags, "tags") if (name := _last_part(text_in(found, "tag"))))
    yield from (("glossary_term", name) for found in list_in(terms, "terms") if (name := _last_part(text_in(found, "urn"))))


def _tag(key: str, value: str, column: str) -> Json:
    return {"key": key, "value": value, "source": "DATAHUB", **({"field": column} if column else {})}


def _last_part(urn: str) -> str:
    """The id in a URN of a user, group, tag or term: `urn:li:tag:pii`."""
    return unquote(urn.split(":", 3)[3]) if urn.startswith("urn:li:") and urn.count(":") >= 3 else ""


def _lineage(aspect: Mapping[str, Any], name: DatasetName, names: DataHubNames) -> dict[str, Json]:
    upstreams = {names.dataset(text_in(found, "dataset")) for found in list_in(aspect, "upstreams")}
    sources = sorted(found for found in upstreams if found is not None and found != name)
    columns: _Columns = {}
    for dataset, column, inputs in _fine_grained(aspect, names):
        if dataset == name:
            known = columns.setdefault(column, [])
            known += [source for source in inputs if source not in known]
    columns = {column: inputs for column, inputs in columns.items() if inputs}
    if not sources and not columns:
        return {}
    return {"lineage": EVENTS.dataset_lineage(map(source_of, sources), columns)}


def _fine_grained(aspect: Mapping[str, Any], names: DataHubNames) -> Iterator[tuple[DatasetName, str, list[Json]]]:
    """The columns whose sources an aspect states: each as dataset, column, and source columns."""
    for found in list_in(aspect, "fineGrainedLineages"):
        sources = [source for urn in list_in(found, "upstreams") if (source := _source(urn, names))]
        for urn in list_in(found, "downstreams"):
            if target := names.field(urn):
                yield *target, sources


def _source(urn: object, names: DataHubNames) -> Json | None:
    if column := names.field(urn):
        return source_of(*column)
    dataset = names.dataset(urn)
    return source_of(dataset) if dataset else None


def _datasets(aspect: Mapping[str, Any], side: str, names: DataHubNames) -> list[DatasetName]:
    """The inputs or outputs of a job. Newer versions of DataHub state them as edges."""
    urns: Iterable[object] = (
        *list_in(aspect, f"{side}Datasets"),
        *(text_in(edge, "destinationUrn") for edge in list_in(aspect, f"{side}DatasetEdges")),
    )
    return sorted({name for urn in urns if (name := names.dataset(urn))})


def _column_lineage(columns: _Columns) -> dict[str, Json]:
    stated = {
        column: [{key: value for key, value in source.items() if key != "type"} for source in sources]
        for column, sources in sorted(columns.items())
        if sources
    }
    return {"columnLineage": EVENTS.column_lineage(stated, [])} if stated else {}
