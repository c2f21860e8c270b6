"""Reads the current facets of many datasets and jobs. Long texts are not kept in memory."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from typing import TypeAlias

from lineage_bridge.model.graph import Node
from lineage_bridge.store.chunks import chunks, marks
from lineage_bridge.store.connection import StoreConnection

LONG = 16_384
"""A facet with more characters than this is read only when it is needed."""
_FACETS = f"""SELECT c.node, c.key, c.rank, c.time, c.event, c.facet, CASE WHEN length(f.text) <= {LONG} THEN f.text END
FROM current_facet c JOIN facet f ON f.facet = c.facet WHERE c.node IN ({{}}) AND c.job IN (0, c.node) AND f.deleted = 0"""
_TEXT = "SELECT text FROM facet WHERE facet = ?"
TextAssertion: TypeAlias = tuple[int, int, bytes, bytes, str | None]
"""A facet as it was stated: rank, time, event, digest, and its text unless it is long."""


class NewestTexts(Mapping[str, str]):
    """A mapping of facet keys to JSON texts, in the order of the keys. A long text is read each time it is requested, and not kept."""

    __slots__ = ("_connection", "_stated")

    def __init__(self, connection: StoreConnection, stated: Mapping[str, TextAssertion]) -> None:
        self._connection, self._stated = connection, dict(sorted(stated.items()))

    def __getitem__(self, key: str) -> str:
        *_, digest, text = self._stated[key]
        return text if text is not None else str(self._connection.execute(_TEXT, (digest,)).fetchone()[0])

    def __iter__(self) -> Iterator[str]:
        return iter(self._stated)

    def __len__(self) -> int:
        return len(self._stated)


def current_facets(connection: StoreConnection, groups: Mapping[int, Iterable[Node]]) -> dict[int, NewestTexts]:
    """The current facets of groups of names. If several names of a group have a facet with the same key, the one with the highest rank
    counts; among equal ranks, the newest.
    """
    found: dict[int, dict[str, TextAssertion]] = defaultdict(dict)
    for some in chunks(sorted({member.id for members in groups.values() for member in members})):
        for node, key, *stated in connection.execute(_FACETS.format(marks(some)), some):
            found[node][key] = stated[0], stated[1], stated[2], stated[3], stated[4]
    return {head: NewestTexts(connection, _newest(found.get(member.id, {}) for member in members)) for head, members in groups.items()}


def _newest(names: Iterable[Mapping[str, TextAssertion]]) -> dict[str, TextAssertion]:
    newest: dict[str, TextAssertion] = {}
    for facets in names:
        for key, stated in facets.items():
            newest[key] = max(newest.get(key, stated), stated, key=lambda facet: facet[:4])
    return newest
