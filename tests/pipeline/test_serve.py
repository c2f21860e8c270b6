"""The whole pipeline on Spark: from the log to the store, equal to the plain fold of the same records."""

import json
import os
import random
import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from uuid import UUID

import psutil
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from pyspark.sql import SparkSession
from pyspark.sql.streaming.query import StreamingQuery
from tests.events import KEY, T0, dataset, erase, record_lists, run_event
from tests.servers.collector import recording
from tests.store.reading import reader_of
from tests.store.tables import execute

from lineage_bridge.eventlog.reader import LogReader
from lineage_bridge.eventlog.writer import LogWriter
from lineage_bridge.graph.facts.fold import flat, fold_records
from lineage_bridge.graph.facts.names import Names
from lineage_bridge.graph.ids import DAY_US, event_id
from lineage_bridge.graph.log_record import LogRecord, RecordKind, StoredRecord
from lineage_bridge.pipeline.fold import collect, fold_rows
from lineage_bridge.pipeline.schemas import RECORDS
from lineage_bridge.pipeline.serve import Limits, Serve
from lineage_bridge.ports.graph_store import Batch, Budget, GraphStore
from lineage_bridge.ports.log import LOG_SOURCE
from lineage_bridge.store.write.apply import GraphWriter

pytestmark = pytest.mark.spark

SAMPLES = Path(__file__).parent.parent / "samples"
WAIT_S = 120


def sample_events() -> list[bytes]:
    files = sorted(SAMPLES.rglob("*.ndjson"))
    return [line for file in files for line in file.read_bytes().splitlines() if line.strip()]


def as_record(body: bytes, kind: RecordKind = RecordKind.EVENT, arrival: int = T0 + DAY_US, channel: str = "http") -> LogRecord:
    return LogRecord(kind, event_id(body), arrival, channel, "", b"", body)


class Failing:
    """A store that fails between a batch's fold and its commit, as often as told."""

    def __init__(self, store: GraphWriter, failures: int) -> None:
        self.store, self.failures = store, failures

    def position(self, source: str) -> dict[int, int]:
        return self.store.position(source)

    def apply(self, batch: Batch, budget: Budget) -> None:
        if self.failures:
            self.failures -= 1
            raise RuntimeError("planted: folded, not committed")
        self.store.apply(batch, budget)

    def settle(self, budget: Budget) -> int:
        return self.store.settle(budget)

    def check(self) -> None:
        self.store.check()


class Pipeline:
    """A log, a store, and queries between them."""

    def __init__(self, session: SparkSession, folder: Path, limits: Limits = Limits(trigger_ms=100)) -> None:  # noqa: B008 - frozen
        self.session, self.folder, self.limits = session, folder, limits
        self.log = LogWriter(folder / "log")
        self.store = GraphWriter(folder / "graph.db", Names(KEY))
        self.batches: list[tuple[Batch, list[int]]] = []

    def append(self, *records: LogRecord) -> None:
        self.log.append(records)

    @contextmanager
    def query(self, store: GraphStore | None = None) -> Iterator[StreamingQuery]:
        serve = Serve(store or self.store, KEY, self.limits, lambda batch, workers, _: self.batches.append((batch, workers)))
        query = serve.start(self.session, self.folder / "log", self.folder / "spark")
        try:
            yield query
        finally:
            query.stop()
            serve.close()

    def caught_up(self) -> bool:
        return self.store.position(LOG_SOURCE).get(0, 0) == self.log.end()

    def run(self) -> None:
        """Apply all that is in the log."""
        with self.query() as query:
            wait(self.caught_up, query)
        while self.store.settle(Budget(10_000)):
            pass

    def export(self) -> list[bytes]:
        return list(reader_of(self.store).whole.lines(frozenset(), now_us=T0))

    def expected(self) -> list[bytes]:
        """What the plain fold of the same records gives."""
        reader = LogReader(self.folder / "log")
        records = [StoredRecord(LOG_SOURCE, 0, offset, f) for offset, f in reader.read(0, reader.durable_end())]
        other = GraphWriter(self.folder / "plain.db", Names(KEY))
        other.apply(Batch({}, dict(flat(fold_records(records, Names(KEY))))), Budget(10**9))
        lines = list(reader_of(other).whole.lines(frozenset(), now_us=T0))
        other.close()
        (self.folder / "plain.db").unlink()
        return lines

    def close(self) -> None:
        self.log.close()
        self.store.close()


def wait(done: Callable[[], bool], query: StreamingQuery | None = None) -> None:
    end = time.monotonic() + WAIT_S
    while not done():
        if query is not None and not query.isActive:
            raise AssertionError(f"the query ended: {query.exception()}")
        assert time.monotonic() < end, "nothing came"
        time.sleep(0.05)


@pytest.fixture
def pipeline(spark: SparkSession, tmp_path: Path) -> Iterator[Pipeline]:
    made = Pipeline(spark, tmp_path)
    yield made
    made.close()


def test_real_events_through_spark_equal_the_plain_fold(pipeline: Pipeline) -> None:
    events = sample_events()
    random.Random(7).shuffle(events)
    with pipeline.query() as query:
        for start in range(0, len(events), 100):
            pipeline.append(*map(as_record, events[start : start + 100]))
            wait(pipeline.caught_up, query)
    assert len(pipeline.batches) >= 3
    assert pipeline.export() == pipeline.expected()
    assert execute(pipeline.store, "SELECT count(*) FROM event_record").fetchone()[0] == len(events)


@settings(max_examples=4, deadline=None, derandomize=True, phases=[Phase.generate], suppress_health_check=list(HealthCheck))
@given(record_lists(min_size=25, max_size=40), st.randoms(use_true_random=False))
def test_mixed_corpora_equal_the_plain_fold(spark: SparkSession, records: list[StoredRecord], random_: random.Random) -> None:
    with TemporaryDirectory() as folder:
        pipeline = Pipeline(spark, Path(folder), Limits(batch_records=17, trigger_ms=0))
        doubled = [*records, *records[:4]]
        random_.shuffle(doubled)
        pipeline.append(*(stored.record for stored in doubled))
        pipeline.append(as_record(erase("00000000-0000-0000-0000-000000000002"), RecordKind.OPERATOR))
        pipeline.run()
        assert pipeline.export() == pipeline.expected()
        pipeline.close()


def test_verdict_and_facts_run_in_sparks_python_workers(pipeline: Pipeline) -> None:
    pipeline.append(*map(as_record, sample_events()[:50]))
    pipeline.run()
    workers = {pid for _, pids in pipeline.batches for pid in pids}
    assert workers
    assert os.getpid() not in workers
    driver = psutil.Process()
    under_spark = {child.pid for child in driver.children(recursive=True)}
    for pid in workers:
        assert pid in under_spark
        ancestors = [parent.name() for parent in psutil.Process(pid).parents()]
        assert "java" in ancestors


def test_the_source_caps_its_batches(spark: SparkSession, tmp_path: Path) -> None:
    pipeline = Pipeline(spark, tmp_path, Limits(batch_records=40, trigger_ms=0))
    pipeline.append(*map(as_record, sample_events()[:200]))
    pipeline.run()
    sizes = [len(batch.rows["event_record"]) for batch, _ in pipeline.batches]
    assert sum(sizes) == 200
    assert max(sizes) <= 40
    assert pipeline.export() == pipeline.expected()
    pipeline.close()


def test_a_batch_that_failed_between_fold_and_commit_is_folded_again(pipeline: Pipeline) -> None:
    events = sample_events()[:120]
    pipeline.append(*map(as_record, events))
    failing = Failing(pipeline.store, failures=1)
    with pipeline.query(failing) as query:
        wait(lambda: not query.isActive)
        assert "planted" in str(query.exception())
    assert pipeline.store.position(LOG_SOURCE) == {}
    pipeline.run()
    assert pipeline.export() == pipeline.expected()
    assert execute(pipeline.store, "SELECT count(*) FROM event").fetchone()[0] == len(set(events))


def test_a_failure_with_more_batches_behind_it_ends_the_query(spark: SparkSession, tmp_path: Path) -> None:
    pipeline = Pipeline(spark, tmp_path, Limits(batch_records=10, trigger_ms=0))
    pipeline.append(*map(as_record, sample_events()[:60]))
    with pipeline.query(Failing(pipeline.store, failures=1)) as query:
        wait(lambda: not query.isActive)
        assert "planted" in str(query.exception())
    assert pipeline.store.position(LOG_SOURCE) == {}
    assert pipeline.batches == []
    pipeline.run()
    assert pipeline.export() == pipeline.expected()
    pipeline.close()


def test_a_store_restored_from_an_older_copy_catches_up(pipeline: Pipeline) -> None:
    events = sample_events()
    pipeline.append(*map(as_record, events[:100]))
    pipeline.run()
    execute(pipeline.store, "PRAGMA wal_checkpoint(TRUNCATE)")
    shutil.copy(pipeline.folder / "graph.db", pipeline.folder / "older.db")
    pipeline.append(*map(as_record, events[100:200]))
    pipeline.run()
    complete = pipeline.export()
    pipeline.store.close()
    for leftover in pipeline.folder.glob("graph.db-*"):
        leftover.unlink()
    shutil.copy(pipeline.folder / "older.db", pipeline.folder / "graph.db")
    pipeline.store = GraphWriter(pipeline.folder / "graph.db", Names(KEY))
    pipeline.run()
    assert pipeline.export() == complete == pipeline.expected()


def test_a_deleted_checkpoint_loses_nothing(pipeline: Pipeline) -> None:
    events = sample_events()
    pipeline.append(*map(as_record, events[:60]))
    pipeline.run()
    shutil.rmtree(pipeline.folder / "spark" / "checkpoint")
    pipeline.append(*map(as_record, events[60:120]))
    pipeline.run()
    assert pipeline.export() == pipeline.expected()


def test_a_checkpoint_that_disagrees_is_discarded(pipeline: Pipeline) -> None:
    events = sample_events()
    pipeline.append(*map(as_record, events[:60]))
    pipeline.run()
    offsets = pipeline.folder / "spark" / "checkpoint" / "offsets"
    for file in offsets.iterdir():
        file.write_text("no offsets at all")
    pipeline.append(*map(as_record, events[60:120]))
    pipeline.run()
    assert pipeline.export() == pipeline.expected()


def test_an_unreadable_event_is_set_aside_and_the_batch_continues(pipeline: Pipeline) -> None:
    good = run_event(inputs=[dataset("a")], outputs=[dataset("b")])
    nul = good.replace(b'"name": "a"', b'"name": "a\\u0000\\ud800"')
    note = json.dumps({"code": "too_large", "path": "$", "message": "over 32 MB"}).encode()
    rejected = LogRecord(RecordKind.REJECTED, event_id(b"{"), T0, "http", "", note, b"{")
    pipeline.append(as_record(b'{"no": "event"'), as_record(nul), rejected, as_record(good), as_record(b"[]"))
    pipeline.run()
    codes = dict(execute(pipeline.store, "SELECT code, count(*) FROM quarantine GROUP BY code").fetchall())
    assert codes == {"not_json": 1, "too_large": 1, "wrong_type": 1}
    names = {name for (name,) in execute(pipeline.store, "SELECT name FROM node WHERE kind = 1")}
    assert names == {"a", "b", "a\ufffd\ufffd"}
    assert pipeline.export() == pipeline.expected()


def test_a_name_whose_id_is_taken_is_quarantined_and_the_batch_continues(pipeline: Pipeline) -> None:
    names = Names(KEY)
    squatter = (names.dataset("ns", "a"), 1, "elsewhere", "squatter", 0)
    pipeline.store.apply(Batch({}, {"node": [squatter]}), Budget(1))
    pipeline.append(as_record(run_event(inputs=[dataset("a")])), as_record(run_event(job="fine", outputs=[dataset("b")])))
    pipeline.run()
    assert execute(pipeline.store, "SELECT code, count(*) FROM quarantine GROUP BY code").fetchall() == [("id_collision", 1)]
    assert execute(pipeline.store, "SELECT count(*) FROM node WHERE name IN ('b', 'fine')").fetchone() == (2,)


def test_a_taken_id_in_a_batch_with_others_behind_it(spark: SparkSession, tmp_path: Path) -> None:
    pipeline = Pipeline(spark, tmp_path, Limits(batch_records=2, trigger_ms=0))
    pipeline.store.apply(Batch({}, {"node": [(Names(KEY).dataset("ns", "a"), 1, "elsewhere", "squatter", 0)]}), Budget(1))
    datasets = ["b", "a", "c", "d", "a", "e", "f", "g"]
    pipeline.append(*(as_record(run_event(run=str(UUID(int=n)), outputs=[dataset(name)])) for n, name in enumerate(datasets)))
    pipeline.run()
    assert execute(pipeline.store, "SELECT code, count(*) FROM quarantine GROUP BY code").fetchall() == [("id_collision", 2)]
    found = execute(pipeline.store, "SELECT name FROM node WHERE kind = 1 ORDER BY name").fetchall()
    assert [name for (name,) in found] == ["b", "c", "d", "e", "f", "g", "squatter"]
    assert len(pipeline.batches) == 4
    pipeline.close()


def test_a_commit_belongs_to_the_span_of_its_fold(pipeline: Pipeline) -> None:
    pipeline.append(as_record(run_event()))
    with recording() as collector:
        pipeline.run()
    fold, commit = collector.single("fold batch"), collector.single("commit batch")
    assert (commit.trace, commit.parent) == (fold.trace, fold.id)
    assert fold.attributes == {"lineage_bridge.offsets.start": 0, "lineage_bridge.offsets.end": pipeline.log.end()}


def test_the_step_has_its_declared_schema(spark: SparkSession) -> None:
    empty = spark.createDataFrame([], RECORDS)
    batch, workers = collect(empty.transform(fold_rows, key=KEY))
    assert dict(batch.ranges) == {}
    assert dict(batch.rows) == {}
    assert workers == []
