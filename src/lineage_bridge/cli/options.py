"""Options that several commands have: settings as flags, and the format of the output."""

import os
from collections.abc import Callable, Mapping
from functools import wraps
from pathlib import Path
from typing import TypeAlias

import click

from lineage_bridge.catalogs.environment import VARIABLES as TARGET_VARIABLES
from lineage_bridge.config import Settings, flag_of, load_settings, variable_of
from lineage_bridge.sources.runtime.variables import VARIABLES as SOURCE_VARIABLES

Decorator: TypeAlias = Callable[[Callable[..., None]], Callable[..., None]]
CLIENT = ("url", "url_ca_file", "api_key_file")
STORE = ("store", "store_schema")
FOLDER = ("data_dir", *STORE, "log_level", "log_format")
SERVER = (
    "host",
    "port",
    "auth",
    "insecure_open",
    "tls_cert_file",
    "tls_key_file",
    "data_dir",
    *STORE,
    "store_replica",
    "log_level",
    "log_format",
    "log_requests",
    "traces",
)
CONNECTIONS = (
    "max_connections",
    "max_connections_per_address",
    "head_bytes",
    "head_timeout_s",
    "body_timeout_s",
    "body_bytes_per_s",
    "body_memory_bytes",
    "ingest_requests_per_s",
    "ingest_bytes_per_s",
)
QUESTIONS = (
    "light_questions",
    "heavy_questions",
    "whole_graph_questions",
    "light_queue",
    "heavy_queue",
    "whole_graph_queue",
    "question_wait_s",
)
CLUSTER = ("spark_master", "spark_driver_host", "spark_ship", "spark_memory")
SPARK = (*CLUSTER, "trigger_ms", "batch_bytes", "batch_frames", "derived_rows")
LOG = ("segment_bytes", "pending_bytes")
FORMATS = ("table", "json")


def with_settings(*names: str) -> Decorator:
    """Add to a command `--config` and the flags of these settings. The command gets the settings as its first argument."""

    def decorate(command: Callable[..., None]) -> Callable[..., None]:
        @wraps(command)
        def run(*args: object, config: Path | None, **kwargs: object) -> None:
            flags = {name: kwargs.pop(name) for name in names}
            command(settings_from(flags, config), *args, **kwargs)

        decorated: Callable[..., None] = run
        for name in reversed(names):
            decorated = _flag(name)(decorated)
        return _config_flag()(decorated)

    return decorate


def with_output(json_help: str = "print the server's answer as JSON") -> Decorator:
    """Add to a command `--json` and `--output`. The command gets `as_json`."""

    def decorate(command: Callable[..., None]) -> Callable[..., None]:
        @wraps(command)
        def run(*args: object, as_json: bool, output: str, **kwargs: object) -> None:
            command(*args, as_json=as_json or output == "json", **kwargs)

        flag = click.option("--json", "as_json", is_flag=True, help=f"{json_help}, as --output json")
        return flag(click.option("-o", "--output", type=click.Choice(FORMATS), default=FORMATS[0], help="what to print")(run))

    return decorate


def with_paging(things: str, default: int, most: int) -> Decorator:
    """Add the options `--limit` and `--offset` to a command that lists `things`. `print_next_page` then prints how to see the rest."""

    def decorate(command: Callable[..., None]) -> Callable[..., None]:
        limit = click.option(
            "--limit", type=click.IntRange(1, most), default=default, show_default=True, help=f"maximum number of {things}"
        )
        offset = click.option("--offset", type=click.IntRange(0), default=0, help=f"number of {things} to skip")
        return limit(offset(command))

    return decorate


def settings_from(flags: Mapping[str, object], config: Path | None) -> Settings:
    """Load the settings of this process. Raises ConfigError."""
    given = {name: str(value) for name, value in flags.items() if value is not None}
    return load_settings(given, os.environ, Path.cwd(), config, ignored=(*SOURCE_VARIABLES, *TARGET_VARIABLES))


def _flag(name: str) -> Decorator:
    field = Settings.model_fields[name]
    default = "" if field.default_factory or field.default == "" else f", default {field.default}"
    if field.annotation is bool:
        return click.option(flag_of(name), name, is_flag=True, default=None, help=f"{field.description} [{variable_of(name)}]")
    # Flags stay text here, so that a wrong value gets the same message wherever it was set.
    return click.option(flag_of(name), name, metavar="TEXT", help=f"{field.description} [{variable_of(name)}{default}]")


def _config_flag() -> Decorator:
    path = click.Path(dir_okay=False, path_type=Path)
    return click.option("--config", type=path, metavar="FILE", help="settings file, TOML [LINEAGE_BRIDGE_CONFIG]")
