"""Decides which facet counts if several catalogs state facets about one node. A catalog that withdraws its facet does not hide the facets
of other catalogs. Pure.
"""

from collections.abc import Iterable
from typing import Final, NamedTuple

from lineage_bridge.graph.relations import Side
from lineage_bridge.openlineage.facets.from_catalog import FROM_CATALOG, read_catalog_mark

STATED, WITHDRAWN = -1, -2
"""The ranks of facets that catalogs state and withdraw. All others outrank them."""
Newest = tuple[int, int, bytes, bytes]
"""A current facet: rank, time, event, facet."""


class CatalogStatement(NamedTuple):
    """A facet that a catalog stated or withdrew (`is_withdrawal`) under some key, by one event.

    `asserted_by` is the producer, `catalog` the kind and address of the catalog, or the producer again if the event has no address.
    """

    time: int
    event: bytes
    facet: bytes
    is_withdrawal: bool
    asserted_by: bytes
    catalog: object


def stating_catalog(asserted_by: bytes, mark: bytes | str | None) -> object:
    """The catalog that stated an event's facets, from the text of the facet that marks it: the catalog's kind and address, or the producer
    if there is no address.
    """
    found: Final = read_catalog_mark(mark) if mark is not None else None
    return found if found and found.address else asserted_by


def is_of_catalogs(key: str, side: int) -> bool:
    """Whether facets with this key on this side (see `Side`) come from catalogs, whose statements are kept apart from each other."""
    return side == Side.CATALOG or (key == FROM_CATALOG and side == Side.SELF)


def newest_statements(statements: Iterable[CatalogStatement]) -> list[CatalogStatement]:
    """The newest statement of each catalog, in order of time. A producer's statement counts until the same producer makes another one,
    about whichever catalog. If several producers read the same catalog, the newest statement counts.
    """
    by_catalog: dict[object, CatalogStatement] = {}
    for statement in _newest_of_producers(statements):
        by_catalog[statement.catalog] = max(by_catalog.get(statement.catalog, statement), statement, key=_order)
    return sorted(by_catalog.values(), key=_order)


def current_of_catalogs(statements: Iterable[CatalogStatement]) -> Newest | None:
    """The facet that counts: the newest that a catalog still states, or the newest withdrawal if none does. None without statements."""
    newest = newest_statements(statements)
    if not newest:
        return None
    found = max(newest, key=lambda statement: (not statement.is_withdrawal, *_order(statement)))
    return WITHDRAWN if found.is_withdrawal else STATED, found.time, found.event, found.facet


def _newest_of_producers(statements: Iterable[CatalogStatement]) -> Iterable[CatalogStatement]:
    by_producer: dict[bytes, CatalogStatement] = {}
    for statement in statements:
        by_producer[statement.asserted_by] = max(by_producer.get(statement.asserted_by, statement), statement, key=_order)
    return by_producer.values()


def _order(statement: CatalogStatement) -> tuple[int, bytes, bytes]:
    return statement[:3]
