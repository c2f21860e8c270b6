"""Converts tables, tags and lineage of Unity Catalog to assets. Pure.

A table is named as OpenLineage's naming specification has it: `unitycatalog://HOST`, `catalog.schema.table`.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final, NamedTuple

from lineage_bridge.openlineage.event_builder import EventBuilder, Json, schema_fields
from lineage_bridge.openlineage.facets import SchemaField
from lineage_bridge.openlineage.naming import DatasetName
from lineage_bridge.sources.common.catalog.assets import Asset
from lineage_bridge.sources.common.catalog.reading import list_in, source_of, text_in
from lineage_bridge.sources.common.unity.marks import Marks, are_ours, comment_id, marks_in, parse_marks, tag_id

_EVENTS: Final = EventBuilder("https://lineagebridge.dev/sources/unity")
_LOCATION: Final = re.compile(r"(?P<scheme>(?:s3[an]?|gs|abfss?|wasbs?)://)(?P<host>[^/]+)/+(?P<path>.*[^/])/*", re.IGNORECASE)
_VIEWS: Final = {"VIEW": "VIEW", "METRIC_VIEW": "VIEW", "MATERIALIZED_VIEW": "MATERIALIZED_VIEW"}
_STATEMENT: Final = "statement"
_TAGGED_BY, _NO_VALUE = "UNITY_CATALOG", "true"
"""The source of tags, and the value of a tag that has only a key, as OpenLineage's clients write it."""


class SeenFlow(NamedTuple):
    """A flow that Unity Catalog has recorded. `kind` and `entity` identify what moved the data, such as a job or notebook of `workspace`.
    `source` and `target` are names of tables (in three parts) or paths; empty if there is none.
    """

    workspace: str
    kind: str
    entity: str
    source: str
    target: str
    source_column: str = ""
    target_column: str = ""


class UnityNames(NamedTuple):
    """The OpenLineage names of the tables and jobs of a workspace, whose host they contain."""

    host: str

    def table(self, full_name: str) -> DatasetName:
        """The dataset name of a table."""
        return f"unitycatalog://{self.host}", full_name.lower()

    def dataset(self, text: str) -> DatasetName | None:
        """The dataset name of a table, or of a path in object storage; None for other paths."""
        if "/" in text:
            return location_of(text)
        parts = text.split(".")
        return self.table(text) if len(parts) == 3 and all(parts) else None

    def job(self, flow: SeenFlow) -> DatasetName:
        """The name of the job to which a flow belongs. A flow without a job, notebook or the like belongs to a job that stands for all
        statements that write its target.
        """
        kind, entity = (flow.kind.lower(), flow.entity) if flow.entity else (_STATEMENT, flow.target)
        return f"databricks://{self.host}", "/".join(part for part in (flow.workspace, kind or "entity", entity) if part)


def location_of(text: str) -> DatasetName | None:
    """The name of a folder in object storage; None for a whole bucket or another address."""
    found = _LOCATION.fullmatch(text)
    return (found["scheme"].lower() + found["host"], found["path"]) if found else None


def full_name_of(entry: Mapping[str, Any]) -> str:
    """The name of a table of three parts; empty if the entry does not have it."""
    parts = [text_in(entry, member) for member in ("catalog_name", "schema_name", "name")]
    return ".".join(parts).lower() if all(parts) else text_in(entry, "full_name").lower()


def read_table(entry: Mapping[str, Any], full_name: str, names: UnityNames) -> Asset:
    """Convert a table in a listing to an asset, without the comments that LineageBridge published to the table. Members of an unexpected
    form count as absent.
    """
    facets: dict[str, Json] = {}
    marks = marks_in(entry.get("properties"))
    if fields := list(_fields(list_in(entry, "columns"), marks)):
        facets["schema"] = _EVENTS.schema(schema_fields(fields))
    if (comment := text_in(entry, "comment")) and not are_ours(marks, comment_id(""), comment):
        facets["documentation"] = _EVENTS.documentation("Dataset", comment)
    if owner := text_in(entry, "owner"):
        facets["ownership"] = _EVENTS.ownership("Dataset", owner)
    kind = _VIEWS.get(text_in(entry, "table_type"), "TABLE")
    facets["datasetType"] = _EVENTS.dataset_type(kind)
    if kind == "TABLE" and (location := location_of(text_in(entry, "storage_location"))):
        facets["symlinks"] = _EVENTS.symlinks([location], "LOCATION")
    return Asset(names.table(full_name), facets)


def read_tags(full_name: str, tags: Iterable[tuple[str, str, str]], names: UnityNames, marks: Iterable[Marks] = ()) -> Asset | None:
    """Convert the tags of a table to an asset. Each tag has a column (empty: the table itself), a key and a value. Tags that LineageBridge
    published, as `marks` or a tag with a mark show, are left out; None if no others are left.
    """
    made, found = [], sorted(set(tags))
    every = [*marks, *(mark for column, _, value in found if not column and (mark := parse_marks(value)))]
    for column, key, value in found:
        if parse_marks(value) or are_ours(every, tag_id(column, key), value or _NO_VALUE):
            continue
        tag: Json = {"key": key, "value": value or _NO_VALUE, "source": _TAGGED_BY}
        made.append({**tag, "field": column} if column else tag)
    return Asset(names.table(full_name), {"tags": _EVENTS.dataset_tags(made)}) if made else None


def read_flows(flows: Iterable[SeenFlow], names: UnityNames) -> Asset | None:
    """Convert the flows of one job to an asset: the job with its inputs and outputs. None if neither end of any flow has a name."""
    inputs = set[DatasetName]()
    targets: dict[DatasetName, dict[str, set[tuple[DatasetName, str]]]] = {}
    read: dict[DatasetName, set[DatasetName]] = {}
    job, kind = ("", ""), ""
    for flow in flows:
        job, kind = names.job(flow), flow.kind if flow.entity else _STATEMENT
        source, target = names.dataset(flow.source), names.dataset(flow.target)
        if source:
            inputs.add(source)
        if target:
            columns = targets.setdefault(target, {})
            if source:
                read.setdefault(target, set()).add(source)
            if source and flow.source_column and flow.target_column:
                columns.setdefault(flow.target_column, set()).add((source, flow.source_column))
    if not inputs and not targets:
        return None
    facets = {"jobType": _EVENTS.job_type("BATCH", "DATABRICKS", kind.upper() or "ENTITY")}
    if targets:
        facets["lineage"] = _EVENTS.lineage(_entry(target, read.get(target, set()), columns) for target, columns in sorted(targets.items()))
    return Asset(
        job,
        facets,
        is_job=True,
        inputs=tuple(_EVENTS.dataset(name) for name in sorted(inputs)),
        outputs=tuple(_EVENTS.dataset(name) for name in sorted(targets)),
    )


def _entry(target: DatasetName, sources: Iterable[DatasetName], columns: Mapping[str, Iterable[tuple[DatasetName, str]]]) -> Json:
    fields = {column: {"inputs": [source_of(*origin) for origin in sorted(origins)]} for column, origins in sorted(columns.items())}
    entry: Json = {**source_of(target), "inputs": [source_of(source) for source in sorted(sources)]}
    return {**entry, "fields": fields} if fields else entry


def _fields(columns: Iterable[Any], marks: Iterable[Marks]) -> Iterator[SchemaField]:
    placed = [column for column in columns if isinstance(column, dict) and text_in(column, "name")]
    for column in sorted(placed, key=lambda column: position if isinstance(position := column.get("position"), int) else len(placed)):
        kind = text_in(column, "type_text") or text_in(column, "type_name").lower()
        name, comment = text_in(column, "name"), text_in(column, "comment")
        is_ours = are_ours(marks, comment_id(name), comment)
        yield SchemaField(name=name, type=kind or None, description=None if is_ours else comment or None)
