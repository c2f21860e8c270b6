"""A real registry, observed: Apicurio, which lacks the listing of schemas and modes, so each subject is asked for."""

import json
from collections.abc import Iterator
from typing import Any

import pytest
from tests.api.support import Server
from tests.events import T0
from tests.servers.registry import Registry
from tests.servers.web import faulty

from lineage_bridge.errors import SourceError
from lineage_bridge.openlineage.event_builder import encode
from lineage_bridge.sources.common.observer import Observation
from lineage_bridge.sources.common.registry.settings import RegistrySettings
from lineage_bridge.sources.common.shared_metadata import VALUE, ClusterMetadata, SharedMetadata
from lineage_bridge.sources.registry.observer import RegistryObserver

SPACE = "kafka://b1:9092"
HOUR = 3_600_000_000
BUYER = {"type": "record", "name": "Buyer", "namespace": "shop", "fields": [{"name": "mail", "type": "string", "confluent:tags": ["PII"]}]}
ORDER: dict[str, Any] = {
    "type": "record",
    "name": "Order",
    "namespace": "shop",
    "doc": "an order",
    "fields": [{"name": "id", "type": "long"}, {"name": "by", "type": "shop.Buyer"}],
}
MONEY = 'syntax = "proto3"; package shop; message Money { int64 units = 1; }'
BILL = 'syntax = "proto3"; package shop; import "money.proto"; message Bill { Money sum = 1; map<string, int32> lines = 2; }'
STREET = {"type": "object", "properties": {"street": {"type": "string"}}}
PERSON = {"type": "object", "title": "Person", "properties": {"home": {"$ref": "street.json"}, "age": {"type": "integer"}}}


class Watch:
    """An observer of the subjects that begin with a prefix, and the graph it tells."""

    def __init__(self, url: str, prefix: str, graph: Server, *topics: str) -> None:
        self.observer = RegistryObserver("r", RegistrySettings(url=url, subjects=(f"{prefix}*",), timeout_s=10))
        self.around = SharedMetadata((ClusterMetadata("c1", SPACE, topics=frozenset(f"{prefix}{topic}" for topic in topics)),))
        self.graph, self.snapshot, self.hour = graph, None, 0

    def poll(self) -> Observation:
        seen = self.observer.observe(self.snapshot, self.around, T0 + self.hour * HOUR)
        self.snapshot, self.hour = json.loads(json.dumps(seen.snapshot)), self.hour + 1
        if seen.events:
            self.graph.send(*map(encode, seen.events))
        return seen


@pytest.fixture
def watching(registry: Registry, graph: Server) -> Iterator[Watch]:
    watch = Watch(registry.url, "seen-", graph, "orders", "bills", "people")
    yield watch
    watch.observer.close()


def shape(fields: list[dict[str, Any]]) -> dict[str, Any]:
    return {field["name"]: shape(field["fields"]) if field.get("fields") else field["type"] for field in fields}


def test_all_kinds_of_schemas_and_their_history(registry: Registry, graph: Server, watching: Watch) -> None:
    registry.register("seen-buyer", BUYER)
    registry.register("seen-orders-value", ORDER, references={"shop.Buyer": "seen-buyer"})
    registry.register("seen-orders-key", '"string"')
    registry.register("seen-money.proto", MONEY, "PROTOBUF")
    registry.register("seen-bills-value", BILL, "PROTOBUF", {"money.proto": "seen-money.proto"})
    registry.register("seen-street.json", STREET, "JSON")
    registry.register("seen-people-value", PERSON, "JSON", {"street.json": "seen-street.json"})
    seen = watching.poll()
    assert (len(seen.events), seen.unseen) == (3, ())
    shapes = {
        topic: shape(graph.ask("/graph/schemas", namespace=SPACE, name=f"seen-{topic}")["versions"][0]["fields"])
        for topic in ("orders", "bills", "people")
    }
    assert shapes == {
        "orders": {"id": "long", "by": {"mail": "string"}, "_key": "string"},
        "bills": {"sum": {"units": "int64"}, "lines": {"key": "string", "value": "int32"}},
        "people": {"home": {"street": "string"}, "age": "integer"},
    }
    assert [field.name for field in watching.observer.shared_metadata(seen.snapshot).fields((SPACE, "seen-people"), VALUE)] == [
        "home",
        "age",
    ]
    assert watching.poll().events == ()

    registry.register(
        "seen-orders-value",
        {**ORDER, "fields": [*ORDER["fields"], {"name": "note", "type": ["null", "string"], "default": None}]},
        references={"shop.Buyer": "seen-buyer"},
    )
    registry.ask("PUT", "/config/seen-bills-value", {"compatibility": "FULL"})
    facets_of = {event["dataset"]["name"]: event["dataset"]["facets"] for event in watching.poll().events}
    assert facets_of["seen-bills"]["schema_registry"]["subjects"][0]["compatibility"] == "FULL"
    assert facets_of["seen-orders"]["version"]["datasetVersion"].startswith("seen-orders-value version 2, id ")
    versions = graph.ask("/graph/schemas", namespace=SPACE, name="seen-orders")["versions"]
    assert [list(shape(version["fields"])) for version in versions] == [["id", "by", "note", "_key"], ["id", "by", "_key"]]
    change = graph.ask("/graph/schemas/diff", namespace=SPACE, name="seen-orders")
    assert change["added"] == [{"path": ["note"], "type": "string"}]

    registry.ask("DELETE", "/subjects/seen-people-value")
    (gone,) = watching.poll().events
    assert gone["dataset"]["facets"]["schema"]["_deleted"] is True


def test_what_fails_reports_nothing(registry: Registry, graph: Server) -> None:
    registry.register("lost-orders-value", BUYER)
    with faulty.before(registry.url) as proxy:
        watch = Watch(proxy.url, "lost-", graph, "orders")
        assert len(watch.poll().events) == 1
        proxy.cut("/subjects/lost-orders-value/versions/latest")
        seen = watch.poll()
        assert (seen.events, [unseen.what for unseen in seen.unseen]) == ((), ["subject lost-orders-value"])
        proxy.mend()
        proxy.answer(200, "/subjects?", body=b"<html>")
        with pytest.raises(SourceError, match="not return JSON"):
            watch.poll()
        proxy.mend()
        assert watch.poll().events == ()
        watch.observer.close()


def test_a_test_of_the_source(registry: Registry, graph: Server) -> None:
    registry.register("tried-value", BUYER)
    watch = Watch(registry.url, "tried-", graph)
    checks = {check.step: check for check in watch.observer.test()}
    assert all(check.works for check in checks.values())
    assert checks["schemas"].message == "the newest of tried-value is version 1"
    watch.observer.close()
