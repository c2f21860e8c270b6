"""What AWS Glue knows of tables comes back, by moto behind what moto does not check; what was published from here does not."""

from collections.abc import Iterator
from typing import Any

import httpx
import pytest
from tests.api.routes.operations.tasks.task_client import TaskClient
from tests.api.support import Server
from tests.catalogs.conftest import added, published
from tests.catalogs.standins.glue import CATALOG, REGION, Fault, Glue
from tests.catalogs.standins.server import answering
from tests.catalogs.test_glue import Lake
from tests.events import dataset, dataset_event, facet
from tests.servers.kinesis import Kinesis

SPACE = f"arn:aws:glue:{REGION}:{CATALOG}"


@pytest.fixture(scope="module")
def glue(moto: Kinesis) -> Iterator[tuple[Glue, str]]:
    there = Glue(moto.url)
    with answering(there.handle) as url:
        yield there, url


@pytest.fixture
def lake(glue: tuple[Glue, str], ours: Server) -> Lake:
    """A database with five tables that `ours` has as datasets."""
    there, url = glue
    there.faults = []
    made = Lake(there, url)
    enrich_from = [made.database, f"{made.database}-*"]
    added(ours, made.place, enrich_from=enrich_from)
    made.place.settings["enrich_from"] = enrich_from
    return made


def enriched(server: Server, **asked: Any) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """An enrichment that has ended, and its events, as the API would accept them; they are in the graph."""
    client, events = TaskClient(server), list[dict[str, Any]]()
    server.parts.now_us += 1_000_000
    task = client.post("/enrich", json=asked)["task_id"]
    deliver = client.deliver

    def delivered() -> None:
        for message in server.source_repository.pending_messages(100):
            events.extend(httpx.Response(200, content=message.body).json())
        deliver()

    client.deliver = delivered  # type: ignore[method-assign]
    return client.ended(task), events


def facets(events: list[dict[str, Any]], name: str) -> dict[str, Any]:
    """The facets of the one event of a dataset, without producers and schemas."""
    (found,) = (event["dataset"]["facets"] for event in events if event["dataset"]["name"] == name)
    return {key: {member: value for member, value in facet.items() if member[0] != "_"} for key, facet in found.items()}


def states(task: dict[str, Any]) -> dict[str, str]:
    return {f"{plane['plane']} {plane['scope']}": plane["state"] for plane in task["planes"]}


def test_columns_descriptions_owners_and_parameters_come_back_once(ours: Server, lake: Lake) -> None:
    parameters = {"team": "sales", "numRows": "7", "lineagebridge.x": "1", "metadata_location": "s3://x", "long": "x" * 257, "empty": ""}
    columns = [{"Name": "x", "Type": "bigint", "Comment": "the key"}, {"Name": "y", "Type": "string"}]
    lake.glue.change(
        lake.database,
        "a",
        Description="all orders",
        Owner="ann",
        Parameters=parameters,
        StorageDescriptor={"Columns": columns},
        PartitionKeys=[{"Name": "day", "Type": "date"}],
    )
    task, events = enriched(ours, targets=["there"])
    assert (task["status"], task["task_type"], task["targets"], task["events"]) == ("completed", "enrich", ["there"], 5)
    assert states(task) == {"enrichment there": "observed", f"enrichment there {lake.database}": "observed"}
    assert {event["dataset"]["namespace"] for event in events} == {SPACE}
    found = facets(events, f"table/{lake.database}/a")
    assert found["documentation"] == {"description": "all orders"}
    assert found["ownership"]["owners"] == [{"name": "ann", "type": "MAINTAINER"}]
    assert found["tags"]["tags"] == [{"key": "team", "value": "sales", "source": "AWS Glue"}]
    assert found["datasetType"] == {"datasetType": "TABLE"}
    assert found["symlinks"]["identifiers"] == [{"namespace": "ns", "name": "a", "type": "TABLE"}]
    assert [(field["name"], field["type"], field.get("description")) for field in found["schema"]["fields"]] == [
        ("x", "bigint", "the key"),
        ("y", "string", None),
        ("day", "date", None),
    ]
    shown = ours.client.get("/api/v1/lineage/datasets/detail", params={"namespace": SPACE, "name": f"table/{lake.database}/a"}).json()
    assert shown["facets"]["documentation"]["description"] == "all orders"
    again, none = enriched(ours, targets=["there"])
    assert (again["status"], again["events"], none) == ("completed", 0, [])


def test_a_change_is_sent_and_what_is_not_there_any_more_is_deleted(ours: Server, lake: Lake) -> None:
    lake.glue.change(lake.database, "a", Description="all orders", Owner="ann")
    enriched(ours)
    table = lake.table("a")
    definition = {name: table[name] for name in ("Name", "StorageDescriptor", "TableType")}
    lake.glue.client.update_table(DatabaseName=lake.database, TableInput={**definition, "Owner": "bob"})
    _, events = enriched(ours)
    found = facets(events, f"table/{lake.database}/a")
    assert [event["dataset"]["name"] for event in events] == [f"table/{lake.database}/a"]
    assert found["ownership"]["owners"] == [{"name": "bob", "type": "MAINTAINER"}]
    assert "documentation" in found
    shown = ours.client.get("/api/v1/lineage/datasets/detail", params={"namespace": SPACE, "name": f"table/{lake.database}/a"}).json()
    assert "documentation" not in shown["facets"]


def test_what_was_published_from_here_does_not_come_back_nor_is_it_published_again(ours: Server, lake: Lake) -> None:
    assert published(ours).outcomes == {"done": 5}
    own = [name for name in lake.table("b")["Parameters"] if name.startswith("lineagebridge.")]
    assert own
    _, events = enriched(ours)
    assert len(events) == 5
    assert not any("tags" in event["dataset"]["facets"] or "documentation" in event["dataset"]["facets"] for event in events)
    assert "lineagebridge" not in str([{**event, "producer": ""} for event in events]).replace("https://lineagebridge.dev/", "")
    published(ours)  # `a` has the name in the catalog now, which a symlink states
    assert enriched(ours)[1] == []
    assert published(ours, plan_only=True).counts == {}


def test_a_description_of_ours_does_not_come_back_but_one_of_its_owners_does(ours: Server, lake: Lake) -> None:
    ours.send(dataset_event(dataset("b", documentation=facet(description="ours"))))
    assert published(ours).outcomes == {"done": 5}
    assert lake.table("b")["Description"] == "ours"
    _, events = enriched(ours)
    assert "documentation" not in facets(events, f"table/{lake.database}/b")
    lake.glue.change(lake.database, "b", Description="theirs")
    _, events = enriched(ours)
    assert facets(events, f"table/{lake.database}/b")["documentation"] == {"description": "theirs"}


def test_a_failed_list_is_not_an_empty_one(ours: Server, lake: Lake) -> None:
    enriched(ours)
    lake.glue.faults = [Fault("GetTables", 400, "AccessDeniedException", 1)]
    task, events = enriched(ours)
    assert (task["status"], task["events"], events) == ("completed", 0, [])
    assert states(task)[f"enrichment there {lake.database}"] == "failed"
    (unknown,) = task["unknown"]
    assert ("GetTables" in unknown["why"][0], unknown["scope"]) == (True, f"there {lake.database}")
    lake.glue.change(lake.database, "a", Owner="ann")
    task, events = enriched(ours)
    assert (task["unknown"], [event["dataset"]["name"] for event in events]) == ([], [f"table/{lake.database}/a"])
    lake.glue.faults = [Fault("GetDatabases", 400, "AccessDeniedException", 1)]
    task, events = enriched(ours)
    assert (task["status"], events) == ("failed", [])
    assert "GetDatabases" in task["error"]
    assert (enriched(ours)[0]["events"], lake.glue.faults[0].times) == (0, 0)


def test_a_catalog_that_is_busy_is_called_again(ours: Server, lake: Lake) -> None:
    lake.glue.faults = [Fault("GetTables", 400, "ThrottlingException", 2), Fault("GetDatabases", 500, "InternalServiceException", 1)]
    task, events = enriched(ours)
    assert (task["status"], len(events), [fault.times for fault in lake.glue.faults]) == ("completed", 5, [0, 0])


def test_all_pages_are_read(ours: Server, lake: Lake) -> None:
    lake.glue.create(lake.database, *(f"t{number:03}" for number in range(120)))
    task, events = enriched(ours)
    assert (task["status"], len({event["dataset"]["name"] for event in events}), task["events"]) == ("completed", 125, 125)
    (tables,) = (plane for plane in task["planes"] if plane["scope"].endswith(lake.database))
    assert (tables["events"], tables["requests"]) == (125, 2)


def test_links_to_other_catalogs_are_left_out(ours: Server, lake: Lake) -> None:
    other = {"CatalogId": "210987654321", "DatabaseName": "theirs"}
    lake.glue.client.create_database(DatabaseInput={"Name": f"{lake.database}-link", "TargetDatabase": other})
    target = {**other, "Name": "orders"}
    lake.glue.client.create_table(DatabaseName=lake.database, TableInput={"Name": "link", "TargetTable": target})
    task, events = enriched(ours)
    assert len(states(task)) == 2
    assert len(events) == 5


@pytest.mark.usefixtures("lake")
def test_a_paused_target_is_not_read(ours: Server) -> None:
    ours.targets.pause("there", paused=True)
    client = TaskClient(ours)
    assert "is paused" in client.post("/enrich", status=422, json={"targets": ["there"]})["error"]["message"]
    assert "no target whose catalog" in client.post("/enrich", status=422)["error"]["message"]


def test_one_catalog_that_fails_does_not_hold_up_the_others(ours: Server, lake: Lake) -> None:
    ours.targets.add("broken", "glue", {**lake.place.settings, "endpoint_url": "http://127.0.0.1:9", "tries": 1}, replace=False)
    task, events = enriched(ours)
    assert (task["status"], task["targets"], len(events)) == ("completed", ["broken", "there"], 5)
    assert {scope: state for scope, state in states(task).items() if state != "observed"} == {"enrichment broken": "failed"}
    ours.targets.pause("there", paused=True)
    assert enriched(ours)[0]["status"] == "failed"


def test_secrets_in_parameters_are_masked(ours: Server, lake: Lake) -> None:
    lake.glue.change(lake.database, "a", Parameters={"db.password": "hunter2hunter2", "team": "x"}, Description="password=hunter2hunter2")
    enriched(ours)
    shown = ours.client.get("/api/v1/lineage/datasets/detail", params={"namespace": SPACE, "name": f"table/{lake.database}/a"})
    assert "tags" in shown.json()["facets"]
    assert "hunter2" not in shown.text
