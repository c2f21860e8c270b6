"""What became of topics with Tableflow, as OpenLineage events. Pure.

A topic's Tableflow is a streaming job that writes one table, and tells it to catalogs: the table of each catalog comes from that one.
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
    RUNNING,
    TITLES,
    Integration,
    Topic,
    Where,
    catalogs_of,
    table_of,
)

TELLER = EventBuilder("https://lineagebridge.dev/sources/confluent")
_OF_REGISTRY = 0
"""The rank of a registry's schema."""
_WHOLE_KEY = "key"
"""The column that a key without fields is."""


class Memory(msgspec.Struct, omit_defaults=True):
    """What was told of a topic. `number`: of its runs; `run`: the last one's id, empty if it had none; `state`: told of it last.

    `shape`: fingerprint of its formats and catalogs, `said`: of all that was said of them.
    """

    number: int = 0
    run: str = ""
    state: str = ""
    shape: str = ""
    said: str = ""
    created: str = ""


class Around(NamedTuple):
    """What all topics share. `space`: the namespace of the cluster. `period_s`: of heartbeats, in seconds."""

    space: str
    where: Where
    integrations: Mapping[str, Integration]
    known: SharedMetadata
    period_s: int
    now_us: int


class _Content(NamedTuple):
    job_facets: Mapping[str, Json]
    inputs: list[Json]
    outputs: list[Json]


_NOTHING_NEW = _Content({}, [], [])


def goes_on(topic: Topic, memory: Memory, around: Around) -> Iterator[Json]:
    """What is to be told of a topic that has Tableflow; `memory` is brought up to date."""
    job, content = (around.space, f"tableflow/{topic.name}"), _content(topic, around)
    shape = digest([topic.formats, [one.integration for one in topic.catalogs or ()]])
    said = digest([content.job_facets, content.inputs, content.outputs])
    is_new = said != memory.said
    if _begins(topic, memory, shape):
        if memory.state == RUNNING:
            yield TELLER.run_event("COMPLETE", around.now_us - 2, memory.run, job)
        memory.number += 1
        memory.run = str(run_id("tableflow", *job, topic.created, memory.number))
        memory.state = RUNNING
        yield TELLER.run_event("START", around.now_us - 1, memory.run, job, **content._asdict())
        if topic.state != RUNNING:
            yield _ends(topic, memory, job, around, _NOTHING_NEW)
    elif topic.state == RUNNING:
        told = content if is_new else _NOTHING_NEW
        yield TELLER.run_event("RUNNING", around.now_us, memory.run, job, **told._asdict())
    elif memory.state == RUNNING:
        yield _ends(topic, memory, job, around, content if is_new else _NOTHING_NEW)
    elif is_new:
        yield TELLER.job_event(around.now_us, job, **content._asdict())
    memory.shape, memory.said, memory.created = shape, said, topic.created


def is_gone(name: str, memory: Memory, space: str, now_us: int) -> Iterator[Json]:
    """What is to be told of a topic that has Tableflow no more."""
    if memory.state == RUNNING:
        yield TELLER.run_event("ABORT", now_us, memory.run, (space, f"tableflow/{name}"))


def _begins(topic: Topic, memory: Memory, shape: str) -> bool:
    """Whether another run begins: the first, one after an end, or one of a Tableflow with other formats or catalogs, or switched on again.

    One that was suspended when it was first seen has none.
    """
    if topic.state != RUNNING:
        return not memory.run and topic.state == FAILED
    return memory.state != RUNNING or memory.shape != shape or memory.created != topic.created


def _ends(topic: Topic, memory: Memory, job: DatasetName, around: Around, content: _Content) -> Json:
    memory.state = topic.state
    why = topic.error or "; ".join(f"{kind}: {error}" for kind, error in sorted(topic.failing.items()) if error)
    facets = {"errorMessage": TELLER.error_message(why, "")} if why else {}
    return TELLER.run_event(topic.state, around.now_us, memory.run, job, run_facets=facets, **content._asdict())


def _content(topic: Topic, around: Around) -> _Content:
    source, table = (around.space, topic.name), (around.space, f"tableflow/{topic.name}")
    columns, origins = _columns(source, around.known)
    schema = {"schema": TELLER.schema(schema_fields(columns))} if columns else {}
    paths = {path: path for path in origins}
    entries = [_entry(table, source, origins)]
    outputs = [TELLER.dataset(table, {**_of_table(), **schema, "confluent_tableflow": _described(topic, around)})]
    for _, catalog in catalogs_of(topic, around.integrations):
        name = table_of(topic.name, catalog, around.where)
        if name is None:
            continue
        entries.append(_entry(name, table, paths))
        held = {"dataSource": TELLER.data_source(TITLES[catalog.kind], name[0])}
        outputs.append(TELLER.dataset(name, {**_of_table(), **held, **schema}))
    job = {"jobType": TELLER.job_type("STREAMING", "CONFLUENT", "TABLEFLOW", around.period_s), "lineage": TELLER.lineage(entries)}
    return _Content(job, [TELLER.dataset(source)], outputs)


def _of_table() -> dict[str, Json]:
    return {"datasetType": TELLER.dataset_type("TABLE")}


def _columns(topic: DatasetName, known: SharedMetadata) -> tuple[list[SchemaField], dict[str, str]]:
    """The columns of a topic's table, and the topic's column that each comes from: the value's fields, beside them the key's.

    Tableflow goes by the registry alone.
    """
    told = (known.schemas.get((topic, part)) for part in (VALUE, KEY))
    values, keys = (schema.fields if schema and schema.rank == _OF_REGISTRY else () for schema in told)
    named = {field.name for field in values}
    if not values or not all(named):
        return [], {}
    whole = len(keys) == 1 and not keys[0].name
    beside = [SchemaField(name=_WHOLE_KEY, type=keys[0].type)] if whole else list(keys)
    beside = [field for field in beside if field.name not in named]
    origins = {path: topic_column(KEY, "" if whole else path) for path in leaves(beside)}
    return [*values, *beside], {**{path: topic_column(VALUE, path) for path in leaves(values)}, **origins}


def _entry(target: DatasetName, source: DatasetName, columns: Mapping[str, str]) -> Json:
    """That a table comes from another dataset, and each of its columns from one there."""
    named = {"type": "DATASET", "namespace": source[0], "name": source[1]}
    same = [{"type": "DIRECT", "subtype": "IDENTITY", "masking": False}]
    fields = {column: {"inputs": [{**named, "field": origin, "transformations": same}]} for column, origin in sorted(columns.items())}
    entry: Json = {"type": "DATASET", "namespace": target[0], "name": target[1], "inputs": [named]}
    return {**entry, "fields": fields} if fields else entry


def _described(topic: Topic, around: Around) -> Json:
    told = {one.integration: one for one in topic.catalogs or ()}
    catalogs: list[Json] = []
    for ident, catalog in catalogs_of(topic, around.integrations):
        sync = told.get(ident)
        status = {"status": sync.status, "error": sync.error} if sync else {}
        known = {"integration_id": ident, "name": catalog.name, "type": TITLES[catalog.kind], **status}
        catalogs.append({key: value for key, value in known.items() if value})
    members = {
        "write_mode": topic.write_mode,
        "storage": dict(topic.storage),
        "error": topic.error,
        "failing_table_formats": dict(topic.failing),
    }
    return TELLER.own_facet(
        "1-0-0",
        "ConfluentTableflowDatasetFacet",
        topic=topic.name,
        cluster_id=around.where.cluster,
        phase=topic.phase,
        table_formats=list(topic.formats),
        catalogs=catalogs,
        **{key: value for key, value in members.items() if value},
    )
