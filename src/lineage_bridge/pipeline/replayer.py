"""Runs a batch, such as a replay, in a Spark process that lasts as long as the batch."""

import signal
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from pathlib import Path

from pyspark.sql import SparkSession

from lineage_bridge.config import Settings
from lineage_bridge.errors import LineageBridgeError, UnavailableError
from lineage_bridge.pipeline.cluster.executors import check_executors
from lineage_bridge.pipeline.process import SparkProcess, gist
from lineage_bridge.pipeline.replay import Chunk, Progress, replay
from lineage_bridge.pipeline.runner import exclusive
from lineage_bridge.ports.graph_store import GraphStore

SPARK_LOG = "spark-replay.log"


def alone(settings: Settings) -> AbstractContextManager[None]:
    """Hold the lock of the data folder's pipeline. Raises StoreLockedError if another process holds it."""
    return exclusive(settings.paths)


def run_replay(settings: Settings, store: GraphStore, key: bytes, scratch: Path, on_progress: Callable[[Progress], None]) -> None:
    """Fold the log into a new store. Raises UnavailableError if Spark fails."""
    with spark_batch(settings, scratch, SPARK_LOG) as session:
        replay(session, settings.paths, store, key, Chunk(), on_progress)


@contextmanager
def spark_batch(settings: Settings, scratch: Path, log_name: str) -> Iterator[SparkSession]:
    """Start a Spark session for one batch. Raises UnavailableError if Spark fails. SIGTERM and SIGINT end it at once with
    KeyboardInterrupt.
    """
    log_path = settings.paths.logs / log_name
    spark = SparkProcess(
        scratch,
        log_path,
        master=settings.spark_master,
        memory=settings.spark_memory,
        driver_host=settings.spark_driver_host,
        ship=settings.spark_ship,
    )
    try:
        # Spark installs its own SIGINT handler when it starts.
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, signal.default_int_handler)
        check_executors(spark.session, settings.spark_master, spark.scratch)
        yield spark.session
    except LineageBridgeError:
        raise
    except Exception as error:  # the boundary of the batch: failures in Spark have many types
        with suppress(OSError), log_path.open("a", encoding="utf-8") as file:
            file.write(f"\n{error}\n")
        raise UnavailableError(
            f"the batch failed: {gist(str(error)) or type(error).__name__}", f"the full error is in {log_path}"
        ) from error
    finally:
        spark.end()
