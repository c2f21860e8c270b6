"""Glue's Data Catalog, by moto behind what moto does not check: what is observed of tables, and that nothing ends for want of an answer."""

import json
from collections.abc import Iterator
from datetime import datetime, timezone
from typing import Any

import pytest
from tests.api.support import Server
from tests.catalogs.standins.glue import CATALOG, REGION, Fault, Glue
from tests.catalogs.standins.server import answering
from tests.events import T0, dataset, run_event
from tests.servers.kinesis import Kinesis
from tests.sources.catalog_facets import facets_of

from lineage_bridge.catalogs.kinds.glue.definitions import changed_definition
from lineage_bridge.errors import ForbiddenError
from lineage_bridge.openlineage.event_builder import encode
from lineage_bridge.openlineage.times import format_time
from lineage_bridge.sources.common.observer import Observation
from lineage_bridge.sources.common.shared_metadata import NO_METADATA
from lineage_bridge.sources.glue import observer as module
from lineage_bridge.sources.glue.observer import GlueObserver
from lineage_bridge.sources.glue.service import GlueService
from lineage_bridge.sources.glue.settings import GlueSourceSettings
from lineage_bridge.sources.glue.translate import CatalogLocation, read_table
from lineage_bridge.sources.runtime.kinds import KINDS

MINUTE_US = 60_000_000
NAMESPACE = f"arn:aws:glue:{REGION}:{CATALOG}"
ORDERS = {
    "Description": "One row per order.",
    "Owner": "sales-team",
    "TableType": "EXTERNAL_TABLE",
    "PartitionKeys": [{"Name": "day", "Type": "date"}],
    "StorageDescriptor": {
        "Columns": [{"Name": "id", "Type": "bigint", "Comment": "Its number."}, {"Name": "total", "Type": "decimal(10,2)"}],
        "Location": "s3://lake/sales/orders/",
    },
}


class Warehouse:
    """A catalog, and a source that observes it."""

    def __init__(self, glue: Glue, url: str) -> None:
        self.glue, self.url, self.polls = glue, url, 0
        for database in glue.client.get_databases()["DatabaseList"]:
            glue.client.delete_database(Name=database["Name"])

    def database(self, name: str, **more: Any) -> None:
        self.glue.client.create_database(DatabaseInput={"Name": name, **more})

    def table(self, database: str, name: str, **members: Any) -> None:
        self.glue.client.create_table(DatabaseName=database, TableInput={**ORDERS, "Name": name, **members})

    def source(self, **settings: Any) -> GlueObserver:
        keys = {"access_key_id": "AKIATEST", "secret_access_key": "${env:PATH}", "region": REGION, "endpoint_url": self.url}
        return GlueObserver("lake", GlueSourceSettings(**{**keys, **settings}))

    def poll(self, before: Observation | None = None, **settings: Any) -> Observation:
        source = self.source(**settings)
        self.polls += 1
        try:
            snapshot = json.loads(json.dumps(before.snapshot)) if before else None
            return source.observe(snapshot, NO_METADATA, T0 + self.polls * MINUTE_US)
        finally:
            source.close()


@pytest.fixture
def lake(moto: Kinesis) -> Iterator[Warehouse]:
    there = Glue(moto.url)
    with answering(there.handle) as url:
        yield Warehouse(there, url)


def test_a_table_is_a_dataset_with_what_the_catalog_has_about_it(lake: Warehouse) -> None:
    lake.database("sales")
    lake.table("sales", "orders")
    seen = lake.poll()
    (event,) = seen.events
    assert (event["dataset"]["namespace"], event["eventTime"]) == (NAMESPACE, format_time(T0 + MINUTE_US))
    assert facets_of(seen) == {
        "table/sales/orders": {
            "schema": {
                "fields": [
                    {"name": "id", "type": "bigint", "description": "Its number.", "ordinal_position": 1},
                    {"name": "total", "type": "decimal(10,2)", "ordinal_position": 2},
                    {"name": "day", "type": "date", "ordinal_position": 3},
                ]
            },
            "documentation": {"description": "One row per order."},
            "ownership": {"owners": [{"name": "sales-team", "type": "MAINTAINER"}]},
            "symlinks": {"identifiers": [{"namespace": "s3://lake", "name": "sales/orders", "type": "LOCATION"}]},
            "datasetType": {"datasetType": "TABLE"},
        }
    }
    assert (seen.unseen, lake.poll(seen).events) == ((), ())


def test_lineage_goes_on_from_the_files_of_a_sink_into_the_tables(lake: Warehouse, graph: Server) -> None:
    lake.database("sales")
    lake.table("sales", "orders")
    sink = run_event(job="s3-sink", inputs=[dataset("orders", "kafka://b:9092")], outputs=[dataset("sales/orders", "s3://lake")])
    report = run_event(job="report", inputs=[dataset("table/sales/orders", NAMESPACE)], outputs=[dataset("revenue", "dash")])
    graph.send(sink, report, *map(encode, lake.poll().events))
    found = graph.ask("/graph/impact", namespace="kafka://b:9092", name="orders")
    assert "revenue" in json.dumps(found)
    detail = graph.ask("/lineage/datasets/detail", namespace="s3://lake", name="sales/orders")
    assert "One row per order." in json.dumps(detail)


def test_producers_outrank_the_catalog_and_lose_nothing_to_it(lake: Warehouse, graph: Server) -> None:
    lake.database("sales")
    lake.table("sales", "orders")
    stated: dict[str, Any] = {"schema": {"fields": [{"name": "ID", "type": "INT"}]}, "ownership": {"owners": [{"name": "ann"}]}}
    reads = run_event(job="r", time_us=T0 - MINUTE_US, inputs=[dataset("table/sales/orders", NAMESPACE, None, **stated)])
    first = lake.poll()
    graph.send(reads, *map(encode, first.events))
    found = json.dumps(graph.ask("/lineage/datasets/detail", namespace=NAMESPACE, name="table/sales/orders"))
    assert ("ann" in found, "sales-team" in found, '"ID"' in found, "One row per order." in found) == (True, False, True, True)
    lake.glue.client.delete_table(DatabaseName="sales", Name="orders")
    graph.send(*map(encode, lake.poll(first).events))
    found = json.dumps(graph.ask("/lineage/datasets/detail", namespace=NAMESPACE, name="table/sales/orders"))
    assert ("ann" in found, '"ID"' in found, "One row per order." in found) == (True, True, False)


def test_only_what_changed_is_reported_and_what_is_gone_is_taken_back(lake: Warehouse, graph: Server) -> None:
    lake.database("sales")
    lake.table("sales", "orders")
    lake.table("sales", "returns", StorageDescriptor={"Columns": [{"Name": "id", "Type": "int"}], "Location": "s3://lake/returns"})
    first = lake.poll()
    lake.glue.change("sales", "orders", Description="")
    second = lake.poll(first)
    assert facets_of(second)["table/sales/orders"]["documentation"] == {"_deleted": True}
    assert facets_of(second).keys() == {"table/sales/orders"}
    lake.glue.client.delete_table(DatabaseName="sales", Name="orders")
    third = lake.poll(second)
    taken_back = facets_of(third)["table/sales/orders"]
    assert taken_back.keys() == {"datasetType", "ownership", "schema", "symlinks"}
    assert all(facet == {"_deleted": True} for facet in taken_back.values())
    writes = run_event(job="s3-sink", time_us=T0 - MINUTE_US, inputs=[dataset("t")], outputs=[dataset("sales/orders", "s3://lake")])
    graph.send(writes, *map(encode, (*first.events, *second.events, *third.events)))
    assert "sales/orders" in json.dumps(graph.ask("/graph/impact", namespace="ns", name="t")), "the data is still there"
    lake.glue.client.delete_table(DatabaseName="sales", Name="returns")
    lake.glue.client.delete_database(Name="sales")
    fourth = lake.poll(third)
    assert facets_of(fourth).keys() == {"table/sales/returns"}
    assert fourth.snapshot == {"databases": {}, "next": ""}


@pytest.mark.parametrize("operation", ["GetTables", "GetDatabases"])
def test_a_denied_list_ends_nothing(lake: Warehouse, operation: str) -> None:
    for name in ("hr", "sales"):
        lake.database(name)
        lake.table(name, "orders")
    first = lake.poll()
    lake.glue.change("hr", "orders", Owner="hr-team")
    lake.glue.change("sales", "orders", Owner="sales")
    lake.glue.faults = [Fault(operation, 400, "AccessDeniedException", 1)]
    if operation == "GetDatabases":
        with pytest.raises(ForbiddenError):
            lake.poll(first)
        return
    denied = lake.poll(first)
    assert [entry.what for entry in denied.unseen] == ["database hr: tables"]
    assert "glue:GetTables" in denied.unseen[0].hint
    assert facets_of(denied).keys() == {"table/sales/orders"}
    assert denied.snapshot["databases"]["hr"] == first.snapshot["databases"]["hr"]
    later = lake.poll(denied)
    assert (later.unseen, [event["dataset"]["facets"]["ownership"]["owners"][0]["name"] for event in later.events]) == ((), ["hr-team"])


def test_descriptions_that_were_published_do_not_come_back(lake: Warehouse) -> None:
    lake.database("sales")
    lake.table("sales", "orders", Description="")
    definition = changed_definition(lake.glue.table("sales", "orders"), {}, {"": "From the graph.", "id": "Ours.", "total": "Ours too."})
    assert definition is not None
    assert definition["StorageDescriptor"]["Columns"][1]["Comment"] == "Ours too."
    lake.glue.client.update_table(DatabaseName="sales", TableInput=definition)
    found = facets_of(lake.poll())["table/sales/orders"]
    assert "documentation" not in found
    assert [field.get("description") for field in found["schema"]["fields"]] == ["Its number.", None, None]


def test_patterns_choose_and_what_is_not_chosen_any_more_stays_as_it_was(lake: Warehouse) -> None:
    for database in ("sales", "sales_test"):
        lake.database(database)
        for name in ("orders", "tmp_orders"):
            lake.table(database, name)
    first = lake.poll()
    assert len(facets_of(first)) == 4
    second = lake.poll(first, databases=("sales",), tables=("*.orders",))
    assert (second.events, second.snapshot["databases"].keys(), second.snapshot["databases"]["sales"].keys()) == ((), {"sales"}, {"orders"})


def test_many_changes_are_reported_by_several_polls_that_follow_soon(lake: Warehouse, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST_COLUMNS", 10)  # a table has three columns, and counts for four
    for database in ("a", "b", "c"):
        lake.database(database)
        for number in range(3):
            lake.table(database, f"t{number}")
    source, before, names = lake.source(), None, list[str]()
    for poll in range(1, 4):
        seen = source.observe(before, NO_METADATA, T0 + poll * MINUTE_US)
        assert seen.unseen == ()
        names += sorted({event["dataset"]["name"] for event in seen.events})
        assert source.noticed_changes(lambda: None) == poll, "the next poll follows soon, also to look at what this one had no room for"
        before = json.loads(json.dumps(seen.snapshot))
    assert (len(names), len(set(names))) == (9, 9)
    assert (source.observe(before, NO_METADATA, T0 + 9 * MINUTE_US).events, source.noticed_changes(lambda: None)) == ((), 3)
    source.close()


def test_what_a_list_leaves_out_is_gone_only_if_it_does_not_exist(lake: Warehouse, monkeypatch: pytest.MonkeyPatch) -> None:
    for database in ("hr", "sales"):
        lake.database(database)
        lake.table(database, "orders")
    first = lake.poll()
    monkeypatch.setattr(GlueService, "databases", lambda _: iter([[]]))
    hidden = lake.poll(first)
    assert (hidden.events, hidden.snapshot["databases"]) == ((), first.snapshot["databases"])
    lake.glue.faults = [Fault("GetDatabase", 400, "AccessDeniedException", 1)]
    denied = lake.poll(hidden)
    assert (denied.events, [entry.what for entry in denied.unseen]) == ((), ["database hr: tables"])
    monkeypatch.undo()
    monkeypatch.setattr(GlueService, "tables", lambda *_: iter([[]]))
    assert lake.poll(denied).events == ()
    lake.glue.client.delete_table(DatabaseName="hr", Name="orders")
    assert [event["dataset"]["name"] for event in lake.poll(denied).events] == ["table/hr/orders"]


def test_a_table_that_may_not_be_read_hides_no_other_that_is_gone(lake: Warehouse, monkeypatch: pytest.MonkeyPatch) -> None:
    lake.database("sales")
    for name in ("a", "b", "c", "d"):
        lake.table("sales", name)
    first = lake.poll()
    for name in ("b", "c", "d"):
        lake.glue.client.delete_table(DatabaseName="sales", Name=name)
    monkeypatch.setattr(GlueService, "tables", lambda *_: iter([[]]))
    monkeypatch.setattr(module, "MOST_ASKED", 3)
    lake.glue.faults = [Fault("GetTable", 400, "AccessDeniedException", 1)]
    seen = lake.poll(first)
    assert facets_of(seen).keys() == {"table/sales/b", "table/sales/c"}
    assert ([entry.what for entry in seen.unseen], seen.snapshot["next"]) == (["database sales: tables"], "sales")
    monkeypatch.setattr(GlueService, "has_table", lambda *_: True)
    assert lake.poll(seen).snapshot["next"] == "", "what is hidden is not asked for again at once"


def test_a_new_table_is_as_it_is_since_its_last_change_and_what_comes_back_is_known_again(
    lake: Warehouse, graph: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    lake.database("sales")
    lake.table("sales", "orders")
    changed_us = T0 - 60 * MINUTE_US
    table = {**lake.glue.table("sales", "orders"), "UpdateTime": datetime.fromtimestamp(changed_us / 1e6, tz=timezone.utc)}
    monkeypatch.setattr(GlueService, "tables", lambda *_: iter([[table]]))
    first = lake.poll()
    assert [event["eventTime"] for event in first.events] == [format_time(changed_us), format_time(T0 + MINUTE_US)]
    lake.glue.client.delete_table(DatabaseName="sales", Name="orders")
    monkeypatch.setattr(GlueService, "tables", lambda *_: iter([[]]))
    second = lake.poll(first)
    monkeypatch.setattr(GlueService, "tables", lambda *_: iter([[table]]))
    third = lake.poll(second)
    graph.send(*map(encode, (*first.events, *second.events, *third.events)))
    found = graph.ask("/lineage/datasets/detail", namespace=NAMESPACE, name="table/sales/orders")
    assert "One row per order." in json.dumps(found)


@pytest.mark.parametrize(
    ("location", "path", "name"),
    [
        ("S3://lake/a/", None, ("s3://lake", "a")),
        ("s3://lake", None, None),
        ("s3://lake/", None, None),
        ("s3://lake/sales.db/orders-__PLACEHOLDER__", "s3a://lake/real/orders", ("s3a://lake", "real/orders")),
        ("s3://lake/sales.db/orders-__PLACEHOLDER__", None, None),
        ("abfss://c@acme.dfs.core.windows.net/t", None, ("abfss://c@acme.dfs.core.windows.net", "t")),
        ("shop.public.orders", None, None),
        ("hdfs://n/t", None, None),
    ],
)
def test_the_folder_of_the_files_is_another_name(location: str, path: str | None, name: tuple[str, str] | None) -> None:
    storage = {"Location": location, "SerdeInfo": {"Parameters": {"path": path} if path else {}}}
    facts = read_table({"Name": "t", "StorageDescriptor": storage}, "sales", CatalogLocation(REGION, "aws", CATALOG))
    assert facts is not None
    found = facts.facets.get("symlinks", {}).get("identifiers", [])
    assert [(link["namespace"], link["name"]) for link in found] == ([name] if name else [])


def test_a_link_is_another_name_of_its_table_and_a_view_is_a_view(lake: Warehouse) -> None:
    lake.database("sales")
    there = {"CatalogId": "999999999999", "DatabaseName": "shared", "Name": "orders"}
    lake.glue.client.create_table(DatabaseName="sales", TableInput={"Name": "link", "TargetTable": there})
    lake.table("sales", "big", TableType="VIRTUAL_VIEW", StorageDescriptor={"Columns": [{"Name": "id", "Type": "int"}], "Location": ""})
    found = facets_of(lake.poll())
    link = {"namespace": f"arn:aws:glue:{REGION}:999999999999", "name": "table/shared/orders", "type": "TABLE"}
    assert found["table/sales/link"]["symlinks"] == {"identifiers": [link]}
    assert found["table/sales/big"]["datasetType"] == {"datasetType": "VIEW"}
    assert "symlinks" not in found["table/sales/big"]


def test_the_kind_is_offered_and_tested_step_by_step(lake: Warehouse) -> None:
    assert KINDS.load("glue").settings is GlueSourceSettings
    lake.database("sales")
    lake.table("sales", "orders")
    assert [(check.step, check.works, check.message) for check in lake.source().test()] == [
        ("list databases", True, "1 selected"),
        ("list tables of sales", True, "1 selected"),
    ]
    lake.glue.faults = [Fault("GetDatabases", 400, "AccessDeniedException", 1)]
    (check,) = lake.source().test()
    assert (check.works, "glue:GetDatabases" in check.hint) == (False, True)
