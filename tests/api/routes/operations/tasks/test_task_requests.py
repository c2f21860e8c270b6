"""Requests for tasks: credentials that never come back, invalid requests, sources, lists."""

import json
import logging

import pytest
from tests.api.routes.operations.tasks.task_client import CLOUD, SECRETS, TASKS, TaskClient
from tests.api.support import Server
from tests.sources import stepwise

from lineage_bridge.errors import SourceError


def test_credentials_of_a_request_are_used_and_never_come_back(
    tasks: TaskClient, script: stepwise.Script, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    done = tasks.extract(json=SECRETS)
    assert (script.polls[0]["cloud"], script.polls[0]["kafka"]) == ("hush-1", {"lkc-1": "hush-2"})
    assert done["params"]["credentials"] == [
        "cloud",
        "flink env-1",
        "kafka lkc-1",
        "ksqldb lksqlc-1",
        "metrics",
        "registry env-1",
        "tableflow env-1",
    ]
    tasks.extract()
    assert script.polls[1]["cloud"] == "cloud-hush"
    assert script.polls[1]["kafka"] == {}
    answer = json.dumps(done) + tasks.server.client.get(TASKS).text + tasks.server.client.get("/api/v1/sources").text + caplog.text
    files = b"".join(path.read_bytes() for path in tasks.server.folder.rglob("*") if path.is_file())
    for secret in ("hush", "CK", "KK", "RK", "FK", "QK", "TK", "MK"):
        assert f'"{secret}' not in answer
        assert "hush-" not in answer
        assert b"hush-" not in files


WRONG = [
    b'{"cloud_credentials": {"api_key": "CK", "api_secret": "hush"}',
    b'{"cloud_credentials": "hush"}',
    b'{"cloud_credentials": {"api_key": "CK", "api_secret": ["hush"]}}',
    b'{"cloud_credentials": {"api_key": "CK", "api_secrets": "hush"}}',
    b'{"cloud_credentials": {"api_key": "", "api_secret": "hush"}}',
    b'{"cluster_credentials": {"lkc-1": {"api_key": 5, "api_secret": "hush"}}}',
    b'{"unheard": "hush"}',
    b'{"sr_endpoints": {"env-1": "https://u:hush@h"}}',
    b'{"metrics_lookback_hours": -1, "cloud_credentials": {"api_key": "CK", "api_secret": "hush"}}',
    b'{"off": ["unheard"]}',
    b'["hush"]',
    b"hush",
]


def test_an_invalid_request_is_refused_and_not_quoted(tasks: TaskClient) -> None:
    for body in WRONG:
        answer = tasks.server.client.post(f"{TASKS}/extract", content=body)
        assert answer.status_code == 422, body
        assert "hush" not in answer.text
    assert tasks.server.client.get(TASKS).json() == []


def test_ids_that_differ_between_query_and_body_are_refused(tasks: TaskClient) -> None:
    answer = tasks.post(status=422, params={"environment_ids": "env-1"}, json={"environment_ids": ["env-2"]})
    assert "environment_ids" in answer["error"]["message"]


def test_the_source_of_a_task(server: Server, script: stepwise.Script) -> None:
    tasks = TaskClient(server)
    assert "cloud_credentials" in tasks.post(status=422)["error"]["hint"]
    assert tasks.extract(json=SECRETS)["source"] == "confluent"
    assert tasks.extract(json=SECRETS)["source"] == "confluent"
    assert script.polls[1]["before"], "the second begins where the first ended"
    assert server.client.get("/api/v1/sources").json() == {"sources": []}
    server.sources.add("one", "confluent", {"cloud": CLOUD}, replace=False)
    server.sources.add("two", "confluent", {"cloud": CLOUD}, replace=False)
    server.sources.add("else", "kafka", {"bootstrap_servers": "b:9092"}, replace=False)
    assert "one, two" in tasks.post(status=422)["error"]["hint"]
    assert tasks.extract(params={"source": "two"})["source"] == "two"
    assert tasks.extract(json={"source": "one"})["source"] == "one"
    assert "three" in tasks.post(status=422, json={"source": "three"})["error"]["message"]
    assert "tasks cannot extract" in tasks.post(status=422, json={"source": "else"})["error"]["message"]


def test_tasks_are_listed_by_kind_and_status_in_pages(tasks: TaskClient, script: stepwise.Script) -> None:
    done = [tasks.extract()["task_id"] for _ in range(3)]
    script.error = SourceError("no")
    failed = tasks.extract()["task_id"]
    client = tasks.server.client
    assert [task["task_id"] for task in client.get(TASKS).json()] == [failed, *reversed(done)]
    assert [task["task_id"] for task in client.get(TASKS, params={"status": "failed"}).json()] == [failed]
    assert client.get(TASKS, params={"task_type": "enrich"}).json() == []
    page = client.get(TASKS, params={"limit": 2, "offset": 1})
    assert [task["task_id"] for task in page.json()] == [done[2], done[1]]
    assert "offset=3" in page.headers["Link"]
    assert client.get(TASKS, params={"status": "done"}).status_code == 422
    assert tasks.get("none", status=404)["error"]["code"] == "not_found"


def test_only_this_machine_starts_and_stops(tasks: TaskClient) -> None:
    away = tasks.server.client_of("10.0.0.9")
    for call in (
        lambda: away.post(f"{TASKS}/extract"),
        lambda: away.post(f"{TASKS}/x/resume"),
        lambda: away.post(f"{TASKS}/x/cancel"),
        lambda: away.delete(f"{TASKS}/x"),
    ):
        assert call().status_code == 403
    assert away.get(TASKS).status_code == 200
