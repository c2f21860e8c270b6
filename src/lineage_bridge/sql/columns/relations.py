"""The relations that a query reads (tables, subqueries and function results), each with its columns, and the scope in which a query looks
up names.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import count

from lineage_bridge.sql.columns.values import GUESSED, LIKELY, NO_SOURCES, Condition, Value, merged

Columns = tuple[tuple[str, Value], ...]
"""Columns in order, each with its value."""

Unknown = Callable[[str], Value]
"""The value of a column that no definition mentions."""


@dataclass(frozen=True)
class RecordKey:
    """The key of the records of a ksqlDB relation: its columns, and whether it contains a time window. `changelog`: each record is a
    change of a row.
    """

    columns: tuple[str, ...] = ()
    windowed: bool = False
    changelog: bool = False


NO_KEY = RecordKey()


@dataclass(frozen=True)
class QueryRelation:
    """The columns of a table, subquery or function result, in order, each with its value (its source columns).

    - `hidden`: columns that `*` does not select.
    - `unknown`: a function that returns the value of an undefined column, which is a column that no definition mentions; None
      if the relation has no such columns.
    - `conditions`: the source columns that decide which rows the relation has.
    - `weak`: an undefined column is looked up here only if no other relation can have it.
    - `gap`: the place of the undefined columns among `columns`, as two indexes; None if they are at the end.
    - `sure`: whether the names of the columns are certain.
    """

    columns: Columns = ()
    hidden: Columns = ()
    unknown: Unknown | None = None
    conditions: frozenset[Condition] = frozenset()
    weak: bool = False
    gap: tuple[int, int] | None = None
    key: RecordKey = NO_KEY
    sure: bool = True

    def find(self, name: str) -> Value | None:
        """The value of the column with this name, None if it is not defined. An exact match is preferred to one that ignores case."""
        return _look_up(self.columns, name) or _look_up(self.hidden, name)

    def value(self, name: str) -> Value | None:
        """The value of a column by its name, whether it is defined or not; None if the relation cannot have such a column."""
        return self.find(name) or (self.unknown(name) if self.unknown is not None else None)

    def renamed(self, names: Sequence[str]) -> "QueryRelation":
        """A copy in which the columns have these names. Names beyond the known columns are given to undefined ones."""
        if not names:
            return self
        rest = self.unknown("") if self.unknown is not None else NO_SOURCES
        values = self.placed(names, lambda _: rest)
        columns = (*zip(names, values, strict=True), *(self.columns[len(names) :] if self.unknown is None else ()))
        return replace(self, columns=columns, unknown=None, gap=None)

    def placed(self, names: Sequence[str], undefined: Unknown) -> list[Value]:
        """The values of the columns to which these names belong by position. Columns before the undefined ones are counted from the start,
        columns after them from the end; names in between get undefined values.
        """
        values = [value for _, value in self.columns]
        first, last = self.gap or (len(values), len(values))
        behind = values[last:][max(0, len(values) - last + first - len(names)) :]
        inside = [undefined(name) for name in names[first : len(names) - len(behind)]]
        return [*values[: min(first, len(names) - len(behind))], *inside, *behind]

    def with_likely_names(self) -> "QueryRelation":
        """A copy in which columns after the undefined ones have less confidence: their names may repeat names of undefined columns, and
        Flink numbers repeated names.
        """
        if self.sure or self.gap is None:
            return self
        before, behind = self.columns[: self.gap[0]], self.columns[self.gap[0] :]
        return replace(self, columns=(*before, *((name, value.doubted(LIKELY)) for name, value in behind)))

    def under(self, conditions: Iterable[Condition]) -> "QueryRelation":
        """A copy of the relation with additional conditions."""
        return replace(self, conditions=self.conditions | frozenset(conditions))


@dataclass
class ProjectedColumns:
    """Collects the columns of a query while its SELECT list is read. `sure`: whether the names of all columns are certain."""

    columns: list[tuple[str, Value]] = field(default_factory=list)
    unknown: Unknown | None = None
    gap: tuple[int, int] | None = None
    key: RecordKey = NO_KEY
    sure: bool = True

    def add(self, columns: Iterable[tuple[str, Value]], unknown: Unknown | None = None) -> None:
        """Add columns. If `unknown` is given, undefined columns follow them."""
        self.columns += columns
        self.open(unknown)

    def add_all(self, relation: QueryRelation, excluded: Collection[str]) -> None:
        """Add the columns of a relation, and its undefined columns at the same place among them. `excluded`: names in lower case to
        leave out.
        """
        # A column after undefined ones may have the name of one of them; it then gets a number.
        self.sure &= relation.sure and not (self.unknown is not None and relation.columns)
        first, last = relation.gap or (len(relation.columns), len(relation.columns))
        for at, item in enumerate(relation.columns):
            if at in (first, last):
                self.open(relation.unknown)
            if not excluded or item[0].casefold() not in excluded:
                self.columns.append(item)
        if last == len(relation.columns):
            self.open(relation.unknown)

    def open(self, unknown: Unknown | None) -> None:
        """Record that undefined columns follow here, whose values `unknown` returns. If `unknown` is None, there are none."""
        if unknown is not None:
            position = len(self.columns)
            self.unknown = unknown if self.unknown is unknown else either([self.unknown, unknown])
            self.gap = (position if self.gap is None else self.gap[0], position)

    def number_repeated(self) -> None:
        """Append a number, counted from 0, to each column name that an earlier column has, as Flink does."""
        named: dict[str, Value] = {}
        for name, value in self.columns:
            free = name if name not in named else next(other for number in count() if (other := f"{name}{number}") not in named)
            named[free] = value
        self.columns = [*named.items()]

    def relation(self, conditions: Iterable[Condition]) -> QueryRelation:
        """Make a relation of the collected columns, with these conditions."""
        conditions = frozenset(conditions)
        return QueryRelation(tuple(self.columns), (), self.unknown, conditions, gap=self.gap, key=self.key, sure=self.sure)


def either(given: Iterable[Unknown | None]) -> Unknown | None:
    """Combine functions for undefined columns into one: the value of a column may come from each of them. None if all are None."""
    defined = [unknown for unknown in given if unknown is not None]
    if len(defined) < 2:
        return defined[0] if defined else None
    return lambda name: merged(unknown(name) for unknown in defined)


def _look_up(columns: Sequence[tuple[str, Value]], name: str) -> Value | None:
    for own, value in columns:
        if own == name:
            return value
    loose = [value for own, value in columns if own.casefold() == name.casefold()]
    return loose[0] if loose else None


@dataclass
class Scope:
    """The relations of one FROM clause by their names, and the scope of the query around it.

    - `shared`: the columns that USING or NATURAL merged, in the order in which `*` selects them.
    - `merged`: the columns that were merged, as pairs of a relation's index and the name in lower case.
    - `shares_undefined`: NATURAL may also have merged columns that no definition mentions.
    """

    outer: "Scope | None" = None
    relations: list[tuple[tuple[str, ...], QueryRelation]] = field(default_factory=list)
    bound: frozenset[str] = frozenset()
    shared: Columns = ()
    merged: set[tuple[int, str]] = field(default_factory=set)
    shares_undefined: bool = False

    def add(self, name: tuple[str, ...], relation: QueryRelation) -> None:
        """Add a relation under its name or alias."""
        self.relations.append((name, relation))

    def inside(self, bound: Iterable[str] = ()) -> "Scope":
        """Make the scope of a query or lambda inside this one. `bound`: the parameters of a lambda."""
        return Scope(self, [], frozenset(bound))

    def named(self, name: Sequence[str]) -> QueryRelation | None:
        """Find the relation that has this alias, or whose table name ends with these parts."""
        folded = tuple(part.casefold() for part in name)
        exact = [relation for own, relation in self.relations if own[-len(name) :] == tuple(name)]
        found = exact or [relation for own, relation in self.relations if tuple(part.casefold() for part in own[-len(name) :]) == folded]
        if found:
            return found[0]
        return None if self.outer is None else self.outer.named(name)

    def column(self, name: str) -> Value | None:
        """The value of a column that is named without its relation; None if no relation can have it."""
        if name in self.bound:
            return NO_SOURCES
        common = _look_up(self.shared, name)
        if common is not None:
            return common
        here = self._find(name)
        if here is not None:
            return here
        around = None if self.outer is None else self.outer.defined(name)
        if around is not None:
            return around
        open_ones = [(own, relation) for own, relation in self.relations if relation.unknown is not None]
        # The alias of a table function is also the name of its only column.
        aliased = [relation for own, relation in open_ones if relation.weak and own == (name,)]
        strong = aliased or [relation for _, relation in open_ones if not relation.weak] or [relation for _, relation in open_ones]
        guesses = [relation.unknown(name) for relation in strong if relation.unknown is not None]
        if guesses:
            return guesses[0] if len(guesses) == 1 else merged(guess.doubted(GUESSED) for guess in guesses)
        return None if self.outer is None else self.outer.column(name)

    def _find(self, name: str) -> Value | None:
        """Find a column among the defined columns of this scope's relations. Hidden columns are only searched if no other column has the
        name.

        If several relations have the column, its value may come from any of them.
        """
        found = [value for _, relation in self.relations if (value := _look_up(relation.columns, name)) is not None]
        if len(found) > 1 and any(value != found[0] for value in found):
            return merged(value.doubted(GUESSED) for value in found)
        return found[0] if found else next((value for _, own in self.relations if (value := _look_up(own.hidden, name)) is not None), None)

    def defined(self, name: str) -> Value | None:
        """The value of a column that is defined in a relation of this scope or of a scope around it; None if there is none."""
        if name in self.bound:
            return NO_SOURCES
        here = self._find(name)
        if here is not None:
            return here
        return None if self.outer is None else self.outer.defined(name)

    def all(self) -> Iterator[QueryRelation]:
        """The relations of the scope, in the order of the FROM clause."""
        return (relation for _, relation in self.relations)
