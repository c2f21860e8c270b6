"""The stock Python client with each of its transports."""

import logging
from pathlib import Path

from tests.producers.environments import Environment, environment, run
from tests.producers.trial import Trial

log = logging.getLogger("producers")
EMIT = Path(__file__).resolve().parents[1] / "emit.py"


def produce(trial: Trial) -> None:
    """Emit the same events by HTTP, by HTTP in the background, and by way of a file and of the log."""
    python = environment("python")
    server = {"OPENLINEAGE_URL": trial.served.url, "OPENLINEAGE_API_KEY": trial.key}
    _emit(trial, python, "http", **server)
    _emit(trial, python, "async-http", OPENLINEAGE__TRANSPORT__TYPE="async_http", **server)
    file = trial.folder / "events.ndjson"
    variables = {"LOG_FILE_PATH": str(file), "APPEND": "true", "TYPE": "file"}
    _emit(trial, python, "file", **{f"OPENLINEAGE__TRANSPORT__{name}": value for name, value in variables.items()})
    trial.served.command("send", file)
    printed = _emit(trial, python, "console", OPENLINEAGE__TRANSPORT__TYPE="console")
    events = trial.folder / "printed.ndjson"
    events.write_text("".join(f"{line}\n" for line in printed.splitlines() if line.startswith("{")), encoding="utf-8")
    trial.served.command("send", events)


def _emit(trial: Trial, python: Environment, job: str, **variables: str) -> str:
    """What the program wrote to its log."""
    log.info("python: %s", job)
    return run([python.program("python"), str(EMIT), job], trial.folder, python.variables(**variables)).stderr
