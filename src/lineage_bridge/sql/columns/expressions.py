"""Finds, for an expression, the source columns that its value contains, and the source columns that select among values."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import singledispatchmethod

from sqlglot import exp

from lineage_bridge.sql.columns.functions import (
    AGGREGATES,
    CONDITIONALS,
    IDENTITIES,
    MEASURED,
    MOMENTS,
    RANKS,
    RESERVED_CONTEXTS,
    RESERVED_MOMENTS,
    UNITS,
)
from lineage_bridge.sql.columns.relations import QueryRelation, Scope
from lineage_bridge.sql.columns.values import NO_SOURCES, Condition, Subtype, Value, merged
from lineage_bridge.sql.names import Name, written
from lineage_bridge.sql.statements.catalog import Catalog, Table
from lineage_bridge.sql.text.lowering import FIELD
from lineage_bridge.sql.text.plain import Query
from lineage_bridge.sql.text.tokens import Kind, Token

Ctes = Mapping[str, QueryRelation]
"""The common table expressions in scope, by name."""

_NO_VALUES = (exp.DataType, exp.Var, exp.Star, exp.Literal, exp.Order)


@dataclass
class QueryAnalysis:
    """The tables and models that the queries of a statement use, and the errors found in them.

    - `views`: the views whose queries are being resolved; a view that uses itself is recognised by them.
    - `system_columns`: the columns that every table has beside those it defines.
    - `pseudo_columns`: names for properties of the record, such as its timestamp, which come from no column.
    - `unnamed`: a function that makes a name for a column without one, given the number of columns before it and the number
      of unnamed columns among them.
    - `numbers_repeated`: whether a repeated column name gets a number as its suffix.
    """

    catalog: Catalog
    ksql: bool = False
    system_columns: tuple[str, ...] = ()
    pseudo_columns: tuple[str, ...] = ()
    unnamed: Callable[[int, int], str] = "EXPR${0}".format
    numbers_repeated: bool = False
    views: list[Name] = field(default_factory=list)
    tables: dict[Name, Table] = field(default_factory=dict)
    models: dict[Name, None] = field(default_factory=dict)
    faults: list[tuple[str, Token | None]] = field(default_factory=list)


class Expressions(ABC):
    """Resolves the expressions of one parsed query to values, that is, to their source columns."""

    def __init__(self, analysis: QueryAnalysis, query: Query) -> None:
        self.analysis = analysis
        self.query = query

    @abstractmethod
    def relation(self, node: exp.Expr, scope: Scope, ctes: Ctes) -> QueryRelation:
        """Resolve a query to its columns. `scope` has the relations that it may name, `ctes` the common table expressions."""

    def deciding(self, nodes: Iterable[exp.Expr | None], kind: str, scope: Scope, ctes: Ctes) -> set[Condition]:
        """All columns that some expressions use, as conditions of the given kind. ASC and DESC in keys of ORDER BY are ignored."""
        keys = [node.this if isinstance(node, exp.Ordered) else node for node in nodes if node is not None]
        return {condition for key in keys for condition in self.value(key, scope, ctes).deciding(kind)}

    def fault(self, message: str, node: exp.Expr) -> None:
        """Record an error at a node of the parsed query."""
        self.analysis.faults.append((message, self.query.token_of(node)))

    @singledispatchmethod
    def value(self, node: exp.Expr, scope: Scope, ctes: Ctes) -> Value:
        """Resolve an expression to its value. By default, the value is a transformation of the values of the expression's parts."""
        inside = node.expressions if isinstance(node, exp.Anonymous) else list(node.iter_expressions())
        name = _function_name(node)
        if name in MEASURED and inside and _is_unit(inside[0], name):
            inside = inside[1:]
        if name in RANKS:
            return NO_SOURCES
        if name in CONDITIONALS and len(node.expressions) > 1:
            return self._chosen(node.expressions[1:], node.expressions[:1], scope, ctes)
        if name in IDENTITIES and node.expressions:
            return self.value(node.expressions[0], scope, ctes)
        whole = merged(self.value(child, scope, ctes) for child in inside if not isinstance(child, _NO_VALUES))
        return whole.through(Subtype.AGGREGATION if name in AGGREGATES else Subtype.TRANSFORMATION)

    @value.register(exp.Alias)
    @value.register(exp.Paren)
    def _(self, node: exp.Expr, scope: Scope, ctes: Ctes) -> Value:
        return self.value(node.this, scope, ctes)

    @value.register
    def _(self, node: exp.Column, scope: Scope, ctes: Ctes) -> Value:  # noqa: ARG002 - as its siblings have it
        return self._column([part.name for part in node.parts], node, scope)

    @value.register
    def _(self, node: exp.Identifier, scope: Scope, ctes: Ctes) -> Value:  # noqa: ARG002 - as its siblings have it
        return self._column([node.name], node, scope)

    @value.register
    def _(self, node: exp.Dot, scope: Scope, ctes: Ctes) -> Value:
        names: list[str] = []
        inner: exp.Expr = node
        while isinstance(inner, exp.Dot) and isinstance(inner.expression, exp.Identifier):
            names.insert(0, inner.expression.name)
            inner = inner.this
        if isinstance(inner, exp.Column):
            return self._column([*(part.name for part in inner.parts), *names], node, scope)
        parts = [inner.this, inner.expression] if isinstance(inner, exp.Dot) else [inner]
        return merged(self.value(part, scope, ctes) for part in parts).through(Subtype.TRANSFORMATION)

    @value.register
    def _(self, node: exp.Case, scope: Scope, ctes: Ctes) -> Value:
        ifs = node.args.get("ifs") or []
        return self._chosen(
            [*(part.args["true"] for part in ifs), node.args.get("default")], [*(part.this for part in ifs), node.this], scope, ctes
        )

    @value.register
    def _(self, node: exp.If, scope: Scope, ctes: Ctes) -> Value:
        return self._chosen([node.args.get("true"), node.args.get("false")], [node.this], scope, ctes)

    @value.register
    def _(self, node: exp.Window, scope: Scope, ctes: Ctes) -> Value:
        conditions = self._window_conditions(node, scope, ctes)
        select = node.find_ancestor(exp.Select)
        for window in (select.args.get("windows") or ()) if node.alias and select is not None else ():
            if window.name == node.alias:
                conditions |= self._window_conditions(window, scope, ctes)
        return self.value(node.this, scope, ctes).through(Subtype.AGGREGATION).under(conditions)

    def _window_conditions(self, node: exp.Expr, scope: Scope, ctes: Ctes) -> set[Condition]:
        order = node.args.get("order")
        keys = [*(node.args.get("partition_by") or ()), *(order.expressions if order is not None else ())]
        return self.deciding(keys, "WINDOW", scope, ctes)

    @value.register
    def _(self, node: exp.Filter, scope: Scope, ctes: Ctes) -> Value:
        return self.value(node.this, scope, ctes).under(self.deciding([node.expression.this], "FILTER", scope, ctes))

    @value.register
    def _(self, node: exp.WithinGroup, scope: Scope, ctes: Ctes) -> Value:
        return self.value(node.this, scope, ctes).under(self.deciding(node.expression.expressions, "SORT", scope, ctes))

    @value.register
    def _(self, node: exp.Lambda, scope: Scope, ctes: Ctes) -> Value:
        return self.value(node.this, scope.inside(part.name for part in node.expressions), ctes)

    @value.register(exp.PropertyEQ)
    @value.register(exp.Kwarg)
    def _(self, node: exp.Expr, scope: Scope, ctes: Ctes) -> Value:
        return self.value(node.expression, scope, ctes)

    @value.register(exp.Select)
    @value.register(exp.SetOperation)
    @value.register(exp.Subquery)
    def _(self, node: exp.Expr, scope: Scope, ctes: Ctes) -> Value:
        inner = self.relation(node, scope, ctes)
        return merged(value for _, value in inner.columns).under(inner.conditions)

    def _chosen(self, chosen: Sequence[exp.Expr | None], asked: Sequence[exp.Expr | None], scope: Scope, ctes: Ctes) -> Value:
        """The value of an expression such as CASE: one of several values, selected by conditions."""
        values = [self.value(part, scope, ctes) for part in chosen if part is not None]
        return merged(values).through(Subtype.TRANSFORMATION).under(self.deciding(asked, "CONDITIONAL", scope, ctes))

    def _column(self, path: list[str], node: exp.Expr, scope: Scope) -> Value:
        """The value of the column that a path names. The path may start with a relation's name; parts after the column's name are
        fields of its value.
        """
        names = column_path(path)
        for cut in range(min(len(names) - 1, 3), 0, -1):
            relation = scope.named(names[:cut])
            found = None if relation is None else relation.value(names[cut])
            if found is not None:
                return found if len(path) == cut + 1 else found.through(Subtype.TRANSFORMATION)
        reserved = len(names) == 1 and not self.analysis.ksql and self._is_reserved(node)
        if reserved:
            found = None if names[0].upper() in RESERVED_MOMENTS else scope.defined(names[0])
        elif len(names) == 1:
            found = scope.column(names[0])
        elif not self.analysis.ksql:
            # A name that is also the name of a relation is a column only if a definition lists that column.
            found = scope.column(names[0]) if scope.named(names[:1]) is None else scope.defined(names[0])
        else:
            found = None
        if found is not None:
            return found if len(path) == 1 else found.through(Subtype.TRANSFORMATION)
        if not reserved and names[0].upper() not in MOMENTS:
            self.fault(f"no table of this query has a column '{written(names)}'", node)
        return NO_SOURCES

    def _is_reserved(self, node: exp.Expr) -> bool:
        """Whether a name is not a column, but a keyword for the time, the user or another property of the query."""
        token = self.query.token_of(node) if node.name.upper() in RESERVED_MOMENTS | RESERVED_CONTEXTS else None
        return token is not None and token.kind is Kind.WORD


def column_path(path: Sequence[str]) -> Sequence[str]:
    """The part of a path up to the column: without the fields that ksqlDB writes as `column->field`."""
    return next((path[:at] for at, name in enumerate(path) if name.startswith(FIELD)), path)


def _is_unit(node: exp.Expr, function: str) -> bool:
    """Whether the first argument of a function is a unit of time, such as DAY, and not a column of that name."""
    return isinstance(node, exp.Column) and len(node.parts) == 1 and (function == "EXTRACT" or node.name.upper() in UNITS)


def _function_name(node: exp.Expr) -> str:
    if isinstance(node, exp.Anonymous):
        return str(node.name).upper()
    if isinstance(node, exp.Func):
        name = node.sql_name().upper()
        return "SUM" if isinstance(node, exp.AggFunc) and name not in RANKS else name
    return ""
