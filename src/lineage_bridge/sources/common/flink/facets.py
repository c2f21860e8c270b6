"""Converts a job's datasets and flows to OpenLineage facets. Pure."""

from collections import Counter
from collections.abc import Iterable, Mapping

from lineage_bridge.openlineage.event_builder import EventBuilder, Json, schema_fields
from lineage_bridge.openlineage.facets.lag import KAFKA_LAG, KAFKA_LAG_FACET
from lineage_bridge.openlineage.naming import DatasetName
from lineage_bridge.openlineage.secrets import mask_text
from lineage_bridge.openlineage.times import format_time
from lineage_bridge.sources.common.flink.counters import Held, key_of, total
from lineage_bridge.sources.common.flink.values import Column, DatasetAccess, JobFlows, OutputFlow

OUTGOING = EventBuilder("https://lineagebridge.dev/sources/flink")
_OF_TOPICS = ("kafka://", "confluent://")
_DIRECT = ("IDENTITY", "TRANSFORMATION", "AGGREGATION")


def inputs_of(flows: JobFlows, held: Held, *, whole: bool) -> list[Json]:
    """Return the inputs of an event, with statistics. `whole`: whether to include all inputs with all facets, or only inputs with
    statistics.
    """
    entries = []
    for access in flows.inputs:
        rows, size = total(held, access.operators, "rows"), total(held, access.operators, "bytes")
        statistics = {} if rows is None else {"inputStatistics": OUTGOING.input_statistics(rows, size)}
        if whole or statistics:
            entries.append(OUTGOING.dataset(access.dataset, _facets(access) if whole else None, inputFacets=statistics))
    return entries


def lag_of(flows: JobFlows, unread: Mapping[str, int], now_us: int) -> dict[str, Json]:
    """Return the facet with the records of topics that a job has not read, from what its sources have not read (`unread`, by the key of
    the operator). What a source of several topics has not read is not divided among them.
    """
    readers = Counter(key_of(operator) for access in flows.inputs for operator in access.operators)
    topics: dict[str, int] = {}
    spaces: dict[str, str] = {}
    for access in flows.inputs:
        (space, topic), keys = access.dataset, [key_of(operator) for operator in access.operators]
        is_known = bool(keys) and all(key in unread and readers[key] == 1 for key in keys)
        if is_known and space.startswith(_OF_TOPICS) and topic not in topics:
            topics[topic], spaces[topic] = sum(unread[key] for key in keys), space
    if not topics:
        return {}
    members = {"at": format_time(now_us), "rows": sum(topics.values()), "topics": topics, "namespaces": spaces}
    return {KAFKA_LAG: OUTGOING.own_facet("1-0-0", KAFKA_LAG_FACET, **members)}


def outputs_of(flows: JobFlows, held: Held, *, whole: bool) -> list[Json]:
    """Return the outputs of an event, with statistics. `whole`: whether to include all outputs with all facets, or only outputs with
    statistics.
    """
    entries = {entry.target: entry for entry in flows.entries}
    written = []
    for access in flows.outputs:
        rows, size = total(held, access.operators, "rows"), total(held, access.operators, "bytes")
        statistics = {} if rows is None else {"outputStatistics": OUTGOING.output_statistics(rows, size)}
        if whole:
            facets = {**_facets(access), **column_lineage(entries.get(access.dataset), OUTGOING)}
            written.append(OUTGOING.dataset(access.dataset, facets, outputFacets=statistics))
        elif statistics:
            written.append(OUTGOING.dataset(access.dataset, outputFacets=statistics))
    return written


def job_facets(flows: JobFlows, kind: str, heartbeat_s: int) -> dict[str, Json]:
    """The facets of the job; `kind` is STREAMING or BATCH."""
    facets = {"jobType": OUTGOING.job_type(kind, "FLINK", "JOB", period_s=heartbeat_s)}
    if flows.sql:
        facets["sql"] = OUTGOING.sql(mask_text(flows.sql), "flink")
    annotation = flows.annotation
    if annotation is not None and annotation.description:
        facets["documentation"] = OUTGOING.documentation("Job", annotation.description)
    if annotation is not None and annotation.owners:
        first = OUTGOING.ownership("Job", annotation.owners[0])
        facets["ownership"] = {**first, "owners": [{"name": owner, "type": "MAINTAINER"} for owner in annotation.owners]}
    if annotation is not None and annotation.tags:
        facets["tags"] = OUTGOING.job_tags({"key": key, "value": value, "source": "FLINK_ANNOTATION"} for key, value in annotation.tags)
    entries = [entry_json(entry) for entry in flows.entries if entry.inputs or entry.fields]
    if entries:
        facets["lineage"] = OUTGOING.lineage(entries)
    return facets


def _facets(access: DatasetAccess) -> dict[str, Json]:
    facets: dict[str, Json] = {}
    if access.fields:
        facets["schema"] = OUTGOING.schema(schema_fields(access.fields))
    if access.tables:
        members: Json = {"tables": list(access.tables), "inferred": access.inferred}
        if access.connector:
            members["connector"] = access.connector
        facets["flink_table"] = OUTGOING.own_facet("1-0-0", "FlinkTableDatasetFacet", **members)
    return facets


def entry_json(entry: OutputFlow) -> Json:
    """Convert a flow to an entry of the lineage facet."""
    fields: Json = {name: {"inputs": [_source(column) for column in columns]} for name, columns in entry.fields.items()}
    with_columns = {column[0] for column in _columns(entry)}
    inputs: list[Json] = [{"type": "DATASET", **_identifier(name)} for name in entry.inputs if name not in with_columns]
    inputs += [_source(column) for column in entry.deciding]
    entry_facet: Json = {"type": "DATASET", **_identifier(entry.target)}
    return entry_facet | ({"inputs": inputs} if inputs else {}) | ({"fields": fields} if fields else {})


def _source(column: Column) -> Json:
    return {"type": "DATASET", **_identifier(column[0]), "field": column[1], "transformations": [_transformation(column[2])]}


def _columns(entry: OutputFlow) -> Iterable[Column]:
    yield from (column for columns in entry.fields.values() for column in columns)
    yield from entry.deciding


def _identifier(name: DatasetName) -> Json:
    return {"namespace": name[0], "name": name[1]}


def _transformation(kind: str) -> Json:
    return {"type": "DIRECT" if kind in _DIRECT else "INDIRECT", "subtype": kind}


def column_lineage(entry: OutputFlow | None, outgoing: EventBuilder) -> Mapping[str, Json]:
    """Return a flow's columns as the columnLineage facet, which more consumers support."""
    if entry is None or not (entry.fields or entry.deciding):
        return {}

    def source(column: Column) -> Json:
        return {**_identifier(column[0]), "field": column[1], "transformations": [_transformation(column[2])]}

    fields = {name: [source(column) for column in columns] for name, columns in entry.fields.items()}
    return {"columnLineage": outgoing.column_lineage(fields, [source(column) for column in entry.deciding])}
