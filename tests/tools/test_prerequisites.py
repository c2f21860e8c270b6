"""What a machine lacks is reported in one line, with the way to get it."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).resolve().parents[2] / "tools" / "prerequisites.sh"
SHELL = shutil.which("sh") or "/bin/sh"


class Machine:
    """A machine whose PATH holds only the programs put there."""

    def __init__(self, programs: Path) -> None:
        self.programs = programs
        self.environment = {"PATH": str(programs)}

    def put(self, name: str, script: str, folder: Path | None = None) -> None:
        path = (folder or self.programs) / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"#!{SHELL}\n{script}\n")
        path.chmod(0o755)

    def put_java(self, version: str, folder: Path | None = None) -> None:
        self.put("java", f"""echo 'openjdk version "{version}" 2025-04-15' >&2""", folder)

    def put_python(self, name: str = "python3") -> None:
        self.put(name, f'exec "{sys.executable}" "$@"')

    def check(self) -> tuple[int, str, list[str]]:
        done = subprocess.run([SHELL, SCRIPT], env=self.environment, capture_output=True, text=True, check=False)
        return done.returncode, done.stdout.strip(), done.stderr.splitlines()


@pytest.fixture
def machine(tmp_path):
    machine = Machine(tmp_path / "bin")
    machine.put_python()
    machine.put_java("17.0.15")
    machine.put("git", "")
    machine.put("bash", "")
    return machine


def test_a_machine_with_all_of_it_gives_its_python(machine):
    assert machine.check() == (0, str(machine.programs / "python3"), [])


@pytest.mark.parametrize("version", ["17", "17.0.15", "21-ea", "21.0.2"])
def test_java_that_spark_runs_on_is_taken(machine, version):
    machine.put_java(version)
    assert machine.check()[0] == 0


@pytest.mark.parametrize("version", ["1.8.0_392", "11.0.2", "25", "25.0.1", "170.1"])
def test_another_java_is_reported(machine, version):
    machine.put_java(version)
    code, _, messages = machine.check()
    assert code == 1
    assert len(messages) == 1
    assert f"needs Java 17 or 21 (found: {version} " in messages[0]
    assert "get 17 or 21 by" in messages[0]


def test_java_home_goes_before_the_path_as_it_does_for_spark(machine, tmp_path):
    machine.put_java("25.0.1")
    machine.put_java("21.0.2", tmp_path / "jdk" / "bin")
    machine.environment["JAVA_HOME"] = str(tmp_path / "jdk")
    assert machine.check()[0] == 0
    machine.environment["JAVA_HOME"] = str(tmp_path / "empty")
    assert machine.check()[2][0].startswith("lineage-bridge: needs Java 17 or 21 (found: no ")


@pytest.mark.parametrize("program", ["java", "git", "bash", "python3"])
def test_a_missing_program_is_reported_in_one_line(machine, program):
    (machine.programs / program).unlink()
    code, _, messages = machine.check()
    assert code == 1
    assert len(messages) == 1
    assert "; get " in messages[0]


def test_an_old_python_is_passed_over_for_a_newer_one(machine):
    machine.put("python3", 'case $1 in --version) echo "Python 3.9.2";; *) exit 1;; esac')
    assert "needs Python 3.10 or newer (found: Python 3.9.2)" in machine.check()[2][0]
    machine.put_python("python3.12")
    assert machine.check() == (0, str(machine.programs / "python3.12"), [])


def test_a_python_without_virtual_environments_is_reported(machine):
    machine.put("python3", "case $2 in *ensurepip*) exit 1;; esac")
    code, _, messages = machine.check()
    assert code == 1
    assert "apt install python3-venv" in messages[0]


def test_everything_missing_is_reported_at_once(machine):
    for program in ("java", "git"):
        (machine.programs / program).unlink()
    assert len(machine.check()[2]) == len(("java", "git"))
