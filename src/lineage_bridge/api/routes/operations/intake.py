"""The routes that accept events."""

from fastapi import APIRouter, Request, Response

from lineage_bridge.api.dependencies import api_router
from lineage_bridge.api.intake import Intake, batch_answer, many_answer, one_answer
from lineage_bridge.api.openapi import EVENTS_BODY, response_docs
from lineage_bridge.api.schemas.intake import Accepted, BatchAnswer, Outcomes, RejectedAnswer, Stored
from lineage_bridge.api.schemas.names import ErrorAnswer


def routes(intake: Intake) -> APIRouter:
    """The routes that accept events. They also match with a trailing slash: not every producer repeats its body after a redirect."""
    router = api_router("intake")
    refused = {400: RejectedAnswer, 403: RejectedAnswer, 413: RejectedAnswer, 415: ErrorAnswer}

    @router.post("/lineage/", response_model=None, include_in_schema=False)
    @router.post(
        "/lineage",
        response_model=None,
        openapi_extra=EVENTS_BODY,
        responses=response_docs({201: (Accepted, Outcomes), 422: (RejectedAnswer, Outcomes), **refused}),
    )
    async def post_lineage(request: Request) -> Response:
        """Ingest one event, an array, an object with `events`, or lines of JSON; plain or gzip."""
        return await intake.post_lineage(request)

    @router.post("/lineage/batch/", response_model=None, include_in_schema=False)
    @router.post(
        "/lineage/batch",
        response_model=None,
        openapi_extra=EVENTS_BODY,
        responses=response_docs({200: BatchAnswer, **refused}),
    )
    async def post_batch(request: Request) -> Response:
        """The standard's batch call: an array of events."""
        receipt = await intake.ingest_request(request)
        return one_answer(receipt) if receipt.ingested.is_refused_whole else batch_answer(receipt)

    @router.post("/lineage/events/", response_model=None, include_in_schema=False)
    @router.post(
        "/lineage/events",
        response_model=None,
        openapi_extra=EVENTS_BODY,
        responses=response_docs({201: Stored, 422: Stored, **refused}),
    )
    async def post_events(request: Request) -> Response:
        """Ingest an array of events, or one event."""
        receipt = await intake.ingest_request(request)
        return one_answer(receipt) if receipt.ingested.is_refused_whole else many_answer(receipt, stored=True)

    return router
