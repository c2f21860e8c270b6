"""A virtual environment for each producer, in the user's cache: the product's own dependencies stay as they are.

What is in it is pinned with hashes in `requirements/producers-NAME.txt`, which `make lock` writes.
"""

import hashlib
import shutil
import subprocess
import sys
import venv
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import platformdirs
from filelock import FileLock
from tests.serving import bare_environment

REQUIREMENTS = Path(__file__).resolve().parents[2] / "requirements"
INSTALLED = "installed"


class ProducerError(Exception):
    """A producer cannot be installed, or its program failed; the text says what to do."""


@dataclass(frozen=True)
class Environment:
    """A virtual environment that is complete."""

    home: Path

    def program(self, name: str) -> str:
        """The path of one of its programs."""
        return str(self.home / "bin" / name)

    def variables(self, **more: str) -> dict[str, str]:
        """The variables of a shell in which it is activated, without settings of LineageBridge or of a producer."""
        system = {name: value for name, value in bare_environment().items() if not name.startswith(("PYTHON", "AIRFLOW", "DBT_"))}
        path = f"{self.home / 'bin'}:{system.get('PATH', '')}"
        return {**system, "PATH": path, "VIRTUAL_ENV": str(self.home), "LC_ALL": "C.UTF-8", **more}


def environment(name: str, requirements: Path = REQUIREMENTS) -> Environment:
    """The producer's environment, made now or before. Raises ProducerError when pip cannot install it."""
    lock = requirements / f"producers-{name}.txt"
    digest = hashlib.sha256(lock.read_bytes() + sys.version.encode()).hexdigest()
    folder = Path(platformdirs.user_cache_dir("lineage-bridge")) / "producers"
    folder.mkdir(parents=True, exist_ok=True)
    home = folder / f"{name}-{digest[:16]}"
    with FileLock(folder / f".{name}.lock"):
        # An environment knows its own path, so it is made in its final place; it counts once the stamp is there.
        if not (home / INSTALLED).exists():
            shutil.rmtree(home, ignore_errors=True)
            _install(name, home, lock)
            (home / INSTALLED).touch()
    return Environment(home)


def _install(name: str, home: Path, lock: Path) -> None:
    venv.create(home, with_pip=False)
    pip = [sys.executable, "-m", "pip", "--python", str(home / "bin" / "python"), "install", "--quiet", "--disable-pip-version-check"]
    options = ["--no-input", "--no-deps", "--require-hashes", "--only-binary", ":all:", "-r", str(lock)]
    if subprocess.run([*pip, *options], check=False).returncode != 0:
        raise ProducerError(f"{name} cannot be installed from requirements/{lock.name}; pip says why above")


def run(
    command: list[str], folder: Path, variables: Mapping[str, str], *, codes: tuple[int, ...] = (0,)
) -> "subprocess.CompletedProcess[str]":
    """Runs a program of a producer. Raises ProducerError, with the end of its output, when its exit code is not expected."""
    done = subprocess.run(command, cwd=folder, env=dict(variables), capture_output=True, text=True, check=False)
    if done.returncode not in codes:
        output = "\n".join((done.stdout + done.stderr).splitlines()[-40:])
        raise ProducerError(f"{Path(command[0]).name} {' '.join(command[1:3])} ended with {done.returncode}:\n{output}")
    return done
