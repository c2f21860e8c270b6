"""Events as they came, accepted or kept aside."""

from dataclasses import dataclass


@dataclass(frozen=True)
class EventRecord:
    """An event as the graph lists it; its body lies at `place` of (source, part)."""

    time: int
    event: bytes
    type: str
    subject: bytes
    repairs: str
    source: str
    part: int
    place: int


@dataclass(frozen=True)
class QuarantineRecord:
    """A frame that is kept but not used, and why."""

    event: bytes
    source: str
    part: int
    place: int
    code: str
    path: str
    message: str
    sample: str
    size: int
    arrival: int
    channel: str


@dataclass(frozen=True)
class EventFilter:
    """Which events to list. Globs on the job's names; times in UTC microseconds, `since` inclusive, `until` exclusive.

    Newest first unless `ascending`.
    """

    namespace: str | None = None
    job: str | None = None
    since: int | None = None
    until: int | None = None
    ascending: bool = False
    limit: int = 100
    offset: int = 0
