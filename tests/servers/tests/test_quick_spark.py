"""Spark's Java takes its classes from the file that was made for them."""

import psutil
import pytest
from pyspark.sql import SparkSession
from tests.servers.quick_spark import ENVIRONMENT

pytestmark = pytest.mark.spark


def test_java_takes_its_classes_from_the_file(spark: SparkSession) -> None:
    gateway = spark.sparkContext._gateway
    assert gateway is not None
    mapped = [entry.path for entry in psutil.Process(gateway.proc.pid).memory_maps()]
    assert [path for path in mapped if path.endswith(".jsa") and path.startswith(str(ENVIRONMENT))], (
        "Java passes over a file that is not for its archives"
    )
