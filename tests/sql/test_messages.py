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
        ("flink", "WITH x AS (SELECT 1) b", (1, 22), "a query is expected behind WITH, not 'b'"),
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
        ("snowflake", "SELECT FROM WHERE", (1, 17), "the name of a table is expected here, not 'WHERE'"),
        ("postgres", "SELECT $$secret", (1, 1), "a string, a quoted name or a comment is opened and never closed"),
        ("spark", "CREATE FOO x", (1, 1), "a statement that begins with 'CREATE' is not understood"),
        ("ksqldb", "SELECT x.y FROM t; CREATE STREAM s AS SELCT a FROM b;", (1, 47), "'FROM' is not expected here"),
        ("ksqldb", "ksql> SELECT * FROM a;", (1, 1), "'ksql>' is the prompt of a console: remove it"),
        ("flink", "Flink SQL> INSERT INTO a SELECT b FROM c;", (1, 1), "'Flink SQL>' is the prompt of a console: remove it"),
        ("ksqldb", "+---+----+\n|ID |NAME|\n", (1, 1), "this was printed by a console: it is not SQL"),
        ("flink", "SELEKT a FROM b", (1, 1), "no statement begins with 'SELEKT'"),
        ("flink", "CREATE TABLE t (a INT); SELECT b FROM t", (1, 32), "no table here has a column 'b'"),
        ("flink", "CREATE TABLE t (a INT); SELECT x.* FROM t", (1, 32), "nothing is called 'x' here"),
        ("flink", "CREATE TABLE t (a INT, b INT); INSERT INTO t SELECT a FROM t", (1, 46), "the query has 1 columns, but 2 are written"),
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
        assert "<" not in fault.message
        assert "sqlglot" not in fault.message
        assert "Token" not in fault.message
