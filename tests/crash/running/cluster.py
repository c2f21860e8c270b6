"""A Spark cluster on this machine: a master, and workers with one core each, as processes of their own."""

import os
import signal
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import psutil
from tests.ports import HOST, free_port
from tests.servers.process import QUICK, Process, java, running
from tests.servers.quick_spark import quick_java

DEPLOY = "org.apache.spark.deploy"


@dataclass(frozen=True)
class SparkCluster:
    """The master's address, and the workers by number."""

    master: str
    workers: tuple[Process, ...]

    def executors(self, worker: int) -> list[psutil.Process]:
        """The executors of a worker that run now."""
        children = psutil.Process(self.workers[worker].guard.pid).children(recursive=True)
        return [child for child in children if any(part.endswith("CoarseGrainedExecutorBackend") for part in child.cmdline())]

    def kill(self, worker: int) -> None:
        """End a worker and its executors at once, as a machine does that loses its power."""
        for process in psutil.Process(self.workers[worker].guard.pid).children(recursive=True):
            process.send_signal(signal.SIGKILL)
        self.workers[worker].guard.wait(30)


@contextmanager
def spark_cluster(folder: Path, workers: int) -> Iterator[SparkCluster]:
    """A cluster that runs during a `with` block, with its files in `folder`."""
    folder.mkdir()
    quick = quick_java()
    home = quick["SPARK_HOME"]
    # Java takes the classes of an earlier start only with the class path of that start.
    archives = f"{home}/conf/:{home}/jars/*"
    environment = {"SPARK_HOME": home, "SPARK_LOCAL_IP": HOST, "SPARK_SCALA_VERSION": "2.13", "PATH": os.environ["PATH"]}
    # Executors have no options of their own: they are started with those of the environment.
    environment["JAVA_TOOL_OPTIONS"] = f"{' '.join(QUICK)} {quick['SPARK_SUBMIT_OPTS']}"
    port = free_port()
    master = f"spark://{HOST}:{port}"

    def start(stack: ExitStack, name: str, *arguments: str) -> Process:
        command = [*java("256m", "-cp", archives), *arguments]
        return stack.enter_context(running(name, command, folder, environment=environment))

    with ExitStack() as stack:
        address = ("--host", HOST, "--webui-port", "0")
        leader = start(stack, "master", f"{DEPLOY}.master.Master", *address, "--port", str(port))
        leader.wait_until(lambda: leader.has_logged("New state: ALIVE"))
        started = []
        for number in range(workers):
            limits = ("--cores", "1", "--memory", "1200m", "--work-dir", str(folder / f"work-{number}"))
            started.append(start(stack, f"worker-{number}", f"{DEPLOY}.worker.Worker", *address, *limits, master))
        for worker in started:
            worker.wait_until(partial(worker.has_logged, "Successfully registered with master"))
        yield SparkCluster(master, tuple(started))
