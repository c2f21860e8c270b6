"""Migrates the database files of the graph store and of the state database, with Alembic."""

import os
import sqlite3
import threading
from contextlib import closing
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from lineage_bridge.errors import StoreVersionError
from lineage_bridge.store.damage import damage_reported
from lineage_bridge.store.tables_hash import tables_hash


@dataclass(frozen=True)
class Schema:
    """A database schema with its history: its name in errors, the folder of its migrations, and its newest revision."""

    name: str
    migrations: Path
    version: str

    @property
    def tables(self) -> str:
        """The hash of the tables that the newest revision creates."""
        return (self.migrations / "tables.sha256").read_text(encoding="ascii").strip()

    @property
    def script(self) -> str:
        """The statements that make an empty database as the migrations make it, at once."""
        return (self.migrations / "empty.sql").read_text(encoding="utf-8")


def migrate(path: Path, schema: Schema, to: str | None = None) -> None:
    """Bring the file at `path` to a revision, the newest by default; a missing file is created. Raises StoreVersionError if the file has a
    newer revision than this program knows.

    All steps are one transaction: a process killed before its end leaves the file as it was. Safe in many processes at once.
    """
    found, target = version(path), to or schema.version
    if found == target:
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    if target != schema.version or path.exists() or not _create_copy(path, schema):
        upgrade(path, schema, target)


def _create_copy(path: Path, schema: Schema) -> bool:
    """Try to create the file as a copy of an empty database. Returns False if the file exists by now, or if the file system does not
    support hard links.
    """
    copy = path.with_name(f".{path.name}-{os.getpid()}-{threading.get_ident()}")
    try:
        with closing(sqlite3.connect(copy)) as connection:
            _empty_database(schema).backup(connection)
        os.link(copy, path)
    except OSError:
        return False
    finally:
        copy.unlink(missing_ok=True)
    return True


@cache
def _empty_database(schema: Schema) -> sqlite3.Connection:
    """An in-memory database that has a schema and no rows. Its script takes milliseconds; the migrations, with what they import, take most
    of a second.
    """
    memory = sqlite3.connect(":memory:", check_same_thread=False)
    memory.executescript(schema.script)
    return memory


def upgrade(path: Path, schema: Schema, target: str) -> None:
    """Run the migrations that lead to a revision. Raises StoreVersionError as `migrate` does."""
    # Alembic and SQLAlchemy take most of a second to import, and only a process that migrates needs them.
    from alembic import command  # noqa: PLC0415 - as above
    from alembic.config import Config  # noqa: PLC0415 - as above
    from alembic.script import ScriptDirectory  # noqa: PLC0415 - as above
    from sqlalchemy import create_engine  # noqa: PLC0415 - as above
    from sqlalchemy.pool import NullPool  # noqa: PLC0415 - as above

    config = Config()
    config.set_main_option("script_location", str(schema.migrations).replace("%", "%%"))
    revisions = {script.revision for script in ScriptDirectory.from_config(config).walk_revisions()}
    if (found := version(path)) and found not in revisions:
        raise StoreVersionError(
            f"the {schema.name} {path} has schema {found}, this version knows {schema.version}", "install the version that wrote it"
        )
    creator = lambda: sqlite3.connect(path, timeout=30, isolation_level=None)  # noqa: E731 - one argument of the engine
    engine = create_engine("sqlite://", creator=creator, poolclass=NullPool)
    with engine.connect() as connection:
        connection.exec_driver_sql("BEGIN IMMEDIATE")
        config.attributes["connection"] = connection
        command.upgrade(config, target)
        connection.commit()
    engine.dispose()


def version(path: Path) -> str | None:
    """The schema revision of the file at `path`; None if the file does not exist or has no tables of LineageBridge.

    Raises StoreDamagedError for a file that is not a database.
    """
    if not path.exists() or path.stat().st_size == 0:
        return None
    with closing(sqlite3.connect(path, timeout=30)) as connection, damage_reported(path):
        if not connection.execute("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'alembic_version'").fetchone():
            return None
        row = connection.execute("SELECT version_num FROM alembic_version").fetchone()
    return str(row[0]) if row else None


def has_expected_tables(connection: sqlite3.Connection, schema: Schema) -> bool:
    """Whether a file of the newest revision has the tables that this revision now creates."""
    return tables_hash(connection) == schema.tables


def empty_database(schema: Schema) -> sqlite3.Connection:
    """An in-memory database that has a schema and no rows. It is shared: do not change it."""
    return _empty_database(schema)
