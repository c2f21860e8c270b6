"""Decides what an erasure does to a record: it stays, is erased as a whole, or only what is stored beside its body is masked."""

from collections.abc import Callable, Iterator
from typing import Any, Final
from uuid import UUID

import msgspec

from lineage_bridge.errors import RequestError
from lineage_bridge.eventlog.erasing.identifier import PersonIdentifier
from lineage_bridge.eventlog.erasing.masking import masked_texts
from lineage_bridge.graph.log_record import LogRecord, RecordKind, RecordNote, read_note, write_note
from lineage_bridge.graph.record_origin import RecordOrigin
from lineage_bridge.model.erasing.erasure import DATASET, KINDS, NAMESPACE, PERSON, RUN, ErasureRequest
from lineage_bridge.openlineage.run_ids import parse_uuid, run_uuid


class _RunOfEvent(msgspec.Struct, rename={"run_id": "runId"}):
    run_id: str


class _JobOfEvent(msgspec.Struct):
    namespace: str = ""
    name: str = ""


class _Event(msgspec.Struct):
    run: _RunOfEvent
    job: msgspec.Raw = msgspec.Raw(b"{}")


_JOBS: Final = msgspec.json.Decoder(_JobOfEvent)
_RUNS: Final = msgspec.json.Decoder(_Event)
Choose = Callable[[LogRecord], LogRecord]
"""Returns the record itself if it stays, or what replaces it: a record that takes no more bytes."""
_EVENTS: Final = (RecordKind.EVENT, RecordKind.REJECTED)
_ESCAPES: Final = b"\\"
_NOTE_NAMES: Final = frozenset(name.encode() for name in (*RecordNote.__struct_fields__, *RecordOrigin.__struct_fields__))


def choose_records(request: ErasureRequest) -> Choose:
    """Return the function that decides about each record for a request. Raises RequestError for an invalid request."""
    check_request(request)
    if request.kind == PERSON:
        identifier = PersonIdentifier(request.name)
        return lambda record: _without_person(record, identifier)
    if request.kind == RUN:
        run = UUID(request.name).bytes
        return lambda record: erased_record(record) if record.kind in _EVENTS and _is_of_run(record.body, run) else record
    named = request.namespace, (request.name if request.kind == DATASET else None)
    return lambda record: erased_record(record) if record.kind in _EVENTS and _names(record.body, *named) else record


def bodies_with(request: ErasureRequest) -> Callable[[bytes], bool]:
    """Return a function that tells whether bytes contain what is erased. For a person, it accepts any bytes; otherwise the JSON of one
    event or several.
    """
    if request.kind == PERSON:
        return PersonIdentifier(request.name).is_in
    choose = choose_records(request)

    def is_in(body: bytes) -> bool:
        events = _decoded(body)
        bodies = map(msgspec.json.encode, events) if isinstance(events, list) else (body,)
        return any(choose(LogRecord(RecordKind.EVENT, b"", 0, "", "", b"", one_body)).kind == RecordKind.ERASED for one_body in bodies)

    return is_in


def check_request(request: ErasureRequest) -> None:
    """Raise RequestError unless a request names what its kind needs."""
    if request.kind not in KINDS:
        raise RequestError(f"{request.kind!r} cannot be erased", f"use one of: {', '.join(KINDS)}")
    if request.kind == PERSON:
        PersonIdentifier(request.name)
    elif request.kind == RUN:
        _check_run(request.name)
    if (request.kind in (DATASET, NAMESPACE)) != bool(request.namespace):
        namespace = "a namespace" if request.kind in (DATASET, NAMESPACE) else "no namespace"
        raise RequestError(f"give {namespace} to erase a {request.kind}")
    if (request.kind == NAMESPACE) == bool(request.name):
        raise RequestError(f"give {'no name' if request.kind == NAMESPACE else 'a name'} to erase a {request.kind}")


def _check_run(text: str) -> None:
    try:
        UUID(text)
    except ValueError as error:
        raise RequestError(f"{text!r} is not the id of a run", "a run is named by its UUID") from error


def _without_person(record: LogRecord, identifier: PersonIdentifier) -> LogRecord:
    if record.kind != RecordKind.ERASED and identifier.is_in(record.body):
        record = erased_record(record)
    channel, principal = (
        masked_texts(text.encode("utf-8", "surrogatepass"), identifier).decode("utf-8", "surrogatepass")
        for text in (record.channel, record.principal)
    )
    note = masked_texts(record.note, identifier, _NOTE_NAMES)
    if (channel, principal, note) == (record.channel, record.principal, record.note):
        return record
    return msgspec.structs.replace(record, channel=channel, principal=principal, note=note)


def erased_record(record: LogRecord) -> LogRecord:
    """The ERASED record that replaces a record. If an input read the record, the replacement keeps its origin, so that the
    input continues after it.
    """
    origin = read_note(record.note).origin
    if origin is None:
        return LogRecord(RecordKind.ERASED, record.event_id, record.arrival_us, record.channel, "", b"", b"")
    note = write_note(RecordNote(origin=msgspec.structs.replace(origin, key="", headers={})))
    return LogRecord(RecordKind.ERASED, record.event_id, record.arrival_us, record.channel, record.principal, note, b"")


def _is_of_run(body: bytes, run: bytes) -> bool:
    """Whether an event is of the run with this UUID, which may be derived from an id of another kind, and from the job."""
    try:
        event = _RUNS.decode(body)
        if parse_uuid(event.run.run_id) is not None:
            return parse_uuid(event.run.run_id) == run
        job = _JOBS.decode(event.job)
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError):
        return False
    return run_uuid(job.namespace, job.name, event.run.run_id) == run


def _names(body: bytes, namespace: str, name: str | None) -> bool:
    """Whether an event names a dataset of this name, or, without a name, anything of the namespace."""
    if any(text.encode("utf-8", "replace") not in body for text in (namespace, name or "")) and _ESCAPES not in body:
        return False
    return any(
        item.get("namespace") == namespace and (name is None or item.get("name") == name) for item in _objects(_decoded(body), name is None)
    )


def _objects(event: Any, with_jobs: bool) -> Iterator[dict[str, Any]]:  # noqa: ANN401 - JSON
    """The objects in an event, with or without those that describe jobs."""
    left = [event]
    while left:
        item = left.pop()
        if isinstance(item, dict):
            yield item
            left.extend(value for key, value in item.items() if with_jobs or key != "job")
        elif isinstance(item, list):
            left.extend(item)


def _decoded(body: bytes) -> Any:  # noqa: ANN401 - JSON
    try:
        return msgspec.json.decode(body)
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError):
        return None
