"""Routes for questions. If something is not found while the graph lags behind the log, they wait briefly, then say how far it lags."""

from collections.abc import Callable, Coroutine
from typing import Any, Final

import anyio
from anyio import to_thread
from fastapi import APIRouter, Depends, Request, Response
from fastapi.routing import APIRoute

from lineage_bridge.api import position_tokens
from lineage_bridge.api.dependencies import wait_for_position
from lineage_bridge.api.readiness import is_reached, measure_backlog, pipeline_part
from lineage_bridge.api.services import HEALTHY, Services
from lineage_bridge.errors import LogError, NotFoundError, StoreError, StoreMissingError

POLL_S: Final = 0.1


def question_router(services: Services, tag: str, prefix: str = "") -> APIRouter:
    """A router for questions, each of which can wait for a position."""
    return APIRouter(prefix=prefix, tags=[tag], dependencies=[Depends(wait_for_position(services))], route_class=question_route(services))


def question_route(services: Services) -> type[APIRoute]:
    """The class of routes that answer questions."""

    class QuestionRoute(APIRoute):
        """Asks a second time for what was not found, once the graph has caught up with the log."""

        def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
            handle = super().get_route_handler()

            async def ask(request: Request) -> Response:
                try:
                    return await handle(request)
                except (NotFoundError, StoreMissingError) as error:
                    if request.method != "GET":
                        raise
                    missing: NotFoundError | StoreMissingError = error
                if isinstance(missing, NotFoundError) and await _wait_for_backlog(services, request):
                    try:
                        return await handle(request)
                    except NotFoundError as error:
                        missing = error
                raise await to_thread.run_sync(_explain, services, missing)

            return ask

    return QuestionRoute


async def _wait_for_backlog(services: Services, request: Request) -> bool:
    """Whether the graph has caught up with the log after a short wait. Does not wait while too many others do, or nothing is folded."""
    if not await to_thread.run_sync(_is_catching_up, services) or not services.waiting_slots.acquire(blocking=False):
        return False
    try:
        end = {position_tokens.parse_stream("log/0"): services.log.end()}
        seconds = min(services.not_found_wait_s, float(request.query_params.get("wait") or services.not_found_wait_s))
        until = anyio.current_time() + seconds
        while not await to_thread.run_sync(is_reached, services, end):
            if anyio.current_time() >= until or await request.is_disconnected():
                return False
            await anyio.sleep(POLL_S)
        return True
    finally:
        services.waiting_slots.release()


def _is_catching_up(services: Services) -> bool:
    try:
        return bool(measure_backlog(services)) and pipeline_part(services).state == HEALTHY
    except (LogError, StoreError):
        return False


def _explain(services: Services, error: NotFoundError | StoreMissingError) -> Exception:
    """The error to raise: if answers lag behind the log, it also says how far."""
    try:
        backlog = measure_backlog(services)
    except (LogError, StoreError):
        return error
    if not backlog:
        return error
    hint = f"ask again in a moment; {error.hint}" if error.hint else "ask again in a moment"
    if isinstance(error, NotFoundError):
        return NotFoundError(f"{error} so far: {backlog}", hint, error.near)
    return StoreMissingError(f"there is no graph so far: {backlog}", "ask again in a moment; GET /api/v1/ready tells how each part stands")
