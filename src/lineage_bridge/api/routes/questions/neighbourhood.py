"""Neighbourhoods of nodes."""

from typing import Annotated, Literal

from fastapi import APIRouter, Query, Response

from lineage_bridge.api import position_tokens, serialization
from lineage_bridge.api.answering.question_route import question_router
from lineage_bridge.api.dependencies import (
    KINDS,
    AsOf,
    IncludeEnded,
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
from lineage_bridge.api.schemas.names import ErrorAnswer
from lineage_bridge.api.schemas.nodes import NeighbourhoodAnswer
from lineage_bridge.api.services import Services
from lineage_bridge.model.graph import Walk, WalkLimits
from lineage_bridge.ports.graph_reader import NodeReader, ProgressReader

Kind = Literal["dataset", "job"]
Direction = Literal["upstream", "downstream", "both"]
Limit = Annotated[int, Query(ge=1, le=1000)]


def routes(services: Services) -> APIRouter:
    """The routes for the neighbourhood of a node."""
    router = question_router(services, "graph")
    _walk_routes(router, services)
    return router


def _walk_routes(router: APIRouter, services: Services) -> None:
    @router.get(
        "/graph/neighbourhood",
        response_model=None,
        responses=response_docs({200: NeighbourhoodAnswer, 404: ErrorAnswer}, writes=False),
    )
    def get_neighbourhood(
        namespace: Namespace,
        name: NodeName,
        kind: Kind = "dataset",
        direction: Direction = "both",
        depth: Annotated[int, Query(ge=0, le=50)] = 1,
        columns: Annotated[bool, Query(description="Include column lineage")] = False,
        names: Style = "standard",
        at: AsOf = None,
        ended: IncludeEnded = False,
    ) -> Response:
        """The nodes and edges around a dataset or a job."""
        at_us = parse_time_argument("at", at)
        with services.graph() as reader:
            node = require_node(reader.nodes, KINDS[kind], namespace, name)
            walk = reader.lineage.walk(
                node, direction, depth, WalkLimits(), now_us=services.clock_us(), columns=columns, at_us=at_us, ended=ended
            )
            return json_response(_neighbourhood(reader.nodes, reader.progress, walk, names), headers=position_header(reader.progress))


def _neighbourhood(nodes: NodeReader, progress: ProgressReader, walk: Walk, style: str) -> NeighbourhoodAnswer:
    return NeighbourhoodAnswer(
        origin=apply_name_style(nodes, serialization.graph_node(walk.origin, dropped=walk.origin.id in walk.dropped), style),
        members=apply_name_style(
            nodes, [serialization.graph_node(member, dropped=member.id in walk.dropped) for member in walk.members], style
        ),
        direction=walk.direction,
        depth=walk.depth,
        nodes=apply_name_style(nodes, serialization.walk_nodes(walk), style),
        edges=[serialization.graph_edge(edge) for edge in walk.edges],
        ports=[serialization.graph_port(port) for port in walk.ports],
        columns=[serialization.graph_column(column) for column in walk.columns],
        truncated=walk.truncated,
        hidden=walk.hidden,
        at=serialization.time_text(walk.at),
        resolution="day" if walk.resolution == "day" else "exact",
        settling=progress.settling(),
        position=position_tokens.encode(progress.position()),
        hidden_ended=walk.ended,
    )
