"""Any answer of a cluster's REST API is read, or refused in full: unreadable answers do not make resources disappear."""

import json
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.corpora.published import faults
from tests.sources.confluent.cluster_links import test_cluster_links
from tests.sources.confluent.groups import test_groups
from tests.sources.confluent.polling import ENV, LKC, T0, topic_metadata
from tests.sources.confluent.topics import test_topics
from tests.sources.http import Api, Request

from lineage_bridge.errors import MissingError, SourceError
from lineage_bridge.openlineage.event_builder import encode
from lineage_bridge.sources.confluent.cluster_links import plane as cluster_links
from lineage_bridge.sources.confluent.groups import plane as groups
from lineage_bridge.sources.confluent.organization import KafkaCluster, Organization
from lineage_bridge.sources.confluent.plane import AnyPlane, PlaneContext, Planes
from lineage_bridge.sources.confluent.settings import ConfluentSettings
from lineage_bridge.sources.confluent.topics import plane as topic_planes

CASES: dict[str, tuple[Callable[[PlaneContext], Planes], Callable[[], Api]]] = {
    "topics": (topic_planes.planes, test_topics.Api),
    "groups": (groups.planes, test_groups.Api),
    "links": (cluster_links.planes, test_cluster_links.Api),
}
SHARED = topic_metadata("orders", "refunds", "bills", "totals-by-id-repartition", "totals-sums-changelog")
_JUNK = st.sampled_from([None, True, -1, "", "x", [], [None], ["x"], {}, {"x": None}, [{"name": "x"}], 2**70, 2**40, 1.5])


class Clients:
    """A client of a cluster that answers as `api` does. `changes`: the calls, by number, whose answers contain junk."""

    host = "cluster"

    def __init__(self, api: Api, changes: Iterable[tuple[int, int, Any]] = ()) -> None:
        self.api, self.changes, self.calls = api, list(changes), 0

    def http(self, *_: object) -> "Clients":
        return self

    def get(self, path: str, **parameters: str) -> Any:
        reply = self.api(Request("GET", tuple(path.strip("/").split("/")), parameters, None, {}))
        if reply.status != 200:
            raise MissingError(path) if reply.status == 404 else SourceError(path)
        body = json.loads(json.dumps({"answer": reply.body}))
        here = list(_positions(body))
        for call, at, junk in self.changes:
            if call == self.calls:
                container, key = here[at % len(here)]
                container[key] = junk
        self.calls += 1
        return body["answer"]

    def pages(self, path: str, **parameters: str) -> Iterator[Any]:
        yield self.get(path, **parameters)

    @staticmethod
    def map(do: Callable[[Any], Any], items: Iterable[Any]) -> list[Any]:
        return [_attempted(do, item) for item in items]


def _attempted(do: Callable[[Any], Any], item: Any) -> Any:
    try:
        return do(item)
    except SourceError as error:
        return error


def _positions(value: Any) -> Iterator[tuple[Any, Any]]:
    """All (container, key) within a JSON value."""
    for key, inner in list(value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()):
        yield value, key
        yield from _positions(inner)


def plane_of(case: str, clients: Clients) -> AnyPlane:
    planes, _ = CASES[case]
    organization = Organization("org", kafka_clusters=(KafkaCluster(LKC, ENV, "orders", "Dedicated", url="https://cluster"),))
    key = {"key": "KEY", "secret": "${env:SECRET}"}
    settings = ConfluentSettings.model_validate({"kafka": {"*": key}, "groups_by": "rest"})
    fake: Any = clients
    (plane,) = planes(PlaneContext(organization, organization, fake, settings))
    return plane


@pytest.mark.parametrize("case", CASES)
@settings(deadline=None)
@given(changes=st.lists(st.tuples(st.integers(0, 8), st.integers(0, 500), _JUNK), min_size=1, max_size=3))
def test_any_answer(case: str, changes: list[tuple[int, int, Any]]) -> None:
    whole = plane_of(case, Clients(CASES[case][1]()))
    before = whole.translate(whole.fetch(None, T0), None, SHARED, T0)
    plane = plane_of(case, Clients(CASES[case][1](), changes))
    try:
        fetched = plane.fetch(before.snapshot, T0 + 1)
    except SourceError:
        return
    for snapshot in (None, json.loads(json.dumps(before.snapshot))):
        seen = plane.translate(fetched, snapshot, SHARED, T0 + 1)
        assert all(encode(event) for event in seen.events)
        assert not faults(seen.events)
        plane.shared_metadata(json.loads(json.dumps(seen.snapshot)))
        assert plane.translate(fetched, snapshot, SHARED, T0 + 1) == seen
    for name in set(before.snapshot) & {"topics", "groups"}:
        assert set(before.snapshot[name]) <= set(seen.snapshot[name])
