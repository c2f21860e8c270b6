"""Schemas: when two schema facets are one version."""

from collections.abc import Iterable
from hashlib import blake2b
from typing import Any

from lineage_bridge.openlineage.facets import SchemaField


def schema_version(fields: Iterable[SchemaField]) -> str:
    """The id of a schema version: a hash, as 32 hex digits, of the tree of (name, type), whatever else is told of the fields."""
    return blake2b(repr(_tree(fields)).encode("utf-8", "surrogatepass"), digest_size=16, person=b"schema").hexdigest()


def _tree(fields: Iterable[SchemaField]) -> list[Any]:
    return [(field.name, field.type, _tree(field.fields or ())) for field in fields]
