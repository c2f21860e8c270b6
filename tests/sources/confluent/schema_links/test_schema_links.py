"""Schema links: what exporters copy, and their lives."""

import json
from collections.abc import Iterator

import pytest
from tests.confluent.cloud import Cloud, running
from tests.confluent.expected_edges import expected
from tests.confluent.organization.build import secrets
from tests.confluent.organization.resources import PROD
from tests.corpora.published import faults
from tests.sources.confluent.graph import Graph, differences, exported

from lineage_bridge.errors import SourceError
from lineage_bridge.openlineage.event_builder import Json
from lineage_bridge.sources.common.observer import Observation
from lineage_bridge.sources.common.shared_metadata import NO_METADATA
from lineage_bridge.sources.confluent.clients import Clients
from lineage_bridge.sources.confluent.organization import Environment, Organization, SchemaRegistry
from lineage_bridge.sources.confluent.plane import AnyPlane, PlaneContext
from lineage_bridge.sources.confluent.schema_links.plane import planes
from lineage_bridge.sources.confluent.schema_links.subjects import renamed_subject
from lineage_bridge.sources.confluent.settings import ConfluentSettings

NOW, POLL_US = 1_795_000_000_000_000, 300_000_000
LSRC = "lsrc-p7rod1"


class Polling:
    """The exporters of production's registry, polled again and again."""

    def __init__(self, cloud: Cloud) -> None:
        self.cloud, self.now_us = cloud, NOW
        resources = cloud.organization
        organization = Organization(
            "org",
            tuple(Environment(environment["id"], environment["display_name"]) for environment in resources["environments"]),
            (),
            tuple(
                SchemaRegistry(registry["id"], registry["environment"], f"{cloud.url}/registry/{registry['id']}")
                for registry in resources["schema_registries"]
            ),
        )
        settings = ConfluentSettings.model_validate({**cloud.settings(), "timeout_s": 20})
        self.planes: list[AnyPlane] = list(planes(PlaneContext(organization, organization, Clients(settings), settings)))
        self.last: Observation | None = None

    def poll(self) -> Observation:
        (plane,) = (plane for plane in self.planes if plane.scope.startswith(PROD))
        before = json.loads(json.dumps(self.last.snapshot)) if self.last else None
        self.last = plane.translate(plane.fetch(before, self.now_us), before, NO_METADATA, self.now_us)
        self.now_us += POLL_US
        assert not faults(self.last.events)
        return self.last

    def states(self) -> list[str]:
        return [f"{event['eventType']} {event['job']['name'].removeprefix('schema-link/')}" for event in self.poll().events]

    def exporter(self, name: str) -> Json:
        found: Json = next(exporter for exporter in self.cloud.organization["exporters"] if exporter["name"] == name)
        return found


@pytest.fixture
def polling(monkeypatch: pytest.MonkeyPatch) -> Iterator[Polling]:
    with running() as cloud:
        for name, secret in cloud.environment().items():
            monkeypatch.setenv(name, secret)
        yield Polling(cloud)


def test_exporters_copy_subjects(polling: Polling) -> None:
    seen = polling.poll()
    assert differences(Graph(exported(seen)), expected(polling.cloud.organization), ["exporters"]) == {"missing": [], "extra": []}
    assert not [secret for secret in secrets(polling.cloud.organization) if secret in json.dumps([seen.events, seen.snapshot])]
    assert not seen.unseen
    snapshot = seen.snapshot
    again = polling.poll()
    assert [(event["eventType"], list(event["job"]["facets"])) for event in again.events] == [("RUNNING", [])]
    assert again.snapshot == json.loads(json.dumps(snapshot))


def test_the_life_of_an_exporter(polling: Polling) -> None:
    exporter = polling.exporter("to-analytics")
    polling.cloud.organization["exporters"] = [exporter]
    assert polling.states() == ["START to-analytics", "RUNNING to-analytics"]
    lives = []
    for state in ("STARTING", "PAUSED", "PAUSED", "RUNNING", "ERROR", "ERROR"):
        exporter["state"] = state
        lives.append(polling.states())
    assert lives == [
        ["RUNNING to-analytics"],
        ["ABORT to-analytics"],
        [],
        ["START to-analytics", "RUNNING to-analytics"],
        ["FAIL to-analytics"],
        [],
    ]
    exporter["state"] = "RUNNING"
    assert polling.states() == ["START to-analytics", "RUNNING to-analytics"]
    exporter["subjects"] = ["orders-value"]
    assert polling.states() == ["COMPLETE to-analytics", "START to-analytics", "RUNNING to-analytics"]
    polling.cloud.organization["exporters"] = []
    assert polling.states() == ["ABORT to-analytics"]
    assert polling.states() == []


@pytest.mark.parametrize("how", ["broken", "refused", "truncated", "gone"])
def test_a_failed_list_ends_no_runs(polling: Polling, how: str) -> None:
    polling.poll()
    polling.cloud.fail(f"/registry/{LSRC}/exporters", how)
    with pytest.raises(SourceError):
        polling.poll()


def test_an_exporter_that_cannot_be_fetched_is_not_gone(polling: Polling) -> None:
    polling.poll()
    polling.cloud.fail(f"/registry/{LSRC}/exporters/to-analytics", "broken")
    seen = polling.poll()
    assert not seen.events
    assert [unseen.what for unseen in seen.unseen] == ["exporter to-analytics"]
    polling.cloud.heal()
    polling.cloud.fail(f"/registry/{LSRC}/subjects", "broken")
    seen = polling.poll()
    assert [event["job"]["name"] for event in seen.events] == ["schema-link/to-analytics"]
    assert [unseen.what for unseen in seen.unseen] == ["subjects of exporters"]


@pytest.mark.parametrize(
    ("subject", "kind", "context", "rename", "expected_name"),
    [
        ("orders-value", "CUSTOM", ".prod", "${subject}", ":.prod:orders-value"),
        ("orders-value", "CUSTOM", "prod", "dr-${subject}", ":.prod:dr-orders-value"),
        (":.eu:orders-value", "CUSTOM", "prod", "${subject}", ":.prod.eu:orders-value"),
        (":.eu:orders-value", "NONE", "", "dr-${subject}", ":.eu:dr-orders-value"),
        ("orders-value", "DEFAULT", ".", "${subject}", "orders-value"),
        ("orders-value", "AUTO", "", "${subject}", "orders-value"),
    ],
)
def test_names_in_the_destination(subject: str, kind: str, context: str, rename: str, expected_name: str) -> None:
    assert renamed_subject(subject, kind, context, rename) == expected_name
