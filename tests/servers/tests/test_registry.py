"""The registry: schemas of the three kinds, and those they refer to."""

import pytest

ORDER = {"type": "record", "name": "Order", "namespace": "shop", "fields": [{"name": "by", "type": "shop.Buyer"}]}
BUYER = {"type": "record", "name": "Buyer", "namespace": "shop", "fields": [{"name": "id", "type": "long"}]}
MONEY = 'syntax = "proto3"; package shop; message Money { int64 units = 1; }'
BILL = 'syntax = "proto3"; package shop; import "money.proto"; message Bill { Money sum = 1; }'
STREET = {"type": "object", "properties": {"street": {"type": "string"}}}
PERSON = {"type": "object", "properties": {"home": {"$ref": "street.json"}}}


@pytest.mark.parametrize(
    ("kind", "name", "base", "schema"),
    [("AVRO", "shop.Buyer", BUYER, ORDER), ("PROTOBUF", "money.proto", MONEY, BILL), ("JSON", "street.json", STREET, PERSON)],
)
def test_a_schema_and_what_it_refers_to(registry, kind, name, base, schema):
    referred, subject = f"{kind}-base", f"{kind}-value"
    registry.register(referred, base, kind)
    number = registry.register(subject, schema, kind, {name: referred})
    version = registry.newest(subject)
    assert (version["id"], version["version"], version["schemaType"]) == (number, 1, kind)
    assert version["references"] == [{"name": name, "subject": referred, "version": 1}]
    assert registry.ask("GET", f"/subjects/{referred}/versions/1/referencedby") == [number]


def test_versions_are_kept_until_the_subject_is_deleted(registry):
    wider = {**BUYER, "fields": [*BUYER["fields"], {"name": "name", "type": ["null", "string"], "default": None}]}
    first, second = registry.register("kept-value", BUYER), registry.register("kept-value", wider)
    assert (first != second, registry.versions("kept-value")) == (True, [1, 2])
    registry.ask("DELETE", "/subjects/kept-value")
    assert "kept-value" not in registry.ask("GET", "/subjects")
    with pytest.raises(AssertionError, match="40401"):
        registry.newest("kept-value")
