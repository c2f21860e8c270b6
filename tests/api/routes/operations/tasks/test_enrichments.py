"""Enrichments: which catalogs a request reads, in parts and to the end, and what is answered where there is none to read."""

import json
import shlex
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.api.routes.operations.tasks.task_client import TaskClient
from tests.api.support import Server, running
from tests.sources import scripted, stepwise
from tests.sources.scripted import Unseen

from lineage_bridge.errors import UnreachableError
from lineage_bridge.sources.common.observer import Observation
from lineage_bridge.sources.runtime.kinds import CATALOGS, MODULES, SourceKinds

KINDS = SourceKinds({**MODULES, "confluent": stepwise.__name__, "glue": scripted.__name__})
TARGET = {"region": "eu-west-1", "catalog_id": "123456789012", "access_key_id": "AKIA", "secret_access_key": "${env:KEY}"}


@pytest.fixture
def server(tmp_path: Path, empty_store: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    for of in ("SCRIPTS", "SEEN", "NOTICED"):
        monkeypatch.setattr(scripted, of, {})
    with running(tmp_path, empty_store, KINDS) as started:
        yield started


@pytest.fixture
def catalogs(server: Server) -> TaskClient:
    """Two sources that read catalogs, one of them paused."""
    for name in ("lake", "warehouse"):
        scripted.SCRIPTS[name] = [((f"{name} 1",), (), ()), ((f"{name} 2",), (), ())]
        server.sources.add(name, "glue", {"system": name}, replace=False)
    server.sources.pause("warehouse", paused=True)
    return TaskClient(server)


def ended(tasks: TaskClient, started: Any) -> list[Any]:
    return [tasks.ended(task) for task in started["task_ids"]]


def test_a_catalog_is_read_to_its_end_and_its_events_are_in_the_graph(catalogs: TaskClient) -> None:
    scripted.NOTICED["lake"] = 1
    started = catalogs.post("/enrich", params={"name": "lake"})
    (done,) = ended(catalogs, started)
    assert (started["task_type"], started["status"], started["task_ids"]) == ("enrich", "pending", [done["task_id"]])
    assert (done["status"], done["source"], done["events"], done["result"]) == (
        "completed",
        "lake",
        2,
        {"graph_id": "g", "node_count": 3, "edge_count": 2},
    )
    assert [(plane["plane"], plane["scope"], plane["state"]) for plane in done["planes"]] == [("catalog", "lake", "observed")]
    jobs = catalogs.server.client.get("/api/v1/lineage/jobs").json()
    assert {job["name"] for job in jobs} == {"lake 1", "lake 2"}
    assert [before for before, _ in scripted.SEEN["lake"]] == [None, {"poll": 1}]
    assert catalogs.server.sources.record("lake").state.polls == 1
    assert [task["task_id"] for task in catalogs.server.client.get("/api/v1/tasks?task_type=enrich").json()] == [done["task_id"]]


def test_what_could_not_be_read_is_listed_and_a_catalog_that_does_not_answer_fails(catalogs: TaskClient) -> None:
    scripted.SCRIPTS["lake"] = [
        ((), (), (Unseen("database sales: tables", "not allowed", "grant it"),)),
        UnreachableError("no answer", "ring"),
    ]
    (partly,) = ended(catalogs, catalogs.post("/enrich"))
    assert (partly["status"], partly["unknown"][0]["why"], partly["planes"][0]["hints"]) == (
        "completed",
        ["database sales: tables: not allowed"],
        ["grant it"],
    )
    (failed,) = ended(catalogs, catalogs.post("/enrich"))
    assert (failed["status"], failed["error"], failed["hint"]) == ("failed", "no answer", "ring")


def test_what_an_earlier_part_could_not_see_is_listed_although_the_last_one_saw_everything(catalogs: TaskClient) -> None:
    scripted.NOTICED["lake"] = 1
    scripted.SCRIPTS["lake"] = [(("lake 1",), (), (Unseen("database sales: tables", "not allowed", "grant it"),)), (("lake 2",), (), ())]
    (partly,) = ended(catalogs, catalogs.post("/enrich"))
    assert len(scripted.SEEN["lake"]) == 2
    assert [plane["why"] for plane in partly["unknown"]] == [["database sales: tables: not allowed"]]
    assert [record.what for record in catalogs.server.sources.record("lake").state.unseen] == ["database sales: tables"]


def test_without_a_name_all_are_read_that_are_not_paused(catalogs: TaskClient) -> None:
    assert [task["source"] for task in ended(catalogs, catalogs.post("/enrich"))] == ["lake"]
    assert [task["source"] for task in ended(catalogs, catalogs.post("/enrich", params={"name": "warehouse"}))] == ["warehouse"]
    catalogs.server.sources.pause("warehouse", paused=False)
    assert [task["source"] for task in ended(catalogs, catalogs.post("/enrich", json={"enable_catalog": True}))] == ["lake", "warehouse"]
    for name in ("lake", "warehouse"):
        catalogs.server.sources.pause(name, paused=True)
    assert "paused: lake, warehouse" in catalogs.post("/enrich", status=422)["error"]["message"]


def test_a_target_stands_for_the_sources_that_read_its_catalog(catalogs: TaskClient) -> None:
    catalogs.server.targets.add("there", "glue", TARGET, replace=False)
    assert len(catalogs.post("/enrich", params={"name": "there"})["task_ids"]) == 2
    for name in ("lake", "warehouse"):
        catalogs.server.sources.remove(name)
    refused = catalogs.post("/enrich", status=422, params={"name": "there"})["error"]
    assert refused["message"] == "no source reads the catalog of target there"
    assert refused["hint"].startswith("add one: lineage-bridge source add there-catalog glue")


def test_the_command_that_adds_a_source_for_a_target_is_a_whole_one(tmp_path: Path, empty_store: Path) -> None:
    with running(tmp_path, empty_store) as server:
        tasks = TaskClient(server)
        server.targets.add("there", "glue", TARGET, replace=False)
        hint = tasks.post("/enrich", status=422, params={"name": "there"})["error"]["hint"]
        assert hint.endswith("secret_access_key=${env:KEY}'")
        words = shlex.split(hint.removeprefix("add one: "))
        assert words[:5] == ["lineage-bridge", "source", "add", "there-catalog", "glue"]
        server.sources.add(words[3], words[4], dict(word.split("=", 1) for word in words[5:]), replace=False)
        server.sources.add("elsewhere", "glue", {"region": "us-east-1"}, replace=False)
        server.sources.pause("there-catalog", paused=True)
        assert tasks.post("/enrich", params={"name": "there"})["source"] == "there-catalog"
        unity = {"url": "https://dbx.example", "client_id": "c", "client_secret": "${env:KEY}", "prefix": "ours"}
        server.targets.add("dbx", "databricks", unity, replace=False)
        hint = tasks.post("/enrich", status=422, params={"name": "dbx"})["error"]["hint"]
        shared = "client_id=c 'client_secret=${env:KEY}' url=https://dbx.example"
        assert hint == f"add one: lineage-bridge source add dbx-catalog unity {shared}"
        server.targets.add("events", "files", {}, replace=False)
        refused = tasks.post("/enrich", status=422, params={"name": "events"})["error"]
        assert (refused["message"], ", ".join(CATALOGS) in refused["hint"]) == (
            "target events cannot be read: no source reads systems of kind files",
            True,
        )


@pytest.mark.parametrize(
    ("asked", "status", "message"),
    [
        ({"params": {"name": "nowhere"}}, 404, "there is no source or target nowhere"),
        ({"params": {"name": "cloud"}}, 422, "source cloud is of kind confluent, which reads no catalog"),
        ({"params": {"graph_id": "another"}}, 404, "there is no graph 'another'"),
        ({"params": {"name": "lake"}, "json": {"name": "warehouse"}}, 422, "`name` is both in the query and in the body"),
        ({"json": {"enable_catalog": False}}, 422, "an enrichment always reads a catalog, and nothing else"),
        ({"json": {"enable_metrics": True}}, 422, "an enrichment always reads a catalog, and nothing else"),
    ],
)
def test_what_cannot_be_read_is_refused_with_the_reason(catalogs: TaskClient, asked: dict[str, Any], status: int, message: str) -> None:
    catalogs.server.sources.add("cloud", "confluent", {}, replace=False)
    assert catalogs.post("/enrich", status=status, **asked)["error"]["message"] == message
    assert catalogs.server.client.get("/api/v1/tasks").json() == []


def test_without_any_catalog_the_answer_says_how_to_add_one(server: Server) -> None:
    refused = TaskClient(server).post("/enrich", status=422)["error"]
    assert (refused["message"], "lineage-bridge source add" in refused["hint"]) == ("no source reads a catalog", True)


def test_an_extraction_reads_the_catalogs_too_unless_it_is_asked_not_to(catalogs: TaskClient, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stepwise, "SCRIPT", stepwise.Script([stepwise.Plane("topics env-1/lkc-1", ("t",))]))
    monkeypatch.setenv("CLOUD_SECRET", "hush")
    catalogs.server.sources.add("cloud", "confluent", {"cloud": {"key": "k", "secret": "${env:CLOUD_SECRET}"}}, replace=False)
    alone = catalogs.extract(json={"enable_enrichment": False})
    assert (alone["status"], alone["enrichments"], scripted.SEEN) == ("completed", [], {})
    scripted.SCRIPTS["lake"] = [UnreachableError("no answer", "ring")]
    catalogs.server.source_repository.save("broken", "glue", {"system": "broken", "unheard": 1})
    done = catalogs.extract()
    (enrichment,) = [catalogs.ended(task) for task in done["enrichments"]]
    assert (done["status"], enrichment["source"], enrichment["status"]) == ("completed", "lake", "failed")
    (unknown,) = done["unknown"]
    assert (unknown["plane"], unknown["scope"], unknown["state"], "unheard" in unknown["why"][0]) == (
        "enrichment",
        "broken",
        "failed",
        True,
    )


def test_an_extraction_starts_a_warehouse_only_if_it_is_asked_to(catalogs: TaskClient, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stepwise, "SCRIPT", stepwise.Script([stepwise.Plane("topics env-1/lkc-1", ("t",))]))
    monkeypatch.setenv("CLOUD_SECRET", "hush")
    catalogs.server.sources.add("cloud", "confluent", {"cloud": {"key": "k", "secret": "${env:CLOUD_SECRET}"}}, replace=False)
    unity = {"url": "http://127.0.0.1:9", "token": "${env:CLOUD_SECRET}"}
    catalogs.server.sources.add("dbx", "unity", {**unity, "warehouse_id": "w1"}, replace=False)
    catalogs.server.sources.add("tables", "unity", unity, replace=False)
    usual = catalogs.extract()
    assert {catalogs.get(task)["source"] for task in usual["enrichments"]} == {"lake", "tables"}
    line = "catalog dbx is left out: it starts SQL warehouse w1; to read it: lineage-bridge enrich dbx"
    assert (line in usual["progress"], usual["unknown"]) == (True, [])
    every = catalogs.extract(json={"enable_enrichment": True})
    assert {catalogs.get(task)["source"] for task in every["enrichments"]} == {"lake", "tables", "dbx"}


def test_an_enrichment_that_was_interrupted_goes_on_where_it_was(catalogs: TaskClient) -> None:
    scripted.NOTICED["lake"] = 1
    task = catalogs.post("/enrich", params={"name": "lake"})["task_id"]
    catalogs.waits("delivering", task)
    catalogs.post(f"/{task}/cancel", status=200)
    stopped = catalogs.ended(task)
    assert (stopped["status"], stopped["resumable"]) == ("failed", True)
    polls = len(scripted.SEEN["lake"])
    catalogs.post(f"/{task}/resume")
    done = catalogs.ended(task)
    assert (done["status"], len(scripted.SEEN["lake"])) == ("completed", polls)
    assert json.dumps(done["planes"]).count("observed") == 1


def test_an_enrichment_that_was_cancelled_between_two_parts_reads_the_rest(catalogs: TaskClient, monkeypatch: pytest.MonkeyPatch) -> None:
    scripted.NOTICED["lake"] = 1
    whole, second = scripted.Scripted.observe, threading.Event()

    def observe(self: scripted.Scripted, before: Any, *more: Any) -> Observation:
        if before is not None and not second.is_set():
            second.set()
            assert self.stop is not None
            assert self.stop.wait(20)
            self.check_stop()
        return whole(self, before, *more)

    monkeypatch.setattr(scripted.Scripted, "observe", observe)
    task = catalogs.post("/enrich", params={"name": "lake"})["task_id"]
    assert second.wait(20)
    until = time.monotonic() + 20
    while not catalogs.get(task)["planes"]:
        assert time.monotonic() < until
        time.sleep(0.02)
    catalogs.post(f"/{task}/cancel", status=200)
    stopped = catalogs.ended(task)
    assert [(plane["state"], plane["events"]) for plane in stopped["planes"]] == [("asked", 1)]
    catalogs.post(f"/{task}/resume")
    assert catalogs.ended(task)["planes"][0]["state"] == "observed"
    assert {job["name"] for job in catalogs.server.client.get("/api/v1/lineage/jobs").json()} == {"lake 1", "lake 2"}


def test_a_cancelled_enrichment_stops_the_poll_that_is_under_way(catalogs: TaskClient, monkeypatch: pytest.MonkeyPatch) -> None:
    polling = threading.Event()

    def observe(self: scripted.Scripted, *_: Any) -> Observation:
        polling.set()
        assert self.stop is not None
        assert self.stop.wait(20)
        self.check_stop()
        return Observation({})

    monkeypatch.setattr(scripted.Scripted, "observe", observe)
    task = catalogs.post("/enrich", params={"name": "lake"})["task_id"]
    assert polling.wait(20)
    catalogs.post(f"/{task}/cancel", status=200)
    assert catalogs.ended(task)["cancelled"]
