"""Exposes the state of inputs as metrics."""

from collections.abc import Iterable, Iterator
from typing import Final

from prometheus_client import Metric
from prometheus_client.core import CounterMetricFamily

from lineage_bridge.api.telemetry.by_name import gauges_of
from lineage_bridge.api.telemetry.counters import PREFIX
from lineage_bridge.model.sources import InputRecord

_LABELS: Final = ("input", "kind")
_gauge = gauges_of("input")
_READ: Final = frozenset({"reading", "idle", "starting"})
"""States of an input that is being read, or that is read again without an operator."""
_US: Final = 1e6


def input_metrics(records: Iterable[InputRecord]) -> Iterator[Metric]:
    """Metrics of how each input is read, how far behind it is, and of its events in the log."""
    records = list(records)
    running = [(record, record.status) for record in records if record.status]
    known = [(record, record.progress) for record in records if record.progress]
    read = (
        (record, record.status is not None and record.status.state in _READ) for record in records if record.status or not record.paused
    )
    yield _gauge("up", "1 if an input is read.", read)
    yield _gauge("paused", "1 if an input is not read until it is resumed.", ((record, record.paused) for record in records))
    yield _gauge("lag_records", "Records that have not been read yet.", ((record, status.lag_records) for record, status in running))
    yield _gauge("lag_files", "Files that have not been read completely.", ((record, status.lag_files) for record, status in running))
    yield _gauge("lag_bytes", "Bytes of files that have not been read yet.", ((record, status.lag_bytes) for record, status in running))
    yield _gauge(
        "lag_seconds",
        "Age of the newest record that was read, while further records wait.",
        ((record, status.lag_s) for record, status in running),
    )
    yield _gauge(
        "problems", "Problems of an input that do not stop the rest of it.", ((record, len(status.problems)) for record, status in running)
    )
    yield _gauge(
        "last_record_timestamp_seconds",
        "When the last event of an input arrived in the log, in seconds since 1970.",
        ((record, None if progress.last_us is None else progress.last_us / _US) for record, progress in known),
    )
    events = CounterMetricFamily(
        f"{PREFIX}input_events", "Events of an input in the log, by outcome (accepted, or the code).", labels=(*_LABELS, "outcome")
    )
    for record, progress in known:
        for outcome, count in {"accepted": progress.accepted, **progress.rejected}.items():
            events.add_metric((record.name, record.kind, outcome), count)
    yield events
    yield _counter(
        "filtered_events",
        "Events that an input left out by the names of their jobs, since its process has started.",
        ((record, status.filtered) for record, status in running),
    )
    yield _counter("records", "Records that were read since the process has started.", ((rec, status.read) for rec, status in running))
    yield _counter(
        "skipped_records",
        "Records without a value that were read since the process has started.",
        ((record, status.skipped) for record, status in running),
    )
    yield _counter("lost_records", "Records that were deleted before they were read.", ((rec, status.lost) for rec, status in running))


def _counter(name: str, text: str, values: Iterable[tuple[InputRecord, int]]) -> Metric:
    family = CounterMetricFamily(f"{PREFIX}input_{name}", text, labels=_LABELS)
    for record, value in values:
        family.add_metric((record.name, record.kind), value)
    return family
