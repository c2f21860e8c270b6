"""A registry is its environment's: subjects describe topics in each cluster that has them."""

import json
from typing import Any

import pytest
from tests.sources.http import Reply, Request, Standin, standing
from tests.sources.registry.confluent import Confluent

from lineage_bridge.errors import SourceError
from lineage_bridge.sources.common.observer import Observation
from lineage_bridge.sources.common.shared_metadata import KEY, VALUE, ClusterMetadata, SharedMetadata
from lineage_bridge.sources.confluent.clients import Clients
from lineage_bridge.sources.confluent.organization import Environment, KafkaCluster, Organization, SchemaRegistry
from lineage_bridge.sources.confluent.plane import PlaneContext
from lineage_bridge.sources.confluent.registry.plane import planes
from lineage_bridge.sources.confluent.settings import ConfluentSettings, Credential

NOW, MINUTE = 1_780_000_000_000_000, 60_000_000
ONE, TWO, LSRC = "confluent://env-1/lkc-1", "confluent://env-1/lkc-2", "confluent://env-1/lsrc-1"
TOPICS = {"lkc-1": ("orders", "clicks"), "lkc-2": ("orders", "audit")}
SECRET = Credential(key="SR", secret="${env:SR_SECRET}")


def record(*names: str, name: str = "Order", **more: Any) -> str:
    return json.dumps(
        {"type": "record", "name": name, "namespace": "acme", **more, "fields": [{"name": field, "type": "long"} for field in names]}
    )


class Polling:
    """A registry that is polled repeatedly."""

    def __init__(self, server: Standin, registry: Confluent, **settings_: Any) -> None:
        self.server, self.registry, self.now_us, self.last = server, registry, NOW, None
        self.topics: dict[str, tuple[str, ...] | None] = dict(TOPICS)
        self.metadata: dict[str, Any] = {}
        clusters = tuple(KafkaCluster(id_, "env-1", id_) for id_ in TOPICS)
        self.organization = Organization(
            "org-1", (Environment("env-1", "prod"),), clusters, (SchemaRegistry("lsrc-1", "env-1", server.url),)
        )
        settings = ConfluentSettings(registry={"env-1": SECRET}, timeout_s=20, **settings_)
        (self.plane,) = planes(PlaneContext(self.organization, self.organization, Clients(settings), settings))

    last: Observation | None

    def poll(self) -> Observation:
        clusters = tuple(
            ClusterMetadata(id_, f"confluent://env-1/{id_}", topics=None if topics is None else frozenset(topics))
            for id_, topics in self.topics.items()
        )
        before = json.loads(json.dumps(self.last.snapshot)) if self.last else None
        fetched = self.plane.fetch(before, self.now_us)
        self.last = self.plane.translate(fetched, before, SharedMetadata(clusters, **self.metadata), self.now_us)
        self.now_us += MINUTE
        return self.last

    def facets(self) -> dict[str, dict[str, Any]]:
        """Poll, and return the facets of each topic's last event."""
        return {f"{event['dataset']['namespace']} {event['dataset']['name']}": event["dataset"]["facets"] for event in self.poll().events}


@pytest.fixture
def polling(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.setenv("SR_SECRET", "s3cret")
    registry = Confluent()
    with standing(Standin(registry, "SR:s3cret")) as server:
        yield Polling(server, registry)


def fields(facets: dict[str, Any]) -> list[str]:
    return [field["name"] for field in facets["schema"]["fields"]]


def test_a_subject_describes_the_topic_in_every_cluster_that_has_it(polling: Polling) -> None:
    polling.registry.register("orders-value", record("id"))
    polling.registry.register("orders-key", '"string"')
    polling.registry.register("audit-acme.Entry", record("at", name="Entry"))
    polling.registry.register("ghost-value", record("x"))
    emitted = polling.facets()
    assert {name: fields(facets) for name, facets in emitted.items()} == {
        f"{ONE} orders": ["id", "_key"],
        f"{TWO} orders": ["id", "_key"],
        f"{TWO} audit": ["at"],
    }
    assert emitted[f"{ONE} orders"]["schema_registry"]["registry"] == "env-1/lsrc-1"
    assert polling.last is not None
    assert [unseen.what for unseen in polling.last.unseen] == ["subjects without a topic"]
    shared = polling.plane.shared_metadata(json.loads(json.dumps(polling.last.snapshot)))
    assert [field.name for field in shared.fields((TWO, "orders"), VALUE)] == ["id"]
    assert shared.schemas[(ONE, "orders"), KEY].rank == 0
    assert polling.facets() == {}
    polling.registry.register("orders-value", record("id", "amount"))
    assert {name: fields(facets) for name, facets in polling.facets().items()} == {
        f"{ONE} orders": ["id", "amount", "_key"],
        f"{TWO} orders": ["id", "amount", "_key"],
    }


def test_a_registry_is_read_with_a_few_calls(polling: Polling) -> None:
    for number in range(40):
        polling.registry.register(f"t{number}-value", record("id"))
    polling.topics = {"lkc-1": tuple(f"t{number}" for number in range(40)), "lkc-2": ()}
    assert len(polling.facets()) == 40
    assert len(polling.server.asked) <= 5
    assert polling.facets() == {}


def test_a_cluster_with_unknown_topics_gets_no_schemas(polling: Polling) -> None:
    polling.registry.register("orders-value", record("id"))
    polling.poll()
    polling.topics["lkc-2"] = None
    polling.registry.register("orders-value", record("id", "amount"))
    assert list(polling.facets()) == [f"{ONE} orders"]
    assert polling.last is not None
    assert [unseen.what for unseen in polling.last.unseen] == ["topics of lkc-2"]
    polling.topics["lkc-2"] = ("orders",)
    assert list(polling.facets()) == [f"{TWO} orders"]


def test_catalog_tags_of_topics_and_columns_are_emitted(polling: Polling) -> None:
    schema_id = polling.registry.register("orders-value", record("id", "card", doc="Told by the schema"))
    assert polling.facets()[f"{ONE} orders"]["documentation"]["description"] == "Told by the schema"
    polling.metadata = {
        "tags": {(ONE, "orders"): frozenset(("gold",)), (LSRC, f".:{schema_id.id}:acme.Order.card"): frozenset(("PCI",))},
        "described": frozenset(((ONE, "orders"),)),
    }
    emitted = polling.facets()
    tags = {name: [(tag.get("field", ""), tag["key"]) for tag in facets["tags"]["tags"]] for name, facets in emitted.items()}
    assert tags == {f"{ONE} orders": [("", "gold"), ("card", "PCI")], f"{TWO} orders": [("card", "PCI")]}
    assert "documentation" not in emitted[f"{ONE} orders"]
    assert polling.facets() == {}
    polling.registry.delete("orders-value")
    emitted = polling.facets()
    assert [tag["key"] for tag in emitted[f"{ONE} orders"]["tags"]["tags"]] == ["gold"]
    assert emitted[f"{TWO} orders"]["tags"]["_deleted"]
    assert emitted[f"{ONE} orders"]["schema"]["_deleted"]


def test_a_subject_named_after_its_record_belongs_to_the_configured_topic(polling: Polling) -> None:
    polling.registry.register("acme.Alert", record("level", name="Alert"))
    assert f"{TWO} audit" not in polling.facets()
    facets = Polling(polling.server, polling.registry, strategies={"acme.*": "audit"}).facets()
    assert [field["name"] for field in facets[f"{TWO} audit"]["schema"]["fields"]] == ["level"]
    assert f"{ONE} audit" not in facets


def test_of_two_contexts_the_default_one_describes_the_topic(polling: Polling) -> None:
    polling.registry.register(":.partners:orders-value", record("partner", name="PartnerOrder"))
    polling.registry.register("orders-value", record("id"))
    assert {name: fields(facets) for name, facets in polling.facets().items()} == {f"{ONE} orders": ["id"], f"{TWO} orders": ["id"]}
    polling.registry.delete("orders-value")
    assert {fields(facets)[0] for facets in polling.facets().values()} == {"partner"}


@pytest.mark.parametrize("answer", [Reply(500, {}), Reply(403, {}), Reply(200, b"[{"), Reply(200, {"a": 1})])
def test_a_failed_listing_removes_nothing(polling: Polling, answer: Reply) -> None:
    polling.registry.register("orders-value", record("id"))
    polling.poll()
    polling.server.failing["/s"] = answer
    with pytest.raises(SourceError):
        polling.poll()


def test_configured_addresses() -> None:
    settings = ConfluentSettings(registry={"*": SECRET}, registry_urls={"env-1": "http://a:1", "env-2": "http://b:2"})
    organization = Organization(
        "o", (Environment("env-1", "p"), Environment("env-2", "l")), (), (SchemaRegistry("lsrc-1", "env-1", "http://listed"),)
    )
    found = list(planes(PlaneContext(organization, organization, Clients(settings), settings)))
    assert [plane.key for plane in found] == ["registry env-1/lsrc-1", "registry env-2/registry"]
    assert [plane.registry.url for plane in found] == ["http://a:1", "http://b:2"]  # type: ignore[attr-defined]  # of these planes
    without = ConfluentSettings()
    (plane,) = planes(PlaneContext(organization, organization, Clients(without), without))
    assert plane.unavailable_reason() == "no API key is set for lsrc-1"


def test_a_schema_without_text_loses_only_its_subject(polling: Polling) -> None:
    for name in ("orders", "clicks"):
        polling.registry.register(f"{name}-value", record("id"))
    polling.poll()
    listed = polling.registry(Request("GET", ("schemas",), {"subjectPrefix": ":*:", "latestOnly": "true"}, None, {})).body
    broken = [{**entry, "schema": None} if entry["subject"] == "orders-value" else entry for entry in listed]
    polling.server.failing["/schemas"] = Reply(200, [*broken, None, {"version": 1, "id": 9, "schema": "{}"}])
    seen = polling.poll()
    assert not seen.events
    assert [unseen.what for unseen in seen.unseen] == ["schemas", "subject orders-value"]
