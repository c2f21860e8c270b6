"""Parses what ALTER changes in a table, and computes the table's columns after the change."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from lineage_bridge.sql.names import Name
from lineage_bridge.sql.statements.catalog import TableColumn
from lineage_bridge.sql.statements.statement_types import ChangeColumns, ChangeQuery, GivenColumn, Other, Rename, Statement
from lineage_bridge.sql.statements.tables import columns_of_table, names_in, skip_if_exists
from lineage_bridge.sql.text.cursor import Cursor, folded, parts
from lineage_bridge.sql.text.tokens import Token

_NO_COLUMNS = ("PRIMARY", "CONSTRAINT", "WATERMARK", "DISTRIBUTION", "PARTITION", "IF")
"""What ALTER adds, modifies and drops beside columns."""


def table_change(cursor: Cursor) -> Statement:
    """The change of a table, after ALTER TABLE. Raises StatementError."""
    skip_if_exists(cursor)
    name = cursor.name()
    if cursor.takes("AS"):
        return ChangeQuery(name, cursor.rest())
    if cursor.takes("RENAME", "TO"):
        return Rename(name, cursor.name())
    if cursor.takes("RENAME"):
        cursor.takes("COLUMN")
        old = cursor.identifier()
        cursor.demand("TO")
        return ChangeColumns(name, renamed=(old, cursor.identifier()))
    if cursor.sees_any("ADD", "MODIFY"):
        return _given_columns(cursor, name)
    if cursor.takes("DROP") and not cursor.sees_any(*_NO_COLUMNS):
        cursor.takes("COLUMN")
        inside = cursor.group() if cursor.sees("(") else cursor.rest()
        return ChangeColumns(name, dropped=names_in(inside, folds=cursor.folds))
    return Other()


def _given_columns(cursor: Cursor, name: Name) -> Statement:
    """Parse the columns after `ADD` or `MODIFY`: one, several in brackets or, in ksqlDB, several separated by commas."""
    given: list[GivenColumn] = []
    for part in parts(cursor.rest()):
        inner = Cursor(part, folds=cursor.folds)
        if not inner.takes("ADD"):
            inner.takes("MODIFY")
        if inner.sees_any(*_NO_COLUMNS):
            continue
        inner.takes("COLUMN")
        for column in parts(inner.group() if inner.sees("(") else inner.rest()):
            given += _given(column, folds=cursor.folds)
    return ChangeColumns(name, given)


def _given(column: Sequence[Token], *, folds: bool) -> Iterator[GivenColumn]:
    """Parse a column, and the position that the statement gives it: FIRST, or AFTER another column."""
    follows: str | None = None
    rest = column
    if len(column) > 2 and column[-1].upper == "FIRST":
        follows, rest = "", column[:-1]
    elif len(column) > 3 and column[-2].upper == "AFTER":
        follows, rest = folded(column[-1], folds=folds), column[:-2]
    return (GivenColumn(found, follows) for found in columns_of_table(rest, folds=folds))


def changed_columns(columns: Sequence[TableColumn], change: ChangeColumns) -> list[TableColumn]:
    """The columns of a table after a change."""
    old, new = change.renamed or ("", "")
    found = [replace(own, name=new) if own.name == old else own for own in columns if own.name not in change.dropped]
    for given in change.given:
        names = [own.name for own in found]
        at = names.index(given.column.name) if given.column.name in names else None
        if at is None or given.follows is not None:
            found = [own for own in found if own.name != given.column.name]
            found.insert(_index(given, [own.name for own in found]), given.column)
        else:
            found[at] = given.column
    return found


def _index(given: GivenColumn, names: Sequence[str]) -> int:
    if given.follows == "":
        return 0
    return names.index(given.follows) + 1 if given.follows in names else len(names)
