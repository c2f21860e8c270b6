"""Settings, from four places, and where things lie in the data folder.

A flag wins over the environment (`LINEAGE_BRIDGE_PORT`), that over the file, that over the default.
The file is the one that `--config` or `LINEAGE_BRIDGE_CONFIG` names, or `lineage-bridge.toml` in the current folder.
"""

import difflib
import ipaddress
import json
import os
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

import platformdirs
from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from lineage_bridge.errors import ConfigError

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib  # type: ignore[import-not-found,unused-ignore]  # installed before Python 3.11 only

PREFIX = "LINEAGE_BRIDGE_"
CONFIG_VARIABLE = "LINEAGE_BRIDGE_CONFIG"
FILE_NAME = "lineage-bridge.toml"
SECRETS_FILE, SECRETS_KEY, SECRETS_KEY_FILE = (f"LINEAGE_BRIDGE_SECRETS_{name}" for name in ("FILE", "KEY", "KEY_FILE"))
"""Variables that tell where sealed secrets lie, with which keys they are sealed, or in which file those are."""
CONFLUENT_VARIABLES = tuple(
    f"{PREFIX}{name}"
    for name in (
        "CONFLUENT_CLOUD_API_KEY",
        "CONFLUENT_CLOUD_API_SECRET",
        "KAFKA_API_KEY",
        "KAFKA_API_SECRET",
        "CLUSTER_CREDENTIALS",
        "SCHEMA_REGISTRY_ENDPOINT",
        "SCHEMA_REGISTRY_API_KEY",
        "SCHEMA_REGISTRY_API_SECRET",
        "KSQLDB_ENDPOINT",
        "KSQLDB_API_KEY",
        "KSQLDB_API_SECRET",
        "FLINK_API_KEY",
        "FLINK_API_SECRET",
        "TABLEFLOW_API_KEY",
        "TABLEFLOW_API_SECRET",
        "AUDIT_LOG_BOOTSTRAP_SERVERS",
        "AUDIT_LOG_API_KEY",
        "AUDIT_LOG_API_SECRET",
    )
)
"""Variables that make a source of an organization of Confluent Cloud."""
OTHER_VARIABLES = (
    CONFIG_VARIABLE,
    "LINEAGE_BRIDGE_IVY_SETTINGS",
    SECRETS_FILE,
    SECRETS_KEY,
    SECRETS_KEY_FILE,
    *CONFLUENT_VARIABLES,
)
"""Variables with our prefix that are no settings of the server."""

MIB = 1024 * 1024


def _loopback(host: str) -> str:
    try:
        loopback = host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        loopback = False
    if not loopback:
        raise ValueError("only addresses of this machine (127.0.0.1, ::1, localhost) may be used: there are no keys yet")
    return host


def _decoded(sources: object) -> object:
    """Sources as the environment has them: JSON."""
    return json.loads(sources) if isinstance(sources, str) else sources


def _not_empty(path: object) -> object:
    if path == "":
        raise ValueError("a path is not empty")
    return path


def _absolute(path: Path) -> Path:
    return path.expanduser().absolute()


class Settings(BaseModel):
    """Everything that can be set. Sizes in bytes, times in the unit their name ends with."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    host: Annotated[str, AfterValidator(_loopback)] = Field(default="127.0.0.1", description="address the API listens on")
    port: int = Field(default=8000, ge=0, le=65_535, description="port the API listens on; 0 takes a free one")
    data_dir: Annotated[Path, BeforeValidator(_not_empty), AfterValidator(_absolute)] = Field(
        default_factory=lambda: platformdirs.user_data_path("lineage-bridge"),
        description="folder of the log, the graph and all else that is kept",
    )
    url: str = Field(default="", pattern="^(https?://.+)?$", description="server that commands speak to; empty: host and port")
    log_level: Literal["debug", "info", "warning", "error"] = Field(default="info", description="least level that is told")
    spark_master: str = Field(default="local[*]", min_length=1, description="where Spark runs")
    spark_memory: str = Field(default="1g", pattern="^[1-9][0-9]*[kmgKMG]$", description="heap of Spark's driver, as Java says")
    trigger_ms: int = Field(default=250, ge=1, le=60_000, description="time between two batches")
    batch_bytes: int = Field(default=48 * MIB, ge=1, description="most bytes in one batch, if it has more than one frame")
    batch_frames: int = Field(default=20_000, ge=1, description="most frames in one batch")
    derived_rows: int = Field(default=5_000, ge=1, description="rows a batch may spend on deriving what earlier ones left")
    stitch_siblings: bool = Field(
        default=True, description="infer flows between a run that only writes and the streaming run around it that only reads"
    )
    segment_bytes: int = Field(default=64 * MIB, ge=4096, le=1024 * MIB, description="size at which the log begins a new file")
    sources: Annotated[dict[str, dict[str, Any]], BeforeValidator(_decoded)] = Field(
        default_factory=dict, description="what is observed, by name: each with its kind and settings"
    )
    pending_bytes: int = Field(default=256 * MIB, ge=1, le=1024 * MIB, description="bytes that may wait for the log's disk")

    @property
    def address(self) -> str:
        """The server that commands speak to, without a slash at the end."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return (self.url or f"http://{host}:{self.port}").rstrip("/")

    @property
    def paths(self) -> "Paths":
        """Where things lie in the data folder."""
        return Paths(self.data_dir)

    def environment(self) -> dict[str, str]:
        """The variables under which another process has exactly these settings, whatever its folder and file."""
        values = self.model_dump(mode="json").items()
        settings = {variable_of(name): json.dumps(value) if isinstance(value, dict) else str(value) for name, value in values}
        return {**settings, CONFIG_VARIABLE: os.devnull}


@dataclass(frozen=True)
class Paths:
    """The files of one data folder."""

    data_dir: Path

    @property
    def log(self) -> Path:
        """The folder of the event log's segments."""
        return self.data_dir / "log"

    @property
    def graph(self) -> Path:
        """The graph store."""
        return self.data_dir / "graph.db"

    @property
    def replayed(self) -> Path:
        """The graph store while it is computed again; nothing in it is needed before it is put in place."""
        return self.data_dir / "replay.db"

    @property
    def analysis(self) -> Path:
        """What the last analysis of the whole graph found."""
        return self.data_dir / "analysis.ndjson"

    @property
    def control(self) -> Path:
        """The store of what is not computed from the log."""
        return self.data_dir / "control.db"

    @property
    def secrets(self) -> Path:
        """Sealed secrets, unless a variable says that they lie elsewhere."""
        return self.data_dir / "secrets.sealed"

    @property
    def pipeline_lock(self) -> Path:
        """Held by the one pipeline."""
        return self.data_dir / "pipeline.lock"

    @property
    def pipeline_status(self) -> Path:
        """What the pipeline tells of itself, about every second."""
        return self.data_dir / "pipeline.json"

    @property
    def observe_lock(self) -> Path:
        """Held by the one process that polls sources."""
        return self.data_dir / "observe.lock"

    @property
    def turns(self) -> Path:
        """The folder of the locks of sources, each held by who looks at the source."""
        return self.data_dir / "observing"

    @property
    def serve_lock(self) -> Path:
        """Held by the one supervisor."""
        return self.data_dir / "serve.lock"

    @property
    def serve_status(self) -> Path:
        """Where the supervisor that holds the lock can be found."""
        return self.data_dir / "serve.json"

    @property
    def spark(self) -> Path:
        """Spark's scratch; nothing in it is needed again."""
        return self.data_dir / "spark"

    @property
    def logs(self) -> Path:
        """What programs we start say."""
        return self.data_dir / "logs"


@dataclass(frozen=True)
class _Place:
    """One of the places where settings are said: how it writes a setting's name, and what comes behind the name in a message."""

    written: Callable[[str], str]
    where: str
    typed: bool = False

    def named(self, setting: str) -> str:
        return self.written(setting) + self.where


def load_settings(flags: Mapping[str, str], environ: Mapping[str, str], folder: Path, config: Path | None = None) -> Settings:
    """The settings of a process started in `folder`. `flags` are those given, by setting; `config` is the file asked for.

    Raises ConfigError that names an unknown or ill-typed setting and where it was said, even if another place wins.
    """
    path = _file(environ, folder, config)
    variables = {
        name.removeprefix(PREFIX).lower(): value
        for name, value in environ.items()
        if name.startswith(PREFIX) and name not in OTHER_VARIABLES
    }
    in_file = _read(path) if path else {}
    said = {
        **_judge(in_file, _Place(str, f" in {path}", typed=True)),
        **_judge(variables, _Place(variable_of, " in the environment")),
        **_judge(dict(flags), _Place(flag_of, "")),
    }
    return Settings.model_validate(said)


def variable_of(setting: str) -> str:
    """The environment variable of a setting."""
    return PREFIX + setting.upper()


def flag_of(setting: str) -> str:
    """The flag of a setting."""
    return "--" + setting.replace("_", "-")


def _judge(values: dict[str, Any], place: _Place) -> dict[str, Any]:
    """The values one place says, typed. Places are judged apart so that an error can say where it comes from."""
    for name in sorted(values):
        if name not in Settings.model_fields:
            raise ConfigError(f"there is no setting {place.named(name)}", _near(name, place))
    try:
        settings = Settings.model_validate_json(json.dumps(values, default=str), strict=place.typed)
    except ValidationError as error:
        first = error.errors(include_url=False, include_context=False)[0]
        name = str(first["loc"][0])
        reason = first["msg"].removeprefix("Value error, ")
        raise ConfigError(f"{place.named(name)} cannot be {values[name]!r}: {reason}", _default_of(name)) from error
    return {name: getattr(settings, name) for name in sorted(settings.model_fields_set)}


def _near(name: str, place: _Place) -> str:
    near = difflib.get_close_matches(name, list(Settings.model_fields), n=3)
    return f"did you mean {' or '.join(map(place.written, near))}?" if near else "docs/settings.md lists them"


def _default_of(name: str) -> str:
    field = Settings.model_fields[name]
    return f"{field.description}; the default is {field.get_default(call_default_factory=True)}"


def _file(environ: Mapping[str, str], folder: Path, config: Path | None) -> Path | None:
    named = config or (Path(environ[CONFIG_VARIABLE]) if environ.get(CONFIG_VARIABLE) else None)
    if named is None:
        found = folder / FILE_NAME
        return found if found.is_file() else None
    path = folder / named.expanduser()
    if not path.exists():
        origin = "--config" if config else f"{CONFIG_VARIABLE} in the environment"
        raise ConfigError(f"there is no settings file {path}", f"named by {origin}")
    return path


def _read(path: Path) -> dict[str, Any]:
    try:
        values: dict[str, Any] = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise ConfigError(f"the settings file {path} cannot be read: {error}", "it must be TOML") from error
    return values
