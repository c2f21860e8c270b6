"""Computes the lineage of a script in any supported dialect."""

from collections.abc import Mapping, Sequence

from sqlglot.dialects.dialect import Dialect

from lineage_bridge.sql.generic import SqlglotScript
from lineage_bridge.sql.lineage import Lineage
from lineage_bridge.sql.names import Name
from lineage_bridge.sql.script import STREAMING, StreamingScript


def dialects() -> tuple[str, ...]:
    """The names of all supported dialects, the streaming ones first."""
    return (*STREAMING, *sorted(name for name in Dialect.classes if name))


def lineage_of(text: str, dialect: str, tables: Mapping[Name, Sequence[str]] | None = None, kafka: str = "") -> Lineage:
    """Compute the lineage of a whole script.

    `tables`: the columns of tables that the script does not define. `kafka`: the bootstrap servers of the cluster that has ksqlDB's
    topics.
    """
    whole = Lineage()
    for _, lineage in _script(dialect, tables, kafka).read(text):
        whole.add(lineage)
    return whole


def tables_of(text: str, dialect: str) -> dict[Name, tuple[str, ...]]:
    """The tables that a script defines, with their columns. A table is left out if the script does not list all of its columns."""
    script = _script(dialect, None)
    for _ in script.read(text):
        pass
    tables = (table for table in script.catalog.tables() if not table.open)
    return {table.name: tuple(column.name for column in table.columns) for table in tables if table.columns is not None}


def _script(dialect: str, tables: Mapping[Name, Sequence[str]] | None, kafka: str = "") -> StreamingScript | SqlglotScript:
    return StreamingScript(dialect, tables, kafka) if dialect in STREAMING else SqlglotScript(dialect, tables)
