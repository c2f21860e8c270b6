"""The worker: changes of a database arrive in topics, files and mirrors move records, and a failure is reported."""

import pytest
from tests.servers.connect import DEBEZIUM, FILE_SINK, FILE_SOURCE, JDBC_SINK, MIRROR, NEW_TOPICS, capture_config, mirror_config

OPENLINEAGE = {
    "openlineage.integration.enabled": "true",
    "openlineage.integration.job.namespace": "captured",
    "transforms": "openlineage",
    "transforms.openlineage.type": "io.debezium.transforms.openlineage.OpenLineage",
}


def test_it_has_the_connectors_that_tests_ask_for(connect):
    classes = {plugin["class"] for plugin in connect.ask("GET", "/connector-plugins")}
    assert {DEBEZIUM, JDBC_SINK, FILE_SOURCE, FILE_SINK, MIRROR} <= classes


def test_changes_of_a_table_arrive_in_a_topic_and_are_reported_as_openlineage(kafka, connect, postgres, event_sink):
    postgres.execute("CREATE TABLE clients (id INT PRIMARY KEY, name TEXT); INSERT INTO clients VALUES (1, 'Ann')")
    config = {**capture_config(postgres, "captured", "public.clients"), **OPENLINEAGE}
    config["openlineage.integration.config.file.path"] = str(event_sink.settings_in(connect.folder))
    config["openlineage.integration.dataset.kafka.bootstrap.servers"] = kafka.bootstrap
    connect.put("capture-clients", config)
    connect.wait_for_state("capture-clients", "RUNNING")
    assert b'"name":"Ann"' in kafka.consume("captured.public.clients", 1)[0]
    event = event_sink.wait_for(lambda event: event["job"]["namespace"] == "captured" and event.get("outputs"))
    assert (event["job"]["name"], [output["name"] for output in event["outputs"]]) == ("captured.0", ["captured.public.clients"])
    connect.wait_for_topics("capture-clients", ["captured.public.clients"])
    connect.delete("capture-clients")


def test_a_table_is_written_from_a_topic(connect, postgres):
    postgres.execute("CREATE TABLE wishes (id INT PRIMARY KEY, wish TEXT); INSERT INTO wishes VALUES (1, 'rain')")
    with_schemas = {f"{side}.converter": "org.apache.kafka.connect.json.JsonConverter" for side in ("key", "value")}
    connect.put("capture-wishes", {**capture_config(postgres, "wished", "public.wishes"), **with_schemas})
    sink = {
        "connector.class": JDBC_SINK,
        "tasks.max": "1",
        "topics": "wished.public.wishes",
        "connection.url": f"jdbc:postgresql://{postgres.host}:{postgres.port}/{postgres.database}",
        "connection.username": postgres.user,
        "connection.password": postgres.password,
        "insert.mode": "upsert",
        "primary.key.mode": "record_key",
        "schema.evolution": "basic",
        "collection.name.format": "copy_of_${source.table}",
    }
    connect.put("copy-wishes", {**sink, **with_schemas})
    connect.wait_for_state("copy-wishes", "RUNNING")
    assert postgres.wait_for_rows("SELECT wish FROM copy_of_wishes") == [["rain"]]
    connect.delete("capture-wishes")
    connect.delete("copy-wishes")


def test_lines_of_a_file_are_mirrored_and_a_failed_task_is_reported(kafka, connect):
    lines = connect.folder / "lines.txt"
    lines.write_text("one\ntwo\n")
    text = "org.apache.kafka.connect.storage.StringConverter"
    source = {"connector.class": FILE_SOURCE, "tasks.max": "1", "file": str(lines), "topic": "lines", "value.converter": text}
    connect.put("read-lines", {**source, **NEW_TOPICS})
    assert kafka.consume("lines", 2) == [b"one", b"two"]
    connect.put("mirror-lines", mirror_config(kafka, "lines"))
    assert connect.wait_for_state("mirror-lines", "RUNNING")["type"] == "source"
    assert kafka.consume("east.lines", 2) == [b"one", b"two"]
    out = str(connect.folder / "out.txt")
    with_schema = {"value.converter": "org.apache.kafka.connect.json.JsonConverter", "value.converter.schemas.enable": "true"}
    connect.put("write-lines", {"connector.class": FILE_SINK, "tasks.max": "1", "topics": "lines", "file": out, **with_schema})
    failed = connect.wait_for_state("write-lines", "FAILED")
    assert (failed["connector"]["state"], "JsonConverter" in failed["tasks"][0]["trace"]) == ("RUNNING", True)
    for name in ("read-lines", "mirror-lines", "write-lines"):
        connect.delete(name)


def test_a_configuration_that_cannot_be_is_refused(connect):
    with pytest.raises(AssertionError, match="Failed to find any class"):
        connect.put("nothing", {"connector.class": "org.example.None"})
