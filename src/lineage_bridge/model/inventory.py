"""The inventory: every dataset and job once, under all its names."""

from collections.abc import Mapping
from dataclasses import dataclass

from lineage_bridge.graph.identity.node_ids import NodeId
from lineage_bridge.model.graph import Node


@dataclass(frozen=True)
class InventoryEntry:
    """A dataset or job: the node that stands for it, all its names (`members`), and what was stated under any of them.

    `named` is the same node in LineageBridge's own name style. `facets` maps facet key to JSON text, and may read a text from the store
    only when it is looked up. `first` is when it was first named, None where that is not known. `last` is the time of the latest run or
    declaration that names it, None if there is none; `last_written` and `last_read` are those of the latest run that names the dataset as
    its output and as its input. Times are UTC microseconds.
    """

    node: Node
    named: Node
    members: tuple[Node, ...]
    node_id: NodeId
    facets: Mapping[str, str]
    first: int | None
    last: int | None
    last_written: int | None = None
    last_read: int | None = None
