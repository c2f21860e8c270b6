"""Reads the whole graph as nodes and edges, in portions, so that memory only holds one portion."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from lineage_bridge.errors import AmbiguousError, NotFoundError
from lineage_bridge.graph.identity.node_ids import JOB_TYPES, parse_node_id
from lineage_bridge.graph.ids import NodeKind
from lineage_bridge.model.graph import Node, Port
from lineage_bridge.ports.graph_reader import GraphReader
from lineage_bridge.projections.edges import EdgeBuilder, GraphLink, end_nodes, merge_links, port_links
from lineage_bridge.projections.nodes import lineage_node
from lineage_bridge.projections.shapes import GraphStats, LineageEdge, LineageNode

KINDS = (NodeKind.DATASET, NodeKind.JOB)


# nodes


@dataclass(frozen=True)
class NodeFilter:
    """Which nodes to list. A member that is None filters nothing. `search` is a part of a node's names; case is ignored."""

    type: str | None = None
    system: str | None = None
    env_id: str | None = None
    search: str | None = None

    @property
    def kinds(self) -> tuple[NodeKind, ...]:
        """The kinds (dataset, job) that nodes of this type can have."""
        if self.type is None:
            return KINDS
        return (NodeKind.JOB,) if self.type in JOB_TYPES else (NodeKind.DATASET,)

    def matches(self, node: LineageNode) -> bool:
        """Whether a node passes the filter."""
        search = (self.search or "").casefold()
        return (
            self.type in (None, node.node_type, node.node_id.split(":")[1])
            and self.system in (None, node.system)
            and self.env_id in (None, node.environment_id)
            and (search in node.display_name.casefold() or search in node.qualified_name.casefold())
        )


def read_nodes(graph: GraphReader, which: NodeFilter, *, facets: bool = False) -> Iterator[LineageNode]:
    """All nodes that pass a filter, in the order of their names; with their facets if `facets` is set."""
    for reader, heads in graph.inventory.heads(which.kinds):
        for entry in reader.inventory.entries(heads):
            node = lineage_node(entry, facets=facets)
            if which.matches(node):
                yield node


def require_node_by_id(reader: GraphReader, node_id: str) -> Node:
    """The node with a node id. Raises NotFoundError, and AmbiguousError for a short id of several nodes."""
    matching = reader.inventory.by_node_id(node_id)
    if len(matching) == 1:
        return matching[0]
    if not matching:
        raise _not_found(reader, node_id)
    ids = sorted(entry.node_id.id for entry in reader.inventory.described(matching[:20]).values())
    names = [(node.namespace, node.name) for node in matching[:20]]
    raise AmbiguousError(f"{node_id!r} matches {len(matching)} nodes", f"use one of {', '.join(ids)}", names)


def _not_found(reader: GraphReader, node_id: str) -> NotFoundError:
    parsed = parse_node_id(node_id)
    if parsed is None:
        hint = "a node id is system:type:scope:name, such as confluent:kafka_topic:env-abc:lkc-123/orders"
        return NotFoundError(f"{node_id!r} is not a node id", hint)
    near = reader.nodes.near(parsed.kind, *parsed.exact[0]) if parsed.exact else reader.nodes.near(parsed.kind, "", parsed.tiers[0][0][1])
    ids = sorted(entry.node_id.id for entry in reader.inventory.described(near).values())
    return NotFoundError(
        f"there is no node {node_id!r}",
        f"similar node ids: {', '.join(ids)}" if ids else "list the nodes with a part of the name as the parameter `search`",
        [(node.namespace, node.name) for node in near],
    )


# edges


def read_links(graph: GraphReader, now_us: int) -> Iterator[tuple[GraphReader, list[GraphLink]]]:
    """The links of all edges, each once, in portions. Each portion comes with a reader that has loaded the portion's nodes."""
    for reader, jobs in graph.inventory.heads((NodeKind.JOB,)):
        yield reader, links_of_ports(reader, reader.inventory.ports(jobs, now_us=now_us))
    yield graph, links_of_ports(graph, graph.inventory.unnamed_ports(now_us=now_us))
    direct = list(graph.inventory.direct(now_us=now_us))
    heads = graph.inventory.canonical_nodes(end for edge in direct for end in edge[:2])
    yield graph, merge_links(GraphLink(heads[edge.source.id], heads[edge.target.id], None, edge) for edge in direct)


def links_of_ports(reader: GraphReader, ports: Sequence[Port]) -> list[GraphLink]:
    """The links of ports, each once, between the canonical nodes of groups."""
    heads = reader.inventory.canonical_nodes(end for port in ports for end in (port.job, port.dataset))
    return merge_links(port_links(ports, heads))


def read_edges(graph: GraphReader, now_us: int, *, facets: bool = False) -> Iterator[LineageEdge]:
    """All edges: first the edges of jobs, portion by portion, then the edges directly between two nodes. With `facets`, edges have the
    statements about columns.
    """
    for reader, links in read_links(graph, now_us):
        builder = EdgeBuilder(reader.inventory.described(end_nodes(links)))
        for link in links:
            yield builder.edge_with_columns(reader, link) if facets else builder.edge(link)


# size


class GraphCounter:
    """Counts nodes and edges that pass through it, and the connected components that they form."""

    def __init__(self) -> None:
        self.parents: dict[str, str] = {}
        self.edge_count = 0

    def count_nodes(self, nodes: Iterable[LineageNode]) -> Iterator[LineageNode]:
        """Yield the nodes, and count them."""
        for node in nodes:
            self.add_node(node.node_id)
            yield node

    def count_edges(self, edges: Iterable[LineageEdge]) -> Iterator[LineageEdge]:
        """Yield the edges, and count them. Their nodes must have been counted before."""
        for edge in edges:
            self.add_edge(edge.src_id, edge.dst_id)
            yield edge

    def add_node(self, id_: str) -> None:
        """Count a node."""
        self.parents[id_] = id_

    def add_edge(self, src_id: str, dst_id: str) -> None:
        """Count an edge. The components of its nodes become one component."""
        self.edge_count += 1
        self.parents[self._root(src_id)] = self._root(dst_id)

    def _root(self, id_: str) -> str:
        """The node that represents the connected component of a node."""
        while (parent := self.parents.setdefault(id_, id_)) != id_:
            self.parents[id_] = id_ = self.parents[parent]
        return id_

    def stats(self) -> GraphStats:
        """The counts so far."""
        return GraphStats(len(self.parents), self.edge_count, sum(id_ == parent for id_, parent in self.parents.items()), [])


def graph_stats(graph: GraphReader, now_us: int) -> GraphStats:
    """Count the nodes, the edges and the pipelines (connected parts) of the graph."""
    counter = GraphCounter()
    for _, heads in graph.inventory.heads(KINDS):
        for node in heads:
            counter.add_node(str(node.id))
    for _, links in read_links(graph, now_us):
        for link in links:
            counter.add_edge(str(link.src.id), str(link.dst.id))
    return counter.stats()
