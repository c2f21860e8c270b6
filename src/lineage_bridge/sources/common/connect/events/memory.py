"""The values that a source stores about one connector between polls: the connector's part of the snapshot."""

from collections.abc import Mapping
from typing import Any

import msgspec

from lineage_bridge.conversion import convert

ALIVE, FAILED, ENDED = "RUNNING", "FAIL", "ENDED"
"""The last reported state of a run: running, failed, or ended otherwise."""


class TaskRun(msgspec.Struct):
    """The run of a task: its number within the connector's run, from 1, and its last reported state."""

    number: int
    state: str = msgspec.field(name="told", default=ALIVE)


class ConnectorMemory(msgspec.Struct, omit_defaults=True):
    """What is remembered about one connector.

    `config`: the fingerprint of its configuration. `ids`: the ids of its tasks. `number`: how many runs it has had; `run`: the id of the
    newest run; `state`: the last reported state of that run (empty: none yet), `failure`: the fingerprint of its failure. `children`: the
    runs of the tasks.

    `given`, `topics`, `partitions`: the settings of tasks, the topics used, and the partitions of offsets, as last fetched; None: never
    fetched. `last`: the sums of offsets by topic; `base`: these sums when the run was first seen; `counted`: the rows that were reported.
    `workers`: the worker of each task, by the task's number; `assigned_us`: the time of the last poll that saw this assignment; 0: never.

    `datasets`: fingerprints of the datasets reported in this run, by the fingerprints of their names; `facets`: the same for facets, by
    key.

    In snapshots, some members keep the names of earlier versions.
    """

    config: str
    ids: list[int] = msgspec.field(default_factory=list)
    number: int = 0
    run: str = ""
    state: str = msgspec.field(name="told", default="")
    failure: str = ""
    children: dict[str, TaskRun] = msgspec.field(default_factory=dict)
    given: list[dict[str, str]] | None = None
    topics: list[str] | None = None
    partitions: list[dict[str, Any]] | None = msgspec.field(name="parts", default=None)
    last: dict[str, int] = msgspec.field(default_factory=dict)
    base: dict[str, int] = msgspec.field(default_factory=dict)
    counted: dict[str, int] = msgspec.field(default_factory=dict)
    datasets: dict[str, str] = msgspec.field(name="said", default_factory=dict)
    facets: dict[str, str] = msgspec.field(default_factory=dict)
    workers: dict[str, str] = msgspec.field(default_factory=dict)
    assigned_us: int = 0

    def begin(self, run: str, number: int) -> None:
        """Start another run, for which nothing has been reported or counted yet."""
        self.run, self.number, self.state, self.failure = run, number, ALIVE, ""
        self.base, self.counted, self.datasets, self.facets = dict(self.last), {}, {}, {}
        self.children = {}

    def assign(self, workers: Mapping[str, str], now_us: int) -> tuple[int, int]:
        """Remember the workers of tasks as of a poll. Return how many tasks are on another worker than at an earlier poll, and the time of
        that poll (UTC microseconds). Tasks that are on no worker at the moment keep their last one.
        """
        moved, since_us = sum(self.workers.get(task, worker) != worker for task, worker in workers.items()), self.assigned_us
        self.workers, self.assigned_us = dict(workers), now_us
        return moved, since_us

    def count(self, sums: Mapping[str, int]) -> dict[str, int]:
        """Return the rows by topic since the run was first seen; only for topics with more rows than were reported before.

        Counts never decrease: after offsets were reset, counting continues from the reported rows.
        """
        for topic, total in sums.items():
            base = self.base.setdefault(topic, total)
            self.base[topic] = base - max(0, self.last.get(topic, total) - total)
            self.last[topic] = total
        counts = {topic: self.last[topic] - self.base[topic] for topic in sums}
        more = {topic: rows for topic, rows in counts.items() if rows > self.counted.get(topic, 0)}
        self.counted |= more
        return more


def read_memory(entry: object) -> ConnectorMemory:
    """Read a connector's part of a snapshot."""
    return convert(entry, ConnectorMemory)


def write_memory(memory: ConnectorMemory) -> dict[str, Any]:
    """Convert a connector's part of a snapshot to JSON."""
    written: dict[str, Any] = msgspec.to_builtins(memory)
    return written
