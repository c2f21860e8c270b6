"""Aliases over HTTP: stated, vetoed, lifted, listed with their evidence; names found and spelt in every way."""

from typing import Any

import pytest
from tests.api.support import Server
from tests.corpora.aliases import between_names, between_namespaces
from tests.events import T0, dataset, facet, run_event

from lineage_bridge.graph.ids import DAY_US
from lineage_bridge.openlineage.times import format_time

KAFKA, CONFLUENT = "kafka://a:9092", "confluent://env-1/lkc-1"


def order(server: Server, operation: str, *statements: dict[str, Any]) -> dict[str, Any]:
    server.parts.now_us += 1
    response = server.client.post(f"/api/v1/operations/{operation}", json={"aliases": list(statements)})
    assert response.status_code == 202, response.text
    server.fold()
    found: dict[str, Any] = response.json()
    return found


@pytest.fixture
def filled(server: Server) -> Server:
    link = facet(identifiers=[{"namespace": "hive://h:1", "name": "db.t", "type": "TABLE"}])
    outputs = [dataset("lake/t/dt=1", "s3a://b", symlinks=link), dataset("p.d.t", "bigquery")]
    server.client.post("/api/v1/lineage", content=run_event(inputs=[dataset("orders", KAFKA)], outputs=outputs))
    server.fold()
    return server


def aliases(server: Server, **parameters: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = server.client.get("/api/v1/aliases", params=parameters).json()["aliases"]
    return found


def test_an_alias_is_stated_vetoed_and_lifted(filled: Server) -> None:
    statement = between_namespaces(CONFLUENT, KAFKA, evidence="the cluster's page")
    assert order(filled, "alias", statement)["aliases"] == 1
    (item,) = aliases(filled, kind="operator")
    assert (item["a"], item["b"], item["evidence"], item["standing"]) == (
        {"namespace": CONFLUENT},
        {"namespace": KAFKA},
        "the cluster's page",
        True,
    )
    assert detail(filled, CONFLUENT, "orders")["namespace"] == KAFKA
    order(filled, "veto", statement)
    assert [item["standing"] for item in aliases(filled, kind="operator")] == [False]
    assert len(aliases(filled, kind="veto")) == 1
    assert filled.client.get("/api/v1/lineage/datasets/detail", params={"namespace": CONFLUENT, "name": "orders"}).status_code == 404
    order(filled, "lift", statement)
    assert detail(filled, CONFLUENT, "orders")["namespace"] == KAFKA


def test_names_that_nothing_has_are_told(filled: Server) -> None:
    assert "unknown" not in order(
        filled, "alias", between_namespaces("bigquery", KAFKA), between_names((KAFKA, "orders"), ("s3://b", "lake/t"))
    )
    found = order(filled, "alias", between_names((KAFKA, "order"), ("nowhere", "t")), between_namespaces("nowhere", KAFKA))
    assert found["unknown"] == [
        {"entity": "dataset", "namespace": KAFKA, "name": "order"},
        {"entity": "dataset", "namespace": "nowhere", "name": "t"},
        {"entity": "dataset", "namespace": "nowhere"},
    ]
    assert "unknown" not in order(filled, "prefer", {"a": {"namespace": "hive://h:1", "name": "db.t"}})
    other = {"a": {"namespace": KAFKA, "name": "orders"}, "entity": "job"}
    assert order(filled, "prefer", other)["unknown"] == [{"entity": "job", "namespace": KAFKA, "name": "orders"}]
    assert "unknown" not in order(filled, "veto", {"kind": "rule", "evidence": "path-key-value"})
    many = [between_names((KAFKA, f"n{number}"), (KAFKA, f"m{number}")) for number in range(200)]
    assert len(order(filled, "veto", *many)["unknown"]) == 100


def test_an_alias_can_be_stated_before_there_is_a_graph(server: Server) -> None:
    assert "unknown" not in server.client.post("/api/v1/operations/alias", json={"aliases": [between_namespaces(CONFLUENT, KAFKA)]}).json()


def detail(server: Server, namespace: str, name: str, **more: str) -> dict[str, Any]:
    response = server.client.get("/api/v1/lineage/datasets/detail", params={"namespace": namespace, "name": name, **more})
    assert response.status_code == 200, response.text
    found: dict[str, Any] = response.json()
    return found


def test_every_alias_has_its_evidence(filled: Server) -> None:
    found = {(item["kind"], item["evidence"]) for item in aliases(filled)}
    assert {("symlink", "TABLE"), ("rule", "scheme-s3a"), ("rule", "path-key-value")} <= found
    assert {item["kind"] for item in aliases(filled, namespace="hive://h:1", name="db.t")} == {"symlink"}
    order(filled, "veto", {"kind": "rule", "evidence": "path-key-value"})
    assert {item["evidence"]: item["standing"] for item in aliases(filled, kind="rule")} == {"scheme-s3a": True, "path-key-value": False}


def test_a_symlink_names_who_states_it_and_whether_that_was_long_ago(filled: Server) -> None:
    (item,) = aliases(filled, kind="symlink")
    assert "stale" not in item
    assert item["asserters"] == 1
    assert item["asserted_by"] == [{"kind": "job", "namespace": "jobs", "name": "job", "last_at": format_time(T0)}]
    filled.parts.now_us = T0 + 31 * DAY_US
    (item,) = aliases(filled, kind="symlink")
    assert (item["stale"], item["standing"]) == (True, True)


def test_aliases_come_in_pages(filled: Server) -> None:
    every = aliases(filled)
    first = filled.client.get("/api/v1/aliases", params={"limit": 1})
    assert first.json()["aliases"] == every[:1]
    assert 'rel="next"' in first.headers["Link"]
    assert aliases(filled, limit="1", offset="1") == every[1:2]


def test_a_name_is_found_by_any_spelling_and_shown_in_the_requested_style(filled: Server) -> None:
    assert detail(filled, "s3://b", "/lake/t")["canonical"] == {"namespace": "hive://h:1", "name": "db.t"}
    assert detail(filled, "google://p/d", "t")["canonical"] == {"namespace": "bigquery", "name": "p.d.t"}
    order(filled, "alias", between_namespaces(CONFLUENT, KAFKA))
    for style, namespace in (("standard", KAFKA), ("lineagebridge", CONFLUENT)):
        assert detail(filled, KAFKA, "orders", names=style)["canonical"]["namespace"] == namespace
        asked = {"namespace": KAFKA, "name": "orders", "direction": "downstream", "names": style}
        lineage = filled.client.get("/api/v1/lineage/datasets/lineage", params=asked).json()
        assert lineage["origin"] == {"namespace": namespace, "name": "orders"}
        assert lineage["events"][0]["inputs"] == [{"namespace": namespace, "name": "orders"}]
        near = filled.client.get("/api/v1/graph/neighbourhood", params=asked).json()
        (topic,) = (node for node in near["nodes"] if node["name"] == "orders")
        assert topic.get("goes_by", {"namespace": KAFKA})["namespace"] == namespace


@pytest.mark.parametrize(
    "body",
    [
        {"aliases": []},
        {"aliases": [between_names((KAFKA, "t"), (KAFKA, "t"))]},
        {"aliases": [{"a": {"namespace": "x"}, "b": {"namespace": "y", "name": "n"}}]},
        {"aliases": [between_names((KAFKA, "t"), ("b", "t"), kind="rule")]},
        {"aliases": [between_names((KAFKA, "t"), ("b", "t"), entity="column")]},
        {"aliases": "none"},
        {},
    ],
)
def test_an_invalid_alias_is_refused(filled: Server, body: dict[str, Any]) -> None:
    before = len(filled.stored())
    assert filled.client.post("/api/v1/operations/alias", json=body).status_code == 422
    assert len(filled.stored()) == before


def test_only_this_machine_may_state_aliases(filled: Server) -> None:
    far = filled.client_of(peer="10.0.0.9")
    assert far.post("/api/v1/operations/veto", json={"aliases": [{"kind": "rule", "evidence": "path-date"}]}).status_code == 403


def test_a_name_needs_its_namespace(filled: Server) -> None:
    assert filled.client.get("/api/v1/aliases", params={"name": "t"}).status_code == 422
