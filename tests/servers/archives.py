"""The archives that servers are made of: pinned in `locks/` and `requirements/`, fetched once into the user's cache.

Runs of the tests share the cache and may fetch at the same time: what has its name there is whole.
"""

import hashlib
import os
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from xml.sax.saxutils import quoteattr

import platformdirs
from filelock import FileLock

from lineage_bridge.pipeline.streams.jars import Ivy, Jar, default_cache, fetch_jars, ivy_for

LOCKS = Path(__file__).resolve().parent / "locks"
REQUIREMENTS = Path(__file__).resolve().parents[2] / "requirements"
# Ivy fetches one archive after the other, and mostly waits.
AT_ONCE = 6
# The parent that the registry's description names is in no repository. Nothing is read from it, but Ivy asks for it.
ABSENT = ("io.apicurio", "apicurio-registry", "3.0.9")


def cache() -> Path:
    """The folder of what was unpacked and installed for servers."""
    folder = Path(platformdirs.user_cache_dir("lineage-bridge")) / "servers"
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def pinned(name: str) -> list[Jar]:
    """The archives of a lock: lines of group:artifact:revision[:classifier][@type] and a SHA-256, as `tools.servers` writes them."""
    jars = []
    for line in (LOCKS / f"{name}.lock").read_text(encoding="utf-8").splitlines():
        coordinates, sha256 = line.split()
        module, _, kind = coordinates.partition("@")
        group, artifact, revision, *classifier = module.split(":")
        jars.append(Jar(group, artifact, revision, sha256, "".join(classifier), kind or "jar"))
    return jars


def jars(name: str) -> list[Path]:
    """The files of a lock's archives, with the pinned bytes. Raises JarError if one cannot be fetched."""
    with FileLock(cache() / f".{name}.lock"):
        return _fetched(pinned(name), default_cache())


def ivy_in(folder: Path) -> Ivy:
    """Ivy as the product starts it, with the user's mirror; in `folder` it finds what is in no repository."""
    ivy = ivy_for(os.environ)
    group, module, revision = ABSENT
    coordinates = f"<groupId>{group}</groupId><artifactId>{module}</artifactId><version>{revision}</version>"
    (folder / f"{module}.pom").write_text(f"<project>{coordinates}<packaging>pom</packaging></project>", encoding="utf-8")
    mirror = f"file={quoteattr(str(ivy.settings))}" if ivy.settings else 'url="${ivy.default.settings.dir}/ivysettings.xml"'
    here = quoteattr(str(folder / "[module].pom"))
    settings = folder / "ivysettings.xml"
    settings.write_text(
        f"""<ivysettings>
<include {mirror}/>
<resolvers><filesystem name="absent" m2compatible="true"><ivy pattern={here}/><artifact pattern={here}/></filesystem></resolvers>
<modules><module organisation="{group}" name="{module}" resolver="absent"/></modules>
</ivysettings>
""",
        encoding="utf-8",
    )
    return replace(ivy, settings=settings)


def _fetched(archives: list[Jar], folder: Path) -> list[Path]:
    shares = [archives[start::AT_ONCE] for start in range(AT_ONCE) if archives[start:]]
    with tempfile.TemporaryDirectory() as scratch, ThreadPoolExecutor(AT_ONCE) as threads:
        ivy = ivy_in(Path(scratch))
        return sorted(path for paths in threads.map(lambda share: fetch_jars(share, folder, ivy), shares) for path in paths)


def unpacked(name: str, *more: str) -> Path:
    """A folder with the content of the archives, tar or zip, of locks. Raises JarError if one cannot be fetched."""
    locks = (name, *more)

    def make(home: Path) -> None:
        with tempfile.TemporaryDirectory(dir=home.parent) as scratch:
            for path in _fetched([jar for lock in locks for jar in pinned(lock)], Path(scratch)):
                _unpack(path, home)

    return made(name, [LOCKS / f"{lock}.lock" for lock in locks], make)


def _unpack(path: Path, home: Path) -> None:
    if path.suffix == ".zip":
        with zipfile.ZipFile(path) as archive:
            archive.extractall(home)
    else:
        with tarfile.open(path) as archive:
            archive.extractall(home, filter="data")


def installed(name: str) -> Path:
    """A folder with the wheels of a lock in `requirements/`, never part of `.venv`.

    Raises CalledProcessError when pip cannot install them, after pip has printed the reason.
    """
    lock = REQUIREMENTS / f"{name}.txt"

    def make(home: Path) -> None:
        pip = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-input", "--no-compile"]
        options = ["--no-deps", "--require-hashes", "--only-binary", ":all:", "--target", str(home), "-r", str(lock)]
        subprocess.run([*pip, *options], check=True)

    return made(name, [lock], make)


def made(name: str, pins: list[Path], make: Callable[[Path], object]) -> Path:
    """The folder in the cache that `make` has filled for these pins, from now or from before; a failure leaves none."""
    return made_in(cache(), name, [pin.read_bytes() for pin in pins], make)


def made_in(folder: Path, name: str, pins: Sequence[bytes], make: Callable[[Path], object]) -> Path:
    """The same in another folder, for pins of any kind."""
    digest = hashlib.sha256(b"\0".join(pins)).hexdigest()
    home = folder / f"{name}-{digest[:16]}"
    with FileLock(folder / f".{name}.lock"):
        if not home.is_dir():
            # Beside the final place, so that a half-filled folder never has its name.
            with tempfile.TemporaryDirectory(prefix=".fetch-", dir=home.parent) as scratch:
                whole = Path(scratch) / "whole"
                make(whole)
                whole.replace(home)
    return home
