"""The facet that marks a DatasetEvent or JobEvent as statements of a catalog about a dataset or job."""

from typing import Any, Final, NamedTuple

import msgspec

FROM_CATALOG: Final = "lineagebridge_catalog"
"""The facet's key. Its member `catalog` is the kind of source that read the catalog, `address` says which catalog of that kind it is.
Producers know better than a catalog, so what such a DatasetEvent states is outranked by each of them; and what a catalog states is not
published back to that catalog. A facet without address stands for any catalog of its kind."""


class CatalogMark(NamedTuple):
    """A catalog, as the facet names it: the kind of its sources, and its address, empty if the facet has none."""

    catalog: str
    address: str


def catalog_mark(facet: Any) -> CatalogMark | None:  # noqa: ANN401  # JSON
    """The catalog that a facet names; None if it names none."""
    kind = facet.get("catalog") if isinstance(facet, dict) else None
    if not isinstance(kind, str):
        return None
    address = facet.get("address")
    return CatalogMark(kind, address if isinstance(address, str) else "")


def read_catalog_mark(text: bytes | str) -> CatalogMark | None:
    """The catalog that the JSON text of a facet names; None if it names none."""
    try:
        return catalog_mark(msgspec.json.decode(text))
    except (msgspec.DecodeError, RecursionError, UnicodeError):
        return None
