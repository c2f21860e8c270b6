"""Schemas of all three kinds to fields."""

import json

import pytest

from lineage_bridge.errors import RequestError
from lineage_bridge.openlineage.facets import SchemaField
from lineage_bridge.sources.common.registry.fields.fields import fields_of


def summary(fields: tuple[SchemaField, ...] | None) -> object:
    """Fields as name: type, or name: [type, fields below]; a description behind #."""
    return {
        f.name: (f"{f.type} # {f.description}" if f.description else f.type) if f.fields is None else [f.type, summary(f.fields)]
        for f in fields or ()
    }


def avro(schema: object, **references: object) -> object:
    return summary(fields_of("AVRO", json.dumps(schema), {name: json.dumps(text) for name, text in references.items()}))


def record(name: str, *fields: dict[str, object], **more: object) -> dict[str, object]:
    return {"type": "record", "name": name, "fields": list(fields), **more}


def test_avro_records_nest() -> None:
    address = record("Address", {"name": "city", "type": "string"}, {"name": "lines", "type": {"type": "array", "items": "string"}})
    schema = record(
        "Order",
        {"name": "id", "type": "long", "doc": "the key"},
        {"name": "to", "type": address},
        {"name": "from", "type": ["null", "Address"], "default": None},
        {"name": "tags", "type": {"type": "map", "values": "int"}},
        namespace="shop",
    )
    nested = ["record", {"city": "string", "lines": ["array", {"_element": "string"}]}]
    assert avro(schema) == {"id": "long # the key", "to": nested, "from": nested, "tags": ["map", {"key": "string", "value": "int"}]}


def test_avro_logical_types_unions_enums_and_fixed() -> None:
    schema = record(
        "T",
        {"name": "amount", "type": {"type": "bytes", "logicalType": "decimal", "precision": 10, "scale": 2}},
        {"name": "at", "type": ["null", {"type": "long", "logicalType": "timestamp-millis"}]},
        {"name": "either", "type": ["string", "long", "null"]},
        {"name": "colour", "type": {"type": "enum", "name": "Colour", "symbols": ["RED"]}},
        {"name": "hash", "type": {"type": "fixed", "name": "Hash", "size": 16}},
    )
    assert avro(schema) == {
        "amount": "decimal(10,2)",
        "at": "timestamp-millis",
        "either": ["union", {"string": "string", "long": "long"}],
        "colour": "Colour",
        "hash": "Hash",
    }


def test_avro_types_come_from_references_and_may_contain_themselves() -> None:
    customer = record("Customer", {"name": "name", "type": "string"}, namespace="crm")
    schema = record("Node", {"name": "next", "type": ["null", "Node"]}, {"name": "who", "type": "crm.Customer"})
    assert avro(schema, customer=customer) == {"next": "record", "who": ["record", {"name": "string"}]}


def test_an_avro_schema_that_is_no_record_is_one_field() -> None:
    assert avro("string") == {"": "string"}
    assert summary(fields_of("AVRO", "string", {})) == {"": "string"}
    assert avro({"type": "array", "items": "int"}) == {"": ["array", {"_element": "int"}]}
    assert avro(["null", record("R", {"name": "a", "type": "int"})]) == {"": ["record", {"a": "int"}]}


def test_protobuf_messages_nest() -> None:
    text = """
    syntax = "proto3";
    package shop.v1;
    import "money.proto";
    message Invoice {
      // the key
      string id = 1;
      common.Money total = 2; // in euros
      repeated Line lines = 3;
      map<string, int32> counts = 4;
      oneof payer { string person = 5; Company company = 6; }
      State state = 7;
      google.protobuf.Timestamp at = 8;
      Invoice corrects = 9;
      message Line { string sku = 1; }
      enum State { OPEN = 0; }
    }
    message Company { string vat = 1; }
    """
    money = 'syntax = "proto3"; package common; message Money { int64 units = 1; string currency = 2; }'
    assert summary(fields_of("PROTOBUF", text, {"money.proto": money})) == {
        "id": "string # the key",
        "total": ["record", {"units": "int64", "currency": "string"}],
        "lines": ["array", {"_element": ["record", {"sku": "string"}]}],
        "counts": ["map", {"key": "string", "value": "int32"}],
        "person": "string",
        "company": ["record", {"vat": "string"}],
        "state": "enum",
        "at": "google.protobuf.Timestamp",
        "corrects": "record",
    }


def json_schema(schema: object, **references: object) -> object:
    return summary(fields_of("JSON", json.dumps(schema), {name: json.dumps(text) for name, text in references.items()}))


def test_json_schemas_nest() -> None:
    schema = {
        "type": "object",
        "properties": {
            "id": {"type": "integer", "description": "the key"},
            "born": {"type": ["null", "string"], "format": "date"},
            "home": {"$ref": "#/$defs/address"},
            "tags": {"type": "array", "items": {"type": "string"}},
            "scores": {"type": "object", "additionalProperties": {"type": "number"}},
            "kind": {"enum": ["a", "b"]},
            "either": {"oneOf": [{"type": "null"}, {"type": "boolean"}]},
            "open": {},
        },
        "$defs": {"address": {"type": "object", "properties": {"city": {"type": "string"}, "over": {"$ref": "#/$defs/address"}}}},
    }
    assert json_schema(schema) == {
        "id": "integer # the key",
        "born": "string(date)",
        "home": ["object", {"city": "string", "over": None}],
        "tags": ["array", {"_element": "string"}],
        "scores": ["map", {"key": "string", "value": "number"}],
        "kind": "enum",
        "either": "boolean",
        "open": None,
    }


def test_json_schemas_refer_to_others_and_are_composed() -> None:
    address = {"$id": "https://example.org/address.json", "type": "object", "properties": {"city": {"type": "string"}}}
    schema = {
        "$id": "https://example.org/person.json",
        "allOf": [{"properties": {"name": {"type": "string"}}}, {"type": "object", "properties": {"age": {"type": "integer"}}}],
        "properties": {"home": {"$ref": "address.json"}, "lost": {"$ref": "nowhere.json"}},
    }
    found = json_schema(schema, **{"address.json": address})
    assert found == {"home": ["object", {"city": "string"}], "lost": "nowhere.json", "name": "string", "age": "integer"}


@pytest.mark.parametrize(("kind", "text"), [("AVRO", "{"), ("JSON", "{"), ("PROTOBUF", "message {"), ("PROTOBUF", ""), ("THRIFT", "")])
def test_what_cannot_be_read_is_reported(kind: str, text: str) -> None:
    with pytest.raises(RequestError):
        fields_of(kind, text, {})
