"""The fold as a Spark step: turns log records into merged rows, per Spark partition, in Spark's Python workers."""

import gc
import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from itertools import chain

import msgspec
import pyarrow as pa
from pyspark.sql import DataFrame

from lineage_bridge.errors import StoreError
from lineage_bridge.graph.facts.fold import flat, fold_records
from lineage_bridge.graph.facts.names import Names
from lineage_bridge.graph.log_record import LogRecord, OffsetRange, StoredRecord
from lineage_bridge.graph.merge_rules import Row
from lineage_bridge.pipeline.schemas import FACTS, FACTS_ARROW, RANGE
from lineage_bridge.ports.graph_store import Batch
from lineage_bridge.ports.log import RangeReader

Refused = frozenset[tuple[int, str, str]]
RangeRow = tuple[str, int, int, int]
_ADDRESS = ("source", "partition", "offset")
_RECORD = ("kind", "event", "arrival", "channel", "principal", "note", "body")
_NAMES: dict[tuple[bytes, Refused], Names] = {}
_ROWS = msgspec.msgpack.Decoder(list[tuple[object, ...]])


def fold_rows(records: DataFrame, *, key: bytes, refused: Refused = frozenset()) -> DataFrame:
    """Fold a frame of RECORDS to FACTS. `key` is the installation's key; `refused` are names that share their node id with another name."""

    def run(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        ranges: set[RangeRow] = set()
        yield fold_partition(_noting_ranges(batches, ranges), ranges, key, refused)

    return records.mapInArrow(run, FACTS)


def fold_ranges(ranges: DataFrame, *, read: RangeReader, key: bytes, refused: Refused = frozenset()) -> DataFrame:
    """Fold OFFSET_RANGES to FACTS. The worker reads the records itself, so they do not pass through Spark."""

    def run(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        rows = {row for batch in batches for row in _ranges_of(batch)}
        yield fold_partition(chain.from_iterable(read(*row) for row in sorted(rows)), rows, key, refused)

    return ranges.mapInArrow(run, FACTS)


def fold_partition(records: Iterable[StoredRecord], ranges: Iterable[RangeRow], key: bytes, refused: Refused) -> pa.RecordBatch:
    """Fold the records of `ranges` to one Arrow batch of FACTS. Runs in Spark's workers."""
    with _no_collection():
        rows = dict(flat(fold_records(records, _names(key, refused))))
        packed = {RANGE: [(*row, os.getpid()) for row in sorted(ranges)], **rows}
        texts = [msgspec.msgpack.encode(some) for some in packed.values()]
        return pa.RecordBatch.from_arrays([pa.array(list(packed), pa.string()), pa.array(texts, pa.binary())], schema=FACTS_ARROW)


@contextmanager
def _no_collection() -> Iterator[None]:
    """Disable garbage collection within the block. All objects of a fold live until they are packed, and scanning them would cost a tenth
    of the fold's time.
    """
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


def _names(key: bytes, refused: Refused) -> Names:
    """The names and ids that a worker knows. They are cached across batches, because they depend only on the key and the refused names."""
    if (key, refused) not in _NAMES:
        _NAMES.clear()
        _NAMES[key, refused] = Names(key, refused)
    return _NAMES[key, refused]


def _ranges_of(batch: pa.RecordBatch) -> Iterator[RangeRow]:
    return zip(*(batch.column(name).to_pylist() for name in ("source", "partition", "start", "end")), strict=True)


def _noting_ranges(batches: Iterable[pa.RecordBatch], ranges: set[RangeRow]) -> Iterator[StoredRecord]:
    """Yield the records of the batches, and add the offset range of each batch to `ranges`."""
    for batch in batches:
        ranges.update(_ranges_of(batch))
        yield from _records_of(batch)


def _records_of(batch: pa.RecordBatch) -> Iterator[StoredRecord]:
    records = map(LogRecord, *(batch.column(name).to_pylist() for name in _RECORD))
    return map(StoredRecord, *(batch.column(name).to_pylist() for name in _ADDRESS), records)


def collect(facts: DataFrame) -> tuple[Batch, list[int]]:
    """Collect FACTS into one batch for the store. Also returns the process ids of the workers that made it. Runs one Spark job."""
    table = facts.toArrow()
    return gather(zip(table.column("relation").to_pylist(), table.column("rows").to_pylist(), strict=True))


def gather(packed: Iterable[tuple[str, bytes]]) -> tuple[Batch, list[int]]:
    """Combine the rows of all Spark partitions into one batch. Also returns the workers' process ids. Raises StoreError if the offset
    ranges leave a gap.
    """
    rows: dict[str, list[Row]] = {}
    for relation, some in packed:
        rows.setdefault(relation, []).extend(_ROWS.decode(some))
    ranges: dict[tuple[str, int], OffsetRange] = {}
    workers = set()
    for source, partition, start, end, worker in sorted(rows.pop(RANGE, [])):
        covered = ranges.get((source, partition))
        if covered and covered.end != start:
            raise StoreError(
                f"internal error: a batch lacks the offsets {covered.end} to {start} of {source}/{partition}",
                "restart the pipeline, which reads them again; if it repeats, report it",
            )
        ranges[source, partition] = OffsetRange(covered.start if covered else start, end)
        workers.add(worker)
    return Batch(ranges, rows), sorted(workers)
