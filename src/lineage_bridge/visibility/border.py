"""The border between the principal's own nodes and the rest of the graph: own nodes, neighbours with names, and places without names."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final, TypeAlias

from lineage_bridge.errors import NotFoundError
from lineage_bridge.model.access import Visibility
from lineage_bridge.model.graph import Node
from lineage_bridge.ports.graph_reader import NodeReader

BEYOND: Final = "(beyond)"
"""The namespace of places. The name of a place is its number."""

Flow: TypeAlias = tuple[Node, Node, Node]
"""Source, target and job of a flow. For a flow to or from a job, the job is also the source or the target."""


@dataclass
class Beyond:
    """How one answer shows nodes beyond the border, by the id of the group of names: as a neighbour with a name, or as a place.

    All readers of a question share this object, so that a dataset is the same node in all parts of an answer. Places are numbered anew for
    each answer: if a node had the same number in all answers, a place could be recognised as a node that another answer shows with its
    name.
    """

    neighbours: dict[int, Node] = field(default_factory=dict)
    places: dict[int, Node] = field(default_factory=dict)
    behind: dict[int, Node] = field(default_factory=dict)
    """Id of a place -> the node that it stands for."""


class Border:
    """Decides which nodes are own nodes, by the names of their groups; each group is decided once. `own` are the principal's namespaces."""

    def __init__(self, nodes: NodeReader, visibility: Visibility, own: frozenset[str], beyond: Beyond | None = None) -> None:
        self.nodes, self.visibility, self.own = nodes, visibility, own
        self.beyond = beyond or Beyond()
        self._is_own: dict[int, bool] = {}
        self._groups: dict[int, int] = {}

    def load(self, nodes: Iterable[Node]) -> None:
        """Decide for many nodes at once whether they are own nodes."""
        fresh = {node.id: node for node in nodes if node.id not in self._is_own and node.id not in self.beyond.behind}
        several = self.nodes.names_of(fresh.values()) if fresh else {}
        for id_, node in fresh.items():
            names = several.get(id_, (node,))
            self._is_own[id_] = any(name.namespace in self.own for name in names)
            self._groups[id_] = min(name.id for name in names)

    def is_own(self, node: Node) -> bool:
        """Whether a node has a name in the principal's namespaces."""
        if node.id in self.beyond.behind:
            return False
        if node.id not in self._is_own:
            self.load([node])
        return self._is_own[node.id]

    def touches(self, *nodes: Node) -> bool:
        """Whether one of these nodes is the principal's own."""
        return any(map(self.is_own, nodes))

    def require_own(self, node: Node) -> Node:
        """Return the node if it is the principal's own. Otherwise raises NotFoundError, as if it did not exist."""
        if not self.is_own(node):
            raise NotFoundError(f"there is no {node.kind.name.lower()} {node.name!r} in the namespace {node.namespace!r}")
        return node

    def note_neighbours(self, near: Node, far: Node) -> None:
        """Record that two nodes are neighbours: if one is own, the other may be shown with its name."""
        if self.visibility.neighbours:
            for own, other in ((near, far), (far, near)):
                if self.is_own(own) and not self.is_own(other) and other.id not in self.beyond.behind:
                    self.beyond.neighbours.setdefault(self.group(other), other)

    def note_flow(self, flow: Flow) -> None:
        """Record that the nodes of a flow are neighbours: source and job, job and target."""
        source, target, job = flow
        for pair in ((source, target),) if job.id in (source.id, target.id) else ((source, job), (job, target)):
            self.note_neighbours(*pair)

    def group(self, node: Node) -> int:
        """The id that stands for all names of a node."""
        node = self.behind(node)
        if node.id not in self._groups:
            self.load([node])
        return self._groups[node.id]

    def has_name(self, node: Node) -> bool:
        """Whether answers show the name of a node, because it is the principal's own or a neighbour of an own node."""
        return self.is_own(node) or self.group(node) in self.beyond.neighbours

    def shown(self, node: Node) -> Node:
        """A node as answers may show it: itself, a neighbour under the name by which it is a neighbour, or a place."""
        return self.all_shown([node])[node.id]

    def all_shown(self, nodes: Iterable[Node]) -> Mapping[int, Node]:
        """Each of these nodes as answers may show it, by node id. New places are numbered in the order of ids, which reveals
        nothing about names.
        """
        every = {node.id: node for node in nodes}
        self.load(every.values())
        hidden = {self.group(node): node for node in every.values() if not self.has_name(node)}
        for key in sorted(hidden.keys() - self.beyond.places.keys()):
            number = len(self.beyond.places) + 1
            self.beyond.places[key] = Node(number, hidden[key].kind, BEYOND, str(number))
            self.beyond.behind[number] = self.behind(hidden[key])
        return {id_: node if self.is_own(node) else self._beyond(self.group(node)) for id_, node in every.items()}

    def known(self, node: Node) -> Node | None:
        """The neighbour or place by which the answer already shows a node beyond the border; None if it does not show the node yet."""
        group = self.group(node)
        return self.beyond.neighbours.get(group) or self.beyond.places.get(group)

    def _beyond(self, group: int) -> Node:
        return self.beyond.neighbours.get(group) or self.beyond.places[group]

    def behind(self, node: Node) -> Node:
        """The real node that a place stands for. Any other node is returned unchanged."""
        return self.beyond.behind.get(node.id, node)
