"""The facet with everything about an imported node and its edges that no other facet can express."""

from collections.abc import Iterable, Mapping
from typing import Final

import msgspec
from msgspec import Struct

IMPORTED: Final = "lineagebridge_import"
"""The facet's key."""
Name = tuple[str, str]
"""Namespace and name."""


class ImportedEdge(Struct, frozen=True):
    """What an import stated about an edge. `attributes` is a JSON object as text."""

    source: dict[str, str]
    target: dict[str, str]
    type: str
    confidence: float
    attributes: str = "{}"


class ImportFacet(Struct, frozen=True):
    """What an import stated about a node, and about the edges that the node's event states; `attributes` is JSON text."""

    edges: list[ImportedEdge] = []
    attributes: str = "{}"
    environment_name: str | None = None
    cluster_name: str | None = None
    url: str | None = None
    tags: list[str] = []

    def edge(self, source: Iterable[Name], target: Iterable[Name]) -> ImportedEdge | None:
        """The imported edge between two nodes, each given by all its names."""
        sources, targets = set(source), set(target)
        return next((edge for edge in self.edges if _name_of(edge.source) in sources and _name_of(edge.target) in targets), None)


def _name_of(end: Mapping[str, str]) -> Name:
    return end.get("namespace", ""), end.get("name", "")


_FACETS = msgspec.json.Decoder(ImportFacet)


def read_import_facet(facets: Mapping[str, str]) -> ImportFacet | None:
    """The import's facet among a node's facets; None if it has none that can be read."""
    try:
        return _FACETS.decode(facets[IMPORTED]) if IMPORTED in facets else None
    except msgspec.DecodeError:
        return None
