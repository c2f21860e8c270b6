"""The route for column traces."""

from dataclasses import replace
from typing import Annotated, Final, Literal

from fastapi import APIRouter, Query, Response
from msgspec import structs

from lineage_bridge.api import serialization
from lineage_bridge.api.answering.question_route import question_router
from lineage_bridge.api.dependencies import (
    KINDS,
    AsOf,
    Mended,
    Namespace,
    NodeName,
    Style,
    parse_time_argument,
    position_header,
    require_node,
)
from lineage_bridge.api.name_styles import apply_name_style
from lineage_bridge.api.openapi import response_docs
from lineage_bridge.api.responses import json_response
from lineage_bridge.api.routes.questions.traces import items
from lineage_bridge.api.schemas.names import ErrorAnswer
from lineage_bridge.api.schemas.traces.answers import TraceAnswer
from lineage_bridge.api.services import Services
from lineage_bridge.model.graph import WalkLimits
from lineage_bridge.model.lineage import TraceOptions
from lineage_bridge.projections.stewardship import read_stewardship
from lineage_bridge.projections.traces.access import read_access
from lineage_bridge.projections.traces.held import read_held
from lineage_bridge.projections.traces.suggestions import read_suggestions

READING_SECONDS: Final = WalkLimits().seconds
"""How many seconds a trace may spend on reading the owners and the retention of its datasets; as many on who may read and write them, and
as many on suggestions.
"""


def routes(services: Services) -> APIRouter:
    """The route for traces."""
    router = question_router(services, "graph", "/graph")

    @router.get("/trace", response_model=None, responses=response_docs({200: TraceAnswer, 404: ErrorAnswer}, writes=False))
    def get_trace(
        namespace: Namespace,
        name: NodeName,
        field: Annotated[str, Query(description="The column; by default all columns"), Mended] = "",
        kind: Literal["dataset", "job"] = "dataset",
        direction: Literal["upstream", "downstream"] = "upstream",
        depth: Annotated[int, Query(ge=1, le=100, description="Maximum number of hops")] = 20,
        at: AsOf = None,
        names: Style = "standard",
        indirect: Annotated[bool, Query(description="Include indirect flows: filters, joins, sorting")] = False,
        through_masking: Annotated[bool, Query(description="Continue beyond masked columns")] = False,
        proofs: Annotated[bool, Query(description="Include the latest event that states each flow")] = True,
        gaps: Annotated[int, Query(ge=0, le=10_000, description="Maximum number of gaps to list")] = 100,
        held: Annotated[bool, Query(description="Include which datasets hold the values, and why the others do not")] = False,
        access: Annotated[bool, Query(description="Include who may read and write the datasets, and which jobs do")] = False,
        suggestions: Annotated[bool, Query(description="Include columns of the same name behind the listed gaps")] = False,
    ) -> Response:
        """The columns from which a column is derived, or which are derived from it."""
        options = TraceOptions(field, direction, depth, indirect, through_masking, proofs, gaps)
        with services.graph() as reader:
            node = require_node(reader.nodes, KINDS[kind], namespace, name)
            at_us, now_us = parse_time_argument("at", at), services.clock_us()
            trace = reader.lineage.trace(node, options, WalkLimits(), at_us)
            kept, is_whole = read_stewardship(reader, trace.nodes, at_us, READING_SECONDS)
            if not is_whole:
                trace = replace(trace, truncated=trace.truncated or "time")
            answer = items.trace_answer(reader.progress, trace, kept, reader.nodes.spelt(trace.nodes, names))
            if held:
                answer = structs.replace(answer, held=items.held_datasets(read_held(reader, trace, at_us)))
            if access:
                reached = {column.node for column in trace.columns} or {trace.origin}
                found, left_out = read_access(reader, reached, at_us, now_us=now_us, seconds=READING_SECONDS)
                digest = serialization.trace_digest(trace, kept, (found, left_out))
                shown = apply_name_style(reader.nodes, list(map(items.dataset_access, found)), names)
                answer = structs.replace(answer, access=shown, access_left_out=left_out, digest=digest)
            if suggestions:
                alike = read_suggestions(reader, trace, at_us, READING_SECONDS)
                answer = structs.replace(answer, suggestions=items.trace_suggestions(alike))
            return json_response(answer, headers=position_header(reader.progress))

    return router
