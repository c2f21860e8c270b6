"""Every case of the answer book, read."""

import pytest
from tests.sql.cases import Case, Influence, cases

from lineage_bridge.sql.names import Name, parsed, written
from lineage_bridge.sql.reading import lineage_of


def schema(case: Case) -> dict[Name, tuple[str, ...]]:
    return {parsed(name): columns for name, columns in case.schema.items()}


@pytest.mark.parametrize("case", cases(), ids=lambda case: case.name)
def test_a_script_is_read_as_the_book_says(case: Case) -> None:
    found = lineage_of(case.sql, case.dialect, schema(case))
    direct = {(written(f.in_table), f.in_column, written(f.out_table), f.out_column): f.subtype.name for f in found.columns}
    expected = {(f.in_table, f.in_column, f.out_table, f.out_column): f.kinds for f in case.columns}
    assert {edge: kind for edge, kind in direct.items() if kind not in expected.get(edge, ())} == {}
    assert set(expected) - set(direct) == set()
    assert len(found.columns) == len(direct)
    indirect = {(written(f.in_table), f.in_column, written(f.out_table), f.kind) for f in found.indirect}
    assert {edge for edge in indirect if not any(_matches(influence, edge) for influence in case.indirect)} == set()
    assert [
        influence for influence in case.indirect if not influence.optional and not any(_matches(influence, edge) for edge in indirect)
    ] == []
    names = [{written(name) for name in given} for given in (found.inputs, found.outputs, found.declares, found.models)]
    assert names[0] - case.optional_inputs == case.inputs
    assert names[1:] == [case.outputs, case.declares, case.models]
    assert {written(name): dataset for name, dataset in found.datasets.items()} == case.datasets
    assert len(found.errors) == case.errors, found.errors
    positions = [(fault.line, fault.column) for fault in found.errors]
    assert all(any(line == at[0] and column in (0, at[1]) for at in positions) for line, column in case.positions), positions


@pytest.mark.parametrize("dialect", ["flink", "confluent-flink", "ksqldb"])
@pytest.mark.parametrize(
    ("expression", "columns"),
    [
        ("EXTRACT(DAY FROM ordered)", {"ordered"}),
        ("EXTRACT(EPOCH FROM o.ordered)", {"ordered"}),
        ("TIMESTAMPDIFF(HOUR, ordered, paid)", {"ordered", "paid"}),
        ("TIMESTAMPADD(MINUTE, late, ordered)", {"late", "ordered"}),
        ("TIMESTAMPADD(late, ordered, ordered)", {"late", "ordered"}),
        ("CONCAT(`day`, `hour`)", {"day", "hour"}),
    ],
)
def test_a_unit_of_time_is_no_column_of_a_table_of_unknown_columns(expression: str, columns: set[str], dialect: str) -> None:
    found = lineage_of(f"INSERT INTO sums SELECT {expression} AS x FROM orders o;", dialect)
    assert {flow.in_column.lower() for flow in found.columns} == columns


@pytest.mark.parametrize("word", ["CURRENT_DATE", "CURRENT_TIME", "current_timestamp", "LOCALTIME", "LOCALTIMESTAMP"])
def test_a_word_for_the_time_of_the_query_is_no_column_of_a_table_of_unknown_columns(word: str) -> None:
    found = lineage_of(f"INSERT INTO s SELECT o.a, {word} AS t FROM o JOIN p ON o.a = p.a WHERE o.b < {word};", "flink")
    assert {flow.in_column for flow in found.columns} == {"a"}
    assert {influence.in_column for influence in found.indirect} == {"a", "b"}
    quoted = lineage_of(f"INSERT INTO s SELECT `{word}` AS t FROM o;", "flink")
    assert {flow.in_column for flow in quoted.columns} == {word}


def _matches(influence: Influence, edge: tuple[str, str, str, str]) -> bool:
    return (influence.in_table, influence.in_column, influence.out_table) == edge[:3] and edge[3] in influence.kinds


KNOWN = "CREATE TABLE k (id INT, x INT) WITH ('connector' = 'print');"


@pytest.mark.parametrize(
    ("statements", "expected"),
    [
        ("CREATE TABLE o AS SELECT * FROM k, k AS l", {"id -> id 1.0", "x -> x 1.0", "id -> id0 1.0", "x -> x0 1.0"}),
        ("CREATE VIEW v AS SELECT * FROM k, k AS l; CREATE TABLE o AS SELECT id0 FROM v", {"id -> id0 1.0"}),
        ("CREATE TABLE o AS SELECT * FROM k, unknown", {"id -> id 1.0", "x -> x 1.0"}),
        ("CREATE TABLE o AS SELECT * FROM unknown, k", {"id -> id 0.8", "x -> x 0.8"}),
        ("CREATE TABLE o AS SELECT * FROM (SELECT * FROM unknown, k)", {"id -> id 0.8", "x -> x 0.8"}),
    ],
)
def test_a_name_that_is_taken_gets_a_number_in_flink(statements: str, expected: set[str]) -> None:
    found = lineage_of(KNOWN + statements, "flink")
    assert found.errors == []
    assert {f"{flow.in_column} -> {flow.out_column} {flow.confidence}" for flow in found.columns} == expected


@pytest.mark.parametrize(
    ("query", "columns"),
    [
        ("SELECT o.id, c.name FROM (TABLE orders) AS o JOIN (TABLE customers) AS c USING (no)", {"orders.id>id", "customers.name>name"}),
        ("SELECT id, name FROM orders JOIN (TABLE customers) USING (no)", {"orders.id>id", "customers.name>name"}),
        ("TABLE pairs", {"pairs.id>id", "pairs.name>name"}),
        ("(TABLE pairs)", {"pairs.id>id", "pairs.name>name"}),
        ("SELECT id, name FROM pairs UNION ALL TABLE more", {"pairs.id>id", "pairs.name>name", "more.a>id", "more.b>name"}),
        ("TABLE pairs EXCEPT TABLE more", {"pairs.id>id", "pairs.name>name"}),
        ("WITH p AS (TABLE pairs) SELECT * FROM p WHERE id IN (TABLE ids)", {"pairs.id>id", "pairs.name>name"}),
        ("SELECT * FROM SNAPSHOT(input => TABLE pairs, state_ttl => INTERVAL '1' DAY)", {"pairs.id>id", "pairs.name>name"}),
        ("SELECT p.* FROM orders, LATERAL TABLE(SNAPSHOT(TABLE pairs)) AS p", {"pairs.id>id", "pairs.name>name"}),
        ("SELECT x, y FROM orders JOIN LATERAL SNAPSHOT(TABLE pairs) AS p(x, y) ON no = x", {"pairs.id>id", "pairs.name>name"}),
    ],
)
def test_a_table_is_a_query_where_one_is_expected(query: str, columns: set[str]) -> None:
    tables = {"orders": ("no", "id"), "customers": ("no", "name"), "pairs": ("id", "name"), "more": ("a", "b"), "sink": ("id", "name")}
    found = lineage_of(f"INSERT INTO sink {query};", "flink", {(name,): columns for name, columns in tables.items()})
    assert found.errors == []
    assert {f"{written(f.in_table)}.{f.in_column}>{f.out_column}" for f in found.columns} == columns
    assert {flow.confidence for flow in found.columns} == {1.0}
    assert ("table",) not in found.inputs


@pytest.mark.parametrize(
    ("source", "origins"),
    [
        ("TABLE(made(DESCRIPTOR(a, b), 3))", set()),
        ("made(names => DESCRIPTOR(a, b), rows => 3)", set()),
        ("made(DESCRIPTOR(a, b))", set()),
        ("orders, LATERAL made(DESCRIPTOR(a, b), orders.no)", {"no"}),
    ],
)
@pytest.mark.parametrize("dialect", ["flink", "confluent-flink"])
def test_columns_that_a_function_without_a_table_is_to_make_are_no_columns_of_the_query(
    source: str, origins: set[str], dialect: str
) -> None:
    found = lineage_of(f"INSERT INTO sink SELECT a, b FROM {source};", dialect, {("orders",): ("no",), ("sink",): ("a", "b")})
    assert found.errors == []
    assert {(flow.in_column, flow.out_column) for flow in found.columns} == {(origin, column) for origin in origins for column in "ab"}


@pytest.mark.parametrize(
    ("tables", "columns"),
    [
        ("((m AS t JOIN m AS u ON t.k = u.k) LEFT JOIN w ON w.k = t.k)", {"u.c": "m.c", "t.k": "m.k", "w.z": "w.z"}),
        ("((m AS t JOIN m AS u ON t.k = u.k) CROSS JOIN w), m AS x", {"u.c": "m.c", "w.z": "w.z", "x.k": "m.k"}),
        ("(m AS t) JOIN ((w AS u)) ON t.k = u.k", {"t.c": "m.c", "u.z": "w.z"}),
        ("(((m AS t) JOIN (w) ON t.k = w.k))", {"t.c": "m.c", "w.z": "w.z"}),
        ("((SELECT k AS n FROM m) AS q JOIN w ON q.n = w.k)", {"q.n": "m.k", "w.z": "w.z"}),
        ("(((SELECT k AS n FROM m)) AS q JOIN (w JOIN m AS t ON w.k = t.k) ON q.n = t.k)", {"q.n": "m.k", "w.z": "w.z", "t.c": "m.c"}),
    ],
)
@pytest.mark.parametrize("dialect", ["flink", "confluent-flink", "postgres", "spark"])
def test_tables_of_a_join_keep_their_names_in_any_number_of_parentheses(tables: str, columns: dict[str, str], dialect: str) -> None:
    selected = ", ".join(f"{column} AS c{at}" for at, column in enumerate(columns))
    found = lineage_of(f"INSERT INTO o SELECT {selected} FROM {tables};", dialect, {("m",): ("c", "k"), ("w",): ("k", "z")})
    assert found.errors == []
    origins = {flow.out_column: f"{written(flow.in_table)}.{flow.in_column}" for flow in found.columns}
    assert origins == {f"c{at}": origin for at, origin in enumerate(columns.values())}


@pytest.mark.parametrize(
    "call",
    [
        "matched(TABLE a PARTITION BY id, TABLE b PARTITION BY id, on_time => DESCRIPTOR(ts))",
        "TABLE(matched(one => TABLE a PARTITION BY id, other => (SELECT * FROM b) PARTITION BY (id), on_time => DESCRIPTOR(ts)))",
    ],
)
def test_a_function_of_several_tables_returns_the_keys_of_each(call: str) -> None:
    """Flink's process table functions: the columns of each PARTITION BY, in the order of the tables, then those of the function."""
    tables: dict[Name, tuple[str, ...]] = {("a",): ("id", "x", "ts"), ("b",): ("id", "y", "ts"), ("o",): ("first", "second", "score", "at")}
    found = lineage_of(f"INSERT INTO o SELECT id, id0, score, rowtime FROM {call};", "flink", tables)
    assert found.errors == []
    origins = {column: {f"{written(f.in_table)}.{f.in_column}" for f in found.columns if f.out_column == column} for column in tables["o",]}
    everything = {f"{table}.{column}" for table in "ab" for column in tables[table,]}
    assert origins == {"first": {"a.id"}, "second": {"b.id"}, "score": everything, "at": {"a.ts", "b.ts"}}
    assert max(flow.confidence for flow in found.columns) < 1
