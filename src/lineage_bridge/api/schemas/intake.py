"""The responses to requests that send events, and those about quarantine."""

from typing import Literal

from msgspec import UNSET, Struct, UnsetType

from lineage_bridge.api.schemas.names import Text
from lineage_bridge.openlineage.verdict import Repair

BatchStatus = Literal["success", "partial_success", "failure"]


class Accepted(Struct, frozen=True, tag_field="status", tag="accepted"):
    """The event is durable. Answers contain it once the graph has reached `position`."""

    event_id: str
    position: str
    repairs: tuple[Repair, ...]


class RejectedAnswer(Struct, frozen=True, tag_field="status", tag="rejected"):
    """The event was rejected and is kept in quarantine."""

    event_id: str
    position: str
    code: str
    path: str
    message: str


class EventOutcome(Struct, frozen=True, omit_defaults=True):
    """The outcome of one of several events; `index` counts from 0."""

    index: int
    status: Literal["accepted", "rejected"]
    event_id: str
    repairs: tuple[Repair, ...] | UnsetType = UNSET
    code: Text = UNSET
    path: Text = UNSET
    message: Text = UNSET


class Outcomes(Struct, frozen=True):
    """The outcome of each of several events."""

    accepted: int
    rejected: int
    position: str
    events: list[EventOutcome]


class Stored(Outcomes, frozen=True):
    """The outcome of each of several events. `events_stored` is the number of accepted ones."""

    events_stored: int


class BatchSummary(Struct, frozen=True):
    """How many events of a batch were received, accepted and rejected, and how many of the rejected ones may be sent again."""

    received: int
    successful: int
    failed: int
    retriable: int
    non_retriable: int


class FailedEvent(Struct, frozen=True):
    """A rejected event of a batch; `index` counts from 0."""

    index: int
    reason: str
    retriable: bool


class BatchAnswer(Struct, frozen=True):
    """OpenLineage's answer to a batch, with the position that includes its events."""

    status: BatchStatus
    summary: BatchSummary
    failed_events: list[FailedEvent]
    position: str


class RejectedJob(Struct, frozen=True, omit_defaults=True):
    """The job that a rejected event names."""

    namespace: Text = UNSET
    name: Text = UNSET


class QuarantineItem(Struct, frozen=True, omit_defaults=True):
    """A rejected event. `size` is the number of stored bytes, `sample` is their beginning.

    `job` and `producer` are present if they could be read, `principal` if the event was sent with credentials.
    """

    event_id: str
    code: str
    path: str
    message: str
    arrived_at: str
    channel: str
    size: int
    sample: str
    job: RejectedJob | UnsetType = UNSET
    producer: Text = UNSET
    principal: Text = UNSET


class QuarantineAnswer(Struct, frozen=True):
    """Rejected events, newest first; `counts` has how many there are in all, by code.

    With `counts_truncated`, only the newest 10,000 are counted, and there are more.
    """

    items: list[QuarantineItem]
    counts: dict[str, int]
    counts_truncated: bool
    position: str
