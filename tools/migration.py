"""Adds a migration of the graph store, made from the tables in the code (store/schema/tables.py). Existing migrations stay as they are.

What the store holds is computed from the event log, so a change of its tables empties it, and the pipeline folds the log again.
"""

import hashlib
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory

from alembic.autogenerate import produce_migrations, render_python_code
from alembic.migration import MigrationContext
from sqlalchemy import create_engine

from lineage_bridge.store.migration import Schema, upgrade
from lineage_bridge.store.schema.sqlite import GRAPH
from lineage_bridge.store.schema.tables import METADATA, SQLITE_SEARCH
from lineage_bridge.store.tables_hash import SHADOWS, tables_hash

VERSION = GRAPH.version
VERSIONS = Path("src/lineage_bridge/store/schema/migrations/versions")
HEAD = '''"""The tables of the graph store, filled by folding the log again."""

import sqlalchemy as sa
from alembic import op

from lineage_bridge.store.schema.migrations.emptied import drop_everything

revision = "{version}"
down_revision = "{before}"
branch_labels = None
depends_on = None


def upgrade() -> None:  # noqa: PLR0915 - one statement a table
    """Take out what an older version made, and create every table."""
    drop_everything(op.get_bind())
'''

_PIECE = 110
"""Characters of a literal."""


def main() -> None:
    """Write versions/<VERSION>_*.py."""
    engine = create_engine("sqlite://")
    with engine.connect() as connection:
        context = MigrationContext.configure(connection)
        operations = produce_migrations(context, METADATA).upgrade_ops
        body = render_python_code(operations) if operations else ""
    search = "".join(f"        op.execute({_pieces(statement)})\n" for statement in SQLITE_SEARCH)
    text = HEAD.format(version=VERSION, before=f"{int(VERSION) - 1:04d}")
    text += "".join(f"    {line.strip()}\n" for line in body.splitlines() if line.strip() and not line.strip().startswith("#"))
    text += f'    if op.get_bind().dialect.name == "sqlite":\n{search}'
    target = VERSIONS / f"{VERSION}_tables.py"
    if next(iter(VERSIONS.glob(f"{VERSION}_*.py")), None):
        raise SystemExit(
            f"migration {VERSION} exists: one that has landed is never edited. "
            "Raise GRAPH.version; or delete the file, if it never left this branch"
        )
    target.write_text(text, encoding="utf-8")
    for command in (["format", "--quiet"], ["check", "--fix", "--quiet"], ["format", "--quiet"]):
        subprocess.run([str(Path(sys.executable).with_name("ruff")), *command, str(target)], check=True)
    record(GRAPH)


def record(schema: Schema) -> None:
    """Write the hashes by which tests and stores recognise the migrations and the tables that they make, and the script that makes the
    same tables at once.
    """
    scripts = sorted((schema.migrations / "versions").glob("[0-9]*.py"))
    lines = [f"{hashlib.sha256(script.read_bytes()).hexdigest()}  {script.name}\n" for script in scripts]
    (schema.migrations / "landed.sha256").write_text("".join(lines), encoding="ascii")
    with TemporaryDirectory() as folder:
        upgrade(path := Path(folder) / "migrated.db", schema, schema.version)
        with closing(sqlite3.connect(path)) as migrated:
            (schema.migrations / "tables.sha256").write_text(f"{tables_hash(migrated)}\n", encoding="ascii")
            (schema.migrations / "empty.sql").write_text(script_of(migrated), encoding="utf-8")


def script_of(database: sqlite3.Connection) -> str:
    """The statements that make a database without rows like this one, in the order in which its tables and indexes were made."""
    made = database.execute(
        "SELECT name, sql FROM sqlite_master WHERE sql IS NOT NULL AND name <> 'sqlite_sequence' ORDER BY rowid"
    ).fetchall()
    indexed = tuple(f"{name}_" for name, sql in made if sql.startswith("CREATE VIRTUAL TABLE"))
    # A full-text index makes its own tables.
    statements = [sql for name, sql in made if not (name.startswith(indexed) and name.endswith(SHADOWS))]
    ((version,),) = database.execute("SELECT version_num FROM alembic_version")
    statements.append(f"INSERT INTO alembic_version (version_num) VALUES ('{version}')")
    return "BEGIN;\n" + "".join(f"{statement};\n" for statement in statements) + "COMMIT;\n"


def _pieces(statement: str) -> str:
    """A statement as literals that fit on a line each."""
    return " ".join(repr(statement[start : start + _PIECE]) for start in range(0, len(statement), _PIECE))


if __name__ == "__main__":
    main()
