"""Reads facets, now or as of an earlier time; and by them the owners of datasets, and how long their data is kept (their retention)."""

import time
from collections.abc import Iterable, Sequence
from typing import Final

from lineage_bridge.errors import NotFoundError
from lineage_bridge.graph.contents.stewardship import KEYS, Stewardship, stewardship
from lineage_bridge.graph.ids import NodeKind
from lineage_bridge.model.graph import Node
from lineage_bridge.model.history import FacetEntry, FacetPage
from lineage_bridge.ports.graph_reader import GraphReader

PORTION: Final = 256
"""How many datasets are read at once."""
_NEWEST = FacetPage(1, 0, 1_000_000)


def read_stewardship(graph: GraphReader, nodes: Iterable[Node], at_us: int | None, seconds: float) -> tuple[dict[Node, Stewardship], bool]:
    """Read the owners and the retention of the datasets among these nodes, in the order of their names. A dataset of which the principal
    may only see the name gets empty values. Stops after `seconds`. Also returns whether all datasets were read.
    """
    ends = time.monotonic() + seconds
    datasets = sorted((node for node in nodes if node.kind is NodeKind.DATASET), key=lambda node: (node.namespace, node.name))
    found: dict[Node, Stewardship] = {}
    for start in range(0, len(datasets), PORTION if at_us is None else 1):
        if time.monotonic() >= ends:
            return found, False
        some = datasets[start : start + PORTION] if at_us is None else datasets[start : start + 1]
        facets = graph.inventory.facets_of(some, KEYS) if at_us is None else {n.id: facets_at(graph, n, KEYS, at_us) for n in some}
        found.update((node, stewardship(facets[node.id])) for node in some)
    return found, True


def facets_at(graph: GraphReader, node: Node, keys: Sequence[str], at_us: int | None) -> dict[str, str]:
    """The JSON texts of those facets with these keys that a node had at a time (None: has now), by key; empty for a node of which the
    principal may only see the name.
    """
    if at_us is None:
        return graph.nodes.facets(node, keys=keys)
    try:
        found = {key: _newest(graph, node, key, at_us) for key in keys}
    except NotFoundError:  # a neighbour: the principal may only see its name
        return {}
    return {key: entry.text for key, entry in found.items() if entry is not None}


def newest_facet(graph: GraphReader, node: Node, key: str, at_us: int | None) -> FacetEntry | None:
    """The newest version of a facet that a node had at a time (None: has now); None if it had none. Raises NotFoundError for a node of
    which the principal may only see the name.
    """
    if at_us is None and not graph.nodes.facets(node, keys=(key,)):
        return None  # cheaper than its history, and most nodes have none
    return _newest(graph, node, key, at_us)


def _newest(graph: GraphReader, node: Node, key: str, at_us: int | None) -> FacetEntry | None:
    entries = graph.history.facet(node, key, at_us, _NEWEST).entries
    return entries[0] if entries and not entries[0].deleted else None
