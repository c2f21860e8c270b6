"""Spark's Python workers: what they are spared."""

import gc
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from lineage_bridge.pipeline.workers import PRELOADED, is_archive


@pytest.mark.parametrize(
    ("entry", "expected"),
    [
        ("/venv/site-packages/pyspark/python/lib/pyspark.zip", True),
        ("/venv/site-packages/pyspark/python/lib/py4j-0.10.9.9-src.zip", True),
        ("/opt/spark/jars/spark-core_2.13-4.1.4.jar", True),
        ("/venv/site-packages", False),
        ("/usr/lib/python311.zip", False),
        ("", False),
    ],
)
def test_sparks_archives_are_recognised(entry: str, expected: bool) -> None:
    assert is_archive(entry) is expected


@pytest.mark.spark
def test_a_task_reads_no_archive_and_imports_nothing(spark: SparkSession) -> None:
    def look(_: Iterable[int]) -> Iterator[tuple[list[str], list[str], int]]:
        archives = [entry for entry in sys.path_importer_cache if Path(entry).suffix in {".zip", ".jar"} and Path(entry).is_file()]
        yield archives, [name for name in PRELOADED if name not in sys.modules], gc.get_freeze_count()

    ((archives, missing, frozen),) = spark.sparkContext.parallelize([1], 1).mapPartitions(look).collect()
    assert archives == []
    assert missing == []
    assert frozen > 10_000
