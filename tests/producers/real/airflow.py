"""Airflow with its OpenLineage provider: a DAG run as `airflow dags test` runs it, over PostgreSQL."""

import json
import logging
from pathlib import Path

from tests.producers.environments import environment, run
from tests.producers.trial import Trial
from tests.servers import postgres

log = logging.getLogger("producers")
DAGS = Path(__file__).resolve().parents[1] / "programs" / "dags"
STAND_IN_PORT = 15432
TABLES = "CREATE TABLE orders (order_id INT, customer_id INT, amount NUMERIC); INSERT INTO orders VALUES (1, 10, 5.5), (2, 11, 7)"


def produce(trial: Trial) -> None:
    """Run the DAG, of which one task fails."""
    airflow = environment("airflow")
    folder = trial.folder / "postgres"
    folder.mkdir()
    with postgres.started(folder) as server:
        trial.stand_in(f":{server.port}", f":{STAND_IN_PORT}")
        server.execute(TABLES)
        trial.stand_in(str(DAGS), "/srv/trial/dags")
        trial.stand_in(str(airflow.home), "/srv/airflow")
        variables = airflow.variables(**_settings(trial, server.port))
        log.info("airflow: making its database")
        run([airflow.program("airflow"), "db", "migrate"], trial.folder, variables)
        log.info("airflow: running shop_daily")
        run([airflow.program("airflow"), "dags", "test", "shop_daily", "2026-01-02"], trial.folder, variables, codes=(0, 1))


def _settings(trial: Trial, port: int) -> dict[str, str]:
    auth = {"type": "api_key", "apiKey": trial.key}
    transport = {"type": "http", "url": trial.served.url, "endpoint": "api/v1/lineage", "auth": auth}
    return {
        "AIRFLOW_HOME": str(trial.folder / "airflow"),
        "AIRFLOW__CORE__DAGS_FOLDER": str(DAGS),
        "AIRFLOW__CORE__LOAD_EXAMPLES": "false",
        "AIRFLOW__OPENLINEAGE__TRANSPORT": json.dumps(transport),
        "AIRFLOW__OPENLINEAGE__NAMESPACE": "airflow",
        "AIRFLOW_CONN_SHOP": f"postgres://postgres:postgres@127.0.0.1:{port}/shop",
    }
