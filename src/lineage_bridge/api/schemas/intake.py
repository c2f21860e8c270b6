"""The shapes of calls that bring events, and of the quarantine."""

from typing import Literal

from msgspec import UNSET, Struct, UnsetType

from lineage_bridge.api.schemas.names import Text
from lineage_bridge.openlineage.verdict import Repair

BatchStatus = Literal["success", "partial_success", "failure"]


class Accepted(Struct, frozen=True, tag_field="status", tag="accepted"):
    """One event is durable. `position` is where the graph has to be for answers to contain it."""

    event_id: str
    position: str
    repairs: tuple[Repair, ...]


class RejectedAnswer(Struct, frozen=True, tag_field="status", tag="rejected"):
    """One event is kept in quarantine and not used."""

    event_id: str
    position: str
    code: str
    path: str
    message: str


class EventOutcome(Struct, frozen=True, omit_defaults=True):
    """What became of one event of several; `index` counts from 0."""

    index: int
    status: Literal["accepted", "rejected"]
    event_id: str
    repairs: tuple[Repair, ...] | UnsetType = UNSET
    code: Text = UNSET
    path: Text = UNSET
    message: Text = UNSET


class Outcomes(Struct, frozen=True):
    """What became of several events."""

    accepted: int
    rejected: int
    position: str
    events: list[EventOutcome]


class Stored(Outcomes, frozen=True):
    """What became of several events. `events_stored` counts those that are used."""

    events_stored: int


class BatchSummary(Struct, frozen=True):
    """How many events of a batch were received, used, not used, and of those how many are worth sending again."""

    received: int
    successful: int
    failed: int
    retriable: int
    non_retriable: int


class FailedEvent(Struct, frozen=True):
    """An event of a batch that is not used; `index` counts from 0."""

    index: int
    reason: str
    retriable: bool


class BatchAnswer(Struct, frozen=True):
    """The standard's answer to a batch, and our position."""

    status: BatchStatus
    summary: BatchSummary
    failed_events: list[FailedEvent]
    position: str


class QuarantineItem(Struct, frozen=True):
    """Bytes that are kept and not used. `size` is that of what is kept; `sample` its beginning."""

    event_id: str
    code: str
    path: str
    message: str
    arrived_at: str
    channel: str
    size: int
    sample: str


class QuarantineAnswer(Struct, frozen=True):
    """What is kept aside, newest first; `counts` are of all of it, by code."""

    items: list[QuarantineItem]
    counts: dict[str, int]
    position: str
