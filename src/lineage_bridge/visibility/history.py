"""Reads how the principal's own nodes changed over time."""

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import accumulate
from typing import Final, TypeVar

import msgspec

from lineage_bridge.model.differences import Between, ChangePage, ChangeRecord, Drift, DriftPage, GraphChange, GraphDiff
from lineage_bridge.model.graph import Node, WalkLimits
from lineage_bridge.model.history import (
    FacetEntry,
    FacetHistory,
    FacetPage,
    ForeignFilter,
    ForeignPage,
    ForeignStatement,
    LifeEntry,
    SchemaHistory,
)
from lineage_bridge.ports.history_reader import HistoryReader
from lineage_bridge.visibility.border import Border
from lineage_bridge.visibility.flows import flow_of
from lineage_bridge.visibility.nodes import LINEAGE

_PORTION: Final = 2_000
_MOST_PORTIONS: Final = 10
"""The maximum number of pages of the change feed that one question reads to find changes the principal may see."""
_HUB: Final = "hub"
_WithText = TypeVar("_WithText", FacetEntry, ForeignStatement)


class LimitedHistory:
    """Implements ports.HistoryReader. `lists` is a reader limited to the principal's namespaces."""

    def __init__(self, history: HistoryReader, lists: HistoryReader, border: Border) -> None:
        self._history, self._lists, self._border = history, lists, border

    def schemas(self, dataset: Node, at_us: int | None = None) -> SchemaHistory:
        """The schema versions of one of the principal's own datasets; none for any other dataset."""
        if not self._border.is_own(dataset):
            return SchemaHistory("", (), (), truncated=False)
        found = self._history.schemas(dataset, at_us)
        versions = tuple(replace(version, jobs=self._neighbours(dataset, version.jobs)) for version in found.versions)
        return replace(found, versions=versions, renamed_from=self._neighbours(dataset, found.renamed_from))

    def facet(self, node: Node, key: str, at_us: int | None = None, page: FacetPage | None = None) -> FacetHistory:
        """The versions of a facet of one of the principal's own nodes.

        A facet that names datasets is included only if one of the principal's own jobs states it, or no job does.
        """
        self._border.require_own(node)
        found = self._history.facet(node, key, at_us, None if key in LINEAGE else page)
        if key in LINEAGE:
            found = _page(replace(found, entries=tuple(filter(self._may_name, found.entries))), page)
        return replace(found, entries=tuple(replace(entry, jobs=self._neighbours(node, entry.jobs)) for entry in found.entries))

    def _may_name(self, entry: FacetEntry) -> bool:
        return self._border.visibility.neighbours and (not entry.jobs or self._border.touches(*entry.jobs))

    def foreign(self, which: ForeignFilter, limit: int, offset: int, max_bytes: int) -> ForeignPage:
        """Foreign assertions about own nodes, and by own jobs. The limits of other senders are not shown."""
        found: list[ForeignStatement] = []
        read, page = 0, ForeignPage((), truncated=False, more=True)
        while page.more and len(found) <= offset + limit:
            page = self._history.foreign(which, _PORTION, read, max_bytes)
            read += len(page.statements)
            found += self._own_statements(page.statements)
        shown = _fitting(found[offset : offset + limit], max_bytes)
        return ForeignPage(tuple(shown), page.truncated, more=len(found) > offset + len(shown))

    def _own_statements(self, statements: Collection[ForeignStatement]) -> Iterator[ForeignStatement]:
        for item in statements:
            if self._border.touches(item.node, *([item.job] if item.job else [])):
                if item.job:
                    self._border.note_neighbours(item.node, item.job)
                node, job = self._border.shown(item.node), self._border.shown(item.job) if item.job else None
                by_own = item.job is not None and self._border.is_own(item.job)
                yield replace(item, node=node, job=job, namespaces=item.namespaces if by_own else ())

    def lifecycle(self, dataset: Node, limit: int, offset: int) -> list[LifeEntry]:
        """The lifecycle changes of one of the principal's own datasets."""
        found = self._history.lifecycle(self._border.require_own(dataset), limit, offset)
        return [
            replace(entry, job=self._neighbour(dataset, entry.job), previous=self._neighbour(dataset, entry.previous)) for entry in found
        ]

    def _neighbour(self, near: Node, far: Node | None) -> Node | None:
        return self._neighbours(near, [far])[0] if far else None

    def _neighbours(self, near: Node, far: Iterable[Node]) -> tuple[Node, ...]:
        """The nodes that have an edge to one of the principal's own nodes, in the form in which answers show them."""
        nodes = list(far)
        for node in nodes:
            self._border.note_neighbours(near, node)
        names = self._border.all_shown(nodes)
        return tuple(dict.fromkeys(names[node.id] for node in nodes))

    def diff(self, node: Node, direction: str, depth: int, limits: WalkLimits, between: Between, *, now_us: int) -> GraphDiff:
        """The changes around one of the principal's own nodes. Changes of other nodes are left out."""
        found = self._history.diff(self._border.require_own(node), direction, depth, limits, between, now_us=now_us)
        return replace(found, changes=self._changes(found.changes))

    def diff_jobs(self, namespace: str | None, between: Between, limit: int, offset: int, *, now_us: int) -> GraphDiff:
        """The changes of own jobs."""
        found = self._lists.diff_jobs(namespace, between, limit, offset, now_us=now_us)
        return replace(found, changes=self._changes(found.changes))

    def _changes(self, changes: Collection[GraphChange]) -> tuple[GraphChange, ...]:
        """The changes that may be shown: those of edges and ports at own nodes, of own nodes, and of neighbours in these edges and
        ports.
        """
        border = self._border
        border.load(node for change in changes for node in _nodes_of(change))
        kept = [change for change in changes if change.node or border.touches(*_nodes_of(change))]
        for change in kept:
            if change.edge:
                border.note_flow(flow_of(change.edge))
            if change.port:
                border.note_neighbours(change.port.job, change.port.dataset)
        kept = [change for change in kept if not change.node or border.has_name(change.node)]
        names = border.all_shown(node for change in kept for node in _nodes_of(change))
        return tuple(dict.fromkeys(_renamed(change, names) for change in kept))

    def drift(self, namespace: str | None, name: str | None, limit: int, offset: int, *, now_us: int) -> DriftPage:
        """Differences between the declared and the observed lineage of own jobs."""
        found = self._lists.drift(namespace, name, limit, offset, now_us=now_us)
        return replace(found, drifts=tuple(map(self._drift, found.drifts)))

    def _drift(self, drift: Drift) -> Drift:
        node, *rest = self._neighbours(drift.job, [drift.node]) + self._neighbours(drift.job, [drift.target] if drift.target else [])
        return replace(drift, node=node, target=rest[0] if rest else None)

    def with_new_schemas(self) -> list[Node]:
        """The principal's own datasets whose schema was replaced or removed, the latest first."""
        found = self._history.with_new_schemas()
        self._border.load(found)
        return [node for node in found if self._border.is_own(node)]

    def changes(self, after: str | None, kinds: Collection[str], limit: int) -> ChangePage:
        """The changes of own nodes after a cursor. Each call examines a bounded number of changes; the next cursor continues after
        these.
        """
        found: list[ChangeRecord] = []
        for _ in range(_MOST_PORTIONS):
            page = self._history.changes(after, kinds, _PORTION)
            own = self._own_changes(page.changes)
            room = limit - len(found)
            if len(own) > room:
                read = sum(1 for record in page.changes if record.seq <= own[room - 1].seq)
                page, own = self._history.changes(after, kinds, read), own[:room]
            found += own
            if len(found) == limit or not page.more:
                break
            after = page.following
        return replace(page, changes=tuple(found))

    def _own_changes(self, records: Collection[ChangeRecord]) -> list[ChangeRecord]:
        self._border.load(node for record in records for node in _ends_of(record))
        return [self._change(record) for record in records if self._is_shown(record)]

    def _is_shown(self, record: ChangeRecord) -> bool:
        """Whether a change concerns own nodes. Changes of hubs are left out, because a hub has no name."""
        if record.kind == "alias":
            ends = [end in self._border.own for end in msgspec.json.decode(record.key)[2:5:2]]
            return all(ends) if record.value == b"vetoed" else any(ends)
        if record.kind in ("facet", "columns"):
            return self._border.is_own(record.node) and (record.job is None or self._border.is_own(record.job))
        return record.kind != _HUB and self._border.touches(*_ends_of(record))

    def _change(self, record: ChangeRecord) -> ChangeRecord:
        if record.kind == "alias":
            return record
        if record.kind == "flow" and record.other and record.job:
            self._border.note_flow((record.node, record.other, record.job))
        elif record.job:
            self._border.note_neighbours(record.node, record.job)
        names = self._border.all_shown(_ends_of(record))
        other, job = (names[node.id] if node else None for node in (record.other, record.job))
        return replace(record, node=names[record.node.id], other=other, job=job)


def _page(history: FacetHistory, page: FacetPage | None) -> FacetHistory:
    """The first versions that fit on a page, whose size in bytes is limited; at least one."""
    if page is None:
        return history
    rest = history.entries[page.offset :]
    shown = [*rest[: page.limit]]
    shown = [replace(entry, text="") for entry in shown] if page.max_bytes is None else _fitting(shown, page.max_bytes)
    return replace(history, entries=tuple(shown), more=len(rest) > len(shown))


def _fitting(items: list[_WithText], max_bytes: int) -> list[_WithText]:
    """The first items that together have at most the given number of bytes, but at least one."""
    fitting = sum(1 for size in accumulate(len(item.text) for item in items) if size <= max_bytes)
    return items[: max(fitting, 1)]


def _nodes_of(change: GraphChange) -> tuple[Node, ...]:
    if change.edge:
        return flow_of(change.edge)
    if change.port:
        return change.port.job, change.port.dataset
    return (change.node,) if change.node else ()


def _renamed(change: GraphChange, names: Mapping[int, Node]) -> GraphChange:
    edge, port = change.edge, change.port
    return replace(
        change,
        node=names[change.node.id] if change.node else None,
        edge=edge._replace(source=names[edge.source.id], target=names[edge.target.id], job=names[edge.job.id]) if edge else None,
        port=port._replace(job=names[port.job.id], dataset=names[port.dataset.id]) if port else None,
    )


def _ends_of(record: ChangeRecord) -> list[Node]:
    """The nodes of a change; none for an alias."""
    return [] if record.kind == "alias" else [node for node in (record.node, record.other, record.job) if node]
