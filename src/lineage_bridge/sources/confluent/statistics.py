"""Figures of topics and jobs, as a facet that is told at most hourly: told again it counts nothing twice. Pure."""

from collections import defaultdict
from collections.abc import Callable, Mapping
from typing import Any

from lineage_bridge.openlineage.event_builder import EventBuilder, Json
from lineage_bridge.openlineage.naming import DatasetName
from lineage_bridge.openlineage.times import DAY_US, format_time
from lineage_bridge.sources.common.kafka.events.builder import digest
from lineage_bridge.sources.common.kafka.events.topics import STATISTICS_EVERY_US
from lineage_bridge.sources.common.kafka.look.purposes import SYSTEM, purpose
from lineage_bridge.sources.common.shared_metadata import SharedMetadata
from lineage_bridge.sources.confluent.metrics.client import KAFKA, TOPIC, Row, Window
from lineage_bridge.sources.confluent.organization import Estate

OUT = EventBuilder("https://lineagebridge.dev/sources/confluent/metrics")
FACET = "confluent_statistics"
FORGOTTEN_US = 7 * DAY_US


class Topics:
    """Topics of users: where topics are listed, one of these."""

    def __init__(self, estate: Estate, around: SharedMetadata) -> None:
        self.spaces = {one.id: one.space for one in estate.kafka}
        self._listed = {one.id: one.topics for one in around.clusters if one.id in self.spaces and one.topics is not None}

    def of(self, cluster: str, name: str) -> DatasetName | None:
        """A topic's name in the graph."""
        space, listed = self.spaces.get(cluster), self._listed.get(cluster)
        if space is None or not name or purpose(name) in SYSTEM or (listed is not None and name not in listed):
            return None
        return space, name


class Telling:
    """What telling of figures takes. `said`: what they were told of to when, and a digest; it is kept up to date.

    `during` is the time that the figures are of.
    """

    def __init__(
        self, estate: Estate, around: SharedMetadata, during: Window, now_us: int, heartbeat_s: int, said: Mapping[str, list[Any]]
    ) -> None:
        self.around, self.during, self.now_us, self.heartbeat_s = around, during, now_us, heartbeat_s
        self.topics = Topics(estate, around)
        self.spaces = self.topics.spaces
        self.said = {what: when for what, when in said.items() if now_us - when[0] < FORGOTTEN_US}

    def facet(self, kind: str, name: DatasetName, members: Mapping[str, int]) -> Json | None:
        """The facet, unless it was told within the hour or says nothing new. `kind` is Dataset or Job."""
        what, now = f"{kind} {name[0]} {name[1]}", digest(members)
        if what in self.said and (self.now_us - self.said[what][0] < STATISTICS_EVERY_US or self.said[what][1] == now):
            return None
        self.said[what] = [self.now_us, now]
        since, until = format_time(self.during.start_us), format_time(self.during.end_us)
        return OUT.own_facet("1-0-0", f"ConfluentStatistics{kind}Facet", since=since, until=until, **members)


def of_topics(telling: Telling, rows: Mapping[str, list[Row]]) -> list[Json]:
    """The figures of topics, over all their clients."""
    every = _summed(rows, lambda labels: telling.topics.of(labels[KAFKA], labels[TOPIC]))
    facets = {name: telling.facet("Dataset", name, members) for name, members in every.items()}
    return [OUT.dataset_event(telling.now_us, name, {FACET: facet}) for name, facet in facets.items() if facet]


def of_jobs(telling: Telling, rows: Mapping[str, list[Row]], job_of: Callable[[Mapping[str, str]], DatasetName | None]) -> list[Json]:
    """The figures of jobs that are known."""
    facets = {name: telling.facet("Job", name, members) for name, members in _summed(rows, job_of).items()}
    return [OUT.job_event(telling.now_us, name, job_facets={FACET: facet}) for name, facet in facets.items() if facet]


def _summed(rows: Mapping[str, list[Row]], name_of: Callable[[Mapping[str, str]], DatasetName | None]) -> dict[DatasetName, dict[str, int]]:
    """By name: each figure, none of them missing."""
    found: dict[DatasetName, dict[str, float]] = defaultdict(lambda: dict.fromkeys(rows, 0.0))
    for figure, counted in rows.items():
        for row in counted:
            name = name_of(row.labels)
            if name is not None:
                found[name[0], name[1]][figure] += row.value
    return {name: {figure: round(value) for figure, value in figures.items()} for name, figures in sorted(found.items())}
