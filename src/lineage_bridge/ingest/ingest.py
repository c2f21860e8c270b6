"""Ingests the bytes that a principal sent through a channel: validates the events in them and appends them to the log."""

from collections.abc import Callable
from dataclasses import dataclass
from itertools import cycle
from typing import NamedTuple

import msgspec

from lineage_bridge.graph.identity.limits import is_within, matches
from lineage_bridge.graph.ids import event_id, graph_id
from lineage_bridge.graph.log_record import NO_NOTE, LogRecord, RecordKind, RecordNote, read_note, write_note
from lineage_bridge.graph.record_origin import RecordOrigin
from lineage_bridge.ingest.effort import (
    EVENT_NS,
    LEAST_EVENT,
    OBJECT_NS,
    TINY_EVENT_NS,
    Effort,
    TooCostlyError,
    judging_effort,
    masking_effort,
    payload_masking_effort,
    too_costly,
)
from lineage_bridge.ingest.masking import mask_cut_event, mask_event, masked_beginning, masked_sample
from lineage_bridge.ingest.own_publication import PUBLICATION_BYTES, own_publication
from lineage_bridge.ingest.payload import SAMPLE_BYTES, Payload, SplitPayload, split_payload
from lineage_bridge.model.access import Principal
from lineage_bridge.openlineage.event import Event
from lineage_bridge.openlineage.suspicion.search import suspicious_offsets
from lineage_bridge.openlineage.verdict import Rejected, Verdict, judge, unreadable
from lineage_bridge.ports.log import EventLog, Written

_WHOLE_PAYLOAD = frozenset({"not_json", "too_costly", "too_large", "too_many"})
_ANYBODY = Principal("", frozenset())
FOREIGN_NAMESPACE = "foreign_namespace"
_NOTE_CHARACTERS = 2000
_FEW_BRACKETS, _BYTES_PER_BRACKET = 1_000, 8
"""How many brackets a small event may have before it is checked whether it can be read at all."""


class RecordLimits(NamedTuple):
    """The maximum size of a log record in bytes, and the function `size_of` that measures it. If the maximum is None, only the size of
    events is limited.
    """

    most_bytes: int | None = None
    size_of: Callable[[LogRecord], int] = lambda record: len(record.body)


ANY_SIZE = RecordLimits()


def _take_all(_: Event) -> Rejected | None:
    return None


class Sender(NamedTuple):
    """The channel of a payload, and the principal that sent the payload. The principal may be limited to namespaces.

    If an event in quarantine is validated again, `first` is the note of its record, whose sender, limits and origin are kept, and
    `releases` is the id of that record if the event was only a part of it. `origin` is where an input read the payload, and is stored with
    each of its records. `left_out` returns the reason if an event must not be accepted; it is checked before the sender's limits.
    """

    channel: str
    principal: Principal = _ANYBODY
    first: RecordNote | None = None
    origin: RecordOrigin | None = None
    left_out: Callable[[Event], Rejected | None] = _take_all
    releases: bytes = b""

    @property
    def note(self) -> RecordNote:
        """Make the note for the log record of an event from this sender."""
        limits = tuple(sorted(self.principal.namespaces))
        if self.first is None:
            return RecordNote(namespaces=limits, origin=self.origin)
        sender = self.first.sender if self.first.namespaces else ""
        waived = bool(self.first.namespaces) and (self.first.waived or self.first.code == FOREIGN_NAMESPACE)
        origin = self.origin or self.first.origin
        return RecordNote(namespaces=self.first.namespaces or limits, sender=sender, waived=waived, origin=origin, releases=self.releases)

    def event_origin(self, index: int, count: int) -> RecordOrigin | None:
        """Make the origin of one of the `count` events in a record of an input."""
        return self.origin and msgspec.structs.replace(self.origin, index=index, count=count)


@dataclass(frozen=True)
class JudgedEvent:
    """An event with its verdict and its record."""

    verdict: Verdict
    record: LogRecord

    @property
    def id(self) -> str:
        """The id by which answers name the event."""
        return self.record.event_id.hex()


@dataclass(frozen=True)
class Ingested:
    """The events of a payload with their verdicts, and a future with the positions of their records, which is done once they are
    durable.

    `single`: the payload was a single event, or was rejected as a whole.
    """

    events: list[JudgedEvent]
    single: bool
    offsets: Written

    @property
    def accepted(self) -> int:
        """The number of accepted events."""
        return sum(not isinstance(event.verdict, Rejected) for event in self.events)

    @property
    def is_refused_whole(self) -> bool:
        """Whether the payload was rejected as a whole, because it could not be split into events."""
        verdict = self.events[0].verdict if self.single else None
        return isinstance(verdict, Rejected) and verdict.code in _WHOLE_PAYLOAD


def ingest(
    received: Payload | SplitPayload,
    sender: Sender,
    log: EventLog,
    arrival_us: int,
    *,
    key: bytes = b"",
    all_or_nothing: bool = False,
    limits: RecordLimits = ANY_SIZE,
) -> Ingested:
    """Mask secrets in a payload, split it into events, validate each, and append their records to the log.

    Rejected events become records too, which the graph keeps in quarantine; with `all_or_nothing`, nothing is appended if any event is
    rejected. `key` is the installation's: digests of secrets in names depend on it; `limits` are those of the log. Does not wait for
    the disk. Raises UnavailableError if the queue of the log is full; the future fails with LogError.
    """
    events = split_payload(received) if isinstance(received, Payload) else received
    judged = [_fitting(event, limits) for event in _judge_events(events, sender, arrival_us, key)]
    single = events.single or (len(judged) == 1 and _is_too_costly(judged[0]))
    is_refused = all_or_nothing and any(isinstance(event.verdict, Rejected) for event in judged)
    return Ingested(judged, single, log.submit([] if is_refused else [event.record for event in judged]))


def ingest_operation(operation: bytes, sender: Sender, log: EventLog, arrival_us: int) -> Written:
    """Append an operator's statement, JSON text, to the log. The future and the errors are those of `ingest`."""
    names = sender.channel, sender.principal.name
    return log.submit([LogRecord(RecordKind.OPERATOR, event_id(operation), arrival_us, *names, b"", operation)])


def _judge_events(events: SplitPayload, sender: Sender, arrival_us: int, key: bytes) -> list[JudgedEvent]:
    """Validate the events of a payload. If the payload is rejected as a whole, the result is that rejection."""
    size = sum(map(len, events.items))
    effort, masking = judging_effort(events.items), payload_masking_effort(events.items)
    try:
        if events.rejected:
            kept = masked_beginning(events.items[0], SAMPLE_BYTES, key)
            return [_rejected(kept, events.rejected, sender, arrival_us, is_whole=not events.is_cut and kept == events.items[0])]
        tiny = sum(map(LEAST_EVENT.__gt__, map(len, events.items)))
        effort.spend(tiny * TINY_EVENT_NS + (len(events.items) - tiny) * EVENT_NS)
        senders = [sender]
        if sender.origin:
            count = len(events.items)
            senders = [sender._replace(origin=sender.event_origin(index, count)) for index in range(count)]
        return [_judge_event(raw, effort, masking, by, arrival_us, key) for raw, by in zip(events.items, cycle(senders), strict=False)]
    except TooCostlyError:
        verdict = events.rejected or too_costly(len(events.items), size)
        return [_rejected(masked_sample(events.items[0], key), verdict, sender, arrival_us)]


def _is_nested(raw: bytes) -> bool:
    """Whether an event may be nested so deeply that reading its brackets one by one costs much."""
    return len(raw) > _FEW_BRACKETS and raw.count(b"[") + raw.count(b"{") > max(_FEW_BRACKETS, len(raw) // _BYTES_PER_BRACKET)


def _is_too_costly(event: JudgedEvent) -> bool:
    return isinstance(event.verdict, Rejected) and event.verdict.code == "too_costly"


def _judge_event(raw: bytes, effort: Effort, masking: Effort, sender: Sender, arrival_us: int, key: bytes) -> JudgedEvent:
    if (len(raw) > SAMPLE_BYTES or _is_nested(raw)) and (refused := unreadable(raw)):
        kept = raw
        if len(raw) > SAMPLE_BYTES or suspicious_offsets(raw):
            kept = masked_sample(raw, key) if refused.code == "too_deep" else masked_beginning(raw, SAMPLE_BYTES, key)
        return _rejected(kept, refused, sender, arrival_us, is_whole=kept is raw)
    effort.spend(raw.count(b"{") * OBJECT_NS)
    own = masking_effort(raw)
    masked = mask_event(raw, masking, key, own)
    if masked is None:
        return _rejected(masked_sample(raw, key), unreadable(raw) or too_costly(1, len(raw)), sender, arrival_us)
    verdict = judge(masked, arrival_us, effort.spend)
    if isinstance(verdict, Rejected):
        kept = masked[:SAMPLE_BYTES] if verdict.code == "too_large" else masked
        if verdict.code == "not_json":  # its sender may have cut it
            kept = mask_cut_event(raw, masked, key, own)
        return _rejected(kept, verdict, sender, arrival_us, is_whole=kept == raw)
    note = sender.note if sender.first or sender.origin or sender.principal.namespaces else NO_NOTE
    if not_taken := _not_taken(verdict.event, masked, sender, note, key):
        return _rejected(masked, not_taken, sender, arrival_us)
    names = sender.channel, sender.principal.name
    return JudgedEvent(verdict, LogRecord(RecordKind.EVENT, event_id(masked), arrival_us, *names, write_note(note), masked))


def _not_taken(event: Event, masked: bytes, sender: Sender, note: RecordNote, key: bytes) -> Rejected | None:
    """Reject a readable event that this sender may not send; None if the sender may send it."""
    if left_out := sender.left_out(event):
        return left_out
    if PUBLICATION_BYTES in masked and (own := own_publication(event, graph_id(key))):
        return own
    return _foreign_namespace(event, note) if note.namespaces and not note.waived else None


def _fitting(event: JudgedEvent, limits: RecordLimits) -> JudgedEvent:
    """Return the event if its record fits into the log; otherwise its rejection. A rejected event is cut to the limit."""
    record, most = event.record, limits.most_bytes
    if most is None or limits.size_of(record) <= most:
        return event
    verdict, note = event.verdict, read_note(record.note)
    if not isinstance(verdict, Rejected):
        message = (
            f"the event has {len(record.body)} bytes, but the topic that events are written to accepts records of at most {most} bytes"
        )
        verdict = Rejected("too_large", "$", message)
        note = msgspec.structs.replace(note, code=verdict.code, path=verdict.path, message=verdict.message)
    body = record.body[: min(SAMPLE_BYTES, most // 2)]
    note = msgspec.structs.replace(note, whole=False)
    cut = msgspec.structs.replace(record, kind=RecordKind.REJECTED, event_id=event_id(body), note=write_note(note), body=body)
    return JudgedEvent(verdict, cut)


def _foreign_namespace(event: Event, note: RecordNote) -> Rejected | None:
    """Reject an event if it is about a job or dataset outside its sender's namespaces. Inputs and outputs may be in any namespace."""
    job, dataset = event.job, event.dataset
    if job is not None and not matches(job.namespace, note.namespaces):
        return _outside("job", job.namespace, note)
    if dataset is not None and not is_within(dataset.namespace, dataset.name, note.namespaces):
        return _outside("dataset", dataset.namespace, note)
    return None


def _outside(kind: str, namespace: str, note: RecordNote) -> Rejected:
    more = " or an equivalent one by naming rules" if matches(namespace, note.namespaces) else ""
    limits = ", ".join(note.namespaces)
    message = f"the sender may only send events of the namespaces {limits}, not of {namespace!r}{more}"
    return Rejected(FOREIGN_NAMESPACE, f"$.{kind}.namespace", message)


def _rejected(body: bytes, verdict: Rejected, sender: Sender, arrival_us: int, *, is_whole: bool = False) -> JudgedEvent:
    """Make the record of a rejected event. `is_whole`: the body is all that was read, unchanged; for inputs, the record states this."""
    code, path, message = (text[:_NOTE_CHARACTERS] for text in (verdict.code, verdict.path, verdict.message))
    noted, whole = sender.note, is_whole and sender.origin is not None
    note = write_note(msgspec.structs.replace(noted, code=code, path=path, message=message, whole=whole))
    names = sender.channel, sender.principal.name
    return JudgedEvent(verdict, LogRecord(RecordKind.REJECTED, event_id(body), arrival_us, *names, note, body))
