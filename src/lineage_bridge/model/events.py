"""Events as received: accepted ones and those in quarantine."""

from dataclasses import dataclass
from typing import NamedTuple

from lineage_bridge.graph.log_record import RecordAddress


@dataclass(frozen=True)
class EventRecord:
    """An accepted event, with the address of a log record that contains its body."""

    time: int
    event: bytes
    type: str
    asserted_by: bytes
    repairs: str
    address: RecordAddress


@dataclass(frozen=True)
class QuarantineRecord:
    """A log record in quarantine, with the reason."""

    event: bytes
    address: RecordAddress
    code: str
    path: str
    message: str
    sample: str
    size: int
    arrival: int
    channel: str
    principal: str


class QuarantineCounts(NamedTuple):
    """The number of quarantined records by reason code, sorted by code. `truncated`: only the newest records were counted, and there
    are more.
    """

    by_code: dict[str, int]
    truncated: bool


@dataclass(frozen=True)
class EventFilter:
    """Which events to list. `namespace` and `job` are globs on the job; times are UTC microseconds, `since` inclusive, `until` exclusive.

    `datasets` has the ids of all names of one dataset. If it is given, only events that named the dataset are listed: the first and the
    last of each run (or declaration) on each UTC day. The newest events come first unless `ascending`.
    """

    namespace: str | None = None
    job: str | None = None
    since: int | None = None
    until: int | None = None
    ascending: bool = False
    limit: int = 100
    offset: int = 0
    datasets: frozenset[int] | None = None
