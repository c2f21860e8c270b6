"""Answers each question in the lane of its cost, and only while its client is connected.

If a question finds nothing while events are not in the graph yet, the server waits a moment and asks it again. If nothing is found then
either, the error states the lag.
"""

import asyncio
import logging
from collections.abc import Callable, Coroutine
from enum import Enum, auto
from functools import cached_property
from typing import Any, Final

import anyio
from anyio import to_thread
from fastapi import APIRouter, Depends, Request, Response
from starlette.types import Message, Receive, Scope, Send

from lineage_bridge.api import position_tokens
from lineage_bridge.api.answering.deferred_route import DeferredRoute
from lineage_bridge.api.answering.direct_route import DirectRoute, direct_route
from lineage_bridge.api.answering.frames import WRITTEN
from lineage_bridge.api.answering.lanes import COSTS, CURRENT_TURN, Cost, Turn
from lineage_bridge.api.dependencies import PREFIX, api_router, wait_for_position
from lineage_bridge.api.limits.callers import caller_in
from lineage_bridge.api.readiness import is_reached, measure_backlog, measure_progress, pipeline_part
from lineage_bridge.api.services import HEALTHY, Services
from lineage_bridge.errors import LogError, NotFoundError, StoreError, StoreMissingError

POLL_S: Final = 0.1
READ_RATE: Final = 32 << 10
"""The minimum speed, in bytes per second, at which a client has to read an answer."""
_log = logging.getLogger(__name__)


def question_router(services: Services, tag: str, prefix: str = "") -> APIRouter:
    """Create a router for questions. Each of them can wait until the graph has reached a position."""
    waiting = wait_for_position(services)
    return api_router(tag, prefix, dependencies=[Depends(waiting)], route_class=question_route(services, waiting))


Handler = Callable[[Request], Coroutine[Any, Any, Response]]


def question_route(services: Services, waiting: Callable[..., Any] | None = None) -> type[DeferredRoute]:
    """Make the class of routes that answer questions. `waiting` is the dependency by which questions wait for a position."""

    class QuestionRoute(DeferredRoute):
        """A route whose questions are answered in the lane of their cost. A question that found nothing is asked again once the
        graph has caught up with the log.
        """

        def __init__(self, path: str, endpoint: Callable[..., Any], **options: Any) -> None:  # noqa: ANN401 - FastAPI's own options
            cost = COSTS.get(path.removeprefix(PREFIX), Cost.LIGHT)

            async def take_slot() -> None:
                turn = CURRENT_TURN.get()
                if turn is not None and turn.lane is None:
                    await turn.begin(cost)

            # The slot is taken after the other dependencies, so that a question which waits for a position takes none.
            options["dependencies"] = [*(options.get("dependencies") or ()), Depends(take_slot)]
            super().__init__(path, endpoint, **options)
            self._take_slot = take_slot

        async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:
            if scope["method"] != "GET":
                await super().handle(scope, receive, send)
                return
            await answer_question(services, services.questions or self._answer, scope, receive, send)

        async def _answer(self, scope: Scope, receive: Receive, send: Send) -> None:
            """Answer a question of this process, if possible without FastAPI."""
            if self._direct is None or not self._direct[0].parse(scope):
                await super().handle(scope, receive, send)
                return
            response = await self._direct[1](Request(scope, receive))
            await response(scope, receive, send)

        @cached_property
        def _direct(self) -> tuple[DirectRoute, Handler] | None:
            direct = direct_route(self, self._take_slot, waiting)
            return (direct, _asking_twice(services, direct.answer)) if direct else None

        def get_route_handler(self) -> Handler:
            return _asking_twice(services, super().get_route_handler())

    return QuestionRoute


def _asking_twice(services: Services, handle: Handler) -> Handler:
    """Wrap `handle` so that a question which found nothing is asked again once the graph has caught up with the log.

    It is asked again even if no events wait any more, because the last events may have been applied after the first answer was read. It is
    not asked again if the graph was complete before the first answer, and has the same position now.
    """
    complete: position_tokens.Position | None = None

    async def ask(request: Request) -> Response:
        nonlocal complete
        before = complete
        try:
            return await handle(request)
        except (NotFoundError, StoreMissingError) as error:
            if request.method != "GET":
                raise
            missing: NotFoundError | StoreMissingError = error
        turn = CURRENT_TURN.get()
        if turn is not None:
            turn.end()
        if not isinstance(missing, NotFoundError):
            raise await to_thread.run_sync(_explain, services, missing, request.scope, limiter=services.waiting_threads)
        state, position = await to_thread.run_sync(_catching_up, services, request.scope, limiter=services.waiting_threads)
        if state is CatchingUp.DONE:
            complete = position
            if position == before:
                raise missing
        if state is CatchingUp.DONE or (state is CatchingUp.RUNNING and await _wait_for_backlog(services, request)):
            try:
                return await handle(request)
            except NotFoundError as error:
                missing = error
        raise await to_thread.run_sync(_explain, services, missing, request.scope, limiter=services.waiting_threads)

    return ask


Answer = Callable[[Scope, Receive, Send], Coroutine[Any, Any, None]]


async def answer_question(services: Services, answer: Answer, scope: Scope, receive: Receive, send: Send) -> None:
    """Answer a question. Stop when its client disconnects, or reads nothing for too long."""
    turn, gone, asking = Turn(services.lanes, caller_in(scope)), asyncio.Event(), anyio.CancelScope()

    def give_up() -> None:
        turn.abandon()
        gone.set()
        asking.cancel()

    token = CURRENT_TURN.set(turn)
    watching = asyncio.create_task(_watch(receive, give_up))
    try:
        with asking:
            await answer(scope, _after_disconnect(gone), _within(services.send_timeout_s, send, give_up))
    except Exception:  # whatever an abandoned question raises is of no use to anybody
        if not turn.is_abandoned:
            raise
    finally:
        CURRENT_TURN.reset(token)
        turn.end()
        watching.cancel()
        # What it waits for may be needed by the next question of the connection.
        await asyncio.wait([watching])
    if turn.is_abandoned:
        _log.debug("the client that asked %s closed the connection before the answer", scope["path"])


async def _watch(receive: Receive, give_up: Callable[[], None]) -> None:
    """Call `give_up` when the client disconnects."""
    while (await receive())["type"] != "http.disconnect":
        pass
    give_up()


def _after_disconnect(gone: asyncio.Event) -> Receive:
    """The ASGI messages that a question receives: an empty body, then, when `gone` is set, the disconnect of its client."""
    messages: list[Message] = [{"type": "http.request", "body": b"", "more_body": False}]

    async def receive() -> Message:
        if messages:
            return messages.pop()
        await gone.wait()
        return {"type": "http.disconnect"}

    return receive


def _within(seconds: float, send: Send, give_up: Callable[[], None]) -> Send:
    """Wrap `send` so that it calls `give_up` if the client reads nothing for some seconds, or on average more slowly than READ_RATE."""
    left, loop = seconds, asyncio.get_running_loop()

    async def send_in_time(message: Message) -> None:
        nonlocal left
        began = loop.time()
        timeout = loop.call_later(left, give_up)
        try:
            await send(message)
        finally:
            timeout.cancel()
        left = min(seconds, left - (loop.time() - began) + len(message.get("body", b"")) / READ_RATE)

    return send_in_time


async def _wait_for_backlog(services: Services, request: Request) -> bool:
    """Wait a moment, and return whether the graph has caught up with the log. Does not wait if too many questions already wait."""
    if not services.waiting_slots.acquire(blocking=False):
        return False
    try:
        end = _all_written(services, request.scope)
        seconds = min(services.not_found_wait_s, float(request.query_params.get("wait") or services.not_found_wait_s))
        until = anyio.current_time() + seconds
        while not await to_thread.run_sync(is_reached, services, end, limiter=services.waiting_threads):
            if anyio.current_time() >= until or await request.is_disconnected():
                return False
            await anyio.sleep(POLL_S)
        return True
    finally:
        services.waiting_slots.release()


def _written_elsewhere(scope: Scope) -> position_tokens.Position:
    """The position token of the events that the API's process has written to a topic, as sent along with the question."""
    token = scope.get("state", {}).get(WRITTEN, "")
    return position_tokens.decode(token) if token else {}


def _all_written(services: Services, scope: Scope) -> position_tokens.Position:
    return {**services.written(), **_written_elsewhere(scope)}


class CatchingUp(Enum):
    """Whether events are still on their way from the log into the graph."""

    DONE = auto()
    RUNNING = auto()
    STOPPED = auto()


def _catching_up(services: Services, scope: Scope) -> tuple[CatchingUp, position_tokens.Position]:
    """Whether events are on their way, and the position that the graph has applied."""
    try:
        position, backlog = measure_progress(services, _all_written(services, scope))
        if not backlog:
            return CatchingUp.DONE, position
        return (CatchingUp.RUNNING if pipeline_part(services).state == HEALTHY else CatchingUp.STOPPED), position
    except (LogError, StoreError):
        return CatchingUp.STOPPED, {}


def _explain(services: Services, error: NotFoundError | StoreMissingError, scope: Scope) -> Exception:
    """Make the error that is sent as the answer. If answers lag behind the log, its message also states how far."""
    try:
        backlog = measure_backlog(services, _all_written(services, scope))
    except (LogError, StoreError):
        return error
    if not backlog:
        return error
    hint = f"ask again in a moment; {error.hint}" if error.hint else "ask again in a moment"
    if isinstance(error, NotFoundError):
        return NotFoundError(f"{error} yet: {backlog}", hint, error.near)
    return StoreMissingError(f"there is no graph yet: {backlog}", "ask again in a moment; GET /api/v1/ready reports the state of each part")
