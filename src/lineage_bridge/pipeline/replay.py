"""Replay: folds the whole log again, as Spark batches, into a new store.

The log is read in chunks. Each chunk is folded by the same step as in the stream, Spark merges its rows by key, and the driver applies the
result as one batch with its position. So memory use is limited by the chunk size, and the store always matches one offset of the log.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from operator import itemgetter
from pathlib import Path

from pyspark import StorageLevel
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812 - Spark's own custom

from lineage_bridge.config import DataFolder
from lineage_bridge.errors import CollisionError
from lineage_bridge.eventlog.archive.reader import ArchiveReader
from lineage_bridge.eventlog.reader import LogReader
from lineage_bridge.graph.merge_rules import Row
from lineage_bridge.graph.relations import RELATIONS
from lineage_bridge.pipeline.fold import Refused, collect, fold_ranges
from lineage_bridge.pipeline.merging import merge_rows, rows_of, unpack
from lineage_bridge.pipeline.schemas import OFFSET_RANGES, RANGE, partition_of_each
from lineage_bridge.pipeline.source import FORMAT, ArchiveRangeReader, LogRangeReader, LogSource
from lineage_bridge.ports.graph_store import Batch, Budget, GraphStore
from lineage_bridge.ports.log import LOG_SOURCE, RangeReader

ALL = Budget(2**62)
"""No limit: a new store derives everything with each batch."""


@dataclass(frozen=True)
class Chunk:
    """How much of the log is folded at once, in bytes and records, and the size of the parts that are read in parallel."""

    limit_bytes: int = 128 * 1024 * 1024
    limit_records: int = 60_000
    part_bytes: int = 8 * 1024 * 1024


@dataclass(frozen=True)
class Progress:
    """The progress of a replay: how many bytes of the log are in the store, and how many are not yet."""

    done: int
    left: int


def replay(
    session: SparkSession, folders: DataFolder, store: GraphStore, key: bytes, chunk: Chunk, on_progress: Callable[[Progress], None]
) -> None:
    """Fold the log and the archive into a new store up to their ends, including records that arrive meanwhile, and settle the store."""
    directory, archive = folders.log, ArchiveReader(folders.archive)
    session.dataSource.register(LogSource)
    log = LogReader(directory)
    start, done = store.position(LOG_SOURCE).get(0, 0), 0
    while (durable := log.durable_end()) > start:
        end = log.cut(start, chunk.limit_bytes, chunk.limit_records)
        size = log.size_between(start, end)
        _apply(store, _read(session, directory, start, end, max(1, size // chunk.part_bytes)), LogRangeReader(directory), key)
        start, done = end, done + size
        on_progress(Progress(done, log.size_between(end, max(end, durable)) + archive.disk_bytes()))
    for of in archive.partitions():
        begin, end = store.position(of.source).get(of.partition, 0), archive.end(of.source, of.partition)
        for first, stop in archive.split(of.source, of.partition, begin, end, chunk.limit_bytes):
            parts = archive.split(of.source, of.partition, first, stop, chunk.part_bytes)
            rows = partition_of_each(session, [(of.source, of.partition, *part) for part in parts], OFFSET_RANGES)
            _apply(store, rows, ArchiveRangeReader(folders.archive), key)
            done += archive.size_between(of.source, of.partition, first, stop)
            on_progress(Progress(done, max(0, log.disk_bytes() + archive.disk_bytes() - done)))
    while store.settle(ALL):
        pass


def _read(session: SparkSession, directory: Path, start: int, end: int, parts: int) -> DataFrame:
    reader = session.read.format(FORMAT).option("directory", str(directory)).option("start", str(start)).option("end", str(end))
    return reader.option("parts", str(max(parts, session.sparkContext.defaultParallelism))).load()


def _apply(store: GraphStore, ranges: DataFrame, read: RangeReader, key: bytes) -> None:
    """Fold and apply one chunk. If a name has the same id as another name, the name is refused, and its events are put into quarantine."""
    refused: Refused = frozenset()
    while True:
        try:
            store.apply(merged_batch(ranges.transform(fold_ranges, read=read, key=key, refused=refused)), ALL)
        except CollisionError as error:
            refused |= frozenset(error.names)
            continue
        return


def merged_batch(facts: DataFrame) -> Batch:
    """FACTS as one batch, each relation merged by key over all partitions. Runs a Spark job for the fold and one for each relation."""
    persisted = facts.persist(StorageLevel.DISK_ONLY)
    try:
        covered, _ = collect(persisted.where(F.col("relation") == RANGE))
        return Batch(covered.ranges, dict(_relations(persisted)))
    finally:
        persisted.unpersist()


def _relations(facts: DataFrame) -> Iterator[tuple[str, list[Row]]]:
    names = {name for (name,) in facts.select("relation").distinct().collect()}
    for relation in RELATIONS:
        if relation.name in names:
            rows = rows_of(facts.transform(unpack, relation=relation).transform(merge_rows, relation=relation))
            yield relation.name, sorted(rows, key=itemgetter(slice(relation.key_size)))
