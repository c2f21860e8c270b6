"""Schema versions, facet histories and the life of datasets, from events."""

import json
from functools import partial
from pathlib import Path
from typing import Any

from tests.events import RUNS, T0, dataset, dataset_event, facet, job_event, records_of, run_event, schema
from tests.store.reading import reader_of
from tests.store.tables import execute
from tests.store.writing import add as add_events

from lineage_bridge.graph.ids import DAY_US, NodeKind
from lineage_bridge.graph.relations import Side
from lineage_bridge.model.graph import Node
from lineage_bridge.model.history import SchemaHistory
from lineage_bridge.store.write.apply import GraphWriter

MINUTE, HOUR = 60_000_000, 3_600_000_000
NEVER = 2**62
DEBEZIUM = Path(__file__).parents[2] / "samples" / "debezium" / "debezium_events.ndjson"


add = partial(add_events, seed=7, batches=2)


def node(writer: GraphWriter, name: str = "b", namespace: str = "ns", kind: NodeKind = NodeKind.DATASET) -> Node:
    found = reader_of(writer).nodes.find(kind, namespace, name)
    assert found is not None
    return found


def schema_history(writer: GraphWriter, at_us: int = NEVER, **named: Any) -> SchemaHistory:
    return reader_of(writer).history.schemas(node(writer, **named), at_us)


def columns(history: SchemaHistory) -> list[list[str]]:
    return [[field.name for field in version.fields] for version in history.versions]


def exported(writer: GraphWriter, name: str) -> list[dict[str, Any]]:
    lines = (json.loads(line) for line in reader_of(writer).whole.lines(frozenset({"schema"}), now_us=T0))
    return [line for line in lines if line["dataset"]["name"] == name]


def wrote(at: int, *names: str, run: str = RUNS[0], job: str = "job") -> bytes:
    return run_event("RUNNING", run=run, job=job, time_us=T0 + at, outputs=[dataset("b", schema=schema(*names))])


def read(at: int, *names: str) -> bytes:
    return run_event("RUNNING", run=RUNS[3], job="reader", time_us=T0 + at, inputs=[dataset("b", schema=schema(*names))])


def test_only_the_strongest_statement_counts(writer: GraphWriter) -> None:
    add(writer, dataset_event(dataset("b", schema=schema("c"), lineagebridge_catalog=facet(catalog="datahub")), T0 + 6 * HOUR))
    assert (schema_history(writer).evidence, columns(schema_history(writer))) == ("catalog", [["c"]])
    add(writer, read(5 * HOUR, "r"))
    assert (schema_history(writer).evidence, columns(schema_history(writer))) == ("input", [["r"]])
    add(writer, wrote(0, "id"), wrote(HOUR, "id", "x"))
    assert (schema_history(writer).evidence, columns(schema_history(writer))) == ("output", [["id"], ["id", "x"]])
    add(writer, dataset_event(dataset("b", schema=schema("own"))))
    assert (schema_history(writer).evidence, columns(schema_history(writer))) == ("dataset", [["own"]])
    assert [line["version"] for line in exported(writer, "b")] == [v.version for v in schema_history(writer).versions if v.current]


def test_the_real_debezium_restarts_without_flapping(writer: GraphWriter) -> None:
    add(writer, *(json.dumps(json.loads(line).get("body", json.loads(line))).encode() for line in DEBEZIUM.read_bytes().splitlines()))
    rows = execute(writer, "SELECT namespace, name FROM node WHERE name IN ('shop.public.orders', 'shop.public.customers')")
    found = {name: schema_history(writer, name=name, namespace=namespace) for namespace, name in rows.fetchall()}
    orders = found["shop.public.orders"].versions
    assert [(len(v.fields), v.fields[0].type, v.current) for v in orders] == [
        (4, "serial", False),
        (4, "int4", False),
        (5, "int4", True),
        (5, "serial", False),
    ]
    assert [len(names) for names in columns(found["shop.public.customers"])] == [3]
    assert [line["version"] for line in exported(writer, "shop.public.orders")] == [
        version.version for version in orders if version.current
    ]


def test_as_of_an_earlier_time(writer: GraphWriter) -> None:
    add(writer, wrote(0, "id"), wrote(HOUR, "id", "x"))
    assert columns(schema_history(writer, T0 + HOUR - 1)) == [["id"]]
    assert schema_history(writer, T0 + HOUR - 1).versions[0].current
    assert columns(schema_history(writer, T0 - 1)) == []


def test_evidence_is_named(writer: GraphWriter) -> None:
    events = [wrote(0, "id"), wrote(MINUTE, "id"), wrote(2 * MINUTE, "id", "x", job="other", run=RUNS[1])]
    add(writer, *events)
    ids = [stored.record.event_id for stored in records_of(events)]
    first, second = schema_history(writer).versions
    assert (first.first, first.last) == ((T0, ids[0]), (T0 + MINUTE, ids[1]))
    assert ([job.name for job in first.jobs], [job.name for job in second.jobs]) == (["job"], ["other"])


def test_a_schema_that_is_withdrawn_is_a_version_without_fields(writer: GraphWriter) -> None:
    gone = run_event("RUNNING", time_us=T0 + HOUR, outputs=[dataset("b", schema=facet(_deleted=True))])
    add(writer, wrote(0, "id"), gone)
    assert [version.version for version in schema_history(writer).versions][-1] == ""
    assert exported(writer, "b") == []


def test_what_is_declared_counts_as_output(writer: GraphWriter) -> None:
    add(writer, job_event(outputs=[dataset("b", schema=schema("declared"))]), read(0, "r"))
    assert (schema_history(writer).evidence, columns(schema_history(writer))) == ("output", [["declared"]])


def renamed(at: int) -> bytes:
    state = facet(lifecycleStateChange="RENAME", previousIdentifier={"namespace": "ns", "name": "old"})
    return run_event("COMPLETE", time_us=T0 + at, outputs=[dataset("b", lifecycleStateChange=state, schema=schema("id"))])


def test_the_life_of_a_dataset(writer: GraphWriter) -> None:
    born = run_event("COMPLETE", run=RUNS[1], time_us=T0, outputs=[dataset("b", lifecycleStateChange=facet(lifecycleStateChange="CREATE"))])
    add(writer, born, renamed(HOUR))
    reader = reader_of(writer)
    life = reader.history.lifecycle(node(writer), 10, 0)
    assert [(entry.change, entry.first - T0, entry.previous and entry.previous.name) for entry in life] == [
        ("RENAME", HOUR, "old"),
        ("CREATE", 0, None),
    ]
    assert [entry.dataset.name for entry in reader.history.lifecycle(node(writer, "old"), 10, 0)] == ["b"]
    assert [entry.change for entry in reader.history.lifecycle(node(writer), 1, 1)] == ["CREATE"]
    assert [before.name for before in schema_history(writer).renamed_from] == ["old"]


def test_every_statement_under_a_key(writer: GraphWriter) -> None:
    def owned(at: int, *owners: str, run: str = RUNS[0]) -> bytes:
        ownership = facet(owners=[{"name": owner} for owner in owners])
        return run_event("RUNNING", run=run, time_us=T0 + at, inputs=[dataset("b", ownership=ownership)])

    add(writer, owned(0, "one"), owned(HOUR, "two"), owned(2 * HOUR, "one", run=RUNS[1]), dataset_event(dataset("b", ownership=facet())))
    history = reader_of(writer).history.facet(node(writer), "ownership", NEVER)
    found = [(e.side, [o["name"] for o in json.loads(e.text).get("owners", [])], e.first[0] - T0, e.last[0] - T0) for e in history.entries]
    assert found == [(Side.INPUT, ["one"], 0, 2 * HOUR), (Side.INPUT, ["two"], HOUR, HOUR), (Side.SELF, [], 0, 0)]
    assert [[job.name for job in entry.jobs] for entry in history.entries] == [["job"], ["job"], []]
    early = reader_of(writer).history.facet(node(writer), "ownership", T0 + HOUR - 1)
    assert sorted((e.side, e.last[0] - T0) for e in early.entries) == [(Side.INPUT, 0), (Side.SELF, 0)]


def test_the_facets_of_jobs_and_their_runs(writer: GraphWriter) -> None:
    add(
        writer,
        run_event(job_facets={"sql": facet(query="SELECT 1")}, run_facets={"errorMessage": facet(message="x", programmingLanguage="p")}),
        run_event(time_us=T0 + 1, job_facets={"sql": facet(_deleted=True)}),
    )
    reader, job = reader_of(writer), node(writer, "job", "jobs", NodeKind.JOB)
    assert [entry.deleted for entry in reader.history.facet(job, "sql", NEVER).entries] == [True, False]
    assert [entry.side for entry in reader.history.facet(job, "errorMessage", NEVER).entries] == [Side.RUN]
    assert reader.history.facet(job, "nothing", NEVER).entries == ()


def test_the_schemas_of_an_earlier_time_are_of_the_names_that_were_one_then(writer: GraphWriter) -> None:
    def wrote_as(name: str, run: int, at: int, column: str) -> bytes:
        return run_event(run=RUNS[run], time_us=T0 + at, outputs=[dataset(name, "s3://b", schema=schema(column))])

    late = DAY_US + HOUR
    add(writer, wrote_as("x/dt=1", 0, 0, "early"), wrote_as("x", 1, late, "late"))
    reader, partition = reader_of(writer), node(writer, "x/dt=1", "s3://b")
    assert columns(reader.history.schemas(partition)) == [["early"], ["late"]]
    assert columns(reader.history.schemas(partition, T0 + HOUR)) == [["early"]]
    table = node(writer, "x", "s3://b")
    assert columns(reader.history.schemas(table, T0 + HOUR)) == []
    assert reader.history.facet(table, "schema", T0 + HOUR).entries == ()
    assert len(reader.history.facet(table, "schema").entries) == 2
