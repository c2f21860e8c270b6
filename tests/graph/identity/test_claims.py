"""What facets claim of namespaces: only what is safe, and nothing that is contradicted."""

import json
from typing import Any

import pytest

from lineage_bridge.graph.identity.claims import NamespaceClaim, read_claims, uncontradicted

B1, B2 = "kafka://b1.example.com:9092", "kafka://b2.example.com:9092"
PKC = "kafka://pkc-abc.eu-west-1.aws.confluent.cloud:9092"


def cluster(namespace: str, id_: Any = "lkc-1", **more: Any) -> set[tuple[str, str, str]]:
    """(kind, from, to) of what the facet of the topic `t` claims."""
    return claims_of(namespace, "t", "confluent_kafka", cluster_id=id_, **more)


def source(namespace: str, uri: str, name: str = "t") -> set[tuple[str, str, str]]:
    return claims_of(namespace, name, "dataSource", name="a source", uri=uri)


def claims_of(namespace: str, topic: str, key: str, /, **facet: Any) -> set[tuple[str, str, str]]:
    made = read_claims(namespace, topic, key, json.dumps(facet).encode())
    return {
        ("space", c.a_namespace, c.b_namespace) if c.whole else ("name", f"{c.a_namespace} {c.a_name}", f"{c.b_namespace} {c.b_name}")
        for c in made
    }


def test_a_server_is_of_the_cluster_that_its_topics_lie_in() -> None:
    assert cluster(B1) == {("space", B1, "kafka://lkc-1")}
    assert cluster("kafka://B1.example.com:9092,b2.example.com:9092") == {("space", server, "kafka://lkc-1") for server in (B1, B2)}
    assert cluster("confluent://env-1/lkc-1", bootstrap_servers="b1.example.com:9092") == {("space", B1, "kafka://lkc-1")}
    assert cluster("confluent://env-1/lkc-1", kafka_bootstrap_endpoint="SASL_SSL://b1.example.com:9092") == {("space", B1, "kafka://lkc-1")}
    assert source("confluent://env-1/lkc-1", B1) == {("space", B1, "kafka://lkc-1")}
    assert source(B1, "kafka://lkc-1") == {("space", B1, "kafka://lkc-1")}


def test_a_server_that_clusters_share_names_the_topic_alone() -> None:
    assert cluster(PKC) == {("name", f"{PKC} t", "kafka://lkc-1 t")}
    assert cluster("confluent://env-1/lkc-1", bootstrap_servers=PKC.removeprefix("kafka://")) == set()


@pytest.mark.parametrize(
    "namespace",
    [
        *(f"kafka://{host}:9092" for host in ("localhost", "127.0.0.1", "10.1.2.3", "192.168.0.1", "[::1]", "kafka", "broker-1")),
        *(f"kafka://{host}:9092" for host in ("kafka.default.svc.cluster.local", "host.docker.internal", "ip-10-0-0-1.ec2.internal")),
        *("kafka", "kafka://null:-1", "streaming-platform", "s3://lake", "confluent://env-1/lkc-2", "kafka://lkc-2"),
    ],
)
def test_a_name_that_many_bear_or_that_is_no_server_claims_nothing(namespace: str) -> None:
    assert cluster(namespace) == set()
    assert {end for _, end, _ in source(namespace, f"{B1},b2.example.com:9092")} <= ({B1, B2} if "lkc-2" in namespace else set())


@pytest.mark.parametrize("id_", ["MkU3OEVBNTcwNTJENDM2Qk", "", "lkc-1/x", "LKC-1", 7, None, ["lkc-1"]])
def test_an_id_that_is_not_the_cluster_s_own_everywhere_claims_nothing(id_: Any) -> None:
    assert cluster(B1, id_) == set()


def test_a_list_of_servers_that_the_namespace_is_one_of_is_one_cluster() -> None:
    assert source(B1, f"{B1},b2.example.com:9092") == {("space", B1, B2)}
    assert source(B1, f"{B1},localhost:9092") == set()
    assert source(B1, B2) == set()
    assert source(B1, "https://confluent.cloud/environments/env-1") == set()
    assert source("kafka://lkc-1", "kafka://lkc-2,b1.example.com:9092") == set()


def test_a_driver_s_address_names_the_system_of_the_same_server() -> None:
    expected = {("name", "jdbc://db.example.com:5432 public.orders", "postgres://db.example.com:5432 shop.public.orders")}
    assert source("jdbc://db.example.com:5432", "jdbc:postgresql://db.example.com:5432/shop?ssl=true", "public.orders") == expected
    assert source("jdbc://db.example.com:5432", "jdbc:postgresql://db.example.com/shop", "public.orders") == expected
    for namespace, uri, name in (
        ("jdbc://db.example.com:5432", "jdbc:postgresql://db.example.com:5432/shop", "orders"),
        ("jdbc://db.example.com:5432", "jdbc:postgresql://pool.example.com:5432/shop", "public.orders"),
        ("jdbc://db.example.com:5432", "jdbc:postgresql://db.example.com:6432/shop", "public.orders"),
        ("jdbc://localhost:5432", "jdbc:postgresql://localhost:5432/shop", "public.orders"),
        ("postgres://db.example.com:5432", "jdbc:postgresql://pool.example.com:5432/shop", "shop.public.orders"),
        ("shop", "jdbc:postgresql://db.example.com:5432/shop", "public.orders"),
    ):
        assert source(namespace, uri, name) == set(), (namespace, uri)


def test_what_is_withdrawn_or_cannot_be_read_claims_nothing() -> None:
    assert read_claims(B1, "t", "confluent_kafka", b'{"cluster_id": "lkc-1", "_deleted": true}') == ()
    assert read_claims(B1, "t", "confluent_kafka", b"no facet") == ()
    assert read_claims(B1, "t", "dataSource", b'{"uri": 7}') == ()


def test_what_is_claimed_to_be_two_is_neither() -> None:
    first, second = (NamespaceClaim(1, B1, "", f"kafka://lkc-{n}", "", "confluent_kafka", 1) for n in (1, 2))
    listed = NamespaceClaim(1, B1, "", B2, "", "dataSource", 0)
    assert uncontradicted([first, listed]) == [first, listed]
    assert uncontradicted([first, second, listed]) == [listed]
    assert uncontradicted([first, first._replace(evidence="dataSource")]) == [first, first._replace(evidence="dataSource")]
