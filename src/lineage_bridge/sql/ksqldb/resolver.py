"""Resolves queries of ksqlDB to their columns, with the names and in the order that ksqlDB gives them: the key comes first."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from sqlglot import exp

from lineage_bridge.sql.columns.expressions import Ctes
from lineage_bridge.sql.columns.functions import PSEUDO_COLUMNS, WINDOW_BOUNDS
from lineage_bridge.sql.columns.relations import Columns, ProjectedColumns, QueryRelation, RecordKey, Scope
from lineage_bridge.sql.columns.resolver import Resolver
from lineage_bridge.sql.columns.values import LIKELY, NO_SOURCES, Subtype, Value, merged, source
from lineage_bridge.sql.ksqldb.column_names import SYNTHETIC_KEY, ColumnAliases, joined_name
from lineage_bridge.sql.ksqldb.join_keys import viable_keys
from lineage_bridge.sql.ksqldb.select import Select, equality, field_of, group_keys, path_of, unwrapped
from lineage_bridge.sql.statements.catalog import Table
from lineage_bridge.sql.text.cursor import parts
from lineage_bridge.sql.text.lowering import FIELD

_RECORD_COLUMNS = tuple(name for name in PSEUDO_COLUMNS if name not in WINDOW_BOUNDS)


@dataclass(frozen=True)
class _Projected:
    """A column of the result. `key`: its position in the key, None if it is not part of it; `sure`: whether its name is certain."""

    name: str
    value: Value
    key: int | None = None
    sure: bool = True


class _Projection:
    """The columns of a result in the order of the query, and the place of undefined columns among them."""

    def __init__(self) -> None:
        self.columns: list[_Projected] = []
        self.made = ProjectedColumns()

    def add(self, found: Iterable[_Projected], whole: QueryRelation | ProjectedColumns | None = None) -> None:
        """Add columns. If their source (`whole`) has undefined columns, these follow."""
        self.columns += found
        if whole is not None and whole.unknown is not None:
            self.made.columns = [(column.name, column.value) for column in self.columns]
            self.made.open(whole.unknown)

    def keys_first(self, *, windowed: bool) -> ProjectedColumns:
        """The columns in the order of the result: those of the key, then the others. `windowed`: the key contains a time window."""
        made, columns = self.made, self.columns
        keys = sorted((column for column in columns if column.key is not None), key=lambda column: column.key or 0)
        if made.gap is not None:
            first, last = (at + sum(column.key is not None for column in columns[at:]) for at in made.gap)
            made.gap = (first, last)
        ordered = [*keys, *(column for column in columns if column.key is None)]
        made.columns = [(column.name, column.value) for column in ordered]
        made.sure = all(column.sure for column in columns)
        made.key = RecordKey(tuple(column.name for column in keys), windowed)
        return made


class KsqldbResolver(Resolver):
    """Resolves queries of ksqlDB to their columns."""

    def record_columns(self, table: Table) -> Columns:
        """The hidden column ROWKEY, by which older versions of ksqlDB name the record's key. Its value comes from the declared key
        columns.
        """
        keys = [source(table.name, column, LIKELY) for column in table.keys] or [source(table.name, SYNTHETIC_KEY, LIKELY)]
        return ((SYNTHETIC_KEY, merged(keys)),)

    def projections(self, node: exp.Select, here: Scope, ctes: Ctes) -> ProjectedColumns:
        """Resolve the SELECT list of a query to columns, with the key first."""
        sources = [(name[-1], relation) for name, relation in here.relations if relation.columns or relation.unknown]
        select = Select(node, here, ctes, sources)
        self._find_key(select)
        found = _Projection()
        for item in node.expressions:
            bare = unwrapped(item.this if isinstance(item, exp.Alias) else item)
            if bare.is_star and isinstance(bare, exp.Star | exp.Column):
                self._add_star(found, select, bare)
            elif field_of(bare) == "*":
                fields = self._all_fields(bare, here, ctes)
                found.add((_Projected(name, value) for name, value in fields.columns), fields)
            else:
                found.add([self._projected(select, bare, item.alias if isinstance(item, exp.Alias) else "")])
        grouped = node.args.get("group") is not None
        inherits = not grouped and bool(sources) and sources[0][1].key.windowed
        return found.keys_first(windowed=self.query.windowed or inherits)

    def _all_fields(self, bare: exp.Expr, here: Scope, ctes: Ctes) -> ProjectedColumns:
        """The columns that `struct->*` selects: all fields of a struct."""
        found = ProjectedColumns()
        path = path_of(bare)
        if path:
            self.add_fields(found, [name.removeprefix(FIELD) for name in path[:-1]], bare, here)
        else:
            part = self.value(bare, here, ctes).through(Subtype.TRANSFORMATION).doubted(LIKELY)
            found.open(lambda _: part)
        return found

    def _projected(self, select: Select, bare: exp.Expr, alias: str) -> _Projected:
        value = self.value(bare, select.scope, select.ctes)
        name, sure = (alias, True) if alias else _name(select, bare)
        return _Projected(name, value if sure else value.doubted(LIKELY), select.key_of(bare), sure)

    def _add_star(self, found: _Projection, select: Select, star: exp.Expr) -> None:
        named = star.parts[0].name if isinstance(star, exp.Column) else ""
        chosen = [(name, relation) for name, relation in select.sources if not named or name == named]
        if named and not chosen:
            self.fault(f"no source of this query is called '{named}'", star)
        if select.synthetic and not named:
            found.add([_Projected(select.synthetic, self._synthetic_value(select), 0)])
        for name, relation in chosen:
            found.add((_starred(select, name, *item) for item in _star_columns(select, relation)), relation)
        found.add(_Projected(name, value, at) for at, (name, value) in enumerate(select.added))

    def _find_key(self, select: Select) -> None:
        """Determine the key of the result: what the query groups or partitions by, else what it joins on, else the key of its source."""
        group = select.node.args.get("group")
        if group is not None:
            keys = group_keys(group)
            select.keys = [select.text(key) for key in keys]
            select.has_expressions = not all(map(path_of, keys))
        elif self.query.partition_by:
            self._partition(select)
        elif select.is_join:
            self._join_key(select)
        elif select.sources:
            name, relation = select.sources[0]
            select.keys = [f"{name}.{column}" for column in relation.key.columns]

    def _partition(self, select: Select) -> None:
        """Take the key from PARTITION BY. An expression becomes an additional column, which `*` selects; NULL gives no key."""
        select.repartitioned = True
        named = ((name, column) for name, relation in select.sources for column, _ in relation.columns)
        aliases = ColumnAliases(joined_name(*column) if select.is_join else column[1] for column in named)
        for tokens in parts(self.query.partition_by):
            key = unwrapped(self.expression_of(tokens))
            if isinstance(key, exp.Null):
                continue
            select.keys.append(select.text(key))
            field, path = field_of(key), path_of(key)
            select.has_expressions |= not path
            if field or not path or (path[-1] in PSEUDO_COLUMNS and not select.is_join):
                value = self.value(key, select.scope, select.ctes)
                name = aliases.field(field) if field else path[-1] if path else aliases.unnamed()
                select.added.append((name, value))

    def _join_key(self, select: Select) -> None:
        """Take the key from the joins: the selected column that equals the key of the last join, or a synthetic key column."""
        conditions = list(select.conditions())
        if len(conditions) != len(select.sources) - 1:
            return
        first, relation = select.sources[0]
        side = conditions[0].left if first in conditions[0].left.sources else conditions[0].right
        own = [(first, column) for column in relation.key.columns]
        tables = all(source.key.changelog for _, source in select.sources)
        if own and tables and len(conditions) == 1 and not conditions[0].full and own != [side.column]:
            # The rows of a foreign-key join of two tables are those of the left one.
            select.keys = [".".join(column) for column in own]
            return
        viable = viable_keys(first, conditions)
        if viable:
            select.keys = [".".join(next((column for column in viable if select.contains(column)), viable[0]))]
            return
        select.synthetic = select.aliases.synthetic_key()
        select.keys = [select.synthetic]
        hidden = ((select.synthetic, self._synthetic_value(select)),)
        select.scope.relations.insert(0, (("",), QueryRelation(hidden=hidden)))

    def _synthetic_value(self, select: Select) -> Value:
        """The value of a synthetic key, which comes from both sides of the last join."""
        on = equality(select.node.args["joins"][-1])
        sides = [] if on is None else [self.value(side, select.scope, select.ctes) for side in (on.this, on.expression)]
        return merged(sides).through(Subtype.TRANSFORMATION)


def _name(select: Select, bare: exp.Expr) -> tuple[str, bool]:
    """The name of a selected expression that has no alias, and whether the name is certain."""
    field = field_of(bare)
    if field:
        return select.aliases.field(field), True
    path = path_of(bare)
    if not path:
        return select.aliases.unnamed(), True
    column = path[-1]
    owners = select.sources_of(column)
    source = path[0] if len(path) > 1 else owners[0] if len(owners) == 1 else ""
    if not select.is_join or not source:
        return column, True
    others = [name for name, relation in select.sources if name != source and relation.unknown is not None]
    clashes = any(owner != source for owner in owners) or any((name, column) in select.mentioned for name in others)
    if clashes or column in _RECORD_COLUMNS or (column == SYNTHETIC_KEY and not owners):
        return joined_name(source, column), True
    return column, not others or len(path) == 1


def _starred(select: Select, source: str, column: str, value: Value) -> _Projected:
    key = select.key_at(f"{source}.{column}")
    return _Projected(joined_name(source, column) if select.is_join else column, value, key)


def _star_columns(select: Select, relation: QueryRelation) -> Iterator[tuple[str, Value]]:
    """The columns of one source in the order in which `*` selects them: the key first, but last after PARTITION BY."""
    keys = [item for item in relation.columns if item[0] in relation.key.columns]
    values = [item for item in relation.columns if item[0] not in relation.key.columns]
    bounds = [(name, NO_SOURCES) for name in WINDOW_BOUNDS] if relation.key.windowed and select.is_join else []
    if not select.repartitioned:
        return iter([*keys, *bounds, *values])
    records = [(name, NO_SOURCES) for name in _RECORD_COLUMNS] if select.is_join else []
    return iter([*values, *records, *keys, *bounds])
