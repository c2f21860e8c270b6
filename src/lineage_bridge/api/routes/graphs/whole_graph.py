"""The one graph read as nodes and edges: in portions, so that memory is that of one."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from itertools import islice

import msgspec
from fastapi import Response
from msgspec import Struct

from lineage_bridge.api.dependencies import reflecting
from lineage_bridge.api.responses import streamed
from lineage_bridge.api.routes.graphs.graph_nodes import EdgeTeller, Link, ends, lineage_node, merged, port_links, with_columns
from lineage_bridge.api.schemas.graphs import GraphStats, LineageEdge, LineageNode
from lineage_bridge.api.services import Services
from lineage_bridge.errors import AmbiguousError, NotFoundError
from lineage_bridge.graph.identity.node_ids import JOB_TYPES, parse
from lineage_bridge.graph.ids import NodeKind
from lineage_bridge.graph.relations import Side
from lineage_bridge.model.graph import Node, Port
from lineage_bridge.ports.graph_reader import GraphReader

EVERY = (NodeKind.DATASET, NodeKind.JOB)
_ENCODER = msgspec.json.Encoder()


# sending


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


# nodes


@dataclass(frozen=True)
class NodeFilter:
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


def nodes(reader: GraphReader, which: NodeFilter, *, facets: bool = False) -> Iterator[LineageNode]:
    """All nodes that are meant, in the order of their names."""
    for known, some in reader.inventory.heads(which.kinds):
        for entry in known.inventory.entries(some):
            node = lineage_node(entry, facets=facets)
            if which.fits(node):
                yield node


def demand(reader: GraphReader, node_id: str) -> Node:
    """The node that a node id means. Raises NotFoundError, AmbiguousError."""
    found = reader.inventory.by_node_id(node_id)
    if len(found) == 1:
        return found[0]
    if not found:
        raise _not_found(reader, node_id)
    ids = sorted(entry.called.id for entry in reader.inventory.described(found[:20]).values())
    names = [(node.namespace, node.name) for node in found[:20]]
    raise AmbiguousError(f"{node_id!r} may be {len(found)} nodes", f"Say which: {', '.join(ids)}.", names)


def _not_found(reader: GraphReader, node_id: str) -> NotFoundError:
    wanted = parse(node_id)
    if wanted is None:
        hint = "A node id is system:type:scope:name, such as confluent:kafka_topic:env-abc:lkc-123/orders."
        return NotFoundError(f"{node_id!r} is no node id", hint)
    near = reader.nodes.near(wanted.kind, *wanted.exact[0]) if wanted.exact else reader.nodes.near(wanted.kind, "", wanted.tiers[0][0][1])
    ids = sorted(entry.called.id for entry in reader.inventory.described(near).values())
    return NotFoundError(
        f"there is no node {node_id!r}",
        f"Close to it: {', '.join(ids)}." if ids else "GET .../nodes?search= finds nodes.",
        [(node.namespace, node.name) for node in near],
    )


# edges


def all_links(reader: GraphReader, now_us: int) -> Iterator[tuple[GraphReader, list[Link]]]:
    """All edges, each once, in portions, each with a reader that knows its nodes."""
    for known, jobs in reader.inventory.heads((NodeKind.JOB,)):
        yield known, _of_ports(known, known.inventory.ports(jobs, now_us=now_us))
    yield reader, _of_ports(reader, reader.inventory.unnamed_ports(now_us=now_us))
    direct = list(reader.inventory.direct(now_us=now_us))
    heads = reader.inventory.standing(end for edge in direct for end in edge[:2])
    yield reader, merged(Link(heads[edge.source.id], heads[edge.target.id], None, edge) for edge in direct)


def _of_ports(reader: GraphReader, ports: Sequence[Port]) -> list[Link]:
    return merged(port_links(ports, reader.inventory.standing(end for port in ports for end in (port.job, port.dataset))))


def edges(reader: GraphReader, now_us: int, *, facets: bool = False) -> Iterator[LineageEdge]:
    """All edges: those of jobs, portion by portion, then those that lie directly between two nodes."""
    for known, links in all_links(reader, now_us):
        tell = EdgeTeller(known.inventory.described(ends(links)))
        for link in links:
            edge = tell(link)
            yield with_columns(known, tell, link, edge) if facets and link.side == Side.OUTPUT else edge


# how much there is


class Counter:
    """Counts nodes and edges as they pass, and what hangs together."""

    def __init__(self) -> None:
        self.above: dict[str, str] = {}
        self.edge_count = 0

    def nodes(self, passing: Iterable[LineageNode]) -> Iterator[LineageNode]:
        """The same nodes, counted."""
        for node in passing:
            self.above[node.node_id] = node.node_id
            yield node

    def edges(self, passing: Iterable[LineageEdge]) -> Iterator[LineageEdge]:
        """The same edges, counted. Their nodes have passed before."""
        for edge in passing:
            self.edge_count += 1
            self.join(edge.src_id, edge.dst_id)
            yield edge

    def join(self, one: str, other: str) -> None:
        """Two nodes hang together."""
        self.above[self.top(one)] = self.top(other)

    def top(self, id_: str) -> str:
        """The node that stands for all that hang together with one."""
        while (up := self.above.setdefault(id_, id_)) != id_:
            self.above[id_] = id_ = self.above[up]
        return id_

    def stats(self) -> GraphStats:
        """What has passed."""
        return GraphStats(len(self.above), self.edge_count, sum(id_ == up for id_, up in self.above.items()), [])


def stats(reader: GraphReader, now_us: int) -> GraphStats:
    """How much the graph holds."""
    counter = Counter()
    for _, some in reader.inventory.heads(EVERY):
        counter.above.update((str(node.id), str(node.id)) for node in some)
    for _, links in all_links(reader, now_us):
        counter.edge_count += len(links)
        for link in links:
            counter.join(str(link.src.id), str(link.dst.id))
    return counter.stats()
