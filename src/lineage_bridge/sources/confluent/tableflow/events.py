"""Converts topics with Tableflow to OpenLineage events. Pure.

The Tableflow of a topic is a streaming job that writes one table. The table in each catalog is derived from the table that the job writes.
"""

from collections.abc import Iterator, Mapping
from typing import NamedTuple

import msgspec

from lineage_bridge.openlineage.event_builder import EventBuilder, Json, run_id, schema_fields
from lineage_bridge.openlineage.facets import SchemaField
from lineage_bridge.openlineage.naming import DatasetName
from lineage_bridge.sources.common.connect.generation import digest
from lineage_bridge.sources.common.connect.transforms.backwards import leaves
from lineage_bridge.sources.common.shared_metadata import KEY, VALUE, SharedMetadata, topic_column
from lineage_bridge.sources.confluent.tableflow.parse import (
    FAILED,
    PENDING,
    RUNNING,
    TITLES,
    ClusterLocation,
    Integration,
    TableflowTopic,
    catalogs_of,
    suspended_of,
    table_of,
)

PRODUCER = EventBuilder("https://lineagebridge.dev/sources/confluent")
_REGISTRY_RANK = 0
"""The rank of schemas from a registry."""
_WRITING = frozenset((PENDING, RUNNING))
_KEY_COLUMN = "key"
"""The column for a key without fields."""


class TopicState(msgspec.Struct, omit_defaults=True):
    """The values that were last emitted about a topic. `number`, `run`, `state`: the number, id and state of its newest run; `run` is empty
    before the first run.

    `shape`: digest of the formats and catalogs; `fingerprint`: digest of all facets, inputs and outputs (`said` in snapshots);
    `created`: when Tableflow was switched on.
    """

    number: int = 0
    run: str = ""
    state: str = ""
    shape: str = ""
    fingerprint: str = msgspec.field(default="", name="said")
    created: str = ""


class TableflowContext(NamedTuple):
    """The context that the events about all topics of a cluster share. `period_s`: seconds between heartbeats."""

    namespace: str
    location: ClusterLocation
    integrations: Mapping[str, Integration]
    shared: SharedMetadata
    period_s: int
    now_us: int


class _RunContent(NamedTuple):
    job_facets: Mapping[str, Json]
    inputs: list[Json]
    outputs: list[Json]


_UNCHANGED = _RunContent({}, [], [])


def topic_events(topic: TableflowTopic, state: TopicState, context: TableflowContext) -> Iterator[Json]:
    """Return the events about a topic that has Tableflow, and update `state`. There are none between the start of a run and its first
    data.
    """
    job, content = (context.namespace, f"tableflow/{topic.name}"), _content(topic, context)
    suspended = suspended_of(topic, context.integrations)
    shape = digest([topic.formats, [sync.integration for sync in topic.catalogs or ()], *([suspended] if suspended else [])])
    fingerprint = digest([content.job_facets, content.inputs, content.outputs])
    is_new = fingerprint != state.fingerprint
    if _starts_run(topic, state, shape):
        if state.state == RUNNING:
            yield PRODUCER.run_event("COMPLETE", context.now_us - 2, state.run, job)
        state.number += 1
        state.run = str(run_id("tableflow", *job, topic.created, state.number))
        state.state = RUNNING
        yield PRODUCER.run_event("START", context.now_us - 1, state.run, job, **content._asdict())
        if topic.state not in _WRITING:
            yield _end_run(topic, state, job, context, _UNCHANGED)
    elif topic.state == PENDING:
        return
    elif topic.state == RUNNING:
        news = content if is_new else _UNCHANGED
        yield PRODUCER.run_event("RUNNING", context.now_us, state.run, job, **news._asdict())
    elif state.state == RUNNING:
        yield _end_run(topic, state, job, context, content if is_new else _UNCHANGED)
    elif is_new:
        yield PRODUCER.job_event(context.now_us, job, **content._asdict())
    state.shape, state.fingerprint, state.created = shape, fingerprint, topic.created


def end_events(name: str, state: TopicState, namespace: str, now_us: int) -> Iterator[Json]:
    """Return the events about a topic whose Tableflow was switched off."""
    if state.state == RUNNING:
        yield PRODUCER.run_event("ABORT", now_us, state.run, (namespace, f"tableflow/{name}"))


def _starts_run(topic: TableflowTopic, state: TopicState, shape: str) -> bool:
    """Whether a new run starts: there is none, the last one has ended, formats or catalogs have changed, or Tableflow was switched on
    again.

    A topic that is suspended when it is first seen has no run.
    """
    if topic.state not in _WRITING:
        return not state.run and topic.state == FAILED
    return state.state != RUNNING or state.shape != shape or state.created != topic.created


def _end_run(topic: TableflowTopic, state: TopicState, job: DatasetName, context: TableflowContext, content: _RunContent) -> Json:
    state.state = topic.state
    message = topic.error or "; ".join(f"{kind}: {error}" for kind, error in sorted(topic.failing.items()) if error)
    facets = {"errorMessage": PRODUCER.error_message(message, "")} if message else {}
    return PRODUCER.run_event(topic.state, context.now_us, state.run, job, run_facets=facets, **content._asdict())


def _content(topic: TableflowTopic, context: TableflowContext) -> _RunContent:
    source, table = (context.namespace, topic.name), (context.namespace, f"tableflow/{topic.name}")
    columns, origins = _columns(source, context.shared)
    schema = {"schema": PRODUCER.schema(schema_fields(columns))} if columns else {}
    same_columns = {path: path for path in origins}
    entries = [_lineage_entry(table, source, origins)]
    outputs = [PRODUCER.dataset(table, {**_table_type(), **schema, "confluent_tableflow": _tableflow_facet(topic, context)})]
    for _, catalog in catalogs_of(topic, context.integrations):
        name = table_of(topic.name, catalog, context.location)
        if name is None:
            continue
        entries.append(_lineage_entry(name, table, same_columns))
        data_source = {"dataSource": PRODUCER.data_source(TITLES[catalog.kind], name[0])}
        outputs.append(PRODUCER.dataset(name, {**_table_type(), **data_source, **schema}))
    if topic.dead_letters:
        entries.append(_lineage_entry((context.namespace, topic.dead_letters), source, {}))
        outputs.append(PRODUCER.dataset((context.namespace, topic.dead_letters)))
    job = {
        "jobType": PRODUCER.job_type("STREAMING", "CONFLUENT", "TABLEFLOW", context.period_s),
        "lineage": PRODUCER.lineage(entries),
    }
    return _RunContent(job, [PRODUCER.dataset(source)], outputs)


def _table_type() -> dict[str, Json]:
    return {"datasetType": PRODUCER.dataset_type("TABLE")}


def _columns(topic: DatasetName, shared: SharedMetadata) -> tuple[list[SchemaField], dict[str, str]]:
    """Return the columns of a topic's table, with those from the value first, and the topic's column for each of them.

    Tableflow only uses schemas in the registry.
    """
    schemas = (shared.schemas.get((topic, side)) for side in (VALUE, KEY))
    values, keys = (schema.fields if schema and schema.rank == _REGISTRY_RANK else () for schema in schemas)
    names = {field.name for field in values}
    if not values or not all(names):
        return [], {}
    is_plain_key = len(keys) == 1 and not keys[0].name
    key_fields = [SchemaField(name=_KEY_COLUMN, type=keys[0].type)] if is_plain_key else list(keys)
    key_fields = [field for field in key_fields if field.name not in names]
    origins = {path: topic_column(KEY, "" if is_plain_key else path) for path in leaves(key_fields)}
    return [*values, *key_fields], {**{path: topic_column(VALUE, path) for path in leaves(values)}, **origins}


def _lineage_entry(target: DatasetName, source: DatasetName, columns: Mapping[str, str]) -> Json:
    """Return the lineage of a dataset that is a copy of another one; `columns`: the source's column for each of its columns."""
    dataset = {"type": "DATASET", "namespace": source[0], "name": source[1]}
    identity = [{"type": "DIRECT", "subtype": "IDENTITY", "masking": False}]
    fields = {column: {"inputs": [{**dataset, "field": origin, "transformations": identity}]} for column, origin in sorted(columns.items())}
    entry: Json = {"type": "DATASET", "namespace": target[0], "name": target[1], "inputs": [dataset]}
    return {**entry, "fields": fields} if fields else entry


def _tableflow_facet(topic: TableflowTopic, context: TableflowContext) -> Json:
    syncs = {sync.integration: sync for sync in topic.catalogs or ()}
    catalogs: list[Json] = []
    for id_, catalog in catalogs_of(topic, context.integrations):
        sync = syncs.get(id_)
        status = {"status": sync.status, "error": sync.error} if sync else {}
        entry = {"integration_id": id_, "name": catalog.name, "type": TITLES[catalog.kind], **status}
        catalogs.append({key: value for key, value in entry.items() if value})
    optional = {
        "write_mode": topic.write_mode,
        "storage": dict(topic.storage),
        "error": topic.error,
        "failing_table_formats": dict(topic.failing),
    }
    return PRODUCER.own_facet(
        "1-0-0",
        "ConfluentTableflowDatasetFacet",
        topic=topic.name,
        cluster_id=context.location.cluster,
        phase=topic.phase,
        table_formats=list(topic.formats),
        catalogs=catalogs,
        **{key: value for key, value in optional.items() if value},
    )
