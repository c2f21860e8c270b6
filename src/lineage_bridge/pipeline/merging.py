"""The merge rules as Spark aggregations, with the same results as in plain Python and in SQL.

For each group of columns, the greatest (or least) struct of its order columns and then its value columns wins. Spark compares structs from
left to right, text by its UTF-8 bytes and bytes as unsigned, as Python does. The order columns are never NULL and define a total order. The
value columns, which may be NULL, only decide between rows with equal order columns.
"""

from collections.abc import Callable, Iterable, Iterator

import msgspec
import pyarrow as pa
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812 - Spark's own custom
from pyspark.sql.types import BinaryType, DataType, LongType, StringType, StructField, StructType

from lineage_bridge.graph.merge_rules import MergeRule, Relation, Row, Type, groups_of
from lineage_bridge.graph.relations import BY_NAME

_SPARK: dict[Type, DataType] = {Type.INT: LongType(), Type.TEXT: StringType(), Type.BYTES: BinaryType()}
_ARROW = {Type.INT: pa.int64(), Type.TEXT: pa.string(), Type.BYTES: pa.binary()}
_ROWS = 10_000
_DECODER = msgspec.msgpack.Decoder(list[tuple[object, ...]])


def schema_of(relation: Relation) -> StructType:
    """The schema of a relation's rows: the columns as declared."""
    return StructType([StructField(c.name, _SPARK[c.type], c.optional) for c in relation.columns])


def merge_rows(rows: DataFrame, *, relation: Relation) -> DataFrame:
    """Merge the rows of one relation to one row per key. Input and output have the columns of `schema_of`."""
    chosen = [*_simple(relation), *_chosen(relation)]
    key = list(relation.key)
    merged = rows.groupBy(*key).agg(*chosen) if chosen else rows.dropDuplicates(key)
    return merged.select(*(_output(relation, name) for name in relation.names))


def _simple(relation: Relation) -> list[Column]:
    """The aggregations of columns that are merged on their own. A SAME column has one value per key, so MAX returns it."""
    by_rule = {MergeRule.MIN: F.min, MergeRule.MAX: F.max, MergeRule.SAME: F.max}
    return [by_rule[column.rule](column.name).alias(column.name) for column in relation.columns if column.rule in by_rule]


def _chosen(relation: Relation) -> list[Column]:
    """The aggregations of columns that are merged in groups. Each group is a struct, in which its order columns precede its values."""
    found = []
    for group, columns in groups_of(relation).items():
        order = [column.name for column in columns if column.ordinal]
        values = [column.name for column in columns if not column.ordinal]
        choose = F.max if columns[0].rule is MergeRule.GREATEST else F.min
        found.append(choose(F.struct(*order, *values)).alias(_group_name(group)))
    return found


def _output(relation: Relation, name: str) -> Column:
    (column,) = (column for column in relation.columns if column.name == name)
    return F.col(f"{_group_name(column.group)}.{name}").alias(name) if column.group else F.col(name)


def _group_name(group: str) -> str:
    """A name for the struct of a group; no relation has a column of this name."""
    return f"group {group}"


def unpack(facts: DataFrame, *, relation: Relation) -> DataFrame:
    """Extract the rows of one relation from a frame of FACTS, with the columns of `schema_of`."""
    return facts.where(F.col("relation") == relation.name).mapInArrow(_unpacker(relation.name), schema_of(relation))


def _unpacker(name: str) -> Callable[[Iterable[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    """Make the function that Spark's workers run for a relation."""

    def run(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        packed = (rows for batch in batches for rows in batch.column("rows").to_pylist())
        return unpacked(name, packed)

    return run


def unpacked(name: str, packed: Iterable[bytes]) -> Iterator[pa.RecordBatch]:
    """Convert the rows of a relation from MessagePack to Arrow."""
    schema = pa.schema([pa.field(c.name, _ARROW[c.type], c.optional) for c in BY_NAME[name].columns])
    for rows in map(_DECODER.decode, packed):
        for start in range(0, len(rows), _ROWS):
            columns = zip(*rows[start : start + _ROWS], strict=True)
            yield pa.RecordBatch.from_arrays([pa.array(c, f.type) for c, f in zip(columns, schema, strict=True)], schema=schema)


def rows_of(merged: DataFrame) -> list[Row]:
    """The rows of a frame, as tuples. Runs one Spark job."""
    table = merged.toArrow()
    return list(zip(*(column.to_pylist() for column in table.columns), strict=True)) if table.num_rows else []
