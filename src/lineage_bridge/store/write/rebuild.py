"""Replays the log into a store beside the one in use, compares both, and replaces the store in use in one transaction.

SQLite's backup copies the new content into the write-ahead log of the file in use: readers continue with the old content until the commit,
and a process killed before that leaves the old content.
"""

import os
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

from lineage_bridge.errors import StoreDamagedError, StoreError, StoreMissingError, StoreVersionError
from lineage_bridge.graph.facts.names import Names
from lineage_bridge.graph.relations import RELATIONS
from lineage_bridge.ports.graph_store import RowCount
from lineage_bridge.store.connection import StoreConnection
from lineage_bridge.store.damage import suspicion
from lineage_bridge.store.reader import StoreLocation
from lineage_bridge.store.schema.sqlite import connect_reader, connect_writer, leave_one_file, replace_content, skip_durability
from lineage_bridge.store.write.apply import GraphWriter

PAGES = 4096
"""Pages copied between two calls of `on_progress`."""
_SUFFIXES = ("", "-wal", "-shm", "-journal")
_RECORD_RELATIONS = ("event_record", "quarantine")
"""The relations with a row for each record of the log."""


def open_fresh(path: Path, names: Names, *, stitch: bool = False) -> GraphWriter:
    """Open an empty store at `path`, to be filled by a replay. A crash before `seal` may damage it, as writes are not durable until then.

    `stitch`: whether the rule `stitch_siblings` is on.
    """
    remove(path)
    writer = GraphWriter(path, names, feed=False, stitch=stitch)
    skip_durability(writer.connection)
    return writer


def remove(path: Path) -> None:
    """Remove a store and its write-ahead log."""
    for suffix in _SUFFIXES:
        path.with_name(path.name + suffix).unlink(missing_ok=True)


def compare(location: Path | StoreLocation, fresh: GraphWriter) -> list[RowCount]:
    """For each relation, the number of rows in the store in use (0 if this version cannot read it) and in the fresh store."""
    after = _counts(fresh.connection)
    before = _counts_of(location)
    return [RowCount(name, before.get(name, 0), rows) for name, rows in after.items()]


def refuse_loss(location: Path | StoreLocation, fresh: GraphWriter, counted: list[RowCount]) -> None:
    """Check that the log has at least as many records as the store in use was computed from. Raises StoreError otherwise."""
    behind = sorted(offset for offset, at in _position_of(location).items() if fresh.position(offset[0]).get(offset[1], 0) < at)
    records = {row.relation: row for row in counted if row.relation in _RECORD_RELATIONS}
    before, after = (sum(getattr(row, side) for row in records.values()) for side in ("before", "after"))
    if behind or after < before:
        raise StoreError(
            f"part of the log is missing: the graph has {before} records, the log only {after}; the graph was not replaced",
            "restore the log, or replace the graph without the missing records: lineage-bridge replay --anyway",
        )


def seal(fresh: GraphWriter, keep: Path | StoreLocation | None = None) -> None:
    """Complete a fresh store: begin an epoch of the change feed, and advance its position to that of the store `keep`."""
    for (source, partition), offset in (_position_of(keep) if keep else {}).items():
        fresh.connection.execute(
            "INSERT INTO position VALUES (?, ?, ?) "
            'ON CONFLICT (source, partition) DO UPDATE SET "offset" = GREATEST(position."offset", excluded."offset")',
            (source, partition, offset),
        )
    fresh.begin_epoch()


def put_in_place(fresh: GraphWriter, path: Path, on_progress: Callable[[int, int], None]) -> None:
    """Replace the store at `path` by the fresh one, in one transaction. `on_progress` is called with the pages left and their total."""
    with closing(connect_writer(path)) as target:
        replace_content(target, fresh.connection, PAGES, on_progress)
    suspicion(path).unlink(missing_ok=True)


def publish(fresh: GraphWriter, fresh_file: Path, path: Path) -> None:
    """Complete a fresh store in the file `fresh_file`, make it durable, and rename it to `path`."""
    leave_one_file(fresh.connection)
    fresh.close()
    for target in (fresh_file, fresh_file.parent):
        descriptor = os.open(target, os.O_RDONLY)
        os.fsync(descriptor)
        os.close(descriptor)
    fresh_file.replace(path)


def _counts(connection: StoreConnection) -> dict[str, int]:
    return {r.name: int(connection.execute(f'SELECT count(*) FROM "{r.name}"').fetchone()[0]) for r in RELATIONS}


def _connected(location: Path | StoreLocation) -> StoreConnection:
    return connect_reader(location) if isinstance(location, Path) else location.connect()


def _counts_of(location: Path | StoreLocation) -> dict[str, int]:
    try:
        with closing(_connected(location)) as connection:
            return _counts(connection)
    except (StoreMissingError, StoreVersionError, StoreDamagedError):
        return {}


def _position_of(location: Path | StoreLocation) -> dict[tuple[str, int], int]:
    try:
        with closing(_connected(location)) as connection:
            return {
                (source, partition): offset
                for source, partition, offset in connection.execute('SELECT source, partition, "offset" FROM position')
            }
    except (StoreMissingError, StoreVersionError, StoreDamagedError):
        return {}
