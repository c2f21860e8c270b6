"""The settings of a source that observes a Flink cluster."""

from collections.abc import Mapping
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from pydantic import Field

from lineage_bridge.errors import ConfigError
from lineage_bridge.sources.common.flink.annotations import JobAnnotation, read_folder
from lineage_bridge.sources.common.settings import HttpSettings, Url


class FlinkSettings(HttpSettings):
    """Settings of a source: the address of a JobManager's REST API, and other places with information about its jobs."""

    gateway_url: Url | None = Field(default=None, description="address of the SQL gateway, to look up tables of catalogs")
    history_url: Url | None = Field(default=None, description="address of the history server, to look up jobs that left the JobManager")
    init_sql: str | tuple[str, ...] = Field(default=(), description="DDL of the tables in jobs' sessions: a file, or a list of statements")
    statements: tuple[str, ...] = Field(default=(), description="files or folders with the SQL scripts that jobs were started from")
    annotations: tuple[str, ...] = Field(default=(), description="YAML files or folders with annotations of what jobs read and write")
    jobs: tuple[str, ...] = Field(default=("*",), description="names of jobs to observe; may contain * and ?")
    namespace: str = Field(default="", description="namespace of the jobs; empty: flink://host:port of the JobManager")
    kafka: str = Field(default="", description="bootstrap servers of topics that annotations and metrics name without a cluster")

    def ddl(self) -> str:
        """Read the statements in `init_sql`. Raises ConfigError."""
        if isinstance(self.init_sql, str):
            return _read(Path(self.init_sql)) if self.init_sql else ""
        return ";\n".join(self.init_sql)

    def scripts(self) -> tuple[str, ...]:
        """Read the files in `statements`, including the `.sql` files of folders, sorted. Raises ConfigError."""
        found = []
        for address in self.statements:
            path = Path(address).expanduser()
            found += [_read(file) for file in (sorted(path.rglob("*.sql")) if path.is_dir() else [path])]
        return tuple(found)

    def read_annotations(self) -> tuple[JobAnnotation, ...]:
        """Read the annotations in `annotations`. Raises ConfigError."""
        return tuple(found for path in self.annotations for found in read_folder(path))

    def wants(self, job: Mapping[str, Any]) -> bool:
        """Whether the settings select a job."""
        return any(fnmatchcase(str(job["name"]), pattern) for pattern in self.jobs)


def _read(path: Path) -> str:
    try:
        return path.expanduser().read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8 text"
        raise ConfigError(
            f"the SQL in {path} cannot be read: {reason}", "name a text file of SQL statements, each ended by a semicolon"
        ) from error
