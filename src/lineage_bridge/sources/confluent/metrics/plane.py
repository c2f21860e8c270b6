"""What the Metrics API counts: records and bytes of topics, by client; of connectors, of Flink's statements; the lag of groups."""

from collections.abc import Mapping
from typing import NamedTuple

from lineage_bridge.errors import SourceError
from lineage_bridge.openlineage.naming import DatasetName
from lineage_bridge.sources.common.observer import Observation, Snapshot, Unseen
from lineage_bridge.sources.common.shared_metadata import SharedMetadata
from lineage_bridge.sources.confluent.identities.plane import ORGANIZATION
from lineage_bridge.sources.confluent.metrics.activity import clients, readers
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
    labels_of,
    rows_of,
    window,
)
from lineage_bridge.sources.confluent.organization import Estate
from lineage_bridge.sources.confluent.plane import Around, Plane, Planes
from lineage_bridge.sources.confluent.settings import Credential
from lineage_bridge.sources.confluent.statistics import Telling, of_jobs, of_topics

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
LAG = Metric(f"{_SERVER}/consumer_lag_offsets", KAFKA, (TOPIC, GROUP), is_gauge=True)
METRICS = (*TOPICS.values(), *CONNECTORS.values(), *STATEMENTS.values(), LAG)


class Figures(NamedTuple):
    """What was asked for: the rows of each metric that was answered, those that `failed`. `connectors`: ids to the jobs that they are."""

    during: Window
    rows: Mapping[Metric, list[Row]]
    connectors: Mapping[str, DatasetName]
    failed: frozenset[Metric] = frozenset()
    unseen: tuple[Unseen, ...] = ()


class Metrics(Plane[Figures]):
    """The organization's figures; told after all that they are about.

    Its snapshot: `connectors`, `producers` (activity.clients), `readers` (activity.readers), `said` (figures.Telling).
    """

    name, stage = "metrics", 6

    def lacks(self) -> str:
        """Metrics take a key of their own, or the Cloud API key."""
        return "" if self._key() else "no API key of the Metrics API is set, and no Cloud API key"

    def fetch(self, before: Snapshot | None, now_us: int) -> Figures:
        """One query for each metric. Raises SourceError if all of them fail."""
        key = self._key()
        if key is None:
            raise SourceError(self.lacks())
        http = self.clients.http(self.key, self.settings.telemetry_url, key, "metrics")
        labels, during = labels_of(http), window(now_us, self.settings.metrics_hours)
        connectors, unseen = self._connectors(before)
        ids = {
            KAFKA: [one.id for one in self.around.estate.kafka],
            POOL: [one.id for one in self.around.estate.pools],
            CONNECTOR: sorted(connectors),
        }
        unseen += [
            Unseen(metric.name, "the Metrics API has no such metric by these labels") for metric in METRICS if not metric.fits(labels)
        ]
        asked = [metric for metric in METRICS if metric.fits(labels) and ids[metric.resource]]
        answers = dict(
            zip(asked, http.map(lambda one: rows_of(http, one, labels[one.name], ids[one.resource], during), asked), strict=True)
        )
        failed = {metric: answer for metric, answer in answers.items() if isinstance(answer, SourceError)}
        if failed and len(failed) == len(answers):
            raise next(iter(failed.values()))
        unseen += [Unseen(metric.name, str(error)) for metric, error in failed.items()]
        rows = {metric: answer for metric, answer in answers.items() if not isinstance(answer, SourceError)}
        return Figures(during, rows, connectors, frozenset(failed), tuple(unseen))

    def tell(self, fetched: Figures, before: Snapshot | None, around: SharedMetadata, now_us: int) -> Observation:
        """Figures at most hourly, producers and their heartbeats, and who reads what where groups cannot be seen."""
        was = before or {}
        telling = Telling(self.around.estate, around, fetched.during, now_us, self.settings.heartbeat_s, was.get("said", {}))
        rows = fetched.rows
        connectors = {ident: job for ident, job in around.jobs.items() if ident.startswith("lcc-")} or dict(fetched.connectors)
        events, producers = clients(
            telling, rows.get(TOPICS["received_bytes"], []), was.get("producers", {}), self.settings.exclude_clients
        )
        told, read = readers(telling, rows.get(LAG, []), was.get("readers", {}))
        events += told + of_topics(telling, _together(TOPICS, fetched))
        events += of_jobs(telling, _together(CONNECTORS, fetched), lambda labels: connectors.get(labels[CONNECTOR]))
        events += of_jobs(telling, _together(STATEMENTS, fetched), lambda labels: around.jobs.get(_statement(self.around.estate, labels)))
        snapshot = {"connectors": connectors, "producers": producers, "readers": read, "said": telling.said}
        return Observation(snapshot, tuple(events), unseen=fetched.unseen)

    def nothing(self) -> Figures:
        """No figures."""
        return Figures(Window(0, 0), {}, {})

    def _key(self) -> Credential | None:
        return self.settings.metrics or self.settings.cloud

    def _connectors(self, before: Snapshot | None) -> tuple[dict[str, DatasetName], list[Unseen]]:
        """The connectors of before, whose figures can be asked for; at first they are listed."""
        if before is not None:
            return {ident: (job[0], job[1]) for ident, job in before["connectors"].items()}, []
        if self.settings.cloud is None or "connect" in self.settings.off:
            return {}, []
        http = self.clients.http(self.key, self.settings.url, self.settings.cloud, "cloud")
        estate = self.around.estate.kafka
        paths = [f"/connect/v1/environments/{one.environment}/clusters/{one.id}/connectors" for one in estate]
        found: dict[str, DatasetName] = {}
        unseen = []
        for cluster, answer in zip(estate, http.map(lambda path: http.get(path, expand="id"), paths), strict=True):
            if isinstance(answer, SourceError):
                unseen.append(Unseen(f"ids of connectors of {cluster.id}", str(answer)))
            elif isinstance(answer, Mapping):
                ids = {
                    name: one["id"].get("id")
                    for name, one in answer.items()
                    if isinstance(one, Mapping) and isinstance(one.get("id"), Mapping)
                }
                found |= {str(ident): (cluster.space, name) for name, ident in ids.items() if ident}
        return found, unseen


def planes(around: Around) -> Planes:
    """One for the organization."""
    yield Metrics(around, ORGANIZATION)


def _together(metrics: Mapping[str, Metric], fetched: Figures) -> dict[str, list[Row]]:
    """The rows by what they count. Figures are told together: nothing, if one of them failed."""
    if fetched.failed & set(metrics.values()):
        return {}
    return {name: fetched.rows[metric] for name, metric in metrics.items() if metric in fetched.rows}


def _statement(estate: Estate, labels: Mapping[str, str]) -> str:
    """The id of a statement among `Knowledge.jobs`."""
    pool = next((one for one in estate.pools if one.id == labels[POOL]), None)
    return f"{pool.environment}/{pool.cloud}.{pool.region}/{labels[STATEMENT]}" if pool else ""
