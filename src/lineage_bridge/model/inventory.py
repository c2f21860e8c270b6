"""The graph as a list of nodes and edges, each dataset and job once."""

from collections.abc import Mapping
from dataclasses import dataclass

from lineage_bridge.graph.identity.node_ids import Called
from lineage_bridge.model.graph import Node


@dataclass(frozen=True)
class Entry:
    """A dataset or job, by the node that stands for all its names, with what is said of it under any of them.

    `named` is the same under the name that LineageBridge would write. `facets` is facet key to JSON text. `first` and `last`: when it was
    first named, and when a run or statement that speaks of it spoke last (UTC microseconds; None if none does).
    """

    node: Node
    named: Node
    members: tuple[Node, ...]
    called: Called
    facets: Mapping[str, str]
    first: int
    last: int | None
