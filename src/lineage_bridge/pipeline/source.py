"""The event log as a source of Spark: a stream that caps its own batches, and a batch between two places.

It gives stretches: who folds one reads its frames.

Spark 4.1 asks a Python source only for its newest offset, without a limit, so the reader remembers what it planned last and offers at most
one batch beyond it. It begins where the store is: Spark's checkpoint decides nothing.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import cast

from pyspark.sql.datasource import DataSource, DataSourceReader, DataSourceStreamReader, InputPartition
from pyspark.sql.types import StructType

from lineage_bridge.eventlog.reader import LogReader
from lineage_bridge.graph.log_record import Carried
from lineage_bridge.pipeline.schemas import STRETCHES
from lineage_bridge.ports.log import LOG_SOURCE

FORMAT = "lineage_bridge_log"


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
        """STRETCHES."""
        return STRETCHES

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

    def read(self, partition: InputPartition) -> Iterator[tuple[str, int, int, int]]:
        """The stretch itself."""
        yield as_row(partition)


class LogStreamReader(DataSourceStreamReader):
    """Plans in one long-lived Python process."""

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

    def read(self, partition: InputPartition) -> Iterator[tuple[str, int, int, int]]:
        """The stretch itself."""
        yield as_row(partition)


def as_row(partition: InputPartition) -> tuple[str, int, int, int]:
    """A stretch as one row of STRETCHES."""
    stretch = cast("Stretch", partition)
    return LOG_SOURCE, 0, stretch.start, stretch.end


class LogFrames:
    """The frames of stretches of the log in `directory`, as the fold takes them. Cheap to make and safe to pickle."""

    def __init__(self, directory: Path) -> None:
        self.log = LogReader(directory)

    def __call__(self, start: int, end: int) -> Iterator[Carried]:
        """The frames from `start` up to `end`."""
        for place, f in self.log.read(start, end):
            yield Carried(LOG_SOURCE, 0, place, int(f.kind), f.event_id, f.arrival_us, f.channel, f.principal, f.note, f.body)
