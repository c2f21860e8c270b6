"""Gauges of things that have a name and a kind, such as inputs and targets."""

from collections.abc import Callable, Iterable
from typing import Protocol

from prometheus_client import Metric
from prometheus_client.core import GaugeMetricFamily

from lineage_bridge.api.telemetry.counters import PREFIX


class Labelled(Protocol):
    """What metrics are labelled with."""

    @property
    def name(self) -> str:
        """The name that its user chose."""

    @property
    def kind(self) -> str:
        """What it is, such as `kafka`."""


Gauge = Callable[[str, str, Iterable[tuple[Labelled, float | None]]], Metric]


def gauges_of(noun: str) -> Gauge:
    """A function that makes the gauge `lineage_bridge_NOUN_NAME` from its name, its text and its values, of which None are left out."""

    def gauge(name: str, text: str, values: Iterable[tuple[Labelled, float | None]]) -> Metric:
        family = GaugeMetricFamily(f"{PREFIX}{noun}_{name}", text, labels=(noun, "kind"))
        for record, value in values:
            if value is not None:
                family.add_metric((record.name, record.kind), value)
        return family

    return gauge
