"""What AWS Glue has about tables of the graph, by moto behind what moto does not check: it is shown as what the catalog has, it replaces
nothing that producers state, and is never published.
"""

import json
import threading
from collections.abc import Iterator
from typing import Any

import httpx
import pytest
from tests.api.routes.operations.tasks.task_client import TaskClient
from tests.api.support import Server
from tests.catalogs.conftest import added, published
from tests.catalogs.standins.glue import CATALOG, REGION, Fault, Glue
from tests.catalogs.standins.server import Answer, Request, answering
from tests.catalogs.test_glue import Lake
from tests.events import dataset, dataset_event, facet, schema
from tests.published import faults
from tests.servers.kinesis import Kinesis

from lineage_bridge.catalogs.enrichment import observer

SPACE = f"arn:aws:glue:{REGION}:{CATALOG}"
KEY = "lineagebridge_catalog_there"


@pytest.fixture(scope="module")
def glue(moto: Kinesis) -> Iterator[tuple[Glue, str]]:
    there = Glue(moto.url)
    with answering(there.handle) as url:
        yield there, url


@pytest.fixture
def lake(glue: tuple[Glue, str], ours: Server) -> Lake:
    """A database with five tables, which `ours` has as datasets in the namespace `ns`; the target is to be read."""
    there, url = glue
    there.faults, there.updates, there.reads, there.before_update = [], [], 0, lambda _: None
    made = Lake(there, url)
    made.place.settings["enrich"] = True
    added(ours, made.place)
    return made


def enriched(server: Server, *, target: str = "there", remove: bool = False) -> tuple[dict[str, Any], dict[str, dict[str, Any]]]:
    """An enrichment that has ended, and the facet of each dataset that it stated something about."""
    client, events = TaskClient(server), list[dict[str, Any]]()
    server.parts.now_us += 1_000_000
    task = client.post("/enrich", json={"target": target, "remove": remove})["task_id"]
    deliver = client.deliver

    def delivered() -> None:
        for message in server.source_repository.pending_messages(100):
            events.extend(httpx.Response(200, content=message.body).json())
        deliver()

    client.deliver = delivered  # type: ignore[method-assign]
    ended = client.ended(task)
    delivered()  # what was stored of a task that has failed
    server.fold()
    assert not [fault for fault in faults(events) if "_deleted" not in fault]
    assert all([*event["dataset"]["facets"]] == [f"lineagebridge_catalog_{target}"] for event in events)
    return ended, {event["dataset"]["name"]: event["dataset"]["facets"][f"lineagebridge_catalog_{target}"] for event in events}


def catalogs(server: Server, name: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = server.ask("/lineage/datasets/detail", namespace="ns", name=name)["catalogs"]
    return found


def test_what_the_catalog_has_is_shown_beside_what_producers_state_and_stated_once(ours: Server, lake: Lake) -> None:
    stated = dataset("a", schema=schema("y"), documentation=facet(description="ours"), ownership=facet(owners=[{"name": "us"}]))
    ours.send(dataset_event(stated))
    before = ours.ask("/lineage/datasets/detail", namespace="ns", name="a")["facets"]
    parameters = {"team": "sales", "numRows": "7", "lineagebridge.x": "1", "metadata_location": "s3://x", "long": "x" * 257, "empty": ""}
    columns = [{"Name": "x", "Type": "bigint", "Comment": "the key"}, {"Name": "y", "Type": "string"}]
    days = [{"Name": "day", "Type": "date"}]
    storage = {"Columns": columns}
    lake.glue.change(
        lake.database, "a", Description="all orders", Owner="ann", Parameters=parameters, StorageDescriptor=storage, PartitionKeys=days
    )
    task, facets = enriched(ours)
    assert (task["status"], task["task_type"], task["target"], task["source"], task["events"]) == ("completed", "enrich", "there", "", 5)
    assert [(plane["plane"], plane["scope"], plane["state"]) for plane in task["planes"]] == [("enrichment", "there", "observed")]
    assert set(facets) == {"a", "b", "c", "d", "e"}
    assert catalogs(ours, "a") == [
        {
            "target": "there",
            "catalog": SPACE,
            "table": f"table/{lake.database}/a",
            "type": "EXTERNAL_TABLE",
            "description": "all orders",
            "owners": ["ann"],
            "tags": [{"key": "team", "value": "sales"}],
            "columns": [
                {"name": "x", "type": "bigint", "description": "the key"},
                {"name": "y", "type": "string"},
                {"name": "day", "type": "date"},
            ],
        }
    ]
    after = ours.ask("/lineage/datasets/detail", namespace="ns", name="a")["facets"]
    assert {key: after[key] for key in before} == before
    assert set(after) - set(before) == {KEY}
    assert catalogs(ours, "alone") == []
    calls = lake.glue.reads
    again, none = enriched(ours)
    assert (again["status"], again["events"], none, lake.glue.reads - calls) == ("completed", 0, {}, 6)  # `alone` might be a table too


def test_a_change_is_stated_and_what_is_not_there_any_more_is_taken_back(ours: Server, lake: Lake) -> None:
    lake.glue.change(lake.database, "a", Description="all orders", Owner="ann")
    enriched(ours)
    definition = {name: value for name, value in lake.table("a").items() if name in ("Name", "StorageDescriptor", "TableType")}
    lake.glue.client.update_table(DatabaseName=lake.database, TableInput={**definition, "Owner": "bob"})
    lake.glue.client.delete_table(DatabaseName=lake.database, Name="e")
    _, facets = enriched(ours)
    assert set(facets) == {"a", "e"}
    (found,) = catalogs(ours, "a")
    assert (found["owners"], "description" in found) == (["bob"], False)
    assert catalogs(ours, "e") == []
    assert enriched(ours)[1] == {}
    lake.glue.create(lake.database, "e")
    assert set(enriched(ours)[1]) == {"e"}


@pytest.mark.parametrize("kind", ["glue", "files"])
def test_a_publication_after_an_enrichment_is_empty(ours: Server, lake: Lake, kind: str) -> None:
    """Neither what was read is published, here or elsewhere, nor what was published read."""
    ours.send(dataset_event(dataset("b", schema=schema("x"), documentation=facet(description="ours"))))
    assert published(ours).outcomes == {"done": 5}
    assert lake.table("b")["Description"] == "ours"
    lake.glue.change(lake.database, "a", Description="theirs", Owner="ann")
    ours.targets.add("export", "files", {"file": "a.ndjson", "events": "jobs"}, replace=False)
    ours.publish("export", _report(ours, "export"))
    exported = (ours.folder / "published" / "a.ndjson").read_bytes()
    _, facets = enriched(ours)
    assert len(facets) == 5
    assert "description" not in facets["b"]
    assert "lineagebridge." not in json.dumps([facet.get("tags") for facet in facets.values()])
    if kind == "glue":
        plan = published(ours, plan_only=True)
        assert (plan.counts, plan.drift, plan.unchanged) == ({}, [], 5)
        updates = len(lake.glue.updates)
        assert published(ours, prune=True, overwrite=True).outcomes == {}
        assert len(lake.glue.updates) == updates
        assert (lake.table("a")["Description"], lake.table("b")["Description"]) == ("theirs", "ours")
    else:
        again = _report(ours, "export")
        assert (again.counts, again.unchanged > 0) == ({}, True)
        assert (ours.folder / "published" / "a.ndjson").read_bytes() == exported
    enriched(ours, remove=True)
    assert published(ours, plan_only=True, prune=True).counts == {}


def _report(server: Server, name: str) -> Any:
    return server.targets.start(name, plan_only=False, prune=False, overwrite=False).report


def test_several_targets_do_not_replace_one_another(ours: Server, lake: Lake) -> None:
    lake.glue.create(f"{lake.database}x", "a", Owner="other")
    settings = {**lake.place.settings, "databases": {"ns": f"{lake.database}x"}}
    ours.targets.add("second", "glue", settings, replace=False)
    lake.glue.change(lake.database, "a", Owner="ann")
    enriched(ours)
    task, facets = enriched(ours, target="second")
    assert (task["status"], set(facets)) == ("completed", {"a"})
    assert [(found["target"], found["owners"]) for found in catalogs(ours, "a")] == [("second", ["other"]), ("there", ["ann"])]
    enriched(ours, target="second", remove=True)
    assert [found["target"] for found in catalogs(ours, "a")] == ["there"]


def test_what_was_stated_is_taken_back_on_request_also_of_a_target_that_was_removed(ours: Server, lake: Lake) -> None:
    enriched(ours)
    ours.targets.remove("there")
    calls = lake.glue.reads
    task, facets = enriched(ours, remove=True)
    assert (task["status"], task["events"], set(facets), lake.glue.reads) == ("completed", 5, {"a", "b", "c", "d", "e"}, calls)
    assert catalogs(ours, "a") == []
    assert enriched(ours, remove=True)[0]["events"] == 0


def test_another_catalog_of_the_same_target_is_read_anew(ours: Server, lake: Lake) -> None:
    """What the first one had is not taken for what the second one has, and is taken back where the second one has no such table."""
    enriched(ours)
    other = f"{lake.database}y"
    lake.glue.create(other, "a")
    added(ours, lake.place, databases={"ns": other})
    _, facets = enriched(ours)
    assert {name: "_deleted" in facet for name, facet in facets.items()} == {"a": False, "b": True, "c": True, "d": True, "e": True}
    assert [found["table"] for found in catalogs(ours, "a")] == [f"table/{other}/a"]
    added(ours, lake.place, databases={})
    assert {name: "_deleted" in facet for name, facet in enriched(ours)[1].items()} == {"a": True}


def test_what_could_not_be_read_stays_and_is_listed(ours: Server, lake: Lake) -> None:
    enriched(ours)
    lake.glue.change(lake.database, "b", Owner="bob")
    lake.glue.client.delete_table(DatabaseName=lake.database, Name="c")
    lake.glue.faults = [Fault("GetTable", 400, "AccessDeniedException", 1)]
    task, facets = enriched(ours)
    assert (task["status"], set(facets)) == ("completed", {"b", "c"})
    (unknown,) = task["unknown"]
    assert (unknown["state"], len(unknown["why"]), f"table/{lake.database}/a" in unknown["why"][0]) == ("partly", 1, True)
    assert "glue:GetTable" in task["planes"][0]["hints"][0]
    assert len(catalogs(ours, "a")) == 1
    lake.glue.faults = [Fault("GetTable", 400, "AccessDeniedException", 6)]
    task, facets = enriched(ours)
    assert (task["status"], facets, "no table could be read" in task["error"]) == ("failed", {}, True)
    assert len(catalogs(ours, "a")) == 1
    assert enriched(ours)[1] == {}


@pytest.mark.parametrize(
    "body",
    [
        b"{}",
        b"[]",
        b"null",
        b"no json",
        b'{"Table": []}',
        b'{"Table": null}',
        b'{"Table": {"Name": 7, "Parameters": []}}',
        b'{"Table": {"Name": "a", "Parameters": {"a": {}}}}',
        b'{"Table": {"Name": "a", "StorageDescriptor": {"Columns": {"Name": "x"}}}}',
        b'{"Table": {"Name": "a", "StorageDescriptor": {"Columns": [7]}}}',
        b'{"Table": {"Name": "a", "CreateTime": "never"}}',
        b'{"Table": {"Name": "a", "Owner": ["x"], "Description": 7}}',
    ],
)
def test_an_odd_answer_costs_one_table_at_most(ours: Server, lake: Lake, body: bytes) -> None:
    lake.glue.faults = [Fault("GetTable", 200, "", 1, body=body)]
    task, facets = enriched(ours)
    assert (task["status"], set(facets) - {"a"}) == ("completed", {"b", "c", "d", "e"})
    assert ("a" in facets) != bool(task["unknown"])
    assert not task["unknown"] or f"table/{lake.database}/a" in task["unknown"][0]["why"][0]


def test_a_catalog_that_is_busy_is_called_again(ours: Server, lake: Lake) -> None:
    lake.glue.faults = [Fault("GetTable", 400, "ThrottlingException", 2), Fault("GetTable", 500, "InternalServiceException", 1)]
    task, facets = enriched(ours)
    assert (task["status"], len(facets), [fault.times for fault in lake.glue.faults]) == ("completed", 5, [0, 0])


def test_one_that_fails_midway_loses_nothing(ours: Server, lake: Lake) -> None:
    names = many(ours, lake)
    added(ours, lake.place, tries=1)
    lake.glue.faults = [_After(observer.BATCH + 3, Fault("GetTable", 400, "UnrecognizedClientException", 1))]
    task, first = enriched(ours)
    # The first step has read `alone` too, which is no table.
    assert (task["status"], len(first), "UnrecognizedClient" in task["error"]) == ("failed", observer.BATCH - 1, True)
    task, rest = enriched(ours)
    assert (task["status"], first.keys() & rest.keys(), first.keys() | rest.keys()) == ("completed", set(), names)


def many(server: Server, lake: Lake) -> set[str]:
    """More tables than one step reads; their names."""
    names = [f"t{number:02}" for number in range(observer.BATCH + 10)]
    lake.glue.create(lake.database, *names)
    server.send(*(dataset_event(dataset(name)) for name in names))
    return {*names, "a", "b", "c", "d", "e"}


class _After(Fault):
    """A fault that begins after some calls."""

    def __init__(self, calls: int, fault: Fault) -> None:
        super().__init__(fault.operation, fault.status, fault.code, fault.times)
        self.calls, self.left = calls, fault.times

    @property
    def times(self) -> int:
        self.calls -= 1
        return self.left if self.calls < 0 else 0

    @times.setter
    def times(self, value: int) -> None:
        self.left = value


def test_two_names_of_one_table_have_what_it_has_and_a_dataset_of_two_tables_nothing(ours: Server, lake: Lake) -> None:
    """No name is joined with another one by an enrichment."""
    added(ours, lake.place, databases={"ns": lake.database, "other": lake.database})
    links = facet(identifiers=[{"namespace": "other", "name": "b", "type": "TABLE"}])
    ours.send(dataset_event(dataset("a", namespace="other")), dataset_event(dataset("d", symlinks=links)))
    task, _ = enriched(ours)
    assert "its names are different tables" in task["unknown"][0]["why"][0]
    for space in ("ns", "other"):
        shown = ours.ask("/lineage/datasets/detail", namespace=space, name="a")
        assert (shown["aliases"], [found["table"] for found in shown["catalogs"]]) == ([], [f"table/{lake.database}/a"])
    assert catalogs(ours, "d") == []


def test_names_are_those_of_the_target(ours: Server, lake: Lake) -> None:
    added(ours, lake.place, databases={"hive": lake.database}, map_namespaces={"ns": "hive"}, map_names={"alone": "a"})
    _, facets = enriched(ours)
    assert set(facets) == {"a", "alone", "b", "c", "d", "e"}
    assert [found["table"] for found in catalogs(ours, "alone")] == [f"table/{lake.database}/a"]


def test_nothing_is_read_of_a_target_that_is_paused_also_while_a_task_waits_or_reads(ours: Server, lake: Lake) -> None:
    many(ours, lake)
    ours.targets.pause("there", paused=True)
    client = TaskClient(ours)
    assert "is paused" in client.post("/enrich", status=422, json={"target": "there"})["error"]["message"]
    ours.targets.pause("there", paused=False)
    reached, go_on = threading.Event(), threading.Event()

    def slow(request: Request) -> Answer:
        reached.set()
        go_on.wait(20)
        return lake.glue.handle(request)

    with answering(slow) as url:
        added(ours, lake.place, endpoint_url=url)
        first = client.post("/enrich", json={"target": "there"})["task_id"]
        assert reached.wait(20)
        second = client.post("/enrich", json={"target": "there"})["task_id"]
        assert client.get(second)["status"] == "pending"
        ours.targets.pause("there", paused=True)
        go_on.set()
        assert [(client.ended(task)["status"], client.get(task)["error"]) for task in (first, second)] == [
            ("failed", "target there is paused")
        ] * 2
    assert lake.glue.reads == observer.BATCH


def test_secrets_are_masked(ours: Server, lake: Lake) -> None:
    lake.glue.change(lake.database, "a", Parameters={"db.password": "hunter2hunter2", "team": "x"}, Description="password=hunter2hunter2")
    enriched(ours)
    (found,) = catalogs(ours, "a")
    assert found["tags"] == [{"key": "team", "value": "x"}]
    assert "hunter2" not in ours.client.get("/api/v1/lineage/datasets/detail", params={"namespace": "ns", "name": "a"}).text


def test_search_says_which_catalog_has_a_text(ours: Server, lake: Lake) -> None:
    columns = [{"Name": "x", "Type": "bigint", "Comment": "the purchaser"}]
    lake.glue.change(
        lake.database,
        "a",
        Description="all\nchrysanthemums",
        Owner="ann",
        Parameters={"team": "sales"},
        StorageDescriptor={"Columns": columns},
    )
    enriched(ours)
    for text, line in (
        ("chrysanthemums", "in the catalog there: all chrysanthemums"),
        ("purchaser", "in the catalog there: the purchaser"),
        ("ann", "in the catalog there: ann"),
        ("sales", "in the catalog there: team=sales"),
    ):
        (match,) = [found for found in ours.ask("/search", q=text)["results"] if found["name"] == "a"]
        assert line in json.dumps(match)
    with ours.pool.reader() as reader:
        assert [found for found in reader.whole.differences(ours.names) if found.surplus or found.missing] == []
    enriched(ours, remove=True)
    assert ours.ask("/search", q="chrysanthemums")["results"] == []
