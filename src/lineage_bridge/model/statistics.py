"""Statistics of what runs read and wrote."""

from dataclasses import dataclass

from lineage_bridge.graph.relations import Side
from lineage_bridge.graph.runs.statistics import Amount
from lineage_bridge.model.graph import Node


@dataclass(frozen=True)
class StatisticsFilter:
    """Which statistics to sum: those of a job, of datasets, of a run, or of a combination of these.

    Times are UTC microseconds, `since` inclusive, `until` exclusive. `bucket_us` is 0 for no buckets. `limit` and `offset` count series.
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
    """The amount that the runs of a job read from, or wrote to, a dataset within a window. Times are UTC microseconds.

    `counting` lists how the runs count (`cumulative`, `interval`). Buckets are (start, amount); empty ones are left out.
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
    """Series, sorted by job, dataset, side. `truncated`: a job has so many runs or samples in the window that not all were read."""

    series: tuple[StatisticsSeries, ...]
    truncated: bool
