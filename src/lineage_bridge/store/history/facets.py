"""Reads the versions of a facet of a node, and the lifecycle of a dataset."""

import sys
from collections.abc import Iterable, Sequence

from lineage_bridge.graph.relations import Side
from lineage_bridge.model.graph import Node
from lineage_bridge.model.history import FacetEntry, FacetHistory, FacetPage, LifeEntry
from lineage_bridge.store.chunks import marks
from lineage_bridge.store.connection import StoreConnection
from lineage_bridge.store.query.nodes import Nodes

_SCAN = 50_000
"""The maximum number of mentions of a node that are read, those of the newest days first."""
_JOBS = 20
"""The maximum number of jobs that an entry names."""
_NEVER = (0, b"")
_ASSERTED = f"""SELECT c.facet, s.side, s.job, s.first, s.first_event, s.last, s.last_event
FROM (SELECT * FROM assertion WHERE node = ? AND side = ? AND first <= ? ORDER BY day DESC LIMIT {_SCAN}) s
JOIN facet_set c ON c.facet_set = s.facet_set AND c.key = ?"""
_SAME = """FROM lifecycle m
WHERE m.asserted_by = l.asserted_by AND m.job = l.job AND m.dataset = l.dataset AND m.change = l.change AND m.previous = l.previous"""
_LIFE = f"""SELECT l.first, l.first_event, (SELECT max(m.last) {_SAME}), l.change, l.dataset, l.previous, l.job FROM lifecycle l
WHERE (l.dataset IN ({{names}}) OR l.previous IN ({{names}})) AND l.day = (SELECT min(m.day) {_SAME})
ORDER BY l.first DESC, l.first_event DESC, l.change, l.dataset LIMIT ? OFFSET ?"""


class _Entry:
    """A version of a facet on one side, while its assertions are being collected."""

    def __init__(self) -> None:
        self.first: tuple[int, bytes] | None = None
        self.last: tuple[int, bytes] | None = None
        self.jobs: set[int] = set()

    def add(self, job: int, first: tuple[int, bytes], last: tuple[int, bytes]) -> None:
        self.first = min(self.first or first, first)
        self.last = max(self.last or last, last)
        if job:
            self.jobs.add(job)


class FacetHistories:
    """Reads versions of facets and lifecycle changes over one connection."""

    def __init__(self, connection: StoreConnection, nodes: Nodes) -> None:
        self.connection, self.nodes = connection, nodes

    def history(self, members: Iterable[Node], key: str, at_us: int, page: FacetPage | None = None) -> FacetHistory:
        """The versions of the facet with this key until a time, the most recent first. The node is given as all its names."""
        found: dict[tuple[bytes, int], _Entry] = {}
        cut = False
        for node in members:
            for side in Side:
                rows = self.connection.execute(_ASSERTED, (node.id, int(side), at_us, key)).fetchall()
                cut = cut or len(rows) >= _SCAN
                for facet, _, job, first, first_event, last, last_event in rows:
                    seen = (last, last_event) if last <= at_us else (first, first_event)
                    found.setdefault((facet, int(side)), _Entry()).add(job, (first, first_event), seen)
        newest = sorted(found, key=lambda version: (found[version].last or _NEVER, version[1], version[0]), reverse=True)
        limit, offset, most = page or FacetPage(len(newest), 0, sys.maxsize)
        entries: list[FacetEntry] = []
        size = 0
        for facet, number in newest[offset : offset + limit]:
            entry = self._entry(facet, number, found[facet, number], with_text=most is not None)
            size += len(entry.text)
            if entries and most is not None and size > most:
                break
            entries.append(entry)
        return FacetHistory(tuple(entries), cut, offset + len(entries) < len(newest))

    def _entry(self, facet: bytes, side: int, entry: _Entry, *, with_text: bool) -> FacetEntry:
        column = "text" if with_text else "''"
        text, deleted = self.connection.execute(f"SELECT {column}, deleted FROM facet WHERE facet = ?", (facet,)).fetchone()
        jobs = sorted((self.nodes.by_id(job) for job in entry.jobs), key=lambda node: (node.namespace, node.name))
        return FacetEntry(facet, Side(side), text, bool(deleted), entry.first or _NEVER, entry.last or _NEVER, tuple(jobs[:_JOBS]))

    def life(self, names: Sequence[int], limit: int, offset: int) -> list[LifeEntry]:
        """The lifecycle changes of a dataset, including renames, the newest first. `names` are all names of the dataset."""
        rows = self.connection.execute(_LIFE.format(names=marks(names)), (*names, *names, limit, offset)).fetchall()
        return [
            LifeEntry(
                change=change,
                dataset=self.nodes.by_id(named),
                previous=self.nodes.by_id(previous) if previous else None,
                job=self.nodes.by_id(job) if job else None,
                first=first,
                last=last,
                event=event,
            )
            for first, event, last, change, named, previous, job in rows
        ]
