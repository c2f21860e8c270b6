"""Every row of the verdict table through the pipeline: judged again in Spark's workers, used or kept aside for the same reason."""

from pathlib import Path

import pytest
from pyspark.sql import SparkSession
from tests.corpora.verdicts import ACCEPTED, REJECTED
from tests.events import KEY, T0, run_event
from tests.pipeline.test_serve import Pipeline, as_record
from tests.store.tables import execute

from lineage_bridge.graph.ids import DAY_US, event_id
from lineage_bridge.openlineage.wire import MAX_BYTES

pytestmark = pytest.mark.spark

OF_A_COPY = {"future_time"}
TOO_LARGE = b'{"a": "' + b"x" * MAX_BYTES + b'"}'


def test_every_row_of_the_verdict_table(spark: SparkSession, tmp_path: Path) -> None:
    pipeline = Pipeline(spark, tmp_path)
    assert KEY
    rejected = {event: code for event, _, code in REJECTED.values()} | {TOO_LARGE: "too_large"}
    good = run_event(job="the batch goes on")
    pipeline.append(*(as_record(event) for event in rejected))
    pipeline.append(*(as_record(event) for event, _ in ACCEPTED.values()), as_record(good))
    pipeline.run()
    kept = {event: (code, path) for event, code, path in execute(pipeline.store, "SELECT event, code, path FROM quarantine")}
    assert {event: code for event, (code, _) in kept.items()} == {event_id(event): code for event, code in rejected.items()}
    assert all(path.startswith("$") for _, path in kept.values())
    used = dict(execute(pipeline.store, "SELECT event, repairs FROM event").fetchall())
    expected = {event_id(event): ",".join(sorted(set(repairs) - OF_A_COPY)) for event, repairs in ACCEPTED.values()} | {event_id(good): ""}
    assert used == expected
    pipeline.close()


def test_an_event_from_the_future_orders_by_its_arrival(spark: SparkSession, tmp_path: Path) -> None:
    pipeline = Pipeline(spark, tmp_path)
    event, repairs = ACCEPTED["a time far ahead"]
    assert repairs == ["future_time"]
    pipeline.append(as_record(event, arrival=T0 + 5 * DAY_US))
    pipeline.run()
    ((time, effective),) = execute(pipeline.store, "SELECT time, effective FROM event").fetchall()
    assert effective == T0 + 5 * DAY_US < time
    pipeline.close()
