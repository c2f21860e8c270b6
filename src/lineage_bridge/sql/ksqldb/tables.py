"""Derives the columns and keys of ksqlDB streams and tables from the statements that create or fill them."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from lineage_bridge.sql.columns.relations import QueryRelation
from lineage_bridge.sql.columns.values import CERTAIN, LIKELY, NO_SOURCES, Subtype, Value
from lineage_bridge.sql.ksqldb.column_names import SYNTHETIC_KEY
from lineage_bridge.sql.statements.catalog import Catalog, ColumnKind, Table, TableColumn
from lineage_bridge.sql.statements.datasets import KAFKA_TOPIC
from lineage_bridge.sql.statements.statement_types import DefineTable

_REGISTERED = frozenset({"AVRO", "PROTOBUF", "JSON_SR"})
"""The formats whose schemas are in a registry."""


def declared_table(statement: DefineTable) -> Table:
    """The stream or table that a CREATE without a query defines. Its key columns come first, its header columns last."""
    columns, keys = statement.columns, statement.keys
    if _takes_key_of_the_registry(statement):
        columns, keys = [TableColumn(SYNTHETIC_KEY), *(columns or ())], (SYNTHETIC_KEY,)
    ordered = None if columns is None else [*_ordered(columns, keys)]
    return Table(
        statement.name,
        ordered,
        statement.options,
        keys,
        open=ordered is not None and _takes_columns_of_the_registry(statement),
        changelog=not statement.is_stream,
        windowed="window_type" in statement.options,
    )


def _ordered(columns: Sequence[TableColumn], keys: Sequence[str]) -> Sequence[TableColumn]:
    return sorted(columns, key=lambda column: 0 if column.name in keys else 2 if column.kind is ColumnKind.VIRTUAL else 1)


def _takes_columns_of_the_registry(statement: DefineTable) -> bool:
    """Whether the schema registry adds columns of the value to those that the statement lists."""
    options = statement.options
    values = [column for column in statement.columns or () if column.name not in statement.keys and column.kind is not ColumnKind.VIRTUAL]
    if "value_schema_id" in options or "key_schema_id" in options:
        return True
    return not values and _format(options, "value_format") in {*_REGISTERED, ""}


def _takes_key_of_the_registry(statement: DefineTable) -> bool:
    """Whether the key is the single column ROWKEY, whose type the statement does not state but the schema registry has."""
    return not statement.keys and "key_schema_id" not in statement.options and _format(statement.options, "key_format") in _REGISTERED


def _format(options: Mapping[str, str], kind: str) -> str:
    return (options.get(kind) or options.get("format") or "").upper()


def filled_table(statement: DefineTable, relation: QueryRelation, catalog: Catalog) -> Table:
    """The stream or table that a query creates and fills."""
    return Table(
        statement.name,
        [_typed_column(name, value, catalog) for name, value in relation.columns],
        {KAFKA_TOPIC: statement.name[-1], **statement.options},
        relation.key.columns,
        open=relation.unknown is not None or not relation.sure,
        sure=CERTAIN if relation.sure else LIKELY,
        changelog=not statement.is_stream,
        windowed=relation.key.windowed,
    )


def _typed_column(name: str, value: Value, catalog: Catalog) -> TableColumn:
    """A column of a query's result. A column that is copied unchanged keeps the type of its source."""
    if len(value.direct) == 1:
        (((table, column), (subtype, _)),) = value.direct.items()
        if subtype is Subtype.IDENTITY:
            for known in catalog.table(table).columns or ():
                if known.name == column:
                    return TableColumn(name, type_tokens=known.type_tokens)
    return TableColumn(name)


def matched_columns(relation: QueryRelation, names: Sequence[str]) -> QueryRelation:
    """The columns that INSERT writes, under the names that they have in the target stream or table. ksqlDB requires equal names.

    Columns whose names differ are matched by position, with a lower confidence.
    """
    given = dict(relation.columns)
    unknown = relation.unknown
    if unknown is not None:
        return replace(relation, columns=tuple((name, given.get(name) or unknown(name)) for name in names), unknown=None, gap=None)
    spare = iter([value for name, value in relation.columns if name not in names])
    found = ((name, given[name] if name in given else next(spare, NO_SOURCES).doubted(LIKELY)) for name in names)
    return replace(relation, columns=tuple(found))
