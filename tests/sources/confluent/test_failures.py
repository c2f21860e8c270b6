"""Planes of one cluster fail in each way: the events of the others are complete, no resource is gone, and the planes recover."""

import json
from collections import Counter
from collections.abc import Iterator
from typing import Any, NamedTuple

import pytest
from tests.confluent.cloud import Cloud
from tests.confluent.expected_edges import Edge
from tests.confluent.organization.resources import ORDERS, PROD
from tests.sources.confluent.graph import Graph, exported, stored, system

from lineage_bridge.openlineage.event_builder import encode
from lineage_bridge.sources.common.observer import Observation
from lineage_bridge.sources.common.shared_metadata import NO_METADATA
from lineage_bridge.sources.confluent.observer import ConfluentObserver
from lineage_bridge.sources.confluent.settings import ConfluentSettings

NOW, POLL_US = 1_795_000_000_000_000, 300_000_000
REST = f"/kafka-rest/{ORDERS}/kafka/v3/clusters/{ORDERS}"
ADDRESSES = {
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
"""Plane to the addresses that fail in the stand-in for it."""
PLANES = tuple(ADDRESSES)
JOB_SYSTEMS = {"schema-links": "exporters", "metrics": "producers"}
"""Plane to the system of its jobs, where that has another name."""
ALSO_FAILING = {"registry": ("schema-links",), "connect": ("metrics",)}
"""Planes that call the same address as another plane."""
SETTINGS = {"groups_by": "rest", "environments": [PROD], "clusters": [ORDERS], "at_once": 16}
HALVES = [
    (tuple(plane for position, plane in enumerate(PLANES) if (position >> bit) & 1 == half), how)
    for bit, how in enumerate(("broken", "held", "truncated", "limited"))
    for half in (0, 1)
]
"""Half of the planes fail at once in one way, then the others. Of any two planes, in at least one way only one of them fails."""
ALONE = [*(((plane,), "refused") for plane in PLANES), *(((plane,), "half") for plane in ("names", "flink", "tableflow"))]


class Polls(NamedTuple):
    """`before`: a poll; `after`: the next one, without failures."""

    observer: ConfluentObserver
    before: Observation
    after: Observation


def poll_again(observer: ConfluentObserver, seen: Observation, now_us: int = NOW + POLL_US) -> Observation:
    return observer.observe(json.loads(json.dumps(seen.snapshot)), NO_METADATA, now_us)


@pytest.fixture(scope="module")
def observer(cloud: Cloud) -> Iterator[ConfluentObserver]:
    observer_ = ConfluentObserver("cc", ConfluentSettings.model_validate({**cloud.settings(), **SETTINGS}))
    yield observer_
    observer_.close()


@pytest.fixture(scope="module")
def impatient(cloud: Cloud) -> Iterator[ConfluentObserver]:
    """An observer that waits two seconds for an answer."""
    observer_ = ConfluentObserver("cc", ConfluentSettings.model_validate({**cloud.settings(), **SETTINGS, "timeout_s": 2}))
    yield observer_
    observer_.close()


@pytest.fixture(scope="module")
def first(observer: ConfluentObserver) -> Observation:
    return observer.observe(None, NO_METADATA, NOW)


@pytest.fixture(scope="module")
def polls(observer: ConfluentObserver, first: Observation) -> Polls:
    before = poll_again(observer, first, NOW)
    return Polls(observer, before, poll_again(observer, before))


def events_of(seen: Observation) -> Counter[bytes]:
    return Counter(map(encode, seen.events))


def systems(events: Counter[bytes]) -> set[str]:
    """The systems of the jobs that events are about."""
    return {system(json.loads(event)["job"]["name"]) for event in events}


def failing_planes(seen: Observation, undisturbed: Observation) -> set[str]:
    """The planes of which something is unseen that is seen in an undisturbed poll."""
    return {unseen.what.split()[0] for unseen in set(seen.unseen) - set(undisturbed.unseen)}


def other_snapshots(planes: tuple[str, ...], seen: Observation) -> dict[str, Any]:
    return {key: stored(snapshot) for key, snapshot in seen.snapshot["planes"].items() if key.split()[0] not in planes}


def affected(planes: tuple[str, ...]) -> set[str]:
    """The planes that fail if these do."""
    return {other for plane in planes for other in (plane, *ALSO_FAILING.get(plane, ()))}


@pytest.mark.parametrize(("planes", "how"), [*HALVES, *ALONE], ids=lambda value: value if isinstance(value, str) else "+".join(value))
def test_while_planes_fail_the_others_are_complete_and_no_resource_is_gone(
    cloud: Cloud, polls: Polls, impatient: ConfluentObserver, planes: tuple[str, ...], how: str
) -> None:
    for plane in planes:
        cloud.fail(ADDRESSES[plane], how)
    try:
        seen = poll_again(impatient if how == "held" else polls.observer, polls.before)
    finally:
        cloud.heal()
    complete, emitted = events_of(polls.after), events_of(seen)
    assert not emitted - complete
    assert systems(complete - emitted) <= {JOB_SYSTEMS.get(plane, plane) for plane in affected(planes)}
    assert other_snapshots(planes, seen) == other_snapshots(planes, polls.after)
    assert set(planes) <= failing_planes(seen, polls.after) <= affected(planes)
    recovered = poll_again(polls.observer, seen)
    assert events_of(recovered) == complete
    assert recovered.unseen == polls.after.unseen
    assert stored(recovered.snapshot) == stored(polls.after.snapshot)


def test_entries_that_cannot_be_read_lose_nothing_else(cloud: Cloud, polls: Polls) -> None:
    planes = [plane for plane in PLANES if plane != "ksqldb"]
    for plane in planes:
        cloud.fail(ADDRESSES[plane], "odd")
    try:
        seen = poll_again(polls.observer, polls.before)
    finally:
        cloud.heal()
    assert events_of(seen) == events_of(polls.after)
    assert other_snapshots((), seen) == other_snapshots((), polls.after)
    assert {"topics", "groups", "links", "flink", "connect", "tableflow"} <= failing_planes(seen, polls.after)


@pytest.fixture(scope="module")
def whole(observer: ConfluentObserver, first: Observation) -> Graph:
    """The graph of two undisturbed polls."""
    return Graph(exported(first, poll_again(observer, first, NOW)))


@pytest.mark.parametrize("plane", sorted(ADDRESSES))
def test_a_plane_that_fails_at_the_first_poll_is_reported_once_it_recovers(
    cloud: Cloud, observer: ConfluentObserver, first: Observation, whole: Graph, plane: str
) -> None:
    cloud.fail(ADDRESSES[plane], "refused")
    try:
        seen = observer.observe(None, NO_METADATA, NOW)
    finally:
        cloud.heal()
    assert plane in failing_planes(seen, first)
    missing = jobs_of(first) - jobs_of(seen)
    assert {system(name) for _, name in missing} <= {JOB_SYSTEMS.get(other, other) for other in affected((plane,))}
    recovered = Graph(exported(seen, poll_again(observer, seen, NOW)))
    assert whole.nodes <= recovered.nodes
    assert whole.edges <= recovered.edges
    assert all(name.startswith("dlq-") for _, _, name in recovered.nodes - whole.nodes)
    assert all(is_guessed(edge) for edge in recovered.edges - whole.edges)
    assert plane in ("registry", "topics") or recovered.edges == whole.edges


def jobs_of(seen: Observation) -> set[tuple[str, str]]:
    return {(event["job"]["namespace"], event["job"]["name"]) for event in seen.events if "job" in event}


def is_guessed(edge: Edge) -> bool:
    """Whether a job guessed the edge for lack of information: SQL from its own column names, a sink from its default dead-letter topic."""
    assert edge.target is not None
    return (edge.system in ("ksqldb", "flink") and edge.what == "column") or (
        edge.system == "connect" and edge.target[1].startswith("dlq-")
    )
