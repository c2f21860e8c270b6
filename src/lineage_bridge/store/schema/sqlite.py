"""SQLite connections and the migration of a store file."""

import sqlite3
from pathlib import Path

from lineage_bridge.errors import StoreError, StoreMissingError, StoreVersionError

MINIMUM = (3, 35, 0)
VERSION = "0003"
"""The revision of the schema this code reads and writes: the newest under migrations/versions."""

_WRITER = """
PRAGMA journal_mode = WAL;
PRAGMA synchronous = NORMAL;
PRAGMA temp_store = MEMORY;
PRAGMA cache_size = -262144;
PRAGMA wal_autocheckpoint = 8192;
PRAGMA busy_timeout = 10000;
"""
_READER = """
PRAGMA query_only = ON;
PRAGMA temp_store = MEMORY;
PRAGMA cache_size = -65536;
PRAGMA mmap_size = 1073741824;
PRAGMA busy_timeout = 5000;
"""


def migrate(path: Path, to: str = VERSION) -> None:
    """Bring the store file at `path` to a revision, making it if there is none. Raises StoreVersionError for a newer one."""
    # Alembic and SQLAlchemy take most of a second to import, and only the process that migrates needs them.
    from alembic import command  # noqa: PLC0415 - as above
    from alembic.config import Config  # noqa: PLC0415 - as above
    from alembic.script import ScriptDirectory  # noqa: PLC0415 - as above
    from sqlalchemy import create_engine  # noqa: PLC0415 - as above
    from sqlalchemy.pool import NullPool  # noqa: PLC0415 - as above

    found = version(path)
    if found == to:
        return
    config = Config()
    config.set_main_option("script_location", str(Path(__file__).parent / "migrations").replace("%", "%%"))
    known = {script.revision for script in ScriptDirectory.from_config(config).walk_revisions()}
    if found and found not in known:
        raise StoreVersionError(f"the store {path} has schema {found}, this version knows {VERSION}", "install the version that wrote it")
    path.parent.mkdir(parents=True, exist_ok=True)
    engine = create_engine("sqlite://", creator=lambda: sqlite3.connect(path, timeout=30), poolclass=NullPool)
    with engine.connect() as connection:
        config.attributes["connection"] = connection
        command.upgrade(config, to)
        connection.commit()
    engine.dispose()


def version(path: Path) -> str | None:
    """The schema revision of the store at `path`; None when there is no store."""
    if not path.exists() or path.stat().st_size == 0:
        return None
    connection = sqlite3.connect(path, timeout=30)
    try:
        row = connection.execute("SELECT version_num FROM alembic_version").fetchone()
    except sqlite3.OperationalError:
        return None
    finally:
        connection.close()
    return str(row[0]) if row else None


def connect_writer(path: Path) -> sqlite3.Connection:
    """The one connection that writes; transactions are begun by hand. It may be used from any one thread at a time."""
    _require_sqlite()
    migrate(path)
    connection = sqlite3.connect(path, timeout=30, isolation_level=None, check_same_thread=False)
    connection.executescript(_WRITER)
    return connection


def connect_reader(path: Path) -> sqlite3.Connection:
    """A connection that only reads. Raises StoreMissingError or StoreVersionError."""
    _require_sqlite()
    found = version(path)
    if found is None:
        raise StoreMissingError(f"there is no graph store at {path}", "start the server once: lineage-bridge serve")
    if found != VERSION:
        raise StoreVersionError(f"the store {path} has schema {found}, this version reads {VERSION}", "start the server to migrate it")
    connection = sqlite3.connect(f"file:{path}?mode=ro", uri=True, timeout=30, isolation_level=None, check_same_thread=False)
    connection.executescript(_READER)
    return connection


def _require_sqlite() -> None:
    if sqlite3.sqlite_version_info < MINIMUM:
        raise StoreError(
            f"SQLite {sqlite3.sqlite_version} is too old",
            f"use a Python built with SQLite {'.'.join(map(str, MINIMUM))} or newer",
        )
