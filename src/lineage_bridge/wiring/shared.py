"""Opens the stores that several processes use: the state database, secrets, the log and readers of the graph."""

import os
from collections.abc import Iterator, MutableMapping
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import platformdirs

from lineage_bridge.config import SECRETS_FILE, SECRETS_KEY, SECRETS_KEY_FILE, Settings
from lineage_bridge.config.outbound import Outbound
from lineage_bridge.errors import ConfigError
from lineage_bridge.eventlog.archive.reader import AllRecords, ArchiveReader
from lineage_bridge.eventlog.reader import LogReader
from lineage_bridge.sources.common.settings import Secrets, SourceContext
from lineage_bridge.sources.runtime.sealed_secrets import SealedFile
from lineage_bridge.store.reader import ReaderPool
from lineage_bridge.store.state.database import StateDatabase

if TYPE_CHECKING:
    from lineage_bridge.api.answering.lanes import Lanes
    from lineage_bridge.store.postgresql.connection import PostgresqlDatabase


def sealed_secrets(settings: Settings) -> SealedFile:
    """The file of sealed secrets, with the keys that the settings name."""
    key_file = os.environ.get(SECRETS_KEY_FILE) or platformdirs.user_config_path("lineage-bridge") / "secrets.key"
    return SealedFile(
        Path(os.environ.get(SECRETS_FILE) or settings.paths.secrets).expanduser(),
        Path(key_file).expanduser(),
        os.environ.get(SECRETS_KEY, ""),
    )


def source_context(settings: Settings) -> SourceContext:
    """What sources in this process may use: secrets, folders and addresses."""
    secrets = Secrets(sealed_secrets(settings).secret, folders=_secret_folders(settings), variables=settings.secret_variables)
    folders = tuple(Path(folder).expanduser() for folder in settings.input_folders.split(os.pathsep) if folder)
    withheld = frozenset[str]() if settings.machine_credentials else _withhold_machine_credentials(os.environ)
    return SourceContext(secrets, Outbound.parse(settings.outbound_allow), folders, withheld)


def _withhold_machine_credentials(environ: MutableMapping[str, str]) -> frozenset[str]:
    """Prevent Amazon's clients in this process from looking up credentials of the machine. Returns the other clouds whose clients would
    look them up. Amazon's Python client and the one in pyarrow have different settings for that.
    """
    environ["AWS_EC2_METADATA_DISABLED"] = "true"
    for variable in ("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI", "AWS_CONTAINER_CREDENTIALS_FULL_URI"):
        environ.pop(variable, None)
    has_file = environ.get("GOOGLE_APPLICATION_CREDENTIALS") or _has_google_s_file(environ.get("HOME", ""))
    return frozenset({"azure"} if has_file else {"azure", "google"})


def _has_google_s_file(home: str) -> bool:
    """Whether Google's client in pyarrow would find a file with default credentials. If this process may not read the folder, there is
    none.
    """
    with suppress(OSError):
        return bool(home) and (Path(home) / ".config" / "gcloud" / "application_default_credentials.json").exists()
    return False


def _secret_folders(settings: Settings) -> tuple[Path, ...]:
    """The folders below which secrets may be read from files."""
    if settings.secret_folders:
        return tuple(Path(folder).expanduser() for folder in settings.secret_folders.split(os.pathsep) if folder)
    credentials = os.environ.get("CREDENTIALS_DIRECTORY", "")
    folders = [platformdirs.user_config_path("lineage-bridge") / "secrets", Path("/run/secrets")]
    return (*folders, *([Path(credentials)] if credentials else ()))


def state_database(settings: Settings) -> StateDatabase:
    """The state database, created if there is none."""
    return StateDatabase(settings.paths.state)


def internal_credentials(settings: Settings) -> str:
    """The API key of LineageBridge's own processes, which the API writes to a file at each start; empty if there is no such file."""
    try:
        return settings.paths.internal_key.read_text(encoding="ascii").strip()
    except OSError:
        return ""


def log_reader(settings: Settings) -> LogReader:
    """Create a reader of the event log."""
    return LogReader(settings.paths.log)


def all_records(settings: Settings) -> AllRecords:
    """Create a reader of the records in the log and in the archive."""
    return AllRecords(log_reader(settings), ArchiveReader(settings.paths.archive))


def graph_database(settings: Settings) -> "PostgresqlDatabase | None":
    """The database of PostgreSQL that holds the graph; None if the graph is in a file of the data folder.

    Raises ConfigError if the address is invalid or the database's driver is not installed. Also raises ConfigError if the settings have no
    address, but the server of this data folder was started with one: otherwise a command without the address would find no graph, and take
    it for lost.
    """
    if not settings.store:
        with suppress(FileNotFoundError):
            where = settings.paths.graph_elsewhere.read_text(encoding="utf-8").strip()
            raise ConfigError(
                f"the graph of {settings.paths.data_dir} is in {where}",
                "name its address: store in the settings file, or LINEAGE_BRIDGE_STORE; start `serve` without an address to use a file",
            )
        return None
    try:
        from lineage_bridge.store.postgresql.connection import PostgresqlDatabase, check_address  # noqa: PLC0415  # an extra
    except ImportError as error:
        raise ConfigError(
            "a graph in PostgreSQL requires another package", "install it with: pip install 'lineage-bridge[postgresql]'"
        ) from error
    check_address(settings.store)
    return PostgresqlDatabase(settings.store, settings.store_schema)


def question_database(settings: Settings) -> "PostgresqlDatabase | None":
    """The database that the server answers questions from: the replica, if the settings have one, or that of `graph_database`.

    Raises the errors of `graph_database`, and ConfigError if the settings name a replica but no database.
    """
    database = graph_database(settings)
    if not settings.store_replica:
        return database
    if database is None:
        raise ConfigError("store_replica is set, but the graph is a file", "name the database that it is a replica of: store")
    from lineage_bridge.store.postgresql.connection import check_address  # noqa: PLC0415  # an extra

    check_address(settings.store_replica)
    return replace(database, url=settings.store_replica)


def note_store(settings: Settings) -> "PostgresqlDatabase | None":
    """Do what `graph_database` does, and record in the data folder whether the graph is in PostgreSQL. For the server's own processes."""
    note = settings.paths.graph_elsewhere
    if not settings.store:
        note.unlink(missing_ok=True)
    database = graph_database(settings)
    question_database(settings)
    if database is not None:
        settings.paths.data_dir.mkdir(parents=True, exist_ok=True)
        note.write_text(f"PostgreSQL, in the schema {settings.store_schema}\n", encoding="utf-8")
    return database


@contextmanager
def readers(settings: Settings) -> Iterator[ReaderPool]:
    """Create a pool of readers of the graph. The graph need not exist yet."""
    yield from _readers(graph_database(settings) or settings.paths.graph)


@contextmanager
def question_readers(settings: Settings) -> Iterator[ReaderPool]:
    """Like `readers`, for the questions of users: they read the replica, if the settings have one."""
    yield from _readers(question_database(settings) or settings.paths.graph)


def _readers(location: "Path | PostgresqlDatabase") -> Iterator[ReaderPool]:
    pool = ReaderPool(location)
    try:
        yield pool
    finally:
        pool.close()


def question_lanes(settings: Settings) -> "Lanes":
    """Create the lanes of questions, with the limits in the settings."""
    from lineage_bridge.api.answering.lanes import LIMITS, Cost, Lanes, Limit  # noqa: PLC0415  # loads the web server

    wait_s = settings.question_wait_s
    return Lanes(
        {
            **LIMITS,
            Cost.LIGHT: Limit(settings.light_questions, settings.light_queue, wait_s),
            Cost.HEAVY: Limit(settings.heavy_questions, settings.heavy_queue, wait_s),
            Cost.WHOLE_GRAPH: Limit(settings.whole_graph_questions, settings.whole_graph_queue, wait_s),
        }
    )
