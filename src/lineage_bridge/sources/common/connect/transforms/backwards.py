"""Derives the columns of a table from the known fields of its topic. It reverses the transforms, and checks the result by
replaying them.
"""

from collections.abc import Callable, Iterable, Mapping

from lineage_bridge.openlineage.facets import SchemaField
from lineage_bridge.sources.common.connect.lineage.columns import across
from lineage_bridge.sources.common.connect.lineage.connection import Connection, ConnectorFlow
from lineage_bridge.sources.common.connect.transforms import debezium, fields
from lineage_bridge.sources.common.connect.transforms.chain import FIELD_STEPS
from lineage_bridge.sources.common.connect.transforms.records import KEY, VALUE, Origins, RecordField, is_in
from lineage_bridge.sources.common.connect.transforms.transform import Transform

_SIDES = ("after", "before")
_INSIDE = frozenset(("_element", "key", "value"))


def leaves(schema: Iterable[SchemaField], lead: str = "") -> list[str]:
    """Return the dotted paths of those fields that have no fields inside them; an array or a map counts as one field."""
    found: list[str] = []
    for field in schema:
        path = lead + field.name
        inner = field.fields or ()
        is_record = bool(inner) and not {pattern.name for pattern in inner} <= _INSIDE
        found += leaves(inner, path + ".") if is_record else [path]
    return found


def columns_between(
    connection: Connection, flow: ConnectorFlow, values: Iterable[str], keys: Iterable[str], config: Mapping[str, str]
) -> dict[RecordField, Origins]:
    """Return the columns or fields at the end of a flow, each with the fields at the start that it comes from; empty if nothing is
    known.

    `values` and `keys` are the known fields of the flow's topic, which is the start if the connector reads it, and the end if it writes
    it.
    """
    known = {*(RecordField(VALUE, path) for path in values), *(RecordField(KEY, path) for path in keys)}
    paths = {part: [field.path for field in sorted(known) if field.part == part] for part in (KEY, VALUE)}
    start = columns_before(connection, paths[VALUE]) if connection.is_source else paths[VALUE]
    end = across(connection, flow, start, paths[KEY], config)
    made = {field: origins for field, origins in end.fields.items() if origins and field.part not in end.unknown}
    if connection.is_source:
        return {field: origins for field, origins in made.items() if field in known}
    return {field: origins for field, origins in made.items() if field.part == VALUE and field.path}


def columns_before(connection: Connection, known: list[str]) -> list[str]:
    """Return the columns that a source's table must have for its topic to have these fields, as far as transforms are reversible."""
    found = list(known)
    for transform in reversed(connection.chain.transforms):
        back = _BACK.get(FIELD_STEPS.get(transform.kind, fields.only_topic_known))
        if back is not None and transform.on == VALUE:
            found = [before for path in found for before in back(path, transform)]
    if connection.connector.shape == "debezium":
        found = [path.partition(".")[2] for path in found if any(is_in(path, side) and path != side for side in _SIDES)]
    return list(dict.fromkeys(found))


def _renamed(path: str, transform: Transform) -> list[str]:
    """Return the field's name before a renaming."""
    for old, new in transform.pairs("renames").items():
        if is_in(path, new):
            return [old + path[len(new) :]]
    return [path]


def _hoisted(path: str, transform: Transform) -> list[str]:
    name = transform.option("field")
    return [path[len(name) + 1 :]] if path.startswith(name + ".") else []


def _extracted(path: str, transform: Transform) -> list[str]:
    return [f"{transform.option('field', 'field.name')}.{path}"]


def _flattened(path: str, transform: Transform) -> list[str]:
    """Reverse the flattening of a field. In a name that contains the delimiter, only the parts of Debezium's envelope can be recognised."""
    delimiter = transform.option("delimiter", default=".")
    sides = [side for side in _SIDES if path.startswith(side + delimiter)]
    return [f"{side}.{path[len(side + delimiter) :]}" for side in sides] or [path]


def _unwrapped(path: str, _: Transform) -> list[str]:
    return [f"after.{path}"]


_BACK: dict[Callable[..., object], Callable[[str, Transform], list[str]]] = {
    fields.replace_field: _renamed,
    fields.hoist_field: _hoisted,
    fields.extract_field: _extracted,
    fields.flatten: _flattened,
    debezium.unwrap: _unwrapped,
}
"""Returns a field's names before a step; steps not listed do not change names."""
