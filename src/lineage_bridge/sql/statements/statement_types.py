"""The statements of Flink SQL and ksqlDB: what each defines, writes, reads and uses."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from lineage_bridge.sql.names import Name
from lineage_bridge.sql.statements.catalog import TableColumn
from lineage_bridge.sql.text.tokens import Token


@dataclass(frozen=True)
class DefineTable:
    """The definition of a table or stream. `like`: the table whose columns and options it copies; `query`: what fills it;
    `keys`: the columns it is distributed by, else its primary key.
    """

    name: Name
    columns: list[TableColumn] | None
    options: dict[str, str] = field(default_factory=dict)
    like: Name | None = None
    query: Sequence[Token] | None = None
    keys: tuple[str, ...] = ()
    comment: str = ""
    is_stream: bool = False


@dataclass(frozen=True)
class DefineType:
    """The definition of a type of ksqlDB: the tokens of what it stands for."""

    name: str
    type_tokens: Sequence[Token]


@dataclass(frozen=True)
class DefineView:
    """The definition of a view: its query, and names for its columns or none."""

    name: Name
    columns: tuple[str, ...]
    query: Sequence[Token]


@dataclass(frozen=True)
class DefineModel:
    """The definition of a model and its output columns; None if they are not listed."""

    name: Name
    outputs: tuple[str, ...] | None
    query: Sequence[Token] | None = None


@dataclass(frozen=True)
class DefineAgent:
    """The definition of an agent, with the model that it uses."""

    model: Name


@dataclass(frozen=True)
class DefineCatalog:
    """The definition of a catalog with its options."""

    name: str
    options: dict[str, str]


@dataclass(frozen=True)
class Insert:
    """Rows of a query are written to a table. `columns`: the column list, or none; `fixed`: columns of a partition with one value."""

    target: Name
    columns: tuple[str, ...]
    fixed: tuple[str, ...]
    query: Sequence[Token] | None


@dataclass(frozen=True)
class Update:
    """Rows of a table are set to new values, or, without assignments, deleted."""

    target: Name
    assignments: list[tuple[str, Sequence[Token]]]
    where: Sequence[Token]


@dataclass(frozen=True)
class SelectRows:
    """A query whose rows are returned to the client."""

    query: Sequence[Token]


@dataclass(frozen=True)
class Use:
    """A new current catalog (`whole`) or database."""

    name: Name
    whole: bool


@dataclass(frozen=True)
class GivenColumn:
    """A column that replaces the one with its name, or is new. `follows`: the column before it, empty if it is first; None: not stated."""

    column: TableColumn
    follows: str | None = None


@dataclass(frozen=True)
class ChangeColumns:
    """Columns of a table are added and replaced, dropped and renamed."""

    table: Name
    given: list[GivenColumn] = field(default_factory=list)
    dropped: tuple[str, ...] = ()
    renamed: tuple[str, str] | None = None


@dataclass(frozen=True)
class ChangeQuery:
    """A materialized table is filled by another query."""

    table: Name
    query: Sequence[Token]


@dataclass(frozen=True)
class Merge:
    """Rows of a table are updated, inserted and deleted by those of another relation: the tokens of the whole statement."""

    tokens: Sequence[Token]


@dataclass(frozen=True)
class Rename:
    """A table is renamed."""

    table: Name
    to: Name


@dataclass(frozen=True)
class Drop:
    """A table, view or model is dropped."""

    name: Name


@dataclass(frozen=True)
class Other:
    """A statement that moves no data and defines no table."""


Statement = (
    DefineTable
    | DefineType
    | DefineView
    | DefineModel
    | DefineAgent
    | DefineCatalog
    | Insert
    | Update
    | SelectRows
    | Use
    | ChangeColumns
    | ChangeQuery
    | Merge
    | Rename
    | Drop
    | Other
)
