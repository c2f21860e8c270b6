"""The language of the catalogue: templates over settings, filters, and templates read backwards."""

import re

import pytest

from lineage_bridge.sources.common.connect.catalogue.filters import server
from lineage_bridge.sources.common.connect.catalogue.templates import fault, fill, holes, invert, is_unreadable

CONFIG = {
    "host": "db.example.com",
    "port": "77",
    "empty": "",
    "hidden": "${file:/secrets:host}",
    "url": "https://me:pw@api.example.com/v1/x?y=1",
    "plain": "http://api.example.com:8080",
    "list": "a, b,,c",
    "by.orders": "O",
    "format": "kafka_${topic}",
    "source.format": "${source.schema}_${source.table}",
    "sanitizeTopics": "true",
    "vendor.bucket": "travel",
}


@pytest.mark.parametrize(
    ("template", "expected"),
    [
        ("x://{host}:{port}", "x://db.example.com:77"),
        ("{none|host}", "db.example.com"),
        ("{none|=there}", "there"),
        ("{none|=}", ""),
        ("{none}", None),
        ("{empty}", None),
        ("{hidden}", None),
        ("{hidden|host}", None),
        ("{hidden|=x}", None),
        ("{hidden|topic}", None),
        ("a[.{none}]", "a"),
        ("a[.{port}]", "a.77"),
        ("[{host}[:{none}]/]{port}", "db.example.com/77"),
        ("{none}.x||{host}", "db.example.com"),
        ("{none}||{empty}", None),
        ("{host!address:port}", "db.example.com:77"),
        ("{plain!address:port}", "api.example.com:8080"),
        ("{url!address:none}", "api.example.com"),
        ("{url!scheme}://{url!web}{url!path}", "https://api.example.com:443/v1/x"),
        ("{plain!web}{plain!path}", "api.example.com:8080/"),
        ("{plain!host}", "api.example.com"),
        ("{list!first}", "a"),
        ("{host!last!lower}", "com"),
        ("{host!match:^([^.]+)}", "db"),
        ("{host!match:(zzz)}", None),
        ("{host!without:.example.com}", "db"),
        ("{host!underscore}", "db_example_com"),
        ("{=Logs!lower!unless:none}", "logs"),
        ("{=NONE!lower!unless:none}", None),
        ("{=a!qualified:public}", "public.a"),
        ("{=s.a!qualified:public}", "s.a"),
        ("{=!either:yes,no}{=x!either:yes,no}", "noyes"),
        ("{=/a/b/!folder}", "a/b"),
        ("[{=!some}]x", "x"),
        ("{by.<topic>|topic}", "O"),
        ("{format!expand}", "kafka_orders"),
        ("{=$topic-index!expand}", "orders-index"),
        ("{=my-topic!snowflake}", "my_topic_1894580786"),
        ("{=my_topic!snowflake}", "my_topic"),
        ("{=a-b!snowflake}", "a_b_94710"),
        ("{=1-a!snowflake}", "_1_a_48581"),
        ("{=a.b-c!bigquery}", "a_b_c"),
    ],
)
def test_a_template_is_filled(template, expected):
    assert fill(template, CONFIG, {"topic": "orders"}) == expected


def test_variables_of_a_setting():
    scope = {"topic": "cdc.public.orders"}
    assert fill("{source.format!expand}", CONFIG, scope) == "public_orders"
    assert fill("{=$topic!expand:_}", CONFIG, scope) == "cdc_public_orders"
    assert fill("{source.format!expand}", CONFIG, {"topic": "orders"}) is None


def test_variables_may_be_other_settings():
    config = {**CONFIG, "t": "${bucket}.${collection}", "u": "${nowhere}"}
    assert fill("{t!expand}", config, {"object": "travel.inventory.hotel"}) == "travel.hotel"
    assert fill("{u!expand}", config, {}) is None


def test_bigquery_keeps_what_it_may_unless_told_to_clean():
    assert fill("{=a.b-c!bigquery}", {}) == "a_b-c"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("h", "h"),
        ("h1:1,h2:2", "h1:1"),
        ("mongodb://u:p@h1:1,h2:2/db?x", "h1:1"),
        ("rs0/h:27017", "h:27017"),
        ("jdbc:oracle:thin:@//h:1521/S", "h:1521"),
        ("jdbc:oracle:thin:@h:1521/S", "h:1521"),
        ("jdbc:sqlserver://h:1433;databaseName=d", "h:1433"),
        ("failover:(tcp://h:61616,tcp://i:61616)", "h:61616"),
        ("tcp://u:p@h:1883", "h:1883"),
    ],
)
def test_the_first_server_of_an_address(text, expected):
    assert server(text) == expected


@pytest.mark.parametrize(
    ("template", "text", "value"),
    [
        ("{host}.{object}", "db.example.com.public.orders", "public.orders"),
        ("[{none}.]{object}", "orders", "orders"),
        ("[{port}-]{object}[-{none}]", "77-orders", "orders"),
        ("{host}.{object}", "dbxexample.com.orders", None),
        ("{none}.{object}", "a.b", None),
        ("{wrap|object!expand}", "pre-orders-post", "orders"),
        ("{host}", "db.example.com", None),
        ("{twice|object}", "a-b", None),
    ],
)
def test_a_template_is_read_backwards(template, text, value):
    config = {**CONFIG, "wrap": "pre-${fullyQualifiedTableName}-post", "twice": "${a}-${b}"}
    pattern = invert(template, "object", config)
    match = pattern.fullmatch(text) if pattern else None
    assert (match["value"] if match else None) == value


def test_what_a_template_asks_for():
    assert holes("{a|=x}[.{b|object!lower}]||{c}") == ["a", "b", "object", "c"]


@pytest.mark.parametrize(
    ("template", "wrong"),
    [
        ("{a}[.{b}]", ""),
        ("{a!match:^([^:]+)}", ""),
        ("[{a}", "unmatched"),
        ("{a}]", "unmatched"),
        ("{a", "unmatched"),
        ("a}", "unmatched"),
        ("{a!x}", "filter x"),
    ],
)
def test_a_fault_of_a_template_is_reported(template, wrong):
    assert bool(fault(template)) is bool(wrong)
    assert re.search(wrong, fault(template))


@pytest.mark.parametrize(
    "value",
    ["caf%C3%A9", "%E4%BD%A0", r"shop\.\p{L}+", r"\$OLD_\w+", "${topic}", "kafka_${topic}", "V$SESSION", "__consumer_offsets", "50%"],
)
def test_a_value_that_looks_like_one_to_fill_in_is_read(value):
    assert not is_unreadable(value)
    assert is_unreadable(f"{value}%BUCKET%")
