"""Removes files of the data folder that contain what is erased and can be computed again, or that nothing reads any more."""

import os
import shutil
import socket
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

from lineage_bridge.config import DataFolder, Settings
from lineage_bridge.errors import LogError
from lineage_bridge.eventlog.erasing.rewriting import cut_files, pieces_of
from lineage_bridge.store.postgresql.log_identity import owner_of
from lineage_bridge.wiring.shared import graph_database, state_database

GRAPH = "graph in PostgreSQL"
_GRAPHS = ("graph.db*", "replay.db*", "analysing-*")
_SCRATCH = ("spark", "analysis.ndjson", "pipeline.json", "inputs.json", "streams.json", "publisher.json", "*.damaged*")


def discard_graph(settings: Settings) -> Iterator[str]:
    """Remove the graph with all files of its database, so that no page of it stays. Yields what was removed. Raises StoreError."""
    yield from _removed(settings.paths, _GRAPHS)
    database = graph_database(settings)
    if database is not None:
        from lineage_bridge.store.postgresql.rebuild import Rebuilding  # noqa: PLC0415  # an extra

        owner = owner_of(settings.paths.graph_owner, state_database(settings).key())
        with closing(Rebuilding(database, f"erasing {os.getpid()} on {socket.gethostname()}"[:63], owner)) as rebuilding:
            rebuilding.empty()
        yield GRAPH


def discard_scratch(paths: DataFolder) -> Iterator[str]:
    """Remove Spark's temporary files and checkpoints, findings, and states of processes. Yields what was removed."""
    yield from _removed(paths, _SCRATCH)


def discard_cut_files(paths: DataFolder, is_in: Callable[[bytes], bool], on_step: Callable[[str], None]) -> Iterator[str]:
    """Remove the files with unreadable bytes that a repair has set aside, if they contain what is erased, or cannot be searched."""
    for path in cut_files(paths.log, paths.archive):
        on_step(str(path.relative_to(paths.data_dir)))
        try:
            is_removed = any(is_in(piece) for piece in pieces_of(path))
        except LogError:
            is_removed = True
        if is_removed:
            path.unlink()
            yield str(path.relative_to(paths.data_dir))


def _removed(paths: DataFolder, patterns: tuple[str, ...]) -> Iterator[str]:
    for path in sorted({path for pattern in patterns for path in paths.data_dir.glob(pattern)}):
        discard(path)
        yield path.name


def discard(path: Path) -> None:
    """Remove a file, or a folder with everything in it."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)
