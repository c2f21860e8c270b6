"""Flink of Confluent Cloud: the lineage of statements, their life cycle, and what definitions declare."""

import json
from typing import Any

import pytest
from tests.confluent.expected_edges import expected
from tests.confluent.organization.build import build, secrets
from tests.corpora.published import faults
from tests.sources.confluent.flink.stand_in import Flink, discovered, flink_region, registered
from tests.sources.confluent.graph import Graph, differences, exported
from tests.sources.http import Reply, Request, Standin, standing

from lineage_bridge.errors import SourceError
from lineage_bridge.openlineage.facets import SchemaField
from lineage_bridge.sources.common.observer import Observation
from lineage_bridge.sources.common.shared_metadata import KEY, VALUE, SharedMetadata, TopicSchema
from lineage_bridge.sources.confluent.clients import Clients
from lineage_bridge.sources.confluent.flink.plane import FlinkPlane, planes
from lineage_bridge.sources.confluent.organization import ComputePool, Environment, KafkaCluster, Organization
from lineage_bridge.sources.confluent.plane import PlaneContext
from lineage_bridge.sources.confluent.settings import ConfluentSettings, Credential

Json = dict[str, Any]
KEY_OF_FLINK = Credential(key="FLINK", secret="${env:FLINK_SECRET}")
NOW, MINUTE = 1_780_000_000_000_000, 60_000_000
SPACE, OTHER = "confluent://env-1/lkc-1", "confluent://env-1/lkc-2"
WHOLE = Organization(
    "org-1",
    (Environment("env-1", "prod"), Environment("env-2", "lab")),
    (KafkaCluster("lkc-1", "env-1", "shop"), KafkaCluster("lkc-2", "env-1", "web events"), KafkaCluster("lkc-3", "env-2", "shop")),
    compute_pools=(ComputePool("lfcp-1", "env-1", "pool", "aws", "eu-west-1"),),
)
ORDERS = {
    ((SPACE, "orders"), VALUE): TopicSchema((SchemaField("id", "long"), SchemaField("amount", "double"))),
    ((SPACE, "orders"), KEY): TopicSchema((SchemaField("customer", "string"),)),
}


class Polling:
    """A region that is polled again and again; snapshots go by way of JSON, as the poller keeps them."""

    def __init__(self, api: Flink, server: Standin, shared: SharedMetadata | None = None, **more: Any) -> None:
        self.api, self.shared, self.now_us = api, shared or SharedMetadata(schemas=ORDERS, names={"sa-1": "flink-jobs"}), NOW
        settings = ConfluentSettings(flink_url=server.url, timeout_s=20, **{"flink": {"env-1": KEY_OF_FLINK}, **more})
        self.plane = next(iter(planes(PlaneContext(WHOLE, WHOLE, Clients(settings), settings))))
        self.last: Observation | None = None

    def poll(self) -> Observation:
        before = json.loads(json.dumps(self.last.snapshot)) if self.last else None
        assert isinstance(self.plane, FlinkPlane)
        self.last = self.plane.translate(self.plane.fetch(before, self.now_us), before, self.shared, self.now_us)
        self.now_us += MINUTE
        assert not faults(self.last.events)
        return self.last

    def states(self) -> list[str]:
        return [f"{event['eventType']} {event['job']['name']}" for event in self.poll().events if "job" in event]


@pytest.fixture
def polling(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.setenv("FLINK_SECRET", "s3cret")
    api = Flink()
    with standing(Standin(api, "FLINK:s3cret")) as server:
        poller = Polling(api, server)
        poller.server = server  # type: ignore[attr-defined]  # for tests that break it
        yield poller


def event_of(seen: Observation, name: str) -> Json:
    """The first event of a job, which has all its facets."""
    return next(event for event in seen.events if event.get("job", {}).get("name") == f"flink/{name}")


def inputs(event: Json) -> list[str]:
    return [f"{dataset['namespace']} {dataset['name']}" for dataset in event["inputs"]]


def errors(event: Json) -> list[str]:
    return [error["errorMessage"] for error in event["run"]["facets"].get("extractionError", {}).get("errors", [])]


def columns(event: Json) -> dict[str, list[str]]:
    """Each output column with those it comes from, as the lineage facet has them."""
    entries = event["job"]["facets"]["lineage"]["entries"]
    return {
        f"{entry['name']}.{name}": [f"{dataset['name']}.{dataset['field']}" for dataset in field["inputs"]]
        for entry in entries
        for name, field in entry.get("fields", {}).items()
    }


def test_all_statements_of_the_organization_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FLINK_SECRET", "s3cret")
    organization = build()
    discovered_organization, shared = discovered(organization), registered(organization)
    regions = {
        f"{cloud}.{region}/{env}": flink_region(organization, env, cloud, region)
        for env, cloud, region in discovered_organization.flink_regions
    }

    def api(request: Request) -> Reply:
        flink = regions[f"{request.parts[0]}/{request.parts[6]}"]
        flink.base = f"/{request.parts[0]}"
        return flink(request._replace(parts=request.parts[1:]))

    first, second = [], []
    with standing(Standin(api)) as server:
        address = f"{server.url}/{{cloud}}.{{region}}"
        settings = ConfluentSettings(flink_url=address, flink={"*": KEY_OF_FLINK})
        for plane in planes(PlaneContext(discovered_organization, discovered_organization, Clients(settings), settings)):
            first.append(plane.translate(plane.fetch(None, 0), None, shared, NOW))
            before = json.loads(json.dumps(first[-1].snapshot))
            server.asked.clear()
            second.append(plane.translate(plane.fetch(before, 0), before, shared, NOW + MINUTE))
            assert not [request for request in server.asked if "exceptions" in request]
    events = [event for seen in first for event in seen.events]
    assert differences(Graph(exported(*first)), expected(organization), ["flink"]) == {"missing": [], "extra": []}
    assert not [errors(event) for event in events if "run" in event and errors(event)]
    assert not faults(events)
    assert not [unseen for seen in first for unseen in seen.unseen]
    text = json.dumps([[seen.events, seen.snapshot] for seen in first])
    assert not [secret for secret in secrets(organization) if secret in text]
    for seen, again in zip(first, second, strict=True):
        assert again.snapshot == seen.snapshot
        assert all(event["eventType"] == "RUNNING" for event in again.events)
        assert not [event for event in again.events if event["job"]["facets"] or event["run"]["facets"]]


def test_names_resolve_to_environments_clusters_and_topics(polling: Polling) -> None:
    polling.api.submit(
        "join", "INSERT INTO `sums` SELECT o.id, c.n FROM orders o JOIN `web events`.`clicks` c ON o.id = c.id JOIN `lab`.`shop`.x ON TRUE"
    )
    polling.api.submit("by-id", "INSERT INTO `env-1`.`lkc-2`.t SELECT id FROM `prod`.`shop`.`orders`", properties={})
    polling.api.submit("market", "INSERT INTO t SELECT url FROM `examples`.`marketplace`.`clicks`")
    seen = polling.poll()
    join, by_id, market = (event_of(seen, name) for name in ("join", "by-id", "market"))
    assert inputs(join) == [f"{SPACE} orders", f"{OTHER} clicks", "confluent://env-2/lkc-3 x"]
    assert join["job"]["namespace"] == SPACE
    assert inputs(by_id) == [f"{SPACE} orders"]
    assert (by_id["job"]["namespace"], by_id["outputs"][0]["namespace"]) == ("confluent://env-1/aws.eu-west-1", OTHER)
    assert inputs(market) == ["confluent://examples/marketplace clicks"]


def test_a_statement_without_topics_is_not_a_job(polling: Polling) -> None:
    polling.api.submit("lost", "INSERT INTO t SELECT 1 FROM orders", properties={"sql.current-catalog": "prod"})
    seen = polling.poll()
    assert not seen.events
    assert [unseen.what for unseen in seen.unseen] == ["statement lost"]


def test_columns_map_to_keys_and_values(polling: Polling) -> None:
    polling.api.submit("t", "CREATE TABLE totals (customer STRING, sum_ DOUBLE) DISTRIBUTED BY (customer) INTO 2 BUCKETS", "COMPLETED")
    polling.api.submit("fill", "INSERT INTO totals SELECT customer, amount FROM orders WHERE $rowtime > CURRENT_TIMESTAMP", at=1)
    polling.api.submit("raw", "INSERT INTO lines SELECT CAST(key AS STRING) AS k, val AS v FROM raw_lines", at=2)
    polling.shared = SharedMetadata(schemas={**ORDERS, ((SPACE, "raw_lines"), VALUE): TopicSchema((SchemaField("", "string"),))})
    seen = polling.poll()
    assert columns(event_of(seen, "fill")) == {"totals._key.customer": ["orders._key.customer"], "totals.sum_": ["orders.amount"]}
    assert columns(event_of(seen, "raw")) == {"lines.k": ["raw_lines._key"], "lines.v": ["raw_lines._value"]}
    assert not errors(event_of(seen, "fill"))
    assert not errors(event_of(seen, "raw"))


def test_each_part_of_a_statement_set_has_its_own_flow(polling: Polling) -> None:
    polling.api.submit(
        "set", "EXECUTE STATEMENT SET BEGIN INSERT INTO a SELECT id FROM orders; INSERT INTO b SELECT url FROM `lkc-2`.clicks; END;"
    )
    entries = event_of(polling.poll(), "set")["job"]["facets"]["lineage"]["entries"]
    assert [(entry["name"], sorted(entry["fields"])) for entry in entries] == [("a", ["id"]), ("b", ["url"])]
    assert [entry.get("inputs") for entry in entries] == [None, None]


def test_views_are_replaced_by_their_sources(polling: Polling) -> None:
    polling.api.submit("v", "CREATE VIEW big AS SELECT id AS big_id FROM orders WHERE amount > 9", "COMPLETED")
    polling.api.submit("failed", "CREATE VIEW big AS SELECT 1 AS big_id", "FAILED", at=1)
    elsewhere = {"sql.current-catalog": "prod", "sql.current-database": "lkc-2"}
    polling.api.submit("use", "INSERT INTO sink SELECT big_id FROM shop.big", at=2, properties=elsewhere)
    seen = polling.poll()
    assert columns(event_of(seen, "use")) == {"sink.big_id": ["orders.id"]}
    del polling.api.statements["v"]
    polling.api.submit("later", "INSERT INTO sink2 SELECT big_id FROM big", at=3)
    seen = polling.poll()
    assert columns(event_of(seen, "later")) == {"sink2.big_id": ["orders.id"]}
    polling.api.submit("still", "INSERT INTO sink4 SELECT big_id FROM big", at=3)
    assert columns(event_of(polling.poll(), "still")) == {"sink4.big_id": ["orders.id"]}
    polling.api.submit("drop", "DROP VIEW big", "COMPLETED", at=4)
    polling.poll()
    del polling.api.statements["drop"]
    polling.api.submit("after", "INSERT INTO sink3 SELECT big_id FROM big", at=5)
    assert inputs(event_of(polling.poll(), "after")) == [f"{SPACE} big"]


def test_the_phases_of_a_statement(polling: Polling) -> None:
    status = polling.api.submit("s", "INSERT INTO t SELECT id FROM orders", "PENDING")["status"]
    assert polling.states() == ["START flink/s"]
    assert polling.states() == []
    run = polling.last.snapshot["statements"]["s"]["run"] if polling.last else ""
    lives = []
    for phase in ("RUNNING", "DEGRADED", "FAILING", "RUNNING", "STOPPING", "STOPPED", "STOPPED", "PENDING", "RUNNING"):
        status["phase"] = phase
        lives.append((phase, polling.states()))
    assert lives == [
        ("RUNNING", ["RUNNING flink/s"]),
        ("DEGRADED", ["RUNNING flink/s"]),
        ("FAILING", ["RUNNING flink/s"]),
        ("RUNNING", ["RUNNING flink/s"]),
        ("STOPPING", []),
        ("STOPPED", ["ABORT flink/s"]),
        ("STOPPED", []),
        ("PENDING", ["START flink/s"]),
        ("RUNNING", ["RUNNING flink/s"]),
    ]
    assert polling.last is not None
    assert polling.last.snapshot["statements"]["s"]["run"] != run
    del polling.api.statements["s"]
    assert polling.states() == ["ABORT flink/s"]
    assert polling.states() == []


def test_a_statement_created_again_under_its_name_gets_a_new_run(polling: Polling) -> None:
    polling.api.submit("s", "INSERT INTO t SELECT id FROM orders")
    first = event_of(polling.poll(), "s")["run"]["runId"]
    polling.api.submit("s", "INSERT INTO t SELECT amount FROM orders", at=5)
    seen = polling.poll()
    assert [(event["eventType"], event["run"]["runId"] == first) for event in seen.events] == [
        ("ABORT", True),
        ("START", False),
        ("RUNNING", False),
    ]


def test_ended_statements_that_are_no_longer_listed_get_no_events(polling: Polling) -> None:
    polling.api.submit("s", "INSERT INTO t VALUES (1)", "COMPLETED", traits={"is_bounded": True})
    seen = polling.poll()
    assert [event["eventType"] for event in seen.events] == ["START", "COMPLETE"]
    assert seen.events[0]["job"]["facets"]["jobType"]["processingType"] == "BATCH"
    assert seen.events[0]["job"]["facets"]["lineage"]["entries"] == [{"type": "DATASET", "namespace": SPACE, "name": "t", "inputs": []}]
    assert polling.states() == []
    del polling.api.statements["s"]
    assert polling.states() == []


def test_a_failure_is_reported_with_its_exceptions_once(polling: Polling) -> None:
    polling.api.exceptions["s"] = [
        {"name": "Old", "message": "before", "timestamp": "2026-05-01T08:00:00Z"},
        {"name": "TableRuntimeException", "message": "Cast failed: password=hunter2\n\tat Cast.java", "timestamp": "2026-05-01T09:00:00Z"},
    ]
    polling.api.submit("s", "INSERT INTO t SELECT id FROM orders", "FAILED", detail="")
    error = polling.poll().events[-1]["run"]["facets"]["errorMessage"]
    assert error["message"] == "TableRuntimeException: Cast failed: password=********"
    assert "Cast.java" in error["stackTrace"]
    assert "hunter2" not in json.dumps(error)
    polling.server.asked.clear()  # type: ignore[attr-defined]
    assert polling.states() == []
    assert len(polling.server.asked) == 2  # type: ignore[attr-defined]


def test_selects_are_readers_until_they_are_stopped(polling: Polling) -> None:
    polling.api.submit("look", "SELECT id FROM orders")
    polling.api.submit("ended", "SELECT id FROM orders LIMIT 1", "COMPLETED")
    polling.api.submit("snapshot", "SELECT id FROM orders", traits={"is_bounded": True})
    polling.api.submit("show", "SHOW TABLES", "COMPLETED")
    seen = polling.poll()
    assert {event["job"]["name"] for event in seen.events} == {"flink/look"}
    assert (inputs(event_of(seen, "look")), event_of(seen, "look")["outputs"]) == ([f"{SPACE} orders"], [])


def test_definitions_declare_columns_and_comments(polling: Polling) -> None:
    columns_ = "id STRING NOT NULL COMMENT 'of the event', at_ TIMESTAMP(3), k STRING, PRIMARY KEY (k) NOT ENFORCED"
    polling.api.submit("ddl", f"CREATE TABLE audit ({columns_}) COMMENT 'Who did what'", "COMPLETED")
    polling.api.submit("waits", "CREATE TABLE later (id STRING)", "PENDING", at=1)
    (event,) = polling.poll().events
    assert (event["dataset"]["namespace"], event["dataset"]["name"]) == (SPACE, "audit")
    fields = event["dataset"]["facets"]["schema"]["fields"]
    assert [(field["name"], field.get("type"), field.get("description")) for field in fields] == [
        ("id", "STRING", "of the event"),
        ("at_", "TIMESTAMP(3)", None),
        ("_key", "record", None),
    ]
    assert [field["name"] for field in fields[2]["fields"]] == ["k"]
    assert event["dataset"]["facets"]["documentation"]["description"] == "Who did what"
    assert polling.last is not None
    shared = polling.plane.shared_metadata(json.loads(json.dumps(polling.last.snapshot)))
    assert shared.fields((SPACE, "audit")) == (SchemaField("id", "STRING", "of the event"), SchemaField("at_", "TIMESTAMP(3)"))
    assert shared.schemas[(SPACE, "audit"), VALUE].rank == 1
    assert not polling.poll().events
    polling.api.submit("drop", "DROP TABLE audit", "COMPLETED", at=2)
    (gone,) = polling.poll().events
    assert all(facet["_deleted"] for facet in gone["dataset"]["facets"].values())


def test_a_registry_takes_precedence_over_definitions(polling: Polling) -> None:
    polling.api.submit("ddl", "CREATE TABLE orders (id BIGINT, amount DOUBLE)", "COMPLETED")
    assert not polling.poll().events


def test_offsets_are_compared_with_the_text(polling: Polling) -> None:
    offsets = {"orders": "partition:0,offset:5;partition:1,offset:7", "hidden.topic": "partition:0,offset:-2"}
    polling.api.submit("s", "INSERT INTO t SELECT o.id FROM orders o JOIN customers c ON o.id = c.id", latest_offsets=offsets)
    seen = polling.poll()
    event = event_of(seen, "s")
    assert inputs(event) == [f"{SPACE} orders", f"{SPACE} customers", f"{SPACE} hidden.topic"]
    assert errors(event) == [
        "Flink reports that the statement reads hidden.topic, but its SQL does not",
        "the statement's SQL reads customers, but Flink reports no offsets for these topics",
    ]
    polling.api.statements["s"]["status"]["latest_offsets"] = {**offsets, "orders": "partition:0,offset:9;partition:1,offset:17"}
    (beat,) = polling.poll().events
    counts = {
        dataset["name"]: dataset["inputFacets"]["inputStatistics"]["rowCount"] for dataset in beat["inputs"] if "inputFacets" in dataset
    }
    assert counts == {"orders": 14}


def test_a_statement_that_is_partly_understood_reports_what_was_found(polling: Polling) -> None:
    text = "INSERT INTO t SELECT id FROM orders WHERE WITHIN WITHIN (((" + "\nWITH x"
    polling.api.submit("s", text, latest_offsets={"orders": "partition:0,offset:5", "more": "partition:0,offset:5"})
    event = event_of(polling.poll(), "s")
    assert inputs(event) == [f"{SPACE} orders", f"{SPACE} more"]
    assert [dataset["name"] for dataset in event["outputs"]] == ["t"]
    assert len(errors(event)) == 2


def test_facets_of_a_statement(polling: Polling) -> None:
    hint = "/*+ OPTIONS('api-key' = 'abcdefgh12345678') */"
    text = f"INSERT INTO moods SELECT id, mood FROM orders, LATERAL TABLE(ML_PREDICT('sentiment', id)) {hint}"
    traits = {"sql_kind": "INSERT_INTO", "schema": {"columns": [{"name": "id", "type": {"type": "VARCHAR", "length": 8}}]}}
    polling.api.submit("s", text, traits=traits)
    event = event_of(polling.poll(), "s")
    facets = event["job"]["facets"]
    assert "abcdefgh12345678" not in facets["sql"]["query"]
    assert facets["ownership"]["owners"] == [{"name": "flink-jobs", "type": "MAINTAINER"}]
    assert (facets["jobType"]["processingType"], facets["jobType"]["integration"]) == ("STREAMING", "FLINK")
    members = {key: value for key, value in facets["confluent_flink_statement"].items() if not key.startswith("_")}
    assert members == {
        "statement": "s",
        "environment_id": "env-1",
        "region": "aws.eu-west-1",
        "phase": "RUNNING",
        "uid": "s-0",
        "compute_pool_id": "lfcp-1",
        "principal": "sa-1",
        "principal_name": "flink-jobs",
        "sql_kind": "INSERT_INTO",
        "bounded": False,
        "models": ["sentiment"],
        "stopped": False,
    }
    (output,) = event["outputs"]
    assert [(field["name"], field["type"]) for field in output["facets"]["schema"]["fields"]] == [("id", "VARCHAR(8)")]
    polling.api.statements["s"]["status"]["detail"] = "waits for resources"
    (beat,) = polling.poll().events
    assert beat["job"]["facets"]["confluent_flink_statement"]["detail"] == "waits for resources"
    assert "sql" not in beat["job"]["facets"]


def test_columns_are_emitted_once_they_are_known(polling: Polling) -> None:
    shared, polling.shared = polling.shared, SharedMetadata()
    polling.api.submit("s", "INSERT INTO t SELECT * FROM orders")
    assert columns(event_of(polling.poll(), "s")) == {}
    polling.shared = shared
    (beat,) = polling.poll().events
    assert sorted(columns(beat)) == ["t.amount", "t.customer", "t.id"]
    (beat,) = polling.poll().events
    assert not beat["job"]["facets"]


def test_a_materialized_table_is_one_job(polling: Polling) -> None:
    polling.api.submit("make-it", "CREATE MATERIALIZED TABLE daily AS SELECT id FROM orders", "COMPLETED")
    polling.api.tables["daily"] = {
        "name": "daily",
        "metadata": {"uid": "u1", "created_at": "2026-05-01T08:00:00Z"},
        "spec": {"query": "SELECT id FROM orders;", "kafka_cluster_id": "lkc-1", "principal": "sa-1"},
        "status": {"phase": "RUNNING", "version": 2},
    }
    seen = polling.poll()
    assert {event["job"]["name"] for event in seen.events} == {"flink/daily"}
    assert columns(event_of(seen, "daily")) == {"daily.id": ["orders.id"]}
    assert event_of(seen, "daily")["job"]["facets"]["sql"]["query"] == "SELECT id FROM orders"
    polling.server.failing["/sql/v1/organizations/org-1/environments/env-1/materialized-tables"] = Reply(500, {})  # type: ignore[attr-defined]
    seen = polling.poll()
    assert not [event for event in seen.events if event["eventType"] == "ABORT"]
    assert [unseen.what for unseen in seen.unseen] == ["materialized tables"]
    polling.server.failing.clear()  # type: ignore[attr-defined]
    del polling.api.tables["daily"], polling.api.statements["make-it"]
    assert polling.states() == ["ABORT flink/daily"]


@pytest.mark.parametrize(
    "answer",
    [
        Reply(500, {"errors": [{"detail": "broken"}]}),
        Reply(403, {"errors": [{"detail": "Forbidden"}]}),
        Reply(200, b'{"metadata": {}, "data": [{"na'),
        Reply(200, {"metadata": {}, "data": "none"}),
    ],
)
def test_a_failed_page_ends_no_runs(polling: Polling, answer: Reply) -> None:
    for at in range(12):
        polling.api.submit(f"s{at}", "INSERT INTO t SELECT id FROM orders", at=at)
    polling.poll()
    path = "/sql/v1/organizations/org-1/environments/env-1/statements?page_size=100&page_token"
    polling.server.failing[path] = answer  # type: ignore[attr-defined]
    with pytest.raises(SourceError):
        polling.poll()


def test_a_hidden_statement_is_not_gone(polling: Polling) -> None:
    polling.api.submit("s", "INSERT INTO t SELECT id FROM orders")
    polling.poll()
    polling.api.hidden.add("s")
    seen = polling.poll()
    assert not seen.events
    assert [unseen.what for unseen in seen.unseen] == ["statement s"]
    polling.api.hidden.clear()
    assert polling.states() == ["RUNNING flink/s"]


def test_a_region_without_a_key_is_unavailable() -> None:
    settings = ConfluentSettings()
    (plane,) = planes(PlaneContext(WHOLE, WHOLE, Clients(settings), settings))
    assert "no API key is set for Flink in env-1/aws.eu-west-1" in plane.unavailable_reason()
    settings = ConfluentSettings(flink={"aws.eu-west-1": KEY_OF_FLINK})
    (plane,) = planes(PlaneContext(WHOLE, Organization(), Clients(settings), settings))
    assert "organization" in plane.unavailable_reason()
