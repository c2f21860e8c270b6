"""The fold from the log to a committed store, twice: as the product does it, through Spark's serve query, and as one plain Python process.

Both first fold a warm-up file outside the clock. Each is run in a process of its own (`meter.alone`).
"""

import threading
from collections.abc import Iterator
from pathlib import Path
from statistics import mean

from pyspark.sql.streaming.query import StreamingQuery

from bench.corpus import append_corpus
from bench.meter import Clock, Result, calibrate, cpu_by_kind, per_event
from lineage_bridge.config import load_settings
from lineage_bridge.graph.carried import Carried
from lineage_bridge.graph.facts import Names
from lineage_bridge.graph.fold import flat, fold_frames
from lineage_bridge.graph.relations import RELATIONS
from lineage_bridge.log.reader import LogReader
from lineage_bridge.log.writer import LogWriter
from lineage_bridge.pipeline.serve import Limits, Serve, warm_up
from lineage_bridge.pipeline.session import start_session
from lineage_bridge.ports import LOG_SOURCE, Batch, Budget
from lineage_bridge.store.apply import GraphWriter

KEY = b"benchmark key of 32 bytes length"
DERIVED = ("present", "job_shape", "job_io", "flow", "hub", "job_statement", "statement", "current_facet")
WAIT_S = 3600.0


def store_size(path: Path) -> int:
    """Bytes of a store with its write-ahead log."""
    return sum(Path(f"{path}{end}").stat().st_size for end in ("", "-wal") if Path(f"{path}{end}").exists())


def row_counts(store: GraphWriter) -> dict[str, int]:
    """Relation or derived table to its number of rows."""
    names = [*(relation.name for relation in RELATIONS), *DERIVED]
    return {name: int(store.connection.execute(f'SELECT count(*) FROM "{name}"').fetchone()[0]) for name in names}


class _Gate:
    """Counts what is committed, and holds the stream after the warm-up until the clock may start."""

    def __init__(self, warm: int) -> None:
        self.warm, self.events, self.batches = warm, 0, 0
        self.warmed, self.opened, self.moved = threading.Event(), threading.Event(), threading.Condition()
        self.clock = Clock()
        self.samples: list[tuple[int, float, float]] = []

    def done(self, batch: Batch, workers: list[int]) -> None:  # noqa: ARG002 - who folded does not matter here
        """Called after each commit, within the batch."""
        with self.moved:
            self.events += len(batch.rows.get("event_copy", ())) + len(batch.rows.get("quarantine", ()))
            self.batches += 1
            if self.opened.is_set():
                self.samples.append((self.events - self.warm, *self.clock.read()))
            self.moved.notify_all()
        if self.events >= self.warm and not self.opened.is_set():
            self.warmed.set()
            self.opened.wait(WAIT_S)

    def wait_for(self, events: int, query: StreamingQuery) -> None:
        """Until so many events are committed. Raises RuntimeError when the query ends before."""
        with self.moved:
            while self.events < events:
                self.moved.wait(1.0)
                if not query.isActive:
                    raise RuntimeError(f"the query ended: {query.exception()}")


def fold_on_spark(folder: Path, warm: Path, corpus: Path, warm_events: int, events: int) -> Result:
    """The serve query over a log: cost of `corpus` from the opened gate to its last commit, all that was left derived."""
    settings = load_settings({}, {}, folder)
    limits = Limits(settings.batch_bytes, settings.batch_frames, settings.derived_rows, settings.trigger_ms)
    gate, store = _Gate(warm_events), GraphWriter(folder / "graph.db", Names(KEY))
    serve = Serve(store, KEY, limits, gate.done)
    with LogWriter(folder / "log") as log:
        session = start_session(folder / "spark", master=settings.spark_master, memory=settings.spark_memory)
        warm_up(session, KEY)
        query = serve.start(session, folder / "log", folder / "spark")
        append_corpus(log, warm)
        gate.wait_for(warm_events, query)
        gate.warmed.wait(WAIT_S)
        append_corpus(log, corpus)
        calibration = calibrate()
        by_kind = cpu_by_kind(gate.clock.start().process)
        gate.opened.set()
        gate.wait_for(warm_events + events, query)
        while serve.settle():
            continue
        cpu, wall = gate.clock.read()
        by_kind = {kind: round((spent - by_kind[kind]) / events * 1e6, 1) for kind, spent in cpu_by_kind(gate.clock.process).items()}
        calibration = mean((calibration, calibrate()))
        progress = [dict(p["durationMs"]) for p in query.recentProgress]
        query.stop()
        session.stop()
    result = per_event(events, cpu, wall, calibration)
    return {
        **result,
        "cpu_us_per_event_by_process": by_kind,
        "batches": len(gate.samples),
        "store_bytes": store_size(store.path),
        "rows": row_counts(store),
        "slices": _slices(gate.samples),
        "last_batches_ms": progress[-3:],
    }


def _slices(samples: list[tuple[int, float, float]], parts: int = 10) -> list[dict[str, float]]:
    """The cost by tenths of the corpus, to see whether a growing store costs more. Cut at batches."""
    out: list[dict[str, float]] = []
    total = samples[-1][0]
    begin: tuple[int, float, float] = (0, 0.0, 0.0)
    for sample in samples:
        if sample[0] * parts >= total * (len(out) + 1):
            events = sample[0] - begin[0]
            cost = (sample[1] - begin[1]) / events * 1e6
            out.append({"up_to": sample[0], "cpu_us_per_event": round(cost, 1), "wall_s": round(sample[2] - begin[2], 2)})
            begin = sample
    return out


def fold_plainly(folder: Path, warm: Path, corpus: Path, warm_events: int, events: int) -> Result:
    """The same functions without Spark, in one process: read, fold, apply, one batch after the other."""
    store, limits = GraphWriter(folder / "graph.db", Names(KEY)), Limits()
    with LogWriter(folder / "log") as log:
        append_corpus(log, warm)
        warmed = log.end()
        append_corpus(log, corpus)
        end = log.end()
    reader, names = LogReader(folder / "log"), Names(KEY)
    place = _apply_up_to(store, reader, names, limits, 0, warmed)
    calibration = calibrate()
    clock = Clock().start()
    _apply_up_to(store, reader, names, limits, place, end)
    cpu, wall = clock.read()
    calibration = mean((calibration, calibrate()))
    counts = row_counts(store)
    assert counts["event_copy"] + counts["quarantine"] == warm_events + events
    return {**per_event(events, cpu, wall, calibration), "store_bytes": store_size(store.path), "rows": counts}


def _apply_up_to(store: GraphWriter, reader: LogReader, names: Names, limits: Limits, place: int, end: int) -> int:
    while place < end:
        cut = min(end, reader.cut(place, limits.batch_bytes, limits.batch_frames))
        tables = fold_frames(carried(reader, place, cut), names)
        store.apply(Batch({(LOG_SOURCE, 0): (place, cut)}, dict(flat(tables))), Budget(limits.derived_rows))
        place = cut
    while store.settle(Budget(limits.derived_rows)):
        continue
    return place


def carried(reader: LogReader, start: int, end: int) -> Iterator[Carried]:
    """Frames of the log as the fold takes them."""
    for place, f in reader.read(start, end):
        yield Carried(LOG_SOURCE, 0, place, int(f.kind), f.event_id, f.arrival_us, f.channel, f.principal, f.note, f.body)
