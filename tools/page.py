"""Builds and checks the web page: `page.py build|run|develop|check|test|format`. `run` builds if it can, and else says what is missing.

Runs on any Python >= 3.10 without a package. What the page is made of is pinned by digest in web/package-lock.json.
"""

import fcntl
import hashlib
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
WEB = ROOT / "web"
PAGE = ROOT / "src" / "lineage_bridge" / "api" / "web" / "static"
MODULES = WEB / "node_modules"
OLDEST = (20, 19)
"""The oldest Node that the build runs on, which Vite sets."""
_MADE = frozenset({"node_modules", "schema.d.ts", ".lock"})


class PageError(Exception):
    """The page cannot be built; the message says what to do."""


def check_node() -> None:
    """Raise PageError unless there is a Node that is new enough, with npm."""
    node = shutil.which("node")
    if not node or not shutil.which("npm"):
        raise PageError("the web page needs Node 20.19 or newer, with npm, to be built; get it from your system's packages or nodejs.org")
    found = subprocess.run([node, "--version"], capture_output=True, text=True, check=False).stdout.strip()
    version = tuple(map(int, re.findall(r"\d+", found)[:2]))
    if version < OLDEST:
        raise PageError(f"the web page needs Node 20.19 or newer to be built (found: {found or 'none that starts'})")


def digest() -> str:
    """What the page is made from."""
    names = sorted(path for path in WEB.rglob("*") if path.is_file() and not _MADE & set(path.relative_to(WEB).parts))
    found = hashlib.sha256()
    for path in names:
        found.update(f"{path.relative_to(WEB).as_posix()}\0".encode())
        found.update(hashlib.sha256(path.read_bytes()).digest())
    return found.hexdigest()


def is_built() -> bool:
    """Whether the page in the package is that of the sources."""
    stamp = PAGE / "made-from"
    return (PAGE / "index.html").is_file() and stamp.is_file() and stamp.read_text() == digest()


def npm(*arguments: str) -> None:
    """Runs npm in web/. Raises PageError when it fails, after it has printed why."""
    if subprocess.run([shutil.which("npm") or "npm", *arguments], cwd=WEB, check=False).returncode:
        raise PageError(f"npm {' '.join(arguments)} failed; its reason is above")


def install() -> None:
    """Put the pinned packages into web/node_modules, unless they are there."""
    check_node()
    stamp, lock = MODULES / ".installed", hashlib.sha256((WEB / "package-lock.json").read_bytes()).hexdigest()
    if not stamp.is_file() or stamp.read_text() != lock:
        npm("ci", "--no-audit", "--no-fund", "--loglevel=error")
        stamp.write_text(lock)


def build() -> None:
    """Build the page into the package, unless it is there. Raises PageError."""
    if is_built():
        return
    check_node()
    with (WEB / ".lock").open("w") as turn:
        fcntl.flock(turn, fcntl.LOCK_EX)
        if is_built():
            return
        print("lineage-bridge: building the web page; the first time takes a minute", flush=True)
        made_from = digest()
        install()
        npm("run", "--silent", "build", "--", "--logLevel", "warn")
        if not (PAGE / "index.html").is_file():
            raise PageError(f"the build left no {PAGE / 'index.html'}")
        (PAGE / "made-from").write_text(made_from)


def main() -> int:
    """Returns 0, or 1 after one line about what failed."""
    command = sys.argv[1]
    try:
        if command in ("build", "run"):
            build()
        else:
            install()
            npm("run", "--silent", {"develop": "dev"}.get(command, command))
    except PageError as error:
        print(f"lineage-bridge: {error}", file=sys.stderr)
        return 0 if command == "run" and not os.environ.get("CI") else 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
