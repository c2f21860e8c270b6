"""The chain of transforms: what becomes of a topic's name, and of each field of its records."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lineage_bridge.sources.common.connect.transforms.chain import read_chain, replay
from lineage_bridge.sources.common.connect.transforms.records import FieldOrigin, Record, RecordField, dropped

KAFKA = "org.apache.kafka.connect.transforms."
DEBEZIUM = "io.debezium.transforms."


def chain(*steps, **predicates):
    """The configuration of transforms `a`, `b`, ... : each a class and its options."""
    config = {"transforms": ",".join(chr(97 + at) for at in range(len(steps))), "predicates": ",".join(predicates)}
    for at, (kind, options) in enumerate(steps):
        config[f"transforms.{chr(97 + at)}.type"] = kind
        config |= {f"transforms.{chr(97 + at)}.{key}": value for key, value in options.items()}
    for alias, options in predicates.items():
        config |= {f"predicates.{alias}.{key}": value for key, value in options.items()}
    return read_chain(config)


def topics(steps, topic, **predicates):
    found = replay(chain(*steps, **predicates), topic)
    return [("~" if o.topic.is_pattern else "") + o.topic.text + ("?" if o.maybe else "") for o in found.outcomes]


def fields(steps, values=(), keys=(), topic="t", **predicates):
    """The fields after the chain as `part.path <- part.path`, with ! for masked, * for transformed, ? for maybe."""
    found = replay(chain(*steps, **predicates), topic, Record.starting(keys, values)).outcomes[0].record
    lines = set()
    for field, origins in found.fields.items():
        signs = {
            ("." + o.field.path if o.field.part == "value" else f"{o.field.part}.{o.field.path}")
            + ("!" if o.masking else "*" if o.subtype != "IDENTITY" else "")
            + ("?" if o.maybe else "")
            for o in origins
        }
        name = "." + field.path if field.part == "value" else f"{field.part}.{field.path}"
        lines |= {f"{name} <- {sign}" for sign in signs} or {f"{name} <-"}
    return lines | {f"{part} unknown" for part in found.unknown}


ROUTED = [
    ([(KAFKA + "RegexRouter", {"regex": "file-(.*)", "replacement": "routed-$1"})], "file-lines", ["routed-lines"]),
    ([(KAFKA + "RegexRouter", {"regex": "file-(.*)", "replacement": "routed-$1"})], "my-file-lines", ["my-file-lines"]),
    ([(KAFKA + "RegexRouter", {"regex": "(?<who>\\w+)\\.(.*)", "replacement": "${who}_$2"})], "shop.orders", ["shop_orders"]),
    ([(KAFKA + "RegexRouter", {"regex": ".*", "replacement": "all"})], "orders", ["all"]),
    ([(KAFKA + "RegexRouter", {"regex": "^(?i)(SHOP)\\.(?:.*)", "replacement": "$1"})], "shop.orders", ["shop"]),
    ([(KAFKA + "RegexRouter", {"regex": "(.*)", "replacement": "\\$$1"})], "orders", ["$orders"]),
    ([(KAFKA + "RegexRouter", {"regex": "(broken", "replacement": "x"})], "orders", ["~.+"]),
    ([(KAFKA + "RegexRouter", {"regex": "(...)-(.*)", "replacement": "$2"})], "eu1-orders", ["orders"]),
    ([(KAFKA + "RegexRouter", {"regex": "...", "replacement": "$2"})], "eu1-orders", ["~.+"]),
    (
        [("io.confluent.connect.cloud.transforms.TopicRegexRouter", {"regex": "pre_(.*)", "replacement": "$1"})],
        "pre_orders",
        ["orders"],
    ),
    (
        [
            (KAFKA + "RegexRouter", {"regex": "a(.*)", "replacement": "b$1"}),
            (KAFKA + "RegexRouter", {"regex": "b(.*)", "replacement": "c$1"}),
        ],
        "a1",
        ["c1"],
    ),
    (
        [(DEBEZIUM + "ByLogicalTableRouter", {"topic.regex": "(.*)orders_shard(.*)", "topic.replacement": "$1orders_all"})],
        "s.db.orders_shard7",
        ["s.db.orders_all"],
    ),
    ([(DEBEZIUM + "outbox.EventRouter", {})], "s.public.outbox", ["~outbox\\.event\\..+"]),
    ([(DEBEZIUM + "outbox.EventRouter", {"route.topic.replacement": "events"})], "s.public.outbox", ["events"]),
    ([(KAFKA + "TimestampRouter", {})], "orders", ["~orders\\-[0-9A-Za-z]+"]),
    (
        [(KAFKA + "TimestampRouter", {"topic.format": "${topic}_${timestamp}", "timestamp.format": "yyyy-MM"})],
        "orders",
        ["~orders_[0-9A-Za-z]+-[0-9A-Za-z]+"],
    ),
    ([("io.confluent.connect.transforms.ExtractTopic$Value", {"field": "kind"})], "orders", ["~.+"]),
    (
        [("io.aiven.kafka.connect.transforms.ExtractTopic$Value", {"field.name": "kind", "skip.missing.or.null": "true"})],
        "orders",
        ["orders?", "~.+?"],
    ),
    ([(DEBEZIUM + "ContentBasedRouter", {"topic.expression": "value.kind"})], "orders", ["orders?", "~.+?"]),
    ([(KAFKA + "Filter", {})], "orders", []),
    ([("io.confluent.connect.transforms.Filter$Value", {"filter.condition": "$.a"})], "orders", ["orders?"]),
    ([("com.example.Mine", {})], "orders", ["orders"]),
    ([], "orders", ["orders"]),
]


@pytest.mark.parametrize(("steps", "topic", "expected"), ROUTED)
def test_a_topic_is_routed(steps, topic, expected):
    assert topics(steps, topic) == expected


MATCHES = {"type": KAFKA + "predicates.TopicNameMatches", "pattern": "pay.*"}
TOMBSTONE = {"type": KAFKA + "predicates.RecordIsTombstone"}
RENAME = {"regex": "(.*)", "replacement": "new-$1"}


@pytest.mark.parametrize(
    ("options", "topic", "expected"),
    [
        ({"predicate": "p"}, "payments", ["new-payments"]),
        ({"predicate": "p"}, "orders", ["orders"]),
        ({"predicate": "p", "negate": "true"}, "orders", ["new-orders"]),
        ({"predicate": "q"}, "orders", ["new-orders?", "orders?"]),
        ({"predicate": "missing"}, "orders", ["new-orders?", "orders?"]),
    ],
)
def test_a_predicate_on_the_topic_decides_and_one_on_the_record_leaves_both(options, topic, expected):
    assert topics([(KAFKA + "RegexRouter", RENAME | options)], topic, p=MATCHES, q=TOMBSTONE) == expected


@pytest.mark.parametrize(
    ("options", "topic", "expected"),
    [({"predicate": "p"}, "payments", []), ({"predicate": "p"}, "orders", ["orders"]), ({"predicate": "q"}, "orders", ["orders?"])],
)
def test_a_filter_drops_what_its_predicate_says(options, topic, expected):
    assert topics([(KAFKA + "Filter", options)], topic, p=MATCHES, q=TOMBSTONE) == expected


ROW = ["id", "name", "address.city", "address.zip"]
SAME = {".id <- .id", ".name <- .name", ".address.city <- .address.city", ".address.zip <- .address.zip"}

CHANGED = [
    ([(KAFKA + "ReplaceField$Value", {"exclude": "name"})], SAME - {".name <- .name"}),
    ([(KAFKA + "ReplaceField$Value", {"blacklist": "address"})], {".id <- .id", ".name <- .name"}),
    ([(KAFKA + "ReplaceField$Value", {"include": "id, address"})], SAME - {".name <- .name"}),
    (
        [(KAFKA + "ReplaceField$Value", {"renames": "id:key,address:at"})],
        {".key <- .id", ".name <- .name", ".at.city <- .address.city", ".at.zip <- .address.zip"},
    ),
    ([(KAFKA + "ReplaceField$Value", {"include": "id", "renames": "id:key"})], {".key <- .id"}),
    ([(KAFKA + "MaskField$Value", {"fields": "name", "replacement": "***"})], SAME - {".name <- .name"} | {".name <- .name!"}),
    (
        [(KAFKA + "MaskField$Value", {"fields": "address"})],
        {".id <- .id", ".name <- .name", ".address.city <- .address.city!", ".address.zip <- .address.zip!"},
    ),
    (
        [("io.aiven.kafka.connect.transforms.Hash$Value", {"field.name": "name", "function": "sha256"})],
        SAME - {".name <- .name"} | {".name <- .name!"},
    ),
    ([(KAFKA + "ExtractField$Value", {"field": "name"})], {". <- .name"}),
    ([(KAFKA + "ExtractField$Value", {"field": "address"})], {".city <- .address.city", ".zip <- .address.zip"}),
    ([(KAFKA + "HoistField$Value", {"field": "row"})], {f".row{line}" for line in SAME}),
    (
        [(KAFKA + "Flatten$Value", {"delimiter": "_"})],
        {".id <- .id", ".name <- .name", ".address_city <- .address.city", ".address_zip <- .address.zip"},
    ),
    ([(KAFKA + "Flatten$Value", {})], SAME),
    (
        [(KAFKA + "InsertField$Value", {"topic.field": "_topic!", "static.field": "source", "static.value": "crm"})],
        SAME | {"._topic <-", ".source <-"},
    ),
    (
        [(KAFKA + "Cast$Value", {"spec": "id:string,address:string"})],
        {".id <- .id*", ".name <- .name", ".address.city <- .address.city*", ".address.zip <- .address.zip*"},
    ),
    ([(KAFKA + "Cast$Value", {"spec": "string"})], {line + "*" for line in SAME}),
    ([(KAFKA + "TimestampConverter$Value", {"field": "id", "target.type": "Timestamp"})], SAME - {".id <- .id"} | {".id <- .id*"}),
    ([(KAFKA + "ValueToKey", {"fields": "id"})], SAME | {"key.id <- .id"}),
    ([(KAFKA + "ValueToKey", {"fields": "id"}), (KAFKA + "ExtractField$Key", {"field": "id"})], SAME | {"key. <- .id"}),
    (
        [(KAFKA + "HeaderFrom$Value", {"fields": "name", "headers": "who", "operation": "move"})],
        SAME - {".name <- .name"} | {"header.who <- .name"},
    ),
    ([(KAFKA + "InsertHeader", {"header": "h", "value.literal": "x"})], SAME | {"header.h <-"}),
    (
        [
            (KAFKA + "HeaderFrom$Value", {"fields": "name", "headers": "who", "operation": "move"}),
            (DEBEZIUM + "HeaderToValue", {"headers": "who", "fields": "person", "operation": "copy"}),
            (KAFKA + "DropHeaders", {"headers": "who"}),
        ],
        SAME - {".name <- .name"} | {".person <- .name"},
    ),
    ([("io.confluent.connect.transforms.Drop$Value", {"schema.behavior": "nullify"})], set()),
    ([(KAFKA + "SetSchemaMetadata$Value", {"schema.name": "x"})], SAME),
    (
        [(DEBEZIUM + "ByLogicalTableRouter", {"topic.regex": "(.*)", "topic.replacement": "x"})],
        SAME | {"key.__dbz__physicalTableIdentifier <-"},
    ),
    ([("com.example.Mine", {})], {"key unknown", "value unknown"}),
    ([("com.example.Mine", {}), (KAFKA + "InsertField$Value", {"static.field": "x"})], {"key unknown", "value unknown"}),
    (
        [(KAFKA + "MaskField$Value", {"fields": "name"}), (KAFKA + "ReplaceField$Value", {"renames": "name:who"})],
        SAME - {".name <- .name"} | {".who <- .name!"},
    ),
    (
        [("io.aiven.kafka.connect.transforms.ConcatFields$Value", {"field.names": "id,name", "output.field.name": "both"})],
        SAME | {".both <- .id*", ".both <- .name*"},
    ),
    (
        [
            (
                "com.github.jcustenborder.kafka.connect.transform.common.ExtractNestedField$Value",
                {"input.outer.field.name": "address", "input.inner.field.name": "city", "output.field.name": "town"},
            )
        ],
        SAME | {".town <- .address.city"},
    ),
]


@pytest.mark.parametrize(("steps", "expected"), CHANGED)
def test_fields_go_through_the_chain(steps, expected):
    assert fields(steps, ROW) == expected


def test_key_and_value_are_kept_apart():
    steps = [(KAFKA + "MaskField$Key", {"fields": "id"}), (KAFKA + "ReplaceField$Value", {"exclude": "id"})]
    assert fields(steps, ["id", "name"], ["id"]) == {"key.id <- key.id!", ".name <- .name"}


def test_a_transform_of_some_records_leaves_both_possible():
    steps = [(KAFKA + "MaskField$Value", {"fields": "name", "predicate": "q"})]
    assert fields(steps, ["id", "name"], q=TOMBSTONE) == {".id <- .id", ".name <- .name?", ".name <- .name!?"}


def test_a_predicate_on_the_topic_decides_about_fields():
    steps = [(KAFKA + "ReplaceField$Value", {"exclude": "name", "predicate": "p"})]
    assert fields(steps, ["id", "name"], topic="payments", p=MATCHES) == {".id <- .id"}
    assert fields(steps, ["id", "name"], topic="orders", p=MATCHES) == {".id <- .id", ".name <- .name"}


ENVELOPE = ["before.id", "before.name", "after.id", "after.name", "source.lsn", "op"]


def test_the_row_is_taken_out_of_debeziums_envelope():
    steps = [(DEBEZIUM + "ExtractNewRecordState", {"add.fields": "op,source.ts_ms,lsn:position", "delete.handling.mode": "rewrite"})]
    assert fields(steps, ENVELOPE, ["id"]) == {
        "key.id <- key.id",
        ".id <- .after.id",
        ".name <- .after.name",
        ".__op <-",
        ".__source_ts_ms <-",
        ".__position <-",
        ".__deleted <-",
    }


def test_what_holds_no_envelope_is_unknown_after_unwrapping():
    assert fields([(DEBEZIUM + "ExtractNewRecordState", {})], ["id"], ["id"]) == {"key.id <- key.id", "value unknown"}


def test_an_outbox_row_is_taken_apart():
    row = ["after.id", "after.aggregateid", "after.aggregatetype", "after.payload", "after.type"]
    steps = [(DEBEZIUM + "outbox.EventRouter", {"table.fields.additional.placement": "type:header:eventType"})]
    assert fields(steps, row, ["id"]) == {
        "key. <- .after.aggregateid",
        ". <- .after.payload",
        "header.id <- .after.id",
        "header.eventType <- .after.type",
    }


def test_an_outbox_column_may_go_beside_the_payload():
    row = ["after.id", "after.aggregateid", "after.payload", "after.type"]
    steps = [(DEBEZIUM + "outbox.EventRouter", {"table.fields.additional.placement": "type:envelope:kind"})]
    found = fields(steps, row)
    assert {".payload <- .after.payload", ".kind <- .after.type"} <= found


def test_dropped_fields_are_reported():
    start = Record.starting(["id"], ["id", "name", "note"])
    after = replay(chain((KAFKA + "ReplaceField$Value", {"include": "id"})), "t", start).outcomes[0].record
    assert dropped(start, after) == [RecordField("value", "name"), RecordField("value", "note")]
    unknown = replay(chain(("com.example.Mine", {})), "t", start).outcomes[0].record
    assert dropped(start, unknown) == []


def test_unknown_transforms_are_named():
    found = replay(chain(("com.example.Mine$Value", {}), (KAFKA + "Flatten$Value", {}), ("org.example.Other", {})), "t")
    assert found.unknown == ("a", "c")


def test_two_ways_to_one_topic_are_one_outcome():
    steps = [
        (KAFKA + "RegexRouter", {"regex": "(.*)", "replacement": "x", "predicate": "q"}),
        (KAFKA + "RegexRouter", {"regex": "(.*)", "replacement": "y"}),
    ]
    assert topics(steps, "orders", q=TOMBSTONE) == ["y?"]


PATHS = st.lists(st.sampled_from(["id", "name", "a.b", "a.c", "d"]), unique=True, max_size=5)
STEPS = st.lists(
    st.sampled_from(
        [
            (KAFKA + "ReplaceField$Value", {"exclude": "name"}),
            (KAFKA + "ReplaceField$Value", {"renames": "id:key"}),
            (KAFKA + "MaskField$Value", {"fields": "d"}),
            (KAFKA + "Flatten$Value", {"delimiter": "_"}),
            (KAFKA + "HoistField$Value", {"field": "h"}),
            (KAFKA + "ExtractField$Value", {"field": "h"}),
            (KAFKA + "ValueToKey", {"fields": "id,a"}),
            (KAFKA + "RegexRouter", {"regex": "(.*)", "replacement": "x$1", "predicate": "q"}),
            (KAFKA + "Filter", {"predicate": "q"}),
            ("com.example.Mine", {}),
        ]
    ),
    max_size=6,
)


@settings(deadline=None)
@given(PATHS, PATHS, STEPS)
def test_nothing_is_made_up(keys, values, steps):
    start = Record.starting(keys, values)
    for outcome in replay(chain(*steps, q=TOMBSTONE), "t", start).outcomes:
        assert {origin.field for origins in outcome.record.fields.values() for origin in origins} <= set(start.fields)
        assert not any(field.part in outcome.record.unknown for field in outcome.record.fields)


@settings(deadline=None)
@given(PATHS, STEPS)
def test_a_masked_column_stays_masked(values, steps):
    start = Record.starting((), [*values, "secret"])
    masked = (KAFKA + "MaskField$Value", {"fields": "secret"})
    for outcome in replay(chain(masked, *steps, q=TOMBSTONE), "t", start).outcomes:
        origins = {origin for found in outcome.record.fields.values() for origin in found if origin.field.path == "secret"}
        assert all(origin.masking for origin in origins)


def test_hoisting_and_extracting_again_changes_nothing():
    start = Record.starting((), ROW)
    steps = [(KAFKA + "HoistField$Value", {"field": "h"}), (KAFKA + "ExtractField$Value", {"field": "h"})]
    assert replay(chain(*steps), "t", start).outcomes[0].record == start
    assert start.fields[RecordField("value", "id")] == {FieldOrigin(RecordField("value", "id"))}
