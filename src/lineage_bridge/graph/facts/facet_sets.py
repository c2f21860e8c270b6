"""Makes facet sets: the facets that one event gives to one node, stored under the hash of their texts."""

from collections.abc import Container, Iterator
from functools import lru_cache

from lineage_bridge.graph.ids import text_hash
from lineage_bridge.graph.merge_rules import Row
from lineage_bridge.graph.relations import Side
from lineage_bridge.openlineage import facets as standard
from lineage_bridge.openlineage.event import Facets
from lineage_bridge.openlineage.facets.from_catalog import FROM_CATALOG

Fact = tuple[str, Row, Row]
"""Relation, key, values."""
NO_FACETS = bytes(16)
"""The id of the facet set without facets."""


@lru_cache(8_192)
def make_facet_set(
    facets: tuple[tuple[str, bytes], ...], declared: tuple[tuple[int, int, bytes], ...] = ()
) -> tuple[bytes, tuple[Fact, ...]]:
    """Build the facet set of these facets: its id and its rows.

    If there are neither facets nor declared inputs and outputs, the id is NO_FACETS and there are no rows. A schema without fields is left
    out, so that it hides no other schema. Results are cached, because producers repeat facets.
    """
    hashed = sorted((key, text_hash(text), text) for key, text in facets if key != "schema" or _has_fields(text))
    if not hashed and not declared:
        return NO_FACETS, ()
    address = text_hash(b"".join(b"%d:%b%b" % (len(k := key.encode()), k, facet) for key, facet, _ in hashed) + repr(declared).encode())
    rows: list[Fact] = []
    for key, facet, text in hashed:
        rows.append(("facet_set", (address, key), (facet,)))
        rows.append(("facet", (facet,), (_is_tombstone(text), text.decode("utf-8", "replace"))))
    return address, tuple(rows)


def _has_fields(text: bytes) -> bool:
    """Whether a schema facet states at least one field, or withdraws an earlier schema."""
    facet = standard.read_as(standard.SchemaDatasetFacet, "dataset", "schema", text)
    return bool(facet.fields) if facet else standard.is_deleted(text)


def _is_tombstone(text: bytes) -> int:
    """1 for a facet with `_deleted: true`, else 0. A text is only parsed if it may contain the word `_deleted`, plain or escaped."""
    return int((b"_deleted" in text or b"\\u" in text) and standard.is_deleted(text))


def by_side(facets: Facets, naming: Container[str]) -> Iterator[tuple[int, Facets]]:
    """The facets of a DatasetEvent by the side (see `Side`) on which they are asserted. Facets that a catalog states are on the side
    CATALOG, except lineage and other names (`naming`), which count whoever states them.
    """
    if FROM_CATALOG in facets:
        described = {key: text for key, text in facets.items() if key not in naming}
        if described:
            yield int(Side.CATALOG), described
        facets = {key: text for key, text in facets.items() if key in naming}
    yield int(Side.SELF), facets
