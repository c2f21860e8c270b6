"""Responses about the amounts that runs read and wrote."""

from typing import Literal

from msgspec import UNSET, Struct, UnsetType

from lineage_bridge.api.schemas.names import DatasetRef, JobRef

Count = int | UnsetType
Rate = float | UnsetType


class Bucket(Struct, frozen=True, omit_defaults=True):
    """The amounts within one bucket of time, from `start` on."""

    start: str
    rows: Count = UNSET
    bytes: Count = UNSET
    files: Count = UNSET


class Series(Struct, frozen=True, omit_defaults=True):
    """What the runs of a job read from, or wrote to, a dataset within the window.

    `counting` is how its runs count: `cumulative` from their beginning, by `interval`, or both. Rates are over the whole window.
    """

    job: JobRef
    dataset: DatasetRef
    side: Literal["input", "output"]
    runs: int
    samples: int
    first: str
    last: str
    counting: tuple[str, ...]
    rows: Count = UNSET
    bytes: Count = UNSET
    files: Count = UNSET
    rows_per_second: Rate = UNSET
    bytes_per_second: Rate = UNSET
    files_per_second: Rate = UNSET
    buckets: list[Bucket] | UnsetType = UNSET


class StatisticsAnswer(Struct, frozen=True):
    """Amounts within [since, until). `truncated`: not all runs or samples of the window were read."""

    since: str
    until: str
    series: list[Series]
    truncated: bool
    settling: bool
    position: str
