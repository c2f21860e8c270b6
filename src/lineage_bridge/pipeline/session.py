"""The Spark session: one driver, with local workers or with the executors of a cluster. It has no user interface, and resolves no
dependencies when it starts.
"""

import os
import socket
import sys
from collections.abc import Sequence
from contextlib import nullcontext
from pathlib import Path

from pyspark.sql import SparkSession

from lineage_bridge.pipeline.cluster.package import FOLDER, PYTHON, working_in

_JVM = "-XX:+UseSerialGC -XX:TieredStopAtLevel=1 -Djava.net.preferIPv4Stack=true -Dderby.system.home={scratch}"
_SETTINGS = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.shuffle.partitions": "2",
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.execution.arrow.maxRecordsPerBatch": "1000",
    "spark.sql.execution.arrow.maxBytesPerBatch": str(16 << 20),
    "spark.python.worker.reuse": "true",
    "spark.python.daemon.module": "lineage_bridge.pipeline.workers",
    "spark.sql.streaming.minBatchesToRetain": "20",
    "spark.sql.streaming.noDataMicroBatches.enabled": "false",
    "spark.sql.streaming.numRecentProgressUpdates": "5",
    "spark.sql.streaming.stopTimeout": "20s",
    "spark.sql.streaming.checkpointFileManagerClass": (
        "org.apache.spark.sql.execution.streaming.checkpointing.FileSystemBasedCheckpointFileManager"
    ),
    "spark.hadoop.fs.file.impl": "org.apache.hadoop.fs.RawLocalFileSystem",
    "spark.log.level": "ERROR",
}
_LOOPBACK = "127.0.0.1"
_CLUSTER_SETTINGS = {
    "spark.scheduler.minRegisteredResourcesRatio": "0.8",
    "spark.scheduler.maxRegisteredResourcesWaitingTime": "30s",
}


def is_local(master: str) -> bool:
    """Whether a master of Spark runs its workers in the driver's own process, as `local[2]` does."""
    return master.partition("[")[0] == "local"


def start_session(
    scratch: Path, *, master: str, memory: str, driver_host: str = "", jars: Sequence[Path] = (), package: Path | None = None
) -> SparkSession:
    """Start a session that keeps its files in `scratch`. `memory` is the size of the driver's heap in Java's notation (1g).

    `driver_host` is the host at which the executors of a cluster reach the driver (empty: this machine's name). `jars` are additional Java
    archives. `package` is the archive from which executors run LineageBridge, in the folder that `make_package` has filled (None: they have
    it themselves, at the path that it has here).
    """
    scratch.mkdir(parents=True, exist_ok=True)
    os.environ["PYSPARK_PYTHON"] = PYTHON if package else sys.executable
    os.environ["PYSPARK_DRIVER_PYTHON"] = sys.executable
    host = _LOOPBACK if is_local(master) else driver_host or socket.getfqdn()
    # Spark asks for the address of this machine's name before it reads any setting, and ends if the name has none.
    os.environ["SPARK_LOCAL_IP"] = host
    builder = SparkSession.builder.appName("lineage-bridge").master(master)
    for name, value in {**_SETTINGS, **({} if is_local(master) else _CLUSTER_SETTINGS), "spark.driver.host": host}.items():
        builder = builder.config(name, value)
    if is_local(master):
        builder = builder.config("spark.driver.bindAddress", _LOOPBACK)
    builder = builder.config("spark.driver.memory", memory).config("spark.local.dir", str(scratch))
    builder = builder.config("spark.sql.warehouse.dir", str(scratch / "warehouse"))
    builder = builder.config("spark.driver.extraJavaOptions", _JVM.format(scratch=scratch))
    if jars:
        builder = builder.config("spark.jars", ",".join(map(str, jars)))
    if package:
        builder = builder.config("spark.archives", f"{package}#{FOLDER}")
    with working_in(package.parent) if package else nullcontext():
        session: SparkSession = builder.getOrCreate()
    return session
