"""Java archives beside Spark's own, pinned by checksum, which Ivy, a part of pyspark, fetches into the user's cache.

Only inputs of the form `stream` need such archives. A Spark session never fetches archives; it gets their files.
"""

import hashlib
import importlib.util
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from xml.sax.saxutils import quoteattr

import platformdirs

from lineage_bridge.errors import JarError

IVY_SETTINGS = "LINEAGE_BRIDGE_IVY_SETTINGS"
FILE_NAME = "[artifact]-[revision](-[classifier]).[ext]"
FETCH_TIMEOUT_S = 900


@dataclass(frozen=True, slots=True)
class Jar:
    """A Java archive: its Maven coordinates and the SHA-256 of its bytes. `type` is the ending of the file's name."""

    organisation: str
    artifact: str
    revision: str
    sha256: str
    classifier: str = ""
    type: str = "jar"

    @property
    def file_name(self) -> str:
        """The name the file has in the cache and at the Maven repository."""
        classifier = f"-{self.classifier}" if self.classifier else ""
        return f"{self.artifact}-{self.revision}{classifier}.{self.type}"


# Ivy resolves nothing transitively, so it fetches nothing that is not pinned.
KAFKA = (
    Jar(
        "org.apache.spark",
        "spark-sql-kafka-0-10_2.13",
        "4.1.3",
        "cb31ffd9c8f5527dba061db8af671d295562092e4f3f5ff42fc249fab8a8fde6",
    ),
    Jar(
        "org.apache.spark",
        "spark-token-provider-kafka-0-10_2.13",
        "4.1.0-preview1",
        "ab6e27a8a47ce63348dd0ecbd5543dc6212b4783180305cde5749e79684ea97b",
    ),
    Jar(
        "org.apache.kafka",
        "kafka-clients",
        "3.9.1",
        "7568b998572d256f0b7bc0afdc1b7a2588b8b08415c62ce314c864a6851ae9d9",
    ),
    Jar(
        "org.apache.commons",
        "commons-pool2",
        "2.12.1",
        "5273c8bc8c0dca2211175c0d27efbd7228efae99689aac001a8e1ef8e872e9ef",
    ),
)
"""The archives of Spark's Kafka source and its dependencies."""


@dataclass(frozen=True, slots=True)
class Ivy:
    """How to start Ivy: the Java program, and the settings file that names a mirror (None: Maven Central)."""

    java: str = "java"
    settings: Path | None = None


CENTRAL = Ivy()


def ivy_for(environ: Mapping[str, str]) -> Ivy:
    """Determine how to start Ivy: on the Java that Spark would start, with the mirror that `LINEAGE_BRIDGE_IVY_SETTINGS` names.

    Raises JarError if that file does not exist.
    """
    home = environ.get("JAVA_HOME")
    settings = environ.get(IVY_SETTINGS)
    if settings and not Path(settings).is_file():
        raise JarError(f"{IVY_SETTINGS}: there is no file {settings!r}", "name an Ivy settings file, or unset the variable")
    return Ivy(
        java=str(Path(home) / "bin" / "java") if home else "java",
        settings=Path(settings).resolve() if settings else None,
    )


def default_cache() -> Path:
    """The user's cache folder for archives, which may not exist yet."""
    return Path(platformdirs.user_cache_dir("lineage-bridge")) / "jars"


def fetch_jars(jars: Sequence[Jar], cache_dir: Path, ivy: Ivy = CENTRAL) -> list[Path]:
    """Return the files of archives in `cache_dir`, in the given order. Archives that are missing there, or whose bytes are not the pinned
    ones, are fetched. Raises JarError for an archive that cannot be fetched or has other bytes; such bytes never enter the cache.
    """
    missing = [jar for jar in jars if not is_pinned(cache_dir / jar.file_name, jar)]
    if missing:
        cache_dir.mkdir(parents=True, exist_ok=True)
        # In the cache folder, so that the rename is atomic.
        with tempfile.TemporaryDirectory(prefix=".fetch-", dir=cache_dir) as scratch:
            run_ivy(missing, Path(scratch), ivy)
            for jar in missing:
                keep(jar, Path(scratch), cache_dir)
    return [cache_dir / jar.file_name for jar in jars]


def cached(jars: Sequence[Jar], cache_dir: Path) -> list[Path]:
    """Return the files of archives in `cache_dir`; none unless all of them are there with the pinned bytes."""
    return [cache_dir / jar.file_name for jar in jars] if all(is_pinned(cache_dir / jar.file_name, jar) for jar in jars) else []


def is_pinned(path: Path, jar: Jar) -> bool:
    """Whether the file exists and has the pinned bytes."""
    return path.is_file() and sha256_of(path) == jar.sha256


def sha256_of(path: Path) -> str:
    """The file's SHA-256 in lower-case hexadecimal."""
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while chunk := file.read(1 << 20):
            digest.update(chunk)
    return digest.hexdigest()


def keep(jar: Jar, scratch: Path, cache_dir: Path) -> None:
    """Move a fetched archive into the cache. Raises JarError if its bytes are not the pinned ones."""
    fetched = scratch / jar.file_name
    got = sha256_of(fetched) if fetched.is_file() else "no file"
    if got != jar.sha256:
        raise JarError(
            f"{jar.file_name}: expected SHA-256 {jar.sha256}, got {got}",
            f"check the repository or the mirror in {IVY_SETTINGS}: it serves another file under this name",
        )
    fetched.replace(cache_dir / jar.file_name)


def run_ivy(jars: Sequence[Jar], scratch: Path, ivy: Ivy) -> None:
    """Let Ivy fetch the archives into `scratch`. If it fails, raises JarError with its output.

    Ivy uses `scratch` alone, so the result does not depend on the user's own Ivy or Maven folders.
    """
    description = scratch / "ivy.xml"
    description.write_text(module_description(jars), encoding="utf-8")
    try:
        done = subprocess.run(  # noqa: S603 - Java, with arguments of ours
            ivy_command(description, scratch, ivy),
            cwd=scratch,
            check=False,
            capture_output=True,
            text=True,
            timeout=FETCH_TIMEOUT_S,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise JarError(f"cannot run Ivy: {error}", "install Java 17 or 21, on the PATH or in JAVA_HOME") from error
    if done.returncode != 0:
        names = ", ".join(jar.file_name for jar in jars)
        hint = f"make Maven Central reachable, or name an Ivy settings file with a mirror in {IVY_SETTINGS}"
        raise JarError(f"cannot fetch {names}: {tail(done.stdout + done.stderr)}", hint)


def ivy_command(description: Path, scratch: Path, ivy: Ivy, file_name: str = FILE_NAME) -> list[str]:
    """The command that makes Ivy retrieve what `description` lists. `file_name` is an Ivy pattern."""
    settings = ["-settings", str(ivy.settings)] if ivy.settings else []
    return [
        ivy.java,
        f"-Divy.default.ivy.user.dir={scratch / 'user'}",
        *("-jar", str(ivy_jar())),
        *settings,
        *("-cache", str(scratch / "cache")),
        *("-ivy", str(description)),
        *("-confs", "default"),
        *("-retrieve", str(scratch / file_name)),
    ]


def ivy_jar() -> Path:
    """The Ivy archive in the installed pyspark. Raises JarError if this pyspark has none."""
    spec = importlib.util.find_spec("pyspark")
    homes = list(spec.submodule_search_locations or ()) if spec else []
    for home in homes:
        for path in sorted((Path(home) / "jars").glob("ivy-*.jar")):
            return path
    raise JarError("the installed pyspark contains no Ivy", "install pyspark from PyPI, which contains Spark's jars")


def module_description(jars: Sequence[Jar]) -> str:
    """The ivy.xml that lists exactly these archives and none of their dependencies."""
    dependencies = "\n".join(
        f"    <dependency org={quoteattr(jar.organisation)} name={quoteattr(jar.artifact)} rev={quoteattr(jar.revision)}"
        f' transitive="false" conf="default->master">{artifact_description(jar)}</dependency>'
        for jar in jars
    )
    return f"""<ivy-module version="2.0" xmlns:m="http://ant.apache.org/ivy/maven">
  <info organisation="lineage-bridge" module="jars"/>
  <configurations><conf name="default"/></configurations>
  <dependencies>
{dependencies}
  </dependencies>
</ivy-module>
"""


def artifact_description(jar: Jar) -> str:
    """The ivy.xml element of an archive with a classifier or a special type; empty for the default archive of a module."""
    if (jar.classifier, jar.type) == ("", "jar"):
        return ""
    classifier = f" m:classifier={quoteattr(jar.classifier)}" if jar.classifier else ""
    return f"<artifact name={quoteattr(jar.artifact)} type={quoteattr(jar.type)} ext={quoteattr(jar.type)}{classifier}/>"


def tail(text: str, lines: int = 12) -> str:
    """The last lines of a text, without blank ones."""
    kept = [line.strip() for line in text.splitlines() if line.strip(":\t ")]
    return "\n".join(kept[-lines:])
