"""Spark, started in half the time: Java takes its classes as an earlier start has left them in the environment.

Java takes them only for the archives that they were loaded from, which it knows by path, size and time of change. So each environment has
its own.

The Python processes that Spark starts take their modules from where they are installed, compiled. In Spark's own home they find
`pyspark.zip` first, whose modules each process compiles again.
"""

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from types import MappingProxyType

import pyspark
import pytest

from lineage_bridge.pipeline.streams.jars import ivy_for
from tests.servers import archives

ENVIRONMENT = Path(sys.prefix)
_NAME, _CLASSES = "spark-stream-classes", "spark.jsa"
_STREAM = """
import sys
import time
from pathlib import Path
from pyspark import SparkContext
from lineage_bridge.eventlog.writer import LogWriter
from lineage_bridge.graph.facts.names import Names
from lineage_bridge.graph.log_record import LogRecord, RecordKind
from lineage_bridge.pipeline.process import SparkProcess
from lineage_bridge.pipeline.serve import Limits, Serve, warm_up
from lineage_bridge.store.write.apply import GraphWriter
folder, key = Path(sys.argv[1]), bytes(32)
spark = SparkProcess(folder / "scratch", folder / "log", master="local[2]", memory="1g")
serve = Serve(GraphWriter(folder / "graph.db", Names(key)), key, Limits(trigger_ms=100), lambda *_: None)
warm_up(spark.session, key)
with LogWriter(folder / "events") as log:
    query = serve.start(spark.session, folder / "events", folder / "scratch")
    log.append([LogRecord(RecordKind.REJECTED, bytes(16), 1, "http", "", b"", b"{}")])
    while query.isActive and not serve.store.position("log"):
        time.sleep(0.1)
    query.stop()
serve.close()
spark.session.stop()
SparkContext._gateway.shutdown()
spark.java.stdin.close()
spark.java.wait()
"""
"""Starts Spark, streams one record into a store, and ends in order, upon which Java writes its classes."""


@cache
def quick_java() -> Mapping[str, str]:
    """Variables for a process that starts Spark.

    The launcher, a Java of its own that only prints Spark's command line, compiles as little as possible.
    """
    installed = Path(pyspark.__file__).parent
    release = Path(ivy_for(os.environ).java).resolve().parents[1] / "release"
    pins = [f"{path} {path.stat().st_size} {path.stat().st_mtime_ns}".encode() for path in sorted((installed / "jars").glob("*.jar"))]
    pins += [str(ENVIRONMENT).encode(), *([release.read_bytes()] if release.exists() else [])]

    def make_home(home: Path) -> None:
        home.mkdir()
        for part in ("bin", "jars"):
            (home / part).symlink_to(installed / part)

    spark_home = str(archives.made_in(ENVIRONMENT, "spark-home", [str(installed).encode()], make_home))

    def make_classes(home: Path) -> None:
        for old in ENVIRONMENT.glob(f"{_NAME}-*"):
            shutil.rmtree(old)
        home.mkdir()
        environment = {**os.environ, "SPARK_HOME": spark_home, "SPARK_SUBMIT_OPTS": f"-XX:ArchiveClassesAtExit={home / _CLASSES}"}
        with TemporaryDirectory() as folder:
            command = [sys.executable, "-c", _STREAM, folder]
            subprocess.run(command, env=environment, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        assert (home / _CLASSES).is_file(), "Java has not written its classes"

    classes = archives.made_in(ENVIRONMENT, _NAME, pins, make_classes) / _CLASSES
    return MappingProxyType(
        {
            "SPARK_HOME": spark_home,
            "SPARK_SUBMIT_OPTS": f"-XX:SharedArchiveFile={classes} -Xshare:auto",
            "SPARK_LAUNCHER_OPTS": "-XX:+UseSerialGC -XX:TieredStopAtLevel=1",
        }
    )


@contextmanager
def quickly() -> Iterator[None]:
    """What this process starts of Spark meanwhile, it starts quickly."""
    with pytest.MonkeyPatch.context() as patch:
        for name, value in quick_java().items():
            patch.setenv(name, value)
        yield
