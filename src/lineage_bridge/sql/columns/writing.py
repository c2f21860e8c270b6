"""Writing the columns of a query to the columns of a table."""

from collections.abc import Sequence

from lineage_bridge.sql.columns.relations import QueryRelation
from lineage_bridge.sql.columns.values import LIKELY, Subtype
from lineage_bridge.sql.lineage import ColumnFlow, IndirectFlow, Lineage
from lineage_bridge.sql.names import Name


def write(target: Name, columns: Sequence[str] | None, relation: QueryRelation, lineage: Lineage) -> None:
    """Record that a relation is written to a table: to these columns by position, or, if they are unknown, by name."""
    lineage.outputs[target] = None
    names = [name for name, _ in relation.columns] if columns is None else columns
    conditions = set(relation.conditions)
    strongest: dict[tuple[Name, str, str], tuple[Subtype, float]] = {}
    values = [value for _, value in relation.columns]
    if relation.unknown is not None and columns is not None:
        values += [relation.unknown(name).doubted(LIKELY) for name in names[len(values) :]]
    for name, value in zip(names, values, strict=False):
        conditions |= value.conditions
        for (table, column), (subtype, sure) in value.direct.items():
            confidence = sure if columns is not None else min(sure, LIKELY)
            before = strongest.get((table, column, name), (subtype, confidence))
            strongest[table, column, name] = (max(before[0], subtype), max(before[1], confidence))
    for (table, column, name), (subtype, sure) in strongest.items():
        lineage.columns[ColumnFlow(table, column, target, name, subtype, sure)] = None
    for (table, column), kind in sorted(conditions):
        lineage.indirect[IndirectFlow(table, column, target, kind)] = None
