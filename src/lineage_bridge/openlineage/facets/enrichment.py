"""The facets in which an enrichment states what the catalogs of targets have about a dataset. Each target has a facet of its own, so that
none replaces another, nor what producers state.
"""

from collections.abc import Mapping
from typing import Final

import msgspec

ENRICHMENT: Final = "lineagebridge_catalog_"
"""Begins the key of such a facet; the name of the target follows."""


class CatalogTag(msgspec.Struct, frozen=True, omit_defaults=True):
    """A tag of a table; `value` is empty if it has none."""

    key: str
    value: str = ""


class CatalogColumn(msgspec.Struct, frozen=True, omit_defaults=True):
    """A column with its type and its comment in the catalog; empty if it has none."""

    name: str
    type: str = ""
    description: str = ""


class CatalogEntry(msgspec.Struct, frozen=True, omit_defaults=True):
    """What the catalog of a target has about a dataset.

    `catalog` identifies the catalog, and `table` the dataset in it. The rest is as the catalog answers it, without what was published to
    it from here.
    """

    target: str
    catalog: str
    table: str
    type: str = ""
    description: str = ""
    owners: list[str] = []
    tags: list[CatalogTag] = []
    columns: list[CatalogColumn] = []


_DECODER: Final = msgspec.json.Decoder(CatalogEntry)


def enrichment_key(target: str) -> str:
    """The key of the facet of a target."""
    return f"{ENRICHMENT}{target}"


def is_enrichment(key: str) -> bool:
    """Whether a facet's key is that of an enrichment."""
    return key.startswith(ENRICHMENT)


def read_enrichment(key: str, text: bytes) -> CatalogEntry | None:
    """The facet; None if it is a tombstone, cannot be read, or is that of another target than its key names."""
    try:
        found = _DECODER.decode(text)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None
    return found if enrichment_key(found.target) == key else None


def catalog_entries(facets: Mapping[str, msgspec.Raw]) -> list[CatalogEntry]:
    """What catalogs have about a dataset with these facets, by target."""
    found = (read_enrichment(key, bytes(text)) for key, text in sorted(facets.items()) if is_enrichment(key))
    return [entry for entry in found if entry is not None]
