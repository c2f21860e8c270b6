"""Columns across a connector: from a table through the transforms to a topic, and from a topic to a table."""

import pytest
from tests.sources.connect.lineage.connectors import CDC, COPY

from lineage_bridge.sources.common.connect.lineage.columns import across
from lineage_bridge.sources.common.connect.lineage.resolve import resolve
from lineage_bridge.sources.common.connect.transforms.records import VALUE, RecordField

KAFKA = "org.apache.kafka.connect.transforms."


def chain(*steps):
    config = {"transforms": ",".join(f"t{at}" for at in range(len(steps)))}
    for at, (kind, options) in enumerate(steps):
        config |= {f"transforms.t{at}.type": kind, **{f"transforms.t{at}.{key}": value for key, value in options.items()}}
    return config


def values(config, columns, keys=()):
    """The value's fields with the names of what they come from, `!` for masked, `*` for transformed."""
    connection = resolve(config)
    end = across(connection, connection.flows[0], columns, keys, config)
    if VALUE in end.unknown:
        return None
    return {
        path: sorted(o.field.path + ("!" if o.masking else "*" if o.subtype != "IDENTITY" else "") for o in origins)
        for path, origins in end.part(VALUE).items()
    }


def test_a_table_is_in_both_sides_of_debeziums_envelope():
    assert values(CDC, ["id", "mail"]) == {
        "before.id": ["id"],
        "before.mail": ["mail"],
        "after.id": ["id"],
        "after.mail": ["mail"],
        "op": [],
        "ts_ms": [],
        "source.ts_ms": [],
    }


@pytest.mark.parametrize(
    ("name", "unwrap", "is_row"),
    [
        ("PostgresCdcSource", {}, True),
        ("PostgresCdcSource", {"after.state.only": "false"}, False),
        ("PostgresCdcSourceV2", {}, False),
        ("PostgresCdcSourceV2", {"after.state.only": "true"}, True),
        (CDC["connector.class"], {"after.state.only": "true"}, False),
    ],
)
def test_confluent_clouds_debezium_writes_rows_if_it_is_told_to(name, unwrap, is_row):
    found = values({**CDC, "connector.class": name, **unwrap}, ["id"])
    assert ("id" in found, "after.id" in found) == (is_row, not is_row)


def test_masking_and_renaming_cross_the_connector():
    steps = chain(
        ("io.debezium.transforms.ExtractNewRecordState", {}),
        (KAFKA + "MaskField$Value", {"fields": "mail"}),
        (KAFKA + "ReplaceField$Value", {"renames": "id:person", "exclude": "note"}),
        (KAFKA + "RegexRouter", {"regex": "cdc.public.(.*)", "replacement": "$1"}),
    )
    assert values(CDC | steps, ["id", "mail", "note"]) == {"person": ["id"], "mail": ["mail!"]}


def test_keys_come_from_columns():
    connection = resolve(CDC | chain((KAFKA + "ExtractField$Key", {"field": "id"})))
    end = across(connection, connection.flows[0], ["id", "mail"], ["id"])
    assert {path: [o.field.path for o in origins] for path, origins in end.part("key").items()} == {"": ["id"]}


def test_a_sink_that_knows_the_envelope_writes_the_row():
    assert values(COPY, ["before.id", "after.id", "after.mail", "op"]) == {"id": ["after.id"], "mail": ["after.mail"]}
    assert values(COPY, ["id", "mail"]) == {"id": ["id"], "mail": ["mail"]}


def test_a_mirrored_topic_keeps_key_and_value():
    config = {
        "connector.class": "org.apache.kafka.connect.mirror.MirrorSourceConnector",
        "source.cluster.alias": "east",
        "source.cluster.bootstrap.servers": "east:9092",
        "topics": "orders",
    }
    connection = resolve(config)
    end = across(connection, connection.flows[0], ["id", "total"], ["id"])
    assert {(field, origin.field) for field, origins in end.fields.items() for origin in origins} == {
        (RecordField("key", "id"), RecordField("key", "id")),
        (RecordField("value", "id"), RecordField("value", "id")),
        (RecordField("value", "total"), RecordField("value", "total")),
    }


def test_a_mapping_of_columns_is_followed():
    config = {
        "connector.class": "com.datastax.oss.kafka.sink.CassandraSinkConnector",
        "contactPoints": "cassandra",
        "topics": "orders",
        "topic.orders.shop.by_id.mapping": "id=key.id, total=value.amount, city=value.address.city",
    }
    assert values(config, ["amount", "address.city", "note"], ["id"]) == {"id": ["id"], "total": ["amount"], "city": ["address.city"]}


@pytest.mark.parametrize(
    "config",
    [
        CDC | chain(("com.example.Mine", {})),
        {
            "connector.class": "com.mongodb.kafka.connect.MongoSourceConnector",
            "connection.uri": "mongodb://m",
            "database": "d",
            "collection": "c",
        },
        COPY | chain((KAFKA + "Filter", {"predicate": "p"}), ("com.example.Mine$Value", {})),
    ],
)
def test_what_nobody_knows_is_unknown(config):
    assert values(config, ["id"]) is None
