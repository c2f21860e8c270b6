"""Converts the text of a schema to the fields of OpenLineage's schema facet. Pure.

Nested fields are below their record, an array's element is `_element`, a map has `key` and `value`. A type that contains itself is expanded
once.
"""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager

from lineage_bridge.errors import RequestError
from lineage_bridge.openlineage.facets import SchemaField
from lineage_bridge.sources.common.registry.fields import avro, jsonschema, protobuf

References = Mapping[str, str]
"""For each name by which a schema refers to another schema, directly or indirectly, the text of that other schema."""

_READERS: dict[str, Callable[[str, References], tuple[SchemaField, ...]]] = {
    "AVRO": avro.fields,
    "PROTOBUF": protobuf.fields,
    "JSON": jsonschema.fields,
}


def fields_of(kind: str, text: str, references: References) -> tuple[SchemaField, ...]:
    """Return the fields of a schema. A schema that is not a record has a single field without a name. Raises RequestError if the schema
    cannot be read.
    """
    read = _READERS.get(kind)
    if read is None:
        raise RequestError(f"the schema has the unsupported kind {kind!r}", f"supported kinds: {', '.join(_READERS)}")
    with reading(kind):
        return read(text, references)


@contextmanager
def reading(kind: str) -> Iterator[None]:
    """A context in which the errors that parsers and libraries raise for an invalid schema become RequestError."""
    try:
        yield
    except (AttributeError, KeyError, TypeError, ValueError, RecursionError) as error:
        raise RequestError(
            f"the schema does not follow the specification of {kind}: {type(error).__name__}", "check the schema in the registry"
        ) from error
