"""Flink's planner, from the wheel of its Java libraries."""

import os
import shutil
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from tests.servers.archives import REQUIREMENTS, installed, made

HERE = Path(__file__).resolve().parent
LOADER = "flink-table-planner-loader-*.jar"
PLANNER = "flink-table-planner.jar"


def jars() -> list[Path]:
    """The archives of the locked version. Raises CalledProcessError if pip, which prints the reason, cannot fetch it."""
    libraries = installed("flink") / "pyflink" / "lib"
    # The loader hides the planner's classes from callers; the planner itself is inside it.
    (loader,) = libraries.glob(LOADER)

    def extract(home: Path) -> None:
        with zipfile.ZipFile(loader) as archive:
            archive.extract(PLANNER, home)

    planner = made("flink-planner", [REQUIREMENTS / "flink.txt"], extract) / PLANNER
    return [*sorted(set(libraries.glob("*.jar")) - {loader}), planner]


def plan(scripts: Mapping[str, Sequence[str]]) -> list[list[str]]:
    """The lines that `Oracle.java` prints for the scripts (name to statements), each split into fields.

    Raises CalledProcessError if it does not compile or ends early; it prints the reason itself. Exits if there is no Java compiler.
    """
    home = os.environ.get("JAVA_HOME")
    java = str(Path(home) / "bin" / "java") if home else "java"
    if not shutil.which(f"{java}c"):
        sys.exit(f"make oracle: there is no {java}c; it needs a JDK of Java 17 or 21, on the PATH or in JAVA_HOME")
    archives = os.pathsep.join(str(jar) for jar in jars())
    with tempfile.TemporaryDirectory(prefix="lineage-bridge-oracle-") as scratch:
        classes, folder = Path(scratch) / "classes", Path(scratch) / "scripts"
        folder.mkdir()
        for name, statements in scripts.items():
            (folder / name).write_text("\0".join(statements), encoding="utf-8")
        sources = sorted(HERE.glob("*.java"))
        subprocess.run([f"{java}c", "-nowarn", "-XDsuppressNotes", "-proc:none", "-cp", archives, "-d", classes, *sources], check=True)
        command = [java, "-Xmx1g", "-XX:TieredStopAtLevel=1", "-cp", f"{classes}{os.pathsep}{archives}", "Oracle", str(folder)]
        done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, encoding="utf-8")
    return [line.split("\t") for line in done.stdout.splitlines()]
