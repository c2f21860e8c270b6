"""Converts metrics of topics and jobs to a facet. The facet is emitted once an hour at most. Its values must not be summed over several
facets, because not every window is emitted. Pure.
"""

from collections import defaultdict
from collections.abc import Callable, Mapping
from typing import Any

from lineage_bridge.openlineage.event_builder import EventBuilder, Json
from lineage_bridge.openlineage.naming import DatasetName
from lineage_bridge.openlineage.times import DAY_US, format_time
from lineage_bridge.sources.common.kafka.events.builder import digest
from lineage_bridge.sources.common.kafka.events.topics import STATISTICS_EVERY_US
from lineage_bridge.sources.common.shared_metadata import SharedMetadata
from lineage_bridge.sources.confluent.metrics.client import KAFKA, TOPIC, Row, Window
from lineage_bridge.sources.confluent.namespaces import UserTopics
from lineage_bridge.sources.confluent.organization import Organization

PRODUCER = EventBuilder("https://lineagebridge.dev/sources/confluent/metrics")
FACET = "confluent_statistics"
FORGET_AFTER_US = 7 * DAY_US
FindName = Callable[[Mapping[str, str]], DatasetName | None]
"""Finds the dataset or job for the labels of a row; None if unknown."""


class MetricsContext:
    """The context that all events about metrics in a poll share. `window`: the time that the metrics cover.

    `emitted`: for each dataset or job, the time (microseconds) and the digest of its last facet; it is updated, for the next snapshot.
    """

    def __init__(
        self,
        organization: Organization,
        shared: SharedMetadata,
        window: Window,
        now_us: int,
        heartbeat_s: int,
        emitted: Mapping[str, list[Any]],
    ) -> None:
        self.shared, self.window, self.now_us, self.heartbeat_s = shared, window, now_us, heartbeat_s
        self.topics = UserTopics(organization, shared)
        self.namespaces = self.topics.namespaces
        self.emitted = {key: last for key, last in emitted.items() if now_us - last[0] < FORGET_AFTER_US}

    def facet(self, kind: str, name: DatasetName, members: Mapping[str, int]) -> Json | None:
        """Return the facet, unless it was emitted within the last hour or has not changed. `kind` is Dataset or Job."""
        key, fingerprint = f"{kind} {name[0]} {name[1]}", digest(members)
        if key in self.emitted and (self.now_us - self.emitted[key][0] < STATISTICS_EVERY_US or self.emitted[key][1] == fingerprint):
            return None
        self.emitted[key] = [self.now_us, fingerprint]
        since, until = format_time(self.window.start_us), format_time(self.window.end_us)
        return PRODUCER.own_facet("1-0-0", f"ConfluentStatistics{kind}Facet", since=since, until=until, **members)


def topic_events(context: MetricsContext, rows: Mapping[str, list[Row]]) -> list[Json]:
    """Return events with the metrics of topics, summed over clients. `rows`: the rows for each member of the facet."""
    sums = _sums(rows, lambda labels: context.topics.find(labels[KAFKA], labels[TOPIC]))
    facets = {name: context.facet("Dataset", name, members) for name, members in sums.items()}
    return [PRODUCER.dataset_event(context.now_us, name, {FACET: facet}) for name, facet in facets.items() if facet]


def job_events(context: MetricsContext, rows: Mapping[str, list[Row]], find_job: FindName) -> list[Json]:
    """Return events with the metrics of known jobs. `rows`: the rows for each member of the facet."""
    facets = {name: context.facet("Job", name, members) for name, members in _sums(rows, find_job).items()}
    return [PRODUCER.job_event(context.now_us, name, job_facets={FACET: facet}) for name, facet in facets.items() if facet]


def _sums(rows: Mapping[str, list[Row]], find_name: FindName) -> dict[DatasetName, dict[str, int]]:
    """Sum rows into the members of the facet, for each dataset or job."""
    sums: dict[DatasetName, dict[str, float]] = defaultdict(lambda: dict.fromkeys(rows, 0.0))
    for member, summed in rows.items():
        for row in summed:
            name = find_name(row.labels)
            if name is not None:
                sums[name[0], name[1]][member] += row.value
    return {name: {member: round(value) for member, value in members.items()} for name, members in sorted(sums.items())}
