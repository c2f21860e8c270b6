"""The nodes and edges in an import, and those that are skipped, as values."""

from typing import Any

from msgspec import UNSET, Struct, UnsetType

Text = str | UnsetType


class NodeIn(Struct, frozen=True):
    """A node in the body of an import. Unknown members are ignored."""

    node_id: str
    node_type: str | None = None
    namespace: str | None = None
    name: str | None = None
    environment_id: str | None = None
    environment_name: str | None = None
    cluster_id: str | None = None
    cluster_name: str | None = None
    attributes: dict[str, Any] | None = None
    tags: list[str] | None = None
    url: str | None = None
    first_seen: str | None = None
    last_seen: str | None = None
    aliases: list[dict[str, Any]] | None = None
    facets: dict[str, Any] | None = None


class EdgeIn(Struct, frozen=True):
    """An edge in the body of an import. Unknown members are ignored."""

    src_id: str
    dst_id: str
    edge_type: str
    confidence: float = 1.0
    attributes: dict[str, Any] | None = None
    facets: dict[str, Any] | None = None


class GraphIn(Struct, frozen=True):
    """The body of an import."""

    nodes: list[NodeIn]
    edges: list[EdgeIn] = []


class SkippedItem(Struct, frozen=True, omit_defaults=True):
    """A node or an edge that an import leaves out, and why."""

    reason: str
    node_id: Text = UNSET
    src_id: Text = UNSET
    dst_id: Text = UNSET
    edge_type: Text = UNSET
