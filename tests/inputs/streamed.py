"""Inputs of the form `stream`, read by the run's Spark session into a store and an archive in a folder, without a server between them."""

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession
from tests.events import KEY
from tests.inputs.support import Installation, running, until
from tests.store.tables import Rows, tables_in

from lineage_bridge.config import Settings
from lineage_bridge.eventlog.archive.reader import ArchiveReader
from lineage_bridge.eventlog.erasing.erased_ids import ErasedIds
from lineage_bridge.graph.facts.fold import flat, fold_records
from lineage_bridge.graph.facts.names import Names
from lineage_bridge.graph.log_record import LogRecord, StoredRecord
from lineage_bridge.graph.record_origin import EventPosition, read_origin
from lineage_bridge.inputs.input_ledger import InputLedger
from lineage_bridge.inputs.judging import RecordJudge
from lineage_bridge.inputs.kinds import KINDS
from lineage_bridge.inputs.streaming import StreamReader
from lineage_bridge.pipeline.serve import Limits, Serve
from lineage_bridge.pipeline.streams.feed import BATCH_BYTES, SparkFeed
from lineage_bridge.ports.graph_store import Batch, Budget, GraphStore
from lineage_bridge.ports.log import LOG_SOURCE
from lineage_bridge.sources.common.settings import NO_CONTEXT, SourceContext
from lineage_bridge.store.write.apply import GraphWriter
from lineage_bridge.wiring.inputs import streamed_positions
from lineage_bridge.wiring.processes import now_us


class Streamed(Installation):
    """An installation whose stream reads inputs."""

    def __init__(self, folder: Path, spark: SparkSession) -> None:
        super().__init__(folder)
        self.spark, self.no_stop = spark, threading.Event()
        self.settings = Settings(data_dir=folder)
        self.archive = ArchiveReader(self.settings.paths.archive)
        self.ledger = InputLedger(self.writer, self.reader.read, self.repository, "s", lambda name: streamed_positions(self.settings, name))

    @contextmanager
    def feeding(
        self, wrap: Callable[[GraphStore], GraphStore] = lambda store: store, key: bytes = KEY, batch_bytes: int = BATCH_BYTES
    ) -> Iterator[SparkFeed]:
        """The part of the pipeline that takes in what inputs plan, while the block lasts."""
        store = GraphWriter(self.folder / "graph.db", Names(key))
        serve = Serve(wrap(store), key, Limits(), lambda *_: None)
        feed = SparkFeed(self.spark, serve, self.settings.paths.archive, key, ErasedIds(self.settings.paths.log), batch_bytes)
        try:
            yield feed
        finally:
            feed.close()
            serve.close()
            store.close()

    @contextmanager
    def streaming(
        self, feed: SparkFeed, name: str = "events", context: SourceContext = NO_CONTEXT, *, restores: bool = False, **settings: Any
    ) -> Iterator[StreamReader]:
        """Read an input of the kind `kafka` in the stream while the block lasts; with `restores`, its topic is a log."""
        given = {"poll_s": 0.1, "refresh_s": 0.5, "form": "stream", **settings}
        source = KINDS.make_stream(name, "kafka", given, context, "0123456789abcdef")
        judge = RecordJudge.make_judge(name, "kafka", source.settings, KEY, restores=restores)
        with running(StreamReader(source, judge, feed, self.ledger, lambda: "", now_us, time.monotonic)) as reader:
            yield reader

    def stream(self, count: int, context: SourceContext = NO_CONTEXT, **settings: Any) -> None:
        """Read in the stream until the archive has so many records."""
        with self.feeding() as feed, self.streaming(feed, context=context, **settings) as reader:
            until(lambda: len(self.archived()) >= count, f"{count} records ({reader.meter.status})")

    def bring_under(self, name: str, count: int, **settings: Any) -> dict[tuple[str, EventPosition], LogRecord]:
        """Read by the embedded form, under another name, until the log has so many records; each by its position."""
        with self.reading(name=name, **settings):
            until(lambda: len(self.records()) >= count, f"{count} records")
        return {(origin.partition, origin.position): record for record in self.records() if (origin := read_origin(record.note))}

    def archived(self) -> list[StoredRecord]:
        """The records of the archive."""
        found: list[StoredRecord] = []
        for of in self.archive.partitions():
            found += self.archive.read(of.source, of.partition, 0, self.archive.end(of.source, of.partition))
        return found

    def all_records(self) -> list[StoredRecord]:
        """The records of the log and of the archive."""
        log = [StoredRecord(LOG_SOURCE, 0, at, record) for at, record in self.reader.read(0, self.reader.durable_end())]
        return log + self.archived()

    def tables(self) -> dict[str, Rows]:
        """What the store holds."""
        return tables_in(self.folder / "graph.db")

    def as_folded(self) -> dict[str, Rows]:
        """What a store holds that the plain fold of the log and the archive is applied to; positions aside."""
        plain = GraphWriter(self.folder / "plain.db", Names(KEY))
        plain.apply(Batch({}, dict(flat(fold_records(self.all_records(), Names(KEY))))), Budget(10**9))
        plain.close()
        return tables_in(self.folder / "plain.db")

    def check(self) -> None:
        """The store is the plain fold of what was taken in."""
        found, expected = self.tables(), self.as_folded()
        assert {name for name in found if name != "position" and found[name] != expected[name]} == set()


def without_arrival(record: LogRecord) -> tuple[Any, ...]:
    return record.kind, record.event_id, record.channel, record.principal, record.note, record.body
