"""Responses about the state of the server, and requests that operate it."""

from msgspec import UNSET, Raw, Struct, UnsetType


class EraseRequest(Struct, frozen=True, forbid_unknown_fields=True):
    """Runs to erase, by their UUIDs."""

    runs: list[str]


class Erased(Struct, frozen=True, tag_field="status", tag="accepted"):
    """The erasure is durable and takes effect soon."""

    runs: int
    position: str


class DiskUse(Struct, frozen=True):
    """Bytes that the log uses, and bytes free on its disk."""

    used_bytes: int
    free_bytes: int


class Health(Struct, frozen=True, omit_defaults=True, tag_field="status", tag="ok"):
    """The process answers; `disk` is for those who may read."""

    disk: DiskUse | UnsetType = UNSET


class PartState(Struct, frozen=True):
    """A part of the system: `state` is "ok" or what it is instead."""

    state: str
    detail: str


class PartStates(Struct, frozen=True):
    """The parts of the system. All must work, but for damage to the log: what can be read of it is used.

    `issuers`, if tokens of any are accepted, is whether their keys could be fetched last; those fetched before are used.
    """

    intake: PartState
    log: PartState
    store: PartState
    pipeline: PartState
    issuers: PartState | UnsetType = UNSET


class Lag(Struct, frozen=True):
    """How far the graph lags behind the log, in bytes of records; -1 if unknown."""

    bytes: int
    caught_up: bool
    log_end: str
    applied: str


class LogDamage(Struct, frozen=True):
    """Damaged places of the event log, those that no operator has acknowledged, and how many bytes cannot be read."""

    places: int
    unacknowledged: int
    unreadable_bytes: int


class Readiness(Struct, frozen=True):
    """Whether everything works, and the state of each part."""

    ready: bool
    parts: PartStates
    lag: Lag
    settling: bool
    disk: DiskUse
    log: LogDamage


class Version(Struct, frozen=True):
    """The program, its version, and the version of the standard that it writes."""

    version: str
    name: str = "LineageBridge"
    openlineage: str = "2-0-2"


class AnalysisPage(Struct, frozen=True):
    """A page of one part of the last analysis; with the counts of all parts, and the time and position of the analysis.

    Unless `exact`, counts of what lies down- and upstream are estimates.
    """

    part: str
    items: list[Raw]
    counts: dict[str, int]
    nodes: int
    flows: int
    exact: bool
    unused_days: int
    made_at: str
    position: str
