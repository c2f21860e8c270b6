"""From a table of PostgreSQL by Debezium, a topic, Flink SQL, another topic and a sink: observed from outside, one walk, with columns.

Everything is real: the servers, `serve` with its processes, the commands that a user types.
"""

import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.events import run_event
from tests.servers.broker import Kafka
from tests.servers.connect import FILE_SINK, Connect, capture_config
from tests.servers.flink import FlinkCluster
from tests.servers.postgres import Postgres
from tests.serving import Served, run, serving

SCRIPT = """
CREATE TABLE buyers (id INT, email STRING, city STRING, PRIMARY KEY (id) NOT ENFORCED) WITH (
  'connector' = 'kafka', 'topic' = 'path.public.buyers', 'properties.bootstrap.servers' = '{bootstrap}',
  'properties.group.id' = 'path-flink', 'scan.startup.mode' = 'earliest-offset', 'format' = 'debezium-json');
CREATE TABLE masked (id INT, mail STRING, city STRING, PRIMARY KEY (id) NOT ENFORCED) WITH (
  'connector' = 'upsert-kafka', 'topic' = 'path-masked', 'properties.bootstrap.servers' = '{bootstrap}',
  'key.format' = 'json', 'value.format' = 'json');
SET 'pipeline.name' = 'mask-buyers';
INSERT INTO masked SELECT id, MD5(email), UPPER(city) FROM buyers WHERE id > 0;
"""


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with serving(tmp_path_factory.mktemp("path")) as started:
        yield started


def elsewhere(kafka: Kafka) -> str:
    """The broker's address, as somebody else writes it."""
    return kafka.bootstrap.replace("127.0.0.1", "localhost")


def source(served: Served, *words: str) -> Any:
    """What `lineage-bridge source` answers."""
    return json.loads(run("source", *words, "--json", "--url", served.url))


def polled(served: Served, *names: str) -> dict[str, Any]:
    """The sources after a poll of each, which must have seen everything; twice, since they build upon each other."""
    found = {}
    for name in (*names, *names):
        found[name] = source(served, "poll", name)
        assert found[name]["state"] in ("ok", "partial"), found[name]
    return found


@pytest.fixture(scope="module")
def path(served: Served, kafka: Kafka, connect: Connect, postgres: Postgres, flink: FlinkCluster, tmp_path_factory) -> Iterator[Path]:
    """The pipeline runs and is observed; the file that its sink writes."""
    postgres.execute(
        "CREATE TABLE buyers (id INT PRIMARY KEY, email TEXT, city TEXT); INSERT INTO buyers VALUES (1, 'ann@example.com', 'Oslo')"
    )
    connect.put("path-capture", capture_config(postgres, "path", "public.buyers"))
    assert b"ann@example.com" in (kafka.consume("path.public.buyers", 1)[0] or b"")
    kafka.create_topics("path-masked")
    script = tmp_path_factory.mktemp("sql") / "mask-buyers.sql"
    script.write_text(SCRIPT.format(bootstrap=kafka.bootstrap))
    answers = flink.sql([statement for statement in script.read_text().split(";") if statement.strip()])
    out = connect.folder / "masked.txt"
    text = "org.apache.kafka.connect.storage.StringConverter"
    connect.put(
        "path-file",
        {
            "connector.class": FILE_SINK,
            "topics": "path-masked",
            "file": str(out),
            "key.converter": text,
            "value.converter": text,
            "tasks.max": "1",
        },
    )
    source(
        served,
        "add",
        "broker",
        "kafka",
        f"bootstrap_servers={kafka.bootstrap},{elsewhere(kafka)}",
        "interval_s=3600",
        "groups=" + json.dumps(["path-*", "connect-path-*"]),
    )
    source(served, "add", "connect", "connect", f"url={connect.url}", "interval_s=3600", 'include=["path-*"]')
    source(
        served, "add", "flink", "flink", f"url={flink.url}", "interval_s=3600", f"statements={json.dumps([str(script)])}", 'jobs=["mask-*"]'
    )
    deadline = time.monotonic() + 60
    while not out.exists() or "OSLO" not in out.read_text():
        assert time.monotonic() < deadline
        time.sleep(0.2)
    yield out
    flink.cancel(answers[-1].job)
    for name in ("path-capture", "path-file"):
        connect.delete(name)


@pytest.mark.usefixtures("path")
def test_each_step_of_each_source_works(served: Served) -> None:
    for name in ("broker", "connect", "flink"):
        checks = source(served, "test", name)
        assert checks["works"], checks


def test_the_path_is_one_walk(served: Served, path: Path, kafka: Kafka, postgres: Postgres) -> None:
    polled(served, "broker", "connect", "flink")
    topics = f"kafka://{kafka.bootstrap}"
    table = (f"postgres://{postgres.host}:{postgres.port}", "shop.public.buyers")
    walk = served.ask("/graph/neighbourhood", namespace="file", name=str(path), direction="upstream", depth=10)
    names = {node["id"]: node["name"] for node in walk["nodes"]}
    assert {(names[edge["source"]], names[edge["job"]], names[edge["target"]]) for edge in walk["edges"]} == {
        (table[1], "path-capture", "path.public.buyers"),
        ("path.public.buyers", "mask-buyers", "path-masked"),
        ("path-masked", "path-file", str(path)),
    }
    assert {(node["namespace"], node["name"]) for node in walk["nodes"] if node["kind"] == "dataset"} == {
        table,
        (topics, "path.public.buyers"),
        (topics, "path-masked"),
        ("file", str(path)),
    }
    impact = served.ask("/graph/impact", namespace=table[0], name=table[1])
    assert str(path) in json.dumps(impact)


def reached(served: Served, table: dict[str, str], field: str, **more: str) -> set[tuple[str, str]]:
    """The columns that a column of a table ends up in, as names of datasets and fields."""
    trace = served.ask("/graph/trace", **table, field=field, direction="downstream", **more)
    names = {node["id"]: node["name"] for node in trace["nodes"]}
    return {(names[column["node"]], column["field"]) for column in trace["columns"]}


def test_a_column_is_traced_from_the_table_to_the_sink(served: Served, path: Path, postgres: Postgres) -> None:
    polled(served, "broker", "connect", "flink")
    table = {"namespace": f"postgres://{postgres.host}:{postgres.port}", "name": "shop.public.buyers"}
    envelope = {("shop.public.buyers", "city"), ("path.public.buyers", "after.city"), ("path.public.buyers", "before.city")}
    assert reached(served, table, "city") - envelope == {("path-masked", "city"), (str(path), "city")}
    assert (str(path), "mail") in reached(served, table, "email", through_masking="true")


def test_what_spark_reads_of_a_topic_lies_on_the_path(served: Served, path: Path, kafka: Kafka, postgres: Postgres) -> None:
    polled(served, "broker", "connect", "flink")
    reads = {"namespace": f"kafka://{elsewhere(kafka)}", "name": "path-masked"}
    event = run_event(job="report", namespace="spark", inputs=[reads], outputs=[{"namespace": "s3://lake", "name": "path-report"}])
    served.client.post("/api/v1/lineage", event)
    impact = served.ask("/graph/impact", namespace=f"postgres://{postgres.host}:{postgres.port}", name="shop.public.buyers")
    assert {"path-report", str(path)} <= {entry["node"]["name"] for entry in impact["affected"]}
