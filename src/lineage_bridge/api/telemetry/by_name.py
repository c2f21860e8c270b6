"""Gauges of things that have a name and a kind, such as inputs and targets."""

from collections.abc import Callable, Iterable
from typing import Protocol

from prometheus_client import Metric
from prometheus_client.core import GaugeMetricFamily

from lineage_bridge.api.telemetry.counters import PREFIX


class Labelled(Protocol):
    """A thing with a name and a kind, which are the labels of its metrics."""

    @property
    def name(self) -> str:
        """The name that its user chose."""

    @property
    def kind(self) -> str:
        """Its kind, such as `kafka`."""


Gauge = Callable[[str, str, Iterable[tuple[Labelled, float | None]]], Metric]


def gauges_of(noun: str) -> Gauge:
    """Make a function that makes the gauge `lineage_bridge_NOUN_NAME` from its name, its help text and its values. Values that are None are
    left out.
    """

    def gauge(name: str, text: str, values: Iterable[tuple[Labelled, float | None]]) -> Metric:
        family = GaugeMetricFamily(f"{PREFIX}{noun}_{name}", text, labels=(noun, "kind"))
        for record, value in values:
            if value is not None:
                family.add_metric((record.name, record.kind), value)
        return family

    return gauge
