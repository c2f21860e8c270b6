"""Tableflow: handwritten answers of the service, and the events that follow from them."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
from tests.api.support import Server
from tests.sources.confluent.polling import ENV, LKC, SECRET, SPACE, T0, Polling, bare, edges, polling, topic_metadata
from tests.sources.http import Reply, Request

from lineage_bridge.errors import BusyError, ForbiddenError, SourceError
from lineage_bridge.sources.common.observer import Observation
from lineage_bridge.sources.confluent.tableflow.plane import planes
from lineage_bridge.sources.runtime.poller import outbox_messages

TOPICS, CATALOGS, ACCOUNTS = "/tableflow/v1/tableflow-topics", "/tableflow/v1/catalog-integrations", "/pim/v1/integrations"
JOB = "tableflow/shop.orders"
GLUE = ("arn:aws:glue:eu-west-1:123456789012", f"table/{LKC}/shop.orders")
UNITY = ("unitycatalog://dbc-1.cloud.databricks.com", f"main.{LKC}.shop_orders")


def tabled(name: str, formats: str = "ICEBERG DELTA", states: str = "glue unity", phase: str = "RUNNING", **more: Any) -> dict[str, Any]:
    """An entry of the list of topics."""
    return {
        "metadata": {"created_at": more.pop("created", "2026-01-01T00:00:00Z")},
        "spec": {
            "display_name": more.pop("display_name", name),
            "topic_name": name,
            "suspended": more.pop("suspended", False),
            "table_formats": formats.split(),
            "storage": {"kind": "ByobAws", "bucket_name": "lake", "table_path": "s3://lake/t", "provider_integration_id": "cspi-9"},
        },
        "status": {
            "phase": phase,
            "error_message": more.pop("error", "none"),
            "catalog_sync_statuses": [{"catalog_integration_id": f"tci-{catalog}", "sync_status": "SYNCED"} for catalog in states.split()],
            **more,
        },
    }


def catalog(name: str, **config: str) -> dict[str, Any]:
    return {"id": f"tci-{name}", "spec": {"display_name": name, "config": {**config, "client_secret": "****"}}, "status": {}}


class Tableflow:
    """The lists as a test has them."""

    def __init__(self) -> None:
        self.lists: dict[str, list[dict[str, Any]]] = {
            TOPICS: [tabled("shop.orders")],
            CATALOGS: [
                catalog("glue", kind="AwsGlue", provider_integration_id="cspi-1"),
                catalog("unity", kind="Unity", workspace_endpoint="https://dbc-1.cloud.databricks.com", catalog_name="main"),
                catalog("open", kind="Snowflake", endpoint="https://acme.snowflakecomputing.com/polaris/api", warehouse="LAKE"),
            ],
            ACCOUNTS: [{"id": "cspi-1", "config": {"customer_iam_role_arn": "arn:aws:iam::123456789012:role/glue"}}],
        }

    def __call__(self, request: Request) -> Reply:
        path = "/" + "/".join(request.parts)
        scope = {"environment": ENV, **({} if path == ACCOUNTS else {"spec.kafka_cluster": LKC})}
        assert {key: request.query.get(key) for key in scope} == scope
        at = int(request.query.get("page_token", 0))
        following = f"{path}?page_token={at + 1}&" + "&".join(f"{key}={value}" for key, value in scope.items())
        entries = self.lists[path]
        return Reply(200, {"metadata": {"next": following if at + 1 < len(entries) else None}, "data": entries[at : at + 1]})


@pytest.fixture
def tableflow() -> Tableflow:
    return Tableflow()


@pytest.fixture
def plane(tableflow: Tableflow, monkeypatch: pytest.MonkeyPatch) -> Iterator[Polling]:
    monkeypatch.setenv("SECRET", SECRET)
    with polling(tableflow, planes, topic_metadata("shop.orders")) as poller:
        yield poller


def event_lines(seen: Observation) -> list[str]:
    """Each event: its type, job, and the error's message."""
    lines = []
    for event in seen.events:
        error = event.get("run", {"facets": {}})["facets"].get("errorMessage")
        lines.append(f"{event.get('eventType', 'job')} {event['job']['name']}" + (f" - {error['message']}" if error else ""))
    return lines


def flows(*pairs: tuple[tuple[str, str], tuple[str, str]]) -> list[str]:
    return sorted(f"{' '.join(source)} > {' '.join(target)}" for source, target in pairs)


def test_a_topic_becomes_a_table_that_each_catalog_of_its_format_lists(plane: Polling) -> None:
    seen = plane.poll()
    topic, table = (SPACE, "shop.orders"), (SPACE, JOB)
    found = edges(seen)
    assert [edge for edge in found if len(edge.split()) == 5] == flows((topic, table), (table, GLUE), (table, UNITY))
    assert [edge for edge in found if edge.endswith(f"{JOB} shop")] == [f"{SPACE} shop.orders _key.shop > {SPACE} {JOB} shop"]
    assert f"{SPACE} {JOB} total > {' '.join(UNITY)} total" in found
    assert len(found) == 3 + 3 * 3
    start = bare(seen.events[0])
    assert (event_lines(seen), start["inputs"]) == ([f"START {JOB}"], [{"namespace": SPACE, "name": "shop.orders"}])
    facets = {(dataset["namespace"], dataset["name"]): dataset["facets"] for dataset in start["outputs"]}
    assert [field["name"] for field in facets[UNITY]["schema"]["fields"]] == ["id", "total", "shop"]
    assert facets[GLUE]["dataSource"] == {"name": "AWS Glue", "uri": GLUE[0]}
    assert facets[table]["confluent_tableflow"] == {
        "topic": "shop.orders",
        "cluster_id": LKC,
        "phase": "RUNNING",
        "table_formats": ["DELTA", "ICEBERG"],
        "catalogs": [
            {"integration_id": "tci-glue", "name": "glue", "type": "AWS Glue", "status": "SYNCED"},
            {"integration_id": "tci-unity", "name": "unity", "type": "Unity Catalog", "status": "SYNCED"},
        ],
        "storage": {"kind": "ByobAws", "bucket_name": "lake", "table_path": "s3://lake/t"},
    }


def test_the_topic_name_is_preferred_to_the_display_name(plane: Polling, tableflow: Tableflow) -> None:
    tableflow.lists[TOPICS] = [tabled("shop.orders", display_name="Orders of the shop")]
    assert {event["job"]["name"] for event in plane.poll().events} == {JOB}
    del tableflow.lists[TOPICS][0]["spec"]["topic_name"]
    tableflow.lists[TOPICS][0]["spec"]["display_name"] = "shop.orders"
    assert event_lines(plane.poll()) == [f"RUNNING {JOB}"]


@pytest.mark.parametrize(
    ("formats", "states", "gets"),
    [
        ("ICEBERG", "glue unity", [GLUE]),
        ("DELTA", "glue unity", [UNITY]),
        ("ICEBERG DELTA", "", []),
        ("ICEBERG", "open", [("snowflake://acme", f"LAKE.{LKC}.shop.orders")]),
        ("DELTA", "open", []),
        ("ICEBERG", "unheard-of", []),
        ("DELTA", "nameless", []),
    ],
)
def test_a_catalog_lists_the_table_if_the_service_reports_it_and_the_format_fits(
    plane: Polling, tableflow: Tableflow, formats: str, states: str, gets: list[tuple[str, str]]
) -> None:
    tableflow.lists[CATALOGS].append(catalog("nameless", kind="Unity", catalog_name="main"))
    tableflow.lists[TOPICS] = [tabled("shop.orders", formats, states)]
    outputs = {(dataset["namespace"], dataset["name"]) for dataset in plane.poll().events[0]["outputs"]}
    assert outputs - {(SPACE, JOB)} == set(gets)


def test_without_reported_catalogs_all_of_its_format_list_the_table(plane: Polling, tableflow: Tableflow) -> None:
    del tableflow.lists[TOPICS][0]["status"]["catalog_sync_statuses"]
    assert len(plane.poll().events[0]["outputs"]) == 1 + 3


def test_names_set_by_users_and_unknown_accounts(plane: Polling, tableflow: Tableflow) -> None:
    tableflow.lists[CATALOGS] = [
        catalog("glue", kind="AWS_GLUE", provider_integration_id="cspi-2", custom_database="Web_Lake"),
        catalog("unity", kind="UNITY", workspace_endpoint="https://adb.net/", catalog_name="main", custom_schema="web"),
    ]
    names = [(dataset["namespace"], dataset["name"]) for dataset in plane.poll().events[0]["outputs"]]
    assert names[1:] == [("aws://eu-west-1/web_lake", "shop.orders"), ("unitycatalog://adb.net", "main.web.shop_orders")]
    plane.server.asked.clear()
    for _ in range(13):
        plane.poll()
    assert sum(ACCOUNTS in target for target in plane.server.asked) == 1, "accounts are fetched again each hour"


def test_an_unchanged_second_poll_sends_heartbeats_with_two_requests(plane: Polling, tableflow: Tableflow) -> None:
    tableflow.lists[CATALOGS] = tableflow.lists[CATALOGS][:1]
    first = plane.poll()
    plane.server.asked.clear()
    second = plane.poll()
    assert len(plane.server.asked) == 2
    (beat,) = second.events
    assert (beat["eventType"], beat["job"]["facets"], beat["inputs"], beat["outputs"]) == ("RUNNING", {}, [], [])
    assert beat["run"]["runId"] == first.events[0]["run"]["runId"]


def test_a_cluster_without_tables_is_one_request(plane: Polling, tableflow: Tableflow) -> None:
    tableflow.lists[TOPICS] = []
    assert plane.poll().events == ()
    assert len(plane.server.asked) == 1


LIVES: list[list[tuple[dict[str, Any] | None, list[str]]]] = [
    [
        ({"phase": "PENDING"}, ["START"]),
        ({}, ["RUNNING"]),
        ({"suspended": True, "phase": "SUSPENDED", "error": "record 7 has no schema"}, ["ABORT - record 7 has no schema"]),
        ({"suspended": True, "phase": "SUSPENDED", "error": "record 7 has no schema"}, []),
        ({}, ["START"]),
        ({"phase": "FAILED", "error": "no access to the bucket"}, ["FAIL - no access to the bucket"]),
        ({"phase": "FAILED", "error": "no access to the bucket"}, []),
        ({}, ["START"]),
        (None, ["ABORT"]),
        (None, []),
    ],
    [({"suspended": True}, ["job"]), ({"suspended": True}, []), ({}, ["START"]), ({"suspended": True}, ["ABORT"]), (None, [])],
    [({"phase": "FAILED"}, ["START", "FAIL"]), ({"suspended": True}, ["job"]), ({}, ["START"])],
    [({}, ["START"]), ({"states": "glue"}, ["COMPLETE", "START"]), ({"created": "2026-02-02T00:00:00Z"}, ["COMPLETE", "START"])],
]


@pytest.mark.parametrize("life", LIVES, ids=range(len(LIVES)))
def test_each_state_has_its_event(plane: Polling, tableflow: Tableflow, life: list[tuple[dict[str, Any] | None, list[str]]]) -> None:
    runs: list[str] = []
    for number, (state, gives) in enumerate(life):
        tableflow.lists[TOPICS] = [] if state is None else [tabled("shop.orders", **state)]
        seen = plane.poll()
        assert [line.replace(f" {JOB}", "") for line in event_lines(seen)] == gives, f"poll {number + 1}"
        runs += [event["run"]["runId"] for event in seen.events if event.get("eventType") == "START"]
    assert len(set(runs)) == len(runs)


def test_columns_come_from_the_registry(plane: Polling) -> None:
    declared = {name: schema._replace(rank=1) for name, schema in plane.shared.schemas.items()}
    plane.shared = replace(plane.shared, schemas=declared)
    assert len(edges(plane.poll())) == 3


def test_a_new_field_is_emitted_in_the_same_run(plane: Polling) -> None:
    plane.poll()
    plane.shared = topic_metadata("else")
    assert event_lines(plane.poll()) == [f"RUNNING {JOB}"]
    plane.shared = topic_metadata("shop.orders")
    (event,) = plane.poll().events
    assert (event["eventType"], "lineage" in event["job"]["facets"]) == ("RUNNING", True)
    assert len(edges(plane.poll())) == 0


@pytest.mark.parametrize(
    ("reply", "error"),
    [
        (Reply(503, {}), BusyError),
        (Reply(403, {}), ForbiddenError),
        (Reply(200, b"<html>", "text/html"), SourceError),
        (Reply(200, b'{"data": ['), SourceError),
        (Reply(200, {"metadata": {}}), SourceError),
    ],
)
@pytest.mark.parametrize("page", ["", f"?page_size=100&environment={ENV}&spec.kafka_cluster={LKC}&page_token=1"])
def test_a_failed_list_is_an_error_and_ends_no_runs(
    plane: Polling, tableflow: Tableflow, reply: Reply, error: type[Exception], page: str
) -> None:
    tableflow.lists[TOPICS] = [tabled("shop.orders"), tabled("other")]
    plane.poll()
    plane.server.failing = {TOPICS + page: reply}
    with pytest.raises(error):
        plane.poll()
    plane.server.failing = {}
    assert event_lines(plane.poll()) == ["RUNNING tableflow/other", f"RUNNING {JOB}"]


@pytest.mark.parametrize(("path", "what"), [(CATALOGS, "catalog integrations"), (ACCOUNTS, "accounts of catalogs")])
def test_catalogs_and_accounts_that_cannot_be_listed_are_kept(plane: Polling, tableflow: Tableflow, path: str, what: str) -> None:
    plane.poll()
    plane.server.failing = {path: Reply(403, {})}
    if path == ACCOUNTS:
        tableflow.lists[CATALOGS].append(catalog("second", kind="AwsGlue", provider_integration_id="cspi-7"))
    seen = plane.poll()
    assert (event_lines(seen), [part.what for part in seen.unseen]) == ([f"RUNNING {JOB}"], [what])


def test_catalogs_that_could_not_be_listed_at_first_are_added_later_in_the_same_run(plane: Polling) -> None:
    plane.server.failing = {CATALOGS: Reply(503, {}), ACCOUNTS: Reply(503, {})}
    outputs = [len(plane.poll().events[0]["outputs"])]
    del plane.server.failing[CATALOGS]
    seen = plane.poll()
    assert [part.what for part in seen.unseen] == ["accounts of catalogs"]
    plane.server.failing = {}
    for later in (seen, plane.poll()):
        assert event_lines(later) == [f"RUNNING {JOB}"]
        outputs.append(len(later.events[0]["outputs"]))
    assert outputs == [1, 3, 3]
    assert plane.poll().events[0]["outputs"] == []


def test_without_a_key_tableflow_is_unavailable_and_runs_end_with_their_cluster(plane: Polling) -> None:
    plane.poll()
    assert event_lines(plane.end_scope()) == [f"ABORT {JOB}"]
    plane.settings = plane.settings.model_copy(update={"tableflow": {}})
    assert plane.plane.unavailable_reason() == f"no API key is set for {ENV} (tableflow)"


def test_lineage_of_a_topic_leads_to_the_catalogs(plane: Polling, graph: Server) -> None:
    graph.parts.now_us = T0
    for path, body in outbox_messages(plane.poll()):
        assert graph.client.post(path, content=body, headers={"Content-Type": "application/json"}).is_success
    graph.fold()
    walk = graph.ask("/graph/neighbourhood", namespace=SPACE, name="shop.orders", direction="downstream", depth=4)
    names = {(node["namespace"], node["name"]) for node in walk["nodes"] if node["kind"] == "dataset"}
    assert {(SPACE, JOB), GLUE, UNITY} <= names
