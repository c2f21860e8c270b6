"""Short names for the lines of an answer, which stay unambiguous within it."""

from collections import Counter
from collections.abc import Iterable

from lineage_bridge.cli.client import Json


class ShortNames:
    """Writes the nodes of one answer: by name alone, or as "namespace name" where the answer has that name in several namespaces."""

    def __init__(self, nodes: Iterable[Json]) -> None:
        self._counts = Counter(name for _, name in {(node["namespace"], node["name"]) for node in nodes})

    def __call__(self, node: Json) -> str:
        """A node of the answer."""
        return f"{node['namespace']} {node['name']}" if self._counts[node["name"]] > 1 else str(node["name"])

    def join(self, nodes: Iterable[Json]) -> str:
        """Several nodes on one line."""
        return ", ".join(map(self, nodes))
