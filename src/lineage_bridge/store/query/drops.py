"""Finds out when a dataset was dropped under any of its names, and whether it was written or created since; now, or as of an earlier time.

A dataset exists if it was never dropped, or was written, created or overwritten after its last drop by a run other than the one that
dropped it. Reads do not count. A drop of a table drops its partitions; a drop of a partition does not drop the table.
"""

from collections.abc import Iterable
from typing import NamedTuple

from lineage_bridge.graph.identity.extents import Extents
from lineage_bridge.graph.identity.steps import NameGroup
from lineage_bridge.graph.relations import Origin, Side
from lineage_bridge.store.chunks import chunks, marks
from lineage_bridge.store.connection import StoreConnection
from lineage_bridge.store.dialect import NO_LIMIT
from lineage_bridge.store.history.assertion_times import AssertionTimes
from lineage_bridge.store.query.flows import Direction, Flows
from lineage_bridge.store.query.nodes import Nodes

_TIME = 'CASE WHEN "last" <= ? THEN "last" ELSE "first" END'
_RUNS_SEARCHED = 200
"""How many of a job's newest runs are searched for the last mention of a dataset."""
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
    """For one name of a dataset: all names of the dataset, the names that denote the whole dataset, and the last drops of this name and of
    the whole dataset.
    """

    group: tuple[int, ...]
    outermost: tuple[int, ...]
    drop: int | None
    whole: int | None


class _Spread(NamedTuple):
    """The drops of one dataset: the last drop of each of its extents, the names that denote the whole dataset, and the last drop of the
    whole dataset.
    """

    extents: Extents
    drops: dict[int, int]
    wholes: tuple[int, ...]
    whole: int | None


class Drops:
    """Looks up drops over one connection, as of `at_us`, and caches what it has loaded.

    `any` is false if nothing was ever dropped. `dropped` has those of the loaded datasets that were ever dropped under any name.
    """

    def __init__(self, connection: StoreConnection, nodes: Nodes, flows: Flows, times: AssertionTimes, at_us: int) -> None:
        self.connection, self.nodes, self.flows, self.times, self.at_us = connection, nodes, flows, times, at_us
        self.any = nodes.identities.row_kinds.flows.drops
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
        # All names of a group share one result, because a table may have very many partitions.
        members = {id(group): tuple(sorted(self.nodes.identities.members(group))) for group in groups.values()}
        lasts = self._last_drops({*new, *(other for names in members.values() for other in names)})
        spreads: dict[int, _Spread | None] = {}
        for id_ in new:
            group = groups.get(id_)
            names = members[id(group)] if group else (id_,)
            if group is None or len(names) == 1:
                if id_ in lasts:
                    self.dropped[id_] = _Names(names, names, lasts[id_], lasts[id_])
                continue
            if id(group) not in spreads:
                spreads[id(group)] = self._spread(names, group, lasts)
            if spread := spreads[id(group)]:
                around = spread.extents.around(self.nodes.identities.names[id_])
                reaching = [spread.drops[extent] for extent in around if extent in spread.drops]
                self.dropped[id_] = _Names(names, spread.wholes, max(reaching, default=None), spread.whole)

    def _last_drops(self, ids: Iterable[int]) -> dict[int, int]:
        found: dict[int, int] = {}
        for some in chunks(ids):
            found.update(self.connection.execute(_LAST_DROPS.format(marks(some)), (self.at_us, *some, self.at_us)).fetchall())
        return found

    def _spread(self, names: tuple[int, ...], group: NameGroup, lasts: dict[int, int]) -> _Spread | None:
        """The drops of a dataset by extent; None if none of its names was ever dropped."""
        if lasts.keys().isdisjoint(names):
            return None
        ids = self.nodes.identities.ids
        extents = Extents(group)
        outermost = set(extents.outermost())
        wholes = tuple(sorted(ids[name] for name, extent in extents.of.items() if extent in outermost and name in ids))
        drops: dict[int, int] = {}
        for name, extent in extents.of.items():
            if name in ids and ids[name] in lasts:
                drops[extent] = max(lasts[ids[name]], drops.get(extent, lasts[ids[name]]))
        whole = min(drops[extent] for extent in outermost) if drops.keys() >= outermost else None
        return _Spread(extents, drops, wholes, whole)

    def last(self, id_: int) -> int | None:
        """When a dataset was last dropped under this name, or under a name that contains it; None if never. It must have been loaded."""
        names = self.dropped.get(id_)
        return names.drop if names else None

    def is_part(self, id_: int) -> bool:
        """Whether the last drop under this name was of a part of the dataset: a partition of a table. It must have been loaded."""
        names = self.dropped.get(id_)
        return names is not None and names.drop is not None and (names.whole is None or names.whole < names.drop)

    def around(self, id_: int) -> tuple[int, ...]:
        """Return this name of a dataset and the names that denote the whole dataset. The dataset must have been loaded."""
        names = self.dropped.get(id_)
        return tuple(sorted({id_, *names.outermost})) if names else (id_,)

    def names(self, id_: int) -> tuple[int, ...]:
        """All names of a dataset, which must have been loaded."""
        names = self.dropped.get(id_)
        return names.group if names else (id_,)

    def is_gone(self, id_: int) -> bool:
        """Whether a dataset, as a whole, was dropped and has not been written or created since. It must have been loaded."""
        names = self.dropped.get(id_)
        if names is None or names.whole is None:
            return False
        if names.group not in self._gone:
            self._gone[names.group] = not self._came_back(names.group, names.whole)
        return self._gone[names.group]

    def between(self, id_: int, after: int, before: int) -> bool:
        """Whether a drop of a dataset as a whole certainly lies between two times.

        All reports of one run on one day are one drop, at some time between the first and the last report.
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
        """Whether a run of a job named a dataset as input or output (`side`) after the time `end`. Runs that dropped the dataset do not
        count.
        """
        values = (job, end, self.at_us, job, dataset, int(side), self.at_us, self.at_us, end)
        runs = [row[0] for row in self.connection.execute(_NAMED_LATER, values).fetchall()]
        return any(not self._dropped_by(run, job).intersection(self.names(dataset)) for run in runs)

    def _dropped_by(self, asserted_by: bytes, job: int) -> frozenset[int]:
        """The datasets that a run dropped. A design-time statement does not end, so it drops none."""
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
        lasts = (self.times.flow(*flow) for flow in flows)
        return any(last is not None and last > drop for last in lasts)

    def _written_by(self, job: int, dataset: int, origin: int, drop: int) -> bool:
        if origin == Origin.OBSERVED:
            return self.named_later(job, dataset, int(Side.OUTPUT), drop)
        last = self.times.port(job, dataset, int(Side.OUTPUT), origin)
        return last is not None and last > drop
