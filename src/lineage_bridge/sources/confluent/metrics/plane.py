"""The plane of metrics: traffic of topics by client, of connectors and of Flink statements, and the lag of groups."""

from collections.abc import Mapping
from typing import NamedTuple

from lineage_bridge.errors import SourceError
from lineage_bridge.openlineage.naming import DatasetName
from lineage_bridge.sources.common.observer import Observation, Snapshot, Unseen
from lineage_bridge.sources.common.shared_metadata import SharedMetadata
from lineage_bridge.sources.confluent.identities.plane import ORGANIZATION
from lineage_bridge.sources.confluent.metrics.applications import producer_events, reader_events
from lineage_bridge.sources.confluent.metrics.client import (
    CLIENT,
    CONNECTOR,
    GROUP,
    KAFKA,
    POOL,
    PRINCIPAL,
    STATEMENT,
    TOPIC,
    Metric,
    Row,
    Window,
    list_metrics,
    newest_window,
    query_metric,
)
from lineage_bridge.sources.confluent.metrics.events import MetricsContext, job_events, topic_events
from lineage_bridge.sources.confluent.organization import Organization
from lineage_bridge.sources.confluent.plane import Plane, PlaneContext, Planes
from lineage_bridge.sources.confluent.settings import Credential

_SERVER, _CONNECT, _FLINK = "io.confluent.kafka.server", "io.confluent.kafka.connect", "io.confluent.flink"
TOPICS = {
    "received_bytes": Metric(f"{_SERVER}/received_bytes", KAFKA, (TOPIC,), (CLIENT, PRINCIPAL)),
    "sent_bytes": Metric(f"{_SERVER}/sent_bytes", KAFKA, (TOPIC,)),
    "received_records": Metric(f"{_SERVER}/received_records", KAFKA, (TOPIC,)),
    "sent_records": Metric(f"{_SERVER}/sent_records", KAFKA, (TOPIC,)),
}
CONNECTORS = {
    "records_in": Metric(f"{_CONNECT}/received_records", CONNECTOR),
    "records_out": Metric(f"{_CONNECT}/sent_records", CONNECTOR),
    "dead_letter_records": Metric(f"{_CONNECT}/dead_letter_queue_records", CONNECTOR),
}
STATEMENTS = {
    "records_in": Metric(f"{_FLINK}/num_records_in", POOL, (STATEMENT,)),
    "records_out": Metric(f"{_FLINK}/num_records_out", POOL, (STATEMENT,)),
}
_CONNECTOR_IDS = ("lcc-", "clcc-")
"""Prefixes of the ids of connectors: Confluent's own, and those with a custom plugin."""
LAG = Metric(f"{_SERVER}/consumer_lag_offsets", KAFKA, (TOPIC, GROUP), is_gauge=True)
METRICS = (*TOPICS.values(), *CONNECTORS.values(), *STATEMENTS.values(), LAG)
"""The metrics to query. Their keys in TOPICS, CONNECTORS and STATEMENTS are members of the facet."""


class MetricsAnswers(NamedTuple):
    """The rows of each metric that could be fetched, and the metrics that `failed`. `connectors`: jobs by connector id."""

    window: Window
    rows: Mapping[Metric, list[Row]]
    connectors: Mapping[str, DatasetName]
    failed: frozenset[Metric] = frozenset()
    unseen: tuple[Unseen, ...] = ()


class MetricsPlane(Plane[MetricsAnswers]):
    """Observes the metrics of an organization. It is translated after the planes of the resources that are measured.

    Its snapshot has `connectors`, `producers` and `readers` (applications.py describes them), and `said`, what was last emitted.
    """

    name, stage = "metrics", 6

    def unavailable_reason(self) -> str:
        """Why metrics cannot be read: neither an API key for metrics nor the Cloud API key is set. Empty if one of them is set."""
        return "" if self._credential() else "neither an API key for the Metrics API nor a Cloud API key is set"

    def fetch(self, before: Snapshot | None, now_us: int) -> MetricsAnswers:
        """Send one query for each metric. Raises SourceError if all of them fail."""
        credential = self._credential()
        if credential is None:
            raise SourceError(self.unavailable_reason())
        http = self.clients.http(self.key, self.settings.telemetry_url, credential, "metrics")
        labels, window = list_metrics(http), newest_window(now_us, self.settings.metrics_hours)
        connectors, unseen = self._connectors(before)
        observed = self.context.observed
        ids = {
            KAFKA: [cluster.id for cluster in observed.kafka_clusters],
            POOL: [pool.id for pool in observed.compute_pools],
            CONNECTOR: sorted(connectors),
        }
        missing = [metric for metric in METRICS if not metric.is_offered(labels)]
        unseen += [Unseen(metric.name, "the Metrics API does not have this metric with these labels") for metric in missing]
        queried = [metric for metric in METRICS if metric not in missing and ids[metric.resource]]
        answers = dict(
            zip(
                queried,
                http.map(lambda metric: query_metric(http, metric, labels[metric.name], ids[metric.resource], window), queried),
                strict=True,
            )
        )
        failed = {metric: answer for metric, answer in answers.items() if isinstance(answer, SourceError)}
        if failed and len(failed) == len(answers):
            raise next(iter(failed.values()))
        unseen += [Unseen(metric.name, str(error)) for metric, error in failed.items()]
        rows = {metric: answer for metric, answer in answers.items() if not isinstance(answer, SourceError)}
        return MetricsAnswers(window, rows, connectors, frozenset(failed), tuple(unseen))

    def translate(self, fetched: MetricsAnswers, before: Snapshot | None, shared: SharedMetadata, now_us: int) -> Observation:
        """Return events with metrics, at most hourly; heartbeats of producers; and events of consumer groups whose topics no other plane
        reports.
        """
        previous, organization, rows = before or {}, self.context.observed, fetched.rows
        context = MetricsContext(organization, shared, fetched.window, now_us, self.settings.heartbeat_s, previous.get("said", {}))
        connectors = {id_: job for id_, job in shared.jobs.items() if id_.startswith(_CONNECTOR_IDS)} or dict(fetched.connectors)
        events, producers = producer_events(
            context, rows.get(TOPICS["received_bytes"], []), previous.get("producers", {}), self.settings.exclude_clients
        )
        more, readers = reader_events(context, rows.get(LAG, []), previous.get("readers", {}))
        events += more + topic_events(context, _complete(TOPICS, fetched))
        events += job_events(context, _complete(CONNECTORS, fetched), lambda labels: connectors.get(labels[CONNECTOR]))
        events += job_events(context, _complete(STATEMENTS, fetched), lambda labels: shared.jobs.get(_statement_id(organization, labels)))
        snapshot = {"connectors": connectors, "producers": producers, "readers": readers, "said": context.emitted}
        return Observation(snapshot, tuple(events), unseen=fetched.unseen)

    def empty_answer(self) -> MetricsAnswers:
        """Return an answer without metrics."""
        return MetricsAnswers(Window(0, 0), {}, {})

    def _credential(self) -> Credential | None:
        return self.settings.metrics or self.settings.cloud

    def _connectors(self, before: Snapshot | None) -> tuple[dict[str, DatasetName], list[Unseen]]:
        """Return the jobs of connectors by id. They are in the previous snapshot; at the first poll, the connectors are listed."""
        if before is not None:
            return {id_: (job[0], job[1]) for id_, job in before["connectors"].items()}, []
        if self.settings.cloud is None or "connect" in self.settings.off:
            return {}, []
        http = self.clients.http(self.key, self.settings.url, self.settings.cloud, "cloud")
        clusters = self.context.observed.kafka_clusters
        paths = [f"/connect/v1/environments/{cluster.environment}/clusters/{cluster.id}/connectors" for cluster in clusters]
        found: dict[str, DatasetName] = {}
        unseen = []
        for cluster, answer in zip(clusters, http.map(lambda path: http.get(path, expand="id"), paths), strict=True):
            if isinstance(answer, SourceError):
                unseen.append(Unseen(f"ids of connectors of {cluster.id}", str(answer)))
            elif isinstance(answer, Mapping):
                ids = {
                    name: entry["id"].get("id")
                    for name, entry in answer.items()
                    if isinstance(entry, Mapping) and isinstance(entry.get("id"), Mapping)
                }
                found |= {str(id_): (cluster.namespace, name) for name, id_ in ids.items() if id_}
        return found, unseen


def planes(context: PlaneContext) -> Planes:
    """Create one plane for the organization."""
    yield MetricsPlane(context, ORGANIZATION)


def _complete(metrics: Mapping[str, Metric], fetched: MetricsAnswers) -> dict[str, list[Row]]:
    """Return the rows of each member of a facet; none if a metric failed, since all members are emitted together."""
    if fetched.failed & set(metrics.values()):
        return {}
    return {member: fetched.rows[metric] for member, metric in metrics.items() if metric in fetched.rows}


def _statement_id(organization: Organization, labels: Mapping[str, str]) -> str:
    """Return the id by which the shared metadata's `jobs` names a statement."""
    pool = next((pool for pool in organization.compute_pools if pool.id == labels[POOL]), None)
    return f"{pool.environment}/{pool.cloud}.{pool.region}/{labels[STATEMENT]}" if pool else ""
