"""Writes the change feed: the net changes of derived rows in a transaction, one row of `change` for each.

All changes of a table in the feed are recorded here. A row that is added and deleted within one transaction is not recorded. A feed belongs
to one store. Each time the store is opened for writing, a new epoch begins. So a store that was restored from an older copy, or computed
again, never accepts a cursor that another store issued.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias

from lineage_bridge.graph.merge_rules import Row
from lineage_bridge.model.differences import ChangeAction
from lineage_bridge.store.connection import StoreConnection

Parameters: TypeAlias = Sequence[object] | Mapping[str, object]
KEPT = 1_000_000
"""The maximum number of changes that a store keeps."""
COLUMNS = ("node", "other", "job", "side", "origin", "evidence", "key", "value")
_EMPTY: dict[str, Any] = {"key": "", "value": b""}


class FeedTable(NamedTuple):
    """A table whose changes are in the change feed: the kind of its changes, the table's column for each column of the table `change`, and
    the columns that are not part of the key.
    """

    kind: str
    columns: dict[str, str]
    valued: tuple[str, ...] = ()


FED = {
    "node": FeedTable("node", {"node": "id"}),
    "job_io": FeedTable("port", {"node": "dataset", "job": "job", "side": "side", "origin": "origin"}),
    "flow": FeedTable("flow", {"node": "source", "other": "target", "job": "job", "origin": "origin", "evidence": "evidence"}),
    "hub": FeedTable("hub", {"node": "hub", "job": "job", "origin": "origin"}),
    "job_lineage_set": FeedTable("columns", {"node": "carrier", "job": "job", "origin": "origin", "value": "lineage_set"}),
    "alias": FeedTable("alias", {"key": "text", "value": "state"}, ("value",)),
    "symlink": FeedTable("identity", {"node": "dataset", "other": "other", "key": "type"}),
    "current_facet": FeedTable("facet", {"node": "node", "job": "job", "key": "key", "value": "facet"}, ("value",)),
}
_INSERT = f"INSERT INTO change (seq, kind, action, {', '.join(COLUMNS)}) VALUES ({', '.join('?' * (3 + len(COLUMNS)))})"


class ChangeRecorder:
    """Records changes over the writer's connection, inside its transaction. Call `flush` before a commit, `forget` after a rollback."""

    def __init__(self, connection: StoreConnection, *, on: bool = True, kept: int = KEPT) -> None:
        self.connection, self.on, self.kept = connection, on, kept
        self.net: Counter[tuple[str, Row]] = Counter()

    def open_epoch(self, epoch: str) -> None:
        """Begin an epoch, in a transaction of its own."""
        self.connection.execute(
            "INSERT INTO change_epoch SELECT coalesce(max(number), 0) + 1, ?, ? FROM change_epoch", (epoch, newest(self.connection))
        )

    def run(self, table: str, sql: str, parameters: Parameters = ()) -> list[Row]:
        """Run an INSERT or a DELETE on a table of the feed, and record the rows it added or deleted; returns their recorded columns."""
        columns = ", ".join(f'"{column}"' for column in FED[table].columns.values())
        rows: list[Row] = self.connection.execute(f"{sql} RETURNING {columns}", parameters).fetchall()
        (self.lost if sql.startswith("DELETE") else self.gained)(table, rows)
        return rows

    def gained(self, table: str, rows: Iterable[Row]) -> None:
        """Record rows that were added, as their columns in the order of FED."""
        if self.on:
            self.net.update((table, tuple(row)) for row in rows)

    def lost(self, table: str, rows: Iterable[Row]) -> None:
        """Record rows that were deleted, as their columns in the order of FED."""
        if self.on:
            self.net.subtract((table, tuple(row)) for row in rows)

    def forget(self) -> None:
        """Remove the records of a transaction that was rolled back."""
        self.net.clear()

    def flush(self) -> None:
        """Write the net changes of this transaction to the feed, and delete the oldest changes if there are more than KEPT."""
        record = _net_rows(self.net)
        self.net.clear()
        if not record:
            return
        seq = newest(self.connection)
        self.connection.executemany(_INSERT, ((number, *row) for number, row in enumerate(record, seq + 1)))
        oldest = seq + len(record) - self.kept + 1
        if oldest > 1:
            self.connection.execute("DELETE FROM change WHERE seq < ?", (oldest,))
            self.connection.execute(
                "DELETE FROM change_epoch WHERE number < (SELECT max(number) FROM change_epoch WHERE since < ?)", (oldest,)
            )


def newest(connection: StoreConnection) -> int:
    """The number of the newest change; 0 before the first."""
    row = connection.execute(
        "SELECT coalesce((SELECT max(seq) FROM change), (SELECT since FROM change_epoch ORDER BY number DESC LIMIT 1), 0)"
    ).fetchone()
    return int(row[0])


def _net_rows(net: Counter[tuple[str, Row]]) -> list[tuple[Any, ...]]:
    """The rows of `change` for these net changes. Nodes are added before the rows that name them, and removed after these rows."""
    gains = [record for record, count in net.items() if count > 0]
    losses = [record for record, count in net.items() if count < 0]
    replaced = {_key(*record) for record in losses} & {_key(*record) for record in gains}
    rows = [_row(*record, ChangeAction.CHANGED if _key(*record) in replaced else ChangeAction.ADDED) for record in gains]
    rows += [_row(*record, ChangeAction.REMOVED) for record in losses if _key(*record) not in replaced]
    return sorted(rows, key=_order)


def _key(table: str, row: Row) -> tuple[Any, ...]:
    fed = FED[table]
    return table, *(value for column, value in zip(fed.columns, row, strict=True) if column not in fed.valued)


def _row(table: str, row: Row, action: ChangeAction) -> tuple[Any, ...]:
    fed = FED[table]
    record = dict(zip(fed.columns, row, strict=True))
    return fed.kind, int(action), *(record.get(column, _EMPTY.get(column, 0)) for column in COLUMNS)


def _order(row: tuple[Any, ...]) -> tuple[Any, ...]:
    is_node = row[0] == "node"
    phase = (3 if row[1] == ChangeAction.REMOVED else 0) if is_node else (1 if row[1] == ChangeAction.REMOVED else 2)
    return phase, row
