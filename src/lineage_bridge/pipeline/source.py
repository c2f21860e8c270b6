"""The event log as a Spark data source: a stream that limits its own batches, and a batch over an offset range.

Its rows are offset ranges, not records: the worker that folds a range reads the records itself.

Spark 4.1 asks a Python source only for its newest offset, without a limit. So the reader remembers the last offset that it planned, and
returns an offset at most one batch later. It starts at the store's position and ignores Spark's checkpoint.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import cast

from pyspark.sql.datasource import DataSource, DataSourceReader, DataSourceStreamReader, InputPartition
from pyspark.sql.types import StructType

from lineage_bridge.eventlog.archive.reader import ArchiveReader
from lineage_bridge.eventlog.reader import LogReader
from lineage_bridge.graph.log_record import StoredRecord
from lineage_bridge.pipeline.schemas import OFFSET_RANGES
from lineage_bridge.ports.log import LOG_SOURCE

FORMAT = "lineage_bridge_log"


class RangePartition(InputPartition):
    """A partition in Spark's sense: it reads one offset range."""

    def __init__(self, start: int, end: int) -> None:
        self.start, self.end = start, end


class LogSource(DataSource):
    """The event log as a data source of Spark. Options: directory, start (an offset), parts (how many Spark partitions a batch has).

    A stream also has limit_bytes and limit_records, for each of its micro-batches; a batch also has end (an offset).
    """

    @classmethod
    def name(cls) -> str:
        """The name under which Spark knows the data source."""
        return FORMAT

    def schema(self) -> StructType:
        """The schema of the rows, which is OFFSET_RANGES."""
        return OFFSET_RANGES

    def reader(self, schema: StructType) -> "LogBatchReader":  # noqa: ARG002 - Spark's argument
        """Create a reader of the records from `start` to `end`."""
        options = self.options
        return LogBatchReader(options["directory"], int(options["start"]), int(options["end"]), int(options["parts"]))

    def streamReader(self, schema: StructType) -> "LogStreamReader":  # noqa: N802, ARG002 - Spark's name and argument
        """Create a stream reader that begins at `start`."""
        options = self.options
        return LogStreamReader(
            options["directory"],
            int(options["start"]),
            int(options["limit_bytes"]),
            int(options["limit_records"]),
            int(options["parts"]),
        )


class LogBatchReader(DataSourceReader):
    """Plans a batch: splits an offset range into parts of similar size."""

    def __init__(self, directory: str, start: int, end: int, parts: int) -> None:
        self.log, self.start, self.end, self.parts = LogReader(directory), start, end, parts

    def partitions(self) -> list[InputPartition]:
        """Return adjacent ranges that cover the offset range, each with at least one record."""
        return [RangePartition(*part) for part in self.log.split(self.start, self.end, self.parts)]

    def read(self, partition: InputPartition) -> Iterator[tuple[str, int, int, int]]:
        """Yield the only row of a partition, in the form of OFFSET_RANGES."""
        yield as_row(partition)


class LogStreamReader(DataSourceStreamReader):
    """Plans the micro-batches of a stream. It lives in one long-lived Python process."""

    def __init__(self, directory: str, start: int, limit_bytes: int, limit_records: int, parts: int) -> None:
        self.log = LogReader(directory)
        self.start, self.planned = start, start
        self.limit_bytes, self.limit_records, self.parts = limit_bytes, limit_records, parts

    def initialOffset(self) -> dict[str, int]:  # noqa: N802 - Spark's name
        """The offset at which the stream begins: the store's position."""
        return {"offset": self.start}

    def latestOffset(self) -> dict[str, int]:  # noqa: N802 - Spark's name
        """The offset at which the next micro-batch ends. All records before it are durable, and the batch is within the limits."""
        if self.log.durable_end() > self.planned:
            self.planned = max(self.planned, self.log.cut(self.planned, self.limit_bytes, self.limit_records))
        return {"offset": self.planned}

    def partitions(self, start: dict[str, int], end: dict[str, int]) -> list[InputPartition]:
        """Adjacent ranges of similar size that cover the micro-batch, each with at least one record."""
        self.planned = max(self.planned, end["offset"])
        return [RangePartition(*part) for part in self.log.split(start["offset"], end["offset"], self.parts)]

    def read(self, partition: InputPartition) -> Iterator[tuple[str, int, int, int]]:
        """Yield the only row of a partition, in the form of OFFSET_RANGES."""
        yield as_row(partition)


def as_row(partition: InputPartition) -> tuple[str, int, int, int]:
    """Convert a partition to a row of OFFSET_RANGES."""
    offsets = cast("RangePartition", partition)
    return LOG_SOURCE, 0, offsets.start, offsets.end


class LogRangeReader:
    """Reads offset ranges of the log in `directory` for the fold. It costs little to create, and can be pickled."""

    def __init__(self, directory: Path) -> None:
        self.log = LogReader(directory)

    def __call__(self, source: str, partition: int, start: int, end: int) -> Iterator[StoredRecord]:
        """Yield the records from `start` up to, not including, `end`. The log has only one source and one partition."""
        for offset, record in self.log.read(start, end):
            yield StoredRecord(source, partition, offset, record)


class ArchiveRangeReader:
    """Reads ranges of the archive in `root` for the fold. It costs little to create, and can be pickled."""

    def __init__(self, root: Path) -> None:
        self.archive = ArchiveReader(root)

    def __call__(self, source: str, partition: int, start: int, end: int) -> Iterator[StoredRecord]:
        """Yield the records with addresses from `start` up to, not including, `end`."""
        return self.archive.read(source, partition, start, end)
