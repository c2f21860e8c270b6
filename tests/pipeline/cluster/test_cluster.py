"""The pipeline on a Spark cluster: executors that are processes of their own fold the log, and their deaths lose nothing."""

import random
import time
from pathlib import Path

import psutil
import pytest
from tests.crash.running.cluster import spark_cluster
from tests.crash.running.support import SPARK_S, Acknowledged, Pair, audit, event_of, nothing_left, pipeline_status, settings_in, until

from lineage_bridge.graph.ids import event_id

pytestmark = pytest.mark.spark


class ClusterPosting:
    """Sends events, and waits until they are in the graph."""

    def __init__(self, pair: Pair) -> None:
        self.pair, self.chance, self.acknowledged = pair, random.Random(19), Acknowledged()

    def post(self, count: int) -> int:
        """Send events; the position behind them."""
        first = len(self.acknowledged.events)
        bodies = [event_of(first + number, self.chance) for number in range(count)]
        self.acknowledged.events += [event_id(body).hex() for body in bodies]
        return self.pair.asking.post(*bodies)

    def wait_for(self, position: int, what: str) -> None:
        until(lambda: self.pair.asking.applied() >= position, SPARK_S, what)


def test_executors_fold_the_log_and_may_die_at_any_time(tmp_path: Path) -> None:
    folder = tmp_path / "data"
    folder.mkdir()
    with spark_cluster(tmp_path / "cluster", workers=2) as cluster, nothing_left(folder):
        settings = settings_in(folder).model_copy(update={"spark_master": cluster.master, "spark_driver_host": "127.0.0.1"})
        with Pair(settings) as pair:
            pair.wait_for(pair.running["api"])
            pair.wait_for(pair.running["pipeline"])
            posting = ClusterPosting(pair)
            posting.wait_for(posting.post(200), "the first batches")
            executors = {process.pid: number for number in (0, 1) for process in cluster.executors(number)}
            assert sorted(executors.values()) == [0, 1]
            parents = {_executor_above(pid) for pid in pipeline_status(settings)["workers"]}
            assert parents <= executors.keys(), "the events were folded by other processes than the executors"

            slow = cluster.executors(0)[0]
            slow.suspend()
            end = posting.post(100)
            time.sleep(2)
            slow.resume()
            posting.wait_for(end, "the batches of a slow executor")

            end = posting.post(150)
            cluster.kill(1)
            posting.post(100)
            posting.wait_for(end, "the batches of a killed worker")

            posting.post(60)
            pair.running["pipeline"].kill()
            pair.start("pipeline")
            posting.post(60)
            pair.settle()
            pair.stop()
        audit(settings, posting.acknowledged)


def _executor_above(pid: int) -> int:
    """The executor under which a Python worker runs, through the daemon that forked it."""
    return int(psutil.Process(pid).parents()[1].pid)
