"""Helm, as a native library in Java, and what else judges `deploy/`: hadolint, and the schemas of Kubernetes' objects."""

import json
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.servers.archives import installed, jars

from lineage_bridge.pipeline.streams.jars import ivy_for

ROOT = Path(__file__).resolve().parents[2]
CHART = ROOT / "deploy" / "helm" / "lineage-bridge"
RENDERED_FOR = "1.30.0"
VALIDATE = """
import json, sys
import kubernetes_validate
versions, objects = json.load(sys.stdin)
for version in versions:
    for object in objects:
        try:
            kubernetes_validate.validate(object, version, strict=True)
        except kubernetes_validate.ValidationError as error:
            print(f"{version}: {object['kind']}: {error.message}")
"""


@dataclass(frozen=True)
class Rendering:
    """What Helm made of the chart: its linter's lines, and per case the manifests or the text of the error."""

    lint: Sequence[str]
    manifests: Mapping[str, str]
    errors: Mapping[str, str]


def render(cases: Mapping[str, Mapping[str, Any]], folder: Path) -> Rendering:
    """Render the chart with the values of each case, in one Java process. Raises CalledProcessError if Java fails, which prints why."""
    for name, values in cases.items():
        (folder / f"{name}.values").write_text(json.dumps(values), encoding="utf-8")
    archives = os.pathsep.join(map(str, jars("helm")))
    options = ("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-XX:-UsePerfData", "-cp", archives)
    source = Path(__file__).with_name("Render.java")
    command = list(map(str, (ivy_for(os.environ).java, *options, source, CHART, folder, RENDERED_FOR)))
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    return Rendering(done.stdout.splitlines(), _texts(folder, "yaml"), _texts(folder, "error"))


def _texts(folder: Path, ending: str) -> dict[str, str]:
    return {path.stem: path.read_text(encoding="utf-8") for path in folder.glob(f"*.{ending}")}


def invalid(objects: Sequence[Mapping[str, Any]], versions: Sequence[str]) -> list[str]:
    """What the strict schemas of these versions of Kubernetes find wrong with the objects."""
    environment = {**os.environ, "PYTHONPATH": str(installed("deploy"))}
    given = json.dumps([list(versions), list(objects)])
    command = [sys.executable, "-c", VALIDATE]
    done = subprocess.run(command, input=given, env=environment, check=True, stdout=subprocess.PIPE, text=True)
    return done.stdout.splitlines()


def hadolint(dockerfile: Path) -> list[str]:
    """What hadolint finds, a line each."""
    command = [str(installed("deploy") / "bin" / "hadolint"), "--no-color", str(dockerfile)]
    return subprocess.run(command, check=False, stdout=subprocess.PIPE, text=True).stdout.splitlines()
