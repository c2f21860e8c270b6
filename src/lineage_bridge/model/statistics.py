"""What runs read and wrote, counted."""

from dataclasses import dataclass

from lineage_bridge.graph.relations import Side
from lineage_bridge.graph.runs.statistics import Amount
from lineage_bridge.model.graph import Node


@dataclass(frozen=True)
class StatisticsFilter:
    """Which statistics to sum: of a job, of datasets, of a run, or of several of these at once.

    Times in UTC microseconds, `since` inclusive, `until` exclusive; `bucket_us` 0 for no buckets. `limit` and `offset` count series.
    """

    since: int
    until: int
    job: int | None = None
    datasets: frozenset[int] | None = None
    side: Side | None = None
    run: bytes | None = None
    bucket_us: int = 0
    limit: int = 100
    offset: int = 0


@dataclass(frozen=True)
class StatisticsSeries:
    """What the runs of a job read from, or wrote to, a dataset within a window. Times are UTC microseconds.

    `counting` names how its runs count (`cumulative`, `interval`). Buckets are (start, amount), without the empty ones.
    """

    job: Node
    dataset: Node
    side: Side
    amount: Amount
    runs: int
    samples: int
    first: int
    last: int
    counting: tuple[str, ...]
    buckets: tuple[tuple[int, Amount], ...]


@dataclass(frozen=True)
class StatisticsPage:
    """Series in the order of job, dataset, side. `truncated`: a job has so many runs or samples in the window that not all were read."""

    series: tuple[StatisticsSeries, ...]
    truncated: bool
