"""Converts tables and topics of OpenMetadata to assets. Pure. The members are those of OpenMetadata's published schemas."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from lineage_bridge.openlineage.event_builder import EventBuilder, Json, schema_fields
from lineage_bridge.openlineage.facets import SchemaField
from lineage_bridge.openlineage.naming import DatasetName
from lineage_bridge.sources.common.catalog.assets import Asset
from lineage_bridge.sources.common.catalog.reading import list_in, nested, object_in, source_of, text_in
from lineage_bridge.sources.openmetadata.names import TABLE, TOPIC
from lineage_bridge.sources.openmetadata.settings import OpenMetadataSourceSettings

EVENTS: Final = EventBuilder("https://lineagebridge.dev/sources/openmetadata")
FIELDS: Final = (
    "fullyQualifiedName",
    "entityType",
    "description",
    "columns",
    "messageSchema",
    "owners",
    "tags",
    "tier",
    "tableType",
    "updatedBy",
    "upstreamLineage",
)
"""What is read of a document of the search index."""
_OPENLINEAGE: Final = "OpenLineage"
_VIEWS: Final = frozenset(("View", "SecureView", "MaterializedView", "SemanticView"))
Document = Mapping[str, Any]


def read_asset(document: Document, kind: str, settings: OpenMetadataSourceSettings) -> Asset | None:
    """The asset of a table or topic; None if its name cannot be read."""
    name = settings.names.dataset(kind, text_in(document, "fullyQualifiedName"))
    if name is None:
        return None
    is_ours = text_in(document, "updatedBy") in settings.published_by
    facets = {} if is_ours else dict(_described(document, kind))
    return Asset(name, {**facets, **_lineage(document, kind, name, settings)})


def _described(document: Document, kind: str) -> Iterator[tuple[str, Json]]:
    columns = _columns(document, kind)
    if columns:
        yield "schema", EVENTS.schema(schema_fields(nested(field for field, _ in columns)))
    if description := text_in(document, "description"):
        yield "documentation", EVENTS.documentation("Dataset", description)
    owners = {(text_in(owner, "name"), text_in(owner, "type").upper() or "OWNER") for owner in list_in(document, "owners")}
    if owners := {owner for owner in owners if owner[0]}:
        yield "ownership", EVENTS.owners("Dataset", sorted(owners))
    stated = {(*tag, "") for tag in _tags([*list_in(document, "tags"), object_in(document, "tier")])}
    stated |= {(*tag, field.name) for field, found in columns for tag in _tags(list_in(found, "tags"))}
    if stated:
        yield "tags", EVENTS.dataset_tags(_tag(*tag) for tag in sorted(stated))
    if kind == TOPIC:
        yield "datasetType", EVENTS.dataset_type("TOPIC")
    elif text_in(document, "tableType"):
        yield "datasetType", EVENTS.dataset_type("VIEW" if text_in(document, "tableType") in _VIEWS else "TABLE")


def _columns(document: Document, kind: str) -> list[tuple[SchemaField, Mapping[str, Any]]]:
    """The columns by their paths, each with what the catalog states about it. The columns of a topic are the fields of its record."""
    if kind == TABLE:
        return list(_flat(list_in(document, "columns"), ""))
    fields = list_in(document, "messageSchema", "schemaFields")
    inner = list_in(fields[0], "children") if len(fields) == 1 else []
    return list(_flat(inner or fields, ""))


def _flat(columns: list[Any], above: str) -> Iterator[tuple[SchemaField, Mapping[str, Any]]]:
    for found in columns:
        if name := text_in(found, "name"):
            shown = text_in(found, "dataTypeDisplay") or text_in(found, "dataType")
            described = text_in(found, "description")
            yield SchemaField(name=f"{above}{name}", type=shown or None, description=described or None), found
            yield from _flat(list_in(found, "children"), f"{above}{name}.")


def _tags(labels: list[Any]) -> Iterator[tuple[str, str]]:
    """The tags as pairs of key and value. Terms of glossaries become values of one tag; tags that are only suggested are left out."""
    for label in labels:
        name = text_in(label, "tagFQN")
        if name and text_in(label, "state") != "Suggested":
            yield ("glossary_term", name) if text_in(label, "source") == "Glossary" else (name, "true")


def _tag(key: str, value: str, column: str) -> Json:
    return {"key": key, "value": value, "source": "OPENMETADATA", **({"field": column} if column else {})}


def _lineage(document: Document, kind: str, name: DatasetName, settings: OpenMetadataSourceSettings) -> dict[str, Json]:
    sources: set[DatasetName] = set()
    columns: dict[str, list[Json]] = {}
    for edge in list_in(document, "upstreamLineage"):
        is_selected = settings.openlineage or text_in(edge, "source") != _OPENLINEAGE
        from_kind = text_in(edge, "fromEntity", "type")
        source = settings.names.dataset(from_kind, text_in(edge, "fromEntity", "fullyQualifiedName")) if is_selected else None
        if source is None or source == name:
            continue
        sources.add(source)
        for mapping in list_in(edge, "columns"):
            target = settings.names.column(kind, text_in(mapping, "toColumn"))
            if target and target[0] == name:
                known = columns.setdefault(target[1], [])
                known += _sources(mapping, from_kind, settings, known)
    columns = {column: inputs for column, inputs in sorted(columns.items()) if inputs}
    return {"lineage": EVENTS.dataset_lineage(map(source_of, sorted(sources)), columns)} if sources else {}


def _sources(mapping: Mapping[str, Any], kind: str, settings: OpenMetadataSourceSettings, known: list[Json]) -> list[Json]:
    found: list[Json] = []
    for text in list_in(mapping, "fromColumns"):
        column = settings.names.column(kind, text) if isinstance(text, str) else None
        source = source_of(*column) if column else None
        if source and source not in known and source not in found:
            found.append(source)
    return found
