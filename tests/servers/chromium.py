"""Debian's Chromium: the one of the machine, or one that is unpacked from Debian's packages into the user's cache, without root."""

import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from filelock import FileLock

from tests.servers import archives

NAMED = "TEST_CHROMIUM"
PACKAGE = "chromium"
_ON_PATH = ("chromium", "chromium-browser", "google-chrome-stable")


@dataclass(frozen=True)
class Chromium:
    """A browser to start: its program, and the variables that it needs."""

    program: Path
    variables: Mapping[str, str] = field(default_factory=dict)


class NoBrowserError(RuntimeError):
    """There is no Chromium, and none can be had; the message says how to get one."""


def chromium() -> Chromium:
    """The browser named by TEST_CHROMIUM, or that of the PATH, or that of Debian's packages. Raises NoBrowserError."""
    named = os.environ.get(NAMED)
    found = named or next(filter(None, map(shutil.which, _ON_PATH)), None)
    if found:
        return Chromium(Path(found))
    if not (shutil.which("apt-get") and shutil.which("dpkg-deb")):
        raise NoBrowserError(f"the tests of the page need Chromium: install it, or name its program in {NAMED}")
    try:
        folder = _unpacked()
    except subprocess.CalledProcessError as error:
        raise NoBrowserError(f"Chromium could not be fetched with apt-get: {error.stderr}; install it, or name it in {NAMED}") from error
    libraries = ":".join(sorted({str(path.parent) for path in folder.glob("usr/lib/*-linux-gnu*/**/*.so*")}))
    return Chromium(folder / "usr/lib/chromium/chromium", {"LD_LIBRARY_PATH": libraries})


def _unpacked() -> Path:
    """The folder with the packages that the machine lacks for Chromium."""
    home = archives.cache() / "chromium"
    with FileLock(archives.cache() / ".chromium.lock"):
        if (home / "usr/lib/chromium/chromium").is_file():
            return home
        with tempfile.TemporaryDirectory(prefix=".fetch-", dir=archives.cache()) as scratch:
            folder = Path(scratch)
            options = _apt_options(folder)
            packages = _missing(options) or _missing(options, update=True)
            _run(["apt-get", *options, "download", *packages], folder)
            whole = folder / "whole"
            for package in sorted(folder.glob("*.deb")):
                _run(["dpkg-deb", "--extract", str(package), str(whole)], folder)
            whole.replace(home)
    return home


def _apt_options(folder: Path) -> list[str]:
    """Options with which apt keeps what it fetches in a folder of ours."""
    lists = folder / "lists"
    (lists / "partial").mkdir(parents=True)
    (folder / "archives" / "partial").mkdir(parents=True)
    sandbox = ["-o", "APT::Sandbox::User="]
    return [*sandbox, "-o", f"Dir::State::lists={lists}", "-o", f"Dir::Cache={folder}", "-o", "Acquire::Languages=none"]


def _missing(options: list[str], *, update: bool = False) -> list[str]:
    """The packages that would have to be installed, each with its version; none if the lists of packages are not there yet."""
    if update:
        _run(["apt-get", *options, "update"], Path("/"))
    command = ["apt-get", *options, "--simulate", "--no-install-recommends", "install", PACKAGE]
    done = subprocess.run(command, capture_output=True, text=True, check=update, env={**os.environ, "LC_ALL": "C"})
    return [f"{name}={version}" for name, version in re.findall(r"^Inst (\S+) .*?\((\S+) ", done.stdout, re.MULTILINE)]


def _run(command: list[str], folder: Path) -> None:
    subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True)
