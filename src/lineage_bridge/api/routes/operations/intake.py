"""Intake: events become durable before they are answered for."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass

import msgspec
from anyio import to_thread
from fastapi import APIRouter, Request, Response
from msgspec import UNSET

from lineage_bridge.api import position_tokens
from lineage_bridge.api.bodies import SAMPLE_BYTES, Body, Pieces, cut, receive
from lineage_bridge.api.openapi import EVENTS_BODY, answers
from lineage_bridge.api.responses import POSITION_HEADER, answer
from lineage_bridge.api.schemas.answers import (
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
from lineage_bridge.graph.ids import event_id
from lineage_bridge.graph.log_record import FrameKind
from lineage_bridge.openlineage.redaction import mask
from lineage_bridge.openlineage.verdict import HTTP_STATUS, Rejected, Repaired, Verdict, judge
from lineage_bridge.ports import Frame

CHANNEL = "http"
STATUS = {**HTTP_STATUS, "too_many": 413}
"""Code of a rejection -> status of the answer to a request that holds nothing else."""
_WHOLE_BODY = frozenset({"not_json", "too_large", "too_many"})
_NOTE_CHARACTERS = 2000


@dataclass(frozen=True)
class Judged:
    """An event with its verdict and the frame that keeps it."""

    verdict: Verdict
    frame: Frame

    @property
    def id(self) -> str:
        """The event's id on the wire."""
        return self.frame.event_id.hex()


@dataclass(frozen=True)
class Receipt:
    """Events that are durable. `single`: the request held one event by itself, or was refused as a whole."""

    events: list[Judged]
    single: bool
    position: str

    @property
    def accepted(self) -> int:
        """How many are used."""
        return sum(not isinstance(event.verdict, Rejected) for event in self.events)

    @property
    def refused_whole(self) -> bool:
        """Whether not even single events could be told in the body."""
        verdict = self.events[0].verdict if self.single else None
        return isinstance(verdict, Rejected) and verdict.code in _WHOLE_BODY


class Intake:
    """Takes events in: what it answers for is durable."""

    def __init__(self, services: Services) -> None:
        self.services = services

    async def take(self, request: Request) -> Receipt:
        """Receive, judge and store what a request holds. Raises UnavailableError, LogFullError, LogError, RefusedError."""
        body = await receive(request, self.services.max_body_bytes)
        if body.work > self.services.thread_bytes:
            single, events = await to_thread.run_sync(self.judged, body)
        else:
            single, events = self.judged(body)
        return Receipt(events, single, await self.store([event.frame for event in events]))

    async def lineage(self, request: Request) -> Response:
        """Take in one event, an array, an object with `events`, or lines of JSON; plain or gzip."""
        receipt = await self.take(request)
        return one_answer(receipt) if receipt.single else many_answer(receipt)

    def judged(self, body: Body) -> tuple[bool, list[Judged]]:
        """The events of a body with their verdicts, and whether it is one event by itself."""
        pieces = cut(body, self.services.max_events)
        return pieces.single, list(_judge_all(pieces, self.services.clock_us()))

    async def store(self, frames: Sequence[Frame]) -> str:
        """The position behind frames that are now durable. Raises as `take` does."""
        places = await asyncio.wrap_future(self.services.log.submit(frames))
        return position_tokens.behind(places[-1]) if places else position_tokens.log_end(self.services.log.end())


def judge_one(raw: bytes, arrival_us: int, channel: str = CHANNEL) -> Judged:
    """The verdict on an event's bytes, and the frame that keeps them, with known secrets masked."""
    masked = mask(raw)
    verdict = judge(masked, arrival_us)
    if isinstance(verdict, Rejected):
        kept = masked[:SAMPLE_BYTES] if verdict.code == "too_large" else masked
        return _kept_aside(kept, verdict, arrival_us, channel)
    return Judged(verdict, Frame(FrameKind.EVENT, event_id(masked), arrival_us, channel, "", b"", masked))


def _judge_all(pieces: Pieces, arrival_us: int) -> list[Judged]:
    if pieces.problem is not None:
        return [_kept_aside(mask(pieces.events[0]), pieces.problem, arrival_us, CHANNEL)]
    return [judge_one(raw, arrival_us) for raw in pieces.events]


def _kept_aside(body: bytes, verdict: Rejected, arrival_us: int, channel: str) -> Judged:
    reason = {"code": verdict.code, "path": verdict.path, "message": verdict.message}
    note = msgspec.json.encode({name: text[:_NOTE_CHARACTERS] for name, text in reason.items()})
    return Judged(verdict, Frame(FrameKind.REJECTED, event_id(body), arrival_us, channel, "", note, body))


# wire forms of a receipt


def one_answer(receipt: Receipt) -> Response:
    """The outcome of one event."""
    event, headers = receipt.events[0], {POSITION_HEADER: receipt.position}
    verdict = event.verdict
    if isinstance(verdict, Rejected):
        said = RejectedAnswer(event.id, receipt.position, verdict.code, verdict.path, verdict.message)
        return answer(said, STATUS[verdict.code], headers)
    repairs = verdict.repairs if isinstance(verdict, Repaired) else ()
    return answer(Accepted(event.id, receipt.position, repairs), 201, headers)


def many_answer(receipt: Receipt, *, stored: bool = False) -> Response:
    """The outcome of each of several events."""
    accepted = receipt.accepted
    counts = (accepted, len(receipt.events) - accepted, receipt.position, list(_outcomes(receipt.events)))
    said = Stored(*counts, events_stored=accepted) if stored else Outcomes(*counts)
    return answer(said, 201 if accepted or not receipt.events else 422, {POSITION_HEADER: receipt.position})


def batch_answer(receipt: Receipt) -> Response:
    """The standard's answer to a batch."""
    received, accepted = len(receipt.events), receipt.accepted
    failed = [
        FailedEvent(index, f"{verdict.code} at {verdict.path}: {verdict.message}", False)
        for index, verdict in enumerate(event.verdict for event in receipt.events)
        if isinstance(verdict, Rejected)
    ]
    summary = BatchSummary(received, accepted, len(failed), 0, len(failed))
    status: BatchStatus = "success" if not failed else "partial_success" if accepted else "failure"
    return answer(BatchAnswer(status, summary, failed, receipt.position), 200, {POSITION_HEADER: receipt.position})


def _outcomes(events: Sequence[Judged]) -> list[EventOutcome]:
    outcomes = []
    for index, event in enumerate(events):
        verdict = event.verdict
        if isinstance(verdict, Rejected):
            said = (verdict.code, verdict.path, verdict.message)
            outcomes.append(EventOutcome(index, "rejected", event.id, UNSET, *said))
        elif isinstance(verdict, Repaired):
            outcomes.append(EventOutcome(index, "accepted", event.id, verdict.repairs))
        else:
            outcomes.append(EventOutcome(index, "accepted", event.id))
    return outcomes


def routes(intake: Intake) -> APIRouter:
    """The calls that bring events. A slash at the end is taken, too: not every producer sends its body again after a redirect."""
    router = APIRouter(tags=["intake"])
    refused = {400: RejectedAnswer, 413: RejectedAnswer}

    @router.post("/lineage/", response_model=None, include_in_schema=False)
    @router.post(
        "/lineage",
        response_model=None,
        openapi_extra=EVENTS_BODY,
        responses=answers({201: (Accepted, Outcomes), 422: (RejectedAnswer, Outcomes), **refused}),
    )
    async def post_lineage(request: Request) -> Response:
        """Take in one event, an array, an object with `events`, or lines of JSON; plain or gzip."""
        return await intake.lineage(request)

    @router.post("/lineage/batch/", response_model=None, include_in_schema=False)
    @router.post(
        "/lineage/batch",
        response_model=None,
        openapi_extra=EVENTS_BODY,
        responses=answers({200: BatchAnswer, **refused}),
    )
    async def post_batch(request: Request) -> Response:
        """The standard's batch call: an array of events."""
        receipt = await intake.take(request)
        return one_answer(receipt) if receipt.refused_whole else batch_answer(receipt)

    @router.post("/lineage/events/", response_model=None, include_in_schema=False)
    @router.post(
        "/lineage/events",
        response_model=None,
        openapi_extra=EVENTS_BODY,
        responses=answers({201: Stored, 422: Stored, **refused}),
    )
    async def post_events(request: Request) -> Response:
        """Take in an array of events, or one."""
        receipt = await intake.take(request)
        return one_answer(receipt) if receipt.refused_whole else many_answer(receipt, stored=True)

    return router
