"""`sql` on the command line. It needs no server."""

import json

import pytest

SCRIPT = """CREATE TABLE orders (id BIGINT, amount DECIMAL(10, 2)) WITH (
  'connector' = 'kafka', 'topic' = 'shop.orders', 'properties.bootstrap.servers' = 'broker:9092', 'format' = 'json');
INSERT INTO totals SELECT id, SUM(amount) AS total FROM orders WHERE id > 0 GROUP BY id;
INSERT INTO broken SELECT FROM;
"""


@pytest.fixture
def script(tmp_path):
    path = tmp_path / "pipeline.sql"
    path.write_text(SCRIPT)
    return path


def test_a_script_as_json(call, script):
    done = call("sql", "--dialect", "flink", "--json", script)
    assert (done.code, done.err) == (0, "")
    result = json.loads(done.out)
    assert result["inputs"] == ["orders"]
    assert result["outputs"] == ["totals", "broken"]
    assert result["declares"] == ["orders"]
    assert result["models"] == []
    assert result["datasets"] == {"orders": {"namespace": "kafka://broker:9092", "name": "shop.orders"}}
    flow = {"in_table": "orders", "out_table": "totals", "confidence": 0.8}
    assert result["columns"] == [
        {**flow, "in_column": "id", "out_column": "id", "subtype": "IDENTITY"},
        {**flow, "in_column": "amount", "out_column": "total", "subtype": "AGGREGATION"},
    ]
    assert {(flow["in_column"], flow["kind"]) for flow in result["indirect"]} == {("id", "FILTER"), ("id", "GROUP_BY")}
    assert [(fault["line"], fault["column"]) for fault in result["errors"]] == [(4, 27)]


def test_a_script_as_text(call, script):
    done = call("sql", "--dialect", "flink", script)
    assert "reads: orders" in done.out
    assert "orders is kafka://broker:9092 shop.orders" in done.out
    assert "orders.amount" in done.out
    assert "line 4, column 27: " in done.out


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("tables.json", '{"a": ["x", "y"], "b": {"p": "INT", "q": "STRING"}}'),
        ("tables.json", '{"a": [{"name": "x", "type": "INT"}, {"name": "y"}], "b": ["p", "q"]}'),
        ("tables.sql", "CREATE TABLE a (x INT, y INT); CREATE TABLE b (p INT, q STRING);"),
    ],
)
def test_tables_of_the_schema_file_are_known(call, tmp_path, name, text):
    schema = tmp_path / name
    schema.write_text(text)
    query = tmp_path / "query.sql"
    query.write_text("INSERT INTO b SELECT * FROM a")
    result = json.loads(call("sql", "--dialect", "flink", "--schema", schema, "--json", query).out)
    assert [(flow["in_column"], flow["out_column"], flow["confidence"]) for flow in result["columns"]] == [("x", "p", 1.0), ("y", "q", 1.0)]


def test_wrong_usage(call, script, tmp_path):
    assert call("sql", "--dialect", "cobol", script).code == 2
    assert "flink, confluent-flink, ksqldb, " in call("sql", "--dialect", "cobol", script).err
    assert call("sql", script).code == 2
    broken = tmp_path / "tables.json"
    broken.write_text("{")
    assert call("sql", "--dialect", "flink", "--schema", broken, script).code != 0


KSQL = """CREATE STREAM orders (id BIGINT KEY, amount DOUBLE) WITH (KAFKA_TOPIC = 'shop.orders', VALUE_FORMAT = 'JSON');
CREATE STREAM big AS SELECT * FROM orders WHERE amount > 100 EMIT CHANGES;
CREATE TABLE sums WITH (KAFKA_TOPIC = 'order-sums') AS SELECT id, SUM(amount) AS total FROM orders GROUP BY id EMIT CHANGES;
INSERT INTO elsewhere SELECT * FROM big EMIT CHANGES;
"""


def test_ksqldb_topics_are_in_the_given_kafka_cluster(call, tmp_path):
    script = tmp_path / "queries.sql"
    script.write_text(KSQL)
    result = json.loads(call("sql", "--dialect", "ksqldb", "--kafka", "b1:9092,b2:9092", "--json", script).out)
    datasets = {name: (dataset["namespace"], dataset["name"]) for name, dataset in result["datasets"].items()}
    assert datasets == {
        "ORDERS": ("kafka://b1:9092", "shop.orders"),
        "BIG": ("kafka://b1:9092", "BIG"),
        "SUMS": ("kafka://b1:9092", "order-sums"),
    }
    assert json.loads(call("sql", "--dialect", "ksqldb", "--json", script).out)["datasets"] == {}
