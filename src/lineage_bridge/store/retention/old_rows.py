"""The queries for old samples of statistics and old rejected events."""

from typing import Final, NamedTuple

from lineage_bridge.model.keeping.retention import KEPT
from lineage_bridge.store.connection import StoreConnection
from lineage_bridge.store.retention.old_events import OldEvents

_SAMPLE_KEY: Final = "run, job, dataset, side, time"
_SAMPLES: Final = f"SELECT {_SAMPLE_KEY} FROM io_sample WHERE ({_SAMPLE_KEY}) > (?, ?, ?, ?, ?) ORDER BY {_SAMPLE_KEY} LIMIT ?"
REJECTED: Final = """SELECT event, source, partition, "offset" FROM quarantine WHERE arrival < ?
ORDER BY event, source, partition, "offset" LIMIT ?"""
"""Rejected events that arrived before a time. Their namespace is unknown."""


class SampleKey(NamedTuple):
    """The key of a sample: how much a run had read from or written to a dataset at a time."""

    run: bytes = b""
    job: int = KEPT
    dataset: int = KEPT
    side: int = KEPT
    time: int = KEPT


def old_samples(connection: StoreConnection, old: OldEvents, after: SampleKey, most: int) -> tuple[list[SampleKey], SampleKey | None]:
    """The old ones of the next samples after a key, and the last key that was examined; None at the end of the table."""
    rows = [SampleKey(*row) for row in connection.execute(_SAMPLES, (*after, most)).fetchall()]
    old.load_namespaces(row.job for row in rows)
    found = [row for row in rows if row.time < old.cutoffs(row.job).statistics]
    return found, rows[-1] if len(rows) == most else None
