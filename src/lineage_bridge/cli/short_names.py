"""Shortens the names of nodes as far as they stay unambiguous within one answer."""

from collections import Counter
from collections.abc import Iterable

from lineage_bridge.cli.client import Json


class ShortNames:
    """Writes a node of an answer by its name alone, or as "namespace name" if the answer has the name in several namespaces."""

    def __init__(self, nodes: Iterable[Json]) -> None:
        self._counts = Counter(name for _, name in {(node["namespace"], node["name"]) for node in nodes})

    def __call__(self, node: Json) -> str:
        """The short name of a node of the answer."""
        return f"{node['namespace']} {node['name']}" if self._counts[node["name"]] > 1 else str(node["name"])

    def join(self, nodes: Iterable[Json]) -> str:
        """The short names of several nodes, on one line."""
        return ", ".join(map(self, nodes))
