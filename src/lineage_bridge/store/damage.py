"""Recognises damaged database files. A damaged file whose content can be computed again is set aside by renaming it."""

import logging
import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path

from lineage_bridge.errors import StoreDamagedError, StoreError

_BESIDE = ("-wal", "-shm", "-journal", "")
"""Suffixes of the files of one database. The main file is the last to be renamed, so that a write-ahead log is never combined with a new
main file.
"""
_HINT = "start the server, which computes a damaged graph again; restore a damaged state.db with lineage-bridge restore --state"
_log = logging.getLogger(__name__)


@contextmanager
def damage_reported(path: Path) -> Iterator[None]:
    """A context manager that turns SQLite's errors about a damaged file into StoreDamagedError. Other errors are not changed."""
    try:
        yield
    except UnicodeDecodeError as error:
        raise StoreDamagedError(f"the database {path} is damaged: {error}", _HINT) from error
    except sqlite3.DatabaseError as error:
        # SQLITE_CORRUPT and SQLITE_NOTADB raise this class itself, all others its subclasses. Undecodable text has no code of its own.
        if type(error) is sqlite3.DatabaseError or "decode to UTF-8" in str(error):
            raise StoreDamagedError(f"the database {path} is damaged: {error}", _HINT) from error
        raise


def is_sound(path: Path) -> bool:
    """Whether SQLite can read every page of a file, and finds tables and indexes consistent."""
    try:
        with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True, timeout=30)) as connection:
            return bool(connection.execute("PRAGMA quick_check(1)").fetchone() == ("ok",))
    except (sqlite3.DatabaseError, UnicodeDecodeError):
        return False


def copy_database(source: Path, target: Path) -> None:
    """Copy a database into a file, even while others write to the database. The new copy replaces an older one as a whole, and only its
    owner may read it.
    """
    fresh = target.with_name(f"{target.name}.new")
    fresh.unlink(missing_ok=True)
    with closing(sqlite3.connect(source, timeout=30)) as read, closing(sqlite3.connect(fresh)) as write, damage_reported(source):
        read.backup(write)
        write.execute("PRAGMA journal_mode = DELETE")
    fresh.chmod(0o600)
    with fresh.open("rb") as file:
        os.fsync(file.fileno())
    fresh.replace(target)


@contextmanager
def suspected_on_damage(path: Path) -> Iterator[None]:
    """Like `damage_reported`, and marks the database file as damaged, so that the process that writes it replaces it. A file that has been
    replaced meanwhile is not marked.
    """
    before = file_identity(path)
    try:
        with damage_reported(path):
            yield
    except StoreDamagedError:
        with suppress(OSError):
            if file_identity(path) == before:
                suspicion(path).touch()
        raise


@contextmanager
def write_failures_reported(path: Path) -> Iterator[None]:
    """Like `suspected_on_damage`; also raises StoreError when SQLite cannot write: the disk is full or fails, or the file is locked."""
    try:
        with suspected_on_damage(path):
            yield
    except sqlite3.OperationalError as error:
        raise StoreError(
            f"the graph store cannot be written: {error}", "check that the disk is not full and that the file can be written"
        ) from error


def file_identity(path: Path) -> tuple[int, int] | None:
    """A value that distinguishes the file at a path from one that replaces it; None if there is no file."""
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_dev, status.st_ino


def suspicion(path: Path) -> Path:
    """The path of a marker file for the database at `path`. While the marker exists, the database is known to be damaged."""
    return path.with_name(f"{path.name}.suspect")


def set_aside(path: Path) -> None:
    """Rename a damaged database, so that a person can examine it. A database that was set aside earlier is overwritten. Raises OSError."""
    aside = path.with_name(f"{path.name}.damaged")
    for suffix in _BESIDE:
        part = path.with_name(path.name + suffix)
        if part.exists():
            part.replace(aside.with_name(aside.name + suffix))
        else:
            aside.with_name(aside.name + suffix).unlink(missing_ok=True)
    suspicion(path).unlink(missing_ok=True)
    _log.error("%s is damaged; it was renamed to %s", path, aside.name)
