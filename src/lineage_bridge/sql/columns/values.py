"""The value of a column: the source columns that it contains, and how each of them contributes."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import IntEnum

from lineage_bridge.sql.names import Name

Source = tuple[Name, str]
"""A table and one of its columns."""

Condition = tuple[Source, str]
"""A source column that selects rows or values without being part of them, and how: FILTER, JOIN, GROUP_BY, WINDOW, SORT, CONDITIONAL."""

CERTAIN, LIKELY, GUESSED = 1.0, 0.8, 0.5
"""Levels of confidence: columns known from definitions; columns of a table without a definition; one of several possible columns."""


class Subtype(IntEnum):
    """How a source column contributes to a value. If several apply, the greatest counts."""

    IDENTITY = 0
    TRANSFORMATION = 1
    AGGREGATION = 2


@dataclass(frozen=True)
class Value:
    """The source columns of a value, each with a subtype and a confidence, and the columns that select among values (conditions)."""

    direct: Mapping[Source, tuple[Subtype, float]] = field(default_factory=dict)
    conditions: frozenset[Condition] = frozenset()

    def through(self, least: Subtype) -> "Value":
        """This value after a transformation: no source column has a subtype below `least`."""
        if least is Subtype.IDENTITY or not self.direct:
            return self
        return Value({source: (max(subtype, least), sure) for source, (subtype, sure) in self.direct.items()}, self.conditions)

    def under(self, conditions: Iterable[Condition]) -> "Value":
        """This value with additional conditions."""
        return Value(self.direct, self.conditions | frozenset(conditions))

    def doubted(self, sure: float) -> "Value":
        """This value with the confidence of every source column limited to `sure`."""
        return Value({source: (subtype, min(sure, was)) for source, (subtype, was) in self.direct.items()}, self.conditions)

    def deciding(self, kind: str) -> set[Condition]:
        """The conditions that result if this value is used as a condition, for example to select rows: one condition of this kind for each
        of its source columns, and the value's own conditions.
        """
        return {(source, kind) for source in self.direct} | self.conditions


NO_SOURCES = Value()


def merged(values: Iterable[Value]) -> Value:
    """Merge values into one: it has all their source columns, each with the greatest subtype and confidence."""
    direct: dict[Source, tuple[Subtype, float]] = {}
    conditions: set[Condition] = set()
    for value in values:
        conditions |= value.conditions
        for source, (subtype, sure) in value.direct.items():
            before = direct.get(source)
            direct[source] = (subtype, sure) if before is None else (max(subtype, before[0]), max(sure, before[1]))
    return Value(direct, frozenset(conditions))


def source(table: Name, column: str, sure: float = CERTAIN) -> Value:
    """The value of a column that is copied unchanged from one source column."""
    return Value({(table, column): (Subtype.IDENTITY, sure)})
