"""Spark applications with OpenLineage's listener: over files and an Iceberg catalog, over JDBC, and a stream of files."""

import logging
import os
import shlex
import sys
from pathlib import Path

from tests.producers.environments import run
from tests.producers.trial import Trial
from tests.servers import postgres
from tests.serving import bare_environment
from tools.jars import fetch

from lineage_bridge.pipeline.streams.jars import default_cache, ivy_for

log = logging.getLogger("producers")
PROGRAMS = Path(__file__).resolve().parents[1] / "programs"
POSTGRES_PORT = 15432


def produce(trial: Trial) -> None:
    """Copy files to tables of an Iceberg catalog and of the session's, and back to files."""
    (trial.folder / "orders.csv").write_text("order_id,customer_id,amount\n1,10,5.5\n2,11,7\n3,10,2\n")
    iceberg = {
        "spark.sql.extensions": "org.apache.iceberg.spark.extensions.IcebergSparkSessionExtensions",
        "spark.sql.catalog.lake": "org.apache.iceberg.spark.SparkCatalog",
        "spark.sql.catalog.lake.type": "hadoop",
        "spark.sql.catalog.lake.warehouse": f"file://{trial.folder / 'lake'}",
        "spark.sql.warehouse.dir": str(trial.folder / "warehouse"),
    }
    _submit(trial, "shop_nightly.py", ("iceberg",), **iceberg)


def jdbc(trial: Trial) -> None:
    """Read tables of PostgreSQL, by name and by query, and write to others."""
    home = trial.folder / "postgres"
    home.mkdir()
    with postgres.started(home) as database:
        trial.stand_in(f":{database.port}", f":{POSTGRES_PORT}")
        database.execute(
            "CREATE TABLE orders (order_id INT, customer_id INT, amount FLOAT); INSERT INTO orders VALUES (1, 10, 5.5), (2, 11, 7)"
        )
        _submit(
            trial, "shop_jdbc.py", ("postgresql",), f"jdbc:postgresql://{database.host}:{database.port}/{database.database}", database.user
        )


def stream(trial: Trial) -> None:
    """Copy what lies in a folder to another one, as a stream that ends when it has read everything."""
    (trial.folder / "landing").mkdir()
    (trial.folder / "landing" / "one.json").write_text('{"order_id": 1, "amount": 5.5}\n')
    _submit(trial, "shop_stream.py", ())


def _submit(trial: Trial, program: str, archives: tuple[str, ...], *words: str, **settings: str) -> None:
    """Run a program with the product's own Spark, and with groups of archives."""
    log.info("spark: running %s", program)
    every = {**_settings(trial, "agent", *archives), **settings}
    confs = [word for name, value in every.items() for word in ("--conf", f"{name}={value}")]
    variables = {
        "PYSPARK_SUBMIT_ARGS": shlex.join([*confs, "pyspark-shell"]),
        "PYSPARK_PYTHON": sys.executable,
        "SPARK_LOCAL_IP": "127.0.0.1",
    }
    # Below the folder of the data, where nothing is a dataset.
    home = trial.folder / "driver"
    home.mkdir()
    run([sys.executable, str(PROGRAMS / program), str(trial.folder), *words], home, {**bare_environment(), **variables})


def _settings(trial: Trial, *groups: str) -> dict[str, str]:
    jars = [str(path) for group in groups for path in fetch(group, default_cache(), ivy_for(os.environ))]
    return {
        "spark.jars": ",".join(jars),
        "spark.extraListeners": "io.openlineage.spark.agent.OpenLineageSparkListener",
        "spark.openlineage.transport.type": "http",
        "spark.openlineage.transport.url": trial.served.url,
        "spark.openlineage.transport.endpoint": "api/v1/lineage",
        "spark.openlineage.transport.auth.type": "api_key",
        "spark.openlineage.transport.auth.apiKey": trial.key,
        "spark.openlineage.namespace": "spark",
        "spark.master": "local[1]",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.extraJavaOptions": "-XX:+UseSerialGC -XX:TieredStopAtLevel=1",
        "spark.local.dir": str(trial.folder / "scratch"),
        "spark.sql.shuffle.partitions": "1",
        "spark.ui.enabled": "false",
    }
