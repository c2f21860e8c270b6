"""The lags of jobs, as the answers about the pulse and about ledgers of paths contain them."""

from collections.abc import Iterable, Mapping
from typing import TypeAlias

from msgspec import UNSET, UnsetType

from lineage_bridge.api.schemas.statistics import LagAnswer, StuckAnswer
from lineage_bridge.graph.ids import DAY_US
from lineage_bridge.graph.runs.lag import DatasetLag, drain_seconds
from lineage_bridge.model.graph import Node
from lineage_bridge.openlineage.times import format_time
from lineage_bridge.ports.graph_reader import RunReader

LagsByJob: TypeAlias = Mapping[int, Mapping[tuple[str, str], DatasetLag]]
"""The lags of jobs, by job id and by the namespace and name of the dataset."""


def read_lags(runs: RunReader, jobs: Iterable[Node], since: int, until: int) -> LagsByJob:
    """The newest lags of jobs within a window, in UTC microseconds. Lags from more than a day before the end of the window are left out."""
    return runs.lags({job.id: job for job in jobs}.values(), max(since, until - DAY_US), until)


def lag_answer(lags: LagsByJob, job: Node, names: Iterable[Node], rows_per_second: float | None) -> LagAnswer | UnsetType:
    """The lag of a job in reading a dataset, as answers contain it; UNSET if none is known. `names` are all names of the dataset."""
    of_job = lags.get(job.id, {})
    found = [of_job[name.namespace, name.name] for name in names if (name.namespace, name.name) in of_job]
    if not found:
        return UNSET
    lag = max(found, key=lambda lag: (lag.at, lag.rows, lag.stuck is not None))
    drain = drain_seconds(lag, rows_per_second)
    return LagAnswer(
        at=format_time(lag.at),
        rows=lag.rows,
        drain_s=UNSET if drain is None else round(drain, 3),
        stuck=StuckAnswer(*lag.stuck) if lag.stuck else UNSET,
    )
