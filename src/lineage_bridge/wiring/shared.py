"""Opens the stores that several processes use: the state database, secrets, the log and readers of the graph."""

import os
from collections.abc import Iterator, MutableMapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

import platformdirs

from lineage_bridge.config import SECRETS_FILE, SECRETS_KEY, SECRETS_KEY_FILE, DataFolder, Settings
from lineage_bridge.config.outbound import Outbound
from lineage_bridge.eventlog.archive.reader import AllRecords, ArchiveReader
from lineage_bridge.eventlog.reader import LogReader
from lineage_bridge.sources.common.settings import Secrets, SourceContext
from lineage_bridge.sources.runtime.sealed_secrets import SealedFile
from lineage_bridge.store.reader import ReaderPool
from lineage_bridge.store.state.database import StateDatabase

if TYPE_CHECKING:
    from lineage_bridge.api.answering.lanes import Lanes


def sealed_secrets(settings: Settings) -> SealedFile:
    """The file of sealed secrets."""
    key_file = os.environ.get(SECRETS_KEY_FILE) or platformdirs.user_config_path("lineage-bridge") / "secrets.key"
    return SealedFile(
        Path(os.environ.get(SECRETS_FILE) or settings.paths.secrets).expanduser(),
        Path(key_file).expanduser(),
        os.environ.get(SECRETS_KEY, ""),
    )


def source_context(settings: Settings) -> SourceContext:
    """The context of the sources of this process: secrets, folders and addresses that they may use."""
    secrets = Secrets(sealed_secrets(settings).secret, folders=_secret_folders(settings), variables=settings.secret_variables)
    folders = tuple(Path(folder).expanduser() for folder in settings.input_folders.split(os.pathsep) if folder)
    withheld = frozenset[str]() if settings.machine_credentials else _withhold_machine_credentials(os.environ)
    return SourceContext(secrets, Outbound.parse(settings.outbound_allow), folders, withheld)


def _withhold_machine_credentials(environ: MutableMapping[str, str]) -> frozenset[str]:
    """Disable metadata look-ups of Amazon's clients in this process; returns the other clouds whose clients would use metadata addresses.

    Amazon's clients, in Python and in pyarrow, have no setting for it that both read.
    """
    environ["AWS_EC2_METADATA_DISABLED"] = "true"
    for variable in ("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI", "AWS_CONTAINER_CREDENTIALS_FULL_URI"):
        environ.pop(variable, None)
    has_file = environ.get("GOOGLE_APPLICATION_CREDENTIALS") or _has_google_s_file(environ.get("HOME", ""))
    return frozenset({"azure"} if has_file else {"azure", "google"})


def _has_google_s_file(home: str) -> bool:
    """Whether there is a file of default credentials where the client in pyarrow looks for it; the folder may be closed to this process."""
    with suppress(OSError):
        return bool(home) and (Path(home) / ".config" / "gcloud" / "application_default_credentials.json").exists()
    return False


def _secret_folders(settings: Settings) -> tuple[Path, ...]:
    """Below which folders secrets are read from files."""
    if settings.secret_folders:
        return tuple(Path(folder).expanduser() for folder in settings.secret_folders.split(os.pathsep) if folder)
    credentials = os.environ.get("CREDENTIALS_DIRECTORY", "")
    folders = [platformdirs.user_config_path("lineage-bridge") / "secrets", Path("/run/secrets")]
    return (*folders, *([Path(credentials)] if credentials else ()))


def state_database(settings: Settings) -> StateDatabase:
    """The state database, created if there is none."""
    return StateDatabase(settings.paths.state)


def internal_credentials(settings: Settings) -> str:
    """The key of our own processes, as the API wrote it last; empty if it wrote none."""
    try:
        return settings.paths.internal_key.read_text(encoding="ascii").strip()
    except OSError:
        return ""


def log_reader(settings: Settings) -> LogReader:
    """A reader of the log."""
    return LogReader(settings.paths.log)


def all_records(settings: Settings) -> AllRecords:
    """A reader of the records of the log and of the archive."""
    return AllRecords(log_reader(settings), ArchiveReader(settings.paths.archive))


@contextmanager
def readers(paths: DataFolder) -> Iterator[ReaderPool]:
    """A pool of graph readers; the graph need not exist yet."""
    pool = ReaderPool(paths.graph)
    try:
        yield pool
    finally:
        pool.close()


def question_lanes(settings: Settings) -> "Lanes":
    """The lanes, with their limits from the settings."""
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
