"""Routes for rejected events in quarantine: list them, read one, and validate it again."""

from collections.abc import Sequence
from contextlib import suppress
from functools import partial
from itertools import accumulate
from typing import Annotated

import msgspec
from fastapi import APIRouter, Depends, Query, Request, Response

from lineage_bridge.api import position_tokens, serialization
from lineage_bridge.api.answering.question_route import question_route
from lineage_bridge.api.dependencies import Offset, api_router, page, position_header, wait_for_position
from lineage_bridge.api.intake import Intake, one_answer, sender
from lineage_bridge.api.limits.callers import caller_in
from lineage_bridge.api.openapi import response_docs
from lineage_bridge.api.responses import json_response
from lineage_bridge.api.schemas.intake import Accepted, QuarantineAnswer, RejectedAnswer
from lineage_bridge.api.schemas.names import ErrorAnswer
from lineage_bridge.api.services import Services
from lineage_bridge.errors import NotFoundError, OffsetError, RecordError
from lineage_bridge.graph.log_record import RETRY, LogRecord, RecordKind, read_note
from lineage_bridge.ingest.event_sender import EventSender, sender_of
from lineage_bridge.ingest.ingest import Ingested, Sender, ingest
from lineage_bridge.ingest.payload import SplitPayload
from lineage_bridge.model.events import QuarantineRecord
from lineage_bridge.openlineage.verdict import Rejected

MAX_READ_BYTES = 8 * 1024 * 1024
"""The maximum bytes of rejected events that one answer reads to find their jobs and producers."""
Limit = Annotated[int, Query(ge=1, le=1000)]


def routes(services: Services, intake: Intake) -> APIRouter:
    """Build the router with the routes for the quarantine."""
    router = api_router("quarantine", "/quarantine", route_class=question_route(services))

    @router.get(
        "",
        response_model=None,
        dependencies=[Depends(wait_for_position(services))],
        responses=response_docs({200: QuarantineAnswer}, writes=False),
    )
    def get_quarantine(
        request: Request,
        code: Annotated[str | None, Query(description="Only events rejected for this reason")] = None,
        limit: Limit = 100,
        offset: Offset = 0,
    ) -> Response:
        """Rejected events, newest first, and how many there are for each reason."""
        with services.graph() as reader:
            records, link = page(request, reader.events.quarantine(code, limit + 1, offset), limit, offset)
            senders = _senders(services, records)
            items = [serialization.quarantine_item(record, senders.get(record.event, EventSender())) for record in records]
            counts = reader.events.quarantine_counts()
            position = position_tokens.encode(reader.progress.position())
            answer = QuarantineAnswer(items, counts.by_code, counts.truncated, position)
            return json_response(answer, headers={**link, **position_header(reader.progress)})

    @router.get(
        "/{event_id}/body",
        response_model=None,
        dependencies=[Depends(wait_for_position(services))],
        responses={
            **response_docs({404: ErrorAnswer}, writes=False),
            200: {"description": "The stored bytes of the event", "content": {"application/octet-stream": {}}},
        },
    )
    def get_body(event_id: str) -> Response:
        """The bytes of a rejected event as they were sent, except that known secrets are masked."""
        headers = {"Content-Disposition": "attachment"}
        return Response(_quarantined_record(services, event_id).body, headers=headers, media_type="application/octet-stream")

    @router.post(
        "/{event_id}/retry",
        response_model=None,
        responses=response_docs({201: Accepted, 404: ErrorAnswer, 422: RejectedAnswer}),
    )
    async def post_retry(request: Request, event_id: str) -> Response:
        """Validate a rejected event again. If it is valid now, it is ingested; otherwise nothing changes.

        For an event that an input read, the current setting `jobs` of the input applies. If no event could be read from a record of an
        input, the record is split into events again, in the way in which inputs now read records: all of its events have to be valid, and
        the answer is about the first one.
        """

        def ingest_again() -> Ingested:
            return _ingest_again(services, _quarantined_record(services, event_id), sender(request, RETRY))

        receipt = await intake.ingest_in_thread(ingest_again, caller_in(request.scope))
        for event in receipt.ingested.events:
            if isinstance(verdict := event.verdict, Rejected):
                return json_response(RejectedAnswer(event.id, receipt.position, verdict.code, verdict.path, verdict.message), 422)
        return one_answer(receipt)

    return router


def _ingest_again(services: Services, record: LogRecord, by: Sender) -> Ingested:
    """Ingest an event from quarantine once more, or the events in a record of an input.

    A record is removed from quarantine only after all of its events are durable. Otherwise, a crash in between could lose some of them.
    """
    note = read_note(record.note)
    by = by._replace(first=msgspec.structs.replace(note, sender=note.sender or record.principal))

    def ingest_all(items: Sequence[bytes], by: Sender) -> Ingested:
        now_us, limits = services.clock_us(), services.record_limits()
        payload = SplitPayload(items, single=len(items) == 1)
        return ingest(payload, by, services.log, now_us, key=services.key, all_or_nothing=True, limits=limits)

    if not note.origin:
        return ingest_all([record.body], by)
    by = by._replace(left_out=partial(services.inputs.left_out, note.origin.input))
    items = services.inputs.events_in(record.body) if note.whole else [record.body]
    if items == [record.body]:
        return ingest_all(items, by)
    by = by._replace(origin=note.origin)
    ingested = ingest_all(items, by)
    if ingested.accepted < len(items):
        return ingested
    ingested.offsets.result()
    return ingest_all(items, by._replace(releases=record.event_id))


def _senders(services: Services, records: Sequence[QuarantineRecord]) -> dict[bytes, EventSender]:
    """The senders of records, by event id. Records that the log no longer has are left out, and so are all records after the first
    MAX_READ_BYTES.
    """
    found: dict[bytes, EventSender] = {}
    sizes = accumulate(record.size for record in records)
    for record, size in zip(records, sizes, strict=True):
        if size > MAX_READ_BYTES:
            break
        with suppress(RecordError, OffsetError):
            found[record.event] = sender_of(services.records.record_at(record.address).body)
    return found


def _quarantined_record(services: Services, event_id: str) -> LogRecord:
    """Find a log record that is in quarantine. Raises NotFoundError."""
    missing = NotFoundError(f"the quarantine has no event {event_id!r}", "GET /api/v1/quarantine lists the events in quarantine")
    try:
        event = bytes.fromhex(event_id)
    except ValueError:
        raise missing from None
    with services.graph() as reader:
        found = reader.events.quarantine(None, 1, 0, event)
    record = services.records.record_at(found[0].address) if found else None
    if record is None or record.kind not in (RecordKind.EVENT, RecordKind.REJECTED):
        raise missing
    return record
