"""Adds names in the style that a question asks for to the nodes of its answer."""

from collections.abc import Iterator
from typing import TypeVar

from msgspec import Struct
from msgspec.structs import replace

from lineage_bridge.api.dependencies import KINDS
from lineage_bridge.api.schemas.names import DatasetRef
from lineage_bridge.api.schemas.nodes import GraphNode
from lineage_bridge.model.graph import Node
from lineage_bridge.ports.graph_reader import NodeReader
from lineage_bridge.projections.shapes import Name

Answer = TypeVar("Answer")
_Key = tuple[str, str, str]


def apply_name_style(reader: NodeReader, answer: Answer, style: str) -> Answer:
    """Set `goes_by` on each node of an answer, or of a part of one, whose name in this style differs from the one that producers wrote."""
    nodes = {key: node for key, item in dict(_named_items(answer)).items() if (node := _node(reader, key, item))}
    names = reader.spelt(nodes.values(), style)
    return _with_names(answer, {key: Name(to.namespace, to.name) for key, node in nodes.items() if (to := names[node.id]) != node})


def _key(item: GraphNode | DatasetRef) -> _Key:
    return item.kind if isinstance(item, GraphNode) else item.entity, item.namespace, item.name


def _node(reader: NodeReader, key: _Key, item: GraphNode | DatasetRef) -> Node | None:
    kind, *name = key
    if isinstance(item, GraphNode):
        return Node(int.from_bytes(bytes.fromhex(item.id), "big", signed=True), KINDS[kind], *name)
    return reader.find(KINDS[kind], *name)


def _named_items(value: object) -> Iterator[tuple[_Key, GraphNode | DatasetRef]]:
    if isinstance(value, GraphNode | DatasetRef):
        yield _key(value), value
    elif isinstance(value, list):
        for item in value:
            yield from _named_items(item)
    elif isinstance(value, Struct):
        for field in value.__struct_fields__:
            yield from _named_items(getattr(value, field))


def _with_names(value: Answer, names: dict[_Key, Name]) -> Answer:
    if not names:
        return value
    if isinstance(value, GraphNode | DatasetRef):
        return replace(value, goes_by=names[_key(value)]) if _key(value) in names else value
    if isinstance(value, list):
        return [_with_names(item, names) for item in value]  # type: ignore[return-value]  # a list of the same items
    if isinstance(value, Struct):
        members = {field: getattr(value, field) for field in value.__struct_fields__}
        changed = {field: new for field, member in members.items() if (new := _with_names(member, names)) is not member}
        return replace(value, **changed)
    return value
