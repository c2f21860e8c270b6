"""From bytes, a channel and a principal to verdicts and records of the log."""

from concurrent.futures import Future
from dataclasses import dataclass
from typing import NamedTuple

import msgspec

from lineage_bridge.graph.ids import event_id
from lineage_bridge.graph.log_record import LogRecord, RecordKind
from lineage_bridge.ingest.effort import EVENT_NS, OBJECT_NS, Effort, TooCostlyError, too_costly
from lineage_bridge.ingest.payload import SAMPLE_BYTES, Payload, SplitPayload, split_payload
from lineage_bridge.model.access import Principal
from lineage_bridge.openlineage.event import Event
from lineage_bridge.openlineage.redaction import mask
from lineage_bridge.openlineage.verdict import Rejected, Verdict, judge
from lineage_bridge.ports.log import EventLog

_WHOLE_PAYLOAD = frozenset({"not_json", "too_costly", "too_large", "too_many"})
_ANYBODY = Principal("", frozenset())
FOREIGN_NAMESPACE = "foreign_namespace"
_COSTLY_SAMPLE_BYTES = 2048
_NOTE_CHARACTERS = 2000


class Sender(NamedTuple):
    """Through which channel something came in, and the principal that sent it, who may send events of some namespaces only."""

    channel: str
    principal: Principal = _ANYBODY


@dataclass(frozen=True)
class JudgedEvent:
    """An event with its verdict and its record."""

    verdict: Verdict
    record: LogRecord

    @property
    def id(self) -> str:
        """The event's id in answers."""
        return self.record.event_id.hex()


@dataclass(frozen=True)
class Ingested:
    """The events of a payload with their verdicts, and a future of the offsets of their records, done once these are durable.

    `single`: the payload was one event by itself, or was refused as a whole.
    """

    events: list[JudgedEvent]
    single: bool
    offsets: "Future[list[int]]"

    @property
    def accepted(self) -> int:
        """How many events are used."""
        return sum(not isinstance(event.verdict, Rejected) for event in self.events)

    @property
    def is_refused_whole(self) -> bool:
        """Whether the payload could not even be split into events."""
        verdict = self.events[0].verdict if self.single else None
        return isinstance(verdict, Rejected) and verdict.code in _WHOLE_PAYLOAD


def ingest(
    received: Payload | SplitPayload, sender: Sender, log: EventLog, arrival_us: int, *, key: bytes = b"", all_or_nothing: bool = False
) -> Ingested:
    """Mask secrets in what was received, split it into events, judge each, and append their records to the log.

    Rejected events become records too, which the graph keeps in quarantine; with `all_or_nothing`, nothing is appended if any event is
    rejected. `key` is the installation's: digests of secrets in names depend on it. Does not wait for the disk. Raises UnavailableError
    when too much waits for it; the future fails with LogError.
    """
    events = split_payload(received) if isinstance(received, Payload) else received
    judged = _judge_events(events, sender, arrival_us, key)
    single = events.single or (len(judged) == 1 and _is_too_costly(judged[0]))
    is_refused = all_or_nothing and any(isinstance(event.verdict, Rejected) for event in judged)
    return Ingested(judged, single, log.submit([] if is_refused else [event.record for event in judged]))


def ingest_operation(operation: bytes, sender: Sender, log: EventLog, arrival_us: int) -> "Future[list[int]]":
    """Append an operator's statement, JSON text, to the log. The future and the errors are those of `ingest`."""
    names = sender.channel, sender.principal.name
    return log.submit([LogRecord(RecordKind.OPERATOR, event_id(operation), arrival_us, *names, b"", operation)])


def _judge_events(events: SplitPayload, sender: Sender, arrival_us: int, key: bytes) -> list[JudgedEvent]:
    """The events of a payload, or its rejection as a whole."""
    size = sum(map(len, events.items))
    effort = Effort(events.items)
    try:
        if events.rejected:
            return [_rejected(mask(events.items[0], effort.spend, key), events.rejected, sender, arrival_us)]
        effort.spend(len(events.items) * EVENT_NS)
        return [_judge_event(raw, effort, sender, arrival_us, key) for raw in events.items]
    except TooCostlyError:
        verdict = events.rejected or too_costly(len(events.items), size)
        return [_rejected(mask(events.items[0][:_COSTLY_SAMPLE_BYTES], key=key), verdict, sender, arrival_us)]


def _is_too_costly(event: JudgedEvent) -> bool:
    return isinstance(event.verdict, Rejected) and event.verdict.code == "too_costly"


def _judge_event(raw: bytes, effort: Effort, sender: Sender, arrival_us: int, key: bytes) -> JudgedEvent:
    effort.spend(raw.count(b"{") * OBJECT_NS)
    masked = mask(raw, effort.spend, key)
    verdict = judge(masked, arrival_us)
    if isinstance(verdict, Rejected):
        kept = masked[:SAMPLE_BYTES] if verdict.code == "too_large" else masked
        return _rejected(kept, verdict, sender, arrival_us)
    if sender.principal.namespaces and (foreign := _foreign_namespace(verdict.event, sender.principal)):
        return _rejected(masked, foreign, sender, arrival_us)
    names = sender.channel, sender.principal.name
    return JudgedEvent(verdict, LogRecord(RecordKind.EVENT, event_id(masked), arrival_us, *names, b"", masked))


def _foreign_namespace(event: Event, principal: Principal) -> Rejected | None:
    """The rejection of an event about a job or dataset in whose namespace its sender may send none. Inputs and outputs may be in any."""
    for kind, subject in (("job", event.job), ("dataset", event.dataset)):
        if subject is not None and not principal.may_send(subject.namespace):
            message = f"the key {principal.name!r} may not send events of the namespace {subject.namespace!r}"
            return Rejected(FOREIGN_NAMESPACE, f"$.{kind}.namespace", message)
    return None


def _rejected(body: bytes, verdict: Rejected, sender: Sender, arrival_us: int) -> JudgedEvent:
    reason = {"code": verdict.code, "path": verdict.path, "message": verdict.message}
    note = msgspec.json.encode({name: text[:_NOTE_CHARACTERS] for name, text in reason.items()})
    names = sender.channel, sender.principal.name
    return JudgedEvent(verdict, LogRecord(RecordKind.REJECTED, event_id(body), arrival_us, *names, note, body))
