"""The pipeline's process, and replaying the log into a new store."""

import shutil
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from lineage_bridge.config import DataFolder, Settings
from lineage_bridge.errors import RequestError, StoreDamagedError, StoreError, StoreMissingError, StoreVersionError, UnavailableError
from lineage_bridge.graph.facts.names import Names
from lineage_bridge.graph.ids import NodeKind, node_id
from lineage_bridge.inputs.settings import is_streamed
from lineage_bridge.pipeline.streams.jars import KAFKA, cached, default_cache
from lineage_bridge.ports.graph_store import GraphStore, RowCount
from lineage_bridge.store.damage import set_aside, suspicion
from lineage_bridge.store.write import rebuild
from lineage_bridge.store.write.apply import GraphWriter
from lineage_bridge.wiring.inputs import input_service, read_streams
from lineage_bridge.wiring.processes import now_us
from lineage_bridge.wiring.shared import readers, state_database

if TYPE_CHECKING:
    from lineage_bridge.pipeline.streams.beside import Streams
    from lineage_bridge.pipeline.streams.feed import SparkFeed

PAGE = 4096


@contextmanager
def open_store(path: Path, names: Names, *, stitch: bool = True) -> Iterator[GraphStore]:
    """The graph store at `path`, to write; with `stitch`, it infers flows between runs that belong together.

    A damaged one is set aside, and an empty one takes its place: the pipeline folds the log again.
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


def run_pipeline(settings: Settings, store: Callable[[Path, Names], AbstractContextManager[GraphStore]] | None = None) -> None:
    """Run the stream from the log to the store until a signal. Raises as `pipeline.runner.run_pipeline` does."""
    from lineage_bridge.pipeline.runner import run_pipeline as run  # noqa: PLC0415  # loads Spark

    key = state_database(settings).key()
    check_key(settings.paths, key)
    open_ = store or partial(open_store, stitch=settings.stitch_siblings)
    run(settings, lambda: open_(settings.paths.graph, Names(key)), key, now_us, _streams(settings))


def _streams(settings: Settings) -> "Streams":
    """The inputs that the pipeline reads beside the log.

    Spark starts with the Java archives that they need if there is such an input now.
    """
    from lineage_bridge.pipeline.streams.beside import Streams  # noqa: PLC0415  # loads Spark

    inputs = input_service(settings).configured()
    jars = cached(KAFKA, default_cache()) if any(is_streamed(record.settings) for record in inputs) else []

    def read(feed: "SparkFeed", stop: threading.Event) -> None:
        def missing() -> str:
            if not jars and cached(KAFKA, default_cache()):
                feed.failure = UnavailableError("Spark is restarted with the archives that an input needs")
            return "" if jars else "Spark lacks the Java archives that it needs to read Kafka"

        read_streams(settings, feed, missing, stop)

    return Streams(jars, read)


def replay(settings: Settings, to: Path | None, *, anyway: bool, on_progress: Callable[[str, int, int], None]) -> list[RowCount]:
    """Fold the log again into a fresh store that replaces the graph, or is left at `to`. Returns the rows of both, by relation.

    `on_progress` is called with each step, and the bytes done and left. Raises StoreLockedError while a pipeline runs, StoreError when
    the log holds less than the graph in use (unless `anyway`), UnavailableError when Spark fails, RequestError when `to` exists.
    """
    from lineage_bridge.pipeline.replayer import alone, run_replay  # noqa: PLC0415  # loads Spark

    if to is not None and to.exists():
        raise RequestError(f"{to} already exists", "name a new file")
    paths, key = settings.paths, state_database(settings).key()
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
        counted = rebuild.compare(paths.graph, fresh)
        if to is not None:
            rebuild.seal(fresh)
            rebuild.publish(fresh, unfinished, to)
            return counted
        if not anyway:
            rebuild.refuse_loss(paths.graph, fresh, counted)
        rebuild.seal(fresh, paths.graph)
        rebuild.put_in_place(fresh, paths.graph, lambda left, total: on_progress("putting in place", (total - left) * PAGE, left * PAGE))
    return counted


def check_key(paths: DataFolder, key: bytes) -> None:
    """Raise StoreError when the graph's ids were made with another key: the state database was lost or belongs to another graph."""
    with readers(paths) as pool, suppress(StoreMissingError, StoreVersionError, StoreDamagedError), pool.reader() as graph:
        for kind in (NodeKind.DATASET, NodeKind.JOB):
            for node in graph.nodes.matching(kind, None, None, 1, 0):
                if node.id != node_id(key, kind, node.namespace, node.name):
                    raise StoreError(
                        f"{paths.graph} was written with another key than the one in {paths.state}",
                        f"restore {paths.state}, or remove {paths.graph}: it is computed again from the log",
                    )
