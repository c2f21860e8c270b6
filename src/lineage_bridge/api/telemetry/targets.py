"""Exposes the state of targets as metrics."""

from collections.abc import Iterable, Iterator
from typing import Final

from prometheus_client import Metric
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily

from lineage_bridge.api.telemetry.by_name import gauges_of
from lineage_bridge.api.telemetry.counters import PREFIX
from lineage_bridge.ports.continuous import ContinuousStatus
from lineage_bridge.ports.targets import TargetRecord

_LABELS: Final = ("target", "kind")
_gauge = gauges_of("target")
_US: Final = 1e6


def target_metrics(records: Iterable[TargetRecord]) -> Iterator[Metric]:
    """Metrics of the objects published to each target, and of the lag of continuous publishing."""
    records = list(records)
    followed = [(record, record.continuous) for record in records if record.continuous]
    yield _gauge("paused", "1 if a target is paused, so that nothing is published to it.", ((record, record.paused) for record in records))
    objects = GaugeMetricFamily(f"{PREFIX}target_objects", "Objects that were published, by state.", labels=(*_LABELS, "state"))
    for record in records:
        for state, count in record.published.items():
            objects.add_metric((record.name, record.kind, state), count)
    yield objects
    yield _gauge("up", "1 if the last continuous publication succeeded.", ((record, _is_up(status)) for record, status in followed))
    yield _gauge("lag_changes", "Changes of the graph not published.", ((record, status.lag_changes) for record, status in followed))
    yield _gauge(
        "lag_seconds", "How long the oldest unpublished change has waited.", ((record, status.lag_s) for record, status in followed)
    )
    yield _gauge(
        "last_success_timestamp_seconds",
        "When a continuous publication succeeded last.",
        ((record, _seconds(status.state.succeeded_us)) for record, status in followed),
    )
    yield _gauge(
        "consecutive_failures",
        "Continuous publications that failed since the last success.",
        ((record, status.state.failures) for record, status in followed),
    )
    yield _gauge(
        "drifted_objects",
        "Objects that others had changed in the target before the last continuous publication.",
        ((record, len(status.report.drift) + status.report.drift_left_out) for record, status in followed if status.report),
    )
    publications = CounterMetricFamily(
        f"{PREFIX}target_publications", "Continuous publications that ended, by outcome.", labels=(*_LABELS, "outcome")
    )
    operations = CounterMetricFamily(f"{PREFIX}target_operations", "Changes that continuous publishing made in the target.", labels=_LABELS)
    for record, status in followed:
        for outcome, count in (("done", status.state.done), ("failed", status.state.failed)):
            publications.add_metric((record.name, record.kind, outcome), count)
        operations.add_metric((record.name, record.kind), status.state.operations)
    yield publications
    yield operations


def _is_up(status: ContinuousStatus) -> bool:
    return not status.state.failures and status.activity != "stopped"


def _seconds(time_us: int | None) -> float | None:
    return None if time_us is None else time_us / _US
