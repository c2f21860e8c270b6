"""Reads tables of a metastore, and changes their properties, comments and tags."""

import threading
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from itertools import islice
from typing import Any, Final, NamedTuple

from databricks.sdk.service.catalog import TablesAPI

from lineage_bridge.catalogs.kinds.databricks import statements
from lineage_bridge.catalogs.kinds.databricks.changes import (
    NO_VALUE,
    NOTHING,
    FoundTable,
    TableChanges,
    TableGoal,
    TableStatement,
    changes_of,
    has_own_tags,
    needs_tags,
    state_of,
)
from lineage_bridge.catalogs.kinds.databricks.connection import AnsweredError, WorkspaceConnection
from lineage_bridge.catalogs.kinds.databricks.settings import DatabricksSettings
from lineage_bridge.catalogs.kinds.databricks.statements import WITHOUT_PROPERTIES
from lineage_bridge.catalogs.kinds.databricks.warehouse import FailedStatementError, Warehouse
from lineage_bridge.catalogs.target import DONE, Json, ObjectForbiddenError, Outcome
from lineage_bridge.errors import ForbiddenError, UnauthenticatedError

_AT_ONCE: Final = 50
"""The maximum number of tables whose tags one statement reads."""
_MOST_KEPT: Final = 2000
"""From this number of kept tables on, those that are as they were published are read again if they are to be changed."""
_MOST_LEFT: Final = 10
_UNKNOWN: Final = "unknown"
_MOST_READ: Final = 3
"""How often a table is read before it is left to the next publication, because others change it."""
_READING: Final = "grant SELECT on the table, USE SCHEMA on its schema and USE CATALOG on its catalog"
_WRITING: Final = "grant MODIFY and APPLY TAG on the table, or make the publisher the owner of a view"
_FOREIGN: Final = "FOREIGN"


class _Attempt(NamedTuple):
    """The outcome of statements, and the statement that was refused, if the reason may be a change by others."""

    of_table: Outcome
    failed: TableStatement | None = None


class UnityTables:
    """The tables of a metastore. A table that was read is cached for the publication, until it is changed. Thread-safe."""

    def __init__(self, settings: DatabricksSettings, connection: WorkspaceConnection, wait: Callable[[float], None]) -> None:
        self._settings, self._prefix = settings, settings.prefix
        self._tables: Any = TablesAPI(connection)  # type: ignore[no-untyped-call]  # their constructor has no types
        self._warehouse = Warehouse(settings, connection, wait)
        self._read: dict[str, FoundTable] = {}
        self._untagged: set[str] = set()
        self._reading_tags = threading.Lock()

    def states(self, names: Sequence[str]) -> dict[str, str]:
        """The tables among these to which something was published under this prefix, each with the digest of its content, or with another
        text if the content was changed since.

        Without a warehouse, tags cannot be read; tags that a mark names then count as unchanged. Raises ObjectForbiddenError if a table may
        not be read.
        """
        found, denied = dict[str, FoundTable](), list[ObjectForbiddenError]()
        for name in names:
            try:
                table = self._table(name)
            except ObjectForbiddenError as error:  # noqa: PERF203  # each table by itself
                denied.append(error)
            else:
                found |= {name: table} if table else {}
        if not self._settings.warehouse_id:
            if denied:
                raise denied[0]
            return {name: content for name, table in found.items() if (content := _content_of(table, self._prefix)) is not None}
        self._ensure_tags([name for name, table in found.items() if _is_marked_by_tags(table, self._prefix)])
        if denied:
            raise denied[0]
        states = {name: state_of(self._read[name], self._prefix) for name in found}
        if len(self._read) > _MOST_KEPT:
            self._forget(name for name, state in states.items() if state == found[name].marks(self._prefix).content)
        return {name: state for name, state in states.items() if state is not None}

    def change(self, name: str, goal: TableGoal | None, time: str, written: Counter[str]) -> Outcome:
        """Bring a table to its goal; None removes what was published. `written` counts what is set, even if an error ends the change
        early.
        """
        try:
            outcome = _Attempt(DONE)
            for _ in range(_MOST_READ):
                table = self._seen(name, goal or NOTHING)
                if table is None:
                    return DONE if goal is None else Outcome(False, "there is no such table in the metastore")
                if table.kind == _FOREIGN:
                    return Outcome(False, "it is a table of a federated catalog, whose properties and comments Databricks does not change")
                changes = changes_of(table, goal or NOTHING, self._prefix, time)
                if outcome.failed in changes.statements:
                    return outcome.of_table
                outcome = self._changed(table, changes, written)
                if outcome.failed is None:
                    return outcome.of_table
                self._forget([name])
            return outcome.of_table._replace(later=True)
        except ObjectForbiddenError as error:
            return Outcome(False, f"{error} ({error.hint})", later=True)
        finally:
            self._forget([name])

    def _seen(self, name: str, goal: TableGoal) -> FoundTable | None:
        """A table with everything that must be known before it is changed; None if the table does not exist."""
        table = self._table(name)
        if table is None or table.kind == _FOREIGN or not needs_tags(table, goal, self._prefix):
            return table
        self._ensure_tags([name])
        return self._read.get(name, table)

    def _changed(self, table: FoundTable, changes: TableChanges, written: Counter[str]) -> _Attempt:
        """Run the statements. If a statement is refused, the table is read again, and the statements that are still needed are run: others
        may have changed the table since it was read, or the statement had succeeded before and its answer was lost.
        """
        if changes.obstacle:
            return _Attempt(Outcome(False, changes.obstacle))
        for statement in changes.statements:
            try:
                self._warehouse.run(statement.text)
            except FailedStatementError as error:
                hint = f" ({_WRITING})" if error.is_denied else ""
                outcome = Outcome(False, f"table {table.name}: {error}{hint}", later=error.may_pass)
                return _Attempt(outcome, None if error.may_pass else statement)
            written["tables"] = 1
            if statement.what:
                written[statement.what] += statement.number
        return _Attempt(DONE._replace(detail=_left(changes.left)))

    def test(self) -> None:
        """Try the warehouse. Raises the errors of statements."""
        self._warehouse.rows(statements.TAGS_ANSWER, {})

    # reading

    def _table(self, name: str) -> FoundTable | None:
        """A table, without its tags until `_ensure_tags` has read them; None if there is none."""
        if (known := self._read.get(name)) is not None:
            return known
        try:
            found = self._tables.get(name).as_dict()
        except AnsweredError as error:
            if error.is_missing:
                return None
            raise
        except UnauthenticatedError:
            raise
        except ForbiddenError as error:
            raise ObjectForbiddenError(f"table {name}: {error}", _READING) from error
        table = _parsed(name, found)
        with self._reading_tags:
            self._read[name] = table
            self._untagged.add(name)
        return table

    def _forget(self, names: Iterable[str]) -> None:
        with self._reading_tags:
            for name in names:
                self._read.pop(name, None)
                self._untagged.discard(name)

    def _ensure_tags(self, names: Iterable[str]) -> None:
        """Read the tags of these tables, and in the same statement those of other tables that were read without tags."""
        with self._reading_tags:
            while asked := [name for name in names if name in self._untagged][:_AT_ONCE]:
                others = sorted(self._untagged - set(asked))
                asked += islice((name for name in others if name in self._read), _AT_ONCE - len(asked))
                tags = self._tags_of(asked)
                for name in asked:
                    if name in self._read:
                        self._read[name] = self._read[name]._replace(tags=tags.get(name, {}))
                self._untagged -= set(asked)

    def _tags_of(self, names: Sequence[str]) -> dict[str, dict[str, dict[str, str]]]:
        parameters = {f"t{number}": name for number, name in enumerate(names)}
        found: dict[str, dict[str, dict[str, str]]] = {}
        for row in self._warehouse.rows(statements.tags_of(len(names)), parameters):
            table, column, key, value = (text or "" for text in row)
            found.setdefault(table, {}).setdefault(column.lower(), {})[key] = value or NO_VALUE
        return found


def _content_of(table: FoundTable, prefix: str) -> str | None:
    """The digest of what was published to a table, as far as it can be determined without the table's tags."""
    return _UNKNOWN if table.kind in WITHOUT_PROPERTIES else table.marks(prefix).content or state_of(table, prefix)


def _is_marked_by_tags(table: FoundTable, prefix: str) -> bool:
    return table.kind in WITHOUT_PROPERTIES or has_own_tags(table, prefix)


def _parsed(name: str, found: Json) -> FoundTable:
    columns = [column for column in found.get("columns") or () if column.get("name")]
    comments = {str(column["name"]).lower(): column.get("comment") or "" for column in columns}
    return FoundTable(
        name=name,
        kind=str(found.get("table_type", "")),
        properties={str(key): str(value) for key, value in (found.get("properties") or {}).items()},
        comments={**comments, "": found.get("comment") or ""},
        columns={str(column["name"]).lower(): str(column["name"]) for column in columns},
    )


def _left(left: Sequence[str]) -> str:
    if not left:
        return ""
    more = f" and {len(left) - _MOST_LEFT} more" if len(left) > _MOST_LEFT else ""
    return f"left as others wrote it: {', '.join(left[:_MOST_LEFT])}{more}"
