"""Sets up the pipeline's process, and replays the log into a new store."""

import os
import shutil
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, closing, contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from lineage_bridge.config import Settings
from lineage_bridge.errors import RequestError, StoreDamagedError, StoreError, StoreMissingError, StoreVersionError, UnavailableError
from lineage_bridge.graph.facts.names import Names
from lineage_bridge.graph.ids import NodeKind, node_id
from lineage_bridge.inputs.settings import is_streamed
from lineage_bridge.model.keeping.retention import ExpiredCounts
from lineage_bridge.pipeline.streams.jars import KAFKA, cached, default_cache
from lineage_bridge.ports.graph_store import GraphStore, RowCount
from lineage_bridge.ports.log import LOG_SOURCE
from lineage_bridge.store.damage import set_aside, suspicion
from lineage_bridge.store.postgresql.log_identity import note_position, owner_of, require_log
from lineage_bridge.store.reader import ReaderPool
from lineage_bridge.store.write import rebuild
from lineage_bridge.store.write.apply import GraphWriter
from lineage_bridge.wiring.inputs import input_service, read_streams
from lineage_bridge.wiring.log import pipeline_stopped
from lineage_bridge.wiring.processes import now_us
from lineage_bridge.wiring.retention.policy import empty_log, retention_of
from lineage_bridge.wiring.shared import graph_database, log_reader, note_store, state_database

if TYPE_CHECKING:
    from lineage_bridge.pipeline.replay import Progress
    from lineage_bridge.pipeline.streams.feed import SparkFeed
    from lineage_bridge.pipeline.streams.stream_thread import Streams
    from lineage_bridge.store.postgresql.connection import PostgresqlDatabase

PAGE = 4096
SWAP_TRIES, SWAP_PAUSE_S = 600, 1.0
_NAME_BYTES = 63
"""The longest name of a connection in PostgreSQL."""


@contextmanager
def open_store(path: Path, names: Names, *, stitch: bool = True) -> Iterator[GraphStore]:
    """Open the graph store at `path` for writing. With `stitch`, flows between runs that belong together are inferred (see the glossary:
    stitching).

    A damaged store is set aside and replaced by an empty one, into which the pipeline folds the log again.
    """
    if suspicion(path).exists():
        set_aside(path)
    try:
        writer = GraphWriter(path, names, stitch=stitch)
    except StoreDamagedError:
        set_aside(path)
        writer = GraphWriter(path, names, stitch=stitch)
    try:
        yield writer
    finally:
        writer.close()


@contextmanager
def open_database(settings: Settings, database: "PostgresqlDatabase", key: bytes) -> Iterator[GraphStore]:
    """Open the graph store in PostgreSQL for writing, while the lock of its schema is held.

    Raises StoreLockedError. Raises StoreError if the graph belongs to another installation, was computed from another log, or has read
    beyond the end of the log.
    """
    from lineage_bridge.store.postgresql.connection import connect_writer  # noqa: PLC0415  # an extra

    note_store(settings)
    owner = owner_of(settings.paths.graph_owner, key)
    connection = connect_writer(database.url, database.schema, alone_as=_name("the pipeline"), owner=owner)
    try:
        writer = GraphWriter(connection, Names(key), stitch=settings.stitch_siblings)
        require_log(settings.paths.graph_owner, database.schema, writer, log_reader(settings).durable_end())
        yield writer
        with suppress(StoreError):
            note_position(settings.paths.graph_owner, writer.position(LOG_SOURCE).get(0, 0))
    finally:
        connection.close()


def run_pipeline(settings: Settings, store: Callable[[Path, Names], AbstractContextManager[GraphStore]] | None = None) -> None:
    """Run the stream from the log to the store until a signal. Raises the errors of `pipeline.runner.run_pipeline`."""
    from lineage_bridge.pipeline.runner import run_pipeline as run  # noqa: PLC0415  # loads Spark

    key, database = state_database(settings).key(), graph_database(settings)
    open_file = store or partial(open_store, stitch=settings.stitch_siblings)

    def opened() -> AbstractContextManager[GraphStore]:
        if database is not None:
            return open_database(settings, database, key)
        check_key(settings, key)
        return open_file(settings.paths.graph, Names(key))

    run(settings, opened, key, now_us, _streams(settings), retention_of(settings))


def retain(settings: Settings, on_progress: Callable[[ExpiredCounts], None]) -> ExpiredCounts:
    """Remove what is old from the graph and from the log, while no server runs. `on_progress` is called after each step with what was
    removed so far. Raises StoreLockedError, LogLockedError while a server runs, StoreError.
    """
    key, database, total = state_database(settings).key(), graph_database(settings), ExpiredCounts()
    steps = retention_of(settings)
    opened = (
        open_database(settings, database, key)
        if database
        else open_store(settings.paths.graph, Names(key), stitch=settings.stitch_siblings)
    )
    with pipeline_stopped(settings.paths.pipeline_lock), opened as store:
        for step in steps(store) if steps else ():
            total.add(step())
            on_progress(total)
    empty_log(settings.paths.log)
    return total


def _streams(settings: Settings) -> "Streams":
    """The inputs of the form `stream`, which the pipeline reads. If there are any, Spark starts with the Java archives that they need."""
    from lineage_bridge.pipeline.streams.stream_thread import Streams  # noqa: PLC0415  # loads Spark

    inputs = input_service(settings).configured()
    jars = cached(KAFKA, default_cache()) if any(is_streamed(record.settings) for record in inputs) else []

    def read(feed: "SparkFeed", stop: threading.Event) -> None:
        def missing() -> str:
            if not jars and cached(KAFKA, default_cache()):
                feed.failure = UnavailableError("Spark restarts, to load the Java archives that an input needs")
            return "" if jars else "Spark lacks the Java archives that it needs to read Kafka"

        read_streams(settings, feed, missing, stop)

    return Streams(jars, read)


def replay(settings: Settings, to: Path | None, *, anyway: bool, on_progress: Callable[[str, int, int], None]) -> list[RowCount]:
    """Fold the log again into a fresh store, which then replaces the graph or, with `to`, is kept at that path. Returns the numbers of rows
    of the old and the new graph, by relation.

    `on_progress` is called with each step, and the bytes done and left. Raises StoreLockedError while a pipeline runs, StoreError if the
    log has fewer records than the graph in use was computed from (unless `anyway`), UnavailableError if Spark fails, RequestError if `to`
    exists.
    """
    from lineage_bridge.pipeline.replayer import alone, run_replay  # noqa: PLC0415  # loads Spark

    if to is not None and to.exists():
        raise RequestError(f"{to} already exists", "name a new file")
    paths, key = settings.paths, state_database(settings).key()
    database = graph_database(settings)
    if to is None and database is not None:
        return _replay_database(settings, database, key, anyway=anyway, on_progress=on_progress)
    unfinished = paths.replayed if to is None else to.with_name(f"{to.name}.part")
    scratch = paths.spark if to is None else to.with_name(f"{to.name}.spark")
    with ExitStack() as stack:
        if to is None:
            stack.enter_context(alone(settings))
        else:
            stack.callback(shutil.rmtree, scratch, ignore_errors=True)
        stack.callback(rebuild.remove, unfinished)
        fresh = rebuild.open_fresh(unfinished, Names(key), stitch=settings.stitch_siblings)
        stack.callback(fresh.close)
        run_replay(settings, fresh, key, scratch, lambda progress: on_progress("folding", progress.done, progress.left))
        counted = rebuild.compare(database or paths.graph, fresh)
        if to is not None:
            rebuild.seal(fresh)
            rebuild.publish(fresh, unfinished, to)
            return counted
        if not anyway:
            rebuild.refuse_loss(paths.graph, fresh, counted)
        rebuild.seal(fresh, paths.graph)
        rebuild.put_in_place(fresh, paths.graph, lambda left, total: on_progress("putting in place", (total - left) * PAGE, left * PAGE))
    return counted


def _replay_database(
    settings: Settings, database: "PostgresqlDatabase", key: bytes, *, anyway: bool, on_progress: Callable[[str, int, int], None]
) -> list[RowCount]:
    """Replay into a graph in PostgreSQL. The fresh store is computed in a second schema, whose tables then replace those of the graph.
    Result and errors are those of `replay`.
    """
    from lineage_bridge.pipeline.replayer import alone, run_replay  # noqa: PLC0415  # loads Spark
    from lineage_bridge.store.postgresql import rebuild as in_database  # noqa: PLC0415  # an extra

    with ExitStack() as stack:
        stack.enter_context(alone(settings))
        owner = owner_of(settings.paths.graph_owner, key)
        rebuilding = stack.enter_context(closing(in_database.Rebuilding(database, _name("the replay"), owner)))

        def folded(progress: "Progress") -> None:
            rebuilding.check()
            on_progress("folding", progress.done, progress.left)

        fresh = GraphWriter(rebuilding.beside(), Names(key), feed=False, stitch=settings.stitch_siblings)
        with closing(fresh):
            run_replay(settings, fresh, key, settings.paths.spark, folded)
            counted = rebuild.compare(database, fresh)
            if not anyway:
                rebuild.refuse_loss(database, fresh, counted)
            rebuild.seal(fresh, database)
            rebuilding.complete()
            position = fresh.position(LOG_SOURCE).get(0, 0)
        for left in range(SWAP_TRIES, 0, -1):
            if rebuilding.put_in_place():
                note_position(settings.paths.graph_owner, position)
                return counted
            on_progress("waiting for questions to end", SWAP_TRIES - left, left)
            time.sleep(SWAP_PAUSE_S)
    raise UnavailableError(
        "running questions did not end in time, so the recomputed graph was not put in place",
        "try again when no export or other long question is running",
    )


def _name(part: str) -> str:
    """The name of a connection that holds a lock. Other processes see the name if they find the lock held."""
    return f"{part} {os.getpid()} on {socket.gethostname()}".encode()[:_NAME_BYTES].decode(errors="ignore")


def check_key(settings: Settings, key: bytes) -> None:
    """Check that the node ids in the graph were computed with this key. Raises StoreError if not: the state database was lost, or belongs
    to another graph.
    """
    paths = settings.paths
    where = paths.graph
    with closing(ReaderPool(where)) as pool, suppress(StoreMissingError, StoreVersionError, StoreDamagedError), pool.reader() as graph:
        for kind in (NodeKind.DATASET, NodeKind.JOB):
            for node in graph.nodes.matching(kind, None, None, 1, 0):
                if node.id != node_id(key, kind, node.namespace, node.name):
                    raise StoreError(
                        f"{where} was written with another key than the one in {paths.state}",
                        f"restore {paths.state}, or remove {where}: it is computed again from the log",
                    )
