"""Reads the owners of datasets, and how long their data is kept (their retention), now or as of an earlier time."""

import time
from collections.abc import Iterable

from lineage_bridge.errors import NotFoundError
from lineage_bridge.graph.contents.stewardship import KEYS, Stewardship, stewardship
from lineage_bridge.graph.ids import NodeKind
from lineage_bridge.model.graph import Node
from lineage_bridge.model.history import FacetPage
from lineage_bridge.ports.graph_reader import GraphReader

_NEWEST = FacetPage(1, 0, 1_000_000)


def read_stewardship(graph: GraphReader, nodes: Iterable[Node], at_us: int | None, seconds: float) -> tuple[dict[Node, Stewardship], bool]:
    """Read the owners and the retention of the datasets among these nodes, in the order of their names. A dataset of which the principal
    may only see the name gets empty values. Stops after `seconds`. Also returns whether all datasets were read.
    """
    ends = time.monotonic() + seconds
    datasets = sorted((node for node in nodes if node.kind is NodeKind.DATASET), key=lambda node: (node.namespace, node.name))
    found: dict[Node, Stewardship] = {}
    for node in datasets:
        if time.monotonic() >= ends:
            return found, False
        found[node] = stewardship(graph.nodes.facets(node, keys=KEYS) if at_us is None else _facets_at(graph, node, at_us))
    return found, True


def _facets_at(graph: GraphReader, node: Node, at_us: int) -> dict[str, str]:
    try:
        newest = {key: graph.history.facet(node, key, at_us, _NEWEST).entries for key in KEYS}
    except NotFoundError:  # a neighbour: the principal may only see its name
        return {}
    return {key: entries[0].text for key, entries in newest.items() if entries and not entries[0].deleted}
