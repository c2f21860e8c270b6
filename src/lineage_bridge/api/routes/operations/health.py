"""Routes for operating the server: health, readiness, version, and erasing runs."""

from functools import partial
from uuid import UUID

import msgspec
from anyio import to_thread
from fastapi import APIRouter, Request, Response

from lineage_bridge.api.bodies import read_body
from lineage_bridge.api.dependencies import api_router
from lineage_bridge.api.guard import admission
from lineage_bridge.api.intake import Intake
from lineage_bridge.api.openapi import body_docs, response_docs
from lineage_bridge.api.readiness import disk_use, readiness
from lineage_bridge.api.responses import POSITION_HEADER, json_response
from lineage_bridge.api.schemas.names import ErrorAnswer
from lineage_bridge.api.schemas.operations import Erased, EraseRequest, Health, Readiness, Version
from lineage_bridge.api.services import Services
from lineage_bridge.errors import RequestError
from lineage_bridge.model.access import AccessScope

MAX_RUNS = 10_000
_ERASURE = msgspec.json.Decoder(EraseRequest)


def routes(services: Services, intake: Intake) -> APIRouter:
    """The routes for health, readiness, version and erasing."""
    router = api_router("operations")

    @router.get("/health", response_model=None, responses=response_docs({200: Health}, writes=False))
    async def get_health(request: Request) -> Response:
        """Whether the process answers. Needs no key."""
        may_read = AccessScope.READ in admission(request).principal.scopes
        if not may_read:
            return json_response(Health())
        return json_response(Health(await to_thread.run_sync(disk_use, services, limiter=services.health_threads)))

    @router.get("/ready", response_model=None, responses=response_docs({200: Readiness, 503: Readiness}, writes=False))
    async def get_ready(request: Request) -> Response:
        """Whether intake, store and pipeline work, and how far answers lag behind the log."""
        asked = partial(readiness, services, names_inputs=admission(request).principal.visibility is None)
        state = await to_thread.run_sync(asked, limiter=services.ready_threads)
        headers = {POSITION_HEADER: state.lag.applied}
        return json_response(state, 200 if state.ready else 503, headers if state.ready else {**headers, "Retry-After": "1"})

    @router.get("/version", response_model=None, responses=response_docs({200: Version}, writes=False))
    def get_version() -> Response:
        """The program and its version."""
        return json_response(Version(services.version))

    @router.post(
        "/operations/erase",
        response_model=None,
        openapi_extra=body_docs(EraseRequest),
        responses=response_docs({202: Erased, 422: ErrorAnswer}),
    )
    async def post_erase(request: Request) -> Response:
        """Erase runs from every answer, by their UUIDs. Facts that only these runs stated are removed."""
        erasure = await to_thread.run_sync(_parse_erase_request, await read_body(request))
        position = await intake.ingest_operation(request, {"operation": "erase", "runs": erasure.runs})
        return json_response(Erased(len(erasure.runs), position), 202, {POSITION_HEADER: position})

    return router


def _parse_erase_request(body: bytes) -> EraseRequest:
    """Parse the ids of the runs to erase, as sorted canonical UUIDs. Raises RequestError."""
    try:
        runs = [str(UUID(run)) for run in _ERASURE.decode(body).runs]
    except (ValueError, msgspec.DecodeError) as error:
        raise RequestError(f"invalid request: {error}", 'send {"runs": [UUID, ...]}') from error
    if not 0 < len(runs) <= MAX_RUNS:
        raise RequestError(f"a request cannot erase {len(runs)} runs", f"send 1 to {MAX_RUNS} runs")
    return EraseRequest(sorted(set(runs)))
