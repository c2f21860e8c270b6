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

FRAMES_ARROW = pa.schema(
    [
        pa.field("source", pa.string(), False),
        pa.field("part", pa.int32(), False),
        pa.field("start", pa.int64(), False),
        pa.field("end", pa.int64(), False),
        pa.field("place", pa.int64(), False),
        pa.field("kind", pa.int32(), False),
        pa.field("event", pa.binary(), False),
        pa.field("arrival", pa.int64(), False),
        pa.field("channel", pa.string(), False),
        pa.field("principal", pa.string(), False),
        pa.field("note", pa.binary(), False),
        pa.field("body", pa.binary(), False),
    ]
)

FACTS = StructType([StructField("relation", StringType(), False), StructField("rows", BinaryType(), False)])
"""One row per relation and Spark partition: the merged rows as a MessagePack array of arrays. The relation SPAN tells what they cover."""

FACTS_ARROW = pa.schema([pa.field("relation", pa.string(), False), pa.field("rows", pa.binary(), False)])

SPAN = "span"
"""Rows (source, part, start, end, process id of the worker)."""
