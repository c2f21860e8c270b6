"""Makes and restores backups, which are consistent copies of a data folder. A backup can be made while a server runs."""

import hashlib
import json
import logging
import os
import shutil
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

from filelock import FileLock, Timeout

from lineage_bridge.config import DataFolder, Settings
from lineage_bridge.errors import RequestError, StoreDamagedError, StoreError, UnavailableError
from lineage_bridge.eventlog.archive.check import check_all
from lineage_bridge.eventlog.archive.files import ArchivedPartition, files_in
from lineage_bridge.eventlog.archive.manifest import NAME as LISTING
from lineage_bridge.eventlog.archive.reader import ArchiveReader
from lineage_bridge.eventlog.check import LogCheck
from lineage_bridge.eventlog.compressed.segment_file import compressed_path
from lineage_bridge.eventlog.erasing.erased_ids import NAME as ERASED_IDS
from lineage_bridge.eventlog.mark import write_mark
from lineage_bridge.eventlog.segment import byte_of, list_segments, segment_of, segment_path
from lineage_bridge.store.damage import copy_database, is_sound, set_aside
from lineage_bridge.store.state.database import RESTORE
from lineage_bridge.wiring.shared import log_reader, state_database

MANIFEST: Final = "backup.json"
COPY_EVERY_S: Final = 3600.0
_PIECE: Final = 1 << 20
_log = logging.getLogger(__name__)
OnFile = Callable[[str], None]


def backup(settings: Settings, target: Path, on_file: OnFile) -> LogCheck:
    """Copy the data folder into `target`, which must be empty or new, whether or not a server runs. Returns the check of the copied log.

    The graph is copied before the log and the archive, so that the copies of these contain all records from which the graph was computed.
    Records that arrive later are left out. A graph in PostgreSQL is not copied (see `is_elsewhere`), so its address is not needed.
    `on_file` is called with the name of each file. Raises RequestError, StoreDamagedError, StoreError, LogError.
    """
    paths, copy = settings.paths, DataFolder(target)
    if target.exists() and any(target.iterdir()):
        raise RequestError(f"the folder {str(target)!r} is not empty", "name a new folder for each backup")
    if not is_sound(paths.state):
        raise StoreDamagedError(f"the database {paths.state} is damaged or missing", f"restore its last copy: {RESTORE}")
    copy.log.mkdir(parents=True)
    target.chmod(0o700)
    on_file("state.db")
    copy_database(paths.state, copy.state)
    if paths.graph_elsewhere.exists():
        on_file(paths.graph_elsewhere.name)
        _copy(paths.graph_elsewhere, copy.graph_elsewhere)
    if not is_elsewhere(settings) and is_sound(paths.graph):
        on_file("graph.db")
        copy_database(paths.graph, copy.graph)
    _copy_archive(paths.archive, copy.archive, on_file)
    end = log_reader(settings).durable_end()
    for number in list_segments(paths.log):
        if number <= segment_of(end):
            _copy_segment(segment_path(paths.log, number), copy.log, byte_of(end) if number == segment_of(end) else None, on_file)
    for beside in (*sorted(paths.log.glob("*.cut")), *paths.log.glob("acknowledged.json"), *paths.log.glob(ERASED_IDS)):
        on_file(f"log/{beside.name}")
        _copy(beside, copy.log / beside.name)
    if paths.secrets.exists():
        on_file(paths.secrets.name)
        _copy(paths.secrets, copy.secrets)
    write_mark(copy.log, end)
    files = {str(file.relative_to(target)): _digest(file) for file in sorted(target.rglob("*")) if file.is_file()}
    (target / MANIFEST).write_text(json.dumps({"log_end": end, "files": files}, indent=1), encoding="utf-8")
    for folder in (copy.log, target):
        _sync_folder(folder)
    return check_all(copy.log, copy.archive)


def is_elsewhere(settings: Settings) -> bool:
    """Whether the graph is in PostgreSQL, according to the settings or to the file that the server of the data folder has written."""
    return bool(settings.store) or settings.paths.graph_elsewhere.exists()


def restore(settings: Settings, source: Path, on_file: OnFile) -> LogCheck:
    """Put a backup into the data folder, which must not contain a log. Returns the check of the log.

    Every file is compared with the backup's list before anything is written. Raises RequestError, UnavailableError while a server runs.
    """
    files = _manifest(source)
    paths = settings.paths
    for name, digest in files.items():
        on_file(f"checking {name}")
        if not (source / name).is_file() or _digest(source / name) != digest:
            raise RequestError(f"the file {name} of the backup is missing or was changed", "use another backup; nothing was restored")
    if list_segments(paths.log) or paths.graph.exists() or paths.state.exists() or ArchiveReader(paths.archive).partitions():
        raise RequestError(f"{str(paths.data_dir)!r} holds data already", "name an empty folder with --data-dir, or move the data away")
    with server_stopped(paths):
        # The restored log is another one than that which a graph in PostgreSQL was computed from.
        paths.graph_owner.unlink(missing_ok=True)
        for name in sorted(files):
            on_file(name)
            target = paths.data_dir / name
            target.parent.mkdir(parents=True, exist_ok=True)
            _copy(source / name, target)
    return check_all(paths.log, paths.archive)


def restore_state(settings: Settings) -> None:
    """Replace the state database by its last copy; the damaged database is set aside. Raises RequestError, UnavailableError."""
    paths = settings.paths
    if not is_sound(paths.state_copy):
        raise RequestError(
            f"state.db cannot be restored: its copy {str(paths.state_copy)!r} is missing or damaged", "restore state.db from a backup"
        )
    with server_stopped(paths):
        if paths.state.exists():
            set_aside(paths.state)
        for beside in ("-wal", "-shm"):  # left by a database that was deleted
            paths.state.with_name(paths.state.name + beside).unlink(missing_ok=True)
        copy_database(paths.state_copy, paths.state)


class StateCopies:
    """Copies the state database at once, and then once an hour. Raises StoreDamagedError if the database is damaged at the start."""

    def __init__(self, settings: Settings) -> None:
        self._state, self._copy = state_database(settings), settings.paths.state_copy
        if not self._state.copy_to(self._copy):
            raise StoreDamagedError(f"the database {self._state.path} is damaged", f"stop the server and run: {RESTORE}")
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name="state-copies", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Stop making copies."""
        self._stop.set()
        self._thread.join()

    def _run(self) -> None:
        while not self._stop.wait(COPY_EVERY_S):
            with suppress(OSError, StoreError):
                if not self._state.copy_to(self._copy):
                    _log.error("the database %s is damaged; its last intact copy is kept", self._state.path)


def _manifest(source: Path) -> dict[str, str]:
    """Read the list of files in a backup, with the SHA-256 of each. Raises RequestError."""
    with suppress(OSError, ValueError, KeyError, TypeError, AttributeError):
        files = json.loads((source / MANIFEST).read_bytes())["files"]
        if all(not Path(name).is_absolute() and ".." not in Path(name).parts for name in files):
            return dict(files.items())
    raise RequestError(f"{str(source)!r} is not a complete backup", "name a folder that `lineage-bridge backup` wrote")


@contextmanager
def server_stopped(paths: DataFolder) -> Iterator[None]:
    """Hold the lock of the server on this folder, so that none can start. Raises UnavailableError while one runs."""
    paths.data_dir.mkdir(parents=True, exist_ok=True)
    lock = FileLock(paths.serve_lock, timeout=0)
    try:
        lock.acquire()
    except Timeout as error:
        raise UnavailableError(f"a server is running on the data folder {paths.data_dir}", "stop the server first") from error
    with lock:
        yield


def _copy_archive(archive: Path, target: Path, on_file: OnFile) -> None:
    """Copy the archive. The manifest is copied first, because files that are merged afterwards are contained in the merged file."""
    if (archive / LISTING).exists():
        target.mkdir()
        on_file(f"archive/{LISTING}")
        _copy(archive / LISTING, target / LISTING)
    for of in ArchiveReader(archive).partitions():
        _copy_partition(of, archive, target, on_file)


def _copy_partition(of: ArchivedPartition, archive: Path, target: Path, on_file: OnFile) -> None:
    """Copy the archived records of a partition. If files are merged meanwhile, the files are listed again."""
    at, folder = 0, of.folder(target)
    folder.mkdir(parents=True, exist_ok=True)
    while file := next((file for file in files_in(of.folder(archive)) if file.end > at or (not at and not file.end)), None):
        on_file(str(file.path.relative_to(archive.parent)))
        with suppress(FileNotFoundError):
            _copy(file.path, folder / file.path.name)
            if not file.end:
                break
            at = file.end


def _copy_segment(path: Path, folder: Path, size: int | None, on_file: OnFile) -> None:
    """Copy a segment up to the byte `size`. A compressed segment is copied as a whole, in compressed form."""
    on_file(f"log/{path.name}")
    try:
        _copy(path, folder / path.name, size)
    except FileNotFoundError:
        stored = compressed_path(path)
        _copy(stored, folder / stored.name)


def _copy(source: Path, target: Path, size: int | None = None) -> None:
    """Copy a file, or its first `size` bytes, and make the copy durable. Only its owner may read it."""
    with source.open("rb") as read, os.fdopen(os.open(target, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as write:
        if size is None:
            shutil.copyfileobj(read, write, _PIECE)
        else:
            while size > 0 and (piece := read.read(min(size, _PIECE))):
                write.write(piece)
                size -= len(piece)
        write.flush()
        os.fsync(write.fileno())


def _digest(file: Path) -> str:
    digest = hashlib.sha256()
    with file.open("rb") as content:
        while piece := content.read(_PIECE):
            digest.update(piece)
    return digest.hexdigest()


def _sync_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
