"""What is told of subjects and their topics: the answers were written before the code that gives them."""

import json
from typing import Any

from tests.corpora.published import faults
from tests.events import T0

from lineage_bridge.openlineage.event_builder import Json
from lineage_bridge.sources.common.observer import Observation, Unseen
from lineage_bridge.sources.common.registry.answers import RegisteredSchema, RegistryState, SchemaReference, Tagging
from lineage_bridge.sources.common.registry.settings import RegistrySettings
from lineage_bridge.sources.common.registry.translate import shared_metadata, translate
from lineage_bridge.sources.common.shared_metadata import KEY, NO_METADATA, VALUE, ClusterMetadata, SharedMetadata

SPACE = "kafka://b1:9092"
ORDER = {
    "type": "record",
    "name": "Order",
    "namespace": "shop",
    "doc": "an order",
    "fields": [{"name": "id", "type": "long", "doc": "its number"}, {"name": "mail", "type": "string", "confluent:tags": ["PII"]}],
}
ORDER_2 = {**ORDER, "fields": [*ORDER["fields"], {"name": "note", "type": ["null", "string"]}]}
HOUR = 3_600_000_000


def around(*topics: str, **more: Any) -> SharedMetadata:
    return SharedMetadata((ClusterMetadata("c1", SPACE, frozenset(("b1:9092",)), frozenset(topics), **more),))


def registered(subject: str, schema: object, version: int = 1, id_: int = 1, **more: Any) -> RegisteredSchema:
    text = schema if isinstance(schema, str) else json.dumps(schema)
    return RegisteredSchema(subject, version, id_, more.pop("kind", "AVRO"), text, **more)


def answers(*versions: RegisteredSchema, listed: tuple[str, ...] = (), **more: Any) -> RegistryState:
    new: dict[str, tuple[RegisteredSchema, ...]] = {}
    for version in versions:
        new[version.subject] = (*new.get(version.subject, ()), version)
    return RegistryState(frozenset((*new, *listed)), new, level=more.pop("level", "BACKWARD"), **more)


def look(
    state: RegistryState, metadata: SharedMetadata, before: Observation | None = None, now_us: int = T0, **settings: Any
) -> Observation:
    """An observation, by way of JSON, as the poller keeps snapshots."""
    snapshot = json.loads(json.dumps(before.snapshot)) if before else None
    seen = translate(state, snapshot, metadata, now_us, RegistrySettings(url="http://r:8081", **settings))
    assert not faults(seen.events)
    return seen


def facets(event: Json) -> dict[str, Any]:
    """The facets of a dataset's event, without what every facet has."""
    dataset: Any = event["dataset"]
    return {key: {k: v for k, v in facet.items() if k not in ("_producer", "_schemaURL")} for key, facet in dataset["facets"].items()}


def names(fields: list[dict[str, Any]]) -> dict[str, Any]:
    return {field["name"]: names(field["fields"]) if "fields" in field else field["type"] for field in fields}


def test_key_and_value_of_a_topic() -> None:
    seen = look(
        answers(registered("orders-value", ORDER, 3, 17), registered("orders-key", '"string"', 1, 9), levels={"orders-value": "FULL"}),
        around("orders"),
    )
    (event,) = seen.events
    assert (event["dataset"]["namespace"], event["dataset"]["name"], event["eventTime"]) == (SPACE, "orders", "2026-11-18T11:06:40.000000Z")
    assert facets(event) == {
        "schema": {
            "fields": [
                {"name": "id", "type": "long", "description": "its number", "ordinal_position": 1},
                {"name": "mail", "type": "string", "ordinal_position": 2},
                {"name": "_key", "type": "string", "ordinal_position": 3},
            ]
        },
        "version": {"datasetVersion": "orders-value version 3, id 17; orders-key version 1, id 9"},
        "documentation": {"description": "an order"},
        "tags": {"tags": [{"key": "PII", "value": "true", "source": "SCHEMA_REGISTRY", "field": "mail"}]},
        "schema_registry": {
            "registry": "r:8081",
            "subjects": [
                {
                    "subject": "orders-value",
                    "part": "value",
                    "version": 3,
                    "id": 17,
                    "schemaType": "AVRO",
                    "strategy": "TopicNameStrategy",
                    "record": "shop.Order",
                    "compatibility": "FULL",
                    "tags": [{"field": "mail", "tag": "PII"}],
                },
                {
                    "subject": "orders-key",
                    "part": "key",
                    "version": 1,
                    "id": 9,
                    "schemaType": "AVRO",
                    "strategy": "TopicNameStrategy",
                    "compatibility": "BACKWARD",
                },
            ],
        },
    }
    assert seen.unseen == ()
    metadata = shared_metadata(seen.snapshot)
    topic = (SPACE, "orders")
    assert [field.name for field in metadata.fields(topic)] == ["id", "mail"]
    assert [(field.name, field.type) for field in metadata.fields(topic, KEY)] == [("", "string")]
    assert (metadata.schemas[topic, VALUE].version, metadata.schemas[topic, VALUE].rank) == ("orders-value version 3, id 17", 0)


def test_what_did_not_change_is_not_reported_again_and_a_new_version_is() -> None:
    first = look(answers(registered("orders-value", ORDER)), around("orders"))
    same = look(answers(listed=("orders-value",)), around("orders"), first)
    assert (same.events, same.snapshot) == ((), first.snapshot)
    second = look(answers(registered("orders-value", ORDER_2, 2, 2)), around("orders"), same, T0 + HOUR)
    (event,) = second.events
    assert names(facets(event)["schema"]["fields"]) == {"id": "long", "mail": "string", "note": "string"}
    assert facets(event)["version"] == {"datasetVersion": "orders-value version 2, id 2"}
    (event,) = look(answers(listed=("orders-value",), levels={"orders-value": "NONE"}), around("orders"), second, T0 + 2 * HOUR).events
    assert facets(event)["schema_registry"]["subjects"][0]["compatibility"] == "NONE"


def test_versions_from_before_the_first_look_are_reported_in_order() -> None:
    times = {"at_us": T0 - 90 * HOUR}
    seen = look(answers(registered("orders-value", ORDER, 1, 1, **times), registered("orders-value", ORDER_2, 2, 2)), around("orders"))
    assert [event["eventTime"] for event in seen.events] == ["2026-11-14T17:06:40.000000Z", "2026-11-18T11:06:40.000000Z"]
    assert [list(names(facets(event)["schema"]["fields"])) for event in seen.events] == [["id", "mail"], ["id", "mail", "note"]]
    untimed = look(answers(registered("orders-value", ORDER, 1, 1), registered("orders-value", ORDER_2, 2, 2)), around("orders"))
    assert [event["eventTime"] for event in untimed.events] == ["2026-11-18T11:06:39.999999Z", "2026-11-18T11:06:40.000000Z"]


def test_a_subject_that_is_gone_takes_its_schema_along() -> None:
    first = look(answers(registered("orders-value", ORDER), registered("orders-key", '"string"', 1, 9)), around("orders"))
    keyless = look(answers(listed=("orders-value",)), around("orders"), first, T0 + HOUR)
    (event,) = keyless.events
    assert names(facets(event)["schema"]["fields"]) == {"id": "long", "mail": "string"}
    gone = look(answers(), around("orders"), keyless, T0 + 2 * HOUR)
    (event,) = gone.events
    assert facets(event) == {key: {"_deleted": True} for key in ("schema", "version", "documentation", "tags", "schema_registry")}
    assert gone.snapshot["topics"] == {}
    assert shared_metadata(gone.snapshot).schemas == {}


def test_a_topic_whose_subjects_could_not_be_looked_at_stays() -> None:
    first = look(answers(registered("orders-value", ORDER)), around("orders"))
    unsure = look(answers(listed=("orders-value",), unseen=(Unseen("subject orders-value", "500"),)), around("orders"), first)
    assert (unsure.events, unsure.unseen) == ((), (Unseen("subject orders-value", "500"),))


def test_all_three_strategies() -> None:
    click, view = (
        {"type": "record", "name": name, "namespace": "web", "fields": [{"name": name.lower(), "type": "int"}]}
        for name in ("Click", "View")
    )
    seen = look(
        answers(
            registered("events-web.Click", click, 1, 1),
            registered("events-web.View", view, 1, 2),
            registered("web.View", view, 1, 3),
            registered("orders-value", ORDER, 1, 4),
        ),
        around("events", "orders", "pages", sampled={("pages", VALUE): frozenset((3,))}),
    )
    by_topic = {event["dataset"]["name"]: facets(event) for event in seen.events}
    assert {topic: [s["strategy"] for s in found["schema_registry"]["subjects"]] for topic, found in by_topic.items()} == {
        "events": ["TopicRecordNameStrategy", "TopicRecordNameStrategy"],
        "orders": ["TopicNameStrategy"],
        "pages": ["RecordNameStrategy"],
    }
    assert names(by_topic["events"]["schema"]["fields"]) == {"web.Click": {"click": "int"}, "web.View": {"view": "int"}}
    assert names(by_topic["pages"]["schema"]["fields"]) == {"view": "int"}


def test_ids_in_records_report_where_records_of_a_name_are() -> None:
    view = {"type": "record", "name": "View", "namespace": "web", "fields": [{"name": "at", "type": "long"}]}
    wider = {**view, "fields": [*view["fields"], {"name": "by", "type": "string"}]}
    metadata = around("pages", "views", sampled={("pages", VALUE): frozenset((1,)), ("views", VALUE): frozenset((1,))})
    first = look(
        answers(registered("web.View", view, 1, 1), registered("views-value", view, 1, 1), registered("copy", view, 1, 1)), metadata
    )
    assert {event["dataset"]["name"]: facets(event)["version"]["datasetVersion"] for event in first.events} == {
        "pages": "web.View version 1, id 1",
        "views": "views-value version 1, id 1",
    }
    (event,) = look(answers(registered("web.View", wider, 2, 2), listed=("views-value", "copy")), metadata, first).events
    assert facets(event)["version"] == {"datasetVersion": "web.View version 2, id 2"}


def test_the_user_says_which_topic_a_record_is_in() -> None:
    seen = look(
        answers(registered("shop.Order", ORDER), registered("shop.OrderKey", '"long"', 1, 2)),
        around("orders"),
        strategies={"shop.Order": "orders", "*Key": "orders#key"},
    )
    (event,) = seen.events
    assert [(s["part"], s["strategy"]) for s in facets(event)["schema_registry"]["subjects"]] == [
        ("value", "RecordNameStrategy"),
        ("key", "RecordNameStrategy"),
    ]


def test_drift_is_visible_and_makes_no_topic() -> None:
    seen = look(
        answers(
            registered("gone-value", ORDER), registered("shop.Thing", ORDER), registered("orders-value", ORDER), registered("used", ORDER)
        ),
        around("orders", "bare", "__consumer_offsets", "app-store-changelog"),
    )
    assert [event["dataset"]["name"] for event in seen.events] == ["orders"]
    assert [unseen.what for unseen in seen.unseen] == ["subjects without a topic", "topics without a subject"]
    assert seen.unseen[0].why.startswith("3 of 4: gone-value, shop.Thing, used")
    assert seen.unseen[1].why.startswith("1 of 2: bare")
    assert seen.snapshot["drift"] == {"subjects": ["gone-value", "shop.Thing", "used"], "topics": ["bare"]}


def test_what_only_other_schemas_refer_to_is_no_drift() -> None:
    customer = {"type": "record", "name": "Customer", "namespace": "shop", "fields": [{"name": "name", "type": "string"}]}
    invoice = {"type": "record", "name": "Invoice", "namespace": "shop", "fields": [{"name": "c", "type": "shop.Customer"}]}
    refers = registered("invoice-value", invoice, 1, 4, references=(SchemaReference("shop.Customer", "customer", 1),))
    seen = look(
        answers(registered("customer", customer, 1, 3), refers, texts={("customer", 1): registered("customer", customer, 1, 3)}),
        around("invoice"),
    )
    (event,) = seen.events
    assert names(facets(event)["schema"]["fields"]) == {"c": {"name": "string"}}
    assert facets(event)["schema_registry"]["subjects"][0]["references"] == [{"name": "shop.Customer", "subject": "customer", "version": 1}]
    assert seen.unseen == ()


def test_a_subject_is_a_topics_name_where_topics_are_not_listed() -> None:
    seen = look(answers(registered("orders-value", ORDER), registered("a-b-shop.Order", ORDER, 1, 2)), NO_METADATA, kafka="b9:9092")
    assert [(event["dataset"]["namespace"], event["dataset"]["name"]) for event in seen.events] == [
        ("kafka://b9:9092", "a-b"),
        ("kafka://b9:9092", "orders"),
    ]


def test_without_a_cluster_nothing_is_reported() -> None:
    seen = look(answers(registered("orders-value", ORDER)), NO_METADATA)
    assert (seen.events, [unseen.what for unseen in seen.unseen]) == ((), ["topics of the subjects"])
    assert "kafka" in seen.unseen[0].why
    later = look(answers(listed=("orders-value",)), around("orders"), seen)
    assert [event["dataset"]["name"] for event in later.events] == ["orders"]


def test_tags_of_the_stream_catalog() -> None:
    tagged = (
        Tagging("sr_field", ".:17", "shop.Order.mail", "GDPR"),
        Tagging("sr_field", ".:17", "shop.Order.mail", "PII"),
        Tagging("sr_record", ".:17", "shop.Order", "Gold"),
        Tagging("sr_schema", ".lab:17", "", "Elsewhere"),
        Tagging("kafka_topic", "lkc-1:orders", "", "Public"),
        Tagging("kafka_topic", "lkc-2:orders", "", "Secret"),
    )
    metadata = SharedMetadata((ClusterMetadata("lkc-1", SPACE, topics=frozenset(("orders",))),))
    seen = look(answers(registered("orders-value", ORDER, 3, 17), catalog=tagged), metadata, catalog=True)
    (event,) = seen.events
    assert [(tag.get("field", ""), tag["key"], tag["source"]) for tag in facets(event)["tags"]["tags"]] == [
        ("mail", "PII", "SCHEMA_REGISTRY"),
        ("", "Gold", "STREAM_CATALOG"),
        ("", "Public", "STREAM_CATALOG"),
        ("mail", "GDPR", "STREAM_CATALOG"),
    ]
    unseen = look(answers(listed=("orders-value",)), metadata, seen, catalog=True)
    assert unseen.events == ()
    (event,) = look(answers(listed=("orders-value",), catalog=tagged[1:2]), metadata, seen, catalog=True).events
    assert [tag["key"] for tag in facets(event)["tags"]["tags"]] == ["PII"]


def test_contexts() -> None:
    seen = look(answers(registered(":.lab:orders-value", ORDER)), around("orders"))
    (event,) = seen.events
    (found,) = facets(event)["schema_registry"]["subjects"]
    assert (found["subject"], found["context"]) == (":.lab:orders-value", ".lab")


def test_a_schema_that_cannot_be_read_has_no_fields_but_a_version() -> None:
    seen = look(answers(registered("orders-value", "message {", kind="PROTOBUF")), around("orders"))
    (event,) = seen.events
    assert "schema" not in facets(event)
    assert facets(event)["version"] == {"datasetVersion": "orders-value version 1, id 1"}
    assert seen.unseen[0].what == "subject orders-value: fields"
    later = look(answers(listed=("orders-value",)), around("orders"), seen)
    assert later.unseen == seen.unseen


def test_tags_and_rules_of_all_kinds() -> None:
    proto = """syntax = "proto3"; package shop; import "confluent/meta.proto";
        message Pay { string card = 1 [(confluent.field_meta).tags = "PCI"]; To to = 2; }
        message To { string iban = 1 [(confluent.field_meta) = {tags: ["PII", "BANK"]}]; }"""
    shape = {
        "type": "object",
        "title": "Person",
        "properties": {"a": {"type": "object", "properties": {"b": {"type": "string", "confluent:tags": ["PII"]}}}},
    }
    rules = {
        "domainRules": [
            {
                "name": "encrypt",
                "kind": "TRANSFORM",
                "mode": "WRITEREAD",
                "type": "ENCRYPT",
                "tags": ["PII"],
                "params": {"secret": "s3"},
                "disabled": False,
            }
        ]
    }
    metadata = {"properties": {"owner": "pay team", "s": "s3cret"}, "tags": {"**.iban": ["GDPR"]}, "sensitive": ["s"]}
    seen = look(
        answers(
            registered("pay-value", proto, kind="PROTOBUF", rules=rules, metadata=metadata),
            registered("person-value", shape, 1, 2, kind="JSON"),
        ),
        around("pay", "person"),
    )
    person, pay = sorted((facets(event) for event in seen.events), key=lambda event: event["version"]["datasetVersion"], reverse=True)
    assert [(tag["field"], tag["key"]) for tag in pay["tags"]["tags"]] == [
        ("card", "PCI"),
        ("to.iban", "BANK"),
        ("to.iban", "GDPR"),
        ("to.iban", "PII"),
    ]
    assert [(tag["field"], tag["key"]) for tag in person["tags"]["tags"]] == [("a.b", "PII")]
    (found,) = pay["schema_registry"]["subjects"]
    assert found["rules"] == [
        {"name": "encrypt", "kind": "TRANSFORM", "mode": "WRITEREAD", "type": "ENCRYPT", "tags": ["PII"], "when": "domain"}
    ]
    assert (found["properties"], found["record"]) == ({"owner": "pay team", "s": "********"}, "shop.Pay")
    assert "s3" not in json.dumps(seen.events) + json.dumps(seen.snapshot)
