"""Merge rules: how two rows of a relation with the same key become one row.

A column is part of the key, or has a rule:

- `SAME`: the value follows from the key, so all rows with one key agree.
- `MIN`, `MAX`: the least or greatest value; an optional MAX ignores NULL.
- `LEAST`, `GREATEST`: the columns of a group are taken together from the row whose order is least or greatest. The order is a tuple that
  ends with an event id, so it is total.

Every merge is commutative, associative and idempotent, so events may arrive late, twice and in any order. Nothing is counted while
merging: counts are queries. `Relation.merge` merges in plain Python, `upsert_sql` in a database, `pipeline/merging.py` in Spark.
"""

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from functools import cached_property
from typing import Any

Row = tuple[Any, ...]


class Type(Enum):
    """The type of a column."""

    INT = "int"
    TEXT = "text"
    BYTES = "bytes"


class MergeRule(Enum):
    """The rule by which two values of one column, from rows with the same key, become one value."""

    KEY = "key"
    SAME = "same"
    MIN = "min"
    MAX = "max"
    GREATEST = "greatest"
    LEAST = "least"


@dataclass(frozen=True)
class Column:
    """A column of a relation.

    Columns that are taken together from one row have the same `group`. The columns of a group that are `ordinal` are compared, from left to
    right, to choose the row.
    """

    name: str
    type: Type
    rule: MergeRule
    group: str = ""
    ordinal: bool = False
    optional: bool = False


@dataclass(frozen=True)
class Relation:
    """A relation: its name and its columns, those of the key first."""

    name: str
    columns: tuple[Column, ...]

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The names of all columns, in the order of a row's values."""
        return tuple(column.name for column in self.columns)

    @cached_property
    def key(self) -> tuple[str, ...]:
        """The names of the key's columns."""
        return tuple(column.name for column in self.columns if column.rule is MergeRule.KEY)

    @cached_property
    def key_size(self) -> int:
        """How many columns the key has."""
        return len(self.key)

    @cached_property
    def merge(self) -> Callable[[Row, Row], Row]:
        """Merge the values of two rows with the same key in plain Python. The values do not include the key."""
        return _merger(self)


def key(name: str, type_: Type) -> Column:
    """Declare a column of the key."""
    return Column(name, type_, MergeRule.KEY)


def same(name: str, type_: Type, *, optional: bool = False) -> Column:
    """Declare a column whose value follows from the key, so that all rows with one key agree on it."""
    return Column(name, type_, MergeRule.SAME, optional=optional)


def first_and_last() -> tuple[Column, Column]:
    """Declare the columns `first` and `last`: when something was first and last asserted, in UTC microseconds."""
    return Column("first", Type.INT, MergeRule.MIN), Column("last", Type.INT, MergeRule.MAX)


def least(group: str, *order: tuple[str, Type]) -> tuple[Column, ...]:
    """Declare columns that are taken together from the row in which they, compared from left to right, are least."""
    return tuple(Column(name, type_, MergeRule.LEAST, group, True) for name, type_ in order)


def greatest(group: str, values: tuple[tuple[str, Type], ...], *order: tuple[str, Type]) -> tuple[Column, ...]:
    """Declare the columns `values` and `order`, which are taken together from the row with the greatest `order`."""
    chosen = tuple(Column(name, type_, MergeRule.GREATEST, group, optional=True) for name, type_ in values)
    return chosen + tuple(Column(name, type_, MergeRule.GREATEST, group, True) for name, type_ in order)


def relation(name: str, *columns: Column) -> Relation:
    """Declare a relation with these columns."""
    return Relation(name, columns)


def groups_of(relation: Relation) -> dict[str, list[Column]]:
    """The columns of each group (columns that are taken together from one row), by the group's name."""
    groups: dict[str, list[Column]] = {}
    for column in relation.columns:
        if column.group:
            groups.setdefault(column.group, []).append(column)
    return groups


def _merger(relation: Relation) -> Callable[[Row, Row], Row]:
    """Compile the merge rules of a relation to one expression over the values of two rows. A fold spends most of its time in this
    expression.
    """
    values = relation.columns[relation.key_size :]
    parts: list[str] = []
    for index, column in enumerate(values):
        if column.rule is MergeRule.MIN:
            parts.append(f"a[{index}] if a[{index}] <= b[{index}] else b[{index}]")
        elif column.rule is MergeRule.MAX and column.optional:
            parts.append(f"a[{index}] if b[{index}] is None or (a[{index}] is not None and a[{index}] >= b[{index}]) else b[{index}]")
        elif column.rule is MergeRule.MAX:
            parts.append(f"a[{index}] if a[{index}] >= b[{index}] else b[{index}]")
        elif column.rule is MergeRule.SAME:
            parts.append(f"a[{index}]")
        elif index == 0 or values[index - 1].group != column.group:
            parts.append(_choice(values, index))
    merge: Callable[[Row, Row], Row] = eval(f"lambda a, b: a if a == b else ({''.join(part + ', ' for part in parts)})")  # noqa: S307 - ours
    return merge


def _choice(values: tuple[Column, ...], first: int) -> str:
    """The expression that chooses between two rows for a group of columns. The columns are adjacent, and the last ones are the order, which
    decides.
    """
    group = [column for column in values if column.group == values[first].group]
    end = first + len(group)
    order = end - sum(column.ordinal for column in group)
    sign = ">" if group[0].rule is MergeRule.GREATEST else "<"
    return f"*(b[{first}:{end}] if b[{order}:{end}] {sign} a[{order}:{end}] else a[{first}:{end}])"


def upsert_sql(relation: Relation, source: str, *, least: str = "min", greatest: str = "max") -> str:
    """The SQL statement that merges the rows of `source` (VALUES or a SELECT) into the relation's table by its merge rules.

    `least` and `greatest` name the database's functions that return the lesser and the greater of two values. A row that changes nothing is
    not written.
    """
    columns = ", ".join(f'"{name}"' for name in relation.names)
    key = ", ".join(f'"{name}"' for name in relation.key)
    head = f'INSERT INTO "{relation.name}" ({columns}) {source} ON CONFLICT ({key})'
    sets, changes = _updates(relation, least, greatest)
    if not sets:
        return f"{head} DO NOTHING"
    return f"{head} DO UPDATE SET {', '.join(sets)} WHERE {' OR '.join(changes)}"


def _updates(relation: Relation, least: str, greatest: str) -> tuple[list[str], list[str]]:
    """The assignments of an upsert, and for each the condition under which it changes something."""
    table, sets, changes = relation.name, [], []
    for column in relation.columns:
        ours, theirs = f'"{table}"."{column.name}"', f'excluded."{column.name}"'
        if column.rule is MergeRule.MIN:
            sets.append(f'"{column.name}" = {least}({ours}, {theirs})')
            changes.append(f"{theirs} < {ours}")
        elif column.rule is MergeRule.MAX:
            filled = (f"coalesce({ours}, {theirs})", f"coalesce({theirs}, {ours})") if column.optional else (ours, theirs)
            sets.append(f'"{column.name}" = {greatest}({filled[0]}, {filled[1]})')
            changes.append(f"({theirs} IS NOT NULL AND ({ours} IS NULL OR {theirs} > {ours}))" if column.optional else f"{theirs} > {ours}")
    for columns in groups_of(relation).values():
        order = [c.name for c in columns if c.ordinal]
        sign = ">" if columns[0].rule is MergeRule.GREATEST else "<"
        ours = ", ".join(f'"{table}"."{name}"' for name in order)
        theirs = ", ".join(f'excluded."{name}"' for name in order)
        wins = f"({theirs}) {sign} ({ours})"
        changes.append(wins)
        sets += [f'"{c.name}" = CASE WHEN {wins} THEN excluded."{c.name}" ELSE "{table}"."{c.name}" END' for c in columns]
    return sets, changes
