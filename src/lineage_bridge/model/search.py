"""What a search looks for and finds."""

from dataclasses import dataclass

from lineage_bridge.graph.ids import NodeKind
from lineage_bridge.model.graph import Node


@dataclass(frozen=True)
class SearchFilter:
    """What to search: nodes that contain every word of `text` in the fields asked for (`name` stands for namespace and name).

    A word matches the beginning of a word that is said, or any part of a name. The other members leave out what does not fit: `tag` is a
    key or `key=value`, `has` are keys of current facets. Without text, `owner` or `tag` is searched for.
    """

    text: str
    kind: NodeKind | None = None
    namespace: str | None = None
    owner: str | None = None
    tag: str | None = None
    has: tuple[str, ...] = ()
    fields: tuple[str, ...] = ("name", "column", "owner", "tag", "description", "sql")
    limit: int = 50
    offset: int = 0


@dataclass(frozen=True)
class Match:
    """A node that was found: by its name, by lines of what is said of it as (field, line), or by both."""

    node: Node
    named: bool
    lines: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class SearchPage:
    """What was found, names first. `truncated`: so much matches that only some of it was looked at."""

    matches: tuple[Match, ...]
    truncated: bool
