"""The cluster: statements move records from topic to topic, jobs end in every way, and the listener reports them."""

import json

import pytest
from tests.servers.flink import NAMESPACE, kafka_table


def test_records_go_from_topic_to_topic_and_the_listener_reports_it(kafka, flink, event_sink):
    kafka.create_topics("bought", "doubled")
    kafka.produce("bought", ['{"id": 1, "amount": 4}'])
    *_, started = flink.sql(
        [
            kafka_table("bought", "id INT, amount INT", "bought", kafka.bootstrap),
            kafka_table("doubled", "id INT, twice INT", "doubled", kafka.bootstrap),
            "SET 'pipeline.name' = 'doubling'",
            "INSERT INTO doubled SELECT id, amount * 2 FROM bought",
        ]
    )
    assert json.loads(kafka.consume("doubled", 1)[0]) == {"id": 1, "twice": 8}
    assert flink.ask(f"/jobs/{started.job}")["name"] == "doubling"
    event = event_sink.wait_for(
        lambda event: (event["job"]["namespace"], event["job"]["name"]) == (NAMESPACE, "doubling") and event.get("outputs")
    )
    assert [dataset["name"] for dataset in (*event["inputs"], *event["outputs"])] == ["bought", "doubled"]
    flink.cancel(started.job)


def test_rows_are_returned_and_the_end_of_a_job_is_noticed(flink):
    assert flink.sql(["CREATE TABLE t (id INT) WITH ('connector' = 'blackhole')", "SHOW TABLES"])[1].rows == [["t"]]
    numbers = "CREATE TABLE numbers (id INT) WITH ('connector' = 'datagen', 'number-of-rows' = '5')"
    nowhere = "CREATE TABLE nowhere (id INT) WITH ('connector' = 'blackhole')"
    *_, finished, failed = flink.sql(
        [
            numbers,
            nowhere,
            "INSERT INTO nowhere SELECT id FROM numbers",
            "INSERT INTO nowhere SELECT CAST('x' || CAST(id AS STRING) AS INT) FROM numbers",
        ]
    )
    flink.wait_for_state(finished.job, "FINISHED")
    flink.wait_for_state(failed.job, "FAILED")


def test_an_error_in_a_statement_is_reported(flink):
    with pytest.raises(AssertionError, match="Object 'absent' not found"):
        flink.sql(["SELECT * FROM absent"])
