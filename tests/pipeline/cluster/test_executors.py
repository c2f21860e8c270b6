"""What is found wrong with the executors of a cluster before the pipeline begins."""

from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from lineage_bridge.pipeline.cluster.executors import ExecutorReport, check_executors, first_problem, reporting

SOUND = ExecutorReport("a", "1.0", "/usr/bin/python3", "", "f")


@pytest.mark.spark
def test_executors_that_share_the_folder_pass(spark: SparkSession, tmp_path: Path) -> None:
    check_executors(spark, "spark://sound:7077", tmp_path)
    assert len(list((tmp_path / "executors").glob("answer-*"))) == 2 * spark.sparkContext.defaultParallelism
    check_executors(spark, "local[2]", tmp_path / "is not looked at")


@pytest.mark.parametrize(
    ("report", "answered", "error"),
    [
        (SOUND, {"f"}, None),
        (SOUND._replace(version="0.9"), {"f"}, "the executor on a runs LineageBridge 0.9 (/usr/bin/python3), the pipeline runs 1.0"),
        (SOUND._replace(problem="Permission denied"), {"f"}, "the executor on a does not share the folder /data: Permission denied"),
        (SOUND, set(), "the executor on a does not share the folder /data: what it writes there is not seen here"),
    ],
)
def test_an_executor_that_cannot_work_is_named(report: ExecutorReport, answered: set[str], error: str | None) -> None:
    found = first_problem([report], answered, "1.0", Path("/data"))
    assert (None if found is None else str(found)) == error


def test_a_task_sees_whether_the_folder_is_the_drivers(tmp_path: Path) -> None:
    def problem(folder: Path) -> str:
        (batch,) = reporting(folder, "a token")([])
        return str(batch.column("problem")[0].as_py())

    assert problem(tmp_path / "missing") == "No such file or directory"
    (tmp_path / "token").write_text("of another pipeline")
    assert problem(tmp_path) == "another file is there"
    (tmp_path / "token").write_text("a token")
    assert problem(tmp_path) == ""
