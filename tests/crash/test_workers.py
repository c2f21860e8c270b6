"""Spark's Python workers die, or fold in vain: nothing is missing, and workers are used again."""

import random
import signal
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import psutil
import pytest
from pyspark.sql import SparkSession
from tests.crash.support import SOON_S, SPARK_S, Acknowledged, Pair, audit, event_of, pipeline_status, settings_in, until
from tests.pipeline.test_serve import Failing, Pipeline, as_frame, wait

from lineage_bridge.graph.ids import event_id
from lineage_bridge.ports import LOG_SOURCE

pytestmark = pytest.mark.spark


class Posting:
    """Posts events and waits for them to be applied."""

    def __init__(self, pair: Pair) -> None:
        self.pair, self.chance, self.told = pair, random.Random(3), Acknowledged()

    def post(self, count: int = 40) -> int:
        """Send fresh events; the place behind them."""
        first = len(self.told.events)
        bodies = [event_of(first + number, self.chance) for number in range(count)]
        self.told.events += [event_id(body).hex() for body in bodies]
        return self.pair.asking.post(*bodies)

    def apply(self) -> set[int]:
        """Send events, and wait until they are in the store; the workers that folded their last batch."""
        end = self.post()
        until(lambda: self.pair.asking.applied() >= end, SPARK_S, "the batch")
        until(lambda: pipeline_status(self.pair.settings)["position"].get("log/0", 0) >= end, SOON_S, "the report of the batch")
        return set(pipeline_status(self.pair.settings)["workers"])


def all_workers(pair: Pair) -> list[psutil.Process]:
    """The Python workers there are: what the daemon under Spark has forked."""
    java = psutil.Process(pipeline_status(pair.settings)["spark_pid"])
    return [worker for child in java.children() if "lineage_bridge.pipeline.workers" in child.cmdline() for worker in child.children()]


def kill(workers: Sequence[psutil.Process]) -> str:
    for worker in workers:
        worker.send_signal(signal.SIGKILL)
    psutil.wait_procs(workers, timeout=SOON_S)
    return f"workers (pids {', '.join(str(worker.pid) for worker in workers)})"


def test_killed_workers_lose_nothing(folder: Path, say: Callable[[str], None]):
    pair = Pair(settings_in(folder))
    pipeline = pair.running["pipeline"]
    pair.wait_for(pair.running["api"])
    pair.wait_for(pipeline)
    posting = Posting(pair)
    seen = posting.apply() | posting.apply() | posting.apply()
    assert posting.apply() <= seen, "workers are not used again"

    say(f"killed {kill(all_workers(pair))} between batches")
    assert not posting.apply() & seen
    assert pipeline.alive()

    pipeline.tell("commit")
    end = posting.post()
    where = pipeline.reached("commit")
    say(f"killed {kill(all_workers(pair))} that had folded, between {where}")
    pipeline.tell("go")
    until(lambda: pair.asking.applied() >= end, SOON_S, "the commit")
    posting.apply()
    assert pipeline.alive()

    before = pair.asking.applied()
    stopped = all_workers(pair)
    for worker in stopped:
        worker.suspend()
    posting.post()
    time.sleep(2)
    assert pair.asking.applied() == before
    say(f"killed {kill(stopped)} during a batch")
    until(lambda: not pipeline.alive() or pair.asking.caught_up(), SOON_S, "the end of the batch")
    if not pipeline.alive():
        say(f"the pipeline ended: {pipeline_status(pair.settings)['error']}")
        pair.start("pipeline")
    pair.settle()
    seen = posting.apply() | posting.apply() | posting.apply()
    assert posting.apply() <= seen, "workers are not used again"
    pair.settle()
    pair.stop()
    audit(pair.settings, posting.told)


def test_reused_workers_fold_again_what_was_folded_in_vain(spark: SparkSession, tmp_path: Path):
    assert spark.conf.get("spark.python.worker.reuse") == "true"
    chance = random.Random(5)
    pipeline = Pipeline(spark, tmp_path)
    pipeline.append(*(as_frame(event_of(number, chance)) for number in range(60)))
    pipeline.run()
    workers = {worker for _, some in pipeline.batches for worker in some}
    pipeline.append(*(as_frame(event_of(number, chance)) for number in range(100, 160)))
    for _ in range(2):
        with pipeline.query(Failing(pipeline.store, failures=1)) as query:
            wait(lambda query=query: not query.isActive)  # type: ignore[misc]  # a default binds the loop's value
            assert "planted" in str(query.exception())
    known, pipeline.batches = len(pipeline.batches), []
    assert known
    pipeline.run()
    again = {worker for _, some in pipeline.batches for worker in some}
    assert again & workers, "workers are not used again"
    assert pipeline.store.position(LOG_SOURCE) == {0: pipeline.log.end()}
    assert pipeline.store.connection.execute("SELECT count(*) FROM event").fetchone() == (120,)
    assert pipeline.export() == pipeline.expected()
    pipeline.close()
