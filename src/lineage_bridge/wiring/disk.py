"""How much of its disk an installation uses."""

import shutil
from contextlib import suppress
from pathlib import Path

from lineage_bridge.eventlog.archive.reader import AllRecords


def disk_space(folder: Path, records: AllRecords) -> tuple[int, int]:
    """The bytes that the log and the archive use, and the free bytes of their file system; none if the folder does not exist."""
    try:
        return records.disk_bytes(), shutil.disk_usage(folder).free
    except FileNotFoundError:
        return 0, 0


def file_bytes(database: Path) -> int:
    """The size in bytes of an SQLite database with its write-ahead log; 0 if there is none."""
    total = 0
    for name in (database.name, f"{database.name}-wal"):
        with suppress(FileNotFoundError):
            total += database.with_name(name).stat().st_size
    return total
