"""Records that the columns of a query are written to the columns of a table."""

from collections.abc import Sequence

from lineage_bridge.sql.columns.relations import QueryRelation
from lineage_bridge.sql.columns.values import GUESSED, LIKELY, Subtype, Value
from lineage_bridge.sql.lineage import ColumnFlow, IndirectFlow, Lineage
from lineage_bridge.sql.names import Name


def write(target: Name, columns: Sequence[str] | None, relation: QueryRelation, lineage: Lineage) -> None:
    """Record that a relation is written to a table. Its columns match `columns` by position; if `columns` is None, they match by name."""
    lineage.outputs[target] = None
    names = [name for name, _ in relation.columns] if columns is None else columns
    conditions = set(relation.conditions)
    strongest: dict[tuple[Name, str, str], tuple[Subtype, float]] = {}
    for name, value in zip(names, _placed(relation, names) if columns is not None else _values(relation), strict=False):
        conditions |= value.conditions
        for (table, column), (subtype, sure) in value.direct.items():
            confidence = sure if columns is not None else min(sure, LIKELY)
            before = strongest.get((table, column, name), (subtype, confidence))
            strongest[table, column, name] = (max(before[0], subtype), max(before[1], confidence))
    for (table, column, name), (subtype, sure) in strongest.items():
        lineage.columns[ColumnFlow(table, column, target, name, subtype, sure)] = None
    for (table, column), kind in sorted(conditions):
        lineage.indirect[IndirectFlow(table, column, target, kind)] = None


def _values(relation: QueryRelation) -> list[Value]:
    return [value for _, value in relation.columns]


def _placed(relation: QueryRelation, names: Sequence[str]) -> list[Value]:
    """The values to write, by position. An undefined column may be the one that has the name of the written column."""
    unknown = relation.unknown
    if unknown is None:
        return _values(relation)
    first, last = relation.gap or (0, 0)
    between = dict(relation.columns[first:last])
    sure = GUESSED if between else LIKELY
    return relation.placed(names, lambda name: (between.get(name) or unknown(name)).doubted(sure))
