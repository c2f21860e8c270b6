"""The plane of managed connectors: the connectors of a Kafka cluster, fetched with the Cloud API key."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar
from urllib.parse import quote

import msgspec

from lineage_bridge.conversion import convert
from lineage_bridge.errors import ForbiddenError, MissingError, SourceError
from lineage_bridge.sources.common.connect.client import read_offsets
from lineage_bridge.sources.common.connect.events.translate import shared_metadata, translate
from lineage_bridge.sources.common.connect.settings import ConnectorSettings
from lineage_bridge.sources.common.connect.worker import ConnectorDetail, ConnectorState, WorkerState
from lineage_bridge.sources.common.http import HttpClient
from lineage_bridge.sources.common.observer import Observation, Snapshot, Unseen
from lineage_bridge.sources.common.shared_metadata import SharedMetadata
from lineage_bridge.sources.confluent.clients import list_all
from lineage_bridge.sources.confluent.connect.offsets import OffsetsRecord, is_due, record_offsets, recorded_detail, version_of
from lineage_bridge.sources.confluent.connect.parse import (
    CUSTOM,
    CustomPlugin,
    parse_connector,
    parse_custom_plugins,
    plugins_of,
    with_owner,
)
from lineage_bridge.sources.confluent.namespaces import with_cluster_namespace
from lineage_bridge.sources.confluent.organization import KafkaCluster
from lineage_bridge.sources.confluent.plane import Plane, PlaneContext, Planes


@dataclass(frozen=True)
class ConnectAnswers:
    """The answers of one poll. `connectors`: as values of Kafka Connect; `records`: the offsets of each connector as last fetched;
    `custom`: custom plugins by id.
    """

    connectors: WorkerState
    records: Mapping[str, OffsetsRecord]
    custom: Mapping[str, CustomPlugin]

    @property
    def unseen(self) -> tuple[Unseen, ...]:
        """What could not be fetched in this poll."""
        return self.connectors.unseen


class ConnectPlane(Plane[ConnectAnswers]):
    """Observes the managed connectors of a Kafka cluster with one call, and at intervals one for the offsets of each running connector."""

    name: ClassVar[str] = "connect"
    stage: ClassVar[int] = 4

    def __init__(self, context: PlaneContext, cluster: KafkaCluster) -> None:
        super().__init__(context, cluster.scope)
        self.cluster, self.classes = cluster, self.settings.classes
        self.path = f"/connect/v1/environments/{cluster.environment}/clusters/{cluster.id}/connectors"

    def unavailable_reason(self) -> str:
        """Why connectors cannot be listed: the Cloud API key is missing. Empty if it is set."""
        return "" if self.settings.cloud else "no Cloud API key is set (cloud)"

    def fetch(self, before: Snapshot | None, now_us: int) -> ConnectAnswers:
        """Fetch all connectors with one call, and the offsets of those for which they are due. Raises SourceError if connectors
        cannot be listed.
        """
        http, previous = self._http(), before or {}
        answer = http.get(self.path, expand="info,status,id")
        if not isinstance(answer, dict):
            raise SourceError(
                f"GET {self.path} did not return connectors by name, but {type(answer).__name__}",
                "check that the address is that of Confluent Cloud's API",
            )
        custom, unseen = self._custom_plugins(http, answer, previous)
        environment, cluster = self.cluster.environment, self.cluster.id
        parsed = {name: parse_connector(name, entry, environment, cluster, custom) for name, entry in sorted(answer.items())}
        connectors = {name: connector for name, connector in parsed.items() if connector is not None}
        unseen += [
            Unseen(f"connector {name}", "the listing of connectors lacks the connector's id, configuration or status")
            for name, connector in parsed.items()
            if connector is None
        ]
        records, details, failed = self._offsets(http, connectors, previous, now_us)
        kept = {name: record for name, record in _offsets_records(previous).items() if name in parsed and name not in connectors}
        plugins = plugins_of(connectors.values(), self.classes, custom)
        fetched = WorkerState("", self.cluster.id, connectors, frozenset(parsed), details, plugins, unseen=(*unseen, *failed))
        return ConnectAnswers(fetched, {**kept, **records}, custom)

    def translate(self, fetched: ConnectAnswers, before: Snapshot | None, shared: SharedMetadata, now_us: int) -> Observation:
        """Convert the connectors to events of their runs, and return these with the next snapshot. Pure."""
        connectors = {name: with_owner(connector, shared.names) for name, connector in fetched.connectors.connectors.items()}
        seen = translate(
            replace(fetched.connectors, connectors=connectors),
            before,
            with_cluster_namespace(shared, self.cluster.id, self.cluster.namespace),
            now_us,
            ConnectorSettings(interval_s=self.settings.interval_s),
            self.cluster.namespace,
            self.classes,
        )
        listed = fetched.connectors.listed or frozenset()
        ids = {name: id_ for name, id_ in (before or {}).get("ids", {}).items() if name in listed}
        ids |= {name: connector.service.settings["connector.id"] for name, connector in connectors.items() if connector.service}
        own = {"asked": dict(fetched.records), "custom": dict(fetched.custom), "ids": ids}
        return replace(seen, snapshot={**seen.snapshot, **msgspec.to_builtins(own)})

    def empty_answer(self) -> ConnectAnswers:
        """Return an answer without connectors."""
        return ConnectAnswers(WorkerState("", self.cluster.id, {}, frozenset()), {}, {})

    def shared_metadata(self, snapshot: Snapshot) -> SharedMetadata:
        """Return the consumer groups of connectors, and by connector id the job that represents the connector."""
        jobs = {id_: (self.cluster.namespace, name) for name, id_ in snapshot.get("ids", {}).items()}
        return replace(shared_metadata(snapshot), jobs=jobs)

    def _http(self) -> HttpClient:
        if self.settings.cloud is None:
            raise SourceError(self.unavailable_reason())
        return self.clients.http(self.key, self.settings.url, self.settings.cloud, "cloud")

    def _custom_plugins(
        self, http: HttpClient, answer: Mapping[str, Any], before: Snapshot
    ) -> tuple[dict[str, CustomPlugin], list[Unseen]]:
        """Return the custom plugins that connectors use. They are fetched only if one of them is not known yet."""
        used = {id_ for entry in answer.values() if (id_ := _custom_plugin_id(entry))}
        earlier = convert(before.get("custom", {}), dict[str, CustomPlugin])
        found, unseen = {id_: plugin for id_, plugin in earlier.items() if id_ in used}, list[Unseen]()
        if used - found.keys():
            try:
                plugins = parse_custom_plugins(list_all(http, "/connect/v1/custom-connector-plugins"))
            except SourceError as error:
                unseen.append(Unseen("plugins of users", str(error)))
            else:
                found |= {id_: plugins.get(id_, CustomPlugin()) for id_ in used}
        return found, unseen

    def _offsets(
        self, http: HttpClient, connectors: Mapping[str, ConnectorState], before: Snapshot, now_us: int
    ) -> tuple[dict[str, OffsetsRecord], dict[str, ConnectorDetail], list[Unseen]]:
        """Return the connectors' offsets, by connector, and what could not be fetched."""
        earlier = _offsets_records(before)
        due = [connector for name, connector in connectors.items() if is_due(connector, earlier.get(name), now_us)]
        records = {name: record for name, record in earlier.items() if name in connectors and record.config == version_of(connectors[name])}
        details = {name: recorded_detail(connectors[name], record) for name, record in records.items()}
        unseen = []
        answers = http.map(lambda connector: read_offsets(http.get(self._offsets_path(connector))), due)
        for connector, answer in zip(due, answers, strict=True):
            if not isinstance(answer, SourceError):
                records[connector.name] = record_offsets(connector, answer, now_us)
                details[connector.name] = ConnectorDetail(offsets=answer)
            elif isinstance(answer, MissingError | ForbiddenError):
                records[connector.name] = OffsetsRecord(now_us, version_of(connector), why=str(answer))
            else:
                unseen.append(Unseen(f"connector {connector.name}: offsets", str(answer)))
        unseen += [Unseen(f"connector {name}: offsets", record.why) for name, record in sorted(records.items()) if record.why]
        return records, details, unseen

    def _offsets_path(self, connector: ConnectorState) -> str:
        return f"{self.path}/{quote(connector.name, safe='')}/offsets"


def planes(context: PlaneContext) -> Planes:
    """Create a plane for the connectors of each Kafka cluster."""
    for cluster in context.observed.kafka_clusters:
        yield ConnectPlane(context, cluster)


def _offsets_records(before: Snapshot) -> dict[str, OffsetsRecord]:
    return convert(before.get("asked", {}), dict[str, OffsetsRecord])


def _custom_plugin_id(entry: object) -> str:
    """Return the id of the custom plugin that a connector of the listing uses; empty for Confluent's own plugins."""
    info = entry.get("info") if isinstance(entry, dict) else None
    config = info.get("config") if isinstance(info, dict) else None
    return str(config.get(CUSTOM) or "") if isinstance(config, dict) else ""
