"""The lag of a job: the records of a dataset that it has not read yet. Pure."""

from typing import NamedTuple


class StuckParts(NamedTuple):
    """The partitions of a dataset at which a job stands still while it reads others: how many, the one with the most unread records, and
    how many these are.
    """

    partitions: int
    worst: int
    rows: int


class DatasetLag(NamedTuple):
    """How many records of a dataset a job had not read `at` a time (UTC microseconds), and the partitions at which it stood still."""

    at: int
    rows: int
    stuck: StuckParts | None = None


def drain_seconds(lag: DatasetLag, rows_per_second: float | None) -> float | None:
    """How long a job takes to read what it has not read yet, at a rate. What arrives meanwhile does not count. None if the rate is unknown
    or 0 while there are unread records.
    """
    if lag.rows == 0:
        return 0.0
    return lag.rows / rows_per_second if rows_per_second else None
