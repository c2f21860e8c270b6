"""Clusters of an organization in the graph: a topic, its mirror in another cluster and who reads that are one walk."""

from typing import Any

import pytest
from tests.api.support import Server
from tests.sources.confluent.cluster_links import test_cluster_links
from tests.sources.confluent.groups import test_groups
from tests.sources.confluent.polling import SPACE, polling
from tests.sources.confluent.topics import test_topics
from tests.sources.http import Reply, Request

from lineage_bridge.openlineage.event_builder import encode
from lineage_bridge.sources.common.shared_metadata import NO_METADATA, merge_metadata
from lineage_bridge.sources.confluent.cluster_links import plane as cluster_links
from lineage_bridge.sources.confluent.groups import plane as groups
from lineage_bridge.sources.confluent.organization import Organization
from lineage_bridge.sources.confluent.plane import PlaneContext, Planes
from lineage_bridge.sources.confluent.topics import plane as topics

THERE = "confluent://env-z9/lkc-source"


class Api:
    """All of a cluster."""

    def __init__(self) -> None:
        self.topics, self.links, self.groups = test_topics.Api(), test_cluster_links.Api(), test_groups.Api()
        self.topics.topics = {"east.orders": 6, "east.bills": 1}
        self.groups.read, self.groups.states = {"billing": {"east.orders": [90]}}, {"billing": "STABLE"}
        self.groups.has_more = False

    def __call__(self, request: Request) -> Reply:
        answers = (part(request) for part in (self.topics, self.links, self.groups))
        return next((reply for reply in answers if reply.status == 200), Reply(404, {}))


def every(context: PlaneContext) -> Planes:
    for planes in (topics.planes, cluster_links.planes, groups.planes):
        yield from planes(context)


def walked(graph: Server, space: str, name: str, direction: str) -> set[str]:
    answer = graph.ask("/graph/neighbourhood", kind="dataset", namespace=space, name=name, direction=direction, depth=20)
    return {node["name"] for node in answer["nodes"]}


def test_lineage_of_a_topic_leads_through_its_mirror_to_its_readers(graph: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SECRET", "hunter2-in-clear")
    key = {"kafka": {"*": {"key": "KEY", "secret": "${env:SECRET}"}}, "groups_by": "rest"}
    api, snapshots = Api(), dict[str, Any]()
    with polling(api, every, NO_METADATA, **key) as poller:
        whole = Organization(kafka_clusters=(*poller.observed.kafka_clusters, test_cluster_links.OTHER))

        def poll(minutes: int) -> list[bytes]:
            events: list[bytes] = []
            shared = [NO_METADATA]
            for plane in every(PlaneContext(poller.observed, whole, poller.clients, poller.settings)):
                now_us = poller.now_us + minutes * 60_000_000
                before = snapshots.get(plane.key)
                seen = plane.translate(plane.fetch(before, now_us), before, merge_metadata(shared), now_us)
                snapshots[plane.key] = seen.snapshot
                shared.append(plane.shared_metadata(seen.snapshot))
                events += map(encode, seen.events)
            return events

        first = poll(0)
        graph.send(*first, *poll(5), *first)
        assert walked(graph, THERE, "bills", "downstream") == {"bills", "cluster-link/east", "east.bills"}
        assert walked(graph, SPACE, "east.orders", "upstream") == {"orders", "cluster-link/east", "east.orders"}
        assert walked(graph, THERE, "orders", "downstream") == {"orders", "cluster-link/east", "east.orders", "consumer-group/billing"}
        runs = graph.ask("/graph/runs", namespace=SPACE, name="cluster-link/east")["runs"]
        assert [(run["state"], run["streaming"]) for run in runs] == [("RUNNING", True)]
        del api.topics.topics["east.bills"]
        del api.links.mirrors["east", "bills", "east.bills"]
        graph.send(*poll(10))
        assert [run["state"] for run in graph.ask("/graph/runs", namespace=SPACE, name="cluster-link/east")["runs"]] == [
            "START",
            "COMPLETE",
        ]
        assert walked(graph, THERE, "orders", "downstream") == {"orders", "cluster-link/east", "east.orders", "consumer-group/billing"}
        assert walked(graph, THERE, "bills", "downstream") == {"bills", "cluster-link/east"}
