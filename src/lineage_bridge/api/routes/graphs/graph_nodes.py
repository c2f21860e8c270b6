"""Nodes and edges of the graph in the shapes of LineageBridge's users."""

from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any, Final

import msgspec
from msgspec import UNSET, Raw

from lineage_bridge.api import serialization
from lineage_bridge.api.routes.graphs.importing import IMPORTED, Kept, KeptEdge, kept
from lineage_bridge.api.schemas.answers import Name
from lineage_bridge.api.schemas.graphs import LineageEdge, LineageNode
from lineage_bridge.graph.identity.node_ids import CATALOGS, display_name, environment, qualified_name
from lineage_bridge.graph.relations import Evidence, Origin, Side
from lineage_bridge.model.graph import Edge, Node, Port
from lineage_bridge.model.inventory import Entry
from lineage_bridge.openlineage.times import format_time
from lineage_bridge.ports.graph_reader import GraphReader

Json = dict[str, Any]
TRANSFORMING: Final = frozenset(("ksqldb_query", "flink_job", "streams_application", "spark_job", "dbt_job", "notebook", "catalog_query"))
"""The types of jobs that make new data of what they read."""
_CONFIDENCE: Final = {Origin.OBSERVED: 1.0, Origin.DECLARED: 0.9, Origin.INFERRED: 0.6}
_OWN = "confluent_"
_PLACES = ("environment_id", "environment_name", "cluster_id", "cluster_name", "tags", "url")
_JSON = msgspec.json.Decoder()


def lineage_node(entry: Entry, *, facets: bool = False) -> LineageNode:
    """A node; with `facets`, with all that is said of it."""
    stated = kept(entry.facets) or Kept()
    named, attributes = entry.named, _object(stated.attributes) | _attributes(entry.facets)
    env, cluster = environment(named.namespace)
    return LineageNode(
        node_id=entry.called.id,
        system=entry.called.system,
        node_type=entry.called.type,
        qualified_name=qualified_name(entry.called.id),
        display_name=display_name(entry.called.type, named.name),
        environment_id=env or _text(attributes, "environment_id"),
        environment_name=_text(attributes, "environment_name") or stated.environment_name,
        cluster_id=cluster or _text(attributes, "cluster_id"),
        cluster_name=_text(attributes, "cluster_name") or stated.cluster_name,
        catalog_type=CATALOGS.get(entry.called.system) if entry.called.type == "catalog_table" else None,
        attributes={key: value for key, value in attributes.items() if key not in _PLACES},
        tags=sorted({*_tags(entry.facets, attributes), *stated.tags}),
        url=_text(attributes, "url") or _source(entry.facets) or stated.url,
        first_seen=format_time(entry.first),
        last_seen=None if entry.last is None else format_time(entry.last),
        id=serialization.id_of(entry.node),
        kind=entry.node.kind.name.lower(),
        namespace=entry.node.namespace,
        name=entry.node.name,
        aliases=[Name(node.namespace, node.name) for node in entry.members if node != entry.node],
        facets={key: Raw(text.encode()) for key, text in entry.facets.items() if key != IMPORTED} if facets else UNSET,
    )


def _attributes(facets: Mapping[str, str]) -> Json:
    found: Json = {}
    for key in sorted(key for key in facets if key.startswith(_OWN)):
        found |= {name: value for name, value in _object(facets[key]).items() if not name.startswith("_")}
    for key, member, name in (("documentation", "description", "description"), ("sql", "query", "sql")):
        if isinstance(value := _object(facets.get(key)).get(member), str):
            found[name] = value
    return found


def _tags(facets: Mapping[str, str], attributes: Json) -> list[str]:
    """Tags of the dataset or job itself, as words, or `key=value`."""
    own, stated = attributes.get("tags"), _object(facets.get("tags")).get("tags")
    found = {tag for tag in own if isinstance(tag, str)} if isinstance(own, list) else set()
    for tag in stated if isinstance(stated, list) else ():
        if isinstance(tag, dict) and isinstance(key := tag.get("key"), str) and not tag.get("field"):
            value = tag.get("value")
            found.add(f"{key}={value}" if value not in (None, "", "true", True) else key)
    return sorted(found)


def _source(facets: Mapping[str, str]) -> str | None:
    """The address of where a dataset can be looked at, if that is what its source is."""
    uri = _object(facets.get("dataSource")).get("uri")
    return uri if isinstance(uri, str) and uri.startswith(("http://", "https://")) else None


def _text(attributes: Json, key: str) -> str | None:
    value = attributes.get(key)
    return value if isinstance(value, str) and value else None


def _object(text: str | None) -> Json:
    value = _JSON.decode(text) if text else None
    return value if isinstance(value, dict) else {}


class Link:
    """An edge between two nodes that stand for their groups, with the best that is known of it.

    `side` is None where no job reads or writes.
    """

    __slots__ = ("confidence", "dst", "label", "last", "origin", "side", "src")

    def __init__(self, src: Node, dst: Node, side: Side | None, part: Edge | Port) -> None:
        self.src, self.dst, self.side = src, dst, side
        self.confidence, self.origin, self.label, self.last = _worth(part), part.origin, part.label, part.last

    @property
    def key(self) -> tuple[int, int, Side | None]:
        """What makes two edges one."""
        return self.src.id, self.dst.id, self.side

    def add(self, other: "Link") -> None:
        """Learn of the same edge once more."""
        if other.confidence > self.confidence:
            self.confidence, self.origin, self.label = other.confidence, other.origin, other.label
        if other.last is not None and (self.last is None or other.last > self.last):
            self.last = other.last


def _worth(part: Edge | Port) -> float:
    guessed = isinstance(part, Edge) and part.evidence == Evidence.STITCHED
    return min(_CONFIDENCE[part.origin], 0.6 if guessed else 1.0)


def merged(links: Iterable[Link]) -> list[Link]:
    """The same, each edge once."""
    found: dict[tuple[int, int, Side | None], Link] = {}
    for link in links:
        if link.key in found:
            found[link.key].add(link)
        else:
            found[link.key] = link
    return list(found.values())


def port_links(ports: Iterable[Port], heads: Mapping[int, Node]) -> Iterator[Link]:
    """Inputs lead to their job, outputs come from it."""
    for port in ports:
        job, dataset = heads[port.job.id], heads[port.dataset.id]
        yield Link(dataset, job, port.side, port) if port.side == Side.INPUT else Link(job, dataset, port.side, port)


class EdgeTeller:
    """Tells of edges between nodes that are known: node id of each end to what is known of it."""

    def __init__(self, entries: Mapping[int, Entry]) -> None:
        self.entries = entries
        self._kept: dict[int, Kept | None] = {}

    def __call__(self, link: Link) -> LineageEdge:
        """An edge, as an import stated it if nothing was observed."""
        src, dst = self.entries[link.src.id], self.entries[link.dst.id]
        stated = self._stated(link, src, dst) if link.origin == Origin.DECLARED else None
        return LineageEdge(
            src_id=src.called.id,
            dst_id=dst.called.id,
            edge_type=stated.type if stated else _edge_type(link.side, (src if link.side == Side.OUTPUT else dst).called.type),
            confidence=stated.confidence if stated else link.confidence,
            attributes=_object(stated.attributes) if stated else {},
            first_seen=None,
            last_seen=None if link.last is None else format_time(link.last),
            origin=link.origin.name.lower(),
            label=link.label.value,
        )

    def _stated(self, link: Link, src: Entry, dst: Entry) -> KeptEdge | None:
        holder = src if link.side == Side.OUTPUT else dst
        if holder.node.id not in self._kept:
            self._kept[holder.node.id] = kept(holder.facets)
        known = self._kept[holder.node.id]
        return known.edge(_names(src), _names(dst)) if known else None


def _names(entry: Entry) -> list[tuple[str, str]]:
    return [(node.namespace, node.name) for node in (*entry.members, entry.named)]


def with_columns(reader: GraphReader, tell: EdgeTeller, link: Link, edge: LineageEdge) -> LineageEdge:
    """An edge from a job to what it writes, with what the job says of the columns."""
    found = columns_of(reader, tell.entries[link.dst.id], tell.entries[link.src.id])
    return msgspec.structs.replace(edge, facets={"columnLineage": Raw(found.encode())}) if found else edge


def columns_of(reader: GraphReader, dataset: Entry, job: Entry) -> str | None:
    """The text of what a job says of the columns of what it writes, under any name of the two."""
    pairs = ((member, name) for member in dataset.members for name in job.members)
    found = [text for pair in pairs if (text := reader.nodes.facets(*pair).get("columnLineage"))]
    return found[-1] if found else None


def _edge_type(side: Side | None, job_type: str) -> str:
    if side is None or job_type in TRANSFORMING:
        return "transforms"
    if side == Side.INPUT:
        return "consumes"
    return "materializes" if job_type == "tableflow_sync" else "produces"


def ends(links: Collection[Link]) -> list[Node]:
    """The nodes at both ends of these edges."""
    return sorted({end for link in links for end in (link.src, link.dst)}, key=lambda node: node.id)
