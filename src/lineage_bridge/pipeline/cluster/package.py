"""The package that is sent to the executors of a Spark cluster: LineageBridge and what it depends on, as they are installed here.

Executors unpack the archive in their working folder. It contains no Python: the program `bin/python` in it starts the machine's own Python
of the driver's minor version, with the packages beside it.
"""

import io
import os
import re
import shlex
import sys
import tarfile
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path, PurePosixPath
from typing import Final

import lineage_bridge

ARCHIVE: Final = "package.tar.gz"
FOLDER: Final = "lineage-bridge"
"""The folder in which executors unpack the archive."""
PYTHON: Final = f"./{FOLDER}/bin/python"
"""The program that runs Python, in the working folder of the driver's Java process as in those of executors."""
_DISTRIBUTION: Final = "lineage-bridge"
_PACKAGES: Final = "packages"
_OWN: Final = PurePosixPath("lineage_bridge")
# What nothing imports that runs on executors, the largest only.
_NOT_NEEDED: Final = frozenset({"confluent-kafka", "cryptography", "pygments", "sqlalchemy", "swagger-ui-bundle", "uvloop"})
_LEFT_OUT: Final = re.compile(
    r"pyspark/(bin|data|examples|jars|licenses|python|sbin)/|(numpy|pandas|pyarrow)/(.*/)?(tests|include)/"
    r"|pyarrow/lib\w*_flight\.|lineage_bridge/api/web/static/"
)
_NAME: Final = re.compile(r"[A-Za-z0-9._-]+")
_LAUNCHER: Final = """\
#!/bin/sh
# Starts this machine's Python {version} with the packages beside this file.
here=$(cd "$(dirname "$0")/.." && pwd)
for python in {own} python{version} python3 python; do
    found=$("$python" -c 'import sys; print("%d.%d" % sys.version_info[:2])' 2>/dev/null)
    if [ "$found" = {version} ]; then
        PYTHONPATH=$here/{packages}${{PYTHONPATH:+:$PYTHONPATH}} exec "$python" "$@"
    fi
done
echo "RuntimeError: $(hostname) has no Python {version} on its PATH, which the driver of LineageBridge runs" >&2
exit 1
"""


def make_package(folder: Path) -> Path:
    """Write the archive to `folder`, and a program there that starts this process's Python by the path that executors use.

    The Java process of the driver has to run in that folder, because it starts Python by the same path.
    """
    program = folder / PYTHON
    program.parent.mkdir(parents=True, exist_ok=True)
    program.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} "$@"\n', encoding="utf-8")
    program.chmod(0o700)
    archive = folder / ARCHIVE
    # Most of it are libraries, which hardly shrink further with a higher level.
    with tarfile.open(archive, "w:gz", compresslevel=1) as tar:
        for name, path in sorted(package_files().items()):
            tar.add(path, f"{_PACKAGES}/{name}", recursive=False, filter=_for_everybody)
        _add_text(tar, "bin/python", launcher())
    return archive


@contextmanager
def working_in(folder: Path) -> Iterator[None]:
    """Let programs that are started in a `with` block run in `folder`."""
    before = Path.cwd()
    os.chdir(folder)
    try:
        yield
    finally:
        os.chdir(before)


def launcher() -> str:
    """The program that starts an executor's Python. It looks for the driver's minor version, first at the path of the driver's own."""
    version = "{}.{}".format(*sys.version_info)
    base = os.path.realpath(getattr(sys, "_base_executable", sys.executable))
    return _LAUNCHER.format(version=version, own=shlex.quote(base), packages=_PACKAGES)


def package_files() -> dict[str, Path]:
    """The files that executors import, by their paths below the folder of packages."""
    own = Path(lineage_bridge.__file__).parent
    # An editable installation lists none of the package's files.
    files = {str(_OWN / path.relative_to(own)): path for path in own.rglob("*") if path.is_file()}
    for found in _distributions(_DISTRIBUTION).values():
        for entry in found.files or ():
            path = Path(str(found.locate_file(entry)))
            if ".." not in entry.parts and entry.suffix != ".pth" and path.is_file():
                files[str(entry)] = path
    return {name: path for name, path in files.items() if not _LEFT_OUT.match(name)}


def _distributions(name: str) -> dict[str, Distribution]:
    """A distribution and what executors need with it, by normalized name. What is not installed is needed elsewhere only, such as for
    another version of Python.
    """
    found: dict[str, Distribution] = {}
    names = [name]
    while names:
        key = re.sub(r"[-_.]+", "-", names.pop()).lower()
        if key in found or key in _NOT_NEEDED:
            continue
        try:
            found[key] = distribution(key)
        except PackageNotFoundError:
            continue
        names += [match.group() for need in found[key].requires or () if "extra ==" not in need and (match := _NAME.match(need))]
    return found


def _for_everybody(entry: tarfile.TarInfo) -> tarfile.TarInfo:
    """Let the user of an executor read the entry, whoever that is."""
    entry.mode = 0o755 if entry.mode & 0o100 else 0o644
    entry.uid = entry.gid = 0
    entry.uname = entry.gname = ""
    return entry


def _add_text(tar: tarfile.TarFile, name: str, text: str) -> None:
    content = text.encode()
    entry = tarfile.TarInfo(name)
    entry.size, entry.mode = len(content), 0o755
    tar.addfile(entry, io.BytesIO(content))
