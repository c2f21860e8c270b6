"""The route for the neighbourhood of a node: the nodes and edges around it."""

from collections.abc import Iterator, Mapping
from typing import Annotated, Literal

from fastapi import APIRouter, Query, Response
from msgspec import UNSET
from msgspec.structs import replace

from lineage_bridge.api import position_tokens, serialization, walk_items
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
from lineage_bridge.api.openapi import response_docs
from lineage_bridge.api.responses import json_response
from lineage_bridge.api.schemas.names import ErrorAnswer
from lineage_bridge.api.schemas.nodes import BeyondItem, NeighbourhoodAnswer, WalkNode
from lineage_bridge.api.services import Services
from lineage_bridge.model.graph import Node, Walk, WalkLimits
from lineage_bridge.ports.graph_reader import GraphReader, NodeReader, ProgressReader
from lineage_bridge.projections.next_hop import NextHop, cut_walk

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
        details: Annotated[bool, Query(description="Include the kind of each node, and count the nodes one hop beyond the answer")] = False,
    ) -> Response:
        """The nodes and edges around a dataset or a job."""
        at_us, now_us, limits = parse_time_argument("at", at), services.clock_us(), WalkLimits()
        with services.graph() as reader:
            node = require_node(reader.nodes, KINDS[kind], namespace, name)
            hops = depth + 1 if details else depth
            walk = reader.lineage.walk(node, direction, hops, limits, now_us=now_us, columns=columns, at_us=at_us, ended=ended)
            walk, beyond = cut_walk(walk, depth)
            answer = _neighbourhood(reader.nodes, reader.progress, walk, names)
            if details:
                answer = replace(answer, nodes=_with_details(reader, walk, answer.nodes, beyond, now_us))
            return json_response(answer, headers=position_header(reader.progress))


def _with_details(reader: GraphReader, walk: Walk, items: list[WalkNode], beyond: Mapping[int, NextHop], now_us: int) -> list[WalkNode]:
    """Add details to the nodes of an answer, and the number of nodes beyond each."""
    named = {node.id: node for node in (*walk.nodes, *(end for edge in walk.edges for end in edge[:3]), *_port_ends(walk))}
    found = serialization.details_of(reader, named.values(), now_us)
    details = {serialization.node_id_of(named[id_]): item for id_, item in found.items() if id_ in named}
    counts = {serialization.node_id_of(named[id_]): BeyondItem(*count) for id_, count in beyond.items() if id_ in named}
    return [replace(item, details=details.get(item.id, UNSET), beyond=counts.get(item.id, UNSET)) for item in items]


def _port_ends(walk: Walk) -> Iterator[Node]:
    for port in walk.ports:
        yield from (port.job, port.dataset)


def _neighbourhood(nodes: NodeReader, progress: ProgressReader, walk: Walk, style: str) -> NeighbourhoodAnswer:
    every = walk_items.nodes_of_walk(walk)
    names = nodes.spelt((walk.origin, *walk.members, *every), style)
    origin, *members = (
        serialization.graph_node(node, dropped=node.id in walk.dropped, goes_by=serialization.other_name(node, names))
        for node in (walk.origin, *walk.members)
    )
    return NeighbourhoodAnswer(
        origin=origin,
        members=members,
        direction=walk.direction,
        depth=walk.depth,
        nodes=walk_items.walk_nodes(walk, every, names),
        edges=[walk_items.graph_edge(edge) for edge in walk.edges],
        ports=[walk_items.graph_port(port) for port in walk.ports],
        columns=[walk_items.graph_column(column) for column in walk.columns],
        truncated=walk.truncated,
        hidden=walk.hidden,
        at=serialization.time_text(walk.at),
        resolution="day" if walk.resolution == "day" else "exact",
        settling=progress.settling(),
        position=position_tokens.encode(progress.position()),
        hidden_ended=walk.ended,
    )
