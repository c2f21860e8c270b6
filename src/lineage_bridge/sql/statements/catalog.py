"""The tables, views and models that a script may speak of, and where its names lead."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from enum import Enum

from sqlglot import exp

from lineage_bridge.sql.names import Name
from lineage_bridge.sql.text.tokens import Token


class ColumnKind(Enum):
    """Where a column's value comes from. METADATA is the connector's; VIRTUAL is such a column that cannot be written."""

    PHYSICAL = "physical"
    METADATA = "metadata"
    VIRTUAL = "virtual"
    COMPUTED = "computed"


@dataclass(frozen=True)
class Column:
    """A column of a table. A computed one has its expression; `type` and `comment` are as written, empty where they are not."""

    name: str
    kind: ColumnKind = ColumnKind.PHYSICAL
    expression: Sequence[Token] = ()
    type: str = ""
    comment: str = ""


@dataclass
class Table:
    """A table or stream by the name it is written with. `columns` is None where nobody has told them.

    `keys`: the columns that rows are distributed by, else the primary key. `hidden`: columns that are not in a star.
    """

    name: Name
    columns: list[Column] | None = None
    options: dict[str, str] = field(default_factory=dict)
    keys: tuple[str, ...] = ()
    comment: str = ""
    hidden: tuple[str, ...] = ()

    def writable(self) -> list[str] | None:
        """The columns an INSERT without a list fills, in order."""
        if self.columns is None:
            return None
        return [column.name for column in self.columns if column.kind in (ColumnKind.PHYSICAL, ColumnKind.METADATA)]


@dataclass(frozen=True)
class View:
    """A query, as tokens or as sqlglot has read it, under a name, with new names for its columns or none.

    `home`: the catalog and database that shorter names in it mean.
    """

    name: Name
    query: Sequence[Token] | exp.Expr
    columns: tuple[str, ...] = ()
    home: tuple[str, str] = ("", "")


@dataclass(frozen=True)
class Model:
    """A model with the columns it gives; None where nobody has told them."""

    name: Name
    outputs: tuple[str, ...] | None = None


class Catalog:
    """What is known by name. A shorter name is looked up under the current catalog and database."""

    def __init__(self, current: tuple[str, str] = ("", ""), *, folds_case: bool = False) -> None:
        self._folds_case = folds_case
        self._current = current
        self._tables: dict[Name, Table] = {}
        self._outside: dict[Name, Table] = {}
        self._views: dict[Name, View] = {}
        self._models: dict[Name, Model] = {}
        self._options: dict[str, dict[str, str]] = {}

    def add_catalog(self, name: str, options: dict[str, str]) -> None:
        """A catalog with its options."""
        self._options[name] = options

    def catalogs(self) -> dict[str, dict[str, str]]:
        """All catalogs that were defined, with their options."""
        return dict(self._options)

    def options(self, table: Name) -> dict[str, str]:
        """The options of the catalog that a table is in."""
        path = self.path(table)
        return self._options.get(path[0], {})

    def use_catalog(self, name: str) -> None:
        """USE CATALOG: which database is current in it is not known."""
        self._current = (name, "")

    def use(self, name: Name) -> None:
        """USE: a database of the current catalog, or of the catalog named with it."""
        self._current = (name[-2], name[-1]) if len(name) > 1 else (self._current[0], name[0])

    def table(self, name: Name) -> Table:
        """The table of a name; made known by its being named."""
        found = self._tables.get(self.path(name)) or self._outside.get(name)
        if found is None:
            found = self.add_table(Table(name))
        return found

    def add_outside(self, table: Table) -> None:
        """A table that is known by this name wherever it is."""
        self._outside[table.name] = table

    def add_table(self, table: Table) -> Table:
        """Define a table. One that was named before keeps the name it was first written with."""
        known = self._tables.get(self.path(table.name))
        if known is not None:
            known.columns, known.options, known.keys, known.comment = table.columns, table.options, table.keys, table.comment
            return known
        path = self.path(table.name)
        table.name = self._distinct(table.name, path)
        self._tables[path] = table
        return table

    def _distinct(self, name: Name, path: Name) -> Name:
        """A name that no other table goes by: with as many more parts in front as that takes."""
        taken = {table.name for table in self._tables.values()}
        while name in taken and len(name) < len(path):
            name = path[-len(name) - 1 :]
        return name

    def tables(self) -> list[Table]:
        """All tables, in the order in which they were named."""
        return list(self._tables.values())

    def view(self, name: Name) -> View | None:
        """The view of a name."""
        return self._views.get(self.path(name))

    def add_view(self, view: View) -> None:
        """Define a view."""
        self._views[self.path(view.name)] = replace(view, home=self._current)

    @contextmanager
    def at(self, home: tuple[str, str]) -> Iterator[None]:
        """Shorter names are looked up there meanwhile."""
        before, self._current = self._current, home
        try:
            yield
        finally:
            self._current = before

    def model(self, name: Name) -> Model:
        """The model of a name; made known by its being named."""
        found = self._models.get(self.path(name))
        if found is None:
            found = Model(name)
            self._models[self.path(name)] = found
        return found

    def add_model(self, model: Model) -> None:
        """Define a model."""
        self._models[self.path(model.name)] = model

    def rename(self, name: Name, to: Name) -> None:
        """A table goes by another name from now on."""
        found = self._tables.get(self.path(name))
        if found is not None:
            self._tables = {path: table for path, table in self._tables.items() if table is not found}
            self._tables[self.path((*name[:-1], *to) if len(to) == 1 else to)] = replace(found, name=to)

    def drop(self, name: Name) -> None:
        """A table, view or model is defined no more."""
        path = self.path(name)
        self._tables.pop(path, None)
        self._views.pop(path, None)
        self._models.pop(path, None)

    def path(self, name: Name) -> Name:
        """A name with the catalog and database that it is in, as far as they are known."""
        whole = (*self._current[: 3 - len(name)], *name) if len(name) < 3 else name
        whole = tuple(part for part in whole if part)
        return tuple(part.casefold() for part in whole) if self._folds_case else whole
