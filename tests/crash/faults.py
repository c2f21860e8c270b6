"""What is done to a running installation while events come in. A further fault is a function and an entry of FAULTS."""

import random
import resource
import shutil
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from types import MappingProxyType
from typing import TYPE_CHECKING

import psutil
from confluent_kafka import Consumer
from tests.crash.support import SOON_S, pipeline_status, until
from tests.crash.test_workers import workers_under

from lineage_bridge.eventlog.archive.writer import PARTS

if TYPE_CHECKING:
    from tests.crash.torture import World


def kill_api(victim: "World", chance: random.Random) -> str:
    """kill -9 of the API, in the middle of an append if one comes."""
    return victim.kill("api", chance.random())


def kill_pipeline(victim: "World", chance: random.Random) -> str:
    """kill -9 of the pipeline."""
    return victim.kill("pipeline", chance.random())


def kill_inputs(victim: "World", chance: random.Random) -> str:
    """kill -9 of the process that reads inputs."""
    return victim.kill("inputs", chance.random())


def kill_everything(victim: "World", chance: random.Random) -> str:
    """kill -9 of all processes at once, as when the machine is reset."""
    time.sleep(chance.random())
    for part in victim.parts:
        victim.running[part].process.kill()
    spark = pipeline_status(victim.settings).get("spark_pid")
    with suppress(psutil.Error):
        psutil.Process(spark).kill()
    for part in victim.parts:
        victim.start(part)
    return "killed all processes"


def kill_spark(victim: "World", chance: random.Random) -> str:
    """kill -9 of Spark's Java process; the pipeline ends, and is started again."""
    time.sleep(chance.random())
    pid = pipeline_status(victim.settings)["spark_pid"]
    with suppress(psutil.Error):
        psutil.Process(pid).kill()
    pipeline = victim.running["pipeline"]
    until(lambda: not pipeline.alive(), SOON_S, "the end of the pipeline")
    victim.start("pipeline")
    return f"killed Spark (pid {pid})"


def kill_worker(victim: "World", chance: random.Random) -> str:
    """kill -9 of Spark's Python workers; Spark's job fails, and what asked for it goes on."""
    time.sleep(chance.random())
    workers = workers_under(pipeline_status(victim.settings)["spark_pid"])
    for worker in workers:
        with suppress(psutil.Error):
            worker.kill()
    return f"killed {len(workers)} workers of Spark"


def kill_broker(victim: "World", chance: random.Random) -> str:
    """kill -9 of the broker, and a start."""
    time.sleep(chance.random())
    return victim.kill_broker()


def torn_write(victim: "World", chance: random.Random) -> str:
    """The API is killed in an append, and bytes that belong to no record follow the log's and the archive's last."""
    killed = victim.kill("api", chance.random(), start=False)
    segment = max(victim.settings.paths.log.glob("*.log"))
    with segment.open("ab") as file:
        file.write(chance.randbytes(chance.randrange(1, 300)))
    parts = victim.settings.paths.archive / PARTS
    if parts.exists():
        (parts / "torn").write_bytes(chance.randbytes(100))
    victim.start("api")
    return f"{killed}; left torn bytes behind {segment.name}"


def full_disk(victim: "World", chance: random.Random) -> str:
    """The kernel refuses what the API and Spark's workers write, for a while."""
    processes = [psutil.Process(victim.running["api"].pid), *workers_under(pipeline_status(victim.settings)["spark_pid"])]
    limits = {}
    for process in processes:
        with suppress(psutil.Error, ProcessLookupError):
            limits[process.pid] = resource.prlimit(process.pid, resource.RLIMIT_FSIZE)
            resource.prlimit(process.pid, resource.RLIMIT_FSIZE, (chance.randrange(100), limits[process.pid][1]))
    time.sleep(1 + chance.random())
    for pid, limit in limits.items():
        with suppress(ProcessLookupError):
            resource.prlimit(pid, resource.RLIMIT_FSIZE, limit)
    return f"{len(limits)} processes could write nothing for a while"


def lost_checkpoint(victim: "World", chance: random.Random) -> str:
    """Spark's files, and the counts beside the archive, are gone."""
    victim.kill("pipeline", chance.random(), start=False)
    shutil.rmtree(victim.settings.paths.spark, ignore_errors=True)
    for file in victim.settings.paths.archive.glob("*/progress.json"):
        file.unlink()
    victim.start("pipeline")
    return "removed Spark's checkpoint and the archive's counts"


def lost_graph(victim: "World", chance: random.Random) -> str:
    """The graph is gone; it is folded again from the log and the archive."""
    victim.kill("pipeline", chance.random(), start=False)
    for file in victim.settings.data_dir.glob("graph.db*"):
        file.unlink(missing_ok=True)
    victim.start("pipeline")
    return "removed the graph"


def rebalance(victim: "World", chance: random.Random) -> str:
    """Another member joins the group of the embedded input, and leaves again."""
    group = victim.group_of("kafka-embedded")
    consumer = Consumer({**victim.kafka.client_config(), "group.id": group, "auto.offset.reset": "earliest", "log_level": 0})
    try:
        consumer.subscribe(["kafka-embedded"])
        deadline = time.monotonic() + 2 + chance.random()
        while time.monotonic() < deadline:
            consumer.poll(0.1)
        taken = len(consumer.assignment())
    finally:
        consumer.close()
    return f"another consumer took {taken} partitions, and gave them back"


FAULTS: Mapping[str, Callable[["World", random.Random], str]] = MappingProxyType(
    {
        "kill the API": kill_api,
        "kill the pipeline": kill_pipeline,
        "kill the reader of inputs": kill_inputs,
        "kill everything": kill_everything,
        "kill Spark": kill_spark,
        "kill Spark's workers": kill_worker,
        "kill the broker": kill_broker,
        "torn writes": torn_write,
        "full disk": full_disk,
        "lost checkpoint": lost_checkpoint,
        "lost graph": lost_graph,
        "rebalance": rebalance,
    }
)
