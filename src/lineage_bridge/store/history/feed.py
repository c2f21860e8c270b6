"""Reads the change feed with a cursor.

A cursor is `epoch.number`: the number of the last change that was read, and the epoch in which that change was written. An epoch begins
each time that the store is opened for writing. A cursor is valid as long as the store still has all changes that follow it.
"""

import re
from collections.abc import Collection
from typing import Any

from lineage_bridge.errors import GoneError, RequestError
from lineage_bridge.graph.ids import NodeKind
from lineage_bridge.graph.relations import Evidence, Origin, Side
from lineage_bridge.model.differences import ChangeAction, ChangePage, ChangeRecord
from lineage_bridge.model.graph import Node
from lineage_bridge.store.connection import StoreConnection
from lineage_bridge.store.query.nodes import Nodes
from lineage_bridge.store.write.changes import COLUMNS, FED, newest

NOW = "now"
_CURSOR = re.compile(r"([0-9a-z]*)\.(\d{1,18})")
_COLUMNS_OF = {fed.kind: frozenset(fed.columns) for fed in FED.values()}
_LOOKED_THROUGH = 100_000
"""How many of the newest changes are looked through for replaced schemas."""
_MOST_DATASETS = 1_000
_NEW_SCHEMAS = """SELECT c.node FROM change c JOIN node n ON n.id = c.node AND n.kind = ?
WHERE c.seq > ? AND c.kind = 'facet' AND c.key = 'schema' AND c.action <> ? GROUP BY c.node ORDER BY max(c.seq) DESC LIMIT ?"""
_START_AGAIN = "get a new cursor with after=now, read the whole graph, and continue from the cursor"


class Feed:
    """Reads the change feed over one connection, within one read transaction."""

    def __init__(self, connection: StoreConnection, nodes: Nodes) -> None:
        self.connection, self.nodes = connection, nodes
        self.newest = newest(connection)
        oldest = connection.execute("SELECT min(seq) FROM change").fetchone()[0]
        self.before_oldest = self.newest if oldest is None else oldest - 1
        self.epochs: list[tuple[str, int]] = connection.execute("SELECT epoch, since FROM change_epoch ORDER BY number").fetchall()

    def page(self, after: str | None, kinds: Collection[str], limit: int) -> ChangePage:
        """The changes after a cursor, in their order. Raises GoneError, RequestError."""
        start = self._start(after)
        names = sorted(kinds)
        where = f" AND kind IN ({', '.join('?' * len(names))})" if names else ""
        rows = self.connection.execute(
            f"SELECT seq, kind, action, {', '.join(COLUMNS)} FROM change WHERE seq > ?{where} ORDER BY seq LIMIT ?",
            (start, *names, limit + 1),
        ).fetchall()
        more = len(rows) > limit
        end = rows[limit - 1][0] if more else self.newest
        changes, oldest = tuple(map(self._record, rows[:limit])), self._cursor(self.before_oldest)
        return ChangePage(changes, self._cursor(end), oldest, more, self.newest - start)

    def with_new_schemas(self) -> list[Node]:
        """The datasets whose schema was replaced or removed, the latest first: at most 1,000, from the newest 100,000 changes."""
        values = (int(NodeKind.DATASET), self.newest - _LOOKED_THROUGH, int(ChangeAction.ADDED), _MOST_DATASETS)
        found = [row[0] for row in self.connection.execute(_NEW_SCHEMAS, values).fetchall()]
        self.nodes.load(found)
        return [self.nodes.by_id(id_) for id_ in found]

    def _start(self, after: str | None) -> int:
        if after is None:
            return self.before_oldest
        if after == NOW:
            return self.newest
        found = _CURSOR.fullmatch(after)
        if not found:
            raise RequestError(f"{after!r} is not a cursor of the change feed", "send the `next` of an answer unchanged")
        epoch, seq = found[1], int(found[2])
        if not any(name == epoch and since <= seq <= end for name, since, end in self._epoch_ranges()):
            raise GoneError(
                "the cursor belongs to another store: the graph was computed again, or restored from an older copy", _START_AGAIN
            )
        if seq < self.before_oldest:
            raise GoneError("the changes that follow the cursor are no longer kept", _START_AGAIN)
        return seq

    def _epoch_ranges(self) -> list[tuple[str, int, int]]:
        """For each epoch: its name, the number after which it begins, and the number at which it ends."""
        ends = [since for _, since in self.epochs[1:]] + [self.newest]
        return [(epoch, since, end) for (epoch, since), end in zip(self.epochs, ends, strict=True)]

    def _cursor(self, seq: int) -> str:
        epochs = [epoch for epoch, since, end in self._epoch_ranges() if since <= seq <= end]
        return f"{epochs[-1] if epochs else ''}.{seq}"

    def _record(self, row: tuple[Any, ...]) -> ChangeRecord:
        seq, kind, action, *columns = row
        values = dict(zip(COLUMNS, columns, strict=True))
        has = _COLUMNS_OF[kind]
        return ChangeRecord(
            seq=seq,
            kind=kind,
            action=ChangeAction(action),
            node=self.nodes.by_id(values["node"]),
            other=self._node(values["other"]),
            job=self._node(values["job"]),
            side=Side(values["side"]) if "side" in has else None,
            origin=Origin(values["origin"]) if "origin" in has else None,
            evidence=Evidence(values["evidence"]) if "evidence" in has else None,
            key=values["key"],
            value=values["value"],
        )

    def _node(self, id_: int) -> Node | None:
        return self.nodes.by_id(id_) if id_ else None
