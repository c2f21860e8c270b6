"""What is learnt from records: names and types, never values."""

import json
from typing import Any

from tests.sources.kafka.summaries import poll, summaries

from lineage_bridge.openlineage.facets import SchemaField
from lineage_bridge.sources.common.kafka.events.translate import shared_metadata, topics_to_sample
from lineage_bridge.sources.common.kafka.look.cluster import ClusterState, KafkaTopic, RecordSample
from lineage_bridge.sources.common.kafka.look.sampling import from_json, sample, to_json
from lineage_bridge.sources.common.kafka.settings import KafkaSettings
from lineage_bridge.sources.common.shared_metadata import SharedMetadata, TopicSchema


def fields_of(*records: Any) -> list[tuple[str, str | None]]:
    return shown(sample(json.dumps(record).encode() for record in records).fields)


def shown(fields: tuple[SchemaField, ...] | None, prefix: str = "") -> list[tuple[str, str | None]]:
    return [line for field in fields or () for line in ((prefix + field.name, field.type), *shown(field.fields, f"{prefix}{field.name}."))]


def test_plain_json_has_rough_types() -> None:
    record = {"id": 1, "price": 1.5, "ok": True, "note": "x", "gone": None, "tags": ["a"], "lines": [{"sku": "s"}], "to": {"zip": "1"}}
    assert fields_of(record) == [
        ("id", "long"),
        ("price", "double"),
        ("ok", "boolean"),
        ("note", "string"),
        ("gone", None),
        ("tags", "array"),
        ("lines", "array"),
        ("lines.sku", "string"),
        ("to", "record"),
        ("to.zip", "string"),
    ]


def test_records_are_reported_together() -> None:
    assert fields_of({"id": 1, "a": None}, {"id": 1.5, "a": "x", "b": {"c": 1}}, {"b": {"d": 2}, "a": 1}) == [
        ("id", "double"),
        ("a", None),
        ("b", "record"),
        ("b.c", "long"),
        ("b.d", "long"),
    ]


def test_connects_own_schema_is_believed() -> None:
    schema = {
        "type": "struct",
        "fields": [
            {"type": "int32", "field": "id"},
            {"type": "int64", "field": "at", "name": "org.apache.kafka.connect.data.Timestamp"},
            {"type": "struct", "field": "to", "fields": [{"type": "string", "field": "zip"}]},
            {"type": "array", "field": "lines", "items": {"type": "struct", "fields": [{"type": "string", "field": "sku"}]}},
        ],
    }
    assert fields_of({"schema": schema, "payload": {"id": 1, "secret": "x"}}) == [
        ("id", "int32"),
        ("at", "timestamp"),
        ("to", "record"),
        ("to.zip", "string"),
        ("lines", "array"),
        ("lines.sku", "string"),
    ]


def test_keys_of_maps_are_data_and_not_reported() -> None:
    by_person = {"ann@example.org": 1, "bob@example.org": 2}
    assert fields_of({"id": 1, "scores": by_person}) == [("id", "long"), ("scores", "record")]
    assert fields_of(by_person) == []
    assert fields_of({"card-4111111111111111": 1}) == []
    assert fields_of({f"k{number}": 1 for number in range(400)}) == []


def test_what_is_no_object_reports_nothing() -> None:
    assert (
        sample([b"plain text", b"17", b'"text"', b"[1]", b"{broken", b"\xff\xfe", b"", None, b"\x00\x01", b"[" * 100_000]) == RecordSample()
    )


def test_a_registrys_schemas_are_reported_by_their_ids() -> None:
    assert sample([b"\x00\x00\x00\x00\x11rest", b"\x00\x00\x00\x00\x07", b"\x00\x00\x00\x00\x11"]) == RecordSample((), (7, 17))


def test_a_snapshot_keeps_a_sample() -> None:
    found = sample([b'{"id": 1, "to": {"zip": "1"}}', b"\x00\x00\x00\x00\x11"])
    assert from_json(json.loads(json.dumps(to_json(found)))) == found


def sampled(end: int = 5, **more: Any) -> ClusterState:
    looks = {"key": sample([b'{"id": 1}']), "value": sample([b'{"id": 1, "note": "x"}'])}
    stand = {
        "topics": {"orders": KafkaTopic("1", leaders=(1,))},
        "starts": {"orders": (0,)},
        "ends": {"orders": (end,)},
        "samples": {"orders": looks},
    }
    return ClusterState(**{"cluster": "c1", **stand, **more})


def test_what_records_have_are_the_topics_columns_until_a_registry_knows_better() -> None:
    got = poll(sampled())
    dataset: Any = got.events[0]["dataset"]
    assert [field["name"] for field in dataset["facets"]["schema"]["fields"]] == ["id", "note", "_key"]
    known = shared_metadata(KafkaSettings(bootstrap_servers="broker:9092"), got.snapshot)
    assert [field.name for field in known.fields(("kafka://broker:9092", "orders"))] == ["id", "note"]
    registered = SharedMetadata(schemas={(("kafka://broker:9092", "orders"), "value"): TopicSchema((SchemaField(name="id"),))})
    assert "schema" not in summaries(poll(sampled(), around=registered).events)[0]


def test_records_are_read_at_most_once_an_hour_and_only_if_there_are_new_ones() -> None:
    settings = KafkaSettings(bootstrap_servers="broker:9092", sample=("ord*",))
    assert topics_to_sample(settings, sampled(), None, 0) == {"orders": (5,)}
    assert topics_to_sample(KafkaSettings(bootstrap_servers="broker:9092"), sampled(), None, 0) == {}
    got = poll(sampled())
    later = 1_795_000_000_000_000 + 3_600_000_000
    assert topics_to_sample(settings, sampled(), got.snapshot, later) == {}
    assert topics_to_sample(settings, sampled(6), got.snapshot, later - 1) == {}
    assert topics_to_sample(settings, sampled(6), got.snapshot, later) == {"orders": (6,)}
    assert topics_to_sample(settings, sampled(0), None, 0) == {}
