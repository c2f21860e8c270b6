"""Column lineage of MERGE and UPDATE, which change rows of an existing table."""

from dataclasses import dataclass, field

from sqlglot import exp

from lineage_bridge.sql.columns.expressions import QueryAnalysis
from lineage_bridge.sql.columns.from_clause import part_of
from lineage_bridge.sql.columns.relations import QueryRelation, Scope
from lineage_bridge.sql.columns.resolver import Resolver
from lineage_bridge.sql.columns.values import Condition, Value
from lineage_bridge.sql.columns.writing import write
from lineage_bridge.sql.lineage import Lineage
from lineage_bridge.sql.names import Name
from lineage_bridge.sql.statements.catalog import Table


@dataclass
class RowChange:
    """The effect of MERGE or UPDATE on rows: the new values of columns, the columns that decide which rows change, and the tables that are
    read.
    """

    columns: list[tuple[str, Value]] = field(default_factory=list)
    conditions: set[Condition] = field(default_factory=set)
    inputs: set[Name] = field(default_factory=set)


def merged_rows(node: exp.Merge, target: Table, resolver: Resolver) -> RowChange:
    """The effect of a MERGE statement on the rows of its target."""
    scope, found = Scope(), RowChange()
    found.conditions |= resolver.source(node.args["using"], scope, {})
    found.inputs |= set(resolver.analysis.tables)
    resolver.source(node.this, scope, {})
    found.conditions |= resolver.value(node.args["on"], scope, {}).deciding("JOIN")
    whens = node.args.get("whens")
    for when in whens.expressions if whens is not None else ():
        if when.args.get("condition") is not None:
            found.conditions |= resolver.value(when.args["condition"], scope, {}).deciding("FILTER")
        then = when.args.get("then")
        if isinstance(then, exp.Update):
            found.columns += _assigned(then, resolver, scope)
        elif isinstance(then, exp.Insert) and isinstance(then.expression, exp.Tuple):
            names = [part.name for part in then.this.expressions] if isinstance(then.this, exp.Tuple) else target.writable() or []
            values = (resolver.value(part, scope, {}) for part in then.expression.expressions)
            found.columns += zip(names, values, strict=False)
    return found


def updated_rows(node: exp.Update, resolver: Resolver) -> RowChange:
    """The effect of an UPDATE statement on the rows of its table."""
    scope, found = Scope(), RowChange()
    clause = part_of(node, "from")
    if clause is not None:
        found.conditions |= resolver.source(clause.this, scope, {})
    found.inputs |= set(resolver.analysis.tables)
    resolver.source(node.this, scope, {})
    where = node.args.get("where")
    if where is not None:
        found.conditions |= resolver.value(where.this, scope, {}).deciding("FILTER")
    found.columns += _assigned(node, resolver, scope)
    return found


def _assigned(node: exp.Update, resolver: Resolver, scope: Scope) -> list[tuple[str, Value]]:
    return [(part.this.name, resolver.value(part.expression, scope, {})) for part in node.expressions if isinstance(part, exp.EQ)]


def write_change(target: Table, change: RowChange, analysis: QueryAnalysis, lineage: Lineage) -> None:
    """Record that values are written to columns of an existing table. The table also counts as read if a value uses one of its columns."""
    inputs = change.inputs
    if any(source[0] == target.name for _, value in change.columns for source in value.direct):
        inputs = inputs | {target.name}
    write(target.name, None, QueryRelation(tuple(change.columns), conditions=frozenset(change.conditions)), lineage)
    lineage.inputs.update(dict.fromkeys(name for name in analysis.tables if name in inputs or name != target.name))
