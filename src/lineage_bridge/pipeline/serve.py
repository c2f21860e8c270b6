"""The stream from the event log to the store: one Spark job and one store transaction per micro-batch."""

import shutil
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.streaming.query import StreamingQuery

from lineage_bridge.errors import CollisionError
from lineage_bridge.eventlog.reader import LogReader
from lineage_bridge.graph.log_record import RecordKind
from lineage_bridge.pipeline.fold import Refused, collect, fold_ranges, fold_rows
from lineage_bridge.pipeline.schemas import RECORDS, partition_of_each
from lineage_bridge.pipeline.source import FORMAT, LogRangeReader, LogSource
from lineage_bridge.ports.graph_store import Batch, Budget, GraphStore
from lineage_bridge.ports.log import LOG_SOURCE
from lineage_bridge.tracing import span, traceparent


@dataclass(frozen=True)
class Limits:
    """The limits of a micro-batch: bytes, records, and how many rows of derived values from earlier batches may be computed with it.
    `trigger_ms`: the time between batches.
    """

    batch_bytes: int = 48 * 1024 * 1024
    batch_records: int = 20_000
    derived_rows: int = 5_000
    trigger_ms: int = 250


class Serve:
    """Applies micro-batches to the store. While one is committed, the next is folded. Use one instance per query, then `close` it.

    `done` is called after each commit with the batch, the workers that folded it, and the microseconds that its commit took.
    A failure ends the query; a new query continues at the store's position.
    """

    def __init__(
        self,
        store: GraphStore,
        key: bytes,
        limits: Limits,
        done: Callable[[Batch, list[int], int], None],
    ) -> None:
        self.store, self.key, self.limits, self.done = store, key, limits, done
        self.store_lock = threading.Lock()
        self.writer = ThreadPoolExecutor(1, "writer")
        self.under_way: tuple[DataFrame, Future[None]] | None = None

    def start(self, session: SparkSession, directory: Path, scratch: Path) -> StreamingQuery:
        """Stream the log in `directory` from the store's position on. Deletes the checkpoint of an earlier query in `scratch`."""
        checkpoint = scratch / "checkpoint"
        shutil.rmtree(checkpoint, ignore_errors=True)
        session.dataSource.register(LogSource)
        self.log = LogReader(directory)
        self.reader = LogRangeReader(directory)
        ranges = (
            session.readStream.format(FORMAT)
            .option("directory", str(directory))
            .option("start", str(self.store.position(LOG_SOURCE).get(0, 0)))
            .option("limit_bytes", str(self.limits.batch_bytes))
            .option("limit_records", str(self.limits.batch_records))
            .option("parts", str(session.sparkContext.defaultParallelism))
            .load()
        )
        writer = ranges.writeStream.queryName("serve").foreachBatch(self.apply).option("checkpointLocation", str(checkpoint))
        return writer.trigger(processingTime=f"{self.limits.trigger_ms} milliseconds").start()

    def apply(self, ranges: DataFrame, batch_id: int) -> None:  # noqa: ARG002 - the position tells batches apart
        """Fold one micro-batch, wait for the commit of the previous one, and start the commit of this one with its position.

        If the log has more records, `apply` returns before this commit ends, and the next call raises its failure, if there is one.
        Otherwise `apply` waits for the commit.
        """
        with span("fold batch") as folding:
            batch, workers = self._fold(ranges)
            offsets = batch.ranges.get((LOG_SOURCE, 0))
            if offsets is not None:
                folding.set({"lineage_bridge.offsets.start": offsets.start, "lineage_bridge.offsets.end": offsets.end})
            parent = traceparent()
        self._finish()
        last = offsets is not None and offsets.end >= self.log.durable_end()
        self.under_way = ranges, self.writer.submit(self.commit, batch, workers, parent)
        if last:
            self._finish()

    def settle(self) -> int:
        """Compute derived values that the batches left for later, between two commits. Returns how many keys are still to be derived."""
        with self.store_lock:
            return self.store.settle(Budget(self.limits.derived_rows))

    def check(self) -> None:
        """Raise the error with which a write to the store failed, if one did. May be called while a commit is under way."""
        self.store.check()

    def commit(self, batch: Batch, workers: list[int], parent: str = "") -> None:
        """Apply a batch with its position, and call `done`. `parent` is the span that folded it. Raises StoreError."""
        with span("commit batch", parent=parent), self.store_lock:
            started_ns = time.monotonic_ns()
            self.store.apply(batch, Budget(self.limits.derived_rows))
            self.done(batch, workers, (time.monotonic_ns() - started_ns) // 1000)

    def position(self, source: str) -> dict[int, int]:
        """The position at which the next batch of a source starts: the offset of each partition."""
        with self.store_lock:
            return self.store.position(source)

    def close(self) -> None:
        """Wait until the current batch is committed or has failed; nothing is committed afterwards."""
        self.writer.shutdown()

    def _fold(self, ranges: DataFrame, refused: Refused = frozenset()) -> tuple[Batch, list[int]]:
        return collect(ranges.transform(fold_ranges, read=self.reader, key=self.key, refused=refused))

    def _finish(self) -> None:
        """Wait for the current commit. If it fails because names share an id, fold the batch again with these names refused; their events
        are put into quarantine. Batches that were folded in the meantime remain valid, because no fold depends on another.
        """
        refused: Refused = frozenset()
        while self.under_way:
            ranges, commit = self.under_way
            try:
                commit.result()
                self.under_way = None
            except CollisionError as error:
                refused |= frozenset(error.names)
                self.under_way = ranges, self.writer.submit(self.commit, *self._fold(ranges, refused))


def warm_up(session: SparkSession, key: bytes) -> None:
    """Have each of Spark's local workers fold one empty record, so that they have started before the first real batch."""
    row = (LOG_SOURCE, 0, 0, 0, 0, int(RecordKind.ERASED), bytes(16), 0, "", "", b"", b"")
    rows = [row] * session.sparkContext.defaultParallelism
    collect(partition_of_each(session, rows, RECORDS).transform(fold_rows, key=key))
