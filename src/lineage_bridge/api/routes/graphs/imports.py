"""The route that imports nodes and edges. They are ingested as design-time events."""

from functools import partial

from fastapi import APIRouter, Request, Response

from lineage_bridge.api.bodies import read_payload
from lineage_bridge.api.dependencies import api_router
from lineage_bridge.api.intake import STATUS, Intake, sender
from lineage_bridge.api.limits.callers import caller_in
from lineage_bridge.api.openapi import body_docs, response_docs
from lineage_bridge.api.responses import POSITION_HEADER, json_response
from lineage_bridge.api.routes.graphs.nodes import GraphId, check_graph_id
from lineage_bridge.api.schemas.graphs import ImportAnswer
from lineage_bridge.api.schemas.names import ErrorAnswer
from lineage_bridge.api.services import Services
from lineage_bridge.errors import RefusedError, RequestError
from lineage_bridge.ingest.ingest import FOREIGN_NAMESPACE, Ingested, JudgedEvent, ingest
from lineage_bridge.ingest.payload import Payload, SplitPayload, split_payload
from lineage_bridge.openlineage.verdict import Rejected
from lineage_bridge.projections.importing.events import ImportedGraph, translate_graph
from lineage_bridge.projections.importing.shapes import GraphIn


def routes(services: Services, intake: Intake) -> APIRouter:
    """Create the router with the route for imports."""
    router = api_router("graphs", "/graphs")

    async def post_import(request: Request, graph_id: GraphId) -> Response:
        check_graph_id(services, graph_id)
        payload, now_us = await read_payload(request, services), services.clock_us()
        caller = caller_in(request.scope)
        imported = await intake.in_thread(partial(_imported, payload, now_us), caller)

        def ingest_import() -> Ingested:
            ingested = ingest(
                SplitPayload(imported.events),
                sender(request),
                services.log,
                now_us,
                key=services.key,
                all_or_nothing=True,
                limits=services.record_limits(),
            )
            for event in ingested.events:
                _check_accepted(event)
            return ingested

        receipt = await intake.ingest_in_thread(ingest_import, caller)
        summary = ImportAnswer(services.graph_id, imported.nodes, imported.edges, imported.skipped, receipt.position)
        return json_response(summary, headers={POSITION_HEADER: receipt.position})

    router.add_api_route(
        "/{graph_id}/import",
        post_import,
        methods=["POST"],
        description="Import nodes and edges in the format of the export, as design-time events. If one is invalid, none is imported.",
        response_model=None,
        openapi_extra=body_docs(GraphIn),
        responses=response_docs({200: ImportAnswer, **dict.fromkeys((400, 404, 413, 415, 422), ErrorAnswer)}),
    )
    return router


def _imported(payload: Payload, now_us: int) -> ImportedGraph:
    """Translate the body of an import to the events that state its nodes and edges. Raises RefusedError, RequestError."""
    events = split_payload(payload)
    if events.rejected or not events.single:
        problem = events.rejected or Rejected("wrong_type", "$", "the body of an import must be one JSON object")
        raise RefusedError(STATUS[problem.code], problem.code, problem.message, 'send {"nodes": [...], "edges": [...]}')
    return translate_graph(events.items[0], now_us)


def _check_accepted(event: JudgedEvent) -> None:
    if isinstance(event.verdict, Rejected):
        verdict = event.verdict
        if verdict.code == FOREIGN_NAMESPACE:
            raise RefusedError(403, verdict.code, verdict.message, "leave it out, or use a key that is not limited; nothing was imported")
        raise RequestError(
            f"{verdict.message} (at {verdict.path} of {event.record.body[:200].decode(errors='replace')})",
            "correct it and send all again; nothing was imported",
        )
