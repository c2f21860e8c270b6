"""The lineage of views in Glue's Data Catalog, by the texts that Athena, Trino, Hive and Spark keep of them."""

import base64
import json
from typing import Any

import pytest
from botocore.loaders import Loader

from lineage_bridge.sources.glue.translate import CatalogLocation, read_table
from lineage_bridge.sources.glue.views import LONGEST

HERE = CatalogLocation("eu-west-1", "aws", "123456789012")
NAMESPACE = "arn:aws:glue:eu-west-1:123456789012"
COLUMNS = [{"Name": "id", "Type": "bigint"}, {"Name": "total", "Type": "double"}]


def view(original: str = "", expanded: str = "", **members: Any) -> dict[str, Any]:
    texts = {name: text for name, text in (("ViewOriginalText", original), ("ViewExpandedText", expanded)) if text}
    return {"Name": "report", "TableType": "VIRTUAL_VIEW", "StorageDescriptor": {"Columns": COLUMNS}, **texts, **members}


def presto(sql: str, **members: Any) -> dict[str, Any]:
    columns = [{"name": "id", "type": "bigint"}, {"name": "total", "type": "double"}]
    kept = {"originalSql": sql, "catalog": "awsdatacatalog", "schema": "sales", "columns": columns, **members}
    text = base64.b64encode(json.dumps(kept).encode()).decode()
    return view(f"/* Presto View: {text} */", "/* Presto View */", Parameters={"presto_view": "true", "comment": "Presto View"})


def lineage(entry: dict[str, Any], database: str = "marts") -> dict[str, Any]:
    facts = read_table(entry, database, HERE)
    assert facts is not None
    assert not facts.is_unread
    found = facts.facets["lineage"]
    assert all(source["namespace"] == NAMESPACE for source in found["inputs"])
    fields = {
        column: {(source["name"], source["field"], source["transformations"][0]["subtype"]) for source in of["inputs"]}
        for column, of in found.get("fields", {}).items()
    }
    whole = {
        (source["name"], source.get("field", ""), *(how["subtype"] for how in source.get("transformations", ())))
        for source in found["inputs"]
    }
    return {"inputs": whole, "fields": fields}


SQL = "SELECT o.id, sum(o.price) FROM orders o JOIN awsdatacatalog.crm.customers c ON o.customer = c.id GROUP BY o.id"
FLOWS = {
    "id": {("table/sales/orders", "id", "IDENTITY")},
    "total": {("table/sales/orders", "price", "AGGREGATION")},
}


def test_a_view_of_athena_leads_to_its_tables_and_columns() -> None:
    found = lineage(presto(SQL))
    assert found["fields"] == FLOWS
    assert ("table/sales/orders", "customer", "JOIN") in found["inputs"]
    assert ("table/crm/customers", "id", "JOIN") in found["inputs"]
    assert lineage(presto("WITH x AS (SELECT id, price FROM orders) SELECT id, sum(price) FROM x GROUP BY 1"))["fields"] == FLOWS


def test_a_table_of_another_catalog_is_left_out() -> None:
    found = lineage(presto('SELECT o.id, e.total FROM orders o, "lambda:mysql".shop.extra e'))
    assert found["fields"] == {"id": {("table/sales/orders", "id", "IDENTITY")}}
    assert {name for name, *_ in found["inputs"]} <= {"table/sales/orders"}
    trino = presto("SELECT id, total FROM lake.sales.orders", catalog="lake")
    assert lineage(trino)["fields"]["total"] == {("table/sales/orders", "total", "IDENTITY")}


def test_hive_names_tables_in_full_in_the_expanded_text() -> None:
    expanded = "select `o`.`id`, sum(`o`.`price`) from `sales`.`orders` `o` group by `o`.`id`"
    assert lineage(view("select id, sum(price) from orders group by id", expanded))["fields"] == FLOWS


def test_spark_keeps_the_database_in_a_parameter() -> None:
    parameters = {"view.catalogAndNamespace.numParts": "2", "view.catalogAndNamespace.part.1": "sales", "spark.sql.create.version": "3.5"}
    entry = view("SELECT id, sum(price) FROM spark_catalog.sales.orders GROUP BY id", Parameters=parameters)
    assert lineage(entry)["fields"] == FLOWS
    assert lineage(view("SELECT id, sum(price) FROM orders GROUP BY id", Parameters=parameters))["fields"] == FLOWS


def test_a_view_of_several_dialects_is_read_in_the_first_that_can_be() -> None:
    texts = [
        {"Dialect": "SPARK", "ViewOriginalText": SQL.replace("orders", "sales.orders")},
        {"Dialect": "ATHENA", "ViewOriginalText": "SELEC"},
    ]
    parts = [f"{NAMESPACE}:table/sales/orders"]
    definition = {"Representations": texts, "SubObjects": parts}
    entry = view(ViewDefinition=definition)
    assert lineage(entry)["fields"] == FLOWS
    assert lineage(view(ViewDefinition={"SubObjects": parts})) == {"inputs": {("table/sales/orders", "")}, "fields": {}}
    model = Loader().load_service_model("glue", "service-2")["shapes"]
    assert definition.keys() <= model["ViewDefinition"]["members"].keys()
    assert texts[0].keys() <= model["ViewRepresentation"]["members"].keys()
    assert entry.keys() <= model["Table"]["members"].keys()


@pytest.mark.parametrize(
    "text",
    ["/* Presto View: %%% */", "/* Presto View: e30= */", "/* Presto View: bm8= */", "SELECT FROM WHERE (", f"SELECT '{'x' * LONGEST}'"],
    ids=["no base64", "no query", "no JSON", "no SQL", "too long"],
)
def test_a_text_that_cannot_be_read_is_unread(text: str) -> None:
    facts = read_table(view(text), "marts", HERE)
    assert facts is not None
    assert (facts.is_unread, "lineage" in facts.facets) == (True, False)


def test_a_view_without_a_text_has_no_lineage() -> None:
    facts = read_table(view(), "marts", HERE)
    assert facts is not None
    assert (facts.is_unread, "lineage" in facts.facets) == (False, False)


def test_a_text_of_athena_that_does_not_end_is_read_in_time_by_its_length() -> None:
    """In one that is proportional to the square of it, this takes most of an hour."""
    facts = read_table(view("/* Presto View:" + " " * 1_000_000), "marts", HERE)
    assert facts is not None
    assert facts.is_unread
