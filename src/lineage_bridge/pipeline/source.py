"""The event log as a source of Spark: a stream that caps its own batches, and a batch between two places.

Spark 4.1 asks a Python source only for its newest offset, without a limit, so the reader remembers what it planned last and offers at most
one batch beyond it. It begins where the store is: Spark's checkpoint decides nothing.
"""

from collections.abc import Iterator
from itertools import islice
from typing import cast

import pyarrow as pa
from pyspark.sql.datasource import DataSource, DataSourceReader, DataSourceStreamReader, InputPartition
from pyspark.sql.types import StructType

from lineage_bridge.log.reader import LogReader
from lineage_bridge.pipeline.schemas import FRAMES, FRAMES_ARROW
from lineage_bridge.ports import LOG_SOURCE, Frame

FORMAT = "lineage_bridge_log"
ROWS = 1000
"""Frames in one Arrow batch."""


class Stretch(InputPartition):
    """The frames whose first byte lies in [start, end)."""

    def __init__(self, start: int, end: int) -> None:
        self.start, self.end = start, end


class LogSource(DataSource):
    """Options: directory, start (a place), parts (Spark partitions of a batch).

    A stream has limit_bytes and limit_frames of a batch, a batch its end.
    """

    @classmethod
    def name(cls) -> str:
        """The format's name."""
        return FORMAT

    def schema(self) -> StructType:
        """FRAMES."""
        return FRAMES

    def reader(self, schema: StructType) -> "LogBatchReader":  # noqa: ARG002 - Spark's argument
        """A reader from `start` to `end`."""
        options = self.options
        return LogBatchReader(options["directory"], int(options["start"]), int(options["end"]), int(options["parts"]))

    def streamReader(self, schema: StructType) -> "LogStreamReader":  # noqa: N802, ARG002 - Spark's name and argument
        """A reader from `start` on."""
        options = self.options
        return LogStreamReader(
            options["directory"],
            int(options["start"]),
            int(options["limit_bytes"]),
            int(options["limit_frames"]),
            int(options["parts"]),
        )


class LogBatchReader(DataSourceReader):
    """The frames between two places, in parts of similar size."""

    def __init__(self, directory: str, start: int, end: int, parts: int) -> None:
        self.log, self.start, self.end, self.parts = LogReader(directory), start, end, parts

    def partitions(self) -> list[InputPartition]:
        """Stretches that cover it, none without a frame."""
        return [Stretch(*stretch) for stretch in self.log.split(self.start, self.end, self.parts)]

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        """The frames of one stretch, as Arrow batches."""
        return read_stretch(self.log, cast("Stretch", partition))


class LogStreamReader(DataSourceStreamReader):
    """Plans in one long-lived Python process, reads in Spark's workers."""

    def __init__(self, directory: str, start: int, limit_bytes: int, limit_frames: int, parts: int) -> None:
        self.log = LogReader(directory)
        self.start, self.planned = start, start
        self.limit_bytes, self.limit_frames, self.parts = limit_bytes, limit_frames, parts

    def initialOffset(self) -> dict[str, int]:  # noqa: N802 - Spark's name
        """The store's position."""
        return {"place": self.start}

    def latestOffset(self) -> dict[str, int]:  # noqa: N802 - Spark's name
        """The end of the next batch: durable, and at most one limit beyond the last one planned."""
        if self.log.durable_end() > self.planned:
            self.planned = max(self.planned, self.log.cut(self.planned, self.limit_bytes, self.limit_frames))
        return {"place": self.planned}

    def partitions(self, start: dict[str, int], end: dict[str, int]) -> list[InputPartition]:
        """Stretches of similar size that cover the batch. A stretch always holds a frame."""
        self.planned = max(self.planned, end["place"])
        return [Stretch(*stretch) for stretch in self.log.split(start["place"], end["place"], self.parts)]

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        """The frames of one stretch, as Arrow batches."""
        return read_stretch(self.log, cast("Stretch", partition))


def read_stretch(log: LogReader, stretch: Stretch) -> Iterator[pa.RecordBatch]:
    """The frames of one stretch, as Arrow batches."""
    frames = log.read(stretch.start, stretch.end)
    while some := list(islice(frames, ROWS)):
        yield _arrow(stretch, some)


def _arrow(stretch: Stretch, frames: list[tuple[int, Frame]]) -> pa.RecordBatch:
    count = len(frames)
    columns = [
        [LOG_SOURCE] * count,
        [0] * count,
        [stretch.start] * count,
        [stretch.end] * count,
        [place for place, _ in frames],
        [int(frame.kind) for _, frame in frames],
        [frame.event_id for _, frame in frames],
        [frame.arrival_us for _, frame in frames],
        [frame.channel for _, frame in frames],
        [frame.principal for _, frame in frames],
        [frame.note for _, frame in frames],
        [frame.body for _, frame in frames],
    ]
    arrays = [pa.array(column, type=field.type) for column, field in zip(columns, FRAMES_ARROW, strict=True)]
    return pa.RecordBatch.from_arrays(arrays, schema=FRAMES_ARROW)
