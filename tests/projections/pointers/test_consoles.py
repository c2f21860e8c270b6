"""The pages of consoles: made of observed ids alone, and never of anything that is not an ordinary address."""

import json
from typing import Any

import pytest

from lineage_bridge.graph.ids import NodeKind
from lineage_bridge.model.graph import Node
from lineage_bridge.projections.pointers.consoles import console_links

CLUSTER = {"environment_id": "env-7", "cluster_id": "lkc-9"}


def links(namespace: str, name: str, kind: NodeKind = NodeKind.DATASET, **facets: Any) -> list[tuple[str, str]]:
    texts = {key: json.dumps(facet) for key, facet in facets.items()}
    return [(link.title, link.url) for link in console_links([Node(1, kind, namespace, name)], texts)]


@pytest.mark.parametrize(
    ("namespace", "name", "url"),
    [
        ("unitycatalog://dbc-1.cloud.databricks.com", "main.sales.a b", "https://dbc-1.cloud.databricks.com/explore/data/main/sales/a%20b"),
        ("bigquery", "shop.sales.orders", "https://console.cloud.google.com/bigquery?p=shop&d=sales&t=orders&page=table"),
        (
            "arn:aws:glue:eu-west-1:123456789012",
            "table/sales/orders",
            (
                "https://eu-west-1.console.aws.amazon.com/glue/home?region=eu-west-1"
                "#/v2/data-catalog/tables/view/orders?database=sales&catalogId=123456789012"
            ),
        ),
    ],
)
def test_a_table_of_a_catalog_has_the_page_of_its_name(namespace: str, name: str, url: str) -> None:
    assert [address for _, address in links(namespace, name)] == [url]


def test_what_is_on_confluent_cloud_has_the_page_of_its_ids() -> None:
    base = "https://confluent.cloud/environments/env-7"
    topic = links("confluent://env-7/lkc-9", "orders/eu", confluent_kafka=CLUSTER)
    assert topic == [("Confluent Cloud", f"{base}/clusters/lkc-9/topics/orders%2Feu")]
    connector = links("confluent://env-7/lkc-9", "cdc", NodeKind.JOB, confluent_connector=CLUSTER)
    assert connector == [("Confluent Cloud", f"{base}/clusters/lkc-9/connectors")]
    statement = {"environment_id": "env-7", "statement": "enrich-1"}
    job = links("confluent://env-7", "flink/enrich-1", NodeKind.JOB, confluent_flink_statement=statement)
    assert job == [("Confluent Cloud", f"{base}/flink/statements/enrich-1/activity")]


def test_other_names_of_a_topic_make_no_further_pages() -> None:
    names = [Node(1, NodeKind.DATASET, "confluent://env-7/lkc-9", "orders"), Node(2, NodeKind.DATASET, "kafka://b:9092", "other")]
    assert len(console_links(names, {"confluent_kafka": json.dumps(CLUSTER)})) == 1


def test_an_observer_states_the_page_of_a_job() -> None:
    console = {"title": "Flink", "url": "http://flink:8081/#/job/running/1/overview"}
    assert links("flink://c", "enrich", NodeKind.JOB, lineagebridge_console=console) == [(console["title"], console["url"])]


@pytest.mark.parametrize(
    "url",
    [
        "javascript:alert(1)",
        "data:text/html,x",
        "ftp://host/a",
        "//host/a",
        "https://",
        "https://user:secret@host/a",
        "https://host/a b",
        "https://host/\u202egpj",
        "https://[host/a",
        "https:\\\\host",
        "https://host/" + "a" * 2_000,
        7,
    ],
)
def test_an_address_that_is_none_of_the_web_is_left_out(url: object) -> None:
    assert links("ns", "a", lineagebridge_console={"title": "x", "url": url}, dataSource={"name": "x", "uri": url}) == []


@pytest.mark.parametrize("wrong", [{"environment_id": "env-7"}, {"environment_id": "../x", "cluster_id": "lkc-9"}, {"cluster_id": 7}])
def test_no_page_is_made_of_ids_that_are_none(wrong: dict[str, Any]) -> None:
    assert links("confluent://env-7/lkc-9", "orders", confluent_kafka=wrong) == []
    assert links("confluent://env-7/lkc-9", "cdc", NodeKind.JOB, confluent_connector=wrong) == []
    assert links("confluent://env-7", "flink/x", NodeKind.JOB, confluent_flink_statement=wrong) == []
    assert links("unitycatalog://evil/x?", "a.b.c") == links("arn:aws:glue:eu west:1", "table/a/b") == links("bigquery", "a.b") == []


@pytest.mark.parametrize(
    ("title", "shown"),
    [("Flink\x1b]0;x\x07\nerror", "Flink ]0;x  error"), ("a" * 101, "a" * 100 + "…"), ("a" * 9_999, "a" * 100 + "…"), ("\u202e", "host")],
)
def test_a_title_steers_no_terminal_and_is_short(title: str, shown: str) -> None:
    assert links("ns", "a", lineagebridge_console={"title": title, "url": "https://host:1/a"}) == [(shown, "https://host:1/a")]
