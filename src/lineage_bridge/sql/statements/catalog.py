"""The tables, views and models that a script defines or mentions, and the rules by which names are looked up."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, fields, replace
from enum import Enum

from sqlglot import exp

from lineage_bridge.sql.names import Name
from lineage_bridge.sql.text.tokens import Token


class ColumnKind(Enum):
    """Where a column's value comes from. PHYSICAL: the row; COMPUTED: an expression; METADATA: the connector; VIRTUAL: metadata that
    cannot be written.
    """

    PHYSICAL = "physical"
    METADATA = "metadata"
    VIRTUAL = "virtual"
    COMPUTED = "computed"


@dataclass(frozen=True)
class TableColumn:
    """A column of a table. A computed column has an expression. `type` and `comment` are as written in the statement, or empty.

    `type_tokens`: the type as tokens, also if the column was copied unchanged from another table.
    """

    name: str
    kind: ColumnKind = ColumnKind.PHYSICAL
    expression: Sequence[Token] = ()
    type: str = ""
    comment: str = ""
    type_tokens: Sequence[Token] = ()


@dataclass
class Table:
    """A table or stream under the name that the script writes. `columns` is None if they are unknown.

    - `keys`: the columns by which rows are distributed, else the primary key.
    - `hidden`: columns that `*` does not select.
    - `open`: the table has more columns than those listed.
    - `sure`: the confidence in the names of the columns.
    - `changelog`: it is a TABLE of ksqlDB.
    - `windowed`: its key contains a time window.
    """

    name: Name
    columns: list[TableColumn] | None = None
    options: dict[str, str] = field(default_factory=dict)
    keys: tuple[str, ...] = ()
    comment: str = ""
    hidden: tuple[str, ...] = ()
    open: bool = False
    sure: float = 1.0
    changelog: bool = False
    windowed: bool = False

    def writable(self) -> list[str] | None:
        """The columns that an INSERT without a column list writes, in order."""
        if self.columns is None or self.open:
            return None
        return [column.name for column in self.columns if column.kind in (ColumnKind.PHYSICAL, ColumnKind.METADATA)]


_DEFINED = tuple(member.name for member in fields(Table) if member.name not in ("name", "hidden"))


@dataclass(frozen=True)
class View:
    """A named query, as tokens or as parsed by sqlglot. `columns`: new names for its columns, or none.

    `home`: the catalog and database in which the names in the query are looked up.
    """

    name: Name
    query: Sequence[Token] | exp.Expr
    columns: tuple[str, ...] = ()
    home: tuple[str, str] = ("", "")


@dataclass(frozen=True)
class Model:
    """A machine-learning model that SQL can call. Its output columns are None if they are unknown."""

    name: Name
    outputs: tuple[str, ...] | None = None


class Catalog:
    """The named objects of a script. Names without catalog or database are looked up in the current ones."""

    def __init__(self, current: tuple[str, str] = ("", ""), *, folds_case: bool = False) -> None:
        self._folds_case = folds_case
        self._current = current
        self._tables: dict[Name, Table] = {}
        self._names: set[Name] = set()
        self._outside: dict[Name, Table] = {}
        self._views: dict[Name, View] = {}
        self._models: dict[Name, Model] = {}
        self.types: dict[str, Sequence[Token]] = {}
        self._options: dict[str, dict[str, str]] = {}

    def add_catalog(self, name: str, options: dict[str, str]) -> None:
        """Define a catalog with its options."""
        self._options[name] = options

    def catalogs(self) -> dict[str, dict[str, str]]:
        """All defined catalogs, with their options."""
        return dict(self._options)

    def options(self, table: Name) -> dict[str, str]:
        """The options of the catalog that a table is in."""
        path = self.path(table)
        return self._options.get(path[0], {})

    def use_catalog(self, name: str) -> None:
        """Apply USE CATALOG: this catalog becomes the current one. Its current database is unknown."""
        self._current = (name, "")

    def use(self, name: Name) -> None:
        """Apply USE: a database becomes the current one, in the catalog that the name states, or else in the current catalog."""
        self._current = (name[-2], name[-1]) if len(name) > 1 else (self._current[0], name[0])

    def table(self, name: Name) -> Table:
        """Find the table with this name. If it is unknown, it is added without columns."""
        found = self._tables.get(self.path(name)) or self._outside.get(name)
        if found is None:
            found = self.add_table(Table(name))
        return found

    def add_outside(self, table: Table) -> None:
        """Add a table that was defined outside the script. It is found by this name whatever the current catalog and database are."""
        self._outside[table.name] = table

    def add_table(self, table: Table) -> Table:
        """Define a table. If it was mentioned before, it keeps the spelling of its name in that first mention."""
        existing = self._tables.get(self.path(table.name))
        if existing is not None:
            for name in _DEFINED:
                setattr(existing, name, getattr(table, name))
            return existing
        path = self.path(table.name)
        table.name = self._distinct(table.name, path)
        self._tables[path] = table
        self._names.add(table.name)
        return table

    def _distinct(self, name: Name, path: Name) -> Name:
        """Lengthen a name with parts of its qualified name (`path`) until no other table has it."""
        while name in self._names and len(name) < len(path):
            name = path[-len(name) - 1 :]
        return name

    def tables(self) -> list[Table]:
        """All tables, in the order in which they were first mentioned."""
        return list(self._tables.values())

    def view(self, name: Name) -> View | None:
        """Find the view with this name; None if there is none."""
        return self._views.get(self.path(name))

    def add_view(self, view: View) -> None:
        """Define a view."""
        self._views[self.path(view.name)] = replace(view, home=self._current)

    @contextmanager
    def at(self, home: tuple[str, str]) -> Iterator[None]:
        """Look up names in this catalog and database for the duration of the `with` block."""
        before, self._current = self._current, home
        try:
            yield
        finally:
            self._current = before

    def model(self, name: Name) -> Model:
        """Find the model with this name. If it is unknown, it is added without output columns."""
        found = self._models.get(self.path(name))
        if found is None:
            found = Model(name)
            self._models[self.path(name)] = found
        return found

    def add_model(self, model: Model) -> None:
        """Define a model."""
        self._models[self.path(model.name)] = model

    def rename(self, name: Name, to: Name) -> None:
        """Rename a table."""
        found = self._tables.get(self.path(name))
        if found is not None:
            self._tables = {path: table for path, table in self._tables.items() if table is not found}
            self._tables[self.path((*name[:-1], *to) if len(to) == 1 else to)] = replace(found, name=to)
            self._names = self._names - {found.name} | {to}

    def drop(self, name: Name) -> None:
        """Remove a table, view or model."""
        path = self.path(name)
        dropped = self._tables.pop(path, None)
        if dropped is not None:
            self._names.discard(dropped.name)
        self._views.pop(path, None)
        self._models.pop(path, None)

    def path(self, name: Name) -> Name:
        """The name qualified with its catalog and database, as far as they are known."""
        whole = (*self._current[: 3 - len(name)], *name) if len(name) < 3 else name
        whole = tuple(part for part in whole if part)
        return tuple(part.casefold() for part in whole) if self._folds_case else whole
