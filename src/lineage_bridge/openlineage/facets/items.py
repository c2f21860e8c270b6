"""Reads a facet item by item, so that a malformed element of a list or map is left out and all others are kept. Explicit lineage
(`lineage`) is an exception: it states all flows, so without one of its elements it would state something else.
"""

from collections.abc import Callable, Iterable
from functools import lru_cache, partial
from typing import Any

import msgspec
from msgspec import inspect

from lineage_bridge.conversion import convert
from lineage_bridge.openlineage.facets.facet import MAX_NAME, UNREADABLE, Facet
from lineage_bridge.openlineage.json_text import Spend, member_path, no_limit

MAX_LOST = 50
"""The maximum number of unreadable items that are listed for one facet."""
_ITEM_NS = 3_000
"""The approximate cost of reading one object by itself, in nanoseconds."""


def read_items(kind: type[Facet], text: bytes, spend: Spend = no_limit) -> tuple[Facet, tuple[str, ...]] | None:
    """Read a facet without its malformed items. Returns the facet, and the paths of the malformed items. None if the facet cannot be read
    even without them.

    A list or map of which no item is left is malformed itself.
    """
    spend(text.count(b"{") * _ITEM_NS)
    lost: list[str] = []
    try:
        facet: Facet = _read(msgspec.json.decode(text), _type_info(kind), "", lost)
    except UNREADABLE:
        return None
    return (facet, tuple(lost[:MAX_LOST])) if lost else None


@lru_cache(None)
def _type_info(kind: type[Facet]) -> inspect.Type:
    return inspect.type_info(kind)


def _read(value: Any, type_: inspect.Type, path: str, lost: list[str]) -> Any:  # noqa: ANN401 - a JSON edge
    """Read a value item by item, into the form that `msgspec.convert` accepts. Raises ValidationError if the value itself is malformed."""
    type_ = _composite(type_)
    if isinstance(type_, inspect.StructType) and isinstance(value, dict):
        members = {
            field.encode_name: _read(value[field.encode_name], field.type, member_path(path, field.encode_name), lost)
            for field in type_.fields
            if field.encode_name in value
        }
        return convert(members, type_.cls)
    if isinstance(type_, inspect.VarTupleType) and isinstance(value, list) and _is_struct(type_.item_type):
        return _not_emptied(_kept(enumerate(value), lambda index: f"{path}[{index}]", type_.item_type, lost), value)
    if isinstance(type_, inspect.DictType) and isinstance(value, dict) and _is_struct(type_.value_type):
        named = {key: item for key, item in value.items() if len(key) <= MAX_NAME}
        lost += [member_path(path, key) for key in sorted(value.keys() - named.keys())[:MAX_LOST]]
        kept = {key: _kept([(key, item)], partial(member_path, path), type_.value_type, lost) for key, item in named.items()}
        return _not_emptied({key: items[0] for key, items in kept.items() if items}, value)
    return value


def _kept(items: Iterable[tuple[Any, Any]], path_of: Callable[[Any], str], type_: inspect.Type, lost: list[str]) -> list[Any]:
    """The items that can be read. The paths of the other items are added to `lost`, up to MAX_LOST of them."""
    kept = []
    for key, item in items:
        before = len(lost)
        read = _read_item(item, type_, path_of(key), lost) if isinstance(item, dict) else None
        if read is not None:
            kept.append(read)
        else:
            lost[before:] = [path_of(key)] if before < MAX_LOST else []
    return kept


def _read_item(value: Any, type_: inspect.Type, path: str, lost: list[str]) -> msgspec.Struct | None:  # noqa: ANN401 - a JSON edge
    """Read one item; None if it is malformed."""
    try:
        read = _read(value, type_, path, lost)
    except msgspec.ValidationError:
        return None
    return read if isinstance(read, msgspec.Struct) else None


def _not_emptied(kept: Any, items: Any) -> Any:  # noqa: ANN401 - a list or a map
    if items and not kept:
        raise msgspec.ValidationError("no item can be read")
    return kept


def _composite(type_: inspect.Type) -> inspect.Type:
    """The type of an optional member's value: the only type besides None. Any other type is returned unchanged."""
    if isinstance(type_, inspect.Metadata):
        return _composite(type_.type)
    if isinstance(type_, inspect.UnionType):
        others = [other for other in type_.types if not isinstance(other, inspect.NoneType)]
        return _composite(others[0]) if len(others) == 1 else type_
    return type_


def _is_struct(type_: inspect.Type) -> bool:
    return isinstance(_composite(type_), inspect.StructType)
