"""The statements that change tables of Unity Catalog, run by Spark and parsed by sqlglot as far as these know them."""

import copy
from typing import TYPE_CHECKING, Any

import pytest
import sqlglot
from hypothesis import example, given
from hypothesis import strategies as st
from sqlglot import exp
from tests.catalogs.standins.databricks_sql import SqlError, SqlTables

from lineage_bridge.catalogs.kinds.databricks import statements
from lineage_bridge.catalogs.kinds.databricks.changes import NOTHING, FoundTable, TableGoal, changes_of, content_of, state_of

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

TABLE = "spark_catalog.default.changed_by_statements"
HOSTILE = [
    "it's",
    "a\\",
    "\\'; DROP TABLE x; --",
    "${spark.app.name} ${env:HOME} $1",
    "`x`",
    "line\nbreak",
    "\u2028 é 🎈",
    "100%_\\%",
    '"',
    "\\u0041 \\n \\101",
    "''",
    "/* */ -- ",
]


def test_literals_are_the_texts_to_spark_to_sqlglot_and_to_the_stand_in(spark: "SparkSession") -> None:
    query = ", ".join(statements.literal(text) for text in HOSTILE)
    assert list(spark.sql(f"SELECT {query}").collect()[0]) == HOSTILE
    parsed = sqlglot.parse_one(f"SELECT {query}", dialect="databricks")
    assert [found.this for found in parsed.expressions] == HOSTILE


def test_spark_sets_and_removes_the_properties_and_comments(spark: "SparkSession") -> None:
    spark.sql(f"CREATE TABLE {TABLE} (id INT) USING parquet")
    try:
        properties = {f"lineagebridge.p{number}'`\\": text for number, text in enumerate(HOSTILE)}
        spark.sql(statements.set_properties(TABLE, "MANAGED", properties))
        spark.sql(statements.set_comment(TABLE, "", HOSTILE[2]))
        found = {row["key"]: row["value"] for row in spark.sql(f"SHOW TBLPROPERTIES {TABLE}").collect()}
        assert {name: found.get(name) for name in properties} == properties
        assert [row["data_type"] for row in spark.sql(f"DESCRIBE EXTENDED {TABLE}").collect() if row["col_name"] == "Comment"] == [
            HOSTILE[2]
        ]
        spark.sql(statements.unset_properties(TABLE, "MANAGED", [*properties, "never.set"]))
        spark.sql(statements.set_comment(TABLE, "", ""))
        assert not properties.keys() & {row["key"] for row in spark.sql(f"SHOW TBLPROPERTIES {TABLE}").collect()}
    finally:
        spark.sql(f"DROP TABLE {TABLE}")


def test_spark_and_the_stand_in_read_the_same_tags(spark: "SparkSession") -> None:
    there = SqlTables()
    there.tags = {
        ("main.sales.orders", ""): {"tier": "gold", "only": ""},
        ("main.sales.orders", "Id"): {"pii": "1"},
        ("a.b.c", ""): {"x": "1"},
    }
    given = {"t0": "main.sales.orders", "t1": "no.such.table"}
    text = statements.tags_of(2)
    for table, more in (("table_tags", ""), ("column_tags", ", 'Id' AS column_name")):
        rows = []
        for (name, column), tags in there.tags.items():
            catalog, schema, short = name.split(".")
            placed = f"'{catalog.upper()}' AS catalog_name, '{schema}' AS schema_name, '{short}' AS table_name"
            pairs = tags.items() if bool(column) == bool(more) else ()
            rows += [f"SELECT {placed}, '{key}' AS tag_name, nullif('{value}', '') AS tag_value{more}" for key, value in pairs]
        spark.sql(" UNION ALL ".join(rows)).createOrReplaceTempView(f"unity_{table}")
        text = text.replace(f"system.information_schema.{table}", f"unity_{table}")
    found = sorted(list(row) for row in spark.sql(text, args=given).collect())
    for table in ("table_tags", "column_tags"):
        spark.catalog.dropTempView(f"unity_{table}")
    assert found == [
        ["main.sales.orders", "", "only", ""],
        ["main.sales.orders", "", "tier", "gold"],
        ["main.sales.orders", "Id", "pii", "1"],
    ]
    assert sorted(there.rows(statements.tags_of(2), given)) == found


def test_comments_of_columns_are_those_of_the_dialect() -> None:
    parsed = sqlglot.parse_one(statements.set_comment("a.b.c`d", "co`l", HOSTILE[2]), dialect="databricks")
    assert isinstance(parsed, exp.Comment)
    assert (parsed.args["kind"], parsed.expression.this) == ("COLUMN", HOSTILE[2])
    assert [part.name for part in parsed.this.parts] == ["a", "b", "c`d", "co`l"]


@pytest.mark.parametrize(
    ("text", "sql_state"),
    [
        ("ALTER STREAMING TABLE `a`.`b`.`s` SET TBLPROPERTIES ('x' = '1')", "42601"),
        ("ALTER TABLE `a`.`b`.`v` SET TBLPROPERTIES ('x' = '1')", "42809"),
        ("ALTER TABLE `a`.`b`.`t` SET TAGS ('a.b' = '1')", "22023"),
        ("ALTER TABLE `a`.`b`.`t` SET TAGS ('x' = '1'", "42601"),
        ("ALTER TABLE `a`.`b`.`t` SET TAGS ('x' = 'it's')", "42601"),
        ("ALTER TABLE `a`.`b`.`t` SET TBLPROPERTIES ('x' = '1', 'x' = '2')", "42713"),
        ("ALTER TABLE `a`.`b`.`none` SET TAGS ('x' = '1')", "42P01"),
        ("ALTER TABLE `a`.`b`.`t` ALTER COLUMN `none` SET TAGS ('x' = '1')", "42703"),
        ("COMMENT ON COLUMN `a`.`b`.`t` IS 'x'", "42601"),
        ("COMMENT ON TABLE `a`.`b`.`t` IS 'x'; DROP TABLE x", "42601"),
    ],
)
def test_the_stand_in_refuses_what_is_not_documented(text: str, sql_state: str) -> None:
    there = SqlTables()
    for name, kind in (("t", "MANAGED"), ("v", "VIEW"), ("s", "STREAMING_TABLE")):
        there.add(f"a.b.{name}", "id", kind=kind)
    try:
        there.rows(text, {})
    except (SqlError, sqlglot.errors.TokenError) as error:
        assert getattr(error, "sql_state", "42601") == sql_state  # noqa: PT017  # a text that is no statement has no tokens
    else:
        pytest.fail("it was not refused")


TEXTS = st.sampled_from(["", "a", "b'", "c\\"])
TAGS = st.dictionaries(st.sampled_from(["", "id"]), st.dictionaries(st.sampled_from(["k", "l'"]), st.sampled_from(["1", "2"]), max_size=2))
COMMENTS = st.dictionaries(st.sampled_from(["", "id"]), TEXTS.filter(bool))
PROPERTIES = st.dictionaries(st.sampled_from(["lineagebridge.a", "lineagebridge.b"]), TEXTS, min_size=1)
GOALS = st.lists(st.tuples(PROPERTIES, COMMENTS, TAGS), min_size=1, max_size=3)
KINDS = st.sampled_from(["MANAGED", "VIEW", "STREAMING_TABLE"])


def _found(there: SqlTables) -> FoundTable:
    table = there.tables["a.b.c"]
    tags = {column.lower(): found for (_, column), found in there.tags.items()}
    return FoundTable(
        "a.b.c", table["table_type"], table["properties"], {"": table["comment"], "id": table["columns"]["Id"]}, {"id": "Id"}, tags
    )


def _changed(there: SqlTables, goal: TableGoal, cut: int) -> str:
    """Change a table, first to the statement at which the process ends, then whole. Returns why it is refused."""
    for end in (cut, None):
        changes = changes_of(_found(there), goal, "lineagebridge", "now")
        for statement in changes.statements[:end]:
            there.rows(statement.text, {})
    return changes.obstacle


def _shown(there: SqlTables) -> tuple[dict[str, Any], dict[tuple[str, str], dict[str, str]]]:
    return copy.deepcopy(there.tables), {key: dict(found) for key, found in there.tags.items() if found}


OLD, NEW = (({"lineagebridge.a": ""}, {"": text, "id": text}, {"": {"k": text}, "id": {"k": text}}) for text in ("a", "b'"))


@given(KINDS, COMMENTS, TAGS, GOALS, st.integers(0, 6))
@example("MANAGED", {}, {}, [OLD, NEW], 1)
@example("MANAGED", {}, {}, [OLD, NEW], 2)
@example("VIEW", {"": "a"}, {"": {"k": "1"}}, [OLD, NEW], 3)
@example("STREAMING_TABLE", {}, {}, [OLD, NEW], 1)
def test_whatever_ends_it_a_table_gets_its_goal_and_in_the_end_has_what_others_wrote(
    kind: str, comments: dict[str, str], tags: dict[str, dict[str, str]], goals: list[tuple[Any, Any, Any]], cut: int
) -> None:
    there = SqlTables()
    table = there.add("a.b.c", "Id", kind=kind, comment=comments.get("", ""))
    table["properties"]["theirs"] = "1"
    table["columns"]["Id"] = comments.get("id", "")
    there.tags = {("a.b.c", "Id" if column else ""): dict(found) for column, found in tags.items()}
    before = _shown(there)
    for properties, described, tagged in goals:
        goal = TableGoal(content_of(properties, described, tagged), properties, described, tagged)
        if not _changed(there, goal, cut):
            assert state_of(_found(there), "lineagebridge") == goal.content
            assert kind == "STREAMING_TABLE" or comments.get("") or there.tables["a.b.c"]["comment"] == described.get("", "")
    _changed(there, NOTHING, cut)
    assert _shown(there) == before
