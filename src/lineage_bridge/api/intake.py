"""Ingests the events of requests, and answers once they are durable."""

import asyncio
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass
from typing import Any, TypeVar

import msgspec
from anyio import to_thread
from fastapi import Request, Response
from msgspec import UNSET

from lineage_bridge.api import position_tokens
from lineage_bridge.api.bodies import read_payload
from lineage_bridge.api.guard import admission
from lineage_bridge.api.limits.callers import Caller, caller_in
from lineage_bridge.api.responses import POSITION_HEADER, json_response
from lineage_bridge.api.schemas.intake import (
    Accepted,
    BatchAnswer,
    BatchStatus,
    BatchSummary,
    EventOutcome,
    FailedEvent,
    Outcomes,
    RejectedAnswer,
    Stored,
)
from lineage_bridge.api.services import Services
from lineage_bridge.graph.log_record import RecordAddress
from lineage_bridge.ingest.ingest import FOREIGN_NAMESPACE, Ingested, JudgedEvent, Sender, ingest, ingest_operation
from lineage_bridge.ingest.own_publication import OWN_PUBLICATION
from lineage_bridge.openlineage.verdict import HTTP_STATUS, Rejected, Repaired
from lineage_bridge.ports.log import Written
from lineage_bridge.tracing import span

CHANNEL = "http"
_Done = TypeVar("_Done")
STATUS = {**HTTP_STATUS, "too_many": 413, "too_costly": 422, FOREIGN_NAMESPACE: 403, OWN_PUBLICATION: 409}
"""The HTTP status for each code of a rejection. It is sent if the request contains nothing but the rejected event."""


@dataclass(frozen=True)
class Receipt:
    """The result of ingesting a request: the events, whose records are durable, and the position that the graph has once it has applied
    them.
    """

    ingested: Ingested
    position: str


class Intake:
    """Ingests the events and operations in requests, and waits until they are durable."""

    def __init__(self, services: Services) -> None:
        self.services = services

    async def ingest_request(self, request: Request) -> Receipt:
        """Ingest the events in a request's body. Raises UnavailableError, LogFullError, LogError, RefusedError."""
        payload = await read_payload(request, self.services)

        def ingest_payload() -> Ingested:
            with span("judge events") as judging:
                ingested = ingest(
                    payload,
                    sender(request),
                    self.services.log,
                    self.services.clock_us(),
                    key=self.services.key,
                    limits=self.services.record_limits(),
                )
                judging.set({"lineage_bridge.events": len(ingested.events), "lineage_bridge.accepted": ingested.accepted})
            return ingested

        if payload.estimated_bytes > self.services.thread_bytes:
            ingested = await self.in_thread(ingest_payload, caller_in(request.scope))
        else:
            ingested = ingest_payload()
        if payload.compressed:
            self._count_unpacked(ingested, len(payload.data), caller_in(request.scope))
        return await self._receipt(ingested)

    async def ingest_in_thread(self, ingest_events: Callable[[], Ingested], caller: Caller) -> Receipt:
        """Run a function that ingests events in a thread, and return its receipt. Raises the function's errors, LogFullError, LogError."""
        return await self._receipt(await self.in_thread(ingest_events, caller))

    async def in_thread(self, work: Callable[[], _Done], caller: Caller) -> _Done:
        """Run a function in one of the threads for ingest, which callers take in turns. Returns its result, and raises its errors."""
        async with self.services.ingest_slots.slot(caller):
            return await to_thread.run_sync(work, limiter=self.services.ingest_threads)

    def _count_unpacked(self, ingested: Ingested, received: int, caller: Caller) -> None:
        """Count, for the caller's rate, the bytes that decompression has added to the received body."""
        unpacked = sum(len(event.record.body) for event in ingested.events)
        self.services.rates.count_bytes(caller, max(0, unpacked - received), self.services.clock_us())

    async def ingest_operation(self, request: Request, operation: object) -> str:
        """Append an operator's statement to the log, and return the position after it. Raises UnavailableError, LogFullError, LogError."""
        text = msgspec.json.encode(operation)
        return await self._durable(ingest_operation(text, sender(request), self.services.log, self.services.clock_us()))

    async def post_lineage(self, request: Request) -> Response:
        """Answer a request that sends one event, an array, an object with `events`, or lines of JSON; plain or compressed."""
        receipt = await self.ingest_request(request)
        return one_answer(receipt) if receipt.ingested.single else many_answer(receipt)

    async def _receipt(self, ingested: Ingested) -> Receipt:
        position = await self._durable(ingested.offsets)
        self.services.counters.count_events(ingested)
        return Receipt(ingested, position)

    async def _durable(self, offsets: Written) -> str:
        """Wait until records are durable, and return the position after them."""
        durable: Future[Any] = offsets
        with span("wait for the log"):
            written: list[int] | list[RecordAddress] = await asyncio.wrap_future(durable)
        return position_tokens.encode_behind(written) if written else position_tokens.encode(self.services.written())


def sender(request: Request, channel: str = CHANNEL) -> Sender:
    """The sender of a request, in the form that log records have."""
    return Sender(channel, admission(request).principal)


# answers


def one_answer(receipt: Receipt) -> Response:
    """Make the answer about a single event."""
    event, headers = receipt.ingested.events[0], {POSITION_HEADER: receipt.position}
    verdict = event.verdict
    if isinstance(verdict, Rejected):
        rejected = RejectedAnswer(event.id, receipt.position, verdict.code, verdict.path, verdict.message)
        return json_response(rejected, STATUS[verdict.code], headers)
    repairs = verdict.repairs if isinstance(verdict, Repaired) else ()
    return json_response(Accepted(event.id, receipt.position, repairs), 201, headers)


def many_answer(receipt: Receipt, *, stored: bool = False) -> Response:
    """Make the answer about several events."""
    events, accepted = receipt.ingested.events, receipt.ingested.accepted
    counts = (accepted, len(events) - accepted, receipt.position, list(map(_outcome, range(len(events)), events)))
    outcomes = Stored(*counts, events_stored=accepted) if stored else Outcomes(*counts)
    return json_response(outcomes, 201 if accepted or not events else 422, {POSITION_HEADER: receipt.position})


def batch_answer(receipt: Receipt) -> Response:
    """Make the answer about a batch, in OpenLineage's format."""
    events, accepted = receipt.ingested.events, receipt.ingested.accepted
    failed = [
        FailedEvent(index, f"{verdict.code} at {verdict.path}: {verdict.message}", False)
        for index, verdict in enumerate(event.verdict for event in events)
        if isinstance(verdict, Rejected)
    ]
    summary = BatchSummary(len(events), accepted, len(failed), 0, len(failed))
    status: BatchStatus = "success" if not failed else "partial_success" if accepted else "failure"
    return json_response(BatchAnswer(status, summary, failed, receipt.position), 200, {POSITION_HEADER: receipt.position})


def _outcome(index: int, event: JudgedEvent) -> EventOutcome:
    verdict = event.verdict
    if isinstance(verdict, Rejected):
        return EventOutcome(index, "rejected", event.id, UNSET, verdict.code, verdict.path, verdict.message)
    if isinstance(verdict, Repaired):
        return EventOutcome(index, "accepted", event.id, verdict.repairs)
    return EventOutcome(index, "accepted", event.id)
