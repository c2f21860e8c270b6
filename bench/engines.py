"""The fold from the log to a committed store, twice: as the product does it, through Spark's serve query, and as one plain Python process.

Both first fold a warm-up file outside the clock. Each is run in a process of its own (`meter.alone`).
"""

import threading
from collections.abc import Iterator
from pathlib import Path
from statistics import mean
from typing import NamedTuple

from pyspark.sql.streaming.query import StreamingQuery

from bench.corpus import append_corpus
from bench.meter import Clock, Result, cpu_by_kind, per_event
from lineage_bridge.config import load_settings
from lineage_bridge.eventlog.reader import LogReader
from lineage_bridge.eventlog.writer import LogWriter
from lineage_bridge.graph.facts.fold import flat, fold_records
from lineage_bridge.graph.facts.names import Names
from lineage_bridge.graph.log_record import OffsetRange, StoredRecord
from lineage_bridge.graph.relations import RELATIONS
from lineage_bridge.pipeline.serve import Limits, Serve, warm_up
from lineage_bridge.pipeline.session import start_session
from lineage_bridge.ports.graph_store import Batch, Budget
from lineage_bridge.ports.log import LOG_SOURCE
from lineage_bridge.store.write.apply import GraphWriter

KEY = b"benchmark key of 32 bytes length"
DERIVED = ("run_shape", "job_shape", "job_io", "flow", "hub", "job_lineage_set", "column_statement", "current_facet")
WAIT_S = 3600.0


def store_size(path: Path) -> int:
    """Bytes of a store with its write-ahead log."""
    return sum(Path(f"{path}{end}").stat().st_size for end in ("", "-wal") if Path(f"{path}{end}").exists())


def row_counts(store: GraphWriter) -> dict[str, int]:
    """Relation or derived table to its number of rows."""
    names = [*(relation.name for relation in RELATIONS), *DERIVED]
    return {name: int(store.connection.execute(f'SELECT count(*) FROM "{name}"').fetchone()[0]) for name in names}


class Sample(NamedTuple):
    """After a batch: events so far, processor and wall seconds so far, the calibration loop's rate just then."""

    events: int
    cpu: float
    wall: float
    rate: float


class _Progress:
    """Counts what is committed, and holds the stream after the warm-up until the clock may start."""

    def __init__(self, warm: int) -> None:
        self.warm, self.events, self.batches = warm, 0, 0
        self.warmed, self.opened, self.moved = threading.Event(), threading.Event(), threading.Condition()
        self.clock = Clock()
        self.samples: list[Sample] = []

    def done(self, batch: Batch, workers: list[int], took_us: int) -> None:  # noqa: ARG002 - the workers are not counted here, nor is time
        """Called after each commit, within the batch."""
        with self.moved:
            self.events += len(batch.rows.get("event_record", ())) + len(batch.rows.get("quarantine", ()))
            self.batches += 1
            if self.opened.is_set():
                self.samples.append(Sample(self.events - self.warm, *self.clock.read(), self.clock.calibrate()))
            self.moved.notify_all()
        if self.events >= self.warm and not self.opened.is_set():
            self.warmed.set()
            self.opened.wait(WAIT_S)

    def wait_for(self, events: int, query: StreamingQuery) -> None:
        """Wait until this many events are committed. Raises RuntimeError if the query ends before."""
        with self.moved:
            while self.events < events:
                self.moved.wait(1.0)
                if not query.isActive:
                    raise RuntimeError(f"the query ended: {query.exception()}")


def fold_on_spark(folder: Path, warm: Path, corpus: Path, warm_events: int, events: int) -> Result:
    """The serve query over a log: cost of `corpus` from when the stream may go on to its last commit, with everything derived."""
    settings = load_settings({}, {}, folder)
    limits = Limits(settings.batch_bytes, settings.batch_frames, settings.derived_rows, settings.trigger_ms)
    progress, store = _Progress(warm_events), GraphWriter(folder / "graph.db", Names(KEY))
    serve = Serve(store, KEY, limits, progress.done)
    with LogWriter(folder / "log") as log:
        session = start_session(folder / "spark", master=settings.spark_master, memory=settings.spark_memory)
        warm_up(session, KEY)
        query = serve.start(session, folder / "log", folder / "spark")
        append_corpus(log, warm)
        progress.wait_for(warm_events, query)
        progress.warmed.wait(WAIT_S)
        append_corpus(log, corpus)
        progress.clock.calibrate()
        by_kind = cpu_by_kind(progress.clock.start().process)
        progress.opened.set()
        progress.wait_for(warm_events + events, query)
        while serve.settle():
            continue
        cpu, wall = progress.clock.read()
        by_kind = {kind: round((spent - by_kind[kind]) / events * 1e6, 1) for kind, spent in cpu_by_kind(progress.clock.process).items()}
        durations = [dict(p["durationMs"]) for p in query.recentProgress]
        query.stop()
        serve.close()
        session.stop()
    result = per_event(events, cpu, wall, progress.clock.calibration)
    return {
        **result,
        "cpu_us_per_event_by_process": by_kind,
        "batches": len(progress.samples),
        "store_bytes": store_size(folder / "graph.db"),
        "rows": row_counts(store),
        "slices": _slices(progress.samples),
        "last_batches_ms": durations[-3:],
    }


def _slices(samples: list[Sample], parts: int = 10) -> list[dict[str, float]]:
    """The cost by tenths of the corpus, to see whether a growing store costs more. Cut at batches."""
    out: list[dict[str, float]] = []
    begin, rates = Sample(0, 0.0, 0.0, 0.0), []
    for sample in samples:
        rates.append(sample.rate)
        if sample.events * parts >= samples[-1].events * (len(out) + 1):
            events, cost = sample.events - begin.events, (sample.cpu - begin.cpu) / (sample.events - begin.events)
            rounds = round(cost * mean(rates), 4)
            wall = round((sample.wall - begin.wall) / events * 1e6, 1)
            out.append(
                {"up_to": sample.events, "cpu_us_per_event": round(cost * 1e6, 1), "rounds_per_event": rounds, "wall_us_per_event": wall}
            )
            begin, rates = sample, []
    return out


def fold_plainly(folder: Path, warm: Path, corpus: Path, warm_events: int, events: int) -> Result:
    """The same functions without Spark, in one process: read, fold, apply, one batch after the other."""
    figure = fold_into(GraphWriter(folder / "graph.db", Names(KEY)), folder, warm, corpus, warm_events, events)
    return {**figure, "store_bytes": store_size(folder / "graph.db")}


def fold_into(store: GraphWriter, folder: Path, warm: Path, corpus: Path, warm_events: int, events: int) -> Result:
    """The cost of folding `corpus` into an empty store, as `fold_plainly` does; the log is in `folder`."""
    limits = Limits()
    with LogWriter(folder / "log") as log:
        append_corpus(log, warm)
        warmed = log.end()
        append_corpus(log, corpus)
        end = log.end()
    reader, names, clock = LogReader(folder / "log"), Names(KEY), Clock()
    _apply_batch(store, reader, names, limits, 0, warmed)
    clock.start().calibrate()
    offset, samples, done = warmed, list[Sample](), 0
    while offset < end:
        cut = min(end, reader.cut(offset, limits.batch_bytes, limits.batch_records))
        done += _apply_batch(store, reader, names, limits, offset, cut)
        samples.append(Sample(done, *clock.read(), clock.calibrate()))
        offset = cut
    while store.settle(Budget(limits.derived_rows)):
        continue
    cpu, wall = clock.read()
    counts = row_counts(store)
    assert counts["event_record"] + counts["quarantine"] == warm_events + events
    figure = per_event(events, cpu, wall, clock.calibration)
    return {**figure, "rows": counts, "slices": _slices(samples)}


def _apply_batch(store: GraphWriter, reader: LogReader, names: Names, limits: Limits, start: int, end: int) -> int:
    """Fold one batch; returns its number of events."""
    tables = fold_records(stored_records(reader, start, end), names)
    store.apply(Batch({(LOG_SOURCE, 0): OffsetRange(start, end)}, dict(flat(tables))), Budget(limits.derived_rows))
    return len(tables["event_record"]) + len(tables["quarantine"])


def stored_records(reader: LogReader, start: int, end: int) -> Iterator[StoredRecord]:
    """Records of the log as the fold takes them."""
    for offset, f in reader.read(start, end):
        yield StoredRecord(LOG_SOURCE, 0, offset, f)
