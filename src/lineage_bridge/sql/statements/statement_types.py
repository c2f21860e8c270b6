"""What statements of Flink SQL and ksqlDB say: what each defines, writes, reads and uses."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from lineage_bridge.sql.names import Name
from lineage_bridge.sql.statements.catalog import Column
from lineage_bridge.sql.text.tokens import Token


@dataclass(frozen=True)
class DefineTable:
    """A table or stream as it is defined. `like`: the table it takes columns and options from; `query`: what fills it; `keys`: the columns
    it is distributed by, else its primary key.
    """

    name: Name
    columns: list[Column] | None
    options: dict[str, str] = field(default_factory=dict)
    like: Name | None = None
    query: Sequence[Token] | None = None
    keys: tuple[str, ...] = ()
    comment: str = ""


@dataclass(frozen=True)
class DefineView:
    """A view with its query, and the names of its columns or none."""

    name: Name
    columns: tuple[str, ...]
    query: Sequence[Token]


@dataclass(frozen=True)
class DefineModel:
    """A model and the columns it gives; None where they are not told."""

    name: Name
    outputs: tuple[str, ...] | None
    query: Sequence[Token] | None = None


@dataclass(frozen=True)
class DefineAgent:
    """An agent and the model that it uses."""

    model: Name


@dataclass(frozen=True)
class DefineCatalog:
    """A catalog with its options."""

    name: str
    options: dict[str, str]


@dataclass(frozen=True)
class Insert:
    """Rows of a query go into a table. `columns`: the list given, or none; `fixed`: columns of a partition with one value."""

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
    """A query whose rows go to whoever asks."""

    query: Sequence[Token]


@dataclass(frozen=True)
class Use:
    """The catalog (`whole`) or database that shorter names mean from now on."""

    name: Name
    whole: bool


@dataclass(frozen=True)
class ChangeColumns:
    """A table has more columns from now on, others no more, and one goes by another name."""

    table: Name
    added: list[Column]
    dropped: tuple[str, ...] = ()
    renamed: tuple[str, str] | None = None


@dataclass(frozen=True)
class Rename:
    """A table goes by another name from now on."""

    table: Name
    to: Name


@dataclass(frozen=True)
class Drop:
    """A table, view or model is no more."""

    name: Name


@dataclass(frozen=True)
class Other:
    """A statement that moves no data and defines no table."""


Statement = (
    DefineTable
    | DefineView
    | DefineModel
    | DefineAgent
    | DefineCatalog
    | Insert
    | Update
    | SelectRows
    | Use
    | ChangeColumns
    | Rename
    | Drop
    | Other
)
