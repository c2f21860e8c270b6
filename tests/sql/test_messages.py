"""What is said about a statement that cannot be understood: what is wrong, and what was found there."""

import pytest

from lineage_bridge.sql.reading import lineage_of


@pytest.mark.parametrize(
    ("dialect", "text", "place", "message"),
    [
        ("flink", "INSERT INTO a SELECT (b FROM c;", (1, 25), ") is expected here, not 'FROM'"),
        ("flink", "INSERT INTO a SELECT b FROM WHERE x;", (1, 29), "the name of a table is expected here, not 'WHERE'"),
        ("flink", "INSERT INTO a SELECT b b b FROM c", (1, 26), "'b' is not expected here"),
        ("flink", "INSERT INTO a SELECT b b 'secret' FROM c", (1, 26), "a string is not expected here"),
        ("flink", "WITH x AS (SELECT 1) b", (1, 22), "a query is expected after WITH, not 'b'"),
        ("flink", "CREATE TABLE (a INT)", (1, 14), "a name is expected here, not '('"),
        (
            "flink",
            "CREATE TABLE t 'secret'",
            (1, 16),
            "WITH, AS, LIKE or another part of a table's definition is expected here, not a string",
        ),
        ("flink", "SELECT a FROM b WHERE c =", (1, 25), "an expression is missing at '='"),
        ("flink", "INSERT INTO a SELECT b FROM c JOIN d ON ((", (1, 42), "an expression is missing at '('"),
        ("spark", "INSERT INTO a SELECT b b b FROM c", (1, 26), "'b' is not expected here"),
        ("spark", "SELECT a FROM b JOIN c ON ((", (1, 28), "an expression is missing at '('"),
        ("snowflake", "SELECT FROM WHERE", (1, 17), "the statement ends with 'WHERE', but the name of a table is expected"),
        ("postgres", "SELECT $$secret", (1, 1), "a string, a quoted name or a comment is never closed"),
        ("spark", "CREATE FOO x", (1, 1), "a statement that begins with 'CREATE' is not understood"),
        (
            "ksqldb",
            "SELECT x.y FROM t; CREATE STREAM s AS SELCT a FROM b;",
            (1, 47),
            "'FROM' is not expected here: is 'SELCT' meant to be SELECT?",
        ),
        ("ksqldb", "ksql> SELECT * FROM a;", (1, 1), "'ksql>' is the prompt of a console: remove it"),
        ("flink", "Flink SQL> INSERT INTO a SELECT b FROM c;", (1, 1), "'Flink SQL>' is the prompt of a console: remove it"),
        ("ksqldb", "+---+----+\n|ID |NAME|\n", (1, 1), "this line is what a console printed, not SQL: remove it"),
        ("flink", "SELEKT a FROM b", (1, 1), "no statement begins with 'SELEKT': is 'SELEKT' meant to be SELECT?"),
        ("flink", "INSERT INTO a SELECT b FORM c;", (1, 29), "'c' is not expected here: is 'FORM' meant to be FROM?"),
        ("flink", "INSERT INTO a SELECT b FROM c GRUOP BY b;", (1, 37), "'BY' is not expected here: is 'GRUOP' meant to be GROUP?"),
        ("flink", "INSERT INTO a SELECT b FROM c ORDER b;", (1, 37), "BY is expected here, not 'b'"),
        ("flink", "INSERT orders SELECT b FROM c;", (1, 8), "INTO or OVERWRITE is expected here, not 'orders'"),
        (
            "flink",
            "CREATE TABEL a AS SELECT b FROM c;",
            (1, 8),
            "TABLE, STREAM, VIEW, MODEL, FUNCTION or another kind of object is expected here, not 'TABEL': is 'TABEL' meant to be TABLE?",
        ),
        ("flink", "CREATE TABLE a (b INT c STRING) WITH ('connector' = 'print');", (1, 23), "',' or ')' is expected here, not 'c'"),
        (
            "flink",
            "CREATE TABLE a (b INT) WITH ('connector' = 'kafka' 'topic' = 'x');",
            (1, 52),
            "',' or ')' is expected here, not a string",
        ),
        ("flink", "INSERT INTO a SELECT b FROM", (1, 24), "the statement ends with 'FROM', but the name of a table is expected"),
        ("flink", "INSERT INTO a SELECT CASE WHEN b THEN 1 FROM c;", (1, 39), "the END of a CASE is missing after '1'"),
        ("flink", "SELECT a FROM b /* note", (1, 17), "a comment is opened here and never closed"),
        ("flink", "CREATE TABLE s AS SELECT * FROM {{ ref('a') }};", (1, 33), "this is a template of dbt or Jinja: compile it first"),
        ("spark", "{{ config() }} SELECT 1", (1, 1), "this is a template of dbt or Jinja: compile it first"),
        ("spark", "SELECT a FROM b WHER c = 1", (1, 22), "'c' is not expected here: is 'WHER' meant to be WHERE?"),
        (
            "flink",
            "CREATE TABLE s AS SELECT * FROM a EMIT CHANGES;",
            (1, 40),
            "'CHANGES' is not expected here: EMIT CHANGES is ksqlDB's, choose its dialect",
        ),
        ("ksqldb", " Message\n-------\n Stream created\n", (1, 2), "this line is what a console printed, not SQL: remove it"),
        ("ksqldb", " ORDERID | ITEM\n----------------\n 1 | x\n", (1, 2), "this line is what a console printed, not SQL: remove it"),
        ("ksqldb", " Stream Name | Kafka Topic | Format\n---\n", (1, 2), "this line is what a console printed, not SQL: remove it"),
        ("flink", "Job ID: 7f3a", (1, 1), "this line is what a console printed, not SQL: remove it"),
        ("flink", "[INFO] Table has been created.", (1, 1), "this line is what a console printed, not SQL: remove it"),
        ("ksqldb", "CREATE STREAM s (a INT KEY b INT) WITH (kafka_topic = 'x');", (1, 28), "',' or ')' is expected here, not 'b'"),
        ("ksqldb", "CREATE STREAM s AS SELECT a FROM t JOIN u WITHIN ON t.a = u.a;", (1, 50), "a duration is expected here, not 'ON'"),
        ("ksqldb", "SELECT a FROM t WINDOW TUMBLING SIZE 5 MINUTES GROUP BY a;", (1, 33), "'(' is expected here, not 'SIZE'"),
        ("ksqldb", "SELECT a->b-> FROM t;", (1, 15), "a field is expected here, not 'FROM'"),
        ("flink", "CREATE TABLE t (a INT, PRIMARY KEY a NOT ENFORCED);", (1, 36), "'(' is expected here, not 'a'"),
        ("flink", "INSERT INTO a SELECT b AS FROM c;", (1, 32), "a name is expected after AS, not 'FROM'"),
        ("flink", "INSERT INTO a SELECT FROM c;", (1, 22), "an expression is expected here, not 'FROM'"),
        ("flink", "INSERT INTO a SELECT b FROM c UNION d;", (1, 37), "a query is expected after UNION, not 'd'"),
        ("flink", "INSERT INTO a SELECT b FROM c WHERE d == 1;", (1, 40), "'==' is not SQL: write '='"),
        ("flink", "CREATE VIEW v AS;", (1, 15), "a query is expected after AS"),
        ("flink", "CREATE TABLE t AS", (1, 16), "a query is expected after AS"),
        ("flink", "WITH a AS (SELECT b FROM c), SELECT b FROM a;", (1, 30), "the name of a query is expected here, not 'SELECT'"),
        (
            "flink",
            "SELECT * FROM TABLE(TUMBLE(t, DESCRIPTOR(ts), INTERVAL '1' MINUTE));",
            (1, 28),
            "TABLE is expected here, not 't'",
        ),
        ("flink", "CREATE TABLE t (a INT); SELECT b FROM t", (1, 32), "no table of this query has a column 'b'"),
        ("flink", "CREATE TABLE t (a INT); SELECT x.* FROM t", (1, 32), "no table, view or query is called 'x' in this statement"),
        (
            "flink",
            "CREATE TABLE t (a INT, b INT); INSERT INTO t SELECT a FROM t",
            (1, 46),
            "the query returns 1 columns, but the statement writes 2",
        ),
    ],
)
def test_a_message_says_what_is_wrong_and_where(dialect: str, text: str, place: tuple[int, int], message: str) -> None:
    faults = [fault for fault in lineage_of(text, dialect).errors if (fault.line, fault.column) == place or fault.message == message]
    assert [(fault.line, fault.column, fault.message) for fault in faults] == [(*place, message)]


UNFINISHED = """SELECT; SELECT (; SELECT a FROM; SELECT a FROM b WHERE; SELECT CASE; SELECT CAST(a; SELECT a AND; SELECT a FROM b GROUP BY
SELECT a..b; SELECT f(; SELECT a FROM (; SELECT a IN FROM b; SELECT a BETWEEN b FROM c; WITH a SELECT b"""


@pytest.mark.parametrize("dialect", ["flink", "ksqldb", "spark"])
@pytest.mark.parametrize("text", [text.strip() for text in UNFINISHED.replace("\n", ";").split(";")])
def test_no_message_names_a_class_or_a_token_of_a_library(dialect: str, text: str) -> None:
    for fault in lineage_of(text, dialect).errors:
        assert fault.message.isprintable()
        assert "<" not in fault.message
        assert "sqlglot" not in fault.message
        assert "Token" not in fault.message


@pytest.mark.parametrize("text", ["org.example.SqlError: From line 1, column 8", "[INFO] Reading from a table"])
def test_prose_reads_no_tables(text: str) -> None:
    found = lineage_of(text, "flink")
    assert (found.inputs, found.outputs, len(found.errors)) == ({}, {}, 1)


@pytest.mark.parametrize(
    "columns",
    [
        "a TIMESTAMP(3) WITH LOCAL TIME ZONE, b TIME WITHOUT TIME ZONE, c ROW<x INT, y STRING>, d DOUBLE PRECISION",
        "a MAP<STRING, ROW<x INT, y INT>>, b VARCHAR(3) NOT NULL COMMENT 'x', c INT ARRAY, d BIGINT METADATA FROM 'offset' VIRTUAL",
        "date DATE, time TIME, timestamp TIMESTAMP(3), row ROW<date DATE, time TIME>",
    ],
)
def test_types_of_several_words_lack_no_comma(columns: str) -> None:
    assert lineage_of(f"CREATE TABLE t ({columns}) WITH ('connector' = 'print', 'a.b' = 'x=y')", "flink").errors == []
