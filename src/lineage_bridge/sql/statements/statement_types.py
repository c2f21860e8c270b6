"""The types of statements of Flink SQL and ksqlDB, as values: what each defines, reads and writes."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from lineage_bridge.sql.names import Name
from lineage_bridge.sql.statements.catalog import TableColumn
from lineage_bridge.sql.text.tokens import Token


@dataclass(frozen=True)
class DefineTable:
    """CREATE TABLE or CREATE STREAM. `like`: the table whose columns and options are copied; `query`: the query that fills it; `keys`:
    the columns by which its rows are distributed, else its primary key.
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
    """CREATE TYPE of ksqlDB, which gives a name to a type; the type is stored as tokens."""

    name: str
    type_tokens: Sequence[Token]


@dataclass(frozen=True)
class DefineView:
    """CREATE VIEW: the view's query, and new names for its columns, or none."""

    name: Name
    columns: tuple[str, ...]
    query: Sequence[Token]


@dataclass(frozen=True)
class DefineModel:
    """CREATE MODEL: the model's output columns; None if they are not listed."""

    name: Name
    outputs: tuple[str, ...] | None
    query: Sequence[Token] | None = None


@dataclass(frozen=True)
class DefineAgent:
    """CREATE AGENT, with the model that the agent uses."""

    model: Name


@dataclass(frozen=True)
class DefineCatalog:
    """CREATE CATALOG with its options."""

    name: str
    options: dict[str, str]


@dataclass(frozen=True)
class Insert:
    """INSERT: the rows of a query are written to a table. `columns`: the column list, or none; `fixed`: the partition columns with a
    fixed value.
    """

    target: Name
    columns: tuple[str, ...]
    fixed: tuple[str, ...]
    query: Sequence[Token] | None


@dataclass(frozen=True)
class Update:
    """UPDATE or DELETE: rows of a table get new values, or are deleted if there are no assignments."""

    target: Name
    assignments: list[tuple[str, Sequence[Token]]]
    where: Sequence[Token]


@dataclass(frozen=True)
class SelectRows:
    """A SELECT whose rows are returned to the client and written nowhere."""

    query: Sequence[Token]


@dataclass(frozen=True)
class Use:
    """USE, which sets the current database, or, if `whole` is true, the current catalog."""

    name: Name
    whole: bool


@dataclass(frozen=True)
class GivenColumn:
    """A column that ALTER TABLE adds, or replaces if the name exists. `follows`: the column before it; empty if it is first, None if
    not stated.
    """

    column: TableColumn
    follows: str | None = None


@dataclass(frozen=True)
class ChangeColumns:
    """ALTER TABLE: columns of a table are added, replaced, dropped and renamed."""

    table: Name
    given: list[GivenColumn] = field(default_factory=list)
    dropped: tuple[str, ...] = ()
    renamed: tuple[str, str] | None = None


@dataclass(frozen=True)
class ChangeQuery:
    """ALTER of a materialized table: another query fills it from now on."""

    table: Name
    query: Sequence[Token]


@dataclass(frozen=True)
class Merge:
    """MERGE: rows of a table are updated, inserted or deleted, depending on another relation. The statement is stored as tokens."""

    tokens: Sequence[Token]


@dataclass(frozen=True)
class Rename:
    """ALTER ... RENAME: a table gets a new name."""

    table: Name
    to: Name


@dataclass(frozen=True)
class Drop:
    """DROP of a table, view or model."""

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
