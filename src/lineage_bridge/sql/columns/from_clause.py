"""The FROM clause of a query: tables, views, subqueries, functions and their joins."""

from abc import abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import replace

from sqlglot import exp

from lineage_bridge.sql.columns.calls import Calls
from lineage_bridge.sql.columns.expressions import Ctes
from lineage_bridge.sql.columns.relations import Columns, QueryRelation, RecordKey, Scope
from lineage_bridge.sql.columns.values import LIKELY, NO_SOURCES, Condition, Subtype, Value, merged, source
from lineage_bridge.sql.names import Name, written
from lineage_bridge.sql.statements.catalog import ColumnKind, Table, View
from lineage_bridge.sql.text.cursor import StatementError
from lineage_bridge.sql.text.plain import Pattern, TableCall
from lineage_bridge.sql.text.tokens import Token


class FromClause(Calls):
    """Resolves FROM clauses: adds their relations to a scope."""

    @abstractmethod
    def columns_of(self, query: Sequence[Token] | exp.Expr) -> QueryRelation:
        """Resolve a query that is not part of another one, such as the query of a view, to its columns. Raises StatementError."""

    def source(self, node: exp.Expr, here: Scope, ctes: Ctes) -> set[Condition]:
        """Add an element of a FROM clause to a scope, with its joins. Returns the conditions that select its rows."""
        if isinstance(node, exp.Subquery) and isinstance(node.this, exp.Table | exp.Subquery) and not node.alias:
            # The tables of a join in parentheses keep their names, however many parentheses there are.
            return self.source(node.this, here, ctes) | self.joins(node, here, ctes)
        relation = self._from_item(node, here, ctes)
        name = (node.alias,) if node.alias else table_name(node) if isinstance(node, exp.Table) else ("",)
        here.add(name, relation.renamed(alias_columns(node)))
        return {*relation.conditions, *self.joins(node, here, ctes)}

    def joins(self, node: exp.Expr, here: Scope, ctes: Ctes) -> set[Condition]:
        """Add the joined relations of a query or table to a scope. Returns the conditions of the joins."""
        found: set[Condition] = set()
        for join in node.args.get("joins") or ():
            found |= self._join(join, here, ctes)
        for lateral in node.args.get("laterals") or ():
            found |= self.source(lateral, here, ctes)
        return found

    def _join(self, join: exp.Join, here: Scope, ctes: Ctes) -> set[Condition]:
        # Columns of the right side of a semi join cannot be selected.
        scope = Scope(here.outer, list(here.relations)) if join.args.get("kind") in ("SEMI", "ANTI") else here
        conditions = self.source(join.this, scope, ctes)
        conditions |= self.deciding([join.args.get("on")], "JOIN", scope, ctes)
        return conditions | self._merge(join, scope)

    def _merge(self, join: exp.Join, here: Scope) -> set[Condition]:
        """Merge each pair of columns joined by USING or NATURAL into a single column. Returns the join conditions on them."""
        names = [column.name for column in join.args.get("using") or ()]
        left, (_, right) = Scope(here.outer, here.relations[:-1], shared=here.shared), here.relations[-1]
        if str(join.args.get("method") or "").upper() == "NATURAL":
            here.shares_undefined |= any(relation.unknown is not None for relation in here.all())
            names += [name for _, relation in left.relations for name, _ in relation.columns if right.find(name) is not None]
        common: dict[str, Value] = {}
        for name in names:
            sides = [value for value in (left.column(name), right.value(name)) if value is not None]
            common[name] = merged(sides).through(Subtype.TRANSFORMATION)
            here.merged |= {(at, name.casefold()) for at in range(len(here.relations))}
        here.shared = (*common.items(), *(item for item in here.shared if item[0] not in common))
        return {condition for value in common.values() for condition in value.deciding("JOIN")}

    def _from_item(self, node: exp.Expr, here: Scope, ctes: Ctes) -> QueryRelation:
        if isinstance(node, exp.Table):
            return self._table(node, here, ctes)
        if isinstance(node, exp.Unnest):
            made = self._function(node.expressions, here, ctes).renamed(alias_columns(node))
            number = node.args.get("offset")
            return replace(made, columns=(*made.columns, (number.name, NO_SOURCES))) if isinstance(number, exp.Identifier) else made
        if isinstance(node, exp.Lateral):
            inner = node.this
            return self.relation(inner.this, here, ctes) if isinstance(inner, exp.Subquery) else self._function([inner], here, ctes)
        # A subquery may refer to the other tables only after LATERAL.
        return self.relation(node, here.outer or Scope(), ctes)

    def _function(self, arguments: Iterable[exp.Expr], here: Scope, ctes: Ctes) -> QueryRelation:
        made = merged(self.value(argument, here, ctes) for argument in arguments).through(Subtype.TRANSFORMATION)
        return QueryRelation(unknown=lambda _: made, weak=True)

    def _table(self, node: exp.Table, here: Scope, ctes: Ctes) -> QueryRelation:
        if not isinstance(node.this, exp.Identifier):
            return self._function(node.this.expressions if isinstance(node.this, exp.Func) else (), here, ctes)
        name = table_name(node)
        stand_in = self.query.stand_ins.get(name[0])
        if isinstance(stand_in, TableCall):
            return self.called(stand_in, here, ctes)
        if isinstance(stand_in, Pattern):
            return self.matched(stand_in, ctes)
        return self.named(name, ctes)

    def named(self, name: Name, ctes: Ctes) -> QueryRelation:
        """Look a name up. Returns the columns of the common table expression, view or table that has the name."""
        cte = next((made for own, made in ctes.items() if own.casefold() == name[0].casefold()), None)
        if len(name) == 1 and cte is not None:
            return cte
        view = self.analysis.catalog.view(name)
        if view is not None:
            return self._viewed(view)
        table = self.analysis.catalog.table(name)
        self.analysis.tables[table.name] = table
        return self._stored(table)

    def _viewed(self, view: View) -> QueryRelation:
        """The columns of a view, from its query. Raises StatementError for a view whose query uses the view itself."""
        if view.name in self.analysis.views:
            raise StatementError(f"the query of the view '{written(view.name)}' uses the view itself", None)
        self.analysis.views.append(view.name)
        reported = len(self.analysis.faults)
        with self.analysis.catalog.at(view.home):
            found = self.columns_of(view.query).renamed(view.columns)
        # Errors in a view were reported where it is defined.
        del self.analysis.faults[reported:]
        self.analysis.views.pop()
        return found

    def record_columns(self, table: Table) -> Columns:  # noqa: ARG002 - for dialects that have some
        """Hidden columns with properties of a table's records. By default there are none; ksqlDB has some."""
        return ()

    def _stored(self, table: Table) -> QueryRelation:
        """The columns of a table. The value of a computed column is resolved to the columns that its expression uses."""
        sure = table.sure
        pseudo = tuple((name, NO_SOURCES) for name in self.analysis.pseudo_columns)
        hidden = (
            *pseudo,
            *self.record_columns(table),
            *((name, source(table.name, name)) for name in (*self.analysis.system_columns, *table.hidden)),
        )
        key = RecordKey(table.keys, table.windowed, table.changelog)
        relation = QueryRelation((), hidden, lambda name: source(table.name, name, LIKELY) if name else NO_SOURCES, key=key)
        if table.columns is None:
            return relation
        stored = tuple(
            (column.name, source(table.name, column.name, sure)) for column in table.columns if column.kind is not ColumnKind.COMPUTED
        )
        scope = Scope(None, [(table.name[-1:], replace(relation, columns=stored, unknown=None))])
        values = dict(stored)
        for column in table.columns:
            if column.kind is ColumnKind.COMPUTED:
                values[column.name] = self.value_of(column.expression, scope)
        columns = tuple((column.name, values[column.name]) for column in table.columns)
        return replace(relation, columns=columns, unknown=relation.unknown if table.open else None)


def table_name(node: exp.Table) -> Name:
    """The name of a table in a parsed query, as a tuple of its parts."""
    return tuple(part.name for part in node.parts)


def alias_columns(node: exp.Expr) -> list[str]:
    """The new column names that an alias states: `a` and `b` in `t (a, b)`."""
    alias = node.args.get("alias")
    return [column.name for column in alias.columns] if isinstance(alias, exp.TableAlias) else []


def part_of(node: exp.Expr, name: str) -> exp.Expr | None:
    """The clause of a parsed query with this name, such as `from`. Sqlglot adds an underscore to names that are Python keywords."""
    found: exp.Expr | None = node.args.get(f"{name}_")
    return found
