"""Measures how much of its disk an installation uses."""

import shutil
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from lineage_bridge.config import DataFolder
from lineage_bridge.errors import StoreError
from lineage_bridge.eventlog.archive.reader import AllRecords


def disk_space(folder: Path, records: AllRecords) -> tuple[int, int]:
    """The number of bytes that the log and the archive use, and of free bytes on their file system; None if the folder does not exist."""
    try:
        return records.disk_bytes(), shutil.disk_usage(folder).free
    except FileNotFoundError:
        return 0, 0


def store_bytes(paths: DataFolder, graph: Callable[[], int] | None) -> dict[str, int]:
    """The bytes of the graph and of the state database. The graph is left out while its database does not answer.

    `graph` returns the size of a graph that is not in the data folder, or raises StoreError.
    """
    sizes = {"state": file_bytes(paths.state)}
    with suppress(StoreError):
        sizes["graph"] = file_bytes(paths.graph) if graph is None else graph()
    return sizes


def file_bytes(database: Path) -> int:
    """The size in bytes of an SQLite database with its write-ahead log; 0 if there is none."""
    total = 0
    for name in (database.name, f"{database.name}-wal"):
        with suppress(FileNotFoundError):
            total += database.with_name(name).stat().st_size
    return total
