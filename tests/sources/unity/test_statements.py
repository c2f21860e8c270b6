"""The SQL statements, executed by Spark, whose SQL is that of Databricks as far as they use it; and the pages that they return."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest
import sqlglot
from tests.sources.unity.metastore import Metastore

from lineage_bridge.sources.unity.statements import ANY_FLOW, FLOWS, TAGS, Groups, groups_of

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

ENDS = "metastore_id STRING, workspace_id STRING, entity_type STRING, entity_id STRING, source_table_full_name STRING, source_path STRING, "
ENDS += "source_table_catalog STRING, target_table_full_name STRING, target_path STRING, event_date DATE"
TAGGED = "catalog_name STRING, schema_name STRING, table_name STRING, tag_name STRING, tag_value STRING"
TABLES = {
    "system.access.table_lineage": ENDS,
    "system.access.column_lineage": f"{ENDS}, source_column_name STRING, target_column_name STRING",
    "system.information_schema.table_tags": TAGGED,
    "system.information_schema.column_tags": f"{TAGGED}, column_name STRING",
}
JOB, ORDERS, REVENUE = ("7", "JOB", "55"), "main.sales.orders", "main.sales.revenue"


def seen(
    entity: tuple[str | None, ...], source: str | None, target: str | None, *columns: str | None, age: int = 0, metastore: str = "ours"
) -> str:
    ends = (metastore, *entity, source, "s3://raw/orders" if source else None, source.split(".")[0] if source else None, target, None)
    values = [f"'{value}'" if value is not None else "NULL" for value in ends]
    named = [f"'{column}'" if column is not None else "NULL" for column in columns]
    return f"SELECT {', '.join([*values, f'date_sub(current_date(), {age})', *named])}"


ROWS = {
    "system.access.table_lineage": [
        *[seen(JOB, "Main.Sales.Orders", REVENUE)] * 2,
        seen((None, None, None), ORDERS, REVENUE),
        seen(("7", "NOTEBOOK", "9"), "system.access.audit", REVENUE),
        seen(("7", "NOTEBOOK", "9"), ORDERS, None),
        seen(("7", "JOB", "1"), ORDERS, REVENUE, age=100),
        seen((None, None, None), ORDERS, None),
        seen(("8", "JOB", "2"), ORDERS, REVENUE, metastore="theirs"),
    ],
    "system.access.column_lineage": [
        seen(JOB, ORDERS, REVENUE, "id", "total"),
        seen(JOB, ORDERS, REVENUE, "id", None),
        seen(("8", "JOB", "2"), ORDERS, REVENUE, "id", "total", metastore="theirs"),
    ],
    "system.information_schema.table_tags": ["SELECT 'Main', 'sales', 'orders', 'tier', 'gold'"],
    "system.information_schema.column_tags": ["SELECT 'main', 'sales', 'orders', 'pii', NULL, 'id'"],
}


@pytest.fixture(scope="module")
def in_metastore(spark: "SparkSession") -> Iterator["SparkSession"]:
    """Spark with the function of Databricks that names the metastore."""
    spark.sql("CREATE TEMPORARY FUNCTION current_metastore() RETURNS STRING RETURN 'aws:eu-west-1:ours'")
    yield spark
    spark.sql("DROP TEMPORARY FUNCTION current_metastore")


@pytest.fixture(scope="module")
def executed(in_metastore: "SparkSession") -> Iterator[dict[str, list[list[str]]]]:
    """The rows that each statement returns for the first page, and for the page after its first id."""
    spark = in_metastore
    text = {FLOWS: FLOWS, TAGS: TAGS, ANY_FLOW: ANY_FLOW}
    for number, (table, columns) in enumerate(TABLES.items()):
        names = [column.split()[0] for column in columns.split(", ")]
        rows = spark.sql(" UNION ALL ".join(ROWS[table])).toDF(*names)
        rows.createOrReplaceTempView(f"unity_{number}")
        text = {name: statement.replace(table, f"unity_{number}") for name, statement in text.items()}
    args = {"after": "", "days": "90"}
    yield {
        name: [list(row) for row in spark.sql(statement, args={key: args[key] for key in args if f":{key}" in statement}).collect()]
        for name, statement in text.items()
    }
    for number in range(len(TABLES)):
        spark.catalog.dropTempView(f"unity_{number}")


def test_the_statements_return_what_the_stand_in_does(executed: dict[str, list[list[str]]]) -> None:
    there = Metastore()
    there.flows = [
        (*JOB, ORDERS, REVENUE, "", ""),
        (*JOB, ORDERS, REVENUE, "id", "total"),
        ("", "", "", ORDERS, REVENUE, "", ""),
        ("7", "NOTEBOOK", "9", ORDERS, "", "", ""),
    ]
    there.tags = [(ORDERS, "", "tier", "gold"), (ORDERS, "id", "pii", "")]
    assert executed[FLOWS] == there.rows(FLOWS, {"after": "", "days": "90"})
    assert executed[TAGS] == there.rows(TAGS, {"after": ""})
    assert len(executed[ANY_FLOW]) == 1


@pytest.mark.parametrize("statement", [FLOWS, TAGS, ANY_FLOW])
def test_the_statements_are_in_the_dialect_of_databricks(statement: str) -> None:
    assert len(sqlglot.parse(statement, dialect="databricks")) == 1


@pytest.mark.parametrize(
    ("rows", "found"),
    [
        ([], Groups({}, "", "")),
        ([["a", "1"], ["a", None]], Groups({"a": [["1"], [""]]}, "", "")),
        ([["a", "1"], ["b", "1"], ["b", "2"]], Groups({"a": [["1"]]}, "a", "")),
        ([["a", "1"], ["a", "2"], ["a", "3"]], Groups({"a": [["1"], ["2"], ["3"]]}, "a", "a")),
    ],
)
def test_the_last_group_of_a_full_page_is_left_to_the_next_one(rows: list[list[str | None]], found: Groups) -> None:
    assert groups_of(rows, 3) == found


def test_only_lineage_of_this_metastore_proves_that_lineage_can_be_read(in_metastore: "SparkSession") -> None:
    names = [column.split()[0] for column in ENDS.split(", ")]
    for metastore, rows in (("theirs", 0), ("ours", 1)):
        found = in_metastore.sql(seen(JOB, ORDERS, REVENUE, metastore=metastore)).toDF(*names)
        found.createOrReplaceTempView("unity_any")
        assert len(in_metastore.sql(ANY_FLOW.replace("system.access.table_lineage", "unity_any")).collect()) == rows
    in_metastore.catalog.dropTempView("unity_any")
