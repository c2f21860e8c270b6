"""The route that pushes the pulse, as server-sent events."""

from collections.abc import AsyncIterator, Callable
from typing import Annotated, Final
from urllib.parse import urlencode

import anyio
import msgspec
from fastapi import APIRouter, Query, Request, Response
from starlette.responses import StreamingResponse
from starlette.types import Receive, Scope, Send

from lineage_bridge.api.answering.followed_rates import Pulses, RatesFollower, RatesProblem, RatesQuestion, event, late
from lineage_bridge.api.answering.lanes import Cost
from lineage_bridge.api.answering.visibility import CURRENT_VISIBILITY
from lineage_bridge.api.dependencies import PREFIX, Style, api_router
from lineage_bridge.api.guard import Admission, admission
from lineage_bridge.api.limits.callers import caller_in
from lineage_bridge.api.openapi import event_stream_docs
from lineage_bridge.api.responses import EVENT_STREAM
from lineage_bridge.api.routes.page.rates import PULSE, Datasets, Depth, RootName, RootNamespace, WindowS, dataset_ids
from lineage_bridge.api.routes.questions.neighbourhood import Direction, Kind
from lineage_bridge.api.schemas.statistics import EndCode, PulseChange, PulseStreamEnd
from lineage_bridge.api.services import Services
from lineage_bridge.errors import RefusedError

FIRST_S: Final = 30.0
"""How long a client waits for its first event at most, in seconds."""
LONGEST_S: Final = 3600
_RETRY: Final = b"retry: 2000\n\n"
"""How long a browser's EventSource waits before it connects again, in milliseconds."""
_BEAT: Final = b":\n\n"
"""A comment, by which client and proxies see that the connection is alive."""
_HEADERS: Final = {"Cache-Control": "no-store, no-transform", "X-Accel-Buffering": "no"}
ForS = Annotated[int, Query(ge=0, le=LONGEST_S, description="How many seconds the stream lasts at most; 0: until its first event")]


def routes(services: Services, pulses: Pulses) -> APIRouter:
    """The route for the stream of a pulse. `pulses` asks the questions of all streams."""
    router, lane = api_router("graph"), services.lanes[Cost.STREAMING]

    @router.get(f"{PULSE}/stream", response_model=None, responses=event_stream_docs(PulseChange, PulseStreamEnd))
    async def get_pulse_stream(
        request: Request,
        namespace: RootNamespace = None,
        name: RootName = None,
        kind: Kind = "dataset",
        direction: Direction = "both",
        depth: Depth = 1,
        datasets: Datasets = None,
        window_s: WindowS = 3600,
        names: Style = "standard",
        for_s: ForS = LONGEST_S,
    ) -> Response:
        """The pulse as server-sent events `rates`: first with all rates, then, at most every two seconds, with those that have changed."""
        dataset_ids(namespace, name, datasets)
        around = {"namespace": namespace, "name": name, "kind": kind, "direction": direction, "depth": depth}
        which = around if datasets is None else {"datasets": datasets}
        query = urlencode({**which, "window_s": window_s, "names": names})
        followed, caller = RatesQuestion(f"{PREFIX}{PULSE}", query, CURRENT_VISIBILITY.get()), caller_in(request.scope)
        await lane.take(caller)
        follower = pulses.join(followed, caller)

        def close() -> None:
            pulses.leave(followed, follower)
            lane.release(caller)

        try:
            first = await follower.take(FIRST_S)
        except BaseException:
            close()
            raise
        if isinstance(first, bytes):
            return _EventStream(_events(first, follower, admission(request), services.pace.beat_s, for_s), close)
        close()
        failure = first or late()
        return Response(failure.body, failure.status, {"Cache-Control": "no-store", **failure.headers})

    return router


class _EventStream(StreamingResponse):
    """A response that sends events until its client disconnects, and then calls `close`."""

    def __init__(self, events: AsyncIterator[bytes], close: Callable[[], None]) -> None:
        super().__init__(events, 200, _HEADERS, EVENT_STREAM)
        self._close = close

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:  # noqa: ARG002 - ASGI's arguments
        """Send the response."""
        try:
            async with anyio.create_task_group() as group:

                async def watch() -> None:
                    while (await receive())["type"] != "http.disconnect":
                        pass
                    group.cancel_scope.cancel()

                group.start_soon(watch)
                await self.stream_response(send)
                group.cancel_scope.cancel()
        finally:
            self._close()


async def _events(first: bytes, follower: RatesFollower, admitted: Admission, beat_s: float, for_s: float) -> AsyncIterator[bytes]:
    """The texts of a stream: a comment whenever nothing has changed for a while, and its end if its client may no longer ask."""
    until = anyio.current_time() + for_s
    yield _RETRY + first
    while (left := until - anyio.current_time()) > 0:
        found = await follower.take(min(left, beat_s))
        if (refusal := _refusal(admitted)) is not None:
            yield _end("refused", refusal)
            return
        if found is not None:
            yield event("problem", found.body) if isinstance(found, RatesProblem) else found
        elif follower.ended:
            yield _end(follower.ended, "the server is being stopped" if follower.ended == "stopping" else "an internal error")
            return
        else:
            yield _BEAT
    yield _end("expired", f"the stream has lasted {for_s:g} s")


def _refusal(admitted: Admission) -> str | None:
    """Why the request of a stream would be refused now; None if it would not."""
    try:
        now = admitted.again()
    except RefusedError as error:
        return str(error)
    return None if now == admitted.principal else "what the principal may do or see has changed"


def _end(code: EndCode, message: str) -> bytes:
    return event("end", msgspec.json.encode(PulseStreamEnd(code, message)))
