"""Drops of datasets: when a dataset was dropped under any of its names, and whether it has come back since. Now, or as of a time.

A dataset lives if it was never dropped, or was written, created or overwritten after its last drop by a run other than the one that dropped
it. Reads do not count. A drop of a table reaches its partitions, a drop of a partition leaves the table.
"""

from collections.abc import Iterable
from typing import NamedTuple

from lineage_bridge.graph.identity.extents import Extents
from lineage_bridge.graph.identity.steps import NameGroup
from lineage_bridge.graph.relations import Origin, Side
from lineage_bridge.store.chunks import chunks, marks
from lineage_bridge.store.connection import StoreConnection
from lineage_bridge.store.dialect import NO_LIMIT
from lineage_bridge.store.history.spans import Spans
from lineage_bridge.store.query.flows import Direction, Flows
from lineage_bridge.store.query.nodes import Nodes

_TIME = 'CASE WHEN "last" <= ? THEN "last" ELSE "first" END'
_RUNS_SEARCHED = 200
"""How many of a job's newest runs are searched for the last time they named a dataset."""
_LAST_DROPS = f"""SELECT dataset, max({_TIME}) FROM lifecycle
WHERE dataset IN ({{}}) AND change = 'DROP' AND first <= ? GROUP BY dataset"""
_CREATED = f"""SELECT DISTINCT asserted_by, job FROM lifecycle
WHERE dataset IN ({{}}) AND change IN ('CREATE', 'OVERWRITE', 'RENAME') AND first <= ? AND {_TIME} > ?"""
_NAMED_LATER = f"""SELECT i.run FROM (SELECT asserted_by FROM run_shape WHERE job = ? AND last > ? AND origin = {int(Origin.OBSERVED)}
AND first <= ? ORDER BY last DESC LIMIT {_RUNS_SEARCHED}) p
JOIN run_io i ON i.run = p.asserted_by AND i.job = ? AND i.dataset = ? AND i.side = ?
WHERE i.first <= ? AND CASE WHEN i.last <= ? THEN i.last ELSE i.first END > ?"""
_IS_RUN = "EXISTS (SELECT 1 FROM run_event e WHERE e.run = l.asserted_by)"
_DROPPED_BY = f"SELECT DISTINCT dataset FROM lifecycle l WHERE asserted_by = ? AND job = ? AND change = 'DROP' AND {_IS_RUN}"
_DROPPED_BY_JOB = "SELECT 1 FROM lifecycle WHERE dataset = ? AND job = ? AND change = 'DROP' LIMIT 1"
_DROPS = f"""SELECT {_IS_RUN}, first, {_TIME} FROM lifecycle l
WHERE dataset IN ({{}}) AND change = 'DROP' AND first <= ? AND first < ? AND last > ?"""


class _Names(NamedTuple):
    """For one name of a dataset: all its names, those of them that denote all of it, and the last drops of this name and of all of it."""

    group: tuple[int, ...]
    outermost: tuple[int, ...]
    drop: int | None
    whole: int | None


class Drops:
    """Look-ups over one connection, as of `at_us`; caches what it has loaded.

    `any` is false if nothing was ever dropped. `dropped` has those of the datasets loaded so far of which any name was ever dropped.
    """

    def __init__(self, connection: StoreConnection, nodes: Nodes, flows: Flows, spans: Spans, at_us: int) -> None:
        self.connection, self.nodes, self.flows, self.spans, self.at_us = connection, nodes, flows, spans, at_us
        self.any = connection.execute("SELECT 1 FROM lifecycle WHERE change = 'DROP' LIMIT 1").fetchone() is not None
        self.dropped: dict[int, _Names] = {}
        self._loaded: set[int] = set()
        self._gone: dict[tuple[int, ...], bool] = {}
        self._by: dict[tuple[bytes, int], frozenset[int]] = {}

    def load(self, ids: Iterable[int]) -> None:
        """Look up when these datasets were dropped, all at once."""
        new = set(ids) - self._loaded if self.any else ()
        if not new:
            return
        self._loaded |= set(new)
        groups = self.nodes.identities.joined(new)
        members = {id_: tuple(sorted(self.nodes.identities.members(group))) for id_, group in groups.items()}
        lasts = self._last_drops({other for id_ in new for other in members.get(id_, (id_,))})
        for id_ in new:
            names = members.get(id_, (id_,))
            found = lasts.keys() & names
            if found:
                alone = len(names) == 1
                self.dropped[id_] = _Names(names, names, lasts[id_], lasts[id_]) if alone else self._spread(id_, names, groups[id_], lasts)

    def _last_drops(self, ids: Iterable[int]) -> dict[int, int]:
        found: dict[int, int] = {}
        for some in chunks(ids):
            found.update(self.connection.execute(_LAST_DROPS.format(marks(some)), (self.at_us, *some, self.at_us)).fetchall())
        return found

    def _spread(self, id_: int, names: tuple[int, ...], group: NameGroup, lasts: dict[int, int]) -> _Names:
        ids, spellings = self.nodes.identities.ids, self.nodes.identities.names
        extents = Extents(group)
        outermost = extents.outermost()
        wholes = tuple(sorted(ids[name] for name, extent in extents.of.items() if extent in outermost and name in ids))
        by_extent: dict[int, int] = {}
        for name, extent in extents.of.items():
            if name in ids and ids[name] in lasts:
                by_extent[extent] = max(lasts[ids[name]], by_extent.get(extent, lasts[ids[name]]))
        whole = min(by_extent[extent] for extent in outermost) if by_extent.keys() >= set(outermost) else None
        reaching = [by_extent[extent] for extent in extents.around(spellings[id_]) if extent in by_extent]
        return _Names(names, wholes, max(reaching, default=None), whole)

    def last(self, id_: int) -> int | None:
        """When a dataset was last dropped under this name or one whose drop reaches it; None if it never was. It must have been loaded."""
        names = self.dropped.get(id_)
        return names.drop if names else None

    def is_gone(self, id_: int) -> bool:
        """Whether a dataset, as a whole, was dropped and has not come back. It must have been loaded."""
        names = self.dropped.get(id_)
        if names is None or names.whole is None:
            return False
        if names.group not in self._gone:
            self._gone[names.group] = not self._came_back(names.group, names.whole)
        return self._gone[names.group]

    def between(self, id_: int, after: int, before: int) -> bool:
        """Whether a drop of a dataset as a whole certainly lies between two times.

        What one run reported on one day is one drop, at some time from its first report to its last.
        """
        names = self.dropped.get(id_)
        if names is None or names.whole is None or before <= after:
            return False
        for some in chunks(names.outermost):
            values = self.at_us, *some, self.at_us, before, after
            for is_run, first, last in self.connection.execute(_DROPS.format(marks(some)), values).fetchall():
                points = () if is_run else (first, last)
                if (after < first and last < before) or any(after < point < before for point in points):
                    return True
        return False

    def was_dropped_by(self, job: int, dataset: int) -> bool:
        """Whether a job dropped a dataset under this name."""
        return self.connection.execute(_DROPPED_BY_JOB, (dataset, job)).fetchone() is not None

    def named_later(self, job: int, dataset: int, side: int, end: int) -> bool:
        """Whether a run of a job named a dataset on a side after `end`; runs that dropped it do not count."""
        names = self.dropped.get(dataset)
        values = (job, end, self.at_us, job, dataset, int(side), self.at_us, self.at_us, end)
        runs = [row[0] for row in self.connection.execute(_NAMED_LATER, values).fetchall()]
        return any(not self._dropped_by(run, job).intersection(names.group if names else (dataset,)) for run in runs)

    def _dropped_by(self, asserted_by: bytes, job: int) -> frozenset[int]:
        """The datasets that a run dropped; none for a design-time statement, which has no end."""
        key = asserted_by, job
        if key not in self._by:
            self._by[key] = frozenset(row[0] for row in self.connection.execute(_DROPPED_BY, key).fetchall())
        return self._by[key]

    def _came_back(self, group: tuple[int, ...], drop: int) -> bool:
        return any(self._created(some, group, drop) or self._written(some, drop) for some in chunks(group))

    def _created(self, some: list[int], group: tuple[int, ...], drop: int) -> bool:
        rows = self.connection.execute(_CREATED.format(marks(some)), (*some, self.at_us, self.at_us, drop)).fetchall()
        return any(self._dropped_by(*row).isdisjoint(group) for row in rows)

    def _written(self, some: list[int], drop: int) -> bool:
        writers = set(self.flows.ports(some, Side.OUTPUT, NO_LIMIT))
        if any(self._written_by(job, dataset, origin, drop) for job, dataset, _, origin in writers):
            return True
        named = {port[:2] for port in writers}
        flows = {edge[:4] for edge in self.flows.edges(some, Direction.UP) if (edge[2], edge[1]) not in named}
        lasts = (self.spans.flow(*flow) for flow in flows)
        return any(last is not None and last > drop for last in lasts)

    def _written_by(self, job: int, dataset: int, origin: int, drop: int) -> bool:
        if origin == Origin.OBSERVED:
            return self.named_later(job, dataset, int(Side.OUTPUT), drop)
        last = self.spans.port(job, dataset, int(Side.OUTPUT), origin)
        return last is not None and last > drop
