"""The package that executors of a cluster are sent, and executors that have nothing else."""

import random
import subprocess
import sys
import tarfile
from pathlib import Path

import psutil
import pytest
from tests.crash.running.cluster import spark_cluster
from tests.crash.running.support import SPARK_S, Acknowledged, Pair, audit, event_of, nothing_left, pipeline_status, settings_in, until

from lineage_bridge import pipeline
from lineage_bridge.graph.ids import event_id
from lineage_bridge.pipeline.cluster.package import FOLDER, PYTHON, launcher, make_package, package_files, working_in

IMPORT = """
import importlib, pkgutil, sys
import pyspark
import lineage_bridge.pipeline as pipeline
for module in pkgutil.walk_packages(pipeline.__path__, "lineage_bridge.pipeline."):
    importlib.import_module(module.name)
print(pipeline.__file__, pyspark.__file__, sys.version_info[:2], sep="\\n")
"""


@pytest.fixture(scope="module")
def unpacked(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of an executor that has unpacked the package."""
    folder = tmp_path_factory.mktemp("package")
    with tarfile.open(make_package(folder)) as tar:
        tar.extractall(folder / "executor" / FOLDER, filter="data")
    return folder


def test_whatever_may_run_on_executors_is_packed(unpacked: Path) -> None:
    executor = unpacked / "executor"
    bare = {"PATH": "/usr/bin:/bin"}
    done = subprocess.run([PYTHON, "-c", IMPORT], cwd=executor, env=bare, capture_output=True, text=True, check=False)
    package, pyspark, version = done.stdout.splitlines() or pytest.fail(done.stderr)
    assert Path(package).is_relative_to(executor)
    assert Path(pyspark).is_relative_to(executor)
    assert version == str(sys.version_info[:2])


def test_the_drivers_python_has_the_same_path(unpacked: Path) -> None:
    with working_in(unpacked):
        done = subprocess.run([PYTHON, "-c", IMPORT], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[0] == pipeline.__file__


def test_a_machine_without_the_drivers_python_says_so(tmp_path: Path) -> None:
    program = tmp_path / "python"
    version = "{}.{}".format(*sys.version_info)
    program.write_text(launcher().replace(version, "2.6"))
    done = subprocess.run(["sh", program, "-c", ""], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "has no Python 2.6 on its PATH, which the driver of LineageBridge runs" in done.stderr


def test_neither_jars_nor_the_web_page_are_packed() -> None:
    names = package_files()
    assert "lineage_bridge/pipeline/workers.py" in names
    assert "pyspark/worker.py" in names
    assert not [name for name in names if name.endswith(".jar") or name.startswith(("lineage_bridge/api/web/static/", ".."))]


@pytest.mark.spark
def test_executors_without_lineage_bridge_fold_with_what_they_are_sent(tmp_path: Path) -> None:
    folder = tmp_path / "data"
    folder.mkdir()
    with spark_cluster(tmp_path / "cluster", workers=1) as cluster, nothing_left(folder):
        settings = settings_in(folder).model_copy(
            update={"spark_master": cluster.master, "spark_driver_host": "127.0.0.1", "spark_ship": True}
        )
        with Pair(settings) as pair:
            pair.wait_for(pair.running["api"])
            # Packing and unpacking come on top of a start.
            until(lambda: pipeline_status(settings).get("state") == "running", 3 * SPARK_S, "the pipeline")
            chance, acknowledged = random.Random(19), Acknowledged()
            bodies = [event_of(number, chance) for number in range(100)]
            acknowledged.events += [event_id(body).hex() for body in bodies]
            end = pair.asking.post(*bodies)
            until(lambda: pair.asking.applied() >= end, SPARK_S, "the batches of an executor that was sent the package")
            # The pipeline's state is written after the commit.
            until(lambda: pipeline_status(settings).get("workers"), SPARK_S, "the workers of a batch")
            workers = [psutil.Process(pid) for pid in pipeline_status(settings)["workers"]]
            for worker in workers:
                assert Path(worker.exe()).samefile(Path(sys._base_executable).resolve())  # type: ignore[attr-defined]  # CPython's
                assert worker.environ()["PYTHONPATH"].startswith(f"{worker.cwd()}/{FOLDER}/packages")
                assert Path(worker.cwd()).is_relative_to(tmp_path / "cluster")
            pair.settle()
            pair.stop()
        audit(settings, acknowledged)
