"""Routes for the graph as nodes and edges, and for the nodes upstream or downstream of a node, in LineageBridge's own JSON format."""

from collections.abc import Callable, Iterator
from itertools import islice
from typing import Annotated, TypeVar

import msgspec
from fastapi import APIRouter, Path, Query, Request, Response
from msgspec import Struct

from lineage_bridge.api import position_tokens
from lineage_bridge.api.answering.json_stream import encode, json_array, stream_graph
from lineage_bridge.api.answering.question_route import question_router
from lineage_bridge.api.dependencies import Mended, Offset, one_of, page, position_header
from lineage_bridge.api.openapi import response_docs
from lineage_bridge.api.responses import json_response
from lineage_bridge.api.schemas.graphs import EdgeList, ExportAnswer, GraphAnswer, GraphSummary, HopsAnswer, NodeList
from lineage_bridge.api.schemas.names import ErrorAnswer
from lineage_bridge.api.services import Services
from lineage_bridge.errors import RefusedError
from lineage_bridge.graph.identity.node_ids import CATALOG_TYPES, DATASET_TYPES, JOB_TYPES, SYSTEMS
from lineage_bridge.model.events import EventFilter
from lineage_bridge.model.graph import Walk
from lineage_bridge.openlineage.times import format_time
from lineage_bridge.ports.graph_reader import EventReader, GraphReader
from lineage_bridge.projections.edges import EdgeBuilder
from lineage_bridge.projections.hops import hops_of_walk, walk_hops
from lineage_bridge.projections.nodes import lineage_node
from lineage_bridge.projections.shapes import LineageNode
from lineage_bridge.projections.whole_graph import (
    GraphCounter,
    NodeFilter,
    graph_stats,
    read_edges,
    read_nodes,
    require_node_by_id,
)

Item = TypeVar("Item", bound=Struct)
_ENCODER = msgspec.json.Encoder()
_NOT_FOUND = {404: ErrorAnswer}
_ONE_NODE = {404: ErrorAnswer, 409: ErrorAnswer}
GraphId = Annotated[str, Path(description="The id of the one graph: GET /api/v1/graphs")]
NodeId = Annotated[
    str, Path(description="Node id: system:type:scope:name, as in answers; it may be shortened if it stays unambiguous"), Mended
]
Limit = Annotated[int | None, Query(ge=1, le=10_000, description="Page size; without it, all nodes are listed")]
TYPES = (*DATASET_TYPES, *CATALOG_TYPES, *JOB_TYPES)


NodeType = Annotated[str | None, Query(description=f"Only nodes of this type: {', '.join(TYPES)}"), one_of(TYPES)]
System = Annotated[str | None, Query(description=f"Only nodes of this system: {', '.join(SYSTEMS)}"), one_of(SYSTEMS)]


def routes(services: Services) -> APIRouter:
    """The routes for the graph as nodes and edges."""
    router = question_router(services, "graphs", "/graphs")
    _graph_routes(router, services)
    _node_routes(router, services)
    _edge_route(router, services)
    for direction in ("upstream", "downstream"):
        _query_route(router, services, direction)
    return router


def check_graph_id(services: Services, graph_id: str) -> None:
    """Raise RefusedError (404) unless this is the id of the installation's one graph."""
    if graph_id.lower() != services.graph_id:
        raise RefusedError(404, "not_found", f"there is no graph {graph_id!r}", f"this installation has one graph: {services.graph_id}")


# the graph


def _graph_routes(router: APIRouter, services: Services) -> None:
    @router.get("", response_model=None, responses=response_docs({200: list[GraphSummary]}, writes=False))
    def get_graphs() -> Response:
        """The one graph of this installation, with its size."""
        with services.graph() as reader:
            stats = graph_stats(reader, services.clock_us())
            counts = stats.node_count, stats.edge_count, stats.pipeline_count
            return json_response(
                [GraphSummary(services.graph_id, *counts, *_first_and_last(reader.events))], headers=position_header(reader.progress)
            )

    @router.get("/{graph_id}", response_model=None, responses=response_docs({200: GraphAnswer, **_NOT_FOUND}, writes=False))
    def get_graph(graph_id: GraphId) -> Response:
        """All nodes and edges of the graph, and how many of each there are."""
        check_graph_id(services, graph_id)

        def write(reader: GraphReader) -> Iterator[bytes]:
            now_us, counter = services.clock_us(), GraphCounter()
            created, modified = _first_and_last(reader.events)
            head = {"graph_id": services.graph_id, "created_at": created, "last_modified": modified}
            yield encode(head)[:-1] + b","
            yield from json_array("nodes", counter.count_nodes(read_nodes(reader, NodeFilter())))
            yield b","
            yield from json_array("edges", counter.count_edges(read_edges(reader, now_us)))
            yield b',"stats":' + encode(counter.stats()) + b"}"

        return stream_graph(services, write)

    @router.get("/{graph_id}/export", response_model=None, responses=response_docs({200: ExportAnswer, **_NOT_FOUND}, writes=False))
    def get_export(graph_id: GraphId) -> Response:
        """All nodes with their facets, and all edges, in the form that an import takes."""
        check_graph_id(services, graph_id)

        def write(reader: GraphReader) -> Iterator[bytes]:
            yield b"{"
            yield from json_array("nodes", read_nodes(reader, NodeFilter(), facets=True))
            yield b","
            yield from json_array("edges", read_edges(reader, services.clock_us(), facets=True))
            yield b"}"

        return stream_graph(services, write)


def _first_and_last(events: EventReader) -> tuple[str | None, str | None]:
    """The times of the oldest and the newest event."""
    ends = [events.page(EventFilter(ascending=ascending, limit=1)) for ascending in (True, False)]
    first, last = (format_time(found[0].time) if found else None for found in ends)
    return first, last


# nodes


def _node_routes(router: APIRouter, services: Services) -> None:
    @router.get("/{graph_id}/nodes", response_model=None, responses=response_docs({200: NodeList, **_NOT_FOUND}, writes=False))
    def get_nodes(
        request: Request,
        graph_id: GraphId,
        type: NodeType = None,  # noqa: A002 - the parameter's name on the wire
        system: System = None,
        env_id: Annotated[str | None, Query(description="Only nodes of this environment"), Mended] = None,
        search: Annotated[str | None, Query(description="A part of the display name or qualified name, in any case"), Mended] = None,
        limit: Limit = None,
        offset: Offset = 0,
    ) -> Response:
        """The nodes of the graph in the order of their names: all of them, or a page."""
        check_graph_id(services, graph_id)
        which = NodeFilter(type, system, env_id, search)
        return _list_items(services, request, "nodes", (limit, offset), lambda reader: read_nodes(reader, which))

    @router.get(
        "/{graph_id}/nodes/{node_id:path}", response_model=None, responses=response_docs({200: LineageNode, **_ONE_NODE}, writes=False)
    )
    def get_node(graph_id: GraphId, node_id: NodeId) -> Response:
        """One node of the graph, with its facets."""
        check_graph_id(services, graph_id)
        with services.graph() as reader:
            (entry,) = reader.inventory.entries([require_node_by_id(reader, node_id)])
            return json_response(lineage_node(entry, facets=True), headers=position_header(reader.progress))


# edges


def _edge_route(router: APIRouter, services: Services) -> None:
    @router.get("/{graph_id}/edges", response_model=None, responses=response_docs({200: EdgeList, **_NOT_FOUND}, writes=False))
    def get_edges(request: Request, graph_id: GraphId, limit: Limit = None, offset: Offset = 0) -> Response:
        """The edges of the graph: all of them, or a page."""
        check_graph_id(services, graph_id)
        return _list_items(services, request, "edges", (limit, offset), lambda reader: read_edges(reader, services.clock_us()))


def _list_items(
    services: Services,
    request: Request,
    name: str,
    page_bounds: tuple[int | None, int],
    items: Callable[[GraphReader], Iterator[Item]],
) -> Response:
    limit, offset = page_bounds
    if limit is not None:
        with services.graph() as reader:
            passing = items(reader)
            skipped = sum(1 for _ in islice(passing, offset))
            found = list(islice(passing, limit + 1))
            total = skipped + len(found) + sum(1 for _ in passing)
            shown, link = page(request, found, limit, offset)
            return json_response({name: shown, "total": total}, headers={**link, **position_header(reader.progress)})

    def write(reader: GraphReader) -> Iterator[bytes]:
        total = 0

        def counted() -> Iterator[Item]:
            nonlocal total
            for item in islice(items(reader), offset, None):
                total += 1
                yield item

        yield b"{"
        yield from json_array(name, counted())
        yield b',"total":%d}' % (total + offset)

    return stream_graph(services, write)


# up- and downstream


def _query_route(router: APIRouter, services: Services, direction: str) -> None:
    def query(
        graph_id: GraphId,
        node_id: NodeId,
        hops: Annotated[int, Query(ge=1, le=50, description="Maximum number of edges from the node")] = 3,
    ) -> Response:
        check_graph_id(services, graph_id)
        with services.graph() as reader:
            origin = require_node_by_id(reader, node_id)
            return json_response(
                _hops(services, reader, walk_hops(reader, origin, direction, hops, services.clock_us()), hops),
                headers=position_header(reader.progress),
            )

    router.add_api_route(
        f"/{{graph_id}}/query/{direction}/{{node_id:path}}",
        query,
        methods=["GET"],
        name=f"query_{direction}",
        description=f"The nodes {direction} of a node, at most `hops` edges away, with the edges between them.",
        response_model=None,
        responses=response_docs({200: HopsAnswer, **_ONE_NODE}, writes=False),
    )


def _hops(services: Services, reader: GraphReader, walk: Walk, hops: int) -> HopsAnswer:
    found = hops_of_walk(reader, walk, hops)
    entries = {entry.node.id: entry for entry in reader.inventory.entries(found.nodes)}
    builder = EdgeBuilder(entries)
    origin = reader.inventory.canonical_nodes([walk.origin])[walk.origin.id]
    around = [lineage_node(entry) for id_, entry in entries.items() if id_ != origin.id]
    edges = list(map(builder.edge, found.links))
    return HopsAnswer(
        graph_id=services.graph_id,
        origin=entries[origin.id].node_id.id,
        direction=walk.direction,
        hops=hops,
        nodes=around,
        edges=edges,
        node_count=len(around),
        edge_count=len(edges),
        distances={entries[id_].node_id.id: distance for id_, distance in found.distances.items()},
        truncated=walk.truncated,
        settling=reader.progress.settling(),
        position=position_tokens.encode(reader.progress.position()),
    )
