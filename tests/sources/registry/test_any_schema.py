"""Whatever a registry holds, a schema is read or told as one that cannot be."""

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from lineage_bridge.sources.common.registry.answers import RegisteredSchema
from lineage_bridge.sources.common.registry.subjects import subject_of

_WORDS = st.sampled_from(
    [
        *("type", "name", "namespace", "fields", "items", "values", "doc", "record", "enum", "array", "map", "string", "null", "R", "a.R"),
        *(
            "logicalType",
            "decimal",
            "confluent:tags",
            "properties",
            "object",
            "$ref",
            "#",
            "#/properties/a",
            "allOf",
            "oneOf",
            "$id",
            "title",
        ),
        *("description", "additionalProperties", "format", "const", "$schema", "http://json-schema.org/draft-07/schema#", ""),
    ]
)
_JSON = st.recursive(
    st.one_of(_WORDS, st.none(), st.booleans(), st.integers(-2, 2)),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(_WORDS, inner, max_size=4)),
    max_leaves=12,
)
_PROTO = st.lists(
    st.sampled_from(
        [
            *("syntax", "=", '"proto3"', ";", "package", "shop", "message", "M", "{", "}", "string", "id", "1", "repeated", "oneof", "map"),
            *(
                "<",
                ">",
                ",",
                "[",
                "]",
                "(confluent.field_meta).tags",
                '"PII"',
                "(confluent.message_meta)",
                ":",
                "tags",
                "option",
                "enum",
                "//x\n",
            ),
        ]
    ),
    max_size=25,
).map(" ".join)


def read(kind: str, text: str, **more: Any) -> None:
    found = subject_of(RegisteredSchema("s", 1, 1, kind, text, **more), {})
    assert (found.fields is None) == bool(found.why)
    found.columns()


@given(st.sampled_from(["AVRO", "JSON"]), _JSON, st.dictionaries(_WORDS, _JSON, max_size=2))
def test_any_json(kind: str, schema: Any, metadata: dict[str, Any]) -> None:
    read(
        kind,
        json.dumps(schema),
        metadata={"tags": metadata, "properties": metadata},
        rules={"domainRules": schema},
        tags=({"tags": schema},),
    )


@given(_PROTO)
def test_any_protobuf(text: str) -> None:
    read("PROTOBUF", text)


@given(st.sampled_from(["AVRO", "JSON", "PROTOBUF", "THRIFT"]), st.text(max_size=30))
def test_any_text(kind: str, text: str) -> None:
    read(kind, text)
