"""The corpus of quirks through Spark: what the stream makes of it in any disorder is what the plain fold makes of it as it is told."""

from pathlib import Path

import pytest
from pyspark.sql import SparkSession
from tests.events import KEY
from tests.pipeline.test_serve import Pipeline
from tests.quirks.disorder import ARRIVAL, arriving, masked, told_once

from lineage_bridge.graph.carried import FrameKind
from lineage_bridge.graph.facts import Names
from lineage_bridge.graph.fold import flat, fold_frames
from lineage_bridge.pipeline.serve import Limits
from lineage_bridge.ports import Batch, Budget, Frame
from lineage_bridge.store.apply import GraphWriter
from lineage_bridge.store.export import Export
from lineage_bridge.store.verify import verify

pytestmark = pytest.mark.spark


def plain(told: list[bytes], path: Path) -> list[bytes]:
    store = GraphWriter(path, Names(KEY))
    store.apply(Batch({}, dict(flat(fold_frames(told_once(told), Names(KEY))))), Budget(10**9))
    lines = list(Export(store.connection, ARRIVAL).lines())
    store.close()
    return lines


def test_the_corpus_in_disorder_equals_the_plain_fold(spark: SparkSession, tmp_path: Path) -> None:
    told = masked(huge=True)
    pipeline = Pipeline(spark, tmp_path, Limits(batch_frames=200, trigger_ms=0))
    pipeline.append(*(Frame(FrameKind(f.kind), f.event, f.arrival, f.channel, "", f.note, f.body) for f in arriving(told, 7)))
    pipeline.run()
    assert len(pipeline.batches) >= 4
    assert list(Export(pipeline.store.connection, ARRIVAL).lines()) == plain(told, tmp_path / "told.db")
    assert [d for d in verify(pipeline.store.connection, Names(KEY)) if d.surplus or d.missing] == []
    pipeline.close()
