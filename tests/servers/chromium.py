"""Debian's Chromium: the one of the machine, or one that is unpacked from Debian's packages into the user's cache, without root.

Tests take its shell without windows: the same engine, in which opening a page costs a third of the processor time.
"""

import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from filelock import FileLock

from tests.servers import archives

NAMED = "TEST_CHROMIUM"
WHOLE, SHELL = "chromium", "chromium-headless-shell"
"""Debian's packages, and the names of their programs."""
_COMMON = "chromium-common"
"""The package with the files that both programs read from beside them."""
_ON_PATH = (WHOLE, "chromium-browser", "google-chrome-stable")


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
    return Chromium(Path(found)) if found else _from_packages(WHOLE)


@cache
def shell() -> Chromium:
    """As `chromium`, but the shell without windows, wherever it can be had. Raises NoBrowserError."""
    if os.environ.get(NAMED):
        return chromium()
    if found := shutil.which(SHELL):
        return Chromium(Path(found))
    try:
        return _from_packages(SHELL)
    except NoBrowserError:
        return chromium()


def _from_packages(package: str) -> Chromium:
    if not (shutil.which("apt-get") and shutil.which("dpkg-deb")):
        raise NoBrowserError(f"the tests of the page need Chromium: install it, or name its program in {NAMED}")
    try:
        folder = _unpacked(package)
    except subprocess.CalledProcessError as error:
        raise NoBrowserError(f"Chromium could not be fetched with apt-get: {error.stderr}; install it, or name it in {NAMED}") from error
    libraries = ":".join(sorted({str(path.parent) for path in folder.glob("usr/lib/*-linux-gnu*/**/*.so*")}))
    return Chromium(folder / "usr/lib/chromium" / package, {"LD_LIBRARY_PATH": libraries} if libraries else {})


def _unpacked(package: str) -> Path:
    """The folder with the packages that the machine lacks for a package, and with what its program reads from beside it."""
    home = archives.cache() / package
    with FileLock(archives.cache() / f".{package}.lock"):
        if (home / "usr/lib/chromium" / package).is_file():
            return home
        with tempfile.TemporaryDirectory(prefix=".fetch-", dir=archives.cache()) as scratch:
            folder = Path(scratch)
            options = _apt_options(folder)
            versions = _missing(package, options) or _missing(package, options, update=True)
            versions.setdefault(_COMMON, versions[package])
            _run(["apt-get", *options, "download", *map("=".join, versions.items())], folder)
            whole = folder / "whole"
            for archive in sorted(folder.glob("*.deb")):
                _run(["dpkg-deb", "--extract", str(archive), str(whole)], folder)
            whole.replace(home)
    return home


def _apt_options(folder: Path) -> list[str]:
    """Options with which apt keeps what it fetches in a folder of ours."""
    lists = folder / "lists"
    (lists / "partial").mkdir(parents=True)
    (folder / "archives" / "partial").mkdir(parents=True)
    sandbox = ["-o", "APT::Sandbox::User="]
    return [*sandbox, "-o", f"Dir::State::lists={lists}", "-o", f"Dir::Cache={folder}", "-o", "Acquire::Languages=none"]


def _missing(package: str, options: list[str], *, update: bool = False) -> dict[str, str]:
    """The packages that would have to be installed, each with its version; none if the lists of packages are not there yet."""
    if update:
        _run(["apt-get", *options, "update"], Path("/"))
    command = ["apt-get", *options, "--simulate", "--no-install-recommends", "install", package]
    done = subprocess.run(command, capture_output=True, text=True, check=update, env={**os.environ, "LC_ALL": "C"})
    return dict(re.findall(r"^Inst (\S+) .*?\((\S+) ", done.stdout, re.MULTILINE))


def _run(command: list[str], folder: Path) -> None:
    subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True)
