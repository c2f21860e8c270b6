"""The plane of Tableflow: the topics of one Kafka cluster that are tables, and the catalogs that get them."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import msgspec

from lineage_bridge.errors import SourceError
from lineage_bridge.openlineage.event_builder import Json
from lineage_bridge.sources.common.observer import Observation, Snapshot, Unseen
from lineage_bridge.sources.common.shared_metadata import SharedMetadata
from lineage_bridge.sources.confluent.clients import listed
from lineage_bridge.sources.confluent.organization import KafkaCluster
from lineage_bridge.sources.confluent.plane import Around, Plane, Planes
from lineage_bridge.sources.confluent.settings import Credential
from lineage_bridge.sources.confluent.tableflow import events as tell
from lineage_bridge.sources.confluent.tableflow.parse import (
    GLUE,
    Integration,
    Topic,
    Where,
    read_accounts,
    read_integrations,
    read_topics,
)

_AGAIN_US = 3_600_000_000
"""After how long the accounts of catalogs are asked again, where one of them is not known."""


@dataclass(frozen=True)
class Answers:
    """`accounts`: AWS account by the integration with the provider; those were asked at `accounts_at_us`."""

    topics: Mapping[str, Topic]
    integrations: Mapping[str, Integration]
    accounts: Mapping[str, str]
    accounts_at_us: int = 0
    unseen: tuple[Unseen, ...] = ()


class TableflowPlane(Plane[Answers]):
    """The tables of a Kafka cluster's topics: one request, and one for the catalogs if there are any tables."""

    name: ClassVar[str] = "tableflow"
    stage: ClassVar[int] = 5

    def __init__(self, around: Around, cluster: KafkaCluster) -> None:
        super().__init__(around, cluster.scope)
        self.cluster = cluster

    def lacks(self) -> str:
        """See Plane."""
        return "" if self._credential() else f"no key of {self.cluster.environment} is set (tableflow)"

    def fetch(self, before: Snapshot | None, now_us: int) -> Answers:
        """See Plane."""
        was, credential = before or {}, self._credential()
        if credential is None:
            raise SourceError(self.lacks())
        http = self.clients.http(self.key, self.settings.url, credential, "tableflow")
        asked = {"environment": self.cluster.environment, "spec.kafka_cluster": self.cluster.id}
        topics = read_topics(listed(http, "/tableflow/v1/tableflow-topics", **asked))
        integrations = msgspec.convert(was.get("integrations", {}), dict[str, Integration])
        unseen = []
        if topics:
            try:
                integrations = read_integrations(listed(http, "/tableflow/v1/catalog-integrations", **asked))
            except SourceError as error:
                unseen.append(Unseen("catalog integrations", str(error)))
        used = {one.provider for one in integrations.values() if one.kind == GLUE and one.provider}
        accounts, at_us, failed = self._accounts(used, was, now_us)
        return Answers(topics, integrations, accounts, at_us, (*unseen, *failed))

    def tell(self, fetched: Answers, before: Snapshot | None, around: SharedMetadata, now_us: int) -> Observation:
        """See Plane."""
        was = before or {}
        memories = msgspec.convert(was.get("topics", {}), dict[str, tell.Memory])
        past: dict[str, int] = dict(was.get("past", {}))
        where = Where(self.cluster.id, self.cluster.region, fetched.accounts)
        shared = tell.Around(self.cluster.space, where, fetched.integrations, around, self.settings.heartbeat_s, now_us)
        events: list[Json] = []
        for name in sorted(memories.keys() - fetched.topics.keys()):
            memory = memories.pop(name)
            past[name] = memory.number
            events += tell.is_gone(name, memory, self.cluster.space, now_us)
        for name, topic in sorted(fetched.topics.items()):
            memory = memories.setdefault(name, tell.Memory(past.pop(name, 0)))
            events += tell.goes_on(topic, memory, shared)
        snapshot = {
            "topics": dict(sorted(memories.items())),
            "past": {name: number for name, number in sorted(past.items()) if number},
            "integrations": dict(sorted(fetched.integrations.items())),
            "accounts": dict(sorted(fetched.accounts.items())),
            "accounts_at_us": fetched.accounts_at_us,
        }
        return Observation(msgspec.to_builtins(snapshot), tuple(events), unseen=fetched.unseen)

    def nothing(self) -> Answers:
        """See Plane."""
        return Answers({}, {}, {})

    def _credential(self) -> Credential | None:
        return self.settings.credential("tableflow", self.cluster.environment)

    def _accounts(self, used: set[str], before: Snapshot, now_us: int) -> tuple[dict[str, str], int, list[Unseen]]:
        """The accounts of these integrations with the provider, when they were asked, and why they could not be had."""
        known: dict[str, str] = {ident: account for ident, account in before.get("accounts", {}).items() if ident in used}
        at_us: int = before.get("accounts_at_us", 0)
        cloud = self.settings.cloud
        if cloud is None or used <= {ident for ident, account in known.items() if account}:
            return known, at_us, []
        if used <= known.keys() and now_us - at_us < _AGAIN_US:
            return known, at_us, []
        http = self.clients.http(self.key, self.settings.url, cloud, "cloud")
        try:
            found = read_accounts(listed(http, "/pim/v1/integrations", environment=self.cluster.environment))
        except SourceError as error:
            return known, at_us, [Unseen("accounts of catalogs", str(error))]
        return {ident: found.get(ident) or known.get(ident, "") for ident in sorted(used)}, now_us, []


def planes(around: Around) -> Planes:
    """One for each Kafka cluster."""
    for cluster in around.estate.kafka:
        yield TableflowPlane(around, cluster)
