"""Spark's Python workers die, or fold in vain: nothing is missing, and workers are used again."""

import random
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path

import psutil
import pytest
from pyspark.sql import SparkSession
from tests.crash.running.support import SOON_S, SPARK_S, Acknowledged, Pair, audit, event_of, pipeline_status, settings_in, until
from tests.pipeline.test_serve import Pipeline, as_record, wait
from tests.store.tables import execute

from lineage_bridge.errors import CollisionError
from lineage_bridge.graph.ids import event_id
from lineage_bridge.ports.graph_store import Batch, Budget
from lineage_bridge.ports.log import LOG_SOURCE
from lineage_bridge.store.write.apply import GraphWriter

pytestmark = pytest.mark.spark

DAEMON = "lineage_bridge.pipeline.workers"
FOLDS = 12


class Posting:
    """Posts events and waits for them to be applied."""

    def __init__(self, pair: Pair) -> None:
        self.pair, self.chance, self.acknowledged = pair, random.Random(3), Acknowledged()

    def post(self, count: int = 40) -> int:
        """Send fresh events; the place behind them."""
        first = len(self.acknowledged.events)
        bodies = [event_of(first + number, self.chance) for number in range(count)]
        self.acknowledged.events += [event_id(body).hex() for body in bodies]
        return self.pair.asking.post(*bodies)

    def apply(self) -> set[int]:
        """Send events, and wait until they are in the store; the workers that folded their last batch."""
        end = self.post()
        until(lambda: self.pair.asking.applied() >= end, SPARK_S, "the batch")
        until(lambda: self._reported() >= end, SOON_S, "the report of the batch")
        return set(pipeline_status(self.pair.settings)["workers"])

    def _reported(self) -> int:
        return int(pipeline_status(self.pair.settings).get("position", {}).get("log/0", 0))


def workers_under(java: int) -> list[psutil.Process]:
    """The Python workers there are: what the daemon under Spark has forked. A batch that forks none has used those again."""
    return [worker for child in psutil.Process(java).children() if is_daemon(child) for worker in child.children()]


def is_daemon(process: psutil.Process) -> bool:
    with suppress(psutil.NoSuchProcess):
        return DAEMON in process.cmdline()
    return False


def workers_of(pair: Pair) -> list[psutil.Process]:
    return workers_under(pipeline_status(pair.settings)["spark_pid"])


def assert_used_again(posting: Posting) -> None:
    posting.apply()
    known = {worker.pid for worker in workers_of(posting.pair)}
    assert posting.apply() <= known


def kill(workers: Sequence[psutil.Process]) -> str:
    killed = []
    for worker in workers:
        with suppress(psutil.NoSuchProcess):  # idle ones end by themselves
            worker.kill()
            killed.append(worker.pid)
    assert killed
    psutil.wait_procs(workers, timeout=SOON_S)
    return f"workers (pids {', '.join(map(str, killed))})"


def test_killed_workers_lose_nothing(folder: Path, report: Callable[[str], None]):
    with Pair(settings_in(folder)) as pair:
        pipeline, posting = pair.running["pipeline"], Posting(pair)
        pair.wait_for(pair.running["api"])
        pair.wait_for(pipeline)
        assert_used_again(posting)

        report(f"killed {kill(workers_of(pair))} between batches")
        posting.apply()
        assert pipeline.alive()

        pipeline.request("commit")
        end = posting.post()
        where = pipeline.wait_for_point("commit")
        report(f"killed {kill(workers_of(pair))} that had folded, between {where}")
        pipeline.request("go")
        until(lambda: pair.asking.applied() >= end, SOON_S, "the commit")
        posting.apply()
        assert pipeline.alive()

        before, stopped = pair.asking.applied(), workers_of(pair)
        for worker in stopped:
            worker.suspend()
        posting.post()
        time.sleep(2)
        assert pair.asking.applied() == before
        report(f"killed {kill(stopped)} during a batch")
        until(lambda: not pipeline.alive() or pair.asking.caught_up(), SOON_S, "the end of the batch")
        if not pipeline.alive():
            report(f"the pipeline ended: {pipeline_status(pair.settings)['error']}")
            pair.start("pipeline")
        pair.settle()
        assert_used_again(posting)
        pair.settle()
        pair.stop()
    audit(pair.settings, posting.acknowledged)


class Vain:
    """A store that lets a batch be folded many times before it fails and commits nothing, so that every worker has folded every part."""

    def __init__(self, store: GraphWriter) -> None:
        self.store, self.folded = store, 0

    def position(self, source: str) -> dict[int, int]:
        return self.store.position(source)

    def apply(self, batch: Batch, budget: Budget) -> None:  # noqa: ARG002 - it keeps nothing
        self.folded += 1
        if self.folded < FOLDS:
            raise CollisionError(())
        raise RuntimeError("planted: folded, not committed")

    def settle(self, budget: Budget) -> int:
        return self.store.settle(budget)

    def check(self) -> None:
        self.store.check()


def test_reused_workers_fold_again_what_was_folded_in_vain(spark: SparkSession, tmp_path: Path):
    assert spark.conf.get("spark.python.worker.reuse") == "true"
    chance = random.Random(5)
    pipeline = Pipeline(spark, tmp_path)
    pipeline.append(*(as_record(event_of(number, chance)) for number in range(60)))
    vain = Vain(pipeline.store)
    with pipeline.query(vain) as query:
        wait(lambda: not query.isActive)
        assert "planted" in str(query.exception())
    assert vain.folded == FOLDS
    assert pipeline.store.position(LOG_SOURCE) == {}
    known = {worker.pid for worker in workers_under(spark.sparkContext._gateway.proc.pid)}  # type: ignore[union-attr]  # it has one
    pipeline.run()
    assert {worker for _, workers in pipeline.batches for worker in workers} <= known
    assert execute(pipeline.store, "SELECT count(*) FROM event").fetchone() == (60,)
    assert pipeline.export() == pipeline.expected()
    pipeline.close()
