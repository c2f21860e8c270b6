"""Converts the state of connectors to OpenLineage events. Pure.

docs/sources-connect.md lists which change leads to which events.
"""

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from lineage_bridge.openlineage.event_builder import EventBuilder, Json
from lineage_bridge.openlineage.facets.lag import KAFKA_LAG, KAFKA_LAG_FACET
from lineage_bridge.openlineage.naming import DatasetName
from lineage_bridge.openlineage.times import parse_time
from lineage_bridge.sources.common.connect.catalogue.catalogue import Catalogue
from lineage_bridge.sources.common.connect.events.lifecycle import ConnectorLifecycle, EventContext
from lineage_bridge.sources.common.connect.events.memo import Memo
from lineage_bridge.sources.common.connect.events.memory import ConnectorMemory, read_memory, write_memory
from lineage_bridge.sources.common.connect.generation import digest, fingerprint, is_same, passwords_of, plugins_known, plugins_of
from lineage_bridge.sources.common.connect.lineage.connection import DATA, Connection
from lineage_bridge.sources.common.connect.lineage.content import ConnectorContent, basis_of, content_of
from lineage_bridge.sources.common.connect.lineage.evidence import evidence_of, group_of, remember, sums_of
from lineage_bridge.sources.common.connect.lineage.other_names import links_of, same_names
from lineage_bridge.sources.common.connect.lineage.resolve import resolve
from lineage_bridge.sources.common.connect.secrets import mask_config
from lineage_bridge.sources.common.connect.settings import ConnectorSettings
from lineage_bridge.sources.common.connect.worker import ConnectorDetail, ConnectorState, Plugin, WorkerState
from lineage_bridge.sources.common.observer import Observation, SameJob, SameNamespace, Snapshot
from lineage_bridge.sources.common.shared_metadata import ClusterMetadata, SharedMetadata

PRODUCER = "https://lineagebridge.dev/sources/connect"
LAG_LASTS_US = 600_000_000
"""For how long after it was read the lag of a group is reported as that of its connector."""


class Memos:
    """Results that the previous poll computed from configurations with one catalogue of classes, and that this poll may reuse."""

    def __init__(self) -> None:
        self.connections: Memo[Connection] = Memo()
        self.contents: Memo[ConnectorContent] = Memo()


class _Kafka(NamedTuple):
    """The Kafka cluster of a connector: its id, which is empty if unknown, and the namespace of its topics."""

    cluster: ClusterMetadata | None
    id: str
    space: str


class _PolledConnector(NamedTuple):
    """A connector as a poll found it, before its events are built.

    `same`: its configuration has not changed since the previous poll. `config`: its configuration, in which placeholders have their
    values if these are known. `masked`: the configuration without secrets; None if it is unknown which settings are secret.
    """

    seen: ConnectorState
    kafka: _Kafka
    memory: ConnectorMemory
    same: bool
    config: Mapping[str, str]
    masked: Mapping[str, str] | None
    connection: Connection
    sums: Mapping[str, int]


class Translation:
    """Converts the result of one poll to events. `namespace` is the namespace of the connectors' jobs."""

    def __init__(
        self,
        fetched: WorkerState,
        shared: SharedMetadata,
        now_us: int,
        settings: ConnectorSettings,
        namespace: str,
        classes: Catalogue,
        made: Memos,
    ) -> None:
        self.fetched, self.shared, self.settings = fetched, shared, settings
        self.namespace, self.classes, self.made = namespace, classes, made
        self.kafka = self._kafka_of("")
        self.context = EventContext(fetched.cluster, self.kafka.space, fetched.version, settings.heartbeat_s, now_us, settings.address)
        self.out = EventBuilder(PRODUCER)

    def observation(self, before: Snapshot) -> Observation:
        """Return the events, ordered by the connectors' names, and the next snapshot."""
        earlier = before.get("connectors", {}).items()
        memories = {name: read_memory(entry) for name, entry in earlier if self.settings.matters(name)}
        past: dict[str, int] = dict(before.get("past", {}))
        plugins = plugins_known(before)
        polled = {
            name: self._polled(connector, memories.get(name), past.pop(name, 0), plugins)
            for name, connector in self.fetched.connectors.items()
        }
        writers = _writers(polled.values())
        events: list[Json] = []
        for name in sorted({*memories, *polled}):
            if name in polled:
                events += self._events_of(polled[name], writers)
            elif self.fetched.listed is not None and name not in self.fetched.listed:
                memory = memories.pop(name)
                past[name] = memory.number
                events += ConnectorLifecycle(self.out, self.context, (self.namespace, name), memory).deleted()
        same = [*self._same_cluster(before), *(pair for connector in polled.values() for pair in self._same(connector))]
        emitted = frozenset(before.get("same", ()))
        kept = memories | {name: connector.memory for name, connector in polled.items()}
        snapshot = {
            "version": self.fetched.version,
            "cluster": self.fetched.cluster,
            "connectors": {name: write_memory(memory) for name, memory in sorted(kept.items())},
            "past": {name: number for name, number in sorted(past.items()) if number},
            "plugins": {
                name: [plugin.name, plugin.version, list(plugin.passwords or ())] for name, plugin in sorted(self.fetched.plugins.items())
            },
            "lacks": sorted(self.fetched.unsupported),
            "same": sorted(emitted | {digest(pair) for pair in same}),
            "groups": self._groups(before, polled, kept),
            "clusters": self._clusters(before, polled, kept),
            "namespace": self.namespace,
            "space": self.kafka.space,
        }
        new = {digest(pair): pair for pair in same}
        return Observation(snapshot, tuple(events), tuple(new[key] for key in new if key not in emitted), self.fetched.unseen)

    def _kafka_of(self, servers: str) -> _Kafka:
        """Return the Kafka cluster with these bootstrap servers, or the one cluster that the settings of the source name."""
        address, shared = self.settings.kafka or servers, self.shared
        cluster = shared.cluster(address) or shared.cluster(self.fetched.cluster)
        space = shared.namespace(self.fetched.cluster, address)
        return _Kafka(cluster, self.fetched.cluster or (cluster.id if cluster else ""), space)

    def _polled(
        self, connector: ConnectorState, memory: ConnectorMemory | None, runs: int, earlier: Mapping[str, Plugin]
    ) -> _PolledConnector:
        plugins = self.fetched.plugins
        passwords = passwords_of(connector.config, plugins)
        same = memory is not None and is_same(memory.config, connector.config, plugins, earlier)
        memory = memory or ConnectorMemory("", number=runs)
        memory.config = fingerprint(connector.config, passwords)
        if not same:
            memory.given, memory.topics, memory.partitions = None, None, None
        detail = self.fetched.details.get(connector.name, ConnectorDetail())
        connector = self._by_its_class(connector)
        secrets = passwords | frozenset(self.classes.find(connector.config, connector.direction).secrets)
        remember(memory, detail, secrets)
        kafka = self._kafka_of(connector.service.servers) if connector.service else self.kafka
        evidence = evidence_of(connector, memory, kafka.cluster)
        connection = self.made.connections.get(
            connector.name, (connector.config, evidence), lambda: resolve(connector.config, evidence, self.classes)
        )
        is_documented = all(name in plugins for name in plugins_of(self.fetched.connectors[connector.name].config).values())
        masked = mask_config(connector.config, secrets) if is_documented else None
        sums = {} if connection.is_source else sums_of(connector, detail, kafka.cluster)
        return _PolledConnector(connector, kafka, memory, same, {**connector.config, **evidence.settings}, masked, connection, sums)

    def _by_its_class(self, connector: ConnectorState) -> ConnectorState:
        """Return a copy of the connector whose configuration has the full name of its class instead of a short one."""
        plugin = self.fetched.plugins.get(connector.config.get("connector.class", "").strip())
        return (
            connector._replace(config={**connector.config, "connector.class": plugin.name})
            if plugin is not None and plugin.name
            else connector
        )

    def _events_of(self, connector: _PolledConnector, writers: Mapping[DatasetName, int]) -> list[Json]:
        content = self.made.contents.get(
            connector.seen.name,
            basis_of(connector.connection, connector.config, connector.kafka.space, self.shared),
            lambda: content_of(
                self.out,
                connector.connection,
                connector.config,
                connector.kafka.space,
                self.shared,
                links_of(connector.connection, connector.config),
                sources=connector.seen.service is not None and connector.seen.service.sources,
            ),
        )
        counts = connector.memory.count(self._written(connector, writers) if connector.connection.is_source else connector.sums)
        lag = self._lag(connector)
        context = self.context._replace(space=connector.kafka.space, version=self._version(connector.seen), lag=lag)
        return ConnectorLifecycle(self.out, context, (self.namespace, connector.seen.name), connector.memory).existing(
            connector.seen, connector.same, self._described(connector), content, counts
        )

    def _lag(self, connector: _PolledConnector) -> dict[str, Json]:
        """Return the facet with the lag of a sink's group, if an observer of its Kafka cluster has read it lately."""
        cluster = connector.kafka.cluster
        lag = cluster.lags.get(group_of(connector.seen)) if cluster and not connector.connection.is_source else None
        read_at = parse_time(str(lag["at"])) if lag else None
        if lag is None or read_at is None or read_at.us < self.context.now_us - LAG_LASTS_US:
            return {}
        spaces = dict.fromkeys(lag["topics"], connector.kafka.space)
        return {KAFKA_LAG: self.out.own_facet("1-0-0", KAFKA_LAG_FACET, **lag, namespaces=spaces)}

    def _version(self, connector: ConnectorState) -> str:
        return connector.service.version if connector.service else self.fetched.version

    def _written(self, connector: _PolledConnector, writers: Mapping[DatasetName, int]) -> dict[str, int]:
        """Return the end offset of each topic that no other connector writes, so that its growth counts this connector's rows; 0 if
        the topic does not exist yet.
        """
        cluster, space = connector.kafka.cluster, connector.kafka.space
        if cluster is None or cluster.topics is None:
            return {}
        topics, ends = cluster.topics, cluster.ends
        data = [use.name for use in connector.connection.topics_out if use.role == DATA and not use.is_pattern]
        own = [topic for topic in data if writers[space, topic] == 1]
        return {topic: ends.get(topic, 0) for topic in own if topic in ends or topic not in topics}

    def _described(self, connector: _PolledConnector) -> Json:
        seen, connection = connector.seen, connector.connection
        named = self.fetched.connectors[seen.name].config.get("connector.class", "").strip()
        plugin = self.fetched.plugins.get(named)
        ways = (("in", connection.topics_in), ("out", connection.topics_out))
        return self.out.own_facet(
            "1-0-0",
            "KafkaConnectRunFacet",
            connectorClass=seen.config.get("connector.class", ""),
            title=connection.connector.title,
            direction=connection.connector.direction,
            inferred=connection.connector.inferred,
            pluginVersion=seen.status.version or (plugin.version if plugin else ""),
            workerVersion=self._version(seen),
            kafkaClusterId=connector.kafka.id,
            state=seen.status.state,
            worker=seen.status.worker,
            tasks=[{"id": number, "state": task.state, "worker": task.worker} for number, task in sorted(seen.tasks.items())],
            sideTopics=[{"name": use.name, "role": use.role, "way": way} for way, uses in ways for use in uses if use.is_internal],
            unknown=list(connection.unknown),
            **(seen.service.facts if seen.service else {}),
            **({} if connector.masked is None else {"config": dict(sorted(connector.masked.items()))}),
        )

    def _same_cluster(self, before: Snapshot) -> list[SameJob | SameNamespace]:
        """Return an alias for topics that were reported in a namespace with the cluster's id, before a server of the cluster was known."""
        by_id, space = f"kafka://{self.fetched.cluster}", self.kafka.space
        evidence = f"the id of the Kafka cluster, as the worker {self.settings.address} reports it"
        return [SameNamespace(space, by_id, evidence)] if self.fetched.cluster and before.get("space") == by_id != space else []

    def _same(self, connector: _PolledConnector) -> list[SameJob | SameNamespace]:
        job, alone = (self.namespace, connector.seen.name), all(known.id == connector.kafka.id for known in self.shared.clusters)
        several = len({other.service.servers for other in self.fetched.connectors.values() if other.service}) > 1
        return same_names(
            connector.seen, job, connector.connection, connector.kafka.space, connector.config, self.settings, alone=alone and not several
        )

    def _groups(self, before: Snapshot, polled: Mapping[str, _PolledConnector], kept: Mapping[str, ConnectorMemory]) -> dict[str, str]:
        """Return the consumer group of each sink. `kept`: connectors that could not be polled keep their previous group."""
        earlier = {name: group for name, group in before.get("groups", {}).items() if name in kept and name not in polled}
        return earlier | {
            name: group_of(connector.seen) for name, connector in sorted(polled.items()) if not connector.connection.is_source
        }

    def _clusters(self, before: Snapshot, polled: Mapping[str, _PolledConnector], kept: Mapping[str, ConnectorMemory]) -> dict[str, str]:
        """Return the Kafka cluster id of each connector that uses another cluster than its worker. `kept`: connectors that could not be
        polled keep their previous cluster.
        """
        earlier = {name: cluster for name, cluster in before.get("clusters", {}).items() if name in kept and name not in polled}
        return earlier | {
            name: connector.kafka.id for name, connector in sorted(polled.items()) if connector.kafka.id != self.fetched.cluster
        }


def _writers(polled: Iterable[_PolledConnector]) -> dict[DatasetName, int]:
    """Count, for each topic, the connectors that write it."""
    writers: dict[DatasetName, int] = {}
    for connector in polled:
        for topic in {(connector.kafka.space, use.name) for use in connector.connection.topics_out if use.role == DATA}:
            writers[topic] = writers.get(topic, 0) + 1
    return writers


def translate(
    fetched: WorkerState,
    before: Snapshot | None,
    shared: SharedMetadata,
    now_us: int,
    settings: ConnectorSettings,
    namespace: str,
    classes: Catalogue,
    made: Memos | None = None,
) -> Observation:
    """Return the events and the next snapshot of a poll. `made` has cached results of earlier polls with these classes, which only save
    time.
    """
    made = made or Memos()
    made.connections.keep(fetched.connectors)
    made.contents.keep(fetched.connectors)
    return Translation(fetched, shared, now_us, settings, namespace, classes, made).observation(before or {})


def shared_metadata(snapshot: Mapping[str, Any]) -> SharedMetadata:
    """Return the metadata for other sources: the consumer groups of sinks, each with the job that owns it."""
    clusters, jobs = snapshot.get("clusters", {}), snapshot["namespace"]
    return SharedMetadata(
        owners={(clusters.get(name, snapshot["cluster"]), group): (jobs, name) for name, group in snapshot["groups"].items()}
    )
