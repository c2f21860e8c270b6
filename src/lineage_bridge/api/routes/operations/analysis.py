"""The route for the results of the last analysis of the whole graph."""

from typing import Annotated, Literal

from anyio import to_thread
from fastapi import APIRouter, Query, Request, Response
from msgspec import UNSET, Raw

from lineage_bridge.api import position_tokens
from lineage_bridge.api.answering.lanes import Cost
from lineage_bridge.api.dependencies import Offset, api_router, page
from lineage_bridge.api.limits.callers import caller_in
from lineage_bridge.api.openapi import response_docs
from lineage_bridge.api.responses import json_response
from lineage_bridge.api.schemas.names import ErrorAnswer
from lineage_bridge.api.schemas.operations import AnalysisPage
from lineage_bridge.api.services import Services

PartName = Literal["impact", "cycle", "orphan", "unused"]


def routes(services: Services) -> APIRouter:
    """The routes for the findings of the last analysis."""
    router = api_router("analysis")

    def read(request: Request, part: PartName, limit: int, offset: int) -> Response:
        findings = services.findings()
        summary = findings.summary
        shown, link = page(request, findings.lines(part, limit + 1, offset), limit, offset)
        return json_response(
            AnalysisPage(
                part=part,
                items=[Raw(line) for line in shown],
                counts={name: part_summary.count for name, part_summary in summary.parts.items()},
                nodes=summary.nodes,
                flows=UNSET if summary.flows is None else summary.flows,
                exact=summary.exact,
                unused_days=summary.unused_days,
                made_at=summary.made_at,
                position=position_tokens.encode({position_tokens.parse_stream(name): offset for name, offset in summary.position.items()}),
            ),
            headers=link,
        )

    @router.get("/analysis", response_model=None, responses=response_docs({200: AnalysisPage, 404: ErrorAnswer}, writes=False))
    async def get_analysis(
        request: Request,
        part: Annotated[PartName, Query(description="Part of the analysis")] = "impact",
        limit: Annotated[int, Query(ge=1, le=1000)] = 100,
        offset: Offset = 0,
    ) -> Response:
        """Results of the last `lineage-bridge analyse`: the numbers of nodes down- and upstream of each node, cycles, orphans, unused
        datasets.
        """
        # For a limited principal every line is checked, so this counts as a question that reads long lists.
        async with services.lanes[Cost.HEAVY].slot(caller_in(request.scope)):
            return await to_thread.run_sync(read, request, part, limit, offset)

    return router
