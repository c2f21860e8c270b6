"""Resolves calls of table functions, and MATCH_RECOGNIZE, to columns. Lowering (`sql/text`) has replaced each of these by a placeholder
name, the stand-in.
"""

from abc import abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

from sqlglot import exp

from lineage_bridge.sql.columns.expressions import Ctes, Expressions
from lineage_bridge.sql.columns.functions import CHANGELOGS, GROUP_WINDOWS, MODEL_CALLS, SEARCHES, SNAPSHOTS, WINDOW_COLUMNS
from lineage_bridge.sql.columns.relations import ProjectedColumns, QueryRelation, Scope, Unknown, either
from lineage_bridge.sql.columns.values import GUESSED, LIKELY, NO_SOURCES, Condition, Subtype, Value, merged
from lineage_bridge.sql.names import Name
from lineage_bridge.sql.text.cursor import Cursor, StatementError, folded, parts
from lineage_bridge.sql.text.plain import Pattern, Query, TableCall
from lineage_bridge.sql.text.streaming import lowered
from lineage_bridge.sql.text.tokens import Kind, Token

_CLAUSES = ("PARTITION", "ORDER", "MEASURES", "ONE", "ALL", "AFTER", "PATTERN", "WITHIN", "DEFINE", "SUBSET")


@dataclass
class _Arguments:
    """The arguments of a table function: tables, columns in PARTITION BY, names in DESCRIPTOR, models, and other values."""

    tables: list[QueryRelation] = field(default_factory=list)
    keys: list[tuple[str, Value]] = field(default_factory=list)
    described: dict[str, list[str]] = field(default_factory=dict)
    models: list[Name] = field(default_factory=list)
    values: list[Value] = field(default_factory=list)
    conditions: set[Condition] = field(default_factory=set)

    @property
    def table(self) -> QueryRelation | None:
        """The table, or all columns of several tables; None if there is none."""
        if len(self.tables) < 2:
            return self.tables[0] if self.tables else None
        columns = tuple(item for table in self.tables for item in table.columns)
        conditions = frozenset(condition for table in self.tables for condition in table.conditions)
        return QueryRelation(columns, unknown=either(table.unknown for table in self.tables), conditions=conditions)


class Calls(Expressions):
    """Resolves calls of table functions, and MATCH_RECOGNIZE, to the columns of their results."""

    def value_of(self, tokens: Sequence[Token], scope: Scope) -> Value:
        """Resolve an expression among the arguments of a table function, given as tokens, to its value. Raises StatementError."""
        query = self._query_of(tokens)
        return type(self)(self.analysis, query).value(query.expression.expressions[0], scope, {})

    def expression_of(self, tokens: Sequence[Token]) -> exp.Expr:
        """Parse tokens as one expression. Raises StatementError."""
        found: exp.Expr = self._query_of(tokens).expression.expressions[0]
        return found

    def _query_of(self, tokens: Sequence[Token]) -> Query:
        """Parse the tokens of an expression as a query that selects only this expression."""
        if not tokens:
            raise StatementError("an expression is expected here", None)
        first = tokens[0]
        select = Token(Kind.WORD, "SELECT", "SELECT", first.start, first.start, first.line, first.column)
        query = lowered([select, *tokens], ksql=self.analysis.ksql)
        if not query.expression.expressions:
            raise StatementError("an expression is expected here", first)
        return query

    def read(self, query: Sequence[Token], ctes: Ctes) -> QueryRelation:
        """Resolve a query that is an argument of a table function. Returns its columns."""
        inner = lowered(query, ksql=self.analysis.ksql)
        return type(self)(self.analysis, inner).relation(inner.expression, Scope(), ctes)

    @abstractmethod
    def named(self, name: Name, ctes: Ctes) -> QueryRelation:
        """Look a name up. Returns the columns of the common table expression, view or table that has the name."""

    def called(self, call: TableCall, here: Scope, ctes: Ctes) -> QueryRelation:
        """The columns of the result of a table function."""
        given = self._arguments(call, here, ctes)
        base = given.table or QueryRelation()
        names = (
            [name for columns in given.described.values() for name in columns]
            if given.table is not None and call.function != "TO_CHANGELOG"
            else []
        )
        described = merged(self._in(base, name, call.token) for name in names).through(Subtype.TRANSFORMATION)
        conditions = base.conditions | given.conditions
        if call.function in GROUP_WINDOWS and given.table is not None:
            windows = tuple((name, described) for name in WINDOW_COLUMNS)
            return _extended(base, windows).under(given.conditions | described.deciding("WINDOW"))
        if call.function in CHANGELOGS | SNAPSHOTS and given.table is not None:
            made = base if call.function in SNAPSHOTS else _changelog(call.function, base, given)
            return made.under(conditions)
        if call.function == "VECTOR_SEARCH" and given.table is not None:
            score = merged([described, *given.values]).through(Subtype.TRANSFORMATION)
            return _extended(base, (("score", score),)).under(given.conditions)
        if given.models:
            inputs = described if given.table is not None else merged(given.values).through(Subtype.TRANSFORMATION)
            return self._predicted(given.models, base, inputs).under(given.conditions)
        whole = merged([*(value for _, value in base.columns), *given.values, described]).through(Subtype.TRANSFORMATION)
        if given.table is not None:
            return _processed(given, whole.doubted(LIKELY)).under(conditions)
        kind = Ordinal if call.ordinality else QueryRelation
        return kind(unknown=lambda _: whole, conditions=conditions, weak=True)

    def _arguments(self, call: TableCall, here: Scope, ctes: Ctes) -> _Arguments:
        found = _Arguments()
        for argument in call.arguments:
            tokens = argument.tokens
            first = tokens[0].upper if tokens else ""
            if first in ("TABLE", "(") and len(tokens) > 1:
                self._table_argument(found, tokens, ctes)
            elif first == "DESCRIPTOR":
                found.described.setdefault(argument.name, []).extend(self._descriptor(tokens))
            elif first == "MODEL":
                found.models.append(Cursor(tokens[1:], folds=self.analysis.ksql).name())
            elif call.function in MODEL_CALLS and argument.name in ("", "MODEL") and not found.models and not found.tables:
                found.models.append(_model_name(tokens))
            elif call.function in SEARCHES and argument.name in ("", "SEARCH_TABLE") and not found.tables:
                found.tables.append(self.named(Cursor(tokens, folds=self.analysis.ksql).name(), ctes))
            elif call.function in GROUP_WINDOWS and not found.tables and argument.name in ("", "DATA") and _is_name(tokens):
                self.analysis.faults.append((f"TABLE is expected here, not '{tokens[0].text}'", tokens[0]))
                found.tables.append(self.named(Cursor(tokens, folds=self.analysis.ksql).name(), ctes))
            elif tokens:
                found.values.append(self.value_of(tokens, here))
        return found

    def _descriptor(self, tokens: Sequence[Token]) -> list[str]:
        """The columns that a DESCRIPTOR lists."""
        cursor = Cursor(tokens[1:], folds=self.analysis.ksql)
        inside = cursor.group()
        if cursor.token is not None:
            raise cursor.error("',' or ')' is expected here")
        return [Cursor(part, folds=self.analysis.ksql).name()[-1] for part in parts(inside) if part]

    def _table_argument(self, found: _Arguments, tokens: Sequence[Token], ctes: Ctes) -> None:
        """Read an argument that is a table: `TABLE t`, `TABLE (query)` or `(query)`. PARTITION BY and ORDER BY may follow."""
        cursor = Cursor(tokens, folds=self.analysis.ksql)
        cursor.takes("TABLE")
        relation = self._inside(cursor, ctes)
        found.tables.append(relation)
        scope = Scope()
        scope.add(("",), relation)
        while cursor.token is not None:
            partitions = cursor.takes("PARTITION", "BY")
            if not (partitions or cursor.takes("ORDER", "BY")):
                cursor.at += 1
                continue
            for key in parts(_without_brackets(cursor.until("ORDER", "PARTITION"))):
                found.conditions |= self.value_of(_without_direction(key), scope).deciding("WINDOW")
                name = folded(key[-1], folds=self.analysis.ksql) if partitions and key else ""
                found.keys += [(name, value) for value in _found_in([relation], name)]

    def _inside(self, cursor: Cursor, ctes: Ctes) -> QueryRelation:
        """The columns of the table argument that comes next: a query in parentheses, or a table or view by its name."""
        return self.read(cursor.group(), ctes) if cursor.sees("(") else self.named(cursor.name(), ctes)

    def _in(self, relation: QueryRelation, name: str, token: Token) -> Value:
        found = relation.value(name)
        if found is None:
            self.analysis.faults.append((f"the table of the function has no column '{name}'", token))
        return found or NO_SOURCES

    def _predicted(self, models: list[Name], base: QueryRelation, given: Value) -> QueryRelation:
        """The columns of a table, followed by the columns that models predict for each of its rows."""
        outputs: list[tuple[str, Value]] = []
        unknown: Unknown | None = base.unknown
        for name in models:
            model = self.analysis.catalog.model(name)
            self.analysis.models[model.name] = None
            if model.outputs is None:
                unknown = _always(given)
            else:
                outputs += [(output, given) for output in model.outputs]
        return replace(_extended(base, outputs), unknown=unknown)

    def matched(self, pattern: Pattern, ctes: Ctes) -> QueryRelation:
        """The columns of the result of MATCH_RECOGNIZE: the partition keys and the measures. DEFINE adds no column: it only selects
        rows.
        """
        table = self._inside(Cursor(pattern.table), ctes)
        clauses = _clauses(pattern.body)
        scope = Scope()
        scope.add(("",), table)
        for variable in {token.text for token in clauses.get("PATTERN", ()) if token.is_name}:
            scope.add((variable,), replace(table, weak=True))
        keys = [(key[-1].text, self.value_of(key, scope)) for key in parts(clauses.get("PARTITION", ()))]
        measures = [_aliased(measure) for measure in parts(clauses.get("MEASURES", ()))]
        order = [self.value_of(_without_direction(key), scope) for key in parts(clauses.get("ORDER", ()))]
        rowtime = merged(order[:1]).through(Subtype.TRANSFORMATION)
        columns = keys + [(name, rowtime if _is_rowtime(measure) else self.value_of(measure, scope)) for measure, name in measures]
        conditions = {condition for _, value in keys for condition in value.deciding("WINDOW")}
        conditions |= {condition for value in order for condition in value.deciding("WINDOW")}
        for definition in parts(clauses.get("DEFINE", ())):
            conditions |= self.value_of(definition[2:], scope).deciding("FILTER")
        if "ALL" in clauses:
            columns += [(name, value) for name, value in table.columns if all(name != own for own, _ in columns)]
        return QueryRelation(tuple(columns), conditions=table.conditions | conditions)


class Ordinal(QueryRelation):
    """The result of UNNEST WITH ORDINALITY. When its columns are named, the last name is that of the row number."""

    def renamed(self, names: Sequence[str]) -> QueryRelation:
        """Rename the columns, as QueryRelation does. The row number, which is the last column, has no source column."""
        made = super().renamed(names)
        return replace(made, columns=(*made.columns[:-1], (made.columns[-1][0], NO_SOURCES))) if names else made


def _extended(base: QueryRelation, added: Iterable[tuple[str, Value]]) -> QueryRelation:
    """A copy of a relation with additional columns at the end, after its undefined columns."""
    end = len(base.columns)
    return replace(base, columns=(*base.columns, *added), gap=base.gap or (end, end))


def _changelog(function: str, base: QueryRelation, given: _Arguments) -> QueryRelation:
    """The columns that TO_CHANGELOG returns, with the kind of change added, or FROM_CHANGELOG, without it; those of PARTITION BY first."""
    (operation,) = given.described.get("OP", []) or given.described.get("", []) or ["op"]
    keys = given.keys
    others = [item for item in base.columns if all(item[0] != name for name, _ in keys)]
    if function == "TO_CHANGELOG":
        columns = [*keys, (operation, NO_SOURCES), *others]
    else:
        columns = [*keys, *(item for item in others if item[0] != operation)]
    return replace(base, columns=tuple(columns), hidden=(), gap=None)


def _processed(given: _Arguments, whole: Value) -> QueryRelation:
    """The columns that a user-defined table function returns: those of each PARTITION BY, its own, and the time of `on_time`.

    A column with the name of an input column is probably that column; any other may come from all columns of the input tables.
    """
    keys = ProjectedColumns([(name, value.doubted(LIKELY)) for name, value in given.keys])
    keys.number_repeated()
    times = _found_in(given.tables, *given.described.get("ON_TIME", ()))

    def unknown(name: str) -> Value:
        same = _found_in(given.tables, name)
        return merged(value.doubted(LIKELY if len(same) == 1 else GUESSED) for value in same) if same else whole

    rowtime = merged(value.doubted(LIKELY) for value in times).through(Subtype.TRANSFORMATION)
    columns = (*keys.columns, ("rowtime", rowtime)) if times else tuple(keys.columns)
    return QueryRelation(columns, unknown=unknown, weak=True, gap=(len(keys.columns), len(keys.columns)))


def _found_in(tables: Iterable[QueryRelation], *names: str) -> list[Value]:
    """The columns of tables that have one of these names."""
    return [value for name in names for table in tables if (value := table.find(name)) is not None]


def _always(value: Value) -> Unknown:
    return lambda _: value


def _model_name(tokens: Sequence[Token]) -> Name:
    """A model's name, written as a string or as an identifier."""
    if len(tokens) == 1 and tokens[0].kind is Kind.STRING:
        return tuple(tokens[0].text.replace("`", "").split("."))
    return Cursor(tokens).name()


def _without_brackets(tokens: Sequence[Token]) -> Sequence[Token]:
    return tokens[1:-1] if len(tokens) > 1 and tokens[0].upper == "(" and tokens[-1].upper == ")" else tokens


def _is_name(tokens: Sequence[Token]) -> bool:
    """Whether tokens are just a name, of one or more parts."""
    return bool(tokens) and all(token.is_name if at % 2 == 0 else token.text == "." for at, token in enumerate(tokens))


def _is_rowtime(tokens: Sequence[Token]) -> bool:
    """Whether a measure is MATCH_ROWTIME(), which returns the time by which the rows are ordered."""
    return [token.upper for token in tokens] == ["MATCH_ROWTIME", "(", ")"]


def _without_direction(tokens: Sequence[Token]) -> Sequence[Token]:
    return next((tokens[:at] for at, token in enumerate(tokens) if at and token.upper in ("ASC", "DESC", "NULLS")), tokens)


def _clauses(body: Sequence[Token]) -> dict[str, Sequence[Token]]:
    """The tokens of each clause of MATCH_RECOGNIZE, by the clause's first word. The key `ALL` is included if all rows of a match are
    returned.
    """
    found: dict[str, Sequence[Token]] = {}
    cursor = Cursor(body)
    while cursor.token is not None:
        word = cursor.next().upper
        if word in ("PARTITION", "ORDER"):
            cursor.takes("BY")
        found[word] = cursor.until(*_CLAUSES)
    return found


def _aliased(tokens: Sequence[Token]) -> tuple[Sequence[Token], str]:
    """Split `expression AS name` into its two parts."""
    if len(tokens) < 3 or tokens[-2].upper != "AS":
        raise StatementError("AS and a name are expected here", tokens[-1] if tokens else None)
    return tokens[:-2], tokens[-1].text
