"""A Spark application with OpenLineage's listener, over files and an Iceberg catalog."""

import logging
import os
import shlex
import sys
from pathlib import Path

from tests.producers.environments import run
from tests.producers.trial import Trial
from tests.serving import bare_environment
from tools.jars import default_cache, fetch, ivy_for

log = logging.getLogger("producers")
JOB = Path(__file__).resolve().parents[1] / "programs" / "shop_nightly.py"


def produce(trial: Trial) -> None:
    """Run the application with the product's own Spark."""
    log.info("spark: fetching the agent and Iceberg")
    (trial.folder / "orders.csv").write_text("order_id,customer_id,amount\n1,10,5.5\n2,11,7\n3,10,2\n")
    words = [word for name, value in _settings(trial).items() for word in ("--conf", f"{name}={value}")]
    variables = {"PYSPARK_SUBMIT_ARGS": shlex.join([*words, "pyspark-shell"]), "PYSPARK_PYTHON": sys.executable}
    log.info("spark: running shop_nightly")
    # Below the folder of the data, where nothing is a dataset.
    home = trial.folder / "driver"
    home.mkdir()
    run([sys.executable, str(JOB), str(trial.folder)], home, {**bare_environment(), **variables, "SPARK_LOCAL_IP": "127.0.0.1"})


def _settings(trial: Trial) -> dict[str, str]:
    jars = [str(path) for group in ("agent", "iceberg") for path in fetch(group, default_cache(), ivy_for(os.environ))]
    return {
        "spark.jars": ",".join(jars),
        "spark.extraListeners": "io.openlineage.spark.agent.OpenLineageSparkListener",
        "spark.openlineage.transport.type": "http",
        "spark.openlineage.transport.url": trial.served.url,
        "spark.openlineage.transport.endpoint": "api/v1/lineage",
        "spark.openlineage.namespace": "spark",
        "spark.sql.extensions": "org.apache.iceberg.spark.extensions.IcebergSparkSessionExtensions",
        "spark.sql.catalog.lake": "org.apache.iceberg.spark.SparkCatalog",
        "spark.sql.catalog.lake.type": "hadoop",
        "spark.sql.catalog.lake.warehouse": f"file://{trial.folder / 'lake'}",
        "spark.sql.warehouse.dir": str(trial.folder / "warehouse"),
        "spark.master": "local[1]",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.extraJavaOptions": "-XX:+UseSerialGC -XX:TieredStopAtLevel=1",
        "spark.local.dir": str(trial.folder / "scratch"),
        "spark.sql.shuffle.partitions": "1",
        "spark.ui.enabled": "false",
    }
