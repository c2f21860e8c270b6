"""dbt in OpenLineage's wrapper: what it reports from artifacts at the end, and from structured logs as it goes."""

import logging
import shutil
from contextlib import ExitStack
from pathlib import Path

from tests.producers.environments import environment, run
from tests.producers.trial import Trial
from tests.servers import postgres

log = logging.getLogger("producers")
PROJECT = Path(__file__).resolve().parents[1] / "programs" / "dbt"
STAND_IN_PORT = 15432
# The model that fails is left to a run of its own.
OTHERS = ("--exclude", "broken")
FAILS = 1
ARTIFACTS = (("seed", 0), ("run", 0), ("test", FAILS), ("build", FAILS))
LOGS = (("seed", 0), ("run", 0), ("test", FAILS))


def duckdb(trial: Trial) -> None:
    """Seed, run, test and build on DuckDB, then run the model that fails."""
    _artifacts(trial, "duckdb", SHOP_DUCKDB=str(trial.folder / "shop.duckdb"))


def on_postgres(trial: Trial) -> None:
    """The same on PostgreSQL."""
    with ExitStack() as servers:
        server = servers.enter_context(postgres.started(_made(trial.folder / "postgres")))
        trial.stand_in(f":{server.port}", f":{STAND_IN_PORT}")
        _artifacts(trial, "postgres", SHOP_PORT=str(server.port))


def logs(trial: Trial) -> None:
    """Seed, run and test on DuckDB, reported as they go."""
    for command, code in LOGS:
        words = ["--consume-structured-logs", command, *(OTHERS if command != "seed" else ())]
        _dbt(trial, "duckdb", words, code, {"SHOP_DUCKDB": str(trial.folder / "shop.duckdb")})


def _artifacts(trial: Trial, target: str, **variables: str) -> None:
    for command, code in ARTIFACTS:
        _dbt(trial, target, [command, *(OTHERS if command != "seed" else ())], code, variables)
    _dbt(trial, target, ["run", "--select", "broken"], FAILS, variables)


def _dbt(trial: Trial, target: str, words: list[str], code: int, variables: dict[str, str]) -> None:
    """Run a command of dbt, which ends with the code."""
    dbt = environment("dbt")
    project = trial.folder / "dbt"
    if not project.exists():
        shutil.copytree(PROJECT, project)
    log.info("dbt on %s: %s", target, " ".join(words))
    settings = {
        "DBT_SEND_ANONYMOUS_USAGE_STATS": "false",
        "OPENLINEAGE_URL": trial.served.url,
        "OPENLINEAGE_API_KEY": trial.key,
        "OPENLINEAGE_NAMESPACE": "dbt",
    }
    command = [dbt.program("dbt-ol"), *words, "--target", target, "--no-version-check"]
    run(command, project, dbt.variables(**settings, **variables), codes=(code,))


def _made(folder: Path) -> Path:
    folder.mkdir()
    return folder
