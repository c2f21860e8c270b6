"""The stream: from the event log to the store, one Spark job and one store transaction for each micro-batch."""

import shutil
import threading
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
from lineage_bridge.pipeline.schemas import RECORDS
from lineage_bridge.pipeline.source import FORMAT, LogRangeReader, LogSource
from lineage_bridge.ports.graph_store import Batch, Budget, GraphStore
from lineage_bridge.ports.log import LOG_SOURCE


@dataclass(frozen=True)
class Limits:
    """Of one micro-batch: bytes and records read, rows spent on derived values beyond the batch's own; `trigger_ms` between batches."""

    batch_bytes: int = 48 * 1024 * 1024
    batch_records: int = 20_000
    derived_rows: int = 5_000
    trigger_ms: int = 250


class Serve:
    """Applies micro-batches to the store: while one is committed, the next is folded. For one query, and `close` after it.

    A failure ends the query: whoever runs it starts again at the store's position.
    """

    def __init__(
        self,
        store: GraphStore,
        key: bytes,
        limits: Limits,
        done: Callable[[Batch, list[int]], None],
    ) -> None:
        self.store, self.key, self.limits, self.done = store, key, limits, done
        self.turn = threading.Lock()
        self.writer = ThreadPoolExecutor(1, "writer")
        self.under_way: tuple[DataFrame, Future[None]] | None = None

    def start(self, session: SparkSession, directory: Path, scratch: Path) -> StreamingQuery:
        """Stream the log in `directory` from the store's position on. What an earlier query left in `scratch` is discarded."""
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
        """Fold one micro-batch, and have it committed with its position, after the one before.

        Returns before it is committed if the log holds more, since the next call tells a failure then; else when it is.
        """
        batch, workers = self._fold(ranges)
        self._finish()
        offsets = batch.ranges.get((LOG_SOURCE, 0))
        last = offsets is not None and offsets.end >= self.log.durable_end()
        self.under_way = ranges, self.writer.submit(self._commit, batch, workers)
        if last:
            self._finish()

    def settle(self) -> int:
        """Derive what batches left, between batches; how many keys are still left."""
        with self.turn:
            return self.store.settle(Budget(self.limits.derived_rows))

    def close(self) -> None:
        """Wait until the batch under way is committed or has failed; nothing is committed afterwards."""
        self.writer.shutdown()

    def _fold(self, ranges: DataFrame, refused: Refused = frozenset()) -> tuple[Batch, list[int]]:
        return collect(ranges.transform(fold_ranges, read=self.reader, key=self.key, refused=refused))

    def _commit(self, batch: Batch, workers: list[int]) -> None:
        with self.turn:
            self.store.apply(batch, Budget(self.limits.derived_rows))
        self.done(batch, workers)

    def _finish(self) -> None:
        """Wait for the batch under way. Where names share an id, fold it again with them refused: their events are kept aside.

        What was folded since stands: no fold depends on another.
        """
        refused: Refused = frozenset()
        while self.under_way:
            ranges, commit = self.under_way
            try:
                commit.result()
                self.under_way = None
            except CollisionError as error:
                refused |= frozenset(error.names)
                self.under_way = ranges, self.writer.submit(self._commit, *self._fold(ranges, refused))


def warm_up(session: SparkSession, key: bytes) -> None:
    """Run the fold once on one empty record, so that the first real batch finds its workers started."""
    row = (LOG_SOURCE, 0, 0, 0, 0, int(RecordKind.ERASED), bytes(16), 0, "", "", b"", b"")
    collect(session.createDataFrame([row], RECORDS).transform(fold_rows, key=key))
