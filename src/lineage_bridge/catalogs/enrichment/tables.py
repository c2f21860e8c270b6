"""Which datasets of the graph are tables of a catalog."""

import threading
from collections import defaultdict
from collections.abc import Callable, Collection, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import Any, Final

from lineage_bridge.catalogs.desired import renamed
from lineage_bridge.catalogs.settings import TargetSettings
from lineage_bridge.catalogs.target import ObjectKey, ReadableCatalog
from lineage_bridge.errors import StoppedError
from lineage_bridge.graph.identity.steps import STANDARD
from lineage_bridge.graph.ids import NodeKind
from lineage_bridge.model.graph import Node
from lineage_bridge.model.inventory import InventoryEntry
from lineage_bridge.openlineage.naming import DatasetName
from lineage_bridge.ports.graph_reader import GraphReader
from lineage_bridge.projections.nodes import json_object
from lineage_bridge.sources.common.observer import Unseen

OpenGraph = Callable[[], AbstractContextManager[GraphReader]]
MOST_TABLES: Final = 50_000
"""The most tables of a catalog that an enrichment reads."""


@dataclass
class TablesFound:
    """The tables of a catalog that the graph has, each with the names of its datasets that get the facet.

    `present` are the names of the graph's datasets among those that had it before; `kept` are those of them about which nothing was found
    out. `problems` are datasets that are left out.
    """

    names: dict[ObjectKey, list[DatasetName]] = field(default_factory=lambda: defaultdict(list))
    present: set[DatasetName] = field(default_factory=set)
    kept: set[DatasetName] = field(default_factory=set)
    problems: list[Unseen] = field(default_factory=list)


def find_tables(
    graph: OpenGraph, catalog: ReadableCatalog[Any] | None, before: Collection[DatasetName], stop: threading.Event, most: int = MOST_TABLES
) -> TablesFound:
    """The tables in the graph, at most `most`; none without a `catalog`. A dataset gets the facet under the names that had it `before`,
    else under its own one.

    A dataset whose names are different tables is none of them. Raises StoppedError, StoreError.
    """
    found = TablesFound()
    left_out = 0
    style = catalog.settings.names if catalog else STANDARD
    for entry, published in _datasets(graph, style, stop):
        names = [(member.namespace, member.name) for member in entry.members]
        earlier = [name for name in names if name in before]
        found.present.update(earlier)
        keys = sorted(_tables_of(entry, published, catalog)) if catalog else []
        if len(keys) > 1:
            which = " and ".join(key.name for key in keys[:3])
            found.problems.append(Unseen(f"dataset {entry.node.namespace} {entry.node.name}", f"its names are different tables: {which}"))
        elif keys and keys[0] not in found.names and len(found.names) == most:
            left_out += 1
            found.kept.update(earlier)
        elif keys:
            found.names[keys[0]] += earlier or [(entry.node.namespace, entry.node.name)]
    if left_out:
        found.problems.append(Unseen("catalog", f"{left_out} datasets beyond the first {most} tables are not read"))
    return found


def _datasets(graph: OpenGraph, style: str, stop: threading.Event) -> Iterator[tuple[InventoryEntry, Node]]:
    """Each dataset of the graph, and its name in a style."""
    with graph() as reader:
        for portion, nodes in reader.inventory.heads((NodeKind.DATASET,)):
            if stop.is_set():
                raise StoppedError("stopped")
            spelt = portion.nodes.spelt(nodes, style)
            yield from ((entry, spelt[entry.node.id]) for entry in portion.inventory.entries(nodes))


def _tables_of(entry: InventoryEntry, published: Node, catalog: ReadableCatalog[Any]) -> set[ObjectKey]:
    """The tables that a dataset is by its `published` name, by any other one, and by those that its producers state, each as the settings
    of the target map it.
    """
    stated = json_object(entry.facets["symlinks"]).get("identifiers") if "symlinks" in entry.facets else None
    named = [{"namespace": node.namespace, "name": node.name} for node in (published, *entry.members)]
    others = [other for other in (stated if isinstance(stated, list) else ()) if isinstance(other, dict)]
    settings: TargetSettings = catalog.settings
    mapped = renamed([*named, *others], settings.map_namespaces, settings.map_names)
    keys = (catalog.table_key(str(name.get("namespace", "")), str(name.get("name", ""))) for name in mapped)
    return {key for key in keys if key is not None}
