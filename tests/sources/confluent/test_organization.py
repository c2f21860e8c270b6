"""The whole organization of the stand-in, observed and folded: exactly the expected edges are there."""

import json
import logging
from collections import Counter
from collections.abc import Iterator
from itertools import islice

import pytest
from tests.confluent.cloud import Cloud
from tests.confluent.expected_edges import SYSTEMS, expected
from tests.confluent.organization.build import secrets
from tests.sources.confluent.graph import Graph, differences, exported, stored, with_started_runs_running

from lineage_bridge.openlineage.event_builder import encode
from lineage_bridge.sources.common.observer import Observation
from lineage_bridge.sources.common.shared_metadata import NO_METADATA
from lineage_bridge.sources.confluent.observer import ConfluentObserver
from lineage_bridge.sources.confluent.settings import ConfluentSettings

NOW, POLL_US = 1_795_000_000_000_000, 300_000_000
SHOWN = 20
SYSTEM_OF = {"connectors": "connect"}


@pytest.fixture(scope="module")
def observer(cloud: Cloud) -> Iterator[ConfluentObserver]:
    settings = {**cloud.settings(), "groups_by": "rest"}
    observer_ = ConfluentObserver("cc", ConfluentSettings.model_validate(settings))
    yield observer_
    observer_.close()


@pytest.fixture(scope="module")
def first(observer: ConfluentObserver) -> tuple[Observation, str]:
    """The first poll and its log output."""
    logged: list[str] = []

    class Keeping(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            logged.append(self.format(record))

    handler, root = Keeping(), logging.getLogger()
    before = root.level
    root.addHandler(handler)
    root.setLevel(logging.DEBUG)
    try:
        return observer.observe(None, NO_METADATA, NOW), "\n".join(logged)
    finally:
        root.removeHandler(handler)
        root.setLevel(before)


@pytest.fixture(scope="module")
def lines(first: tuple[Observation, str]) -> list[bytes]:
    return exported(first[0])


@pytest.mark.parametrize("system", [system.__name__ for system in SYSTEMS])
def test_exactly_the_expected_edges_are_found(cloud: Cloud, lines: list[bytes], system: str) -> None:
    found = differences(Graph(lines), expected(cloud.organization), [SYSTEM_OF.get(system, system)])
    problems = [f"{kind} {len(edges)}, such as:\n" + "\n".join(edges[:SHOWN]) for kind, edges in found.items() if edges]
    assert not problems, "\n".join(problems)


def test_topics_have_their_own_names(cloud: Cloud, lines: list[bytes]) -> None:
    graph = Graph(lines)
    clusters = {
        (f"confluent://{cluster['environment']}/{cluster['id']}", cluster["id"]) for cluster in cloud.organization["kafka_clusters"]
    }
    named = [
        (namespace, topic["topic_name"]) for namespace, id_ in clusters for topic in cloud.organization["topics"] if topic["cluster"] == id_
    ]
    assert [(name, graph.canonical_name(name)) for name in named if graph.canonical_name(name)[1] != name[1]] == []


def test_an_unchanged_organization_gets_heartbeats_only(observer: ConfluentObserver, first: tuple[Observation, str]) -> None:
    seen, snapshot = first[0], json.loads(json.dumps(first[0].snapshot))
    again = observer.observe(snapshot, NO_METADATA, NOW + POLL_US)
    assert Counter(event.get("eventType", "dataset") for event in again.events).keys() == {"RUNNING"}
    assert (again.aliases, again.unseen) == ((), seen.unseen)
    third = observer.observe(json.loads(json.dumps(again.snapshot)), NO_METADATA, NOW + 2 * POLL_US)
    assert stored(third.snapshot) == stored(again.snapshot)
    begun = {event["run"]["runId"] for event in seen.events if "run" in event}
    assert {event["run"]["runId"] for event in again.events} <= begun


def test_no_secret_is_emitted_stored_or_logged(cloud: Cloud, first: tuple[Observation, str]) -> None:
    seen, logged = first
    assert logged
    texts = {"events": b"\n".join(map(encode, seen.events)).decode(), "snapshot": json.dumps(seen.snapshot), "log": logged}
    texts |= {"unseen": str(seen.unseen), "same": str(seen.aliases)}
    every = secrets(cloud.organization)
    assert len(every) > 100
    assert [(name, secret) for name, text in texts.items() for secret in every if secret in text] == []


@pytest.mark.parametrize("share", [0.1, 0.5, 0.9])
def test_a_restarted_extraction_gives_the_same_graph(
    observer: ConfluentObserver, first: tuple[Observation, str], lines: list[bytes], share: float
) -> None:
    planes = len(first[0].snapshot["planes"])
    observations = [step.observation for step in islice(observer.steps(None, NO_METADATA, NOW), int(share * planes))]
    rest = observer.observe(json.loads(json.dumps(observations[-1].snapshot)), NO_METADATA, NOW)
    assert with_started_runs_running(exported(*observations, rest)) == with_started_runs_running(lines)
