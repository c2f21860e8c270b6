"""The border between one's own part of the graph and the rest: what is one's own, who has a name beyond, and places without a name."""

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
    """What one answer has of the far side, by the id that stands for a group of names: the name of a neighbour, or a place.

    Shared by all readers of a question, so that what is one dataset in one part of an answer is one in all. Places are numbered by
    answers: a number that were the same in all would tell where a node is that has a name elsewhere.
    """

    neighbours: dict[int, Node] = field(default_factory=dict)
    places: dict[int, Node] = field(default_factory=dict)
    behind: dict[int, Node] = field(default_factory=dict)
    """Id of a place -> the node that it stands for."""


class Border:
    """Judges nodes by the names of their groups, and each group once. `own` are the namespaces that are one's own."""

    def __init__(self, nodes: NodeReader, visibility: Visibility, own: frozenset[str], beyond: Beyond | None = None) -> None:
        self.nodes, self.visibility, self.own = nodes, visibility, own
        self.beyond = beyond or Beyond()
        self._is_own: dict[int, bool] = {}
        self._groups: dict[int, int] = {}

    def load(self, nodes: Iterable[Node]) -> None:
        """Judge many nodes at once."""
        fresh = {node.id: node for node in nodes if node.id not in self._is_own and node.id not in self.beyond.behind}
        several = self.nodes.names_of(fresh.values()) if fresh else {}
        for id_, node in fresh.items():
            names = several.get(id_, (node,))
            self._is_own[id_] = any(name.namespace in self.own for name in names)
            self._groups[id_] = min(name.id for name in names)

    def is_own(self, node: Node) -> bool:
        """Whether a node has a name in one's own namespaces."""
        if node.id in self.beyond.behind:
            return False
        if node.id not in self._is_own:
            self.load([node])
        return self._is_own[node.id]

    def touches(self, *nodes: Node) -> bool:
        """Whether any of these nodes is one's own."""
        return any(map(self.is_own, nodes))

    def require_own(self, node: Node) -> Node:
        """The node, if it is one's own. Raises NotFoundError, as for a node that is not there."""
        if not self.is_own(node):
            raise NotFoundError(f"there is no {node.kind.name.lower()} {node.name!r} in the namespace {node.namespace!r}")
        return node

    def note_neighbours(self, near: Node, far: Node) -> None:
        """Two nodes lie next to each other: if one is one's own, the other may have a name."""
        if self.visibility.neighbours:
            for own, other in ((near, far), (far, near)):
                if self.is_own(own) and not self.is_own(other) and other.id not in self.beyond.behind:
                    self.beyond.neighbours.setdefault(self.group(other), other)

    def note_flow(self, flow: Flow) -> None:
        """A flow leads from its source to its job, and from there to its target."""
        source, target, job = flow
        for pair in ((source, target),) if job.id in (source.id, target.id) else ((source, job), (job, target)):
            self.note_neighbours(*pair)

    def group(self, node: Node) -> int:
        """What stands for all names of a node."""
        node = self.behind(node)
        if node.id not in self._groups:
            self.load([node])
        return self._groups[node.id]

    def has_name(self, node: Node) -> bool:
        """Whether a node is one's own, or known as a neighbour."""
        return self.is_own(node) or self.group(node) in self.beyond.neighbours

    def shown(self, node: Node) -> Node:
        """A node as an answer may have it: itself, a neighbour under the name by which it is one, or a place."""
        return self.all_shown([node])[node.id]

    def all_shown(self, nodes: Iterable[Node]) -> Mapping[int, Node]:
        """Node id to the node as an answer may have it. New places are numbered in the order of ids, which says nothing of names."""
        every = {node.id: node for node in nodes}
        self.load(every.values())
        hidden = {self.group(node): node for node in every.values() if not self.has_name(node)}
        for key in sorted(hidden.keys() - self.beyond.places.keys()):
            number = len(self.beyond.places) + 1
            self.beyond.places[key] = Node(number, hidden[key].kind, BEYOND, str(number))
            self.beyond.behind[number] = self.behind(hidden[key])
        return {id_: node if self.is_own(node) else self._beyond(self.group(node)) for id_, node in every.items()}

    def known(self, node: Node) -> Node | None:
        """What an answer has of a node beyond the border so far: the neighbour or the place; None if it has neither."""
        group = self.group(node)
        return self.beyond.neighbours.get(group) or self.beyond.places.get(group)

    def _beyond(self, group: int) -> Node:
        return self.beyond.neighbours.get(group) or self.beyond.places[group]

    def behind(self, node: Node) -> Node:
        """The node that a place stands for; any other is itself."""
        return self.beyond.behind.get(node.id, node)
