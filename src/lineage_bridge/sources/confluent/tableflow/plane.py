"""The plane of Tableflow: the topics of a Kafka cluster that are materialized as tables, and the catalogs that list those tables."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import msgspec

from lineage_bridge.conversion import convert
from lineage_bridge.errors import SourceError
from lineage_bridge.openlineage.event_builder import Json
from lineage_bridge.sources.common.observer import Observation, Snapshot, Unseen
from lineage_bridge.sources.common.shared_metadata import SharedMetadata
from lineage_bridge.sources.confluent.clients import list_all
from lineage_bridge.sources.confluent.organization import KafkaCluster
from lineage_bridge.sources.confluent.plane import Plane, PlaneContext, Planes
from lineage_bridge.sources.confluent.settings import Credential
from lineage_bridge.sources.confluent.tableflow.events import TableflowContext, TopicState, end_events, topic_events
from lineage_bridge.sources.confluent.tableflow.parse import (
    GLUE,
    ClusterLocation,
    Integration,
    TableflowTopic,
    parse_accounts,
    parse_integrations,
    parse_topics,
)

_FETCH_AGAIN_US = 3_600_000_000
"""How long to wait before fetching the catalogs' accounts again if one is unknown."""


@dataclass(frozen=True)
class TableflowAnswers:
    """The answers of one poll. `accounts`: the AWS accounts of provider integrations, as fetched at `accounts_at_us`."""

    topics: Mapping[str, TableflowTopic]
    integrations: Mapping[str, Integration]
    accounts: Mapping[str, str]
    accounts_at_us: int = 0
    unseen: tuple[Unseen, ...] = ()
    is_complete: bool = True


class TableflowPlane(Plane[TableflowAnswers]):
    """Observes the tables of a Kafka cluster's topics with one request. If there are tables, a second one fetches the catalogs."""

    name: ClassVar[str] = "tableflow"
    stage: ClassVar[int] = 5

    def __init__(self, context: PlaneContext, cluster: KafkaCluster) -> None:
        super().__init__(context, cluster.scope)
        self.cluster = cluster

    def unavailable_reason(self) -> str:
        """Why Tableflow cannot be read: its own API key is missing. Empty if the settings have the key."""
        return "" if self._credential() else f"no API key is set for {self.cluster.environment} (tableflow)"

    def fetch(self, before: Snapshot | None, now_us: int) -> TableflowAnswers:
        """Fetch the topics with Tableflow and, if there are any, the catalog integrations. Raises SourceError."""
        previous, credential = before or {}, self._credential()
        if credential is None:
            raise SourceError(self.unavailable_reason())
        http = self.clients.http(self.key, self.settings.url, credential, "tableflow")
        scope = {"environment": self.cluster.environment, "spec.kafka_cluster": self.cluster.id}
        topics = parse_topics(list_all(http, "/tableflow/v1/tableflow-topics", **scope))
        integrations = convert(previous.get("integrations", {}), dict[str, Integration])
        unseen = []
        has_nameless = topics.pop("", None) is not None
        if has_nameless:
            unseen.append(Unseen("topics with Tableflow", "the listing has entries without a topic's name"))
        if topics:
            try:
                integrations = parse_integrations(list_all(http, "/tableflow/v1/catalog-integrations", **scope))
            except SourceError as error:
                unseen.append(Unseen("catalog integrations", str(error), error.hint))
        used = {integration.provider for integration in integrations.values() if integration.kind == GLUE and integration.provider}
        accounts, at_us, failed = self._accounts(used, previous, now_us)
        return TableflowAnswers(topics, integrations, accounts, at_us, (*unseen, *failed), is_complete=not has_nameless)

    def translate(self, fetched: TableflowAnswers, before: Snapshot | None, shared: SharedMetadata, now_us: int) -> Observation:
        """Convert the topics with Tableflow to events, and return these with the next snapshot. Pure."""
        previous = before or {}
        states = convert(previous.get("topics", {}), dict[str, TopicState])
        past: dict[str, int] = dict(previous.get("past", {}))
        location = ClusterLocation(self.cluster.id, self.cluster.region, fetched.accounts)
        context = TableflowContext(self.cluster.namespace, location, fetched.integrations, shared, self.settings.heartbeat_s, now_us)
        events: list[Json] = []
        for name in sorted(states.keys() - fetched.topics.keys()) if fetched.is_complete else ():
            state = states.pop(name)
            past[name] = state.number
            events += end_events(name, state, self.cluster.namespace, now_us)
        for name, topic in sorted(fetched.topics.items()):
            state = states.setdefault(name, TopicState(past.pop(name, 0)))
            events += topic_events(topic, state, context)
        snapshot = {
            "topics": dict(sorted(states.items())),
            "past": {name: number for name, number in sorted(past.items()) if number},
            "integrations": dict(sorted(fetched.integrations.items())),
            "accounts": dict(sorted(fetched.accounts.items())),
            "accounts_at_us": fetched.accounts_at_us,
        }
        return Observation(msgspec.to_builtins(snapshot), tuple(events), unseen=fetched.unseen)

    def empty_answer(self) -> TableflowAnswers:
        """Return an answer without tables."""
        return TableflowAnswers({}, {}, {})

    def _credential(self) -> Credential | None:
        return self.settings.credential("tableflow", self.cluster.environment)

    def _accounts(self, used: set[str], before: Snapshot, now_us: int) -> tuple[dict[str, str], int, list[Unseen]]:
        """Return the AWS accounts of these provider integrations, the time at which they were fetched, and why some could not be
        fetched.
        """
        accounts: dict[str, str] = {id_: account for id_, account in before.get("accounts", {}).items() if id_ in used}
        at_us: int = before.get("accounts_at_us", 0)
        cloud = self.settings.cloud
        if cloud is None or used <= {id_ for id_, account in accounts.items() if account}:
            return accounts, at_us, []
        if used <= accounts.keys() and now_us - at_us < _FETCH_AGAIN_US:
            return accounts, at_us, []
        http = self.clients.http(self.key, self.settings.url, cloud, "cloud")
        try:
            found = parse_accounts(list_all(http, "/pim/v1/integrations", environment=self.cluster.environment))
        except SourceError as error:
            return accounts, at_us, [Unseen("accounts of catalogs", str(error), error.hint)]
        return {id_: found.get(id_) or accounts.get(id_, "") for id_ in sorted(used)}, now_us, []


def planes(context: PlaneContext) -> Planes:
    """Create one plane for each Kafka cluster."""
    for cluster in context.observed.kafka_clusters:
        yield TableflowPlane(context, cluster)
