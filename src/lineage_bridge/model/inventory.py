"""The inventory: every dataset and job once, under all its names."""

from collections.abc import Mapping
from dataclasses import dataclass

from lineage_bridge.graph.identity.node_ids import NodeId
from lineage_bridge.model.graph import Node


@dataclass(frozen=True)
class InventoryEntry:
    """A dataset or job: its canonical node, all its names (`members`), and what was stated under any of these names.

    `named` is the same node under its name in LineageBridge's own style. `facets` maps facet key to JSON text, and may read a text from the
    store only when it is looked up. `first` is when it was first named, None if unknown. `last` is the time of the latest run or
    declaration that names it, None if there is none. `last_written` is the time of the latest run that names the dataset as its output,
    `last_read` that of the latest run that names it as its input. Times are UTC microseconds.
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
