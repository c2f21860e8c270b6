"""Glue's Data Catalog, by moto behind what moto does not check: what is observed of tables, and that nothing ends for want of an answer."""

import json
from collections.abc import Iterator
from typing import Any

import pytest
from tests.api.support import Server
from tests.catalogs.standins.glue import CATALOG, REGION, Fault, Glue
from tests.catalogs.standins.server import answering
from tests.events import T0, dataset, run_event
from tests.servers.kinesis import Kinesis

from lineage_bridge.catalogs.kinds.glue.definitions import changed_definition
from lineage_bridge.errors import ForbiddenError
from lineage_bridge.openlineage.event_builder import encode
from lineage_bridge.sources.common.observer import Observation
from lineage_bridge.sources.common.shared_metadata import NO_METADATA
from lineage_bridge.sources.glue import observer as module
from lineage_bridge.sources.glue.observer import GlueObserver
from lineage_bridge.sources.glue.settings import GlueSourceSettings
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


def facets_of(seen: Observation) -> dict[str, dict[str, Any]]:
    """Each reported table's facets, without who says them."""
    return {
        event["dataset"]["name"]: {
            key: {member: value for member, value in facet.items() if not member.startswith("_") or member == "_deleted"}
            for key, facet in event["dataset"]["facets"].items()
        }
        for event in seen.events
    }


def test_a_table_is_a_dataset_with_what_the_catalog_has_about_it(lake: Warehouse) -> None:
    lake.database("sales")
    lake.table("sales", "orders")
    seen = lake.poll()
    (event,) = seen.events
    assert (event["dataset"]["namespace"], event["eventTime"] <= "2026") == (NAMESPACE, False)
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
    assert fourth.snapshot == {"databases": {}}


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
    denied = lake.poll(first, at_once=1)
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
    assert len(first.events) == 4
    second = lake.poll(first, databases=("sales",), tables=("*.orders",))
    assert (second.events, second.snapshot["databases"].keys(), second.snapshot["databases"]["sales"].keys()) == ((), {"sales"}, {"orders"})


def test_many_changes_are_reported_by_several_polls(lake: Warehouse, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST_EVENTS", 3)
    for database in ("a", "b", "c"):
        lake.database(database)
        for number in range(3):
            lake.table(database, f"t{number}")
    seen, names = lake.poll(at_once=1), list[str]()
    assert [entry.what for entry in seen.unseen] == ["database b: changes", "database c: changes"]
    for _ in range(3):
        assert len(seen.events) <= 3
        names += [event["dataset"]["name"] for event in seen.events]
        seen = lake.poll(seen, at_once=1)
    assert (len(names), len(set(names)), seen.events, seen.unseen) == (9, 9, (), ())


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
