"""The lag of a job: the records of a dataset that it has not read yet. Pure."""

from typing import NamedTuple


class StuckParts(NamedTuple):
    """The partitions of a dataset on which a job makes no progress while it reads others: how many there are, the one with the most unread
    records, and the number of these records.
    """

    partitions: int
    worst: int
    rows: int


class DatasetLag(NamedTuple):
    """How many records of a dataset a job had not read at the time `at` (UTC microseconds), and the partitions on which it made no
    progress.
    """

    at: int
    rows: int
    stuck: StuckParts | None = None


def drain_seconds(lag: DatasetLag, rows_per_second: float | None) -> float | None:
    """How many seconds a job takes to read its unread records at a rate. Records that arrive meanwhile are ignored. None if the rate is
    unknown, or if it is 0 and there are unread records.
    """
    if lag.rows == 0:
        return 0.0
    return lag.rows / rows_per_second if rows_per_second else None
