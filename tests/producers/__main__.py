"""Runs real producers against a server of this checkout: `python -m tests.producers [--record] [NAME...]`; all of them without names.

Each gets a server of its own, which asks for a key: one that may only send events of the producer's jobs. The graph that it makes is
compared with the one written by hand in `expected/`. With `--record` the events are kept in `tests/samples` too, where `make test` folds
them and compares with the same file.
"""

import logging
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import Protocol

import httpx
from tests.producers.environments import ProducerError
from tests.producers.graphs import Expected, difference, expected_graph
from tests.producers.real import airflow, dbt, debezium, flink, python, spark
from tests.producers.trial import Trial
from tests.serving import run, serving

from lineage_bridge.errors import JarError, LineageBridgeError

log = logging.getLogger("producers")

PRODUCERS: Mapping[str, Callable[[Trial], None]] = MappingProxyType(
    {
        "python": python.produce,
        "dbt-duckdb": dbt.duckdb,
        "dbt-postgres": dbt.on_postgres,
        "dbt-logs": dbt.logs,
        "spark": spark.produce,
        "spark-jdbc": spark.jdbc,
        "spark-stream": spark.stream,
        "airflow": airflow.produce,
        "flink": flink.produce,
        "debezium": debezium.produce,
    }
)
_BY_TOPIC = "-kafka"
TRIALS: Mapping[str, Callable[[Trial], None]] = MappingProxyType(
    {
        **PRODUCERS,
        f"flink{_BY_TOPIC}": partial(flink.produce, by_topic=True),
        f"debezium{_BY_TOPIC}": partial(debezium.produce, by_topic=True),
    }
)
"""The producers, and those whose events come by a topic as well: the graph has to be the same."""


_FAILURES = (ProducerError, JarError, AssertionError, LineageBridgeError, subprocess.SubprocessError, httpx.HTTPError, OSError)
"""The errors of one trial: of the producer, of a server that does not start or answer. Those after it are run all the same."""


class Attempt(Protocol):
    """Runs a producer and returns how its graph differs from the expected one."""

    def __call__(self, producer: str, *, keep: bool) -> str:
        """Raises ProducerError when the producer cannot run."""


def attempt(producer: str, *, keep: bool) -> str:
    """Run a producer and return how its graph differs from the expected one. Raises ProducerError when it cannot run."""
    expected = expected_graph(producer.removesuffix(_BY_TOPIC))
    with tempfile.TemporaryDirectory(prefix="lineage-bridge-producers-") as scratch:
        folder, data = Path(scratch) / "trial", Path(scratch) / "data"
        folder.mkdir()
        data.mkdir()
        log.info("%s: starting a server", producer)
        with serving(data, _key(data, "operator", "--scope", "ingest", "--scope", "read", "--scope", "operate")) as served:
            trial = Trial(served, folder, _limited_key(data, expected))
            TRIALS[producer](trial)
            if refused := trial.refused():
                raise ProducerError(f"the server rejected events: {refused}")
            if keep and producer in PRODUCERS:
                log.info("%s: recorded in %s", producer, trial.record(producer).name)
            return difference(expected.graph, trial.graph(expected))


def _limited_key(data: Path, expected: Expected) -> str:
    """A key that may only send events of the jobs that are expected: edges and columns are theirs, whatever the datasets are."""
    short = {job.partition(" ")[0] for job in expected.graph["jobs"]}
    namespaces = sorted(re.sub(r"([*?\[])", r"[\1]", expected.names.get(name, name)) for name in short)
    return _key(data, "producer", "--scope", "ingest", *(word for namespace in namespaces for word in ("--namespace", namespace)))


def _key(data: Path, *words: str) -> str:
    return run("key", "create", *words, "--data-dir", data).strip()


def outcome(producer: str, attempting: Attempt, *, keep: bool) -> bool:
    """Whether the producer ran and made the expected graph; the log has the rest."""
    started = time.monotonic()
    try:
        found = attempting(producer, keep=keep)
    except _FAILURES as error:
        hint = f"\n{error.hint}" if isinstance(error, JarError) else ""
        log.error("%s: failed: %s%s", producer, error, hint)  # noqa: TRY400 - programs of others have failed, and say why
        return False
    if found:
        log.error("%s: the graph differs from expected/%s.yaml\n%s", producer, producer, found)
    else:
        log.info("%s: as expected, after %d s", producer, time.monotonic() - started)
    return not found


def main(arguments: list[str], attempting: Attempt = attempt) -> int:
    """Returns 0 when every producer named made the graph that is expected."""
    keep = "--record" in arguments
    asked = [argument for argument in arguments if argument != "--record"]
    unknown = [name for name in asked if not any(_is_of(producer, name) for producer in TRIALS)]
    if unknown:
        log.error("unknown producer %r; choose from: %s", unknown[0], ", ".join(TRIALS))
        return 2
    chosen = [producer for producer in TRIALS if not asked or any(_is_of(producer, name) for name in asked)]
    failed = [producer for producer in chosen if not outcome(producer, attempting, keep=keep)]
    log.info("%d of %d producers as expected%s", len(chosen) - len(failed), len(chosen), f"; not: {', '.join(failed)}" if failed else "")
    return 1 if failed else 0


def _is_of(producer: str, name: str) -> bool:
    """Whether a name means a producer: `dbt` means each of dbt's."""
    return name == producer or producer.startswith(f"{name}-")


if __name__ == "__main__":
    logging.basicConfig(stream=sys.stdout, level=logging.INFO, format="%(message)s")
    logging.getLogger("httpx").setLevel(logging.WARNING)
    sys.exit(main(sys.argv[1:]))
