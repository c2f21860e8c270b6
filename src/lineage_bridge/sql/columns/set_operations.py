"""The columns of UNION and INTERSECT. Each combines, by position, one column of the left query with one of the right query."""

from lineage_bridge.sql.columns.relations import QueryRelation, Unknown, either
from lineage_bridge.sql.columns.values import NO_SOURCES, Value, merged


def united(left: QueryRelation, right: QueryRelation) -> QueryRelation:
    """The columns of a UNION or INTERSECT: each has the values of both sides, and the name of the left side."""
    if left.unknown is not None and right.unknown is not None:
        return _both_open(left, right)
    whole = left if left.unknown is None else right
    names = [name for name, _ in whole.columns]
    sides = [side.placed(names, side.unknown or _no_sources) for side in (left, right)]
    if left is not whole:
        first, last = left.gap or (len(left.columns), len(left.columns))
        own = [name for name, _ in left.columns]
        names = [*own[:first], *names[first : len(names) - len(own) + last], *own[last:]][: len(names)]
    columns = tuple((name, merged(values)) for name, *values in zip(names, *sides, strict=False))
    return QueryRelation(columns)


def _both_open(left: QueryRelation, right: QueryRelation) -> QueryRelation:
    """Like `united`, if both sides have undefined columns: known columns are matched by position, from the start and from the end."""
    sides = [(side, side.gap or (len(side.columns), len(side.columns))) for side in (left, right)]
    head = min(gap[0] for _, gap in sides)
    tail = min(len(side.columns) - gap[1] for side, gap in sides)
    both = [[*side.columns[:head], *side.columns[len(side.columns) - tail :]] for side, _ in sides]
    columns = tuple((name, merged([value, other])) for (name, value), (_, other) in zip(*both, strict=True))
    return QueryRelation(columns, (), either([_by_name(left), _by_name(right)]), gap=(head, head))


def _by_name(side: QueryRelation) -> Unknown:
    return lambda name: side.value(name) or NO_SOURCES


def _no_sources(_name: str) -> Value:
    return NO_SOURCES
