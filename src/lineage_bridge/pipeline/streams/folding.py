"""The step that Spark's workers run for rows of an input: validate events, write their records to a part file of the archive, and fold
them.
"""

import os
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

import msgspec
import pyarrow as pa
from pyspark.sql import DataFrame

from lineage_bridge.eventlog.archive.files import ArchivedPartition
from lineage_bridge.eventlog.archive.writer import PartFile
from lineage_bridge.eventlog.erasing.erased_ids import ErasedIds
from lineage_bridge.graph.log_record import RecordKind, StoredRecord, read_note
from lineage_bridge.graph.record_origin import RecordOrigin, StreamPartition, read_origin
from lineage_bridge.pipeline.fold import fold_partition
from lineage_bridge.pipeline.schemas import FACTS, FACTS_ARROW
from lineage_bridge.ports.streams import JudgeRow, StreamRow

PART = "archive_part"
"""The name of a relation for internal use, which is not stored. Its rows are `Part`s."""
_COLUMNS = ("stream", "partition", "offset", "value", "at_ms", "key", "headers")
Assigned = Mapping[tuple[str, str], ArchivedPartition]
"""Stream and partition of a row to the partition whose records are archived."""


class Part(msgspec.Struct, array_like=True):
    """The result of one task: a part file with the records of one partition, from `first` on, and counts of the rows it read.

    `is_cut`: there were more rows than a task may process. `last` is the origin of the last record, which arrived at `last_us`. `worker` is
    the process id. `filtered` is the number of events that were left out. `size` is the size of the rows in bytes, as in `TakenRows`.
    """

    source: str
    partition: int
    first: int
    path: str
    worker: int
    size: int = 0
    read: int = 0
    skipped: int = 0
    newest_ms: int | None = None
    accepted: int = 0
    rejected: dict[str, int] = {}
    last: RecordOrigin | None = None
    last_us: int = 0
    is_cut: bool = False
    filtered: int = 0


PARTS = msgspec.msgpack.Decoder(list[Part])


def fold_incoming(
    rows: DataFrame, *, assigned: Assigned, judge: JudgeRow, folder: Path, key: bytes, most_bytes: int, erased: ErasedIds
) -> DataFrame:
    """Fold rows as SparkRead describes them to FACTS, with the relation PART. `folder` is that of the batch's parts.

    Of events among the `erased`, only empty records are written. A task stops reading when its rows, or the records in them, have
    `most_bytes` bytes.
    """

    def run(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        writing = PartWriter(folder, judge, most_bytes, erased)
        yield fold_partition(writing.records(_rows(batches), assigned), (), key, frozenset())
        yield writing.finish()

    return rows.mapInArrow(run, FACTS)


class PartWriter:
    """Validates rows, and writes their records to part files, one for each partition. The first row is always accepted, and no row is
    accepted once there are `most_bytes` bytes.
    """

    def __init__(self, folder: Path, judge: JudgeRow, most_bytes: int, erased: ErasedIds) -> None:
        self.folder, self.judge, self.left, self.erased = folder, judge, most_bytes, erased
        self.parts: dict[tuple[str, str], tuple[Part, PartFile]] = {}

    def records(self, rows: Iterable[StreamRow], assigned: Assigned) -> Iterator[StoredRecord]:
        """Yield the records in these rows, and write each to its part file."""
        for row in rows:
            part, file = self._part(row, assigned)
            if self.left <= 0:
                part.is_cut = True
                return
            part.read += 1
            part.skipped += row.value is None
            if row.at_ms is not None:
                part.newest_ms = max(row.at_ms, part.newest_ms or row.at_ms)
            judged = self.judge(row)
            part.filtered += judged.filtered
            for record in self.erased.without(judged.records):
                origin = read_origin(record.note)
                if origin is None:
                    continue
                file.append(record)
                if record.kind != RecordKind.REJECTED:
                    part.accepted += 1
                else:
                    code = read_note(record.note).code
                    part.rejected[code] = part.rejected.get(code, 0) + 1
                part.last, part.last_us = origin, record.arrival_us
                yield StoredRecord(part.source, part.partition, origin.position.address, record)
            size = max(len(row.value or b""), judged.size)
            part.size += size
            self.left -= size

    def finish(self) -> pa.RecordBatch:
        """Make the parts durable, and return them as a row of FACTS."""
        for _, file in self.parts.values():
            file.close()
        packed = msgspec.msgpack.encode([part for part, _ in self.parts.values()])
        return pa.RecordBatch.from_arrays([pa.array([PART], pa.string()), pa.array([packed], pa.binary())], schema=FACTS_ARROW)

    def _part(self, row: StreamRow, assigned: Assigned) -> tuple[Part, PartFile]:
        at = row.where.stream, row.where.partition
        if at not in self.parts:
            file, of = PartFile(self.folder), assigned[at]
            self.parts[at] = Part(of.source, of.partition, row.offset, str(file.path), os.getpid()), file
        return self.parts[at]


def _rows(batches: Iterable[pa.RecordBatch]) -> Iterator[StreamRow]:
    for batch in batches:
        for stream, partition, offset, value, at_ms, key, headers in zip(
            *(batch.column(name).to_pylist() for name in _COLUMNS), strict=True
        ):
            kept = tuple((header["key"], header["value"]) for header in headers or ())
            yield StreamRow(StreamPartition(stream, "", partition), offset, value, at_ms, key, kept)
