"""From a configuration and the rest of the evidence to datasets, topics and flows."""

import json
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.sources.connect.catalogue.cases import read_cases

from lineage_bridge.sources.common.connect.lineage.columns import across
from lineage_bridge.sources.common.connect.lineage.connection import ConnectorEvidence, EvidenceKind
from lineage_bridge.sources.common.connect.lineage.resolve import resolve
from lineage_bridge.sources.common.connect.secrets import mask_config
from lineage_bridge.sources.common.connect.transforms.chain import FIELD_STEPS, TOPIC_STEPS

RECORDED = json.loads((Path(__file__).parent / "recorded.json").read_text("utf-8"))
"""What a worker answered about its connectors."""

ROUTER = "org.apache.kafka.connect.transforms.RegexRouter"


def recorded(name):
    answer = RECORDED[name]
    evidence = ConnectorEvidence(answer["type"], None, tuple(answer["topics"]), tuple(answer["tasks"]), tuple(answer["offsets"]))
    return resolve(answer["config"], evidence)


def flows(connection):
    return [(flow.outside[1] if flow.outside else None, flow.topic) for flow in connection.flows]


def evidence_of(uses):
    return {use.name: [how.name for how in use.evidence] for use in uses}


@pytest.mark.parametrize(
    ("name", "namespace", "expected", "evidence"),
    [
        (
            "shop-cdc",
            "postgres://127.0.0.1:5433",
            [("shop.public.customers", "shopcdc.public.customers"), ("shop.public.orders", "shopcdc.public.orders")],
            ["PREDICTED", "TASK", "OBSERVED"],
        ),
        ("file-source", "file", [("/srv/trial/in.txt", "routed-lines")], ["LISTED", "OFFSETS", "OBSERVED"]),
        ("file-sink", "file", [("/srv/trial/out.txt", "routed-lines")], ["LISTED", "OFFSETS", "OBSERVED"]),
        (
            "copy-out",
            "postgres://127.0.0.1:5433",
            [("shop.public.copy_customers", "cdc3.public.customers"), ("shop.public.copy_orders", "cdc3.public.orders")],
            ["LISTED", "TASK", "OBSERVED"],
        ),
        ("mm2-orders", "kafka://127.0.0.1:9092", [("orders", "east.orders")], ["PREDICTED", "TASK", "OBSERVED"]),
    ],
)
def test_what_a_worker_answered_is_understood(name, namespace, expected, evidence):
    found = recorded(name)
    assert {outside.dataset[0] for outside in found.datasets} == {namespace}
    assert flows(found) == expected
    data = [use for use in (*found.topics_in, *found.topics_out) if not use.is_internal]
    assert evidence_of(data) == {topic: evidence for _, topic in expected}
    assert not any(flow.maybe for flow in found.flows)
    assert found.unknown == ()


def test_no_password_of_a_recorded_configuration_is_left():
    for answer in RECORDED.values():
        masked = mask_config(answer["config"])
        assert {key for key in masked if masked[key] != answer["config"][key]} == {key for key in masked if key.endswith("password")}


CDC = {
    "connector.class": "io.debezium.connector.postgresql.PostgresConnector",
    "database.hostname": "db",
    "database.dbname": "shop",
    "topic.prefix": "cdc",
}


def test_a_list_of_patterns_is_matched_with_the_topics_that_are_known():
    config = CDC | {"table.include.list": r"public\.ord.*,public.people", "table.exclude.list": "public.orders_old"}
    known = {"cdc.public.orders", "cdc.public.orders_old", "cdc.audit.orders", "other", "cdc.public.users"}
    found = resolve(config, ConnectorEvidence(known_topics=frozenset(known), observed_topics=("cdc.public.ordinals",)))
    assert flows(found) == [
        ("shop.public.orders", "cdc.public.orders"),
        ("shop.public.ordinals", "cdc.public.ordinals"),
        ("shop.public.people", "cdc.public.people"),
    ]
    assert evidence_of(found.topics_out) == {
        "cdc.public.ordinals": ["OBSERVED"],
        "cdc.public.orders": ["MATCHED"],
        "cdc.public.people": ["PREDICTED"],
    }


def test_without_a_list_topics_name_the_tables():
    found = resolve(CDC, ConnectorEvidence(known_topics=frozenset(("cdc.public.orders", "cdcx.public.orders"))))
    assert flows(found) == [("shop.public.orders", "cdc.public.orders")]
    assert evidence_of(found.topics_out) == {"cdc.public.orders": ["PREFIXED"]}


def test_schemas_limit_what_topics_tell():
    config = CDC | {"schema.include.list": "public"}
    found = resolve(config, ConnectorEvidence(known_topics=frozenset(("cdc.public.orders", "cdc.audit.log"))))
    assert flows(found) == [("shop.public.orders", "cdc.public.orders")]


def test_what_nobody_states_is_unknown():
    assert resolve(CDC).unknown == ("no external object is listed or was observed", "no topic is listed or was observed")


BOOKS = {
    "heartbeat.interval.ms": "1000",
    "provide.transaction.metadata": "true",
    "schema.history.internal.kafka.topic": "history",
    "signal.kafka.topic": "signals",
    "notification.sink.topic.name": "notes",
    "signal.data.collection": "public.signals",
}


def test_a_connectors_own_topics_are_no_data():
    observed = ("cdc.public.orders", "cdc.transaction", "__debezium-heartbeat.cdc", "notes")
    found = resolve(CDC | BOOKS | {"table.include.list": "public.orders"}, ConnectorEvidence(observed_topics=observed))
    assert {use.name: use.role for use in found.topics_out} == {
        "__debezium-heartbeat.cdc": "heartbeat",
        "cdc.public.orders": "data",
        "cdc.transaction": "transaction",
        "notes": "notification",
    }
    assert {use.name: use.role for use in found.topics_in} == {"signals": "signal"}
    assert flows(found) == [("shop.public.orders", "cdc.public.orders")]
    assert ("postgres://db:5432", "shop.public.signals") in [outside.dataset for outside in found.datasets]


def test_a_topic_of_its_own_that_was_seen_is_told_apart_whatever_the_configuration_says():
    config = {"connector.class": "MySqlCdcSourceV2", "database.hostname": "db", "topic.prefix": "cdc", "table.include.list": "shop.orders"}
    found = resolve(config, ConnectorEvidence(observed_topics=("cdc", "cdc.shop.orders", "__debezium-heartbeat.cdc")))
    assert {use.name: use.role for use in found.topics_out} == {
        "__debezium-heartbeat.cdc": "heartbeat",
        "cdc": "schema-changes",
        "cdc.shop.orders": "data",
    }


JDBC = {
    "connector.class": "io.confluent.connect.jdbc.JdbcSourceConnector",
    "connection.url": "jdbc:postgresql://db:5432/shop?user=me&password=secret",
    "topic.prefix": "pg-",
}


def test_tasks_and_offsets_name_tables_that_the_configuration_does_not():
    evidence = ConnectorEvidence(
        tasks=({"tables": '"shop"."public"."orders","shop"."public"."people"'},),
        offsets=({"partition": {"protocol": "1", "table": "shop.public.orders"}, "offset": {"incrementing": 4}},),
        observed_topics=("pg-orders",),
    )
    found = resolve(JDBC, evidence)
    assert flows(found) == [("shop.public.orders", "pg-orders"), ("shop.public.people", "pg-people")]
    assert evidence_of(found.topics_out) == {"pg-orders": ["TASK", "OFFSETS", "OBSERVED"], "pg-people": ["TASK"]}


def test_a_query_of_which_no_table_is_known_has_a_topic_all_the_same():
    found = resolve(JDBC | {"query": "this is no query"})
    assert flows(found) == [(None, "pg-")]


def test_a_setting_that_only_the_worker_can_read_is_missing_until_it_is_reported():
    config = CDC | {"database.hostname": "${env:DB_HOST}", "table.include.list": "public.orders"}
    found = resolve(config)
    assert flows(found) == [(None, "cdc.public.orders")]
    assert found.unknown == ("datasets cannot be named without database.hostname",)
    resolved = resolve(config, ConnectorEvidence(settings={"database.hostname": "db.example.com"}))
    assert [outside.dataset for outside in resolved.datasets] == [("postgres://db.example.com:5432", "shop.public.orders")]
    assert resolved.unknown == ()


def routed(kind, **options):
    return {
        "transforms": "t",
        "transforms.t.type": kind,
        **{f"transforms.t.{key.replace('_', '.')}": value for key, value in options.items()},
    }


@pytest.mark.parametrize(
    ("regex", "replacement", "observed"),
    [
        (r"cdc\.public\.(.*)", "$1", "orders"),
        (r"cdc.(.*)\.(.*)", "raw-$2-$1", "raw-orders-public"),
        (r"cdc\.(.*)", "$1.$1", "public.orders.public.orders"),
    ],
)
def test_transforms_are_read_backwards_for_what_was_seen(regex, replacement, observed):
    found = resolve(CDC | routed(ROUTER, regex=regex, replacement=replacement), ConnectorEvidence(observed_topics=(observed,)))
    assert [(flow.outside[1], flow.before, flow.topic) for flow in found.flows if flow.outside] == [
        ("shop.public.orders", "cdc.public.orders", observed)
    ]


@pytest.mark.parametrize(
    ("regex", "replacement", "observed"),
    [(r"cdc\.(?:a|b)\.(.*)", "$1", "orders"), (r"cdc\.(.*)\.(.*)", "$2", "orders"), (".*", "all", "all"), (r"cdc\.(o.*)", "$1", "people")],
)
def test_what_cannot_be_read_backwards_stays_unknown(regex, replacement, observed):
    found = resolve(CDC | routed(ROUTER, regex=regex, replacement=replacement), ConnectorEvidence(observed_topics=(observed,)))
    assert flows(found) == [(None, observed)]


def test_tables_of_a_sharded_database_go_to_one_topic():
    router = routed("io.debezium.transforms.ByLogicalTableRouter", topic_regex=r"(.*)orders_\d+", topic_replacement="$1orders")
    found = resolve(CDC | router | {"table.include.list": "public.orders_1,public.orders_2"})
    assert flows(found) == [("shop.public.orders_1", "cdc.public.orders"), ("shop.public.orders_2", "cdc.public.orders")]


@pytest.mark.parametrize(("database", "topics"), [("shop", ["all"]), ("shop,workshop", ["all"]), ("shop,bank", []), ("sh.p", [])])
def test_all_tables_of_a_listed_database_go_to_the_one_topic_that_a_router_names(database, topics):
    router = routed("io.debezium.transforms.ByLogicalTableRouter", topic_regex="(.*)shop(.*)", topic_replacement="all")
    source = {"connector.class": "io.debezium.connector.mysql.MySqlConnector", "database.hostname": "db", "topic.prefix": "cdc"}
    found = resolve(source | router | {"database.include.list": database})
    assert [use.name for use in found.topics_out if use.role == "data"] == topics


def test_an_outbox_goes_where_its_rows_say():
    router = routed("io.debezium.transforms.outbox.EventRouter")
    config = CDC | router | {"table.include.list": "public.outbox"}
    unseen = resolve(config)
    assert [(use.name, use.is_pattern) for use in unseen.topics_out] == [(r"outbox\.event\..+", True)]
    assert unseen.unknown == (r"the data decides the topics outbox\.event\..+",)
    known = resolve(config, ConnectorEvidence(known_topics=frozenset(("outbox.event.order", "orders"))))
    assert evidence_of(known.topics_out) == {"outbox.event.order": ["MATCHED", "PREDICTED"]}
    seen = resolve(config, ConnectorEvidence(observed_topics=("outbox.event.order", "outbox.event.user")))
    assert flows(seen) == [("shop.public.outbox", "outbox.event.order"), ("shop.public.outbox", "outbox.event.user")]
    assert seen.unknown == ()


SINK = {
    "connector.class": "io.confluent.connect.jdbc.JdbcSinkConnector",
    "connection.url": "jdbc:postgresql://db:5432/shop",
    "topics": "cdc.public.orders",
}


def test_a_sinks_transforms_change_the_table_and_not_the_topic():
    found = resolve(SINK | routed(ROUTER, regex=r"cdc\.public\.(.*)", replacement="$1"))
    assert flows(found) == [("shop.public.orders", "cdc.public.orders")]
    assert [use.name for use in found.topics_in] == ["cdc.public.orders"]


def test_a_sink_whose_records_name_the_table_has_no_table_yet():
    found = resolve(SINK | routed("io.confluent.connect.transforms.ExtractTopic$Value", field="kind"))
    assert flows(found) == [(None, "cdc.public.orders")]


def test_a_fixed_table_stays_though_records_name_the_topic():
    fixed = SINK | {"table.name.format": "all_orders"}
    found = resolve(fixed | routed("io.confluent.connect.transforms.ExtractTopic$Value", field="kind"))
    assert flows(found) == [("shop.public.all_orders", "cdc.public.orders")]


def test_flows_through_a_filter_stay_and_are_marked():
    found = resolve(SINK | routed("io.confluent.connect.transforms.Filter$Value", filter_condition="$.a"))
    assert [flow.maybe for flow in found.flows] == [True]


def test_a_topic_that_is_filtered_away_has_no_flow():
    drop = routed("org.apache.kafka.connect.transforms.Filter", predicate="p") | {
        "predicates": "p",
        "predicates.p.type": "org.apache.kafka.connect.transforms.predicates.TopicNameMatches",
        "predicates.p.pattern": "cdc.*",
    }
    found = resolve(SINK | drop | {"topics": "cdc.public.orders,people"})
    assert flows(found) == [("shop.public.people", "people")]
    assert [use.name for use in found.topics_in] == ["cdc.public.orders", "people"]


def test_topics_of_a_regex_that_matches_nothing_known_stay_a_regex():
    config = {key: value for key, value in SINK.items() if key != "topics"} | {"topics.regex": "cdc.*"}
    found = resolve(config, ConnectorEvidence(known_topics=frozenset(("other",))))
    assert [(use.name, use.is_pattern) for use in found.topics_in] == [("cdc.*", True)]
    offsets = ({"partition": {"kafka_topic": "cdc.a", "kafka_partition": 0}, "offset": {"kafka_offset": 3}},)
    assert evidence_of(resolve(config, ConnectorEvidence(offsets=offsets)).topics_in) == {"cdc.a": ["MATCHED", "OFFSETS"]}


def test_a_topic_of_an_earlier_configuration_is_only_maybe_read():
    found = resolve(SINK, ConnectorEvidence(observed_topics=("cdc.public.orders", "left-over")))
    assert {flow.topic: flow.maybe for flow in found.flows} == {"cdc.public.orders": False, "left-over": True}


def test_an_observed_topic_of_a_source_with_one_dataset_is_maybe_its():
    config = {"connector.class": "org.apache.kafka.connect.file.FileStreamSourceConnector", "file": "/in.txt"}
    found = resolve(config, ConnectorEvidence(observed_topics=("lines",)))
    assert [(flow.outside, flow.topic, flow.maybe) for flow in found.flows] == [(("file", "/in.txt"), "lines", True)]


def test_debeziums_own_naming_of_topics_goes_first():
    naming = {
        "topic.naming.strategy": "io.debezium.schema.SchemaRegexTopicNamingStrategy",
        "topic.regex": r"cdc\.public\.(.*)",
        "topic.replacement": "raw.$1",
    }
    router = routed(ROUTER, regex=r"raw\.(.*)", replacement="done.$1")
    config = CDC | naming | {"table.include.list": "public.orders"}
    assert flows(resolve(config)) == [("shop.public.orders", "raw.orders")]
    assert flows(resolve(config | router)) == [("shop.public.orders", "done.orders")]


def test_debezium_writes_no_topic_that_kafka_would_refuse():
    config = CDC | {"table.include.list": "C##USER.ORDERS"}
    assert flows(resolve(config)) == [("shop.C##USER.ORDERS", "cdc.C__USER.ORDERS")]
    assert flows(resolve(config | {"topic.delimiter": "_"})) == [("shop.C##USER.ORDERS", "cdc_C__USER_ORDERS")]


def test_transforms_may_turn_what_is_no_name_of_a_topic_into_one():
    jdbc = {"connector.class": "io.confluent.connect.jdbc.JdbcSourceConnector", "connection.url": "jdbc:postgresql://db/x"}
    config = {**jdbc, "table.whitelist": "orders#2", "topic.prefix": "p-", "transforms": "r", "transforms.r.type": ROUTER}
    routed = {**config, "transforms.r.regex": r"p-(\w+)#\d", "transforms.r.replacement": "$1"}
    assert flows(resolve(routed)) == [("x.public.orders#2", "orders")]
    assert flows(resolve({**routed, "transforms.r.replacement": "$1#"})) == []


def test_patterns_of_one_database_server_are_matched_in_each_database():
    config = {
        "connector.class": "io.debezium.connector.sqlserver.SqlServerConnector",
        "database.hostname": "sql",
        "database.names": "shop,archive",
        "topic.prefix": "ms",
        "table.include.list": r"dbo\.o.*",
    }
    found = resolve(
        config, ConnectorEvidence(known_topics=frozenset(("ms.shop.dbo.orders", "ms.archive.dbo.people", "ms.archive.dbo.old")))
    )
    assert flows(found) == [("archive.dbo.old", "ms.archive.dbo.old"), ("shop.dbo.orders", "ms.shop.dbo.orders")]


def test_a_pattern_of_a_schema_is_none_of_a_table():
    config = CDC | {"table.include.list": "orders.*"}
    assert flows(resolve(config, ConnectorEvidence(known_topics=frozenset(("cdc.public.orders",))))) == []


def test_a_sink_without_any_target_has_its_topic_all_the_same():
    config = {"connector.class": "com.datastax.oss.kafka.sink.CassandraSinkConnector", "contactPoints": "c", "topics": "orders"}
    assert flows(resolve(config)) == [(None, "orders")]


def test_a_map_of_topics_may_have_patterns():
    config = {
        "connector.class": "SnowflakeSink",
        "snowflake.url.name": "acct.snowflakecomputing.com",
        "snowflake.database.name": "D",
        "snowflake.schema.name": "S",
        "snowflake.topic2table.map": "orders_.*:ALL_ORDERS,orders_eu:EU",
        "topics": "orders_us,orders_eu,people",
    }
    assert flows(resolve(config)) == [("D.S.ALL_ORDERS", "orders_us"), ("D.S.EU", "orders_eu"), ("D.S.PEOPLE", "people")]


@pytest.mark.parametrize(
    ("collection", "prefix", "topic"),
    [("people", "", "persons"), ("people", "m", "m.persons"), ("orders", "", "shop-all.orders"), ("orders", "m", "m.shop-all.orders")],
)
def test_a_map_of_name_spaces_names_topics(collection, prefix, topic):
    config = {
        "connector.class": "com.mongodb.kafka.connect.MongoSourceConnector",
        "connection.uri": "mongodb://m",
        "database": "shop",
        "collection": collection,
        "topic.prefix": prefix,
        "topic.namespace.map": '{"shop.people": "persons", "shop": "shop-all", "*": "rest"}',
    }
    assert flows(resolve(config)) == [(f"shop.{collection}", topic)]


def test_the_same_names_on_both_sides_of_a_mirror_are_reported_by_what_was_seen():
    config = {
        "connector.class": "org.apache.kafka.connect.mirror.MirrorSourceConnector",
        "source.cluster.alias": "east",
        "source.cluster.bootstrap.servers": "east:9092",
        "replication.policy.class": "org.apache.kafka.connect.mirror.IdentityReplicationPolicy",
        "topics": "pay.*",
    }
    evidence = ConnectorEvidence(
        known_topics=frozenset(("pay-1", "pay-2")), observed_topics=("pay-1",), offsets=({"partition": {"topic": "pay-3"}},)
    )
    assert flows(resolve(config, evidence)) == [("pay-1", "pay-1"), ("pay-3", "pay-3")]


def test_a_field_that_names_the_table_makes_flows_maybe():
    config = {
        "connector.class": "org.apache.iceberg.connect.IcebergSinkConnector",
        "topics": "events",
        "iceberg.tables": "db.a,db.b",
        "iceberg.catalog.warehouse": "s3://wh/x",
    }
    assert [(flow.outside, flow.maybe) for flow in resolve(config).flows] == [
        (("s3://wh", "x/db/a"), False),
        (("s3://wh", "x/db/b"), False),
    ]
    assert {flow.maybe for flow in resolve(config | {"iceberg.tables.route-field": "kind"}).flows} == {True}
    dynamic = {key: value for key, value in config.items() if key != "iceberg.tables"} | {"iceberg.tables.dynamic-enabled": "true"}
    assert flows(resolve(dynamic)) == [(None, "events")]


@pytest.mark.parametrize(("known", "there"), [(None, True), (["orders", "dlq-lcc-1"], True), (["orders"], False)])
def test_the_dead_letters_of_a_managed_sink_are_there_if_their_topic_is(known, there):
    config = {"connector.class": "S3_SINK", "topics": "orders", "s3.bucket.name": "lake"}
    evidence = ConnectorEvidence(known_topics=None if known is None else frozenset(known), settings={"connector.id": "lcc-1"})
    assert [use.name for use in resolve(config, evidence).topics_out] == (["dlq-lcc-1"] if there else [])
    named = resolve({**config, "errors.deadletterqueue.topic.name": "failed"}, evidence)
    assert "failed" in [use.name for use in named.topics_out]


def test_made_up_data_is_marked():
    config = {"connector.class": "DatagenSource", "quickstart": "USERS", "kafka.topic": "users"}
    assert [(outside.dataset, outside.synthetic) for outside in resolve(config).datasets] == [(("inmemory://", "datagen/users"), True)]


TOPICS = st.sampled_from(["cdc.public.orders", "cdc.public.people", "cdc.transaction", "outbox.event.a", "x"])
CONFIGS = st.sampled_from(
    [
        CDC,
        CDC | BOOKS | {"table.include.list": "public.orders"},
        CDC | {"table.include.list": "public.o.*"},
        CDC | routed("io.debezium.transforms.outbox.EventRouter") | {"table.include.list": "public.outbox"},
        JDBC,
        SINK,
        SINK | {"topics": "", "topics.regex": "cdc.*"},
        {"connector.class": "com.example.Thing", "topics": "x", "some.url": "http://api"},
        {"connector.class": "com.example.Thing", "kafka.topic": "x"},
    ]
)
TASKS = st.lists(st.sampled_from([{"tables": '"a"."b"'}, {"topics": "x,cdc.public.orders"}, {}]), max_size=3)
OFFSETS = st.lists(
    st.sampled_from([{"partition": {"table": "a.b"}}, {"partition": {"kafka_topic": "x"}}, {"partition": None}, {}]), max_size=3
)


@settings(deadline=None)
@given(CONFIGS, st.lists(TOPICS), st.none() | st.frozensets(TOPICS), TASKS, OFFSETS, st.randoms())
def test_the_order_of_evidence_never_matters(config, observed, known, tasks, offsets, random):
    once = resolve(config, ConnectorEvidence("", known, tuple(observed), tuple(tasks), tuple(offsets)))
    observed, tasks, offsets, keys = [*observed, *observed], [*tasks], [*offsets], list(config)
    for evidence_list in (observed, tasks, offsets, keys):
        random.shuffle(evidence_list)
    again = resolve({key: config[key] for key in keys}, ConnectorEvidence("", known, tuple(observed), tuple(tasks), tuple(offsets)))
    assert again == once


NASTY = st.text(st.sampled_from("a.:/@{}$[](),;#*\\?|=\"'% <>1"), max_size=12)
FILLED = st.sampled_from([case for _, case in read_cases()])


@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(FILLED, st.data())
def test_no_value_of_a_setting_is_an_error(case, data):
    config = dict(line.split("=", 1) for line in case["config"].strip().splitlines())
    changed = {key: data.draw(NASTY) for key in data.draw(st.lists(st.sampled_from(sorted(config)), max_size=3))}
    steps = st.sampled_from([ROUTER, *sorted(TOPIC_STEPS), *sorted(FIELD_STEPS)])
    chain = routed(data.draw(steps), regex=data.draw(NASTY), replacement=data.draw(NASTY), field=data.draw(NASTY), renames=data.draw(NASTY))
    name = data.draw(st.sampled_from(case["names"]))
    found = resolve(
        {**config, **changed, **chain, "connector.class": name}, ConnectorEvidence(observed_topics=tuple(case.get("observed", ("x",))))
    )
    for flow in found.flows:
        across(found, flow, ["id", "a.b"], ["id"])


@settings(deadline=None)
@given(CONFIGS, st.lists(TOPICS), st.none() | st.frozensets(TOPICS), TASKS, OFFSETS)
def test_every_observed_topic_is_reported(config, observed, known, tasks, offsets):
    found = resolve(config, ConnectorEvidence("", known, tuple(observed), tuple(tasks), tuple(offsets)))
    names = {use.name for use in (*found.topics_in, *found.topics_out)}
    assert set(observed) <= names
    data = {use.name for use in (*found.topics_in, *found.topics_out) if not use.is_internal}
    assert {flow.topic for flow in found.flows} <= data
    assert {flow.outside for flow in found.flows if flow.outside} <= {outside.dataset for outside in found.datasets}
    assert all(list(flow.evidence) == sorted(set(flow.evidence)) and flow.evidence for flow in found.flows)
    assert all(isinstance(how, EvidenceKind) for flow in found.flows for how in flow.evidence)
