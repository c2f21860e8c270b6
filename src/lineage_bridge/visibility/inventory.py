"""Reads the inventory of the principal's own nodes, with their neighbours."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace

from lineage_bridge.graph.identity.node_ids import make_node_id
from lineage_bridge.graph.ids import NodeKind
from lineage_bridge.model.graph import Edge, Node, Port
from lineage_bridge.model.inventory import InventoryEntry
from lineage_bridge.ports.graph_reader import GraphReader, InventoryReader
from lineage_bridge.visibility.border import Border
from lineage_bridge.visibility.flows import flow_of, shown_edges, shown_ports
from lineage_bridge.visibility.nodes import shown_facets

OpenReader = Callable[[GraphReader], GraphReader]


class LimitedInventory:
    """Implements ports.InventoryReader. `lists` is a reader limited to the principal's namespaces; `open_reader` opens a reader with
    the same limits as this one.
    """

    def __init__(self, inventory: InventoryReader, lists: InventoryReader, border: Border, open_reader: OpenReader) -> None:
        self._inventory, self._lists, self._border, self._open_reader = inventory, lists, border, open_reader

    def heads(self, kinds: Sequence[NodeKind]) -> Iterator[tuple[GraphReader, list[Node]]]:
        """The nodes that stand for own datasets and jobs, one for each group of names."""
        for reader, nodes in self._lists.heads(kinds):
            yield self._open_reader(reader), nodes

    def listed(
        self, kind: NodeKind, namespace: str | None, name: str | None, offset: int
    ) -> Iterator[tuple[GraphReader, list[tuple[int, Node]], int]]:
        """Own datasets or jobs with a name in the principal's namespaces that matches globs."""
        for reader, nodes, behind in self._lists.listed(kind, namespace, name, offset):
            yield self._open_reader(reader), nodes, behind

    def quiet(self) -> Iterator[tuple[GraphReader, list[Node]]]:
        """Own jobs without an observed run, and own datasets that no job names or that declare their own lineage."""
        for reader, nodes in self._lists.quiet():
            yield self._open_reader(reader), nodes

    def canonical_nodes(self, nodes: Iterable[Node]) -> dict[int, Node]:
        """For each node, the node that stands for its group of names. A node that is not own stands for itself."""
        every = {node.id: node for node in nodes}
        return {**every, **self._inventory.canonical_nodes(self._own(every.values()))}

    def entries(self, heads: Sequence[Node]) -> list[InventoryEntry]:
        """The complete entries of own nodes. Entries of other nodes only have the name that the answer shows."""
        known = {entry.node.id: self._entry(entry) for entry in self._inventory.entries(self._own(heads))}
        return [known.get(node.id) or _bare(node) for node in heads]

    def described(self, nodes: Iterable[Node]) -> dict[int, InventoryEntry]:
        """The entries of these nodes, by the ids of all nodes in their groups."""
        every = list(nodes)
        known = self._inventory.described(self._own(every))
        return {node.id: self._entry(known[node.id]) if node.id in known else _bare(node) for node in every}

    def facets_of(self, nodes: Iterable[Node], keys: Sequence[str]) -> dict[int, dict[str, str]]:
        """The facets of own nodes. Other nodes have none."""
        every = list(nodes)
        known = self._inventory.facets_of(self._own(every), keys)
        return {node.id: dict(shown_facets(self._border, known.get(node.id, {}))) for node in every}

    def _entry(self, entry: InventoryEntry) -> InventoryEntry:
        return replace(entry, facets=shown_facets(self._border, entry.facets))

    def _own(self, nodes: Iterable[Node]) -> list[Node]:
        every = list(nodes)
        self._border.load(every)
        return [node for node in every if self._border.is_own(node)]

    def by_node_id(self, text: str) -> list[Node]:
        """The own nodes that a node id may denote."""
        return self._own(self._inventory.by_node_id(text))

    def ran(self, jobs: Sequence[Node]) -> list[Node]:
        """Those of these jobs that are own and have an observed run."""
        return self._inventory.ran(self._own(jobs))

    def ports(self, jobs: Iterable[Node], *, now_us: int) -> list[Port]:
        """The inputs and outputs of these jobs, at own nodes."""
        return shown_ports(self._border, self._inventory.ports(map(self._border.behind, jobs), now_us=now_us))

    def unnamed_ports(self, *, now_us: int) -> list[Port]:
        """The ends of jobs' flows, at own nodes, that the jobs never named."""
        return shown_ports(self._border, self._inventory.unnamed_ports(now_us=now_us))

    def direct(self, *, now_us: int) -> Iterator[Edge]:
        """The flows at own nodes between two nodes that are not a job's input or output."""
        own = [edge for edge in self._inventory.direct(now_us=now_us) if self._border.touches(*flow_of(edge))]
        yield from shown_edges(self._border, own)


def _bare(node: Node) -> InventoryEntry:
    """The entry of a node beyond the border. It has only a name."""
    return InventoryEntry(node, node, (node,), make_node_id(node.kind, node.namespace, node.name, None), {}, None, None)
