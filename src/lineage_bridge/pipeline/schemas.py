"""The schemas of the frames Spark moves, in one place."""

import pyarrow as pa
from pyspark.sql.types import BinaryType, IntegerType, LongType, StringType, StructField, StructType

FRAMES = StructType(
    [
        StructField("source", StringType(), False),
        StructField("part", IntegerType(), False),
        StructField("start", LongType(), False),
        StructField("end", LongType(), False),
        StructField("place", LongType(), False),
        StructField("kind", IntegerType(), False),
        StructField("event", BinaryType(), False),
        StructField("arrival", LongType(), False),
        StructField("channel", StringType(), False),
        StructField("principal", StringType(), False),
        StructField("note", BinaryType(), False),
        StructField("body", BinaryType(), False),
    ]
)
"""One row per frame of the log. `start` and `end` bound the stretch of (source, part) that its Spark partition covers.

Times are UTC microseconds.
"""

STRETCHES = StructType(FRAMES.fields[:4])
"""One row per stretch of a stream: the frames whose first byte lies in [start, end)."""

FACTS = StructType([StructField("relation", StringType(), False), StructField("rows", BinaryType(), False)])
"""One row per relation and Spark partition: the merged rows as a MessagePack array of arrays. The relation SPAN tells what they cover."""

FACTS_ARROW = pa.schema([pa.field("relation", pa.string(), False), pa.field("rows", pa.binary(), False)])

SPAN = "span"
"""Rows (source, part, start, end, process id of the worker)."""
