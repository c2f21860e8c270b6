"""Sets up .venv from the hashed locks: `environment.py run|dev`. Does nothing, at once, when .venv is already that.

Runs on any Python >= 3.10 without a package. Whatever is installed is named with its hash in requirements/; what comes
as source is built by the locked build tools, never in isolation with newer ones.
"""

import fcntl
import hashlib
import subprocess
import sys
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
VENV = ROOT / ".venv"
PYTHON = VENV / "bin" / "python"
BUILD = ROOT / "requirements" / "build.txt"
# The wider set holds the narrower one, in the same versions.
HELD_BY = {"run": ("run", "dev"), "dev": ("dev",)}


def lock_of(name: str) -> Path:
    """The hashed list of what the set is made of."""
    return ROOT / "requirements" / f"{name}.txt"


def digest(name: str) -> str:
    """What the set is made from: its locks, the package's own description, and the place its scripts point to."""
    sources = (BUILD, lock_of(name), ROOT / "pyproject.toml", Path(__file__))
    parts = [hashlib.sha256(source.read_bytes()).hexdigest() for source in sources]
    return "\n".join([str(ROOT), *parts])


def stamp_of(name: str) -> Path:
    """Where it is noted that the set is installed; inside .venv, so it goes when that goes."""
    return VENV / f"installed-{name}"


def is_installed(name: str) -> bool:
    """Whether .venv holds the set, by itself or as part of a wider one."""
    return works() and any(stamp_of(holder).is_file() and stamp_of(holder).read_text() == digest(holder) for holder in HELD_BY[name])


def works() -> bool:
    """Whether .venv has a Python that starts, is new enough and belongs to this checkout."""
    marks = [stamp_of(name) for name in HELD_BY if stamp_of(name).is_file()]
    if any(mark.read_text().splitlines()[:1] != [str(ROOT)] for mark in marks):
        return False
    probe = "import sys; sys.exit(sys.version_info < (3, 10))"
    try:
        return subprocess.run([PYTHON, "-c", probe], check=False, capture_output=True).returncode == 0
    except OSError:
        return False


def pip(*arguments: str | Path) -> None:
    """Runs the environment's pip; raises CalledProcessError when it fails, with its own message printed before."""
    quiet = ("--quiet", "--disable-pip-version-check", "--no-input")
    subprocess.run([PYTHON, "-m", "pip", "install", *quiet, *arguments], check=True, cwd=ROOT)


def install(name: str) -> None:
    """Puts the set into .venv, made anew when it does not work."""
    if not works():
        venv.create(VENV, clear=True, with_pip=True)
    for holder in HELD_BY:
        stamp_of(holder).unlink(missing_ok=True)
    pip("--require-hashes", "-r", BUILD)
    # Half of the time would go into compiling modules that no test loads. What a user starts is compiled beforehand.
    compiled = () if name == "run" else ("--no-compile",)
    pip("--require-hashes", "--no-build-isolation", *compiled, "-r", lock_of(name))
    pip("--no-deps", "--no-build-isolation", "--editable", ROOT)
    stamp_of(name).write_text(digest(name))


def main() -> int:
    """Returns 0, or 1 after one line about the failure."""
    name = sys.argv[1]
    if is_installed(name):
        return 0
    # Two calls of make in one checkout take turns; the second finds the work done.
    with (ROOT / ".venv.lock").open("w") as turn:
        fcntl.flock(turn, fcntl.LOCK_EX)
        if is_installed(name):
            return 0
        print(f"lineage-bridge: setting up .venv ({name}); the first time takes a few minutes", flush=True)
        try:
            install(name)
        except subprocess.CalledProcessError:
            print("lineage-bridge: .venv could not be set up; pip tells why above", file=sys.stderr)
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
