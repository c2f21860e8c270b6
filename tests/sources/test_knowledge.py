"""What topics' columns are called, by all sources alike."""

from lineage_bridge.openlineage.facets import SchemaField
from lineage_bridge.sources.common.shared_metadata import KEY, VALUE, Knowledge, column_of, columns_of, together


def field(name: str, type_: str = "string", *fields: SchemaField) -> SchemaField:
    return SchemaField(name=name, type=type_, fields=fields or None)


def test_fields_of_a_key_lie_in_a_column_of_their_own() -> None:
    assert columns_of([field("id")], [field("id"), field("note")]) == (
        field("id"),
        field("note"),
        field("_key", "record", field("id")),
    )
    assert (column_of(KEY, "id"), column_of(KEY, ""), column_of(VALUE, "to.city")) == ("_key.id", "_key", "to.city")


def test_a_key_or_value_without_fields_is_one_column() -> None:
    assert columns_of([field("", "long")], [field("", "bytes")]) == (field("_value", "bytes"), field("_key", "long"))
    assert columns_of([], []) == ()
    assert column_of(VALUE, "") == "_value"


def test_no_two_columns_have_one_name() -> None:
    assert columns_of([field("id")], [field("_key", "int")]) == (field("_key", "int"),)


def test_ids_are_joined_in_any_order():
    some = Knowledge(names={"sa-1": "a", "sa-2": "b"}, jobs={"lcc-1": ("ns", "a")})
    others = Knowledge(names={"sa-1": "z"}, jobs={"lcc-1": ("ns", "b"), "lcc-2": ("ns", "c")})
    assert together([some, others]) == together([others, some, some])
    assert together([some, others]).names == {"sa-1": "a", "sa-2": "b"}
    assert together([some, others]).jobs == {"lcc-1": ("ns", "a"), "lcc-2": ("ns", "c")}
