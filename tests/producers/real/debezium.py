"""Debezium on Kafka Connect: PostgreSQL's changes to a topic, and the topic to another table."""

import logging

from tests.producers.trial import Trial
from tests.servers import broker, connect, postgres
from tests.servers.connect import JDBC_SINK, capture_config

log = logging.getLogger("producers")
KAFKA_PORT, POSTGRES_PORT = 19092, 15432
TRANSFORM = {"transforms": "openlineage", "transforms.openlineage.type": "io.debezium.transforms.openlineage.OpenLineage"}
CONVERTERS = {f"{side}.converter": "org.apache.kafka.connect.json.JsonConverter" for side in ("key", "value")}
JOBS = "cdc-jobs"


def produce(trial: Trial, *, by_topic: bool = False) -> None:
    """Capture a table, copy it back, and end both connectors; its events come over HTTP, or by a topic."""
    folders = {name: trial.folder / name for name in ("kafka", "connect", "postgres")}
    for folder in folders.values():
        folder.mkdir()
    log.info("debezium: starting PostgreSQL, Kafka and Kafka Connect")
    with (
        postgres.started(folders["postgres"]) as database,
        broker.started(folders["kafka"]) as kafka,
        connect.started(folders["connect"], kafka) as worker,
    ):
        for real, stand_in in ((kafka.bootstrap.rpartition(":")[2], KAFKA_PORT), (str(database.port), POSTGRES_PORT)):
            trial.stand_in(f":{real}", f":{stand_in}")
            trial.stand_in(f"database.port={real}", f"database.port={stand_in}")
        settings = {
            "openlineage.integration.enabled": "true",
            "openlineage.integration.config.file.path": str(trial.sink(kafka if by_topic else None).settings_in(worker.folder)),
            "openlineage.integration.job.namespace": JOBS,
            "openlineage.integration.dataset.kafka.bootstrap.servers": kafka.bootstrap,
        }
        _copy(trial, database, kafka, worker, settings)


def _copy(trial: Trial, database: postgres.Postgres, kafka: broker.Kafka, worker: connect.Connect, settings: dict[str, str]) -> None:
    database.execute("CREATE TABLE clients (id INT PRIMARY KEY, name TEXT); INSERT INTO clients VALUES (1, 'Ann')")
    log.info("debezium: capturing a table")
    worker.put("capture", {**capture_config(database, "shopcdc", "public.clients"), **CONVERTERS, **TRANSFORM, **settings})
    kafka.consume("shopcdc.public.clients", 1)
    log.info("debezium: writing it to another table")
    worker.put("copy-out", {**_sink(database), **CONVERTERS, **settings})
    database.wait_for_rows("SELECT * FROM copy_of_clients")
    for connector, job in (("copy-out", "copy-out.0"), ("capture", "shopcdc.0")):
        worker.delete(connector)
        trial.wait_for_state(JOBS, job, "COMPLETE")


def _sink(database: postgres.Postgres) -> dict[str, str]:
    return {
        "connector.class": JDBC_SINK,
        "tasks.max": "1",
        "topics": "shopcdc.public.clients",
        "connection.url": f"jdbc:postgresql://{database.host}:{database.port}/{database.database}",
        "connection.username": database.user,
        "connection.password": database.password,
        "insert.mode": "upsert",
        "primary.key.mode": "record_key",
        "schema.evolution": "basic",
        "collection.name.format": "copy_of_${source.table}",
    }
