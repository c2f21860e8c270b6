"""retention: the bytes of log and graph day by day, with retention and without, and what removing costs beside folding, in one run."""

import json
import sys
import time
from collections.abc import Iterator
from contextlib import closing, nullcontext
from itertools import groupby, islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

from bench.generator import BASE_US, DAY_US, Corpus, generate
from lineage_bridge.eventlog.compressed.compressor import compress_closed
from lineage_bridge.eventlog.disk import LocalDisk
from lineage_bridge.eventlog.expiring.emptying import empty_expired
from lineage_bridge.eventlog.expiring.expired_offsets import ExpiredOffsets
from lineage_bridge.eventlog.writer import LogWriter
from lineage_bridge.graph.facts.fold import flat, fold_records
from lineage_bridge.graph.facts.names import Names
from lineage_bridge.graph.ids import event_id
from lineage_bridge.graph.log_record import LogRecord, OffsetRange, RecordKind, StoredRecord
from lineage_bridge.model.keeping.retention import Cutoffs, ExpiredCounts, RetentionPolicy
from lineage_bridge.ports.graph_store import Batch, Budget
from lineage_bridge.store.retention.expiry import Expiry
from lineage_bridge.store.write.apply import GraphWriter

DAYS: Final = 12
KEPT_DAYS: Final = 3
JOBS: Final = 300
DATASETS: Final = 700
_BATCH: Final = 5_000
_SEGMENT: Final = 4 << 20
_KEY: Final = b"a key for the bench"


class _Estate(Corpus):
    """Jobs that run several times a day, whatever the number of events."""

    @property
    def jobs(self) -> int:
        """How many jobs send events."""
        return JOBS

    @property
    def datasets(self) -> int:
        """How many datasets there are."""
        return DATASETS


def measure(events_a_day: int, folder: Path, *, kept_days: int | None) -> Iterator[dict[str, Any]]:
    """Fold days of events one after another; after each, remove what is older than `kept_days`. Yields the figures of each day."""
    corpus, names = _Estate(events_a_day * DAYS, days=DAYS), Names(_KEY)
    log, disk = folder / "log", LocalDisk()
    sent = generate(corpus)
    with closing(GraphWriter(folder / "graph.db", names)) as store, LogWriter(log, segment_bytes=_SEGMENT) as writer:
        for day, events in groupby(sent, lambda event: (event.arrival_us - BASE_US) // DAY_US):
            began = time.process_time()
            while some := list(islice(events, _BATCH)):
                _fold(
                    store,
                    writer,
                    names,
                    [LogRecord(RecordKind.EVENT, event_id(e.body), e.arrival_us, "http", "", b"", e.body) for e in some],
                )
            folded = time.process_time()
            counts = ExpiredCounts()
            if kept_days:
                at = BASE_US + (day + 1) * DAY_US
                policy = RetentionPolicy([("*", Cutoffs(*[at - kept_days * DAY_US] * 4))])
                for step in Expiry(store, policy, ExpiredOffsets(log)).steps(lambda: nullcontext(store.connection), at):
                    counts.add(step())
            removed = time.process_time()
            compress_closed(log, disk)
            empty_expired(log, disk)
            store.connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
            yield {
                "day": int(day) + 1,
                "log_mb": sum(path.stat().st_size for path in log.iterdir()) / 1e6,
                "closed_mb": sum(path.stat().st_size for path in log.glob("*.zst")) / 1e6,
                "graph_mb": (folder / "graph.db").stat().st_size / 1e6,
                "rows_of_events": store.connection.execute("SELECT count(*) FROM event").fetchone()[0],
                "removed": {name: getattr(counts, name) for name in counts.__struct_fields__},
                "cpu_s": {"fold": folded - began, "remove": removed - folded, "compress": time.process_time() - removed},
            }


def _fold(store: GraphWriter, writer: LogWriter, names: Names, records: list[LogRecord]) -> None:
    start = store.position("log").get(0, 0)
    offsets = writer.submit(records).result()
    stored = [StoredRecord("log", 0, offset, record) for offset, record in zip(offsets, records, strict=True)]
    store.apply(Batch({("log", 0): OffsetRange(start, writer.end())}, dict(flat(fold_records(stored, names)))), Budget(10**6))


def main() -> None:
    """Print the figures of each day, with retention and without."""
    events = int(sys.argv[1]) if len(sys.argv) > 1 else 10_000
    for kept_days in (KEPT_DAYS, None):
        with TemporaryDirectory() as folder:
            for figures in measure(events, Path(folder), kept_days=kept_days):
                print(json.dumps({"kept_days": kept_days, **figures}), flush=True)


if __name__ == "__main__":
    main()
