"""The Dockerfile and the program that its containers start."""

import os
import re
import subprocess
from pathlib import Path

from tests.deploy.helm import ROOT, hadolint

DOCKERFILE = ROOT / "Dockerfile"
ENTRYPOINT = ROOT / "deploy" / "entrypoint.sh"
SPARK = {
    "SPARK_DRIVER_URL": "spark://driver@10.0.0.7:7078",
    "SPARK_EXECUTOR_ID": "3",
    "SPARK_EXECUTOR_CORES": "2",
    "SPARK_EXECUTOR_MEMORY": "2g",
    "SPARK_APPLICATION_ID": "spark-1",
    "SPARK_EXECUTOR_POD_IP": "10.0.0.8",
    "SPARK_RESOURCE_PROFILE_ID": "0",
    "SPARK_EXECUTOR_POD_NAME": "executor-3",
    "SPARK_CONF_DIR": "/opt/spark/conf",
    "SPARK_JAVA_OPT_0": "-Dspark.driver.port=7078",
    "SPARK_JAVA_OPT_1": "-Dname=with a space and 'quotes' and $(no command)",
}


def started(tmp_path: Path, arguments: list[str], variables: dict[str, str]) -> list[str]:
    """What the entry point starts: the program and its arguments. Programs of these names print them."""
    for name in ("java", "lineage-bridge"):
        program = tmp_path / name
        program.write_text('#!/bin/sh\nprintf "%s\\n" "${0##*/}" "$@"\n')
        program.chmod(0o755)
    python = tmp_path / "python"
    python.write_text('#!/bin/sh\necho "/packages/pyspark"\n')
    python.chmod(0o755)
    environment = {"PATH": os.pathsep.join((str(tmp_path), os.environ["PATH"])), **variables}
    done = subprocess.run(["sh", ENTRYPOINT, *arguments], env=environment, check=True, capture_output=True, text=True)
    return done.stdout.splitlines()


def test_hadolint_finds_nothing(tmp_path: Path) -> None:
    assert hadolint(DOCKERFILE) == []
    worse = tmp_path / "Dockerfile"
    worse.write_text(re.sub(r"(?<=FROM python):\S+", "", DOCKERFILE.read_text()))
    assert any("DL3006" in line for line in hadolint(worse))


def test_commands_are_lineage_bridges(tmp_path: Path) -> None:
    assert started(tmp_path, ["serve", "--demo"], {}) == ["lineage-bridge", "serve", "--demo"]


def test_an_executor_is_started_as_spark_describes_it(tmp_path: Path) -> None:
    assert started(tmp_path, ["executor"], SPARK) == [
        "java",
        "-Dspark.driver.port=7078",
        "-Dname=with a space and 'quotes' and $(no command)",
        "-Xms2g",
        "-Xmx2g",
        "-cp",
        "/opt/spark/conf:/packages/pyspark/jars/*",
        "org.apache.spark.scheduler.cluster.k8s.KubernetesExecutorBackend",
        *("--driver-url", "spark://driver@10.0.0.7:7078"),
        *("--executor-id", "3"),
        *("--cores", "2"),
        *("--app-id", "spark-1"),
        *("--hostname", "10.0.0.8"),
        *("--resourceProfileId", "0"),
        *("--podName", "executor-3"),
    ]


def test_what_the_image_copies_is_sent_to_the_builder() -> None:
    kept = {line[1:] for line in (ROOT / ".dockerignore").read_text().splitlines() if line.startswith("!")}
    assert all((ROOT / name).exists() for name in kept)
    copied = re.findall(r"^COPY (?!--from)(?:--\S+ )*(.+) \S+$", DOCKERFILE.read_text(), re.MULTILINE)
    for source in {word for line in copied for word in line.split()} - {"."}:
        assert any(source == name or source.startswith(f"{name}/") for name in kept), source


def test_the_image_has_no_secrets_and_another_user_than_root() -> None:
    text = DOCKERFILE.read_text()
    assert re.findall(r"^USER (.+)$", text, re.MULTILINE) == ["10001:10001"]
    assert "ARG" not in text
    assert not [base for base in re.findall(r"^FROM (\S+)", text, re.MULTILINE) if ":" not in base]
