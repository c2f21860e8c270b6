"""Exposes the state of the server as metrics, which are read when they are requested. Names and units follow Prometheus' conventions."""

from collections.abc import Iterable, Iterator, Mapping
from itertools import chain
from typing import Any, Final

from msgspec import UNSET
from prometheus_client import Metric
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, InfoMetricFamily

from lineage_bridge.api.readiness import readiness
from lineage_bridge.api.schemas.operations import Readiness
from lineage_bridge.api.services import HEALTHY, LogHealth, Services
from lineage_bridge.api.telemetry.counters import PREFIX
from lineage_bridge.api.telemetry.inputs import input_metrics
from lineage_bridge.api.telemetry.targets import target_metrics
from lineage_bridge.model.sources import SourceRecord

_US: Final = 1e6


class Exposition:
    """A collector in the sense of Prometheus' client: it returns the counters of a process, and the state of the server."""

    def __init__(self, services: Services, questions: Mapping[str, Mapping[str, int]]) -> None:
        self._services, self._questions = services, questions

    def collect(self) -> Iterable[Metric]:
        """Return all metrics."""
        services = self._services
        return chain(
            map(_without_times, services.counters.registry.collect()),
            (InfoMetricFamily(f"{PREFIX}build", "The version of LineageBridge.", {"version": services.version}),),
            _parts(readiness(services)),
            _damage(services.log_health()),
            _pipeline(services.pipeline() or {}),
            _store(services.store_bytes()),
            (InfoMetricFamily(f"{PREFIX}graph_store", "The database of the graph.", {"kind": services.store_kind}),),
            _questions(self._questions),
            _sources(services.sources.records(), services.sources.pending()),
            input_metrics(services.inputs.records()),
            target_metrics(services.targets.records()),
        )


def _without_times(metric: Metric) -> Metric:
    """A copy of a metric without creation times. The text format would otherwise expose these as additional series."""
    metric.samples = [sample for sample in metric.samples if not sample.name.endswith("_created")]
    return metric


def _gauge(name: str, text: str, value: float) -> Metric:
    return GaugeMetricFamily(PREFIX + name, text, value)


def _labelled(name: str, text: str, labels: tuple[str, ...], samples: Iterable[tuple[tuple[str, ...], float]]) -> Metric:
    family = GaugeMetricFamily(PREFIX + name, text, labels=labels)
    for values, value in samples:
        family.add_metric(values, value)
    return family


def _parts(state: Readiness) -> Iterator[Metric]:
    """Metrics of the parts of the server, from the answer of `ready`."""
    parts = {name: getattr(state.parts, name) for name in state.parts.__struct_fields__}
    yield _gauge("ready", "1 if intake, store and pipeline work.", state.ready)
    yield _labelled(
        "part_up",
        "1 if this part works.",
        ("part",),
        (((name,), part.state == HEALTHY) for name, part in parts.items() if part is not UNSET),
    )
    if state.lag.bytes >= 0:
        yield _gauge("lag_bytes", "Bytes of records in the log that the graph has not applied.", state.lag.bytes)
    yield _gauge("settling", "1 while lineage of applied events is still to be derived.", state.settling)
    yield _gauge("log_size_bytes", "Bytes that the log uses on its disk.", state.disk.used_bytes)
    yield _gauge("log_free_bytes", "Bytes free on the disk of the log.", state.disk.free_bytes)


def _damage(health: LogHealth) -> Iterator[Metric]:
    damage = ((("true",), health.damaged - health.unacknowledged), (("false",), health.unacknowledged))
    yield _labelled(
        "log_damaged_places",
        "Damaged byte ranges of the log and of the archive, by whether an operator acknowledged them.",
        ("acknowledged",),
        damage,
    )
    yield _gauge("log_unreadable_bytes", "Bytes of the log and of the archive that cannot be read.", health.unreadable_bytes)


def _pipeline(status: Mapping[str, Any]) -> Iterator[Metric]:
    """Metrics of the pipeline's last report. Its counters restart when the pipeline restarts."""

    def number(name: str) -> float:
        value = status.get(name)
        return value if isinstance(value, int) else 0

    if not status:
        return
    yield _gauge("pipeline_start_time_seconds", "When the pipeline started, in seconds since 1970.", number("started_us") / _US)
    yield _gauge("pipeline_last_report_timestamp_seconds", "When the pipeline reported last.", number("beat_us") / _US)
    yield CounterMetricFamily(f"{PREFIX}pipeline_batches", "Batches committed to the graph.", number("batches"))
    yield CounterMetricFamily(f"{PREFIX}pipeline_events", "Records of events committed to the graph.", number("events"))
    yield CounterMetricFamily(f"{PREFIX}pipeline_commit_seconds", "Seconds spent committing batches.", number("commit_us") / _US)
    yield _gauge("pipeline_derive_queue_keys", "Keys whose lineage is still to be derived.", number("left"))
    if number("committed_us"):
        yield _gauge("pipeline_last_commit_timestamp_seconds", "When a batch was committed last.", number("committed_us") / _US)
        yield _gauge(
            "pipeline_freshness_seconds",
            "How long the oldest event of the last batch waited from its arrival until answers contained it.",
            number("freshness_us") / _US,
        )


def _store(files: Mapping[str, int]) -> Iterator[Metric]:
    yield _labelled(
        "store_size_bytes", "Bytes of a store, with its indexes.", ("store",), (((name,), size) for name, size in files.items())
    )


def _questions(lanes: Mapping[str, Mapping[str, int]]) -> Iterator[Metric]:
    """Metrics of the lanes; while the process that answers questions does not respond, only of those of this one."""
    for state, text in (("running", "Questions being answered"), ("queued", "Questions that wait for their turn")):
        yield _labelled(f"questions_{state}", f"{text}, by cost.", ("cost",), (((cost,), lane[state]) for cost, lane in lanes.items()))


def _sources(records: Iterable[SourceRecord], pending: int) -> Iterator[Metric]:
    yield _gauge("outbox_messages", "Messages of sources that have not been delivered to the API yet.", pending)
    records = list(records)

    def labels(record: SourceRecord) -> tuple[str, str]:
        return record.name, record.kind

    def gauge(name: str, text: str, values: Iterable[tuple[SourceRecord, float | None]]) -> Metric:
        known = ((labels(record), value) for record, value in values if value is not None)
        return _labelled(f"source_{name}", text, ("source", "kind"), known)

    def counter(name: str, text: str, values: Iterable[tuple[SourceRecord, int]]) -> Metric:
        family = CounterMetricFamily(f"{PREFIX}source_{name}", text, labels=("source", "kind"))
        for record, value in values:
            family.add_metric(labels(record), value)
        return family

    states = [(record, record.state) for record in records]
    tried = [(record, state) for record, state in states if state.polls]
    yield gauge("up", "1 if the last poll of a source succeeded.", ((record, not state.failures) for record, state in tried))
    yield gauge("paused", "1 if a source is not polled.", ((record, state.paused) for record, state in states))
    yield gauge("consecutive_failures", "Polls that failed since the last success.", ((record, state.failures) for record, state in states))
    yield gauge("unseen", "Objects that a source cannot read.", ((record, len(state.unseen)) for record, state in states))
    yield gauge("poll_duration_seconds", "How long the last poll took.", ((record, _seconds(state.took_us)) for record, state in states))
    yield gauge(
        "last_success_timestamp_seconds",
        "When a poll succeeded last.",
        ((record, _seconds(state.succeeded_us)) for record, state in states),
    )
    yield counter("polls", "Polls that ended.", ((record, state.polls) for record, state in states))
    yield counter("events", "Events that a source reported.", ((record, state.events) for record, state in states))


def _seconds(time_us: int | None) -> float | None:
    return None if time_us is None else time_us / _US
