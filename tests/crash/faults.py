"""What is done to a running installation while events come in. A further fault is a function and an entry of FAULTS.

What a fault ends stays ended: the round starts everything again when all its faults are done, so that they can come together.
"""

import random
import shutil
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from types import MappingProxyType
from typing import TYPE_CHECKING

import psutil
from confluent_kafka import Consumer, TopicPartition
from tests.crash.running.support import SOON_S, processes_of
from tests.crash.running.ways import PARTITIONS
from tests.crash.test_workers import workers_under

from lineage_bridge.eventlog.archive.writer import PARTS
from lineage_bridge.graph.record_origin import read_origin

if TYPE_CHECKING:
    from tests.crash.running.installation import Installation


def kill_api(victim: "Installation", chance: random.Random) -> str:
    """kill -9 of the API, in the middle of an append if one comes."""
    return victim.kill("api", chance.random())


def kill_pipeline(victim: "Installation", chance: random.Random) -> str:
    """kill -9 of the pipeline; its Spark ends by itself."""
    return victim.kill("pipeline", chance.random())


def kill_inputs(victim: "Installation", chance: random.Random) -> str:
    """kill -9 of the process that reads inputs."""
    return victim.kill("inputs", chance.random())


def kill_everything(victim: "Installation", chance: random.Random) -> str:
    """kill -9 of all processes at once, as when the machine is reset."""
    time.sleep(chance.random())
    for process in processes_of(victim.settings.data_dir):
        with suppress(psutil.Error):
            process.kill()
    return "killed all processes"


def kill_any(victim: "Installation", chance: random.Random) -> str:
    """kill -9 of one process of the installation, whichever: ours, Spark's Java, the daemon of its workers or a worker."""
    time.sleep(chance.random())
    process = chance.choice(sorted(processes_of(victim.settings.data_dir), key=lambda found: found.pid))
    with suppress(psutil.Error):
        name = " ".join(process.cmdline()[:4])[-60:]
        process.kill()
        return f"killed pid {process.pid} ({name})"
    return "found a process that had ended"


def kill_spark(victim: "Installation", chance: random.Random) -> str:
    """kill -9 of Spark's Java process; the pipeline ends, and is started again."""
    time.sleep(chance.random())
    pid = victim.spark()
    with suppress(psutil.Error):
        psutil.Process(pid).kill()
    return f"killed Spark (pid {pid})"


def kill_worker(victim: "Installation", chance: random.Random) -> str:
    """kill -9 of Spark's Python workers; Spark's job fails, and what asked for it goes on."""
    time.sleep(chance.random())
    try:
        workers = workers_under(victim.spark())
    except psutil.NoSuchProcess:
        workers = []
    for worker in workers:
        with suppress(psutil.Error):
            worker.kill()
    return f"killed {len(workers)} workers of Spark"


def kill_broker(victim: "Installation", chance: random.Random) -> str:
    """kill -9 of the broker, and a start."""
    time.sleep(chance.random())
    return victim.kill_broker()


def torn_write(victim: "Installation", chance: random.Random) -> str:
    """The API is killed in an append; bytes that belong to no record follow the log's last, and files end early."""
    done = victim.kill("api", chance.random())
    segment = max(victim.settings.paths.log.glob("*.log"))
    with segment.open("ab") as file:
        file.write(chance.randbytes(chance.randrange(1, 300)))
    parts = victim.settings.paths.archive / PARTS
    if parts.exists():
        (parts / "torn").write_bytes(chance.randbytes(100))
    paths = victim.settings.paths
    for status in (paths.pipeline_status, paths.inputs_report, paths.streams_report):
        with suppress(FileNotFoundError):
            status.with_name(f"{status.name}.torn").write_bytes(status.read_bytes()[: chance.randrange(40)])
            status.with_name(f"{status.name}.torn").replace(status)
    return f"{done}; left torn bytes behind {segment.name}, and the first bytes of what processes report"


def full_disk(victim: "Installation", chance: random.Random) -> str:
    """The kernel answers ENOSPC to each write into the data folder, for a while: log, graph, state, archive, Spark's files."""
    left = chance.choice((0, 0, 4096, 65_536, 262_144))
    time.sleep(chance.random())
    victim.disk.fill(left)
    try:
        time.sleep(1 + 2 * chance.random())
        full = victim.disk.is_full()
    finally:
        victim.disk.empty()
    return f"filled the disk but {left} bytes{', nothing could be written' if full else ''}"


def lost_checkpoint(victim: "Installation", chance: random.Random) -> str:
    """Spark's files, and the counts beside the archive, are gone."""
    victim.end_pipeline(chance.random())
    shutil.rmtree(victim.settings.paths.spark, ignore_errors=True)
    for file in victim.settings.paths.archive.glob("*/progress.json"):
        file.unlink()
    return "removed Spark's checkpoint and the archive's counts"


def lost_graph(victim: "Installation", chance: random.Random) -> str:
    """The graph is gone; it is folded again from the log and the archive."""
    victim.end_pipeline(chance.random())
    for file in victim.settings.data_dir.glob("graph.db*"):
        file.unlink(missing_ok=True)
    return "removed the graph"


def rebalance(victim: "Installation", chance: random.Random) -> str:
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


def expired(victim: "Installation", chance: random.Random) -> str:
    """All that earlier rounds sent to topics and to the stream is deleted there while nobody reads, and iterators expire."""
    done = victim.kill("inputs", chance.random())
    ends = [
        TopicPartition(topic, number, victim.ends[topic, number])
        for topic in ("kafka-embedded", "kafka-stream")
        for number in range(PARTITIONS)
    ]
    admin = victim.kafka.admin()
    for deleted in admin.delete_records(ends).values():
        deleted.result(SOON_S)
    origins = [origin for stored in victim.settled if (origin := read_origin(stored.record.note)) and origin.input == "kinesis"]
    victim.stream.trimmed.update(str(origin.offset) for origin in origins)
    victim.stream.fail("GetRecords", "ExpiredIteratorException", times=chance.randrange(1, 4))
    return f"{done}; deleted {sum(end.offset for end in ends)} records of topics and {len(origins)} of the stream"


def jump_clock(victim: "Installation", chance: random.Random) -> str:
    """The wall clock of all Python processes jumps while events come in, forwards or back, and is still off in the next rounds."""
    jumps = [chance.choice((-1, 1)) * chance.choice((2, 90, 4000, 100_000, 10 * 86_400)) for _ in range(3)]
    for off_s in jumps:
        time.sleep(chance.random())
        victim.clock.be_off(off_s)
    return f"the clock was off by {', '.join(f'{off_s:+,}' for off_s in jumps)} s"


FAULTS: Mapping[str, Callable[["Installation", random.Random], str]] = MappingProxyType(
    {
        "kill the API": kill_api,
        "kill the pipeline": kill_pipeline,
        "kill the reader of inputs": kill_inputs,
        "kill everything": kill_everything,
        "kill any process": kill_any,
        "kill Spark": kill_spark,
        "kill Spark's workers": kill_worker,
        "kill the broker": kill_broker,
        "torn writes": torn_write,
        "full disk": full_disk,
        "lost checkpoint": lost_checkpoint,
        "lost graph": lost_graph,
        "rebalance": rebalance,
        "expired records": expired,
        "clock jumps": jump_clock,
    }
)
TOGETHER = (
    ("kill the broker", "kill the pipeline", "lost checkpoint"),
    ("kill everything", "lost graph", "torn writes"),
    ("expired records", "kill the reader of inputs"),
)
"""Faults that come in one round, because each alone would have the same process start again; in any order."""


def dealt(chance: random.Random) -> list[tuple[str, ...]]:
    """The faults of the next rounds: each comes once."""
    together = {name for names in TOGETHER for name in names}
    rounds = [(name,) for name in FAULTS if name not in together] + [tuple(chance.sample(names, len(names))) for names in TOGETHER]
    return chance.sample(rounds, len(rounds))
