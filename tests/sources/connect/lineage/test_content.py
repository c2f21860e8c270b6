"""What a connector's events hold: datasets, schemas, columns across the transforms, other names. Answers written by hand."""

from typing import Any

from tests.sources.connect.lineage.connectors import CDC, COPY
from tests.sources.connect.worker import entry

from lineage_bridge.openlineage.facets import SchemaField
from lineage_bridge.sources.common.connect.catalogue.catalogue import catalogue
from lineage_bridge.sources.common.connect.client import read_connector
from lineage_bridge.sources.common.connect.events.translate import Memos, translate
from lineage_bridge.sources.common.connect.settings import ConnectSettings
from lineage_bridge.sources.common.connect.worker import ConnectorDetail, Plugin, WorkerState
from lineage_bridge.sources.common.observer import Observation, SameJob, SameNamespace
from lineage_bridge.sources.common.shared_metadata import KEY, NO_METADATA, VALUE, ClusterMetadata, SharedMetadata, TopicSchema

SETTINGS = ConnectSettings(url="http://worker:8083", kafka="broker:9092")
SPACE, JOBS = "kafka://broker:9092", "kafka-connect://worker:8083"
T0, MINUTE_US = 1_795_000_000_000_000, 60_000_000
NO_DETAIL, MADE = ConnectorDetail(), Memos()
UNWRAP = "io.debezium.transforms.ExtractNewRecordState"
KAFKA = "org.apache.kafka.connect.transforms."


def field(name: str, *inner: str) -> SchemaField:
    return SchemaField(name=name, type="record" if inner else "string", fields=tuple(map(field, inner)) or None)


ENVELOPE = (field("before", "id", "mail"), field("after", "id", "mail"), field("op"), field("ts_ms"))


def schemas(
    topic: str, *values: SchemaField, keys: tuple[SchemaField, ...] = (), version: str = "subject s version 1, id 1"
) -> SharedMetadata:
    found = {((SPACE, topic), VALUE): TopicSchema(values, version)} | ({((SPACE, topic), KEY): TopicSchema(keys, version)} if keys else {})
    return SharedMetadata(schemas=found)


def look(
    config: dict,
    around: SharedMetadata = NO_METADATA,
    direction: str = "source",
    before: Observation | None = None,
    name: str = "shop",
    detail: ConnectorDetail = NO_DETAIL,
    settings: ConnectSettings = SETTINGS,
) -> Observation:
    seen = read_connector(name, entry(name, config, direction))
    assert seen is not None
    used = {value: Plugin(value) for key, value in config.items() if key.endswith(("connector.class", ".type", ".converter"))}
    asked = WorkerState("4.3.1", "cluster", {name: seen}, frozenset({name}), {name: detail}, used)
    now = T0 + (MINUTE_US if before else 0)
    arguments = (asked, before.snapshot if before else None, around, now, settings, JOBS, catalogue())
    seen_anew = translate(*arguments)
    assert translate(*arguments, MADE) == seen_anew, "what was made of other configurations changes nothing"
    return seen_anew


def events(seen: Observation) -> list[Any]:
    """The events, as JSON."""
    return list(seen.events)


def flows(seen: Observation) -> dict[str, dict[str, list[str]]]:
    """Target to column to its sources (`!` masked, `*` transformed); the whole target as ''."""
    facet = events(seen)[0]["job"]["facets"].get("lineage", {"entries": []})
    return {
        entry["name"]: {
            "": [dataset["name"] for dataset in entry["inputs"]],
            **{
                column: [
                    dataset["field"]
                    + ("!" if dataset["transformations"][0]["masking"] else "*" * (dataset["transformations"][0]["subtype"] != "IDENTITY"))
                    for dataset in column_inputs["inputs"]
                ]
                for column, column_inputs in entry.get("fields", {}).items()
            },
        }
        for entry in facet["entries"]
    }


def names(seen: Observation, side: str) -> list[tuple[str, str]]:
    return [(dataset["namespace"], dataset["name"]) for dataset in events(seen)[0][side]]


def test_a_table_is_read_and_a_topic_written():
    seen = look(CDC)
    assert names(seen, "inputs") == [("postgres://db:5432", "shop.public.people")]
    assert names(seen, "outputs") == [(SPACE, "cdc.public.people")]
    assert flows(seen) == {"cdc.public.people": {"": ["shop.public.people"]}}


def test_columns_of_a_table_are_the_fields_under_after():
    seen = look(CDC, schemas("cdc.public.people", *ENVELOPE, keys=(field("id"),)))
    assert flows(seen)["cdc.public.people"] == {
        "": ["shop.public.people"],
        "_key.id": ["id"],
        "after.id": ["id"],
        "after.mail": ["mail"],
        "before.id": ["id"],
        "before.mail": ["mail"],
    }
    (output,) = events(seen)[0]["outputs"]
    assert [field["name"] for field in output["facets"]["schema"]["fields"]] == ["before", "after", "op", "ts_ms", "_key"]
    assert output["facets"]["version"]["datasetVersion"] == "subject s version 1, id 1"


def test_renamed_and_masked_columns_are_found_backwards():
    config = {
        **CDC,
        "transforms": "row,mask,name,where",
        "transforms.row.type": UNWRAP,
        "transforms.mask.type": KAFKA + "MaskField$Value",
        "transforms.mask.fields": "mail",
        "transforms.name.type": KAFKA + "ReplaceField$Value",
        "transforms.name.renames": "id:person",
        "transforms.where.type": KAFKA + "InsertField$Value",
        "transforms.where.topic.field": "came_from",
    }
    seen = look(config, schemas("cdc.public.people", field("person"), field("mail"), field("came_from")))
    assert flows(seen)["cdc.public.people"] == {"": ["shop.public.people"], "person": ["id"], "mail": ["mail!"]}


def test_a_flattened_envelope_and_a_hoisted_row_are_read_backwards():
    flat = {**CDC, "transforms": "f", "transforms.f.type": KAFKA + "Flatten$Value", "transforms.f.delimiter": "_"}
    seen = look(flat, schemas("cdc.public.people", field("after_id"), field("before_id"), field("op")))
    assert flows(seen)["cdc.public.people"] == {"": ["shop.public.people"], "after_id": ["id"], "before_id": ["id"]}
    hoisted = {
        **CDC,
        "transforms": "r,h",
        "transforms.r.type": UNWRAP,
        "transforms.h.type": KAFKA + "HoistField$Value",
        "transforms.h.field": "row",
    }
    seen = look(hoisted, schemas("cdc.public.people", field("row", "id", "mail")))
    assert flows(seen)["cdc.public.people"] == {"": ["shop.public.people"], "row.id": ["id"], "row.mail": ["mail"]}


def test_after_an_unknown_transform_there_are_no_columns():
    config = {**CDC, "transforms": "x", "transforms.x.type": "com.example.Scramble"}
    seen = look(config, schemas("cdc.public.people", *ENVELOPE))
    assert flows(seen) == {"cdc.public.people": {"": ["shop.public.people"]}}
    assert "the transform x is not known: fields after it are unknown" in events(seen)[0]["run"]["facets"]["kafka_connect"]["unknown"]


def test_a_sink_writes_the_row_of_the_envelope():
    seen = look(COPY, schemas("cdc.public.people", *ENVELOPE), "sink")
    assert names(seen, "inputs") == [(SPACE, "cdc.public.people")]
    assert names(seen, "outputs") == [("postgres://db:5432", "shop.public.copy")]
    assert flows(seen) == {"shop.public.copy": {"": ["cdc.public.people"], "id": ["after.id"], "mail": ["after.mail"]}}


def test_a_key_put_into_the_value_is_a_column_of_the_key():
    config = {**COPY, "connector.class": "io.confluent.connect.jdbc.JdbcSinkConnector", "table.name.format": "copy"}
    config |= {"transforms": "k", "transforms.k.type": "io.aiven.kafka.connect.transforms.KeyToValue", "transforms.k.key.fields": "id"}
    seen = look(config, schemas("cdc.public.people", field("mail"), keys=(field("id"),)), "sink")
    assert flows(seen) == {"shop.public.copy": {"": ["cdc.public.people"], "id": ["_key.id"], "mail": ["mail"]}}


def test_tables_of_one_connector_flow_to_their_own_topics_only():
    seen = look({**CDC, "table.include.list": "public.people,public.orders"})
    assert flows(seen) == {"cdc.public.people": {"": ["shop.public.people"]}, "cdc.public.orders": {"": ["shop.public.orders"]}}


def test_a_mirrored_topic_has_the_columns_of_what_it_copies():
    config = {
        "connector.class": "org.apache.kafka.connect.mirror.MirrorSourceConnector",
        "source.cluster.alias": "east",
        "source.cluster.bootstrap.servers": "east-1:9092",
        "topics": "orders",
    }
    east = ClusterMetadata("e", "kafka://east.example.com:9092", frozenset({"east-1:9092"}))
    known = {(("kafka://east.example.com:9092", "orders"), VALUE): TopicSchema((field("id"),))}
    seen = look(config, SharedMetadata((east,), known))
    assert names(seen, "inputs") == [("kafka://east.example.com:9092", "orders")]
    assert names(seen, "outputs") == [(SPACE, "east.orders")]
    assert flows(seen) == {"east.orders": {"": ["orders"], "id": ["id"]}}


def test_dead_letters_come_from_all_topics_read():
    seen = look({**COPY, "errors.deadletterqueue.topic.name": "dead"}, NO_METADATA, "sink")
    assert names(seen, "outputs") == [(SPACE, "dead"), ("postgres://db:5432", "shop.public.copy")]
    assert flows(seen) == {"dead": {"": ["cdc.public.people"]}, "shop.public.copy": {"": ["cdc.public.people"]}}


def test_a_new_schema_is_reported_with_its_version_and_nothing_else_is():
    first = look(CDC, schemas("cdc.public.people", *ENVELOPE))
    same = look(CDC, schemas("cdc.public.people", *ENVELOPE), before=first)
    assert [(e["eventType"], e["inputs"], e["outputs"], e["job"]["facets"], e["run"]["facets"]) for e in events(same)] == [
        ("RUNNING", [], [], {}, {})
    ]
    wider = (field("before", "id", "mail", "note"), field("after", "id", "mail", "note"), field("op"), field("ts_ms"))
    second = look(CDC, schemas("cdc.public.people", *wider, version="subject s version 2, id 7"), before=same)
    (event,) = events(second)
    (output,) = event["outputs"]
    assert (event["eventType"], event["inputs"], output["name"]) == ("RUNNING", [], "cdc.public.people")
    assert output["facets"]["version"]["datasetVersion"] == "subject s version 2, id 7"
    assert "after.note" in flows(second)["cdc.public.people"]


def test_a_sink_with_a_pattern_reads_what_its_group_has_read():
    config = {key: value for key, value in COPY.items() if key != "topics"} | {"topics.regex": "cdc\\..*"}
    cluster = ClusterMetadata("cluster", SPACE, frozenset({"broker:9092"}), groups={"connect-shop": frozenset({"cdc.public.people"})})
    assert names(look(config, NO_METADATA, "sink"), "inputs") == []
    assert names(look(config, SharedMetadata((cluster,)), "sink"), "inputs") == [(SPACE, "cdc.public.people")]


def test_a_prefix_that_only_the_worker_can_read_is_reported_by_offsets_or_topics():
    config = {**CDC, "topic.prefix": "${file:/secrets:prefix}"}
    assert names(look(config), "outputs") == []
    by_offsets = look(config, detail=ConnectorDetail(offsets=({"partition": {"server": "cdc"}, "offset": {"lsn": 1}},)))
    by_topics = look(config, detail=ConnectorDetail(topics=("cdc.public.people",)))
    assert names(by_offsets, "outputs") == names(by_topics, "outputs") == [(SPACE, "cdc.public.people")]
    assert events(by_topics)[0]["run"]["facets"]["kafka_connect"]["config"]["topic.prefix"] == "${file:/secrets:prefix}"


def test_debeziums_own_names_are_joined_once():
    own = {
        "connector.class": "io.debezium.connector.sqlserver.SqlServerConnector",
        "database.hostname": "db",
        "database.names": "shop",
        "topic.prefix": "cdc",
        "table.include.list": "dbo.people",
        "openlineage.integration.enabled": "true",
        "openlineage.integration.dataset.kafka.bootstrap.servers": "inside:29092",
    }
    first = look(own)
    assert {pair[:-1] for pair in first.aliases} == {
        SameJob(JOBS, "shop", "cdc", "cdc.0", "")[:-1],
        SameNamespace(SPACE, "kafka://inside:29092", "")[:-1],
        SameNamespace("mssql://db:1433", "sqlserver://db:null", "")[:-1],
    }
    assert all("connector shop" in pair.evidence for pair in first.aliases)
    assert look(own, before=first).aliases == ()
    assert look({**own, "openlineage.integration.enabled": "false"}).aliases == ()


def test_a_server_that_any_cluster_may_have_is_not_joined_where_there_are_several():
    debezium = {**CDC, "openlineage.integration.enabled": "true"}
    smt = {**COPY, "transforms": "o", "transforms.o.type": "io.factorhouse.smt.OpenLineageLifecycleSmt", "transforms.o.connector.name": "c"}
    own, other = (ClusterMetadata(name, f"kafka://{name}:9092", frozenset({f"{name}:9092"})) for name in ("cluster", "other"))
    other_settings = ConnectSettings(url="http://worker:8083", kafka="broker:9092", smt_bootstrap="kafka-1:19092")

    def spaces(config: dict, around: SharedMetadata, settings: ConnectSettings = SETTINGS) -> list[str]:
        return [pair.other for pair in look(config, around, settings=settings).aliases if isinstance(pair, SameNamespace)]

    key = "openlineage.integration.dataset.kafka.bootstrap.servers"
    for servers, joined in (("kafka:9092", []), ("10.0.0.7:9092", []), ("b1.example.com:9092", ["kafka://b1.example.com:9092"])):
        assert spaces({**debezium, key: servers}, SharedMetadata((own, other))) == joined
        assert spaces({**debezium, key: servers}, SharedMetadata((own,))) == [f"kafka://{servers}"]
    assert spaces(smt, SharedMetadata((own, other))) == []
    assert spaces(smt, SharedMetadata((own,))) == spaces(smt, SharedMetadata((own, other)), other_settings) == ["kafka://kafka-1:19092"]


def test_the_transforms_own_names_are_joined():
    config = {
        **COPY,
        "transforms": "ol",
        "transforms.ol.type": "io.factorhouse.smt.OpenLineageLifecycleSmt",
        "transforms.ol.connector.name": "people-copy",
        "transforms.ol.dataset.namespace": "copies",
    }
    seen = look(config, NO_METADATA, "sink")
    assert {pair[:-1] for pair in seen.aliases} == {
        (JOBS, "shop", "fh-local", "people-copy"),
        (SPACE, "kafka://kafka-1:19092"),
    }
    assert events(seen)[0]["outputs"][0]["facets"]["symlinks"]["identifiers"] == [
        {"namespace": "copies", "name": "cdc.public.people", "type": "TABLE"}
    ]


def test_a_class_of_ones_own_is_read_by_its_mapping():
    mapping = {
        "classes": ["com.example.LedgerSinkConnector"],
        "direction": "sink",
        "namespace": "ledger://{ledger.host}",
        "object": "{topic}",
    }
    own = ConnectSettings(url="http://worker:8083", kafka="broker:9092", mappings=(mapping,))
    seen = read_connector(
        "l", entry("l", {"connector.class": "com.example.LedgerSinkConnector", "ledger.host": "h", "topics": "t"}, "sink")
    )
    assert seen is not None
    asked = WorkerState("4.3.1", "cluster", {"l": seen}, frozenset({"l"}), {}, {})
    translated = translate(asked, None, NO_METADATA, T0, own, JOBS, catalogue().with_mappings(own.mappings))
    assert names(translated, "outputs") == [("ledger://h", "t")]
    assert events(translated)[0]["run"]["facets"]["kafka_connect"]["inferred"] is False
