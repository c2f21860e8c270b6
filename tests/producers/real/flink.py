"""Flink's SQL gateway with OpenLineage's listener, over Kafka."""

import logging

from tests.producers.trial import Trial
from tests.servers import broker, flink
from tests.servers.flink import kafka_table

log = logging.getLogger("producers")
STAND_IN_PORT = 19092
PIPELINE = """EXECUTE STATEMENT SET BEGIN
INSERT INTO doubled SELECT id, amount * 2 FROM bought;
INSERT INTO totals SELECT id, amount FROM bought WHERE amount > 1;
END"""


def produce(trial: Trial, *, by_topic: bool = False) -> None:
    """Run an endless job until it is cancelled, and one that ends; its events come over HTTP, or by a topic."""
    folders = [trial.folder / name for name in ("kafka", "flink")]
    for folder in folders:
        folder.mkdir()
    log.info("flink: starting Kafka and Flink")
    with broker.started(folders[0]) as kafka, flink.started(folders[1], trial.sink(kafka if by_topic else None)) as cluster:
        trial.stand_in(kafka.bootstrap, f"127.0.0.1:{STAND_IN_PORT}")
        trial.stand_in(f"localhost:{kafka.bootstrap.rpartition(':')[2]}", f"localhost:{STAND_IN_PORT}")
        _endless(trial, kafka, cluster)
        _bounded(trial, cluster)


def _endless(trial: Trial, kafka: broker.Kafka, cluster: flink.FlinkCluster) -> None:
    log.info("flink: a statement set over topics")
    kafka.create_topics("bought", "doubled", "totals")
    kafka.produce("bought", ['{"id": 1, "amount": 4}'])
    tables = [
        kafka_table("bought", "id INT, amount INT", "bought", kafka.bootstrap),
        kafka_table("doubled", "id INT, twice INT", "doubled", kafka.bootstrap),
        kafka_table("totals", "id INT, amount INT", "totals", kafka.bootstrap),
    ]
    *_, started = cluster.sql([*tables, "SET 'pipeline.name' = 'orders_pipeline'", PIPELINE])
    kafka.consume("doubled", 1)
    cluster.cancel(started.job)
    trial.wait_for_state("flink-jobs", "orders_pipeline", "ABORT")


def _bounded(trial: Trial, cluster: flink.FlinkCluster) -> None:
    log.info("flink: a job that ends")
    numbers = "CREATE TABLE numbers (id INT) WITH ('connector' = 'datagen', 'number-of-rows' = '5')"
    nowhere = "CREATE TABLE nowhere (id INT) WITH ('connector' = 'blackhole')"
    cluster.sql([numbers, nowhere, "SET 'pipeline.name' = 'bounded_job'", "INSERT INTO nowhere SELECT id FROM numbers"])
    trial.wait_for_state("flink-jobs", "bounded_job", "COMPLETE")
