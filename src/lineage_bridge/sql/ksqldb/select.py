"""A SELECT of ksqlDB with its sources and joins, and functions that find which column or key an expression denotes."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from sqlglot import exp

from lineage_bridge.sql.columns.expressions import Ctes, column_path
from lineage_bridge.sql.columns.relations import QueryRelation, Scope
from lineage_bridge.sql.columns.values import Value
from lineage_bridge.sql.ksqldb.column_names import ColumnAliases
from lineage_bridge.sql.ksqldb.join_keys import JoinCondition, JoinSide, SourceColumn
from lineage_bridge.sql.text.lowering import FIELD


@dataclass
class Select:
    """A SELECT of ksqlDB, with its sources by name.

    - `keys`: the expressions that are the key of the result, as text.
    - `added`: the columns that PARTITION BY adds.
    - `synthetic`: the name of the key column that a join adds; empty if none does.
    - `repartitioned`: whether there is a PARTITION BY.
    - `has_expressions`: whether a part of the key is not a column.
    """

    node: exp.Select
    scope: Scope
    ctes: Ctes
    sources: list[tuple[str, QueryRelation]]
    keys: list[str] = field(default_factory=list)
    added: list[tuple[str, Value]] = field(default_factory=list)
    synthetic: str = ""
    repartitioned: bool = False
    has_expressions: bool = False

    @property
    def is_join(self) -> bool:
        """Whether the query joins several sources."""
        return len(self.sources) > 1

    @cached_property
    def aliases(self) -> ColumnAliases:
        """Generates names that no column of the sources has, including columns that only the query mentions."""
        known = [name for _, relation in self.sources for name, _ in relation.columns]
        undefined = {name for name, relation in self.sources if relation.unknown is not None}
        named = [column for source, column in self.mentioned if source in undefined] if undefined else []
        return ColumnAliases([*known, *named])

    @cached_property
    def mentioned(self) -> set[SourceColumn]:
        """The columns that the query mentions together with their source, as pairs of source and column."""
        paths = ([part.name for part in column.parts] for column in self.node.find_all(exp.Column))
        return {(path[0], path[1]) for path in paths if len(path) > 1}

    def sources_of(self, column: str) -> list[str]:
        """The names of the sources whose definition has a column with this name."""
        return [name for name, relation in self.sources if any(own == column for own, _ in relation.columns)]

    def source_column(self, path: Sequence[str]) -> SourceColumn | None:
        """The source and column that a path denotes. If the path names no source, it is the first source that may have the column."""
        names = column_path(path)
        if len(names) > 1:
            return names[0], names[1]
        owners = [*self.sources_of(names[0]), *(name for name, relation in self.sources if relation.unknown is not None)]
        return (owners[0], names[0]) if owners else None

    def key_of(self, node: exp.Expr) -> int | None:
        """The position of an expression in the key; None if it is not part of the key."""
        is_candidate = bool(self.keys) and (self.has_expressions or bool(path_of(node)))
        return self.key_at(self.text(node)) if is_candidate else None

    def key_at(self, text: str) -> int | None:
        """The position of an expression in the key, given as text; None if it is not part of the key."""
        return self.keys.index(text) if text in self.keys else None

    def text(self, node: exp.Expr) -> str:
        """Write an expression so that equal expressions have equal texts: each column is written with its source."""
        path = path_of(node)
        if path:
            return self._column_text(path)
        copy = node.copy()
        for column in list(copy.find_all(exp.Column)):
            column.replace(exp.Var(this=self._column_text([part.name for part in column.parts])))
        return copy.sql()

    def _column_text(self, path: Sequence[str]) -> str:
        found = self.source_column(path)
        return ".".join(path if found is None else (*found, *path[len(column_path(path)) :]))

    def contains(self, column: SourceColumn) -> bool:
        """Whether the SELECT list contains a column, by its name or by `*`."""
        for projection in self.node.expressions:
            bare = unwrapped(projection.this if isinstance(projection, exp.Alias) else projection)
            if isinstance(bare, exp.Star) or (isinstance(bare, exp.Column) and bare.is_star and bare.parts[0].name == column[0]):
                return True
            path = path_of(bare)
            if path and len(column_path(path)) == len(path) and self.source_column(path) == column:
                return True
        return False

    def conditions(self) -> Iterator[JoinCondition]:
        """The conditions of the joins that test for equality, in order."""
        for join in self.node.args.get("joins") or ():
            on = equality(join)
            if on is not None:
                side, kind = str(join.args.get("side") or ""), str(join.args.get("kind") or "")
                yield JoinCondition(self._side(on.this), self._side(on.expression), side == "FULL" or (kind == "OUTER" and not side))

    def _side(self, given: exp.Expr) -> JoinSide:
        node = unwrapped(given)
        path = path_of(node)
        column = self.source_column(path) if path and len(column_path(path)) == len(path) else None
        used = [self.source_column([part.name for part in inner.parts]) for inner in node.find_all(exp.Column)]
        return JoinSide(self.text(node), frozenset(found[0] for found in used if found is not None), column)


def path_of(node: exp.Expr) -> list[str]:
    """The parts of a column's name, followed by the fields that are selected of it; empty if the expression is not a column."""
    names: list[str] = []
    inner = node
    while isinstance(inner, exp.Dot) and isinstance(inner.expression, exp.Identifier):
        names.insert(0, inner.expression.name)
        inner = inner.this
    return [*(part.name for part in inner.parts), *names] if isinstance(inner, exp.Column) else []


def field_of(node: exp.Expr) -> str:
    """The last field in `column->field->...`; empty if the expression selects no field."""
    last = node.expression if isinstance(node, exp.Dot) else node.this if isinstance(node, exp.Column) else None
    name = last.name if isinstance(last, exp.Identifier) else ""
    return name.removeprefix(FIELD) if name.startswith(FIELD) else ""


def unwrapped(node: exp.Expr) -> exp.Expr:
    """An expression without the parentheses around it."""
    while isinstance(node, exp.Paren):
        node = node.this
    return node


def equality(join: exp.Join) -> exp.EQ | None:
    """The ON condition of a join if it has the form `left = right`, else None."""
    on = join.args.get("on")
    inner = None if on is None else unwrapped(on)
    return inner if isinstance(inner, exp.EQ) else None


def group_keys(group: exp.Expr) -> list[exp.Expr]:
    """The expressions in a GROUP BY."""
    keys = (unwrapped(key) for key in group.expressions)
    return [inner for key in keys for inner in (key.expressions if isinstance(key, exp.Tuple) else [key])]
