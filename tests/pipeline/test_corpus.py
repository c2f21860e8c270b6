"""The corpus of quirks through Spark: what the stream makes of it in any disorder is what the plain fold makes of it as it is told."""

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from pyspark.sql import SparkSession
from tests.events import KEY
from tests.pipeline.test_replay import replayed
from tests.pipeline.test_serve import Pipeline
from tests.quirks.disorder import ARRIVAL, arriving, in_order, masked
from tests.store.reading import reader_of
from tests.store.tables import tables_of

from lineage_bridge.graph.facts.fold import flat, fold_records
from lineage_bridge.graph.facts.names import Names
from lineage_bridge.pipeline.replay import Chunk
from lineage_bridge.pipeline.serve import Limits
from lineage_bridge.ports.graph_store import Batch, Budget
from lineage_bridge.store.write.apply import GraphWriter

pytestmark = pytest.mark.spark


def plain(events: list[bytes], path: Path) -> list[bytes]:
    store = GraphWriter(path, Names(KEY))
    store.apply(Batch({}, dict(flat(fold_records(in_order(events), Names(KEY))))), Budget(10**9))
    lines = exported(store)
    store.close()
    return lines


def exported(store: GraphWriter) -> list[bytes]:
    return list(reader_of(store).whole.lines(frozenset(), now_us=ARRIVAL))


@pytest.fixture(scope="module")
def streamed(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Pipeline]:
    """The corpus in disorder, streamed into a store."""
    pipeline = Pipeline(spark, tmp_path_factory.mktemp("corpus"), Limits(batch_records=200, trigger_ms=0))
    records = arriving(masked(huge=True), 7)
    pipeline.append(*(stored.record for stored in records))
    pipeline.run()
    yield pipeline
    pipeline.close()


def test_the_corpus_in_disorder_equals_the_plain_fold(streamed: Pipeline, tmp_path: Path) -> None:
    assert len(streamed.batches) >= 4
    assert exported(streamed.store) == plain(masked(huge=True), tmp_path / "told.db")
    assert [d for d in reader_of(streamed.store).whole.differences(Names(KEY)) if d.surplus or d.missing] == []


def test_a_replay_of_the_corpus_equals_the_stream_table_by_table(streamed: Pipeline, spark: SparkSession, tmp_path: Path) -> None:
    fresh, progress = replayed(spark, streamed, tmp_path / "fresh.db", Chunk(limit_records=400))
    with closing(fresh):
        assert len(progress) >= 2
        stream, again = tables_of(streamed.store), tables_of(fresh)
        assert len(stream["event"]) > 700
        for table in stream.keys() | again.keys():
            assert again[table] == stream[table], table
        assert exported(fresh) == exported(streamed.store)
