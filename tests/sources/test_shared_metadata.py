"""What topics' columns are called, by all sources alike."""

from lineage_bridge.openlineage.facets import SchemaField
from lineage_bridge.sources.common.shared_metadata import KEY, VALUE, SharedMetadata, merge_metadata, topic_column, topic_columns


def field(name: str, type_: str = "string", *fields: SchemaField) -> SchemaField:
    return SchemaField(name=name, type=type_, fields=fields or None)


def test_fields_of_a_key_lie_in_a_column_of_their_own() -> None:
    assert topic_columns([field("id")], [field("id"), field("note")]) == (
        field("id"),
        field("note"),
        field("_key", "record", field("id")),
    )
    assert (topic_column(KEY, "id"), topic_column(KEY, ""), topic_column(VALUE, "to.city")) == ("_key.id", "_key", "to.city")


def test_a_key_or_value_without_fields_is_one_column() -> None:
    assert topic_columns([field("", "long")], [field("", "bytes")]) == (field("_value", "bytes"), field("_key", "long"))
    assert topic_columns([], []) == ()
    assert topic_column(VALUE, "") == "_value"


def test_no_two_columns_have_one_name() -> None:
    assert topic_columns([field("id")], [field("_key", "int")]) == (field("_key", "int"),)


def test_ids_are_joined_in_any_order():
    some = SharedMetadata(names={"sa-1": "a", "sa-2": "b"}, jobs={"lcc-1": ("ns", "a")})
    others = SharedMetadata(names={"sa-1": "z"}, jobs={"lcc-1": ("ns", "b"), "lcc-2": ("ns", "c")})
    assert merge_metadata([some, others]) == merge_metadata([others, some, some])
    assert merge_metadata([some, others]).names == {"sa-1": "a", "sa-2": "b"}
    assert merge_metadata([some, others]).jobs == {"lcc-1": ("ns", "a"), "lcc-2": ("ns", "c")}
