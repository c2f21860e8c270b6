"""Checks that the executors of a Spark cluster can do their work: they run the same version, and share the data folder."""

import socket
import sys
import uuid
from collections.abc import Callable, Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from importlib.metadata import version
from pathlib import Path
from typing import Final, NamedTuple

import pyarrow as pa
from pyspark.sql import SparkSession
from pyspark.sql.types import StringType, StructField, StructType

from lineage_bridge.errors import UnavailableError
from lineage_bridge.pipeline.process import SPARK_ERRORS, gist, text_of
from lineage_bridge.pipeline.session import is_local

_DISTRIBUTION: Final = "lineage-bridge"
_TASKS_PER_SLOT: Final = 2
_REPORT: Final = StructType([StructField(name, StringType(), False) for name in ("host", "version", "python", "problem", "answer")])
_REPORT_ARROW: Final = pa.schema([pa.field(field.name, pa.string(), False) for field in _REPORT.fields])
_SHARED: Final = "the data folder must be on storage that the driver and all executors share, under the same path, and may write"


def check_executors(session: SparkSession, master: str, scratch: Path) -> None:
    """Run a small task in each slot of the executors. The task reads a file that the driver has just written in `scratch`, and writes
    another file there.

    Does nothing for a local master, whose workers are processes of this machine. Raises UnavailableError.
    """
    if is_local(master):
        return
    token, probe = uuid.uuid4().hex, scratch / "executors"
    probe.mkdir(exist_ok=True)
    (probe / "token").write_text(token, encoding="ascii")
    tasks = _TASKS_PER_SLOT * session.sparkContext.defaultParallelism
    try:
        found = session.range(0, tasks, 1, tasks).mapInArrow(reporting(probe, token), _REPORT).collect()
    except SPARK_ERRORS as error:
        raise UnavailableError(
            f"the executors of {master} cannot run LineageBridge: {gist(text_of(error))}",
            "install the same version on every machine of the cluster, for a Python at the same path",
        ) from error
    reports = sorted(ExecutorReport(*row) for row in found)
    answered = {report.answer for report in reports if (probe / report.answer).exists()}
    if problem := first_problem(reports, answered, version(_DISTRIBUTION), scratch):
        raise problem


class ExecutorReport(NamedTuple):
    """What a task reports about its executor: the machine, the versions of LineageBridge and Python, why the executor cannot use the folder
    (empty if it can), and the name of the file that the task wrote there.
    """

    host: str
    version: str
    python: str
    problem: str
    answer: str


def first_problem(reports: Sequence[ExecutorReport], answered: AbstractSet[str], own: str, scratch: Path) -> UnavailableError | None:
    """The error of the first executor that cannot do its work; None if all can. `answered` are the files of tasks that the driver sees."""
    for report in reports:
        if report.version != own:
            return UnavailableError(
                f"the executor on {report.host} runs LineageBridge {report.version} ({report.python}), the pipeline runs {own}",
                "install the same version on every machine of the cluster",
            )
        problem = report.problem or ("" if report.answer in answered else "what it writes there is not seen here")
        if problem:
            return UnavailableError(f"the executor on {report.host} does not share the folder {scratch}: {problem}", _SHARED)
    return None


def reporting(probe: Path, token: str) -> Callable[[Iterable[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    """Make the task that reports about its executor. It reads the token that the driver has written to `probe`, and writes a file beside
    it.
    """

    def run(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for _ in batches:
            pass
        host, problem, answer = socket.gethostname(), "", f"answer-{uuid.uuid4().hex}"
        try:
            if (probe / "token").read_text(encoding="ascii") != token:
                problem = "another file is there"
            (probe / answer).touch()
        except OSError as error:
            problem = error.strerror or type(error).__name__
        yield pa.RecordBatch.from_arrays(
            [pa.array([value], pa.string()) for value in (host, version(_DISTRIBUTION), sys.executable, problem, answer)],
            schema=_REPORT_ARROW,
        )

    return run
