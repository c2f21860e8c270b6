"""The one graph, as a list of nodes and edges, and what lies up- or downstream of a node: in the shapes LineageBridge's users know."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from itertools import islice
from typing import Annotated, Any, TypeVar

import msgspec
from fastapi import APIRouter, Depends, Path, Query, Request, Response
from msgspec import Struct
from pydantic import AfterValidator

from lineage_bridge.answers.events import EventFilter
from lineage_bridge.answers.neighbourhood import Node, Walk, WalkLimits
from lineage_bridge.api import position
from lineage_bridge.api.answers import answer, streamed
from lineage_bridge.api.asking import Mended, Offset, page, reflecting, waiting
from lineage_bridge.api.graphnodes import EdgeTeller, Link, ends, lineage_node, merged, port_links, with_columns
from lineage_bridge.api.hops import hops_of, is_direct
from lineage_bridge.api.models import ErrorAnswer
from lineage_bridge.api.models_graphs import (
    EdgeList,
    Exported,
    GraphStats,
    GraphSummary,
    HopsAnswer,
    LineageEdge,
    LineageNode,
    NodeList,
    WholeGraph,
)
from lineage_bridge.api.services import Services
from lineage_bridge.api.spec import answers
from lineage_bridge.errors import AmbiguousError, NotFoundError
from lineage_bridge.graph.ids import NodeKind
from lineage_bridge.graph.nodeids import CATALOG_TYPES, DATASET_TYPES, JOB_TYPES, SYSTEMS, parse
from lineage_bridge.graph.relations import Side
from lineage_bridge.openlineage.times import format_time
from lineage_bridge.ports import GraphReader

Item = TypeVar("Item", bound=Struct)
EVERY = (NodeKind.DATASET, NodeKind.JOB)
_ENCODER = msgspec.json.Encoder()
_NOT_FOUND = {404: ErrorAnswer}
_ONE_NODE = {404: ErrorAnswer, 409: ErrorAnswer}
GraphId = Annotated[str, Path(description="The id of the one graph: GET /api/v1/graphs")]
NodeId = Annotated[str, Path(description="system:type:scope:name, as answers write it, or shorter where that is clear"), Mended]
Limit = Annotated[int | None, Query(ge=1, le=10_000, description="A page of so many; without it, all")]
TYPES = (*DATASET_TYPES, *CATALOG_TYPES, *JOB_TYPES)


def one_of(words: Sequence[str]) -> AfterValidator:
    """Lets a parameter be one of some words. The validator raises ValueError for others."""

    def check_word(word: str | None) -> str | None:
        if word is not None and word not in words:
            raise ValueError(f"not one of {', '.join(words)}")
        return word

    return AfterValidator(check_word)


NodeType = Annotated[str | None, Query(description=f"Only nodes of this type: {', '.join(TYPES)}"), one_of(TYPES)]
System = Annotated[str | None, Query(description=f"Only nodes of this system: {', '.join(SYSTEMS)}"), one_of(SYSTEMS)]


def routes(services: Services) -> APIRouter:
    """The calls on the graph as nodes and edges."""
    router = APIRouter(prefix="/graphs", tags=["graphs"], dependencies=[Depends(waiting(services))])
    _graph_routes(router, services)
    _node_routes(router, services)
    _edge_route(router, services)
    for direction in ("upstream", "downstream"):
        _query_route(router, services, direction)
    return router


def check(services: Services, graph_id: str) -> None:
    """Raise NotFoundError for another graph than the one there is."""
    if graph_id.lower() != services.graph_id:
        raise NotFoundError(f"there is no graph {graph_id!r}", f"This installation has one graph: {services.graph_id}.")


# the graph


def _graph_routes(router: APIRouter, services: Services) -> None:
    @router.get("", response_model=None, responses=answers({200: list[GraphSummary]}, writes=False))
    def get_graphs() -> Response:
        """The one graph. Its size is counted when it is asked for."""
        with services.graph() as reader:
            counted = stats(reader, services.clock_us())
            counts = counted.node_count, counted.edge_count, counted.pipeline_count
            return answer([GraphSummary(services.graph_id, *counts, *_span(reader))], headers=reflecting(reader))

    @router.get("/{graph_id}", response_model=None, responses=answers({200: WholeGraph, **_NOT_FOUND}, writes=False))
    def get_graph(graph_id: GraphId) -> Response:
        """All nodes, all edges, and how many there are."""
        check(services, graph_id)

        def tell(reader: GraphReader) -> Iterator[bytes]:
            now_us, counter = services.clock_us(), _Counter()
            created, modified = _span(reader)
            head = {"graph_id": services.graph_id, "created_at": created, "last_modified": modified}
            yield _ENCODER.encode(head)[:-1] + b","
            yield from array("nodes", counter.nodes(nodes(reader, _Which())))
            yield b","
            yield from array("edges", counter.edges(edges(reader, now_us)))
            yield b',"stats":' + _ENCODER.encode(counter.stats()) + b"}"

        return stream(services, tell)

    @router.get("/{graph_id}/export", response_model=None, responses=answers({200: Exported, **_NOT_FOUND}, writes=False))
    def get_export(graph_id: GraphId) -> Response:
        """All nodes, with all that is said of them, and all edges: what import takes."""
        check(services, graph_id)

        def tell(reader: GraphReader) -> Iterator[bytes]:
            yield b"{"
            yield from array("nodes", nodes(reader, _Which(), facets=True))
            yield b","
            yield from array("edges", edges(reader, services.clock_us(), facets=True))
            yield b"}"

        return stream(services, tell)


def stream(services: Services, tell: Callable[[GraphReader], Iterator[bytes]]) -> Response:
    """An answer of one moment of the store, sent while it is made. Raises StoreMissingError."""
    held = ExitStack()
    reader = held.enter_context(services.graph())

    def pieces() -> Iterator[bytes]:
        with held:
            yield from tell(reader)

    return streamed(pieces(), reflecting(reader))


def array(name: str, items: Iterable[Struct]) -> Iterator[bytes]:
    """A member of a JSON object that is an array, in pieces."""
    start = f'"{name}":['.encode()
    rest = iter(items)
    while some := list(islice(rest, 100)):
        yield start + b",".join(map(_ENCODER.encode, some))
        start = b","
    yield start.removesuffix(b",") + b"]"


def _span(reader: GraphReader) -> tuple[str | None, str | None]:
    """The times of the oldest and the newest event."""
    ends = [reader.events(EventFilter(ascending=ascending, limit=1)) for ascending in (True, False)]
    first, last = (format_time(found[0].time) if found else None for found in ends)
    return first, last


class _Counter:
    """Counts nodes and edges as they pass, and what hangs together."""

    def __init__(self) -> None:
        self.above: dict[str, str] = {}
        self.edge_count = 0

    def nodes(self, passing: Iterable[LineageNode]) -> Iterator[LineageNode]:
        for node in passing:
            self.above[node.node_id] = node.node_id
            yield node

    def edges(self, passing: Iterable[LineageEdge]) -> Iterator[LineageEdge]:
        for edge in passing:
            self.edge_count += 1
            self.join(edge.src_id, edge.dst_id)
            yield edge

    def join(self, one: str, other: str) -> None:
        self.above[self.top(one)] = self.top(other)

    def top(self, id_: str) -> str:
        while (up := self.above[id_]) != id_:
            self.above[id_] = id_ = self.above[up]
        return id_

    def stats(self) -> GraphStats:
        return GraphStats(len(self.above), self.edge_count, sum(id_ == up for id_, up in self.above.items()), [])


def stats(reader: GraphReader, now_us: int) -> GraphStats:
    """How much the graph holds."""
    counter = _Counter()
    for _, some in reader.heads(EVERY):
        counter.above.update((str(node.id), str(node.id)) for node in some)
    for _, links in all_links(reader, now_us):
        counter.edge_count += len(links)
        for link in links:
            counter.join(str(link.src.id), str(link.dst.id))
    return counter.stats()


# nodes


@dataclass(frozen=True)
class _Which:
    """Which nodes to list."""

    type: str | None = None
    system: str | None = None
    env_id: str | None = None
    search: str | None = None

    @property
    def kinds(self) -> tuple[NodeKind, ...]:
        """The kinds of nodes that a type leaves."""
        if self.type is None:
            return EVERY
        return (NodeKind.JOB,) if self.type in JOB_TYPES else (NodeKind.DATASET,)

    def fits(self, node: LineageNode) -> bool:
        """Whether a node is meant."""
        word = (self.search or "").casefold()
        return (
            self.type in (None, node.node_type, node.node_id.split(":")[1])
            and self.system in (None, node.system)
            and self.env_id in (None, node.environment_id)
            and (word in node.display_name.casefold() or word in node.qualified_name.casefold())
        )


def nodes(reader: GraphReader, which: _Which, *, facets: bool = False) -> Iterator[LineageNode]:
    """All nodes that are meant, in the order of their names."""
    for known, some in reader.heads(which.kinds):
        for entry in known.entries(some):
            node = lineage_node(entry, facets=facets)
            if which.fits(node):
                yield node


def _node_routes(router: APIRouter, services: Services) -> None:
    @router.get("/{graph_id}/nodes", response_model=None, responses=answers({200: NodeList, **_NOT_FOUND}, writes=False))
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
        """Nodes in the order of their names: all of them, or a page."""
        check(services, graph_id)
        which = _Which(type, system, env_id, search)
        return _listed(services, request, "nodes", (limit, offset), lambda reader: nodes(reader, which))

    @router.get("/{graph_id}/nodes/{node_id:path}", response_model=None, responses=answers({200: LineageNode, **_ONE_NODE}, writes=False))
    def get_node(graph_id: GraphId, node_id: NodeId) -> Response:
        """One node, with all that is said of it."""
        check(services, graph_id)
        with services.graph() as reader:
            (entry,) = reader.entries([demand(reader, node_id)])
            return answer(lineage_node(entry, facets=True), headers=reflecting(reader))


def demand(reader: GraphReader, node_id: str) -> Node:
    """The node that a node id means. Raises NotFoundError, AmbiguousError."""
    found = reader.by_node_id(node_id)
    if len(found) == 1:
        return found[0]
    if not found:
        raise _not_found(reader, node_id)
    ids = sorted(entry.called.id for entry in reader.described(found[:20]).values())
    names = [(node.namespace, node.name) for node in found[:20]]
    raise AmbiguousError(f"{node_id!r} may be {len(found)} nodes", f"Say which: {', '.join(ids)}.", names)


def _not_found(reader: GraphReader, node_id: str) -> NotFoundError:
    wanted = parse(node_id)
    if wanted is None:
        hint = "A node id is system:type:scope:name, such as confluent:kafka_topic:env-abc:lkc-123/orders."
        return NotFoundError(f"{node_id!r} is no node id", hint)
    near = reader.near(wanted.kind, *wanted.exact[0]) if wanted.exact else reader.near(wanted.kind, "", wanted.tiers[0][0][1])
    ids = sorted(entry.called.id for entry in reader.described(near).values())
    return NotFoundError(
        f"there is no node {node_id!r}",
        f"Close to it: {', '.join(ids)}." if ids else "GET .../nodes?search= finds nodes.",
        [(node.namespace, node.name) for node in near],
    )


# edges


def all_links(reader: GraphReader, now_us: int) -> Iterator[tuple[GraphReader, list[Link]]]:
    """All edges, each once, in portions, each with a reader that knows its nodes."""
    for known, jobs in reader.heads((NodeKind.JOB,)):
        ports = known.ports(jobs, now_us=now_us)
        yield known, merged(port_links(ports, known.standing(_port_ends(ports))))
    unnamed = reader.unnamed_ports(now_us=now_us)
    yield reader, merged(port_links(unnamed, reader.standing(_port_ends(unnamed))))
    direct = list(reader.direct(now_us=now_us))
    heads = reader.standing(end for edge in direct for end in edge[:2])
    yield reader, merged(Link(heads[edge.source.id], heads[edge.target.id], None, edge) for edge in direct)


def _port_ends(ports: Iterable[Any]) -> Iterator[Node]:
    return (end for port in ports for end in (port.job, port.dataset))


def edges(reader: GraphReader, now_us: int, *, facets: bool = False) -> Iterator[LineageEdge]:
    """All edges: those of jobs in the order of their names, then those that lie directly between two nodes."""
    for known, links in all_links(reader, now_us):
        tell = EdgeTeller(known.described(ends(links)))
        for link in links:
            edge = tell(link)
            yield with_columns(known, tell, link, edge) if facets and link.side == Side.OUTPUT else edge


def _edge_route(router: APIRouter, services: Services) -> None:
    @router.get("/{graph_id}/edges", response_model=None, responses=answers({200: EdgeList, **_NOT_FOUND}, writes=False))
    def get_edges(request: Request, graph_id: GraphId, limit: Limit = None, offset: Offset = 0) -> Response:
        """Edges: all of them, or a page."""
        check(services, graph_id)
        return _listed(services, request, "edges", (limit, offset), lambda reader: edges(reader, services.clock_us()))


def _listed(
    services: Services,
    request: Request,
    name: str,
    span: tuple[int | None, int],
    items: Callable[[GraphReader], Iterator[Item]],
) -> Response:
    limit, offset = span
    if limit is not None:
        with services.graph() as reader:
            passing = items(reader)
            skipped = sum(1 for _ in islice(passing, offset))
            found = list(islice(passing, limit + 1))
            total = skipped + len(found) + sum(1 for _ in passing)
            shown, link = page(request, found, limit, offset)
            return answer({name: shown, "total": total}, headers={**link, **reflecting(reader)})

    def tell(reader: GraphReader) -> Iterator[bytes]:
        total = 0

        def counted() -> Iterator[Item]:
            nonlocal total
            for item in islice(items(reader), offset, None):
                total += 1
                yield item

        yield b"{"
        yield from array(name, counted())
        yield b',"total":%d}' % (total + offset)

    return stream(services, tell)


# up- and downstream


def _query_route(router: APIRouter, services: Services, direction: str) -> None:
    def query(
        graph_id: GraphId,
        node_id: NodeId,
        hops: Annotated[int, Query(ge=1, le=50, description="Most edges on the way")] = 3,
    ) -> Response:
        check(services, graph_id)
        with services.graph() as reader:
            origin = demand(reader, node_id)
            return answer(
                _hops(services, reader, _walk(reader, origin, direction, hops, services.clock_us()), hops), headers=reflecting(reader)
            )

    router.add_api_route(
        f"/{{graph_id}}/query/{direction}/{{node_id:path}}",
        query,
        methods=["GET"],
        name=f"query_{direction}",
        description=f"The nodes {direction} of a node, at most `hops` edges away, with the edges between them.",
        response_model=None,
        responses=answers({200: HopsAnswer, **_ONE_NODE}, writes=False),
    )


def _walk(reader: GraphReader, origin: Node, direction: str, hops: int, now_us: int) -> Walk:
    """A walk that meets all that is so many edges away: half as many flows, unless some of them are single edges."""
    flows = (hops + 1 + (origin.kind == NodeKind.JOB)) // 2
    walk = reader.walk(origin, direction, flows, WalkLimits(), now_us=now_us)
    if not any(map(is_direct, walk.edges)):
        return walk
    return reader.walk(origin, direction, hops, WalkLimits(), now_us=now_us)


def _hops(services: Services, reader: GraphReader, walk: Walk, hops: int) -> HopsAnswer:
    found = hops_of(reader, walk, hops)
    entries = {entry.node.id: entry for entry in reader.entries(found.nodes)}
    tell = EdgeTeller(entries)
    origin = reader.standing([walk.origin])[walk.origin.id]
    around = [lineage_node(entry) for id_, entry in entries.items() if id_ != origin.id]
    told = list(map(tell, found.links))
    return HopsAnswer(
        graph_id=services.graph_id,
        origin=entries[origin.id].called.id,
        direction=walk.direction,
        hops=hops,
        nodes=around,
        edges=told,
        node_count=len(around),
        edge_count=len(told),
        distances={entries[id_].called.id: distance for id_, distance in found.distances.items()},
        truncated=walk.truncated,
        settling=reader.settling(),
        position=position.encode(reader.position()),
    )
