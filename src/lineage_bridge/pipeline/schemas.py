"""The schemas of all data frames that pass through Spark."""

from collections.abc import Iterable

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.pandas.types import to_arrow_schema
from pyspark.sql.types import BinaryType, IntegerType, LongType, StringType, StructField, StructType

RECORDS = StructType(
    [
        StructField("source", StringType(), False),
        StructField("partition", IntegerType(), False),
        StructField("start", LongType(), False),
        StructField("end", LongType(), False),
        StructField("offset", LongType(), False),
        StructField("kind", IntegerType(), False),
        StructField("event", BinaryType(), False),
        StructField("arrival", LongType(), False),
        StructField("channel", StringType(), False),
        StructField("principal", StringType(), False),
        StructField("note", BinaryType(), False),
        StructField("body", BinaryType(), False),
    ]
)
"""One row per log record. `start` and `end` are the offset range of (source, partition) that the row's Spark partition covers.

Times are UTC microseconds.
"""

OFFSET_RANGES = StructType(RECORDS.fields[:4])
"""One row per offset range: the records of (source, partition) with offsets in [start, end)."""

FACTS = StructType([StructField("relation", StringType(), False), StructField("rows", BinaryType(), False)])
"""One row per relation and Spark partition: the merged rows as a MessagePack array of arrays. The relation RANGE has their offsets."""

FACTS_ARROW = pa.schema([pa.field("relation", pa.string(), False), pa.field("rows", pa.binary(), False)])

RANGE = "offset_range"
"""The name of a relation for internal use, which is not stored. Its rows: (source, partition, start, end, process id of the worker)."""


def partition_of_each(session: SparkSession, rows: Iterable[tuple[object, ...]], schema: StructType) -> DataFrame:
    """A data frame with a partition for each of these rows.

    They go to Java as Arrow batches. From a list of tuples, Spark would make them in Python workers, and start a daemon for these alone.
    """
    arrow = to_arrow_schema(schema)
    names = schema.names
    tables = [pa.Table.from_pylist([dict(zip(names, row, strict=True))], schema=arrow) for row in rows]
    frame: DataFrame = session.createDataFrame(pa.concat_tables(tables), schema)
    return frame
