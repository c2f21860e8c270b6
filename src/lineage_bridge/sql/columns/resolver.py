"""The columns of a query, and the source columns of each."""

from collections.abc import Iterable, Sequence
from dataclasses import replace

from sqlglot import exp

from lineage_bridge.sql.columns.calls import Calls
from lineage_bridge.sql.columns.expressions import Ctes, QueryAnalysis
from lineage_bridge.sql.columns.functions import WINDOW_BOUNDS
from lineage_bridge.sql.columns.relations import Columns, QueryRelation, Scope, Unknown, either
from lineage_bridge.sql.columns.values import LIKELY, NO_SOURCES, Condition, Subtype, Value, merged, source
from lineage_bridge.sql.names import Name, written
from lineage_bridge.sql.statements.catalog import ColumnKind, Table, View
from lineage_bridge.sql.text.cursor import StatementError
from lineage_bridge.sql.text.plain import Pattern, Query, TableCall
from lineage_bridge.sql.text.streaming import lowered
from lineage_bridge.sql.text.tokens import Token


def columns_of(query: Sequence[Token] | exp.Expr, analysis: QueryAnalysis) -> QueryRelation:
    """The columns of a query. Raises StatementError."""
    parsed = Query(query, {}, []) if isinstance(query, exp.Expr) else lowered(query, ksql=analysis.ksql)
    return Resolver(analysis, parsed).relation(parsed.expression, Scope(), {})


class Resolver(Calls):
    """Resolves the queries in one parsed text."""

    def relation(self, node: exp.Expr, scope: Scope, ctes: Ctes) -> QueryRelation:
        """The columns of a query, in a scope and with the common table expressions before it."""
        ctes = self._with(node, scope, ctes)
        if isinstance(node, exp.Select):
            return self._select(node, scope, ctes)
        if isinstance(node, exp.Subquery):
            made = self._bracketed(node, scope, ctes)
        elif isinstance(node, exp.SetOperation):
            made = self._set(node, scope, ctes)
        elif isinstance(node, exp.Values):
            made = QueryRelation(tuple((name, NO_SOURCES) for name in _alias_columns(node)))
        else:
            raise StatementError("a query is expected here", self.query.token_of(node))
        over = Scope(scope, [(("",), made)])
        return made.under(self._order(node, over, ctes))

    def _with(self, node: exp.Expr, scope: Scope, ctes: Ctes) -> Ctes:
        clause = part_of(node, "with")
        if clause is None:
            return ctes
        found = dict(ctes)
        for cte in clause.expressions:
            names = _alias_columns(cte)
            if clause.args.get("recursive") and isinstance(cte.this, exp.SetOperation):
                found[cte.alias] = self.relation(cte.this.this, scope, found).renamed(names)
            found[cte.alias] = self.relation(cte.this, scope, found).renamed(names)
        return found

    def _bracketed(self, node: exp.Subquery, scope: Scope, ctes: Ctes) -> QueryRelation:
        """A query in parentheses, or a join."""
        if not isinstance(node.this, exp.Table):
            return self.relation(node.this, scope, ctes)
        inner = scope.inside()
        conditions = self.source(node.this, inner, ctes)
        columns = tuple(column for relation in inner.all() for column in relation.columns)
        return QueryRelation(columns, (), either(relation.unknown for relation in inner.all())).under(conditions)

    def _set(self, node: exp.SetOperation, scope: Scope, ctes: Ctes) -> QueryRelation:
        left, right = (self.relation(side, scope, ctes) for side in (node.this, node.expression))
        conditions = left.conditions | right.conditions
        if isinstance(node, exp.Except):
            taken = {condition for _, value in right.columns for condition in value.deciding("FILTER")}
            return QueryRelation(left.columns, (), left.unknown, conditions | taken)
        columns = [(name, merged([value, other])) for (name, value), (_, other) in zip(left.columns, right.columns, strict=False)]
        return QueryRelation((*columns, *left.columns[len(columns) :]), (), either([left.unknown, right.unknown]), conditions)

    def _select(self, node: exp.Select, scope: Scope, ctes: Ctes) -> QueryRelation:
        here = scope.inside()
        clause = part_of(node, "from")
        conditions = set() if clause is None else self.source(clause.this, here, ctes)
        conditions |= self._joins(node, here, ctes) | self._times(here)
        if self.query.windowed:
            here.add(("",), QueryRelation(hidden=tuple((name, NO_SOURCES) for name in WINDOW_BOUNDS)))
        columns, unknown = self._projections(node, here, ctes)
        # Aliases of the query do not hide columns of its sources.
        both = Scope(Scope(here.outer, [(("",), QueryRelation(columns))]), here.relations, here.bound)
        conditions |= self.deciding([_inner(node, "where")], "FILTER", here, ctes)
        conditions |= self.deciding([_inner(node, "having"), _inner(node, "qualify")], "FILTER", both, ctes)
        conditions |= self._groups(node, columns, both, ctes) | self._order(node, both, ctes)
        return QueryRelation(columns, (), unknown, frozenset(conditions))

    def _joins(self, node: exp.Expr, here: Scope, ctes: Ctes) -> set[Condition]:
        """The joins of a query or a table."""
        found: set[Condition] = set()
        for join in node.args.get("joins") or ():
            found |= self._join(join, here, ctes)
        for lateral in node.args.get("laterals") or ():
            found |= self.source(lateral, here, ctes)
        return found

    def _times(self, here: Scope) -> set[Condition]:
        """The columns of these relations that FOR SYSTEM_TIME uses."""
        found: set[Condition] = set()
        for tokens in list(self.query.times):
            first = tokens[0].text
            if here.named((first,)) is not None or here.defined(first) is not None:
                self.query.times.remove(tokens)
                found |= self.value_of(tokens, here).deciding("JOIN")
        return found

    def _groups(self, node: exp.Select, columns: Columns, scope: Scope, ctes: Ctes) -> set[Condition]:
        """GROUP BY: expressions, aliases of the query, or positions."""
        group = node.args.get("group")
        found: set[Condition] = set()
        for key in _group_keys(group) if group is not None else ():
            if isinstance(key, exp.Literal):
                position = int(key.name) if key.name.isdigit() else 0
                found |= columns[position - 1][1].deciding("GROUP_BY") if 0 < position <= len(columns) else set()
            else:
                found |= self.deciding([key], "GROUP_BY", scope, ctes)
        return found

    def _order(self, node: exp.Expr, scope: Scope, ctes: Ctes) -> set[Condition]:
        order = node.args.get("order")
        return set() if order is None else self.deciding(order.expressions, "SORT", scope, ctes)

    def _projections(self, node: exp.Select, here: Scope, ctes: Ctes) -> tuple[Columns, Unknown | None]:
        columns: list[tuple[str, Value]] = []
        unknown: Unknown | None = None
        nameless = 0
        for number, projection in enumerate(node.expressions):
            bare = projection.this if isinstance(projection, exp.Alias) else projection
            if bare.is_star and isinstance(bare, exp.Star | exp.Column):
                excluded = {name.casefold() for name in _excluded(bare)}
                for alias, relation in self._starred(bare, here):
                    columns += [(f"{alias}{name}", value) for name, value in relation.columns if name.casefold() not in excluded]
                    unknown = either([unknown, relation.unknown])
                continue
            name = projection.alias if isinstance(projection, exp.Alias) else _own_name(bare)
            if not name:
                name, nameless = self.analysis.unnamed(number, nameless), nameless + 1
            columns.append((name, self.value(bare, here, ctes)))
        return tuple(columns), unknown

    def _starred(self, star: exp.Expr, here: Scope) -> list[tuple[str, QueryRelation]]:
        """The relations that a star stands for, with the prefix of their columns: in a join of ksqlDB, the relation's name."""
        if not isinstance(star, exp.Column):
            named = [(name[-1], relation) for name, relation in here.relations if relation.columns or relation.unknown]
            joins = self.analysis.ksql and len(named) > 1
            return [(f"{name}_" if joins else "", relation) for name, relation in named]
        name = tuple(part.name for part in star.parts[:-1])
        relation = here.named(name)
        if relation is None:
            self.fault(f"there is no table or alias {written(name)} here", star)
        return [] if relation is None else [("", relation)]

    # the FROM clause

    def source(self, node: exp.Expr, here: Scope, ctes: Ctes) -> set[Condition]:
        """Add a relation to a scope. Returns the conditions of its rows."""
        relation = self._from_item(node, here, ctes)
        name = (node.alias,) if node.alias else _table_name(node) if isinstance(node, exp.Table) else ("",)
        here.add(name, relation.renamed(_alias_columns(node)))
        return {*relation.conditions, *self._joins(node, here, ctes)}

    def _join(self, join: exp.Join, here: Scope, ctes: Ctes) -> set[Condition]:
        # Columns of the right side of a semi join cannot be selected.
        scope = Scope(here.outer, list(here.relations)) if join.args.get("kind") in ("SEMI", "ANTI") else here
        conditions = self.source(join.this, scope, ctes)
        conditions |= self.deciding([join.args.get("on")], "JOIN", scope, ctes)
        shared = {column.name for column in join.args.get("using") or ()}
        relations = list(scope.all())
        if str(join.args.get("method") or "").upper() == "NATURAL":
            shared |= {name for relation in relations[:-1] for name, _ in relation.columns} & {name for name, _ in relations[-1].columns}
        values = (relation.value(name) for relation in relations for name in shared)
        return conditions | {condition for value in values if value is not None for condition in value.deciding("JOIN")}

    def _from_item(self, node: exp.Expr, here: Scope, ctes: Ctes) -> QueryRelation:
        if isinstance(node, exp.Table):
            return self._table(node, here, ctes)
        if isinstance(node, exp.Unnest):
            made = self._function(node.expressions, here, ctes).renamed(_alias_columns(node))
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
        name = _table_name(node)
        stand_in = self.query.stand_ins.get(name[0])
        if isinstance(stand_in, TableCall):
            return self.called(stand_in, here, ctes)
        if isinstance(stand_in, Pattern):
            return self.matched(stand_in, ctes)
        return self.named(name, ctes)

    def named(self, name: Name, ctes: Ctes) -> QueryRelation:
        """The columns of a common table expression, a view or a table."""
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
        """The columns of the query of a view."""
        if view.name in self.analysis.views:
            raise StatementError(f"the view {written(view.name)} refers to itself", None)
        self.analysis.views.append(view.name)
        reported = len(self.analysis.faults)
        with self.analysis.catalog.at(view.home):
            found = columns_of(view.query, self.analysis).renamed(view.columns)
        # Errors in a view were reported where it is defined.
        del self.analysis.faults[reported:]
        self.analysis.views.pop()
        return found

    def _stored(self, table: Table) -> QueryRelation:
        """The columns of a table; computed ones derive from the others."""
        pseudo = tuple((name, NO_SOURCES) for name in self.analysis.pseudo_columns)
        hidden = (*pseudo, *((name, source(table.name, name)) for name in (*self.analysis.system_columns, *table.hidden)))
        if table.columns is None:
            return QueryRelation((), hidden, lambda name: source(table.name, name, LIKELY) if name else NO_SOURCES)
        stored = tuple((column.name, source(table.name, column.name)) for column in table.columns if column.kind is not ColumnKind.COMPUTED)
        scope = Scope(None, [(table.name[-1:], QueryRelation(stored, hidden))])
        values = dict(stored)
        for column in table.columns:
            if column.kind is ColumnKind.COMPUTED:
                values[column.name] = self.value_of(column.expression, scope)
        return QueryRelation(tuple((column.name, values[column.name]) for column in table.columns), hidden)


def part_of(node: exp.Expr, name: str) -> exp.Expr | None:
    """A clause whose name is a Python keyword, as sqlglot stores it."""
    found: exp.Expr | None = node.args.get(f"{name}_")
    return found


def _inner(node: exp.Expr, clause: str) -> exp.Expr | None:
    found = node.args.get(clause)
    return None if found is None else found.this


def _table_name(node: exp.Table) -> Name:
    return tuple(part.name for part in node.parts)


def _alias_columns(node: exp.Expr) -> list[str]:
    alias = node.args.get("alias")
    return [column.name for column in alias.columns] if isinstance(alias, exp.TableAlias) else []


def _own_name(node: exp.Expr) -> str:
    if isinstance(node, exp.Column):
        return str(node.name)
    return str(node.expression.name) if isinstance(node, exp.Dot) and isinstance(node.expression, exp.Identifier) else ""


def _excluded(star: exp.Expr) -> list[str]:
    inner = star.this if isinstance(star, exp.Column) else star
    return [column.name for column in inner.args.get("except_") or ()]


def _group_keys(group: exp.Expr) -> list[exp.Expr]:
    found: list[exp.Expr] = []
    for key in group.iter_expressions():
        found += _group_keys(key) if isinstance(key, exp.GroupingSets | exp.Cube | exp.Rollup | exp.Tuple) else [key]
    return found
