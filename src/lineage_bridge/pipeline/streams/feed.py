"""Reads the ranges of records that inputs of the form `stream` have planned. Each batch is one Spark job and one store transaction; between
them, files are added to the archive.
"""

import logging
import threading
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path

from pyspark.sql import SparkSession

from lineage_bridge.errors import CollisionError, LineageBridgeError, PositionError, UnavailableError, UnreachableError
from lineage_bridge.eventlog.archive.files import ArchivedPartition
from lineage_bridge.eventlog.archive.progress import SavedProgress
from lineage_bridge.eventlog.archive.reader import ArchiveReader
from lineage_bridge.eventlog.archive.writer import ArchiveWriter
from lineage_bridge.eventlog.erasing.erased_ids import ErasedIds
from lineage_bridge.graph.log_record import OffsetRange
from lineage_bridge.graph.record_origin import EventPosition, StreamPartition
from lineage_bridge.model.sources import InputProgress
from lineage_bridge.pipeline.fold import Refused, collect, fold_ranges, gather
from lineage_bridge.pipeline.process import SPARK_ERRORS, gist, text_of
from lineage_bridge.pipeline.schemas import OFFSET_RANGES, partition_of_each
from lineage_bridge.pipeline.serve import Serve
from lineage_bridge.pipeline.source import ArchiveRangeReader
from lineage_bridge.pipeline.streams.folding import PART, PARTS, Part, fold_incoming
from lineage_bridge.ports.graph_store import Batch
from lineage_bridge.ports.streams import JudgeRow, SparkRead, StreamRange, TakenRows

CATCH_UP_BYTES = 8 << 20
BATCH_BYTES = 64 << 20
TASK_BYTES = 1 << 20
"""BATCH_BYTES: the maximum bytes of rows that all tasks of a batch hold together. TASK_BYTES: the bytes that each task may hold in any
case. Each task may hold one row more.
"""
_RANGES = ", ".join(f"{field.name} {field.dataType.simpleString()}" for field in OFFSET_RANGES)
_RESTARTS = "nothing to do: the pipeline restarts, folds what the archive has, and then reads on"
log = logging.getLogger(__name__)
Ranges = Mapping[ArchivedPartition, tuple[int, int]]


class SparkFeed:
    """Implements `ports.StreamFeed` over Spark, the archive in `root` and the store that `serve` writes. Thread-safe.

    If a batch cannot be committed, `failure` is the reason, and the process has to end. The archive may then have records that the store
    lacks; the next process folds these first. Until the process ends, all calls raise UnavailableError.
    """

    def __init__(
        self, session: SparkSession, serve: Serve, root: Path, key: bytes, erased: ErasedIds, batch_bytes: int = BATCH_BYTES
    ) -> None:
        self.batch_bytes, self.erased = batch_bytes, erased
        self.session, self.serve, self.root, self.key = session, serve, root, key
        self.archive, self.reader = ArchiveWriter(root), ArchiveReader(root)
        self.lock = threading.Lock()
        self.writer = ThreadPoolExecutor(1, "stream-writer")
        self.under_way: dict[str, Future[None]] = {}
        self.saved: dict[str, SavedProgress] = {}
        self.parallelism = session.sparkContext.defaultParallelism
        self.failure: Exception | None = None

    def close(self) -> None:
        """Wait for the commits that are under way, and save the counts."""
        self.writer.shutdown()
        for saved in self.saved.values():
            saved.save()

    def catch_up(self, stop: threading.Event) -> None:
        """Fold the archive's records that the store lacks, because the store is new or the process ended before a commit."""
        for of in self.reader.partitions():
            at, end = self.serve.position(of.source).get(of.partition, 0), self.archive.end(of)
            if at > end:
                log.error("the archive of %s, partition %d, ends at %d and lacks records that the graph has", of.source, of.partition, end)
            for start, stop_at in self.reader.split(of.source, of.partition, at, end, CATCH_UP_BYTES):
                if stop.is_set():
                    return
                self._commit({of: (start, stop_at)}, *self._refold({of: (start, stop_at)}, frozenset()))

    def positions(self, name: str) -> Mapping[StreamPartition, EventPosition]:
        """The positions at which reading an input continues."""
        self._check()
        return {of.where: EventPosition.at(self._at(of)) for of in self.reader.partitions() if of.input == name}

    def advance(self, name: str, positions: Mapping[StreamPartition, EventPosition]) -> None:
        """Store durably that partitions are read from these positions on."""
        self.finish(name)
        self._check()
        ends = {ArchivedPartition(name, where): position.address for where, position in positions.items()}
        ranges = {of: (self._at(of), end) for of, end in ends.items() if end > self._at(of) or not of.folder(self.root).exists()}
        if ranges:
            self._put(ranges, {})
            self._commit(ranges, Batch(_offsets(ranges), {}), [])

    def take(
        self, name: str, ranges: Sequence[StreamRange], read: SparkRead, judge: JudgeRow, still: Callable[[], bool]
    ) -> TakenRows | None:
        """Read, validate, archive and fold ranges of an input. Then wait for the commit of the previous batch, and begin that of
        this one.
        """
        self._check()
        assigned = {(given.where.stream, given.where.partition): ArchivedPartition(name, given.where) for given in ranges}
        with self.archive.parts() as folder:
            most = max(min(TASK_BYTES, self.batch_bytes), self.batch_bytes // max(len(ranges), self.parallelism))
            batch, parts, workers = self._fold(read, assigned, judge, folder, most)
            self.finish(name)
            if any(part.is_cut for part in parts):
                return _taken(parts, is_cut=True)
            if not still():
                return None
            planned = {ArchivedPartition(name, given.where): _addresses(given) for given in ranges}
            progress = self._progress(name)  # counts the files that are in the archive by now
            self._put(planned, parts)
        progress.count(parts, planned)
        self.under_way[name] = self.writer.submit(self._commit, planned, Batch(_offsets(planned), batch.rows), workers)
        return _taken(parts)

    def finish(self, name: str) -> None:
        """Wait for the commit that is under way. Raises StoreError, UnavailableError."""
        commit = self.under_way.pop(name, None)
        if commit is not None:
            commit.result()

    def progress(self, name: str) -> InputProgress:
        """The counts of an input's events in the archive; saves them from time to time."""
        saved = self._progress(name)
        saved.save()
        return saved.progress

    def _progress(self, name: str) -> SavedProgress:
        if name not in self.saved:
            self.saved[name] = SavedProgress(self.reader, name)
        return self.saved[name]

    def _at(self, of: ArchivedPartition) -> int:
        return self.serve.position(of.source).get(of.partition, 0)

    def _fold(
        self, read: SparkRead, assigned: Mapping[tuple[str, str], ArchivedPartition], judge: JudgeRow, folder: Path, most: int
    ) -> tuple[Batch, list[Part], list[int]]:
        """Read and fold the ranges. Raises UnreachableError if Spark cannot read them."""
        try:
            rows = self.session.read.format(read.format).options(**read.options).load().selectExpr(*read.columns)
            table = rows.transform(
                fold_incoming, assigned=assigned, judge=judge, folder=folder, key=self.key, most_bytes=most, erased=self.erased
            ).toArrow()
        except SPARK_ERRORS as error:
            raise UnreachableError(
                f"Spark cannot read: {gist(text_of(error))}", "see logs/spark.log in the data folder for the full error"
            ) from error
        packed = list(zip(table.column("relation").to_pylist(), table.column("rows").to_pylist(), strict=True))
        parts = [part for relation, some in packed if relation == PART for part in PARTS.decode(some)]
        batch, _ = gather((relation, some) for relation, some in packed if relation != PART)
        return batch, sorted(parts, key=lambda part: (part.source, part.partition, part.first)), sorted({part.worker for part in parts})

    def _put(self, ranges: Ranges, parts: Sequence[Part] | Mapping[str, object]) -> None:
        by_address: dict[tuple[str, int], list[Path]] = {}
        for part in parts:
            if isinstance(part, Part):
                by_address.setdefault((part.source, part.partition), []).append(Path(part.path))
        try:
            with self.lock:
                self._check_starts(ranges)
                self.archive.put(ranges, {of: by_address.get((of.source, of.partition), []) for of in ranges})
        except (OSError, PositionError) as error:
            # The next start folds what is in the archive already from the archive, so that nothing is read twice.
            self.failure = UnavailableError(
                f"the archive cannot be written: {error}", "the pipeline restarts at the last committed position"
            )
            raise self.failure from error

    def _check_starts(self, ranges: Ranges) -> None:
        for of, (start, _) in ranges.items():
            if start != (at := self._at(of)):
                raise PositionError(
                    f"records of {of.source}, partition {of.partition}, begin at {start}, but the next expected position is {at}",
                    "restart the pipeline, which reads from that position on",
                )

    def _check(self) -> None:
        """Raise UnavailableError after a failure."""
        if self.failure is not None:
            raise UnavailableError(f"the pipeline has to restart: {text_of(self.failure)}", _RESTARTS) from self.failure

    def _commit(self, ranges: Ranges, batch: Batch, workers: list[int]) -> None:
        """Commit a batch whose records are in the archive. Any error is kept as the failure, because the store now lacks them."""
        try:
            self._commit_folded(ranges, batch, workers)
        except LineageBridgeError as error:
            self.failure = error
            raise
        except Exception as error:
            self.failure = UnavailableError(f"what Spark read cannot be committed: {gist(text_of(error))}", _RESTARTS)
            raise self.failure from error

    def _commit_folded(self, ranges: Ranges, batch: Batch, workers: list[int]) -> None:
        """Commit a batch. If names share an id, fold its records again from the archive, and refuse these names."""
        refused: Refused = frozenset()
        while True:
            try:
                self.serve.commit(batch, workers)
            except CollisionError as error:  # noqa: PERF203 - each attempt by itself
                refused |= frozenset(error.names)
                batch, workers = self._refold(ranges, refused)
            else:
                return

    def _refold(self, ranges: Ranges, refused: Refused) -> tuple[Batch, list[int]]:
        rows = [(of.source, of.partition, start, end) for of, (start, end) in ranges.items()]
        frame = partition_of_each(self.session, rows, OFFSET_RANGES)
        return collect(frame.transform(fold_ranges, read=ArchiveRangeReader(self.root), key=self.key, refused=refused))


def _taken(parts: Sequence[Part], *, is_cut: bool = False) -> TakenRows:
    newest = max((part.newest_ms for part in parts if part.newest_ms is not None), default=None)
    sizes = (sum(part.read for part in parts), sum(part.skipped for part in parts), sum(part.size for part in parts))
    return TakenRows(*sizes, newest, is_cut, sum(part.filtered for part in parts))


def _addresses(given: StreamRange) -> tuple[int, int]:
    return EventPosition(given.start, 0).address, EventPosition(given.end, 0).address


def _offsets(ranges: Ranges) -> dict[tuple[str, int], OffsetRange]:
    return {(of.source, of.partition): OffsetRange(*given) for of, given in ranges.items()}
