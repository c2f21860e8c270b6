"""A ksqlDB server observed over HTTP: requests, refusals, and the graph that comes of it."""

import json
from collections.abc import Iterator
from typing import Any

import pytest
from tests.api.support import Server
from tests.events import T0
from tests.sources.http import Reply, Standin, standing
from tests.sources.ksqldb.server import HOST, TYPE, Ksql, shop

from lineage_bridge.errors import BusyError, ForbiddenError, SourceError, UnreachableError
from lineage_bridge.openlineage.event_builder import encode
from lineage_bridge.sources.common.ksqldb.settings import KsqldbSettings
from lineage_bridge.sources.common.observer import Observation
from lineage_bridge.sources.common.shared_metadata import ClusterMetadata, SharedMetadata
from lineage_bridge.sources.ksqldb.observer import KsqldbObserver
from lineage_bridge.sources.runtime.kinds import KINDS

AROUND = SharedMetadata((ClusterMetadata("c1", "kafka://b1:9092"),))
MINUTE = 60_000_000
NOT_READY = Reply(503, {"@type": "generic_error", "error_code": 50300, "message": "ksqlDB is not yet ready to serve requests."}, TYPE)


@pytest.fixture
def ksql() -> Ksql:
    return shop()


@pytest.fixture
def server(ksql: Ksql) -> Iterator[Standin]:
    refused = Reply(401, {"@type": "generic_error", "error_code": 40100, "message": "Unauthorized"}, TYPE)
    with standing(Standin(ksql, unauthorized=refused)) as running:
        yield running


@pytest.fixture
def observer(server: Standin) -> Iterator[KsqldbObserver]:
    made = KsqldbObserver("k", KsqldbSettings(url=server.url, timeout_s=5))
    yield made
    made.close()


def test_two_requests_report_everything(server: Standin, observer: KsqldbObserver) -> None:
    first = observer.observe(None, AROUND, T0)
    assert server.asked == ["GET /info", "POST /ksql"]
    again = observer.observe(json.loads(json.dumps(first.snapshot)), AROUND, T0 + MINUTE)
    assert [event["eventType"] for event in again.events] == ["RUNNING"]
    assert observer.observe(None, AROUND, T0) == first
    assert KINDS.load("ksqldb").observer is KsqldbObserver


def test_what_a_test_of_the_source_reports(server: Standin, observer: KsqldbObserver) -> None:
    assert [tuple(check)[:3] for check in observer.test()] == [
        ("server", True, "ksqlDB 7.9.0, service default_, on the Kafka cluster c1"),
        ("health", True, "healthy"),
        ("streams, tables and queries", True, "3 streams and tables, 1 persistent queries"),
        ("hosts", True, f"{HOST} alive"),
    ]
    server.failing["/clusterStatus"] = Reply(404, {"@type": "generic_error", "error_code": 40400, "message": "HTTP 404 Not Found"}, TYPE)
    details = {"metastore": {"isHealthy": True}, "kafka": {"isHealthy": False}}
    server.failing["/healthcheck"] = Reply(200, {"isHealthy": False, "details": details}, TYPE)
    checks = {check.step: check for check in observer.test()}
    assert (checks["health"].works, checks["health"].message) == (False, "the server reports itself as unhealthy: kafka")
    assert (checks["streams, tables and queries"].works, checks["hosts"].works) == (True, True)


@pytest.mark.parametrize(
    ("path", "reply", "error"),
    [
        (
            "/ksql",
            Reply(
                400, {"@type": "statement_error", "error_code": 40001, "message": "line 1:6: no", "statementText": "", "entities": []}, TYPE
            ),
            SourceError,
        ),
        (
            "/ksql",
            Reply(403, {"@type": "generic_error", "error_code": 40300, "message": "You are forbidden from using this cluster."}, TYPE),
            ForbiddenError,
        ),
        ("/ksql", NOT_READY, BusyError),
        ("/ksql", Reply(200, b"<html>", "text/html"), SourceError),
        ("/ksql", Reply(200, [{"@type": "source_descriptions", "sourceDescriptions": []}], TYPE), SourceError),
        ("/info", Reply(200, {"version": "4.3.1", "kafka_cluster_id": "c1"}), SourceError),
    ],
)
def test_refusals_and_half_answers_report_nothing(
    server: Standin, observer: KsqldbObserver, path: str, reply: Reply, error: type[Exception], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("lineage_bridge.sources.common.http.TRIES", 1)
    server.failing[path] = reply
    with pytest.raises(error):
        observer.observe(None, AROUND, T0)
    server.failing.clear()
    assert len(observer.observe(None, AROUND, T0).events) == 4


def test_who_asks_may_be_refused(server: Standin, monkeypatch: pytest.MonkeyPatch) -> None:
    server.credentials = "key:s3cret"
    monkeypatch.setenv("KSQL_SECRET", "no-secret-of-this-server")
    refused = KsqldbObserver("k", KsqldbSettings(url=server.url, username="key", password="${env:KSQL_SECRET}"))
    (check,) = refused.test()
    assert (check.works, "no-secret-of-this-server" in str(check)) == (False, False)
    refused.close()
    monkeypatch.setenv("KSQL_SECRET", "s3cret")
    allowed = KsqldbObserver("k", KsqldbSettings(url=server.url, username="key", password="${env:KSQL_SECRET}"))
    assert len(allowed.observe(None, AROUND, T0).events) == 4
    allowed.close()


def test_a_server_that_is_away() -> None:
    observer = KsqldbObserver("k", KsqldbSettings(url="http://127.0.0.1:1", timeout_s=1))
    with pytest.raises(UnreachableError):
        observer.observe(None, AROUND, T0)
    observer.close()


def test_queries_in_the_graph(graph: Server, ksql: Ksql, observer: KsqldbObserver) -> None:
    """Table to topic to query to topic, with columns, amounts, and the end of a run."""
    snapshot: Any = None

    def poll(minute: int) -> Observation:
        nonlocal snapshot
        seen = observer.observe(snapshot, AROUND, T0 + minute * MINUTE)
        snapshot = json.loads(json.dumps(seen.snapshot))
        graph.send(*map(encode, seen.events))
        return seen

    poll(0)
    ksql.relations[2].written[HOST] += 25
    poll(1)
    rich: dict[str, Any] = {"namespace": "kafka://b1:9092", "name": "rich-orders"}
    walk = graph.ask("/graph/neighbourhood", **rich, columns=True)
    assert sorted(node["name"] for node in walk["nodes"] if "goes_by" not in node) == ["CSAS_RICH_3", "customers", "orders", "rich-orders"]
    pairs = {(flow["source_field"], flow["target_field"]) for flow in walk["columns"] if flow.get("source_field") and flow["target_field"]}
    assert pairs == {("CUSTOMER", "_key"), ("AMOUNT", "GROSS"), ("CITY", "CITY")}
    trace = graph.ask("/graph/trace", **rich, field="GROSS")
    assert [(flow["source_field"], flow["target_field"]) for flow in trace["flows"]] == [("AMOUNT", "GROSS")]
    by_stream = graph.ask("/graph/neighbourhood", namespace=f"ksqldb://{observer._http.host}", name="RICH")
    assert len(by_stream["nodes"]) == len(walk["nodes"])
    (run,) = graph.ask("/graph/runs", namespace=f"ksqldb://{observer._http.host}", name="CSAS_RICH_3")["runs"]
    assert run["state"] == "RUNNING"
    found = graph.ask("/graph/statistics", **rich, since="2026-11-01", until="2026-12-01")["series"]
    assert [entry["rows"] for entry in found if entry["side"] == "output"] == [25]
    ksql.queries.clear()
    poll(2)
    (run,) = graph.ask("/graph/runs", namespace=f"ksqldb://{observer._http.host}", name="CSAS_RICH_3")["runs"]
    assert run["state"] == "ABORT"
