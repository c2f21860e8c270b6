"""Search conditions and results."""

from dataclasses import dataclass

from lineage_bridge.graph.ids import NodeKind
from lineage_bridge.model.graph import Node


@dataclass(frozen=True)
class SearchFilter:
    """A search for nodes that contain every word of `text` in the given `fields`, where `name` stands for namespace and name.

    A word of the text matches the beginning of a word in a facet, or any part of a name. The other members are filters: `tag` is a key or
    `key=value`, `has` are keys of current facets, each stated under any name of the node. Without a text, the filters alone select the
    nodes.
    """

    text: str
    kind: NodeKind | None = None
    namespace: str | None = None
    owner: str | None = None
    tag: str | None = None
    has: tuple[str, ...] = ()
    fields: tuple[str, ...] = ("name", "column", "owner", "tag", "description", "sql", "failure")
    limit: int = 50
    offset: int = 0


@dataclass(frozen=True)
class Match:
    """A node that matches a search, under the first of its names that match. It matches by name (`named`), by lines of its facets,
    given as (field, line), or by both.
    """

    node: Node
    named: bool
    lines: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class SearchPage:
    """Search results, matches of names first. `truncated`: there are so many matches that only some were examined."""

    matches: tuple[Match, ...]
    truncated: bool
