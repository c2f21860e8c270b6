"""The Stream Catalog: the facets of topics, when they are emitted again, and what remains after a failure."""

import json
from collections.abc import Iterator
from typing import Any

import pytest
from tests.confluent.cloud import Cloud, running
from tests.confluent.organization.resources import ANALYTICS, ORDERS, PAYMENTS, PROD
from tests.corpora.published import faults

from lineage_bridge.errors import SourceError
from lineage_bridge.openlineage.event_builder import Json
from lineage_bridge.openlineage.times import format_time
from lineage_bridge.sources.common.observer import Observation
from lineage_bridge.sources.common.shared_metadata import NO_METADATA
from lineage_bridge.sources.confluent.catalog.plane import CatalogPlane, planes
from lineage_bridge.sources.confluent.clients import Clients
from lineage_bridge.sources.confluent.organization import Environment, KafkaCluster, Organization, SchemaRegistry
from lineage_bridge.sources.confluent.plane import PlaneContext
from lineage_bridge.sources.confluent.settings import ConfluentSettings

NOW, POLL_US = 1_795_000_000_000_000, 300_000_000
SPACE, LSRC = f"confluent://{PROD}/{ORDERS}", "lsrc-p7rod1"


class Polling:
    """The catalogs of the organization, polled repeatedly."""

    def __init__(self, cloud: Cloud) -> None:
        self.cloud, self.now_us = cloud, NOW
        self.last: dict[str, Observation] = {}
        self.set_timeout(20)

    def set_timeout(self, timeout_s: float) -> None:
        cloud = self.cloud
        resources = cloud.organization
        organization = Organization(
            "org",
            tuple(
                Environment(environment["id"], environment["display_name"], environment["stream_governance_config"]["package"])
                for environment in resources["environments"]
            ),
            tuple(KafkaCluster(cluster["id"], cluster["environment"], cluster["display_name"]) for cluster in resources["kafka_clusters"]),
            tuple(
                SchemaRegistry(registry["id"], registry["environment"], f"{cloud.url}/registry/{registry['id']}")
                for registry in resources["schema_registries"]
            ),
        )
        settings = ConfluentSettings.model_validate({**cloud.settings(), "timeout_s": timeout_s})
        self.context = PlaneContext(organization, organization, Clients(settings), settings)

    def plane(self, environment: str = PROD) -> CatalogPlane:
        (found,) = (plane for plane in planes(self.context) if plane.scope.startswith(environment))
        assert isinstance(found, CatalogPlane)
        return found

    def poll(self, environment: str = PROD) -> Observation:
        plane, last = self.plane(environment), self.last.get(environment)
        before = json.loads(json.dumps(last.snapshot)) if last else None
        self.last[environment] = plane.translate(plane.fetch(before, self.now_us), before, NO_METADATA, self.now_us)
        self.now_us += POLL_US
        assert not faults(self.last[environment].events)
        return self.last[environment]

    def facets(self, environment: str = PROD) -> dict[str, Json]:
        return {event["dataset"]["name"]: event["dataset"]["facets"] for event in self.poll(environment).events}

    def entity(self, name: str) -> Json:
        (found,) = (
            entity
            for entity in self.cloud.organization["catalog"]["entities"]
            if entity["attributes"]["name"] == name and entity["registry"] == LSRC
        )
        entity_: Json = found
        return entity_


@pytest.fixture
def polling(monkeypatch: pytest.MonkeyPatch) -> Iterator[Polling]:
    with running() as cloud:
        for name, secret in cloud.environment().items():
            monkeypatch.setenv(name, secret)
        yield Polling(cloud)


def test_the_facets_of_topics(polling: Polling) -> None:
    facets = polling.facets()
    assert sorted(facets) == ["cards", "clicks", "customers", "high-value-orders", "orders", "orders.v2", "payments", "users"]
    orders = facets["orders"]
    assert [tag["key"] for tag in orders["tags"]["tags"]] == ["gold", "production"]
    assert orders["ownership"]["owners"][0]["name"] == "order team"
    assert orders["documentation"]["description"] == "All orders, as they are placed"
    assert orders["confluent_business_metadata"]["metadata"] == {"DataDomain": {"domain": "sales", "steward": "Anna Kovacs"}}
    assert "@" not in json.dumps([polling.last[PROD].events, polling.last[PROD].snapshot])
    # The registry's events about the same topics, with these tags and those of schemas, are newer.
    assert {event["eventTime"] for event in polling.last[PROD].events} == {format_time(NOW - 1)}
    assert set(polling.facets(ANALYTICS)) == {"orders_fact", "customers_dim"}
    snapshot = polling.last[PROD].snapshot
    assert polling.facets() == {}
    assert polling.last[PROD].snapshot == snapshot


def test_shared_metadata_has_tags_and_described_topics(polling: Polling) -> None:
    polling.poll()
    shared = polling.plane().shared_metadata(json.loads(json.dumps(polling.last[PROD].snapshot)))
    assert shared.tags[(f"confluent://{PROD}/{PAYMENTS}", "cards")] == {"PCI", "PII"}
    subject = next(
        subject for subject in polling.cloud.organization["subjects"] if subject["subject"] == "users-value" and subject["registry"] == LSRC
    )
    assert shared.tags[(f"confluent://{PROD}/{LSRC}", f".:{subject['id']}:com.acme.UsersValue.email")] == {"PII"}
    assert (SPACE, "orders") in shared.described
    assert (SPACE, "customers") not in shared.described


def test_only_changes_and_removals_are_reported(polling: Polling) -> None:
    polling.poll()
    polling.entity("orders")["attributes"]["owner"] = "sales team"
    polling.entity("payments")["businessMetadata"] = {}
    polling.entity("customers")["classificationNames"] = []
    emitted = polling.facets()
    assert {name: sorted(facets) for name, facets in emitted.items()} == {
        "orders": ["ownership"],
        "payments": ["confluent_business_metadata"],
        "customers": ["tags"],
    }
    assert emitted["customers"]["tags"]["_deleted"]
    assert emitted["payments"]["confluent_business_metadata"]["_deleted"]
    entities = polling.cloud.organization["catalog"]["entities"]
    entities.remove(polling.entity("cards"))
    topics = polling.cloud.organization["topics"]
    topics[:] = [topic for topic in topics if topic["topic_name"] != "cards"]
    assert {name: sorted(facets) for name, facets in polling.facets().items()} == {"cards": ["ownership", "tags"]}


def test_a_request_that_fails_keeps_its_snapshot(polling: Polling) -> None:
    polling.poll()
    polling.cloud.fail(f"/registry/{LSRC}/catalog/v1/entity", "broken")
    seen = polling.poll()
    assert not seen.events
    assert len(seen.unseen) == 8
    polling.cloud.heal()
    polling.cloud.fail(f"/registry/{LSRC}/catalog/v1/types", "refused")
    seen = polling.poll()
    assert not seen.events
    assert [unseen.what for unseen in seen.unseen] == ["business metadata"]


@pytest.mark.parametrize("how", ["broken", "slow", "refused", "truncated", "html", "gone"])
def test_a_catalog_failure_withdraws_nothing(polling: Polling, how: str) -> None:
    polling.poll()
    if how == "slow":
        polling.set_timeout(1)
    polling.cloud.fail(f"catalog {LSRC}", how, 1.5)
    with pytest.raises(SourceError):
        polling.poll()


def test_a_package_without_a_catalog(polling: Polling) -> None:
    seen = polling.poll("env-s4m8d1")
    assert not seen.events
    (unseen,) = seen.unseen
    assert "the governance package ESSENTIALS of env-s4m8d1 does not include the stream catalog" in unseen.why
    bare = PlaneContext(
        Organization("o", (Environment("env-1", "p"),), (), (SchemaRegistry("lsrc-1", "env-1", "http://r"),)),
        Organization("o", (Environment("env-1", "p"),)),
        polling.context.clients,
        polling.context.settings,
    )
    (plane,) = planes(bare)
    assert plane.unavailable_reason() == "the environment has no Stream Governance package, so it has no catalog"


def test_facets_of_connectors_leave_out_owners_that_are_email_addresses(polling: Polling) -> None:
    attributes: dict[str, Any] = {
        "name": "orders-sink",
        "qualifiedName": f"{LSRC}:{ORDERS}:lcc-1",
        "owner": "crew",
        "description": "Copies",
    }
    entity = {
        "registry": LSRC,
        "typeName": "cn_connector",
        "attributes": attributes,
        "classificationNames": ["gold"],
        "businessMetadata": {},
    }
    polling.cloud.organization["catalog"]["entities"].append(entity)
    polling.entity("orders")["attributes"]["owner"] = "anna@acme.example"
    events = polling.poll().events
    (job,) = (event["job"] for event in events if "job" in event)
    assert (job["namespace"], job["name"]) == (SPACE, "orders-sink")
    assert [tag["key"] for tag in job["facets"]["tags"]["tags"]] == ["gold"]
    assert job["facets"]["confluent_business_metadata"]["owner"] == "crew"
    (orders,) = (event["dataset"] for event in events if event.get("dataset", {}).get("name") == "orders")
    assert "ownership" not in orders["facets"]
