"""Resolves a query to its columns, and each of these to its source columns."""

from collections.abc import Collection, Sequence
from dataclasses import replace

from sqlglot import exp

from lineage_bridge.sql.columns.expressions import Ctes, QueryAnalysis
from lineage_bridge.sql.columns.from_clause import FromClause, alias_columns, part_of
from lineage_bridge.sql.columns.functions import WINDOW_BOUNDS
from lineage_bridge.sql.columns.relations import NO_KEY, Columns, ProjectedColumns, QueryRelation, Scope
from lineage_bridge.sql.columns.set_operations import united
from lineage_bridge.sql.columns.values import LIKELY, NO_SOURCES, Condition, Subtype, Value
from lineage_bridge.sql.names import written
from lineage_bridge.sql.statements.struct_types import fields_of
from lineage_bridge.sql.text.cursor import StatementError
from lineage_bridge.sql.text.plain import Query
from lineage_bridge.sql.text.streaming import lowered
from lineage_bridge.sql.text.tokens import Token


def columns_of(query: Sequence[Token] | exp.Expr, analysis: QueryAnalysis) -> QueryRelation:
    """Resolve a query to its columns. Raises StatementError."""
    return Resolver.columns_in(query, analysis)


class Resolver(FromClause):
    """Resolves a parsed query and the queries inside it."""

    @classmethod
    def columns_in(cls, query: Sequence[Token] | exp.Expr, analysis: QueryAnalysis) -> QueryRelation:
        """Resolve a query that is not part of another one to its columns. Raises StatementError."""
        parsed = Query(query, {}, []) if isinstance(query, exp.Expr) else lowered(query, ksql=analysis.ksql)
        return cls(analysis, parsed).relation(parsed.expression, Scope(), {})

    def columns_of(self, query: Sequence[Token] | exp.Expr) -> QueryRelation:
        """Like `columns_in`, but uses the analysis of this resolver."""
        return type(self).columns_in(query, self.analysis)

    def relation(self, node: exp.Expr, scope: Scope, ctes: Ctes) -> QueryRelation:
        """Resolve a query to its columns. `scope` has the relations of the query around it, `ctes` the common table expressions
        defined before it.
        """
        ctes = self._with(node, scope, ctes)
        if isinstance(node, exp.Select):
            return self._select(node, scope, ctes)
        if isinstance(node, exp.Subquery):
            made = self._bracketed(node, scope, ctes)
        elif isinstance(node, exp.SetOperation):
            made = self._set(node, scope, ctes)
        elif isinstance(node, exp.Values):
            made = self._values(node)
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
            names = alias_columns(cte)
            if clause.args.get("recursive") and isinstance(cte.this, exp.SetOperation):
                found[cte.alias] = self.relation(cte.this.this, scope, found).renamed(names)
            found[cte.alias] = self.relation(cte.this, scope, found).renamed(names)
        return found

    def _bracketed(self, node: exp.Subquery, scope: Scope, ctes: Ctes) -> QueryRelation:
        """The columns of parentheses in a FROM clause, which contain a query or joined tables."""
        if not isinstance(node.this, exp.Table):
            return self.relation(node.this, scope, ctes)
        inner = scope.inside()
        conditions = self.source(node.this, inner, ctes) | self.joins(node, inner, ctes)
        projected = ProjectedColumns()
        self._all_columns(projected, inner)
        return projected.relation(conditions)

    def _values(self, node: exp.Values) -> QueryRelation:
        """The columns of a VALUES clause. Its first row shows how many there are."""
        rows = node.expressions
        width = len(rows[0].expressions) if rows and isinstance(rows[0], exp.Tuple) else 1
        names = alias_columns(node) or [self.analysis.unnamed(number, number) for number in range(width)]
        return QueryRelation(tuple((name, NO_SOURCES) for name in names))

    def _set(self, node: exp.SetOperation, scope: Scope, ctes: Ctes) -> QueryRelation:
        left, right = (self.relation(side, scope, ctes) for side in (node.this, node.expression))
        conditions = left.conditions | right.conditions
        if isinstance(node, exp.Except):
            taken = {condition for _, value in right.columns for condition in value.deciding("FILTER")}
            return replace(left, conditions=conditions | taken, key=NO_KEY)
        return replace(united(left, right), conditions=conditions)

    def _select(self, node: exp.Select, scope: Scope, ctes: Ctes) -> QueryRelation:
        here = scope.inside()
        clause = part_of(node, "from")
        conditions = set() if clause is None else self.source(clause.this, here, ctes)
        conditions |= self.joins(node, here, ctes) | self._times(here)
        if self.query.windowed:
            here.add(("",), QueryRelation(hidden=tuple((name, NO_SOURCES) for name in WINDOW_BOUNDS)))
        projected = self.projections(node, here, ctes)
        columns = tuple(projected.columns)
        # Aliases of the query do not hide columns of its sources.
        both = Scope(Scope(here.outer, [(("",), QueryRelation(columns))]), here.relations, here.bound)
        conditions |= self.deciding([_inner(node, "where")], "FILTER", here, ctes)
        conditions |= self.deciding([_inner(node, "having"), _inner(node, "qualify")], "FILTER", both, ctes)
        conditions |= self._groups(node, columns, both, ctes) | self._order(node, both, ctes)
        return replace(projected.relation(conditions), hidden=self._passed(node, here))

    def _passed(self, node: exp.Select, here: Scope) -> Columns:
        """The system columns that a query with only one relation passes on: `*` does not select them, but an outer query may name them."""
        if len(here.relations) != 1 or not any(isinstance(projection, exp.Star) for projection in node.expressions):
            return ()
        ((_, only),) = here.relations
        found = ((name, only.find(name)) for name in self.analysis.system_columns)
        return tuple((name, value.doubted(LIKELY)) for name, value in found if value is not None)

    def _times(self, here: Scope) -> set[Condition]:
        """The conditions on columns that FOR SYSTEM_TIME clauses of these relations use."""
        found: set[Condition] = set()
        for tokens in list(self.query.times):
            first = tokens[0].text
            if here.named((first,)) is not None or here.defined(first) is not None:
                self.query.times.remove(tokens)
                found |= self.value_of(tokens, here).deciding("JOIN")
        return found

    def _groups(self, node: exp.Select, columns: Columns, scope: Scope, ctes: Ctes) -> set[Condition]:
        """The conditions of GROUP BY, whose keys may be expressions, aliases of selected columns, or positions in the SELECT list."""
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

    def projections(self, node: exp.Select, here: Scope, ctes: Ctes) -> ProjectedColumns:
        """Resolve the SELECT list of a query to columns."""
        found = ProjectedColumns()
        nameless = 0
        for projection in node.expressions:
            bare = projection.this if isinstance(projection, exp.Alias) else projection
            if bare.is_star and isinstance(bare, exp.Star | exp.Column):
                self._star(found, bare, here)
                continue
            name = projection.alias if isinstance(projection, exp.Alias) else _own_name(bare)
            if not name:
                name, nameless = self.analysis.unnamed(len(found.columns), nameless), nameless + 1
                found.sure &= found.unknown is None
            found.columns.append((name, self.value(bare, here, ctes)))
        if self.analysis.numbers_repeated:
            found.number_repeated()
        return found

    def _star(self, found: ProjectedColumns, star: exp.Expr, here: Scope) -> None:
        excluded = {name.casefold() for name in _excluded(star)}
        if not isinstance(star, exp.Column):
            self._all_columns(found, here, excluded)
            return
        name = tuple(part.name for part in star.parts[:-1])
        relation = here.named(name)
        if relation is not None:
            found.add_all(relation, excluded)
        else:
            self.add_fields(found, name, star, here)

    def add_fields(self, found: ProjectedColumns, path: Sequence[str], node: exp.Expr, here: Scope) -> None:
        """Add the fields of a column that contains a row, as `column.*` does. If the type is unknown, undefined columns are added."""
        for cut in range(min(len(path) - 1, 3), -1, -1):
            relation = here.named(path[:cut]) if cut else None
            value = (here.column(path[0]) if not cut else None) if relation is None else relation.value(path[cut])
            if value is not None:
                break
        else:
            self.fault(f"no table, view or query is called '{written(path)}' in this statement", node)
            return
        names = self._fields(value, path[cut + 1 :])
        part = value.through(Subtype.TRANSFORMATION)
        found.add([(name, part) for name in names or ()], None if names is not None else lambda _: part.doubted(LIKELY))

    def _fields(self, value: Value, path: Sequence[str]) -> list[str] | None:
        """The names of the fields in a value, which must be a column of a table or a field inside a column; None if the value's type is
        unknown.
        """
        if len(value.direct) != 1:
            return None
        (((name, column), (subtype, _)),) = value.direct.items()
        table = self.analysis.tables.get(name)
        types = [known.type_tokens for known in (table.columns if table is not None else None) or () if known.name == column]
        if subtype is not Subtype.IDENTITY or not types:
            return None
        return fields_of(types[0], path, self.analysis.catalog.types, folds=self.analysis.ksql)

    def _all_columns(self, found: ProjectedColumns, here: Scope, excluded: Collection[str] = ()) -> None:
        """Add the columns that `*` selects: those that joins merged, then those of each relation."""
        if here.shares_undefined:
            found.open(lambda _: NO_SOURCES)
        found.columns += (item for item in here.shared if item[0].casefold() not in excluded)
        for at, relation in enumerate(here.all()):
            found.add_all(relation, {*excluded, *(name for index, name in here.merged if index == at)})
        if here.shares_undefined:
            # Any column may be a merged one, which is among the first.
            found.open(lambda _: NO_SOURCES)


def _inner(node: exp.Expr, clause: str) -> exp.Expr | None:
    found = node.args.get(clause)
    return None if found is None else found.this


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
