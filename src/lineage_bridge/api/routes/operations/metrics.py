"""Routes for the metrics of the server, in the text formats that Prometheus reads."""

from collections.abc import Mapping
from typing import Final

import msgspec
from anyio import to_thread
from fastapi import APIRouter, Request, Response
from fastapi.responses import PlainTextResponse
from prometheus_client.exposition import choose_encoder

from lineage_bridge.api.answering.deferred_route import DeferredRoute
from lineage_bridge.api.answering.lanes import Cost
from lineage_bridge.api.openapi import response_docs
from lineage_bridge.api.responses import json_response
from lineage_bridge.api.services import Services
from lineage_bridge.api.telemetry.exposition import Exposition
from lineage_bridge.errors import UnavailableError

LANES: Final = "/lanes"
"""The path, on the local socket only, at which the answering process reports how many questions it answers."""
_LANES = msgspec.json.Decoder(dict[str, dict[str, int]])


def routes(services: Services) -> APIRouter:
    """The route for metrics."""
    router = APIRouter(tags=["operations"], route_class=DeferredRoute)

    @router.get("/metrics", response_class=PlainTextResponse, responses=response_docs({}, writes=False))
    async def get_metrics(request: Request) -> Response:
        """Metrics of the server, in Prometheus' text format or, if the client asks for it, in OpenMetrics'."""
        encode, media_type = choose_encoder(request.headers.get("accept", ""))
        exposition = Exposition(services, await _lanes(services))
        text = await to_thread.run_sync(encode, exposition, limiter=services.metrics_threads)
        return Response(text, headers={"Content-Type": media_type, "Cache-Control": "no-store"})

    return router


def lane_routes(services: Services) -> APIRouter:
    """The internal route at which the answering process reports how many questions it answers."""
    router = APIRouter(route_class=DeferredRoute)

    @router.get(LANES, include_in_schema=False)
    def get_lanes() -> Response:
        return json_response(services.lanes.counts())

    return router


async def _lanes(services: Services) -> Mapping[str, Mapping[str, int]]:
    """Fetch, for each cost class, how many questions are being answered and how many wait. While the answering process does not respond,
    only what this process answers.
    """
    counts = services.lanes.counts()
    if services.questions is None:
        return counts
    own = {cost.value: counts[cost.value] for cost in (Cost.WAITING, Cost.STREAMING)}
    try:
        found = _LANES.decode(await services.questions.fetch(LANES))
    except UnavailableError:
        return own
    return {**found, **{cost: {state: number + found[cost][state] for state, number in lane.items()} for cost, lane in own.items()}}
