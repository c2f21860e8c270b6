"""Replay on Spark: the log folded again in chunks gives, table by table, what the stream made of it."""

import random
from contextlib import closing
from pathlib import Path

import pytest
from pyspark.sql import SparkSession
from tests.events import KEY, RUNS, dataset, erase, run_event
from tests.pipeline.test_serve import Pipeline, as_record, sample_events
from tests.store.reading import reader_of
from tests.store.tables import execute, tables_of

from lineage_bridge.config import DataFolder
from lineage_bridge.graph.facts.names import Names
from lineage_bridge.graph.log_record import RecordKind
from lineage_bridge.pipeline.replay import Chunk, Progress, replay
from lineage_bridge.pipeline.serve import Limits
from lineage_bridge.store.write.apply import GraphWriter
from lineage_bridge.store.write.rebuild import open_fresh

pytestmark = pytest.mark.spark

NAMES = Names(KEY)
SMALL = Chunk(limit_records=150, part_bytes=40_000)


def replayed(spark: SparkSession, pipeline: Pipeline, path: Path, chunk: Chunk = SMALL) -> tuple[GraphWriter, list[Progress]]:
    progress: list[Progress] = []
    fresh = open_fresh(path, NAMES)
    replay(spark, DataFolder(pipeline.folder), fresh, KEY, chunk, progress.append)
    return fresh, progress


def test_stream_and_replay_are_equal_table_by_table(spark: SparkSession, tmp_path: Path) -> None:
    pipeline = Pipeline(spark, tmp_path, Limits(batch_records=70, derived_rows=1, trigger_ms=0))
    events = sample_events()
    events += [run_event(run=RUNS[n % 5], job=f"j{n % 3}", outputs=[dataset(f"d{n}")]) for n in range(40)]
    random.Random(11).shuffle(events)
    pipeline.append(*map(as_record, [*events, *events[:30], b'{"cut": ']))
    pipeline.append(as_record(erase(RUNS[1]), RecordKind.OPERATOR), as_record(events[0], channel="kafka"))
    pipeline.run()
    fresh, progress = replayed(spark, pipeline, tmp_path / "fresh.db")
    with closing(fresh):
        assert len(progress) >= 3
        assert progress[-1].left == 0
        stream, again = tables_of(pipeline.store), tables_of(fresh)
        assert stream.keys() == again.keys()
        for table in stream:
            assert again[table] == stream[table], table
        assert stream["flow"]
        assert stream["quarantine"]
        assert all(table.surplus == table.missing == 0 for table in reader_of(fresh).whole.differences(NAMES))
        assert fresh.left() == 0
    pipeline.close()


def test_a_replay_includes_records_that_arrive_meanwhile(spark: SparkSession, tmp_path: Path) -> None:
    pipeline = Pipeline(spark, tmp_path)
    pipeline.append(*map(as_record, sample_events()[:40]))
    late = [run_event(job="late", outputs=[dataset("late")])]

    def send_more(_: Progress) -> None:
        if late:
            pipeline.append(as_record(late.pop()))

    with closing(open_fresh(tmp_path / "fresh.db", NAMES)) as fresh:
        replay(spark, DataFolder(tmp_path), fresh, KEY, Chunk(limit_records=20), send_more)
        assert fresh.position("log") == {0: pipeline.log.end()}
        assert execute(fresh, "SELECT count(*) FROM node WHERE name = 'late'").fetchone() == (2,)
    pipeline.close()


def test_a_name_whose_id_is_taken_is_set_aside(spark: SparkSession, tmp_path: Path) -> None:
    pipeline = Pipeline(spark, tmp_path)
    pipeline.append(as_record(run_event(inputs=[dataset("a")])), as_record(run_event(job="fine", outputs=[dataset("b")])))
    with closing(open_fresh(tmp_path / "fresh.db", NAMES)) as fresh:
        execute(fresh, "INSERT INTO node VALUES (?, 1, 'elsewhere', 'squatter', 0)", (NAMES.dataset("ns", "a"),))
        replay(spark, DataFolder(tmp_path), fresh, KEY, Chunk(), lambda _: None)
        assert execute(fresh, "SELECT code, count(*) FROM quarantine GROUP BY code").fetchall() == [("id_collision", 1)]
        assert execute(fresh, "SELECT count(*) FROM node WHERE name = 'fine'").fetchone() == (1,)
    pipeline.close()
