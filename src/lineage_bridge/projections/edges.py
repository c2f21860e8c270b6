"""Builds the edges of the graph in LineageBridge's own JSON format."""

from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Final

import msgspec
from msgspec import Raw

from lineage_bridge.graph.relations import Evidence, Origin, Side
from lineage_bridge.model.graph import Edge, Node, Port
from lineage_bridge.model.inventory import InventoryEntry
from lineage_bridge.openlineage.times import format_time
from lineage_bridge.ports.graph_reader import GraphReader
from lineage_bridge.projections.importing.facet import ImportedEdge, ImportFacet, read_import_facet
from lineage_bridge.projections.nodes import json_object
from lineage_bridge.projections.shapes import LineageEdge

TRANSFORMING: Final = frozenset(("ksqldb_query", "flink_job", "streams_application", "spark_job", "dbt_job", "notebook", "catalog_query"))
"""The types of jobs that transform data, instead of only moving it."""
_CONFIDENCE: Final = {Origin.OBSERVED: 1.0, Origin.DECLARED: 0.9, Origin.INFERRED: 0.6}


class GraphLink:
    """An edge between the canonical nodes of two groups, with the best evidence for it. `side` is None if the edge is not between a job and
    its input or output.
    """

    __slots__ = ("confidence", "dst", "label", "last", "origin", "side", "src")

    def __init__(self, src: Node, dst: Node, side: Side | None, evidence: Edge | Port) -> None:
        self.src, self.dst, self.side = src, dst, side
        self.confidence, self.origin = _confidence(evidence), evidence.origin
        self.label, self.last = evidence.label, evidence.last

    @property
    def key(self) -> tuple[int, int, Side | None]:
        """The identity of the edge. Links with the same key are the same edge."""
        return self.src.id, self.dst.id, self.side

    def add(self, other: "GraphLink") -> None:
        """Add more evidence for the same edge."""
        if other.confidence > self.confidence:
            self.confidence, self.origin, self.label = other.confidence, other.origin, other.label
        if other.last is not None and (self.last is None or other.last > self.last):
            self.last = other.last


def _confidence(evidence: Edge | Port) -> float:
    is_stitched = isinstance(evidence, Edge) and evidence.evidence == Evidence.STITCHED
    return min(_CONFIDENCE[evidence.origin], 0.6 if is_stitched else 1.0)


def merge_links(links: Iterable[GraphLink]) -> list[GraphLink]:
    """Merge links that are the same edge, so that each edge has one link."""
    merged: dict[tuple[int, int, Side | None], GraphLink] = {}
    for link in links:
        if link.key in merged:
            merged[link.key].add(link)
        else:
            merged[link.key] = link
    return list(merged.values())


def port_links(ports: Iterable[Port], heads: Mapping[int, Node]) -> Iterator[GraphLink]:
    """Make links from inputs to their job, and from a job to its outputs. `heads`: for each node id, the node that stands for its group."""
    for port in ports:
        job, dataset = heads[port.job.id], heads[port.dataset.id]
        source, target = (dataset, job) if port.side == Side.INPUT else (job, dataset)
        yield GraphLink(source, target, port.side, port)


class EdgeBuilder:
    """Builds edges from links. `entries`: the inventory entries of the nodes at both ends, by node id."""

    def __init__(self, entries: Mapping[int, InventoryEntry]) -> None:
        self.entries = entries
        self._facets: dict[int, ImportFacet | None] = {}

    def edge(self, link: GraphLink) -> LineageEdge:
        """Make the edge of a link. If the edge was only declared, by an import, it has the values that the import stated."""
        src, dst = self.entries[link.src.id], self.entries[link.dst.id]
        imported = self._imported(link, src, dst) if link.origin == Origin.DECLARED else None
        return LineageEdge(
            src_id=src.node_id.id,
            dst_id=dst.node_id.id,
            edge_type=imported.type if imported else _edge_type(link.side, (src if link.side == Side.OUTPUT else dst).node_id.type),
            confidence=imported.confidence if imported else link.confidence,
            attributes=json_object(imported.attributes) if imported else {},
            first_seen=None,
            last_seen=None if link.last is None else format_time(link.last),
            origin=link.origin.name.lower(),
            label=link.label.value,
        )

    def edge_with_columns(self, reader: GraphReader, link: GraphLink) -> LineageEdge:
        """Make the edge of a link, with the job's statements about columns if the edge leads from a job to an output."""
        edge = self.edge(link)
        if link.side != Side.OUTPUT:
            return edge
        text = column_lineage(reader, self.entries[link.dst.id], self.entries[link.src.id])
        return msgspec.structs.replace(edge, facets={"columnLineage": Raw(text.encode())}) if text else edge

    def _imported(self, link: GraphLink, src: InventoryEntry, dst: InventoryEntry) -> ImportedEdge | None:
        holder = src if link.side == Side.OUTPUT else dst
        if holder.node.id not in self._facets:
            self._facets[holder.node.id] = read_import_facet(holder.facets)
        facet = self._facets[holder.node.id]
        return facet.edge(_names(src), _names(dst)) if facet else None


def _names(entry: InventoryEntry) -> list[tuple[str, str]]:
    return [(node.namespace, node.name) for node in (*entry.members, entry.named)]


def column_lineage(reader: GraphReader, dataset: InventoryEntry, job: InventoryEntry) -> str | None:
    """The text of a job's `columnLineage` facet for an output, under any of their names."""
    pairs = ((member, name) for member in dataset.members for name in job.members)
    texts = [text for pair in pairs if (text := reader.nodes.facets(*pair).get("columnLineage"))]
    return texts[-1] if texts else None


def _edge_type(side: Side | None, job_type: str) -> str:
    if side is None or job_type in TRANSFORMING:
        return "transforms"
    if side == Side.INPUT:
        return "consumes"
    return "materializes" if job_type == "tableflow_sync" else "produces"


def end_nodes(links: Collection[GraphLink]) -> list[Node]:
    """The nodes at both ends of links, ordered by id."""
    return sorted({end for link in links for end in (link.src, link.dst)}, key=lambda node: node.id)
