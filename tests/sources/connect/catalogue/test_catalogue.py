"""The catalogue: every class has a golden case, a user's own entry wins, and a class that nobody knows is guessed."""

from typing import get_args

import pytest
from tests.sources.connect.catalogue.cases import expected, read_cases, resolved, summary

from lineage_bridge.errors import ConfigError
from lineage_bridge.sources.common.connect.catalogue.catalogue import catalogue, lookup
from lineage_bridge.sources.common.connect.catalogue.family import Reader
from lineage_bridge.sources.common.connect.catalogue.readers import SINK_READERS, SOURCE_READERS
from lineage_bridge.sources.common.connect.catalogue.templates import holes
from lineage_bridge.sources.common.connect.lineage.connection import ConnectorEvidence, EvidenceKind
from lineage_bridge.sources.common.connect.lineage.resolve import resolve
from lineage_bridge.sources.common.connect.secrets import is_secret
from lineage_bridge.sources.common.connect.settings import ConnectSettings

CASES = read_cases()


@pytest.mark.parametrize(("name", "case"), CASES, ids=[f"{name}-{at}" for at, (name, _) in enumerate(CASES)])
def test_a_configuration_names_its_datasets(name, case):
    assert summary(resolved(name, case)) == expected(case)


def test_every_class_has_a_case():
    names = {name for connector in catalogue().connectors for name in connector.names if "*" not in name}
    assert names - {name for name, _ in CASES} == set()
    assert len({name for name in names if "." in name}) >= 100


def test_every_pattern_of_classes_has_a_case():
    patterns = {name for connector in catalogue().connectors for name in connector.names if "*" in name}
    by_case = {name for case, _ in CASES if (found := lookup(case)) for name in found.names}
    assert patterns - by_case == set()


@pytest.mark.parametrize(("name", "case"), [case for case in CASES if "://" in case[1]["config"]])
def test_a_secret_in_an_address_is_in_no_name(name, case):
    lines = [
        line if "warehouse" in line or "base.path" in line else line.replace("://", "://me:s3cr3t@") for line in case["config"].splitlines()
    ]
    assert summary(resolved(name, case | {"config": "\n".join(lines)})) == expected(case)


def test_a_secret_in_a_path_is_in_no_name():
    config = {
        "connector.class": "HttpSourceV2",
        "http.api.base.url": "https://h",
        "api1.http.api.path": "/a?token=s3cr3t",
        "api1.topics": "t",
    }
    assert [outside.dataset for outside in resolve(config).datasets] == [("https://h:443", "/a")]


def test_no_name_is_made_of_a_secret():
    for connector in catalogue().connectors:
        templates = [connector.namespace, connector.name, connector.path, connector.jdbc, connector.object, connector.topic]
        asked = {key for template in templates for key in holes(template)}
        assert [key for key in sorted(asked) if is_secret(key, connector.secrets)] == [], connector.title


def test_no_name_is_in_two_entries():
    names = [name for connector in catalogue().connectors for name in connector.names]
    assert sorted(names) == sorted(set(names))


def test_every_reader_is_there():
    assert set(get_args(Reader)) - {""} == set(SOURCE_READERS) | set(SINK_READERS)


def test_an_entry_of_a_source_says_where_its_records_go():
    silent = {"mirror", "replicator", "kcql", "kcql-queues", "generators", "camel", "neo4j", "geode", "job-types", "jobs-of-sources"}
    for connector in catalogue().connectors:
        if connector.direction == "source" and connector.reader not in silent:
            assert connector.topic or connector.maps or connector.numbered or connector.side, connector.title


def test_lookup_knows_classes_and_short_names():
    assert lookup("io.debezium.connector.postgresql.PostgresConnector") is lookup("PostgresCdcSourceV2")
    assert lookup("com.example.Nobody") is None


MINE = {
    "classes": ["com.example.LedgerSinkConnector"],
    "direction": "sink",
    "namespace": "ledger://{ledger.host!address}",
    "name": "{ledger.book}.{object}",
    "object": "{topic}",
}
LEDGER = {"connector.class": "com.example.LedgerSinkConnector", "ledger.host": "ledger:77", "ledger.book": "main", "topics": "orders"}


def test_a_users_entry_makes_a_class_known():
    found = resolve(LEDGER, classes=catalogue().with_mappings([MINE]))
    assert [outside.dataset for outside in found.datasets] == [("ledger://ledger:77", "main.orders")]
    assert not found.connector.inferred
    assert found.unknown == ()


def test_a_users_entry_wins_and_may_share_what_ours_share():
    mine = {"base": "jdbc-sink", "classes": ["io.confluent.connect.jdbc.JdbcSinkConnector"], "object": "all_{topic}"}
    config = {"connector.class": mine["classes"][0], "connection.url": "jdbc:postgresql://db/shop", "topics": "orders"}
    found = resolve(config, classes=catalogue().with_mappings([mine]))
    assert [outside.dataset for outside in found.datasets] == [("postgres://db:5432", "shop.public.all_orders")]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"colour": "red"}, "colour"),
        ({"direction": "sideways"}, "sideways"),
        ({"classes": []}, "an entry of the catalogue needs `classes` or `managed`"),
        ({"classes": "com.example.One"}, "array"),
        ({"namespace": "{a!shout}"}, "unknown filter shout"),
        ({"name": "[{a}"}, "has an unmatched bracket"),
        ({"name": "a}"}, "has an unmatched bracket"),
        ({"reader": "guess"}, "guess"),
        ({"side": [{"topic": "x"}]}, "role"),
        ({"base": "nothing"}, "unknown field `base`"),
    ],
)
def test_an_ill_formed_entry_is_refused(change, message):
    with pytest.raises(ConfigError, match=message):
        catalogue().with_mappings([MINE | change])


def test_a_file_of_the_users_own_adds_classes(tmp_path):
    entry = """
[[connector]]
classes = ["com.example.LedgerSinkConnector"]
direction = "sink"
namespace = "ledger://{ledger.host}"
object = "{topic}"
"""
    (tmp_path / "own.toml").write_text(entry, "utf-8")
    config = {"connector.class": "com.example.LedgerSinkConnector", "ledger.host": "h", "topics": "t"}
    for path in (tmp_path, tmp_path / "own.toml"):
        settings = ConnectSettings(url="http://worker:8083", catalogue=str(path))
        assert [outside.dataset for outside in resolve(config, classes=settings.classes).datasets] == [("ledger://h", "t")]
    mapping = {**MINE, "classes": ["com.example.LedgerSinkConnector"]}
    both = ConnectSettings(url="http://worker:8083", catalogue=str(tmp_path), mappings=(mapping,))
    assert both.classes.find(config).name == MINE["name"]
    assert ConnectSettings(url="http://worker:8083").classes.lookup("com.example.LedgerSinkConnector") is None


@pytest.mark.parametrize(
    "text", [None, "not toml", '[[connector]]\nclasses = ["x"]\n', '[[connector]]\nclasses = ["x"]\ndirection = "up"\n']
)
def test_a_file_that_cannot_be_read_is_refused(tmp_path, text):
    if text is not None:
        (tmp_path / "own.toml").write_text(text, "utf-8")
    with pytest.raises(ConfigError):
        _ = ConnectSettings(url="http://worker:8083", catalogue=str(tmp_path / "own.toml")).classes


@pytest.mark.parametrize(
    ("config", "direction", "dataset"),
    [
        ({"topics": "orders", "my.s3.bucket.name": "b"}, "", ("s3://b", "/")),
        ({"topics": "orders", "gcs.bucket": "b", "topics.dir": "d"}, "", ("gs://b", "d")),
        ({"topics": "orders", "db.url": "jdbc:mysql://db/shop", "db.table": "o"}, "", ("mysql://db:3306", "shop.o")),
        ({"topics": "orders", "service.url": "https://me:pw@api.example.com/x"}, "", ("https://api.example.com:443", "/x")),
        (
            {"topics": "orders", "db.url": "jdbc:mysql://db/shop", "table.name.format": "k_${topic}"},
            "",
            ("mysql://db:3306", "shop.k_orders"),
        ),
        ({"kafka.topic": "orders", "service.url": "http://api:8080/x"}, "", ("http://api:8080", "/x")),
        ({"topics": "orders", "q.url": "https://sqs.eu-west-1.amazonaws.com/12/q"}, "", ("arn:aws:sqs:eu-west-1:12", "q")),
    ],
)
def test_an_unknown_class_is_guessed(config, direction, dataset):
    found = resolve({"connector.class": "com.example.Thing", **config}, ConnectorEvidence(direction=direction))
    assert found.connector.inferred
    assert [outside.dataset for outside in found.datasets] == [dataset]
    assert [EvidenceKind.INFERRED in flow.evidence for flow in found.flows] == [True]
    assert [flow.topic for flow in found.flows] == ["orders"]
    assert "the class com.example.Thing is not known" in found.unknown


def test_an_unknown_class_without_a_place_has_topics_alone():
    found = resolve({"connector.class": "com.example.Thing", "topics": "orders", "tasks.max": "1"})
    assert (found.datasets, [use.name for use in found.topics_in]) == ((), ["orders"])


def test_addresses_of_converters_and_transforms_are_no_datasets():
    config = {
        "connector.class": "com.example.Thing",
        "topics": "orders",
        "value.converter.schema.registry.url": "http://registry:8081",
        "transforms": "a",
        "transforms.a.url": "http://elsewhere",
        "errors.deadletterqueue.host": "x",
    }
    assert resolve(config).datasets == ()


@pytest.mark.parametrize(
    "settings",
    [
        {"ledger.server.password": "s3cr3t", "ledger.server.user": "me"},
        {"server.url": "http://ledger:7200"},
        {"ledger.uri": "host:7051/book"},
        {"s3.token.endpoint": "https://login.example.com/token"},
        {"iceberg.catalog.s3.endpoint": "http://minio:9000/x"},
        {"ledger.auth.url": "https://login.example.com/oauth"},
        {"ledger.host": "h", "ledger.port": "9", "ledger.database": "d", "ledger.table": "t"},
        {"zookeeper.hosts": "zk:2181", "index.name": "i-${topic}"},
        {"ledger.endpoint": "http://api.example.com/v1", "ledger.table": "t"},
        {"ledger.url": "jdbc:oracle:thin:@db:1521:ORCL"},
        {"ledger.url": "amqp://me:pw@mq:5672/vhost"},
        {"ledger.bucket": "b"},
        {"claim.check.s3.bucket": "b"},
        {"ledger.claimcheck.s3.bucket.name": "b"},
        {"gcs.staging.bucket": "b"},
        {"ledger.temp.s3.bucket": "b"},
        {"ledger.dlq.s3.bucket": "b"},
        {"failed.records.s3.bucket": "b"},
        {"large.message.s3.bucket.name": "b"},
        {"ledger.error.url": "http://errors.example.com/orders"},
    ],
)
def test_what_does_not_name_a_dataset_is_no_guess(settings):
    assert resolve({"connector.class": "com.example.Thing", "topics": "orders", **settings}).datasets == ()


@pytest.mark.parametrize(
    ("name", "title"),
    [
        ("FileStreamSource", "File source"),
        ("FileStreamSinkConnector", "File sink"),
        ("PostgresConnector", "Debezium PostgreSQL"),
        ("GeodeKafkaSink", "Geode sink"),
        ("MirrorSource", "MirrorMaker 2"),
        ("JdbcSink", None),
        ("Connector", None),
    ],
)
def test_a_class_has_the_aliases_that_workers_accept(name, title):
    found = lookup(name)
    assert (found and found.title) == title


@pytest.mark.parametrize(
    ("name", "settings", "dataset"),
    [
        (
            "JdbcSourceConnector",
            {"connection.url": "jdbc:mysql://db/shop", "table.whitelist": "orders", "topic.prefix": "x-"},
            ("mysql://db:3306", "shop.orders"),
        ),
        ("S3Sink", {"s3.bucket.name": "lake", "topics": "orders"}, ("s3://lake", "topics/orders")),
        ("S3SinkConnector", {"aws.s3.bucket.name": "lake", "topics": "orders"}, ("s3://lake", "orders")),
        ("RedisSinkConnector", {"redis.hosts": "db:6379", "topics": "orders"}, ("redis://db:6379", "1")),
    ],
)
def test_a_short_name_of_several_classes_is_that_of_the_class_whose_settings_are_there(name, settings, dataset):
    found = resolve({"connector.class": name, **settings})
    assert [outside.dataset for outside in found.datasets] == [dataset]
    assert not found.connector.inferred


def test_a_short_name_of_classes_with_the_same_settings_is_not_known():
    assert resolve({"connector.class": "JdbcSink", "connection.url": "jdbc:mysql://db/shop", "topics": "orders"}).connector.inferred


def test_the_worker_says_the_direction():
    assert not resolve({"connector.class": "com.example.Thing"}, ConnectorEvidence(direction="sink")).is_source
    assert resolve({"connector.class": "com.example.Thing"}, ConnectorEvidence(direction="source")).is_source
    assert not resolve({"connector.class": "com.example.ThingSinkConnector"}).is_source
    assert resolve({"connector.class": "com.example.ThingSourceConnector"}).is_source
