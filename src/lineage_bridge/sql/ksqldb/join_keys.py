"""Finds which columns can be the key of the result of a join in ksqlDB."""

from collections.abc import Sequence
from dataclasses import dataclass

SourceColumn = tuple[str, str]
"""The name of a source in a query, and one of its columns."""


@dataclass(frozen=True)
class JoinSide:
    """One side of `ON left = right`: its text, the sources that it uses, and its column; None if it is another expression."""

    text: str
    sources: frozenset[str]
    column: SourceColumn | None = None


@dataclass(frozen=True)
class JoinCondition:
    """The condition `ON left = right` of a join. `full`: the join is a full outer one, so the key may be missing on either side."""

    left: JoinSide
    right: JoinSide
    full: bool = False


def viable_keys(first: str, joins: Sequence[JoinCondition]) -> list[SourceColumn]:
    """The columns that equal the key of the last join, in the order in which ksqlDB prefers them. If there are none, ksqlDB makes a
    synthetic key.

    `first`: the name of the first source of the query.
    """
    joined = {first}
    equal: dict[str, SourceColumn | None] = {}
    viable: list[SourceColumn] = []
    for join in joins:
        sides = (join.left, join.right) if join.left.sources & joined else (join.right, join.left)
        joined |= join.left.sources | join.right.sources
        if join.full:
            equal, viable = {}, []
            continue
        here = {side.text: side.column for side in sides}
        equal = {**equal, **here} if equal.keys() & here.keys() else here
        candidates = [*viable, *(side.column for side in sides if side.column is not None)]
        kept = {column for column in equal.values() if column is not None}
        viable = [column for column in dict.fromkeys(candidates) if column in kept]
    return viable
