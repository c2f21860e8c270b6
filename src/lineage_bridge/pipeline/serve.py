"""The stream: from the event log to the store, one Spark job and one store transaction for each micro-batch."""

import shutil
import threading
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.streaming.query import StreamingQuery

from lineage_bridge.errors import CollisionError
from lineage_bridge.graph.carried import FrameKind
from lineage_bridge.pipeline.fold import Refused, collect, fold
from lineage_bridge.pipeline.schemas import FRAMES
from lineage_bridge.pipeline.source import FORMAT, LogSource
from lineage_bridge.ports import LOG_SOURCE, Batch, Budget, GraphStore


@dataclass(frozen=True)
class Limits:
    """Of one micro-batch: bytes and frames read, rows spent on derived values beyond the batch's own; `trigger_ms` between batches."""

    batch_bytes: int = 48 * 1024 * 1024
    batch_frames: int = 20_000
    derived_rows: int = 5_000
    trigger_ms: int = 250


class Serve:
    """Applies micro-batches to the store. A failure of one ends the query: whoever runs it starts again at the store's position."""

    def __init__(
        self,
        store: GraphStore,
        key: bytes,
        limits: Limits,
        done: Callable[[Batch, list[int]], None],
    ) -> None:
        self.store, self.key, self.limits, self.done = store, key, limits, done
        self.turn = threading.Lock()

    def start(self, session: SparkSession, directory: Path, scratch: Path) -> StreamingQuery:
        """Stream the log in `directory` from the store's position on. What an earlier query left in `scratch` is discarded."""
        checkpoint = scratch / "checkpoint"
        shutil.rmtree(checkpoint, ignore_errors=True)
        session.dataSource.register(LogSource)
        frames = (
            session.readStream.format(FORMAT)
            .option("directory", str(directory))
            .option("start", str(self.store.position(LOG_SOURCE).get(0, 0)))
            .option("limit_bytes", str(self.limits.batch_bytes))
            .option("limit_frames", str(self.limits.batch_frames))
            .option("parts", str(session.sparkContext.defaultParallelism))
            .load()
        )
        writer = frames.writeStream.queryName("serve").foreachBatch(self.apply).option("checkpointLocation", str(checkpoint))
        return writer.trigger(processingTime=f"{self.limits.trigger_ms} milliseconds").start()

    def apply(self, frames: DataFrame, batch_id: int) -> None:  # noqa: ARG002 - the position tells batches apart
        """Fold one micro-batch and commit it with its position. A name whose id is taken is refused, and its events are kept aside."""
        refused: Refused = frozenset()
        while True:
            batch, workers = collect(frames.transform(fold, key=self.key, refused=refused))
            try:
                with self.turn:
                    self.store.apply(batch, Budget(self.limits.derived_rows))
            except CollisionError as error:
                refused |= frozenset(error.names)
                continue
            self.done(batch, workers)
            return

    def settle(self) -> int:
        """Derive what batches left, between batches; how many keys are still left."""
        with self.turn:
            return self.store.settle(Budget(self.limits.derived_rows))


def warm_up(session: SparkSession, key: bytes) -> None:
    """Run the fold once on one frame that says nothing, so that the first real batch finds its workers started."""
    row = (LOG_SOURCE, 0, 0, 0, 0, int(FrameKind.ERASED), bytes(16), 0, "", "", b"", b"")
    collect(session.createDataFrame([row], FRAMES).transform(fold, key=key))
