"""Importing nodes and edges: they become design-time events, and go through the one intake."""

from anyio import to_thread
from fastapi import APIRouter, Request, Response

from lineage_bridge.api.bodies import Body, cut, receive
from lineage_bridge.api.openapi import answers, body_of
from lineage_bridge.api.responses import POSITION_HEADER, answer
from lineage_bridge.api.routes.graphs.importing import Imported, translate
from lineage_bridge.api.routes.graphs.nodes import GraphId, check
from lineage_bridge.api.routes.operations.intake import STATUS, Intake, judge_one
from lineage_bridge.api.schemas.answers import ErrorAnswer
from lineage_bridge.api.schemas.graphs import GraphIn, ImportAnswer
from lineage_bridge.api.services import Services
from lineage_bridge.errors import RefusedError, RequestError
from lineage_bridge.openlineage.verdict import Rejected
from lineage_bridge.ports import Frame


def routes(services: Services, intake: Intake) -> APIRouter:
    """The call that imports."""
    router = APIRouter(prefix="/graphs", tags=["graphs"])

    async def post_import(request: Request, graph_id: GraphId) -> Response:
        check(services, graph_id)
        body = await receive(request, services.max_body_bytes)
        imported, frames = await to_thread.run_sync(_imported, services, body)
        where = await intake.store(frames)
        said = ImportAnswer(services.graph_id, imported.nodes, imported.edges, imported.skipped, where)
        return answer(said, headers={POSITION_HEADER: where})

    router.add_api_route(
        "/{graph_id}/import",
        post_import,
        methods=["POST"],
        description="Take in nodes and edges, as export gives them, as design-time events: all of them, or nothing.",
        response_model=None,
        openapi_extra=body_of(GraphIn),
        responses=answers({200: ImportAnswer, 400: ErrorAnswer, 404: ErrorAnswer, 413: ErrorAnswer, 422: ErrorAnswer}),
    )
    return router


def _imported(services: Services, body: Body) -> tuple[Imported, list[Frame]]:
    """What an import tells, and the frames that keep it. Raises RefusedError, RequestError: then nothing of it is used."""
    pieces = cut(body, services.max_events)
    if pieces.problem or not pieces.single:
        problem = pieces.problem or Rejected("wrong_type", "$", "an import is one JSON object")
        raise RefusedError(STATUS[problem.code], problem.code, problem.message, 'Send {"nodes": [...], "edges": [...]}.')
    now_us = services.clock_us()
    imported = translate(pieces.events[0], now_us)
    judged = [judge_one(event, now_us) for event in imported.events]
    for one in judged:
        if isinstance(one.verdict, Rejected):
            raise RequestError(
                f"{one.verdict.message} (at {one.verdict.path} of {one.frame.body[:200]!r})", "Nothing of the import was used."
            )
    return imported, [one.frame for one in judged]
