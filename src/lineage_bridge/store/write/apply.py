"""Applies a batch in one transaction: merges the facts by the merge rules, updates the derived tables, and advances the position.

The position is advanced by compare-and-set, so a batch counts only once, even if two processes apply it.
"""

import secrets
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, nullcontext
from functools import partial
from pathlib import Path
from threading import Lock

from lineage_bridge.errors import CollisionError, PositionError, StoreDamagedError
from lineage_bridge.graph.facts.fold import ASSERTER_RELATIONS
from lineage_bridge.graph.facts.names import Names
from lineage_bridge.graph.flows.derive import FirstSeen
from lineage_bridge.graph.merge_rules import Relation, Row
from lineage_bridge.graph.relations import BY_NAME, RELATIONS
from lineage_bridge.graph.statements.lineage_sets import named_nodes
from lineage_bridge.ports.graph_store import Batch, Budget
from lineage_bridge.store.connection import StoreConnection
from lineage_bridge.store.damage import file_identity, suspicion, write_failures_reported
from lineage_bridge.store.derive.derivation import Derivation
from lineage_bridge.store.dialect import SQLITE, Dialect
from lineage_bridge.store.merging import SQL_TYPES, merge_sql, merged
from lineage_bridge.store.schema.sqlite import connect_writer
from lineage_bridge.store.write.changes import ChangeRecorder
from lineage_bridge.store.write.erasure import Erasure

_EPOCH_BYTES = 6
_FEW = 20
"""At most this many rows are merged one by one, also in a database in which one statement merges many rows."""
_STAGED = ("node", "run_io")
_DIRECT = tuple(r for r in RELATIONS if r.name not in (*_STAGED, "facet_set", "facet", "erased", "alias"))


_WAITING = ("derive_queue", "search_queue", "stitch_queue")
"""Tables of keys that are still to be derived."""
_ASSERTER_INDEX = {"event": 4, **dict.fromkeys(ASSERTER_RELATIONS, 0)}
"""The index of the asserter in the rows of a relation."""


class GraphWriter:
    """The graph store, opened for writing. There is only one per data folder; several threads must not use it at once."""

    def __init__(
        self,
        location: Path | StoreConnection,
        names: Names,
        *,
        feed: bool = True,
        stitch: bool = False,
        fresh: Callable[[int], str] = secrets.token_hex,
        dialect: Dialect = SQLITE,
    ) -> None:
        """`location` is a file of SQLite, or a connection that writes.

        With `feed`, changes are recorded in the change feed, in a new epoch; `fresh` makes the name of the epoch from a number of random
        bytes.

        `stitch`: whether the rule `stitch_siblings` is on.
        """
        self.connection = connect_writer(location, dialect) if isinstance(location, Path) else location
        self._watched = partial(write_failures_reported, location) if isinstance(location, Path) else nullcontext
        self._file = (location, file_identity(location)) if isinstance(location, Path) else None
        self._at_work = Lock()
        self.changes, self.fresh = ChangeRecorder(self.connection, on=feed), fresh
        if feed:
            self.begin_epoch()
        self.derivation = Derivation(self.connection, names, self.changes)
        self.erasure = Erasure(self.connection, self.derivation)
        _prepare(self.connection)
        self._switch(stitch)
        self.erased = {bytes(row[0]) for row in self.connection.execute("SELECT run FROM erased")}

    def begin_epoch(self) -> None:
        """Begin an epoch of the change feed."""
        self.changes.open_epoch(self.fresh(_EPOCH_BYTES))

    def _switch(self, stitch: bool) -> None:
        if self.derivation.stitching.on == stitch:
            return
        self.connection.execute("BEGIN IMMEDIATE")
        self.derivation.stitching.switch(stitch)
        self.changes.flush()
        self.connection.execute("COMMIT")

    def close(self) -> None:
        """Close the connection; an open transaction is rolled back."""
        self.connection.close()

    def position(self, source: str) -> dict[int, int]:
        """The offset at which the next batch starts, for each partition of `source`."""
        rows = self.connection.execute('SELECT partition, "offset" FROM position WHERE source = ?', (source,))
        return dict(rows.fetchall())

    def apply(self, batch: Batch, budget: Budget) -> None:
        """Merge one batch.

        Raises PositionError if it does not start at the store's position, CollisionError for names that share an id.
        """
        with self.transaction():
            self._advance(batch)
            self._merge(batch.rows, budget)

    def settle(self, budget: Budget) -> int:
        """Derive the keys that earlier batches left in the queues; returns the number of keys that are still left."""
        if not self.left():
            return 0
        with self.transaction():
            self.derivation.settle(budget)
        return self.left()

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """A context manager around changes that are committed together, or not at all if the block raises an error."""
        with self._at_work, self._watched():
            self.connection.execute("BEGIN IMMEDIATE")
            try:
                yield
                self.changes.flush()
                self.connection.execute("COMMIT")
            except BaseException:
                self.connection.roll_back()
                self.derivation.forget()
                self.changes.forget()
                self.erased = {bytes(row[0]) for row in self.connection.execute("SELECT run FROM erased")}
                raise

    def check(self) -> None:
        """Check that the store is intact: a file must still be the one that was opened; a PostgreSQL database must answer and have the
        tables. Raises StoreDamagedError, StoreError.

        While a batch is applied, PostgreSQL is not asked: if it does not answer, the batch fails anyway.
        """
        if self._file is None:
            if self._at_work.acquire(blocking=False):
                try:
                    self.connection.execute("SELECT 1 FROM position LIMIT 1")
                finally:
                    self._at_work.release()
        elif suspicion(self._file[0]).exists() or file_identity(self._file[0]) != self._file[1]:
            raise StoreDamagedError(
                "the graph store was deleted or replaced while it was open, or is damaged",
                "you need not do anything: the pipeline restarts, and computes the graph again if necessary",
            )

    def left(self) -> int:
        """How many keys are still to be derived."""
        counts = " UNION ALL ".join(f"SELECT count(*) AS keys FROM {table}" for table in _WAITING)
        return int(self.connection.execute(f"SELECT sum(keys) FROM ({counts}) q").fetchone()[0])

    def _advance(self, batch: Batch) -> None:
        for (source, partition), (start, end) in sorted(batch.ranges.items()):
            row = self.connection.execute(
                'SELECT "offset" FROM position WHERE source = ? AND partition = ?', (source, partition)
            ).fetchone()
            if (row[0] if row else 0) != start:
                raise PositionError(
                    f"a batch of {source}/{partition} starts at offset {start}, but the store expects offset {row[0] if row else 0}",
                    "make sure that only one pipeline writes this store, and restart it",
                )
            self.connection.execute(
                'INSERT INTO position VALUES (?, ?, ?) ON CONFLICT (source, partition) DO UPDATE SET "offset" = excluded."offset"',
                (source, partition, end),
            )

    def _merge(self, rows: Mapping[str, list[Row]], budget: Budget) -> None:
        newly_erased = self._erased_by(rows.get("erased", []))
        if self.erased:
            rows = self._without_erased(rows)
        for name in _STAGED:
            _stage(self.connection, BY_NAME[name], rows.get(name, []))
        self._refuse_collisions()
        self.derivation.add_staged_nodes()
        for relation in _DIRECT:
            if rows.get(relation.name):
                _upsert(self.connection, relation, rows[relation.name])
        self.derivation.add_facet_sets(rows.get("facet_set", []))
        self.derivation.add_facets(rows.get("facet", []))
        touched = self.derivation.asserters_with_new_members()
        if rows.get("run_io"):
            self.connection.execute(_merge_staged(BY_NAME["run_io"]))
        self.derivation.keep_up(rows, touched, budget)
        if newly_erased:
            self.erasure.erase(newly_erased)

    def _erased_by(self, rows: list[Row]) -> list[bytes]:
        new = sorted({row[0] for row in rows} - self.erased)
        if rows:
            _upsert(self.connection, BY_NAME["erased"], rows)
            self.erased |= set(new)
        return new

    def _without_erased(self, rows: Mapping[str, list[Row]]) -> Mapping[str, list[Row]]:
        """The batch without the assertions of erased runs, and without the nodes that only these runs name."""
        kept = dict(rows)
        for name, index in _ASSERTER_INDEX.items():
            kept[name] = [row for row in rows.get(name, []) if row[index] not in self.erased]
        if all(len(kept[name]) == len(rows.get(name, [])) for name in _ASSERTER_INDEX):
            return rows
        events = {(row[0], row[1]) for row in kept["event"]}
        kept["event_record"] = [row for row in rows.get("event_record", []) if (row[0], row[1]) in events]
        asserted = FirstSeen()
        for row in kept["assertion"]:
            asserted.note(row[5], row[7])
        kept["declared_io"] = [row for row in rows.get("declared_io", []) if row[0] in asserted]
        for row in kept["declared_io"]:
            asserted.note(row[3], asserted[row[0]])
        foreign = {row[7] for row in kept["foreign_assertion"]}
        kept["facet_set"] = [row for row in rows.get("facet_set", []) if row[0] in asserted or row[0] in foreign]
        named = self._named(kept, asserted)
        kept["node"] = [(*row[:4], named[row[0]]) for row in rows.get("node", []) if row[0] in named]
        return kept

    def _named(self, rows: Mapping[str, list[Row]], asserted: FirstSeen) -> FirstSeen:
        """The nodes that rows name, each with the time of its first mention. `asserted` has the time of the first assertion of each facet
        set.
        """
        named, facets = FirstSeen(), FirstSeen()
        for row in rows["run_io"]:
            named.note(row[2], row[5])
        for row in rows["assertion"]:
            named.note(row[1], row[7])
            named.note(row[2], row[7])
        for row in rows["declared_io"]:
            named.note(row[2], asserted[row[0]])
        for facet_set, key, facet in rows["facet_set"]:
            if key == "parent" and facet_set in asserted:
                facets.note(facet, asserted[facet_set])
        for facet, _, text in rows.get("facet", []):
            for node in named_nodes("parent", text.encode(), self.derivation.names) if facet in facets else ():
                named.note(node[0], facets[facet])
        return named

    def _refuse_collisions(self) -> None:
        clashes = self.connection.execute(
            "SELECT DISTINCT i.kind, i.namespace, i.name FROM in_node i JOIN node n ON n.id = i.id "
            "WHERE (i.kind, i.namespace, i.name) <> (n.kind, n.namespace, n.name) "
            "UNION SELECT b.kind, b.namespace, b.name FROM in_node a JOIN in_node b ON a.id = b.id "
            "WHERE (b.kind, b.namespace, b.name) > (a.kind, a.namespace, a.name) ORDER BY 1, 2, 3"
        ).fetchall()
        if clashes:
            raise CollisionError(clashes)


def _prepare(connection: StoreConnection) -> None:
    """Create the temporary tables that a batch is staged in."""
    direct = (relation.name for relation in _DIRECT) if connection.dialect.merges_sets else ()
    for name in (*_STAGED, *direct):
        columns = ", ".join(f'"{column.name}" {SQL_TYPES[column.type]}' for column in BY_NAME[name].columns)
        connection.execute(f"CREATE TEMP TABLE in_{name} ({columns})")


def _stage(connection: StoreConnection, relation: Relation, rows: list[Row]) -> None:
    connection.execute(f"DELETE FROM in_{relation.name}")
    if rows:
        connection.load(f"in_{relation.name}", relation.names, merged(relation, rows) if connection.dialect.merges_sets else rows)


def _upsert(connection: StoreConnection, relation: Relation, rows: list[Row]) -> None:
    if connection.dialect.merges_sets and len(rows) > _FEW:
        _stage(connection, relation, rows)
        connection.execute(_merge_staged(relation))
    else:
        marks = ", ".join("?" * len(relation.names))
        connection.executemany(merge_sql(relation, f"VALUES ({marks})"), rows)


def _merge_staged(relation: Relation) -> str:
    columns = ", ".join(f'"{column}"' for column in relation.names)
    return merge_sql(relation, f"SELECT {columns} FROM in_{relation.name} WHERE true")
