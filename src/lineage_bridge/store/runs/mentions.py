"""Finds the events that named a dataset: for each run or declaration, the first and the last of each day."""

import heapq
from collections.abc import Collection, Iterable, Iterator
from typing import Final, NamedTuple

from lineage_bridge.graph.relations import Origin, Side
from lineage_bridge.store.chunks import marks
from lineage_bridge.store.connection import StoreConnection

MOST_RUNS: Final = 5_000
"""The maximum number of runs that are searched for a dataset: the newest of all jobs that name it."""
_MOST_STATEMENTS = 50_000
"""The maximum number of statements about a dataset that are read, those of the newest days of each side first."""
_JOBS = "SELECT job FROM job_io WHERE dataset IN ({0}) UNION SELECT job FROM mentioned_node WHERE node IN ({0})"
_RUNS = (
    f"SELECT last, asserted_by, job FROM run_shape WHERE job = ? AND last >= ? AND origin = {Origin.OBSERVED:d} ORDER BY last DESC LIMIT ?"
)
_ALL_TIME = -(2**63)
_NAMED = "SELECT first, last FROM run_io WHERE run = ? AND job = ? AND dataset IN ({})"
_TIMES = "first, first_event, last, last_event"
_STATED = f"SELECT asserted_by, {_TIMES} FROM assertion WHERE node = ? AND side = ? ORDER BY day DESC LIMIT {_MOST_STATEMENTS}"
_DECLARED = f"""SELECT asserted_by, {_TIMES} FROM assertion a WHERE node = ? AND side = {Side.SELF:d}
AND EXISTS (SELECT 1 FROM declared_io d WHERE d.facet_set = a.facet_set AND d.dataset IN ({{}}))
ORDER BY day DESC LIMIT {_MOST_STATEMENTS}"""


class DatasetMention(NamedTuple):
    """An event that named a dataset. `time` (UTC microseconds) is the event's own time or, if the producer's clock was far ahead, the time
    of its arrival. If `event` is empty, every event that the run sent at this time is meant.
    """

    time: int
    event: bytes
    asserted_by: bytes


def mentions(connection: StoreConnection, datasets: Collection[int]) -> set[DatasetMention]:
    """The events that named a dataset, given as the ids of all its names, and those that declared it as an input or output."""
    names = sorted(datasets)
    found: set[DatasetMention] = set()
    for name in names:
        for side in Side:
            found.update(_ends(connection.execute(_STATED, (name, int(side)))))
    jobs = sorted(row[0] for row in connection.execute(_JOBS.format(marks(names)), (*names, *names)))
    for job in jobs:
        found.update(_ends(connection.execute(_DECLARED.format(marks(names)), (job, *names))))
    for _, run, job in _newest_runs(connection, jobs):
        times = connection.execute(_NAMED.format(marks(names)), (run, job, *names))
        found.update(DatasetMention(time, b"", run) for ends in times for time in ends)
    return found


def _newest_runs(connection: StoreConnection, jobs: Iterable[int]) -> list[tuple[int, bytes, int]]:
    """The last times, runs and jobs of the newest runs of all these jobs, at most MOST_RUNS. The job with the newest run is read first. Of
    each further job, only the runs that are newer than the oldest one found so far are read.
    """
    starts = [row for job in jobs for row in connection.execute(_RUNS, (job, _ALL_TIME, 1))]
    newest: list[tuple[int, bytes, int]] = []
    for last, _, job in sorted(starts, key=lambda row: row[0], reverse=True):
        floor = newest[0][0] if len(newest) == MOST_RUNS else _ALL_TIME
        if last < floor:
            break
        for time, run, _ in connection.execute(_RUNS, (job, floor, MOST_RUNS)):
            heapq.heappush(newest, (time, bytes(run), job))
            if len(newest) > MOST_RUNS:
                heapq.heappop(newest)
    return newest


def _ends(rows: Iterable[tuple[bytes, int, bytes, int, bytes]]) -> Iterator[DatasetMention]:
    for asserted_by, first, first_event, last, last_event in rows:
        yield DatasetMention(first, bytes(first_event), bytes(asserted_by))
        yield DatasetMention(last, bytes(last_event), bytes(asserted_by))
