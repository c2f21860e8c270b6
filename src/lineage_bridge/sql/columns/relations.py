"""What a query reads from: tables, subqueries and functions, as columns with values, under the aliases of the query."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from lineage_bridge.sql.columns.values import GUESSED, NO_SOURCES, Condition, Value, merged

Columns = tuple[tuple[str, Value], ...]
"""Columns in order, each with its value."""

Unknown = Callable[[str], Value]
"""The value of a column that no definition mentions."""


@dataclass(frozen=True)
class QueryRelation:
    """Columns in order with their values; `hidden` ones are not in a star; `unknown` answers for others, None where there are none.

    `conditions` decide about its rows. A `weak` one is asked for a column that nobody has defined only if no other can be.
    """

    columns: Columns = ()
    hidden: Columns = ()
    unknown: Unknown | None = None
    conditions: frozenset[Condition] = frozenset()
    weak: bool = False

    def find(self, name: str) -> Value | None:
        """The value of the column with this name; names match exactly, else in another case."""
        return _look_up(self.columns, name) or _look_up(self.hidden, name)

    def value(self, name: str) -> Value | None:
        """The value of a column, also of an undefined one if the relation may have such; else None."""
        return self.find(name) or (self.unknown(name) if self.unknown is not None else None)

    def renamed(self, names: Sequence[str]) -> "QueryRelation":
        """The same columns under other names; further names are columns of a row whose definition is unknown."""
        if not names:
            return self
        values = [value for _, value in self.columns]
        if len(names) > len(values):
            rest = self.unknown("") if self.unknown is not None else NO_SOURCES
            values += [rest] * (len(names) - len(values))
        kept = values[len(names) :]
        columns = (
            *zip(names, values, strict=False),
            *((name, value) for (name, _), value in zip(self.columns[len(names) :], kept, strict=False)),
        )
        return replace(self, columns=tuple(columns), unknown=None)

    def under(self, conditions: Iterable[Condition]) -> "QueryRelation":
        """The same relation with more conditions."""
        return replace(self, conditions=self.conditions | frozenset(conditions))


def either(given: Iterable[Unknown | None]) -> Unknown | None:
    """An undefined column that several relations may have."""
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
    """The relations of one FROM clause by name, and the scope around it."""

    outer: "Scope | None" = None
    relations: list[tuple[tuple[str, ...], QueryRelation]] = field(default_factory=list)
    bound: frozenset[str] = frozenset()

    def add(self, name: tuple[str, ...], relation: QueryRelation) -> None:
        """Add a relation."""
        self.relations.append((name, relation))

    def inside(self, bound: Iterable[str] = ()) -> "Scope":
        """A scope inside this one; `bound`: the parameters of a lambda."""
        return Scope(self, [], frozenset(bound))

    def named(self, name: Sequence[str]) -> QueryRelation | None:
        """The relation with this alias, or whose table name ends with it."""
        folded = tuple(part.casefold() for part in name)
        exact = [relation for own, relation in self.relations if own[-len(name) :] == tuple(name)]
        found = exact or [relation for own, relation in self.relations if tuple(part.casefold() for part in own[-len(name) :]) == folded]
        if found:
            return found[0]
        return None if self.outer is None else self.outer.named(name)

    def column(self, name: str) -> Value | None:
        """The value of an unqualified column; None if no relation can have it."""
        if name in self.bound:
            return NO_SOURCES
        found = [value for _, relation in self.relations if (value := relation.find(name)) is not None]
        if found:
            return found[0]
        around = None if self.outer is None else self.outer.defined(name)
        if around is not None:
            return around
        open_ones = [relation for _, relation in self.relations if relation.unknown is not None]
        strong = [relation for relation in open_ones if not relation.weak] or open_ones
        guesses = [relation.unknown(name) for relation in strong if relation.unknown is not None]
        if guesses:
            return guesses[0] if len(guesses) == 1 else merged(guess.doubted(GUESSED) for guess in guesses)
        return None if self.outer is None else self.outer.column(name)

    def defined(self, name: str) -> Value | None:
        """The value of a column that a relation in this scope or around it is known to have."""
        if name in self.bound:
            return NO_SOURCES
        for _, relation in self.relations:
            value = relation.find(name)
            if value is not None:
                return value
        return None if self.outer is None else self.outer.defined(name)

    def all(self) -> Iterator[QueryRelation]:
        """The relations, in order."""
        return (relation for _, relation in self.relations)
