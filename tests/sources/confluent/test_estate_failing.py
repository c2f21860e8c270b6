"""Each plane of one cluster of the estate fails in each way: what the others tell is whole, nothing is gone, and it heals."""

import json
from collections import Counter
from collections.abc import Iterator
from typing import Any, NamedTuple

import pytest
from tests.confluent.cloud import Cloud
from tests.confluent.expected import Edge
from tests.confluent.places import ORDERS, PROD
from tests.sources.confluent.graph import Graph, exported, kept, system

from lineage_bridge.openlineage.event_builder import encode
from lineage_bridge.sources.common.observer import Observation
from lineage_bridge.sources.common.shared_metadata import NO_METADATA
from lineage_bridge.sources.confluent.observer import ConfluentObserver
from lineage_bridge.sources.confluent.settings import ConfluentSettings

pytestmark = pytest.mark.long

NOW, POLL_US = 1_795_000_000_000_000, 300_000_000
REST = f"/kafka-rest/{ORDERS}/kafka/v3/clusters/{ORDERS}"
PLACES = {
    "names": "iam",
    "topics": f"{REST}/topics",
    "groups": f"{REST}/consumer-groups",
    "links": f"{REST}/links",
    "registry": "registry lsrc-p7rod1",
    "catalog": "catalog lsrc-p7rod1",
    "schema-links": "/registry/lsrc-p7rod1/exporters",
    "ksqldb": "ksqldb lksqlc-k1or",
    "flink": "flink",
    "connect": "connect",
    "tableflow": "tableflow",
    "metrics": "metrics",
}
"""What fails for a plane to fail."""
TELLS = {"schema-links": "exporters", "metrics": "producers"}
"""The system of a plane's jobs, where it has another name."""
WITH = {"registry": ("schema-links",), "connect": ("metrics",)}
"""Planes that ask the same place as another one."""


SETTINGS = {"groups_by": "rest", "environments": [PROD], "clusters": [ORDERS], "at_once": 16}
FAILURES = [(plane, how) for plane in PLACES for how in ("broken", "slow", "refused", "truncated", "limited")]
PAGED = ("names", "flink", "tableflow")


class Polls(NamedTuple):
    """`before`: a poll; `after`: the next one, at which nothing failed."""

    observer: ConfluentObserver
    before: Observation
    after: Observation

    def again(self, seen: Observation, now_us: int = NOW + POLL_US) -> Observation:
        return self.observer.observe(json.loads(json.dumps(seen.snapshot)), NO_METADATA, now_us)


@pytest.fixture(scope="module")
def observer(cloud: Cloud) -> Iterator[ConfluentObserver]:
    made = ConfluentObserver("cc", ConfluentSettings.model_validate({**cloud.settings(), **SETTINGS}))
    yield made
    made.close()


@pytest.fixture(scope="module")
def hasty(cloud: Cloud) -> Iterator[ConfluentObserver]:
    """One that waits no longer than two seconds for an answer."""
    made = ConfluentObserver("cc", ConfluentSettings.model_validate({**cloud.settings(), **SETTINGS, "timeout_s": 2}))
    yield made
    made.close()


@pytest.fixture(scope="module")
def first(observer: ConfluentObserver) -> Observation:
    return observer.observe(None, NO_METADATA, NOW)


@pytest.fixture(scope="module")
def polls(observer: ConfluentObserver, first: Observation) -> Polls:
    before = Polls(observer, first, first).again(first, NOW)
    return Polls(observer, before, Polls(observer, before, before).again(before))


def told(seen: Observation) -> Counter[bytes]:
    return Counter(map(encode, seen.events))


def systems(events: Counter[bytes]) -> set[str]:
    """The systems of the jobs that events tell of."""
    return {system(json.loads(event)["job"]["name"]) for event in events}


def fails(seen: Observation, beside: Observation) -> set[str]:
    """The planes of which something is unseen, and was not beside it."""
    return {one.what.split()[0] for one in set(seen.unseen) - set(beside.unseen)}


def beside(plane: str, seen: Observation) -> dict[str, Any]:
    """What is kept of the other planes."""
    return {key: kept(snapshot) for key, snapshot in seen.snapshot["planes"].items() if key.split()[0] != plane}


@pytest.mark.parametrize(("plane", "how"), [*FAILURES, *((plane, "half") for plane in PAGED)])
def test_while_a_plane_fails_the_others_are_whole_and_nothing_is_gone(
    cloud: Cloud, polls: Polls, hasty: ConfluentObserver, plane: str, how: str
) -> None:
    cloud.fail(PLACES[plane], how, slow_s=3.0)
    try:
        seen = (polls._replace(observer=hasty) if how == "slow" else polls).again(polls.before)
    finally:
        cloud.heal()
    whole, has = told(polls.after), told(seen)
    assert not has - whole
    assert systems(whole - has) <= {TELLS.get(one, one) for one in (plane, *WITH.get(plane, ()))}
    assert beside(plane, seen) == beside(plane, polls.after)
    assert {plane} <= fails(seen, polls.after) <= {plane, *WITH.get(plane, ())}
    healed = polls.again(seen)
    assert told(healed) == whole
    assert healed.unseen == polls.after.unseen
    assert kept(healed.snapshot) == kept(polls.after.snapshot)


@pytest.fixture(scope="module")
def whole(observer: ConfluentObserver, first: Observation) -> Graph:
    """The graph of two polls at which nothing failed."""
    return Graph(exported(first, Polls(observer, first, first).again(first, NOW)))


@pytest.mark.parametrize("plane", sorted(PLACES))
def test_a_plane_that_could_not_be_had_at_first_is_told_once_it_is_there(
    cloud: Cloud, observer: ConfluentObserver, first: Observation, whole: Graph, plane: str
) -> None:
    cloud.fail(PLACES[plane], "refused")
    try:
        seen = observer.observe(None, NO_METADATA, NOW)
    finally:
        cloud.heal()
    assert plane in fails(seen, first)
    jobs = {(event["job"]["namespace"], event["job"]["name"]) for event in first.events if "job" in event}
    told = {(event["job"]["namespace"], event["job"]["name"]) for event in seen.events if "job" in event}
    assert {system(name) for _, name in jobs - told} <= {TELLS.get(one, one) for one in (plane, *WITH.get(plane, ()))}
    healed = Graph(exported(seen, Polls(observer, first, first).again(seen, NOW)))
    assert whole.nodes <= healed.nodes
    assert whole.edges <= healed.edges
    assert all(name.startswith("dlq-") for _, _, name in healed.nodes - whole.nodes)
    assert all(is_guessed(edge) for edge in healed.edges - whole.edges)
    assert plane in ("registry", "topics") or healed.edges == whole.edges


def is_guessed(edge: Edge) -> bool:
    """Whether a job told it of itself while nobody knew better: SQL its own names of columns, a sink the place of its dead letters."""
    assert edge.target is not None
    return (edge.system in ("ksqldb", "flink") and edge.what == "column") or (
        edge.system == "connect" and edge.target[1].startswith("dlq-")
    )
