"""Counts what the API's process does. Names and units follow Prometheus' conventions."""

from collections import Counter as Tally
from typing import Final

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, ProcessCollector

from lineage_bridge.ingest.ingest import Ingested
from lineage_bridge.openlineage.verdict import Rejected, Repaired

PREFIX: Final = "lineage_bridge_"
UNMATCHED: Final = "unmatched"
"""The label of requests that match no route."""
_SECONDS: Final = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)


class Counters:
    """Counters of ingested events and answered requests since the process started. They are in their own Prometheus registry, apart from
    the library's global one.
    """

    def __init__(self) -> None:
        self.registry = registry = CollectorRegistry()
        ProcessCollector(registry=registry)
        self._events = Counter(
            f"{PREFIX}ingest_events",
            "Events received, by outcome (accepted, repaired, rejected).",
            ("channel", "outcome"),
            registry=registry,
        )
        self._rejected = Counter(
            f"{PREFIX}ingest_rejected_events", "Rejected events, by reason code.", ("channel", "code"), registry=registry
        )
        self._bytes = Counter(f"{PREFIX}ingest_event_bytes", "Bytes of received events, as stored.", ("channel",), registry=registry)
        self._requests = Counter(f"{PREFIX}http_requests", "HTTP requests answered.", ("method", "route", "status"), registry=registry)
        self._seconds = Histogram(
            f"{PREFIX}http_request_duration_seconds", "Time to answer a request.", ("route",), buckets=_SECONDS, registry=registry
        )
        self.in_progress = Gauge(f"{PREFIX}http_requests_in_progress", "HTTP requests being answered.", registry=registry)

    def count_events(self, ingested: Ingested) -> None:
        """Count the events of a payload: those whose records are durable, and those that were refused."""
        outcomes: Tally[tuple[str, str]] = Tally()
        codes: Tally[tuple[str, str]] = Tally()
        sizes: Tally[str] = Tally()
        for event in ingested.events:
            verdict, channel = event.verdict, event.record.channel
            sizes[channel] += len(event.record.body)
            if isinstance(verdict, Rejected):
                outcomes[channel, "rejected"] += 1
                codes[channel, verdict.code] += 1
            else:
                outcomes[channel, "repaired" if isinstance(verdict, Repaired) else "accepted"] += 1
        for counter, found in ((self._events, outcomes), (self._rejected, codes)):
            for labels, number in found.items():
                counter.labels(*labels).inc(number)
        for channel, size in sizes.items():
            self._bytes.labels(channel).inc(size)

    def count_request(self, method: str, route: str, status: int, seconds: float) -> None:
        """Count a request that was answered."""
        self._requests.labels(method, route, str(status)).inc()
        self._seconds.labels(route).observe(seconds)
