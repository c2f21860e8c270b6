"""Operations: whether the parts work, which version this is, taking runs out of the graph."""

from uuid import UUID

import msgspec
from anyio import to_thread
from fastapi import APIRouter, Request, Response

from lineage_bridge.api import position_tokens
from lineage_bridge.api.bodies import read_body
from lineage_bridge.api.intake import Intake
from lineage_bridge.api.openapi import answers, body_of
from lineage_bridge.api.responses import POSITION_HEADER, answer
from lineage_bridge.api.schemas.answers import (
    DiskUse,
    Erased,
    Erasure,
    ErrorAnswer,
    Health,
    Lag,
    Part,
    Parts,
    Readiness,
    Version,
)
from lineage_bridge.api.services import HEALTHY, Services
from lineage_bridge.errors import LogError, RequestError, StoreError, StoreMissingError
from lineage_bridge.ports import LOG_SOURCE

BEAT_US = 10_000_000
"""A pipeline that has not told of itself for this long counts as silent."""
MAX_RUNS = 10_000
_ERASURE = msgspec.json.Decoder(Erasure)


def routes(services: Services, intake: Intake) -> APIRouter:
    """The calls that operate the server."""
    router = APIRouter(tags=["operations"])

    @router.get("/health", response_model=None, responses=answers({200: Health}, writes=False))
    def get_health() -> Response:
        """The process is alive."""
        return answer(Health(_disk(services)))

    @router.get("/ready", response_model=None, responses=answers({200: Readiness, 503: Readiness}, writes=False))
    def get_ready() -> Response:
        """Whether intake, store and pipeline all work."""
        state = readiness(services)
        headers = {POSITION_HEADER: state.lag.applied}
        return answer(state, 200 if state.ready else 503, headers if state.ready else {**headers, "Retry-After": "1"})

    @router.get("/version", response_model=None, responses=answers({200: Version}, writes=False))
    def get_version() -> Response:
        """Which program this is."""
        return answer(Version(services.version))

    @router.post(
        "/operations/erase",
        response_model=None,
        openapi_extra=body_of(Erasure),
        responses=answers({202: Erased, 422: ErrorAnswer}),
    )
    async def post_erase(request: Request) -> Response:
        """Take runs out of every answer, by their UUIDs. What they said of themselves goes; what others said stays."""
        erasure = await to_thread.run_sync(_erasure, await read_body(request))
        position = await intake.ingest_operation(request, {"operation": "erase", "runs": erasure.runs})
        return answer(Erased(len(erasure.runs), position), 202, {POSITION_HEADER: position})

    return router


def readiness(services: Services) -> Readiness:
    """How each part stands now."""
    disk = _disk(services)
    store, applied, settling = _store(services)
    parts = Parts(_intake(services, disk), store, _pipeline(services))
    lag, gap = _lag(services, applied, settling)
    if gap is not None:
        parts = Parts(parts.intake, gap, parts.pipeline)
    ready = all(part.state == HEALTHY for part in (parts.intake, parts.store, parts.pipeline))
    return Readiness(ready, parts, lag, settling, disk)


def _intake(services: Services, disk: DiskUse) -> Part:
    state = services.log_state()
    if state != HEALTHY:
        return Part("failed", state)
    if disk.free_bytes < services.min_free_bytes:
        return Part("full", f"{disk.free_bytes} bytes are free; {services.min_free_bytes} are needed")
    return Part(HEALTHY, "events become durable")


def _store(services: Services) -> tuple[Part, position_tokens.Position, bool]:
    """How the store stands, the position it has applied, and whether it settles."""
    try:
        with services.graph() as reader:
            return Part(HEALTHY, "questions are answered"), reader.position(), reader.settling()
    except StoreMissingError as error:
        return Part("missing", str(error)), {}, False
    except StoreError as error:
        return Part("failed", str(error)), {}, False


def _pipeline(services: Services) -> Part:
    status = services.pipeline()
    if status is None:
        return Part("absent", "the pipeline has not told of itself")
    state, pid = str(status.get("state", "unknown")), int(status.get("pid") or 0)
    silent_us = services.clock_us() - int(status.get("beat_us") or 0)
    if state == "failed":
        return Part("failed", str(status.get("error") or "the pipeline gave no reason"))
    if not services.is_alive(pid):
        return Part("dead", f"process {pid} does not run any more")
    if silent_us > BEAT_US:
        return Part("silent", f"process {pid} has not told of itself for {silent_us / 1e6:.0f} s")
    return Part(HEALTHY, f"process {pid} runs") if state == "running" else Part(state, f"process {pid} is {state}")


def _lag(services: Services, applied: position_tokens.Position, settling: bool) -> tuple[Lag, Part | None]:
    """How far the store is behind; and the store's state if its position is none of this log."""
    here = applied.get((LOG_SOURCE, 0), 0)
    texts = [position_tokens.log_end(services.log.end()), position_tokens.encode(applied)]
    try:
        end = services.frames.durable_end()
        behind = services.frames.span(here, end) if here < end else 0
    except LogError as error:
        return Lag(-1, False, *texts), Part("failed", str(error))
    return Lag(behind, behind == 0 and not settling, *texts), None


def _disk(services: Services) -> DiskUse:
    disk = services.disk()
    return DiskUse(disk.used_bytes, disk.free_bytes)


def _erasure(body: bytes) -> Erasure:
    """The runs to erase, as UUIDs in their one form. Raises RequestError."""
    try:
        runs = [str(UUID(run)) for run in _ERASURE.decode(body).runs]
    except (ValueError, msgspec.DecodeError) as error:
        raise RequestError(f"no order to erase: {error}", 'Send {"runs": [UUID, ...]}.') from error
    if not 0 < len(runs) <= MAX_RUNS:
        raise RequestError(f"{len(runs)} runs cannot be erased at once; 1 to {MAX_RUNS} can")
    return Erasure(sorted(set(runs)))
