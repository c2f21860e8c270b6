"""What the pipeline's process tells of itself."""

import json
import os
import threading

import pytest

from lineage_bridge.pipeline.process import gist
from lineage_bridge.pipeline.status import StatusFile, replace_file

RAISED = """An exception was raised by the Python Proxy. Return Message: Traceback (most recent call last):
  File "x.py", line 1, in apply
    raise PositionError("at 5: not at 4")
lineage_bridge.errors.PositionError: at 5: not at 4

\tat org.apache.spark.Somewhere.run(Somewhere.scala:1)
"""
CRASHED = """An exception was raised by the Python Proxy. Return Message: Traceback (most recent call last):
  File "x.py", line 2, in collect
    raise Py4JJavaError(
py4j.protocol.Py4JJavaError: An error occurred while calling o407.getResult.
: org.apache.spark.SparkException: Exception thrown in awaitResult:
\tat org.apache.spark.Somewhere.run(Somewhere.scala:1)
Caused by: org.apache.spark.SparkException: Python worker exited unexpectedly (crashed).
\tat org.apache.spark.Somewhere.run(Somewhere.scala:1)
Caused by: java.net.SocketException: Connection reset
\t... 57 more

=== Streaming Query ===
Identifier: serve [id = 1, runId = 2]
"""


@pytest.mark.parametrize(
    ("text", "line"),
    [
        (RAISED, "lineage_bridge.errors.PositionError: at 5: not at 4"),
        (CRASHED, "org.apache.spark.SparkException: Python worker exited unexpectedly (crashed)."),
        ("\n  Job aborted.\n\tat x.y\n", "Job aborted."),
        ("", ""),
    ],
)
def test_the_gist_of_an_error_is_its_most_informative_line(text, line):
    assert gist(text) == line


def test_the_status_has_the_time_of_its_heartbeat(tmp_path):
    now = iter(range(100, 200))
    status = StatusFile(tmp_path / "pipeline.json", lambda: next(now))
    status.change(workers=[7], position={"log/0": 5})
    status.write(state="running")
    answer = json.loads(status.path.read_bytes())
    assert answer == {
        "state": "running",
        "pid": os.getpid(),
        "started_us": 100,
        "beat_us": 101,
        "spark_pid": None,
        "workers": [7],
        "retention": {},
        "batches": 0,
        "position": {"log/0": 5},
        "left": 0,
        "events": 0,
        "commit_us": 0,
        "committed_us": 0,
        "freshness_us": 0,
        "error": None,
    }
    status.remove()
    assert list(tmp_path.iterdir()) == []


def test_a_reader_never_sees_a_partial_file(tmp_path):
    path, done = tmp_path / "file", threading.Event()
    contents = {bytes([number]) * 100_000 for number in range(3)}
    replace_file(path, min(contents))

    def write() -> None:
        while not done.is_set():
            for content in sorted(contents):
                replace_file(path, content)

    writer = threading.Thread(target=write)
    writer.start()
    try:
        assert {path.read_bytes() for _ in range(500)} <= contents
    finally:
        done.set()
        writer.join()
