"""A ksqlDB cluster of Confluent Cloud: its answers, and the events in the namespace of its Kafka cluster."""

from collections.abc import Iterator

import pytest
from msgspec.structs import replace
from tests.api.support import Server
from tests.sources.confluent.polling import ENV, KSQL, LKC, SECRET, SPACE, T0, Polling, polling, topic_metadata
from tests.sources.http import Reply
from tests.sources.ksqldb.server import Ksql, shop

from lineage_bridge.errors import BusyError, ForbiddenError, SourceError
from lineage_bridge.sources.common.observer import Observation
from lineage_bridge.sources.confluent.ksqldb.plane import planes
from lineage_bridge.sources.confluent.plane import PlaneContext
from lineage_bridge.sources.runtime.poller import outbox_messages

QUERY = f"ksqldb/{KSQL}/CSAS_RICH_3"
SERVICE = "pksqlc-d4"


@pytest.fixture
def ksql() -> Ksql:
    server = shop()
    server.cluster, server.service = "another name", SERVICE
    return server


@pytest.fixture
def plane(ksql: Ksql, monkeypatch: pytest.MonkeyPatch) -> Iterator[Polling]:
    monkeypatch.setenv("SECRET", SECRET)
    with polling(ksql, planes, topic_metadata("orders", "customers", "rich-orders")) as poller:
        yield poller


def states(seen: Observation) -> list[tuple[str, str, str]]:
    return [(event["eventType"], event["job"]["namespace"], event["job"]["name"]) for event in seen.events if "eventType" in event]


def test_queries_are_jobs_of_the_kafka_cluster_with_the_ksqldb_clusters_id_in_their_names(plane: Polling) -> None:
    seen = plane.poll()
    (start,) = [event for event in seen.events if "eventType" in event]
    assert states(seen) == [("START", SPACE, QUERY)]
    assert [(dataset["namespace"], dataset["name"]) for dataset in start["inputs"]] == [(SPACE, "customers"), (SPACE, "orders")]
    (rich,) = start["outputs"]
    assert (rich["namespace"], rich["name"]) == (SPACE, "rich-orders")
    assert "columnLineage" in rich["facets"]
    assert start["job"]["facets"]["ksqldb_query"]["group"] == f"_confluent-ksql-{SERVICE}query_CSAS_RICH_3"
    links = {
        (event["dataset"]["namespace"], event["dataset"]["name"]): event["dataset"]["facets"]["symlinks"]["identifiers"]
        for event in seen.events
        if "dataset" in event
    }
    streams = {"ORDERS": "orders", "CUSTOMERS": "customers", "RICH": "rich-orders"}
    symlinks = {name: [{"namespace": SPACE, "name": topic, "type": "TABLE"}] for name, topic in streams.items()}
    assert links == {(f"ksqldb://{KSQL}", name): topics for name, topics in symlinks.items()}
    assert plane.shared_metadata.owners == {(LKC, f"_confluent-ksql-{SERVICE}query_CSAS_RICH_3"): (SPACE, QUERY)}
    assert len(plane.server.asked) == 2


def test_an_unchanged_second_poll_sends_heartbeats(plane: Polling) -> None:
    first, second = plane.poll(), plane.poll()
    assert states(second) == [("RUNNING", SPACE, QUERY)]
    assert [event["run"]["runId"] for event in second.events] == [event["run"]["runId"] for event in first.events if "run" in event]


def test_a_dropped_stream_withdraws_its_facets(plane: Polling, ksql: Ksql) -> None:
    plane.poll()
    ksql.relations = [relation for relation in ksql.relations if relation.name != "CUSTOMERS"]
    for relation in ksql.relations:
        relation.topic = "other" if relation.name == "ORDERS" else relation.topic
    datasets = [event["dataset"] for event in plane.poll().events if "dataset" in event]
    facets = {(dataset["namespace"], dataset["name"]): dataset["facets"] for dataset in datasets}
    assert facets.pop((SPACE, "other")).keys() == {"schema"}, "no registry has its schema"
    dropped, moved = (facets.pop((f"ksqldb://{KSQL}", name)) for name in ("CUSTOMERS", "ORDERS"))
    assert all(facet["_deleted"] for facet in dropped.values())
    assert dropped.keys() == {"symlinks", "ksqldb"}
    assert moved["symlinks"]["identifiers"][0]["name"] == "other"
    assert not facets
    assert [event for event in plane.poll().events if "dataset" in event] == []


def test_streams_of_two_clusters_are_aliases_of_one_topic(plane: Polling, graph: Server) -> None:
    first = plane.observed.ksqldb_clusters[0]
    graph.parts.now_us = T0
    for id_ in (KSQL, "lksqlc-z9"):
        plane.observed, plane.snapshot = replace(plane.observed, ksqldb_clusters=(replace(first, id=id_),)), None
        for path, body in outbox_messages(plane.poll()):
            assert graph.client.post(path, content=body, headers={"Content-Type": "application/json"}).is_success
    graph.fold()
    for id_ in (KSQL, "lksqlc-z9"):
        walk = graph.ask("/graph/neighbourhood", namespace=f"ksqldb://{id_}", name="ORDERS", direction="downstream", depth=1)
        jobs = {node["name"] for node in walk["nodes"] if node["kind"] == "job"}
        assert jobs == {"ksqldb/lksqlc-z9/CSAS_RICH_3", QUERY}


def test_two_ksqldb_clusters_of_one_kafka_cluster_are_separate(plane: Polling) -> None:
    first = plane.observed.ksqldb_clusters[0]
    plane.observed = replace(plane.observed, ksqldb_clusters=(first, replace(first, id="lksqlc-z9")))
    every = planes(PlaneContext(plane.observed, plane.observed, plane.clients, plane.settings))
    assert [entry.key for entry in every] == [f"ksqldb {ENV}/{KSQL}", f"ksqldb {ENV}/lksqlc-z9"]


@pytest.mark.parametrize(
    ("path", "reply", "error"),
    [
        ("/info", Reply(503, {}), BusyError),
        ("/info", Reply(401, {}), ForbiddenError),
        ("/ksql", Reply(403, {}), ForbiddenError),
        ("/ksql", Reply(200, b"<html>", "text/html"), SourceError),
        ("/ksql", Reply(200, [{"@type": "sourceDescriptions", "sourceDescriptions": []}]), SourceError),
    ],
)
def test_a_failing_server_is_an_error_and_ends_no_runs(plane: Polling, path: str, reply: Reply, error: type[Exception]) -> None:
    plane.poll()
    plane.server.failing = {path: reply}
    with pytest.raises(error):
        plane.poll()
    plane.server.failing = {}
    assert states(plane.poll()) == [("RUNNING", SPACE, QUERY)]


def test_a_starting_server_lists_only_a_part(plane: Polling, ksql: Ksql) -> None:
    plane.poll()
    ksql.status, ksql.queries = "DEGRADED", []
    seen = plane.poll()
    assert states(seen) == []
    assert [part.what for part in seen.unseen] == ["state of the server"]
    ksql.status = "RUNNING"
    assert states(plane.poll()) == [("ABORT", SPACE, QUERY)]


def test_runs_end_when_their_cluster_is_gone(plane: Polling) -> None:
    plane.poll()
    assert states(plane.end_scope()) == [("ABORT", SPACE, QUERY)]


def test_without_a_key_or_an_address_it_is_unavailable(plane: Polling) -> None:
    plane.settings = plane.settings.model_copy(update={"ksqldb": {}})
    assert plane.plane.unavailable_reason() == f"no API key is set for {KSQL} (ksqldb)"


def test_lineage_of_a_topic_leads_through_a_query(plane: Polling, graph: Server) -> None:
    graph.parts.now_us = T0
    for path, body in outbox_messages(plane.poll()):
        assert graph.client.post(path, content=body, headers={"Content-Type": "application/json"}).is_success
    graph.fold()
    walk = graph.ask("/graph/neighbourhood", namespace=SPACE, name="orders", direction="downstream", depth=2)
    names = {(node["kind"], node["namespace"], node["name"]) for node in walk["nodes"]}
    assert {("job", SPACE, QUERY), ("dataset", SPACE, "orders"), ("dataset", SPACE, "rich-orders")} <= names
