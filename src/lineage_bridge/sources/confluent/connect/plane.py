"""The plane of managed connectors: those of one Kafka cluster, asked with the Cloud API key."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar
from urllib.parse import quote

import msgspec

from lineage_bridge.errors import ForbiddenError, MissingError, SourceError
from lineage_bridge.sources.common.connect.catalogue.catalogue import catalogue
from lineage_bridge.sources.common.connect.client import read_offsets
from lineage_bridge.sources.common.connect.events.translate import shared_metadata, translate
from lineage_bridge.sources.common.connect.settings import ConnectorSettings
from lineage_bridge.sources.common.connect.worker import ConnectorDetail, ConnectorState, WorkerState
from lineage_bridge.sources.common.http import HttpClient
from lineage_bridge.sources.common.observer import Observation, Snapshot, Unseen
from lineage_bridge.sources.common.shared_metadata import SharedMetadata
from lineage_bridge.sources.confluent.clients import listed
from lineage_bridge.sources.confluent.connect.parse import (
    CUSTOM,
    Asked,
    Custom,
    Place,
    answered,
    is_due,
    mark_of,
    plugins_told,
    read_custom,
    read_managed,
    remembered,
    with_owner,
)
from lineage_bridge.sources.confluent.namespaces import within
from lineage_bridge.sources.confluent.organization import KafkaCluster
from lineage_bridge.sources.confluent.plane import Around, Plane, Planes


@dataclass(frozen=True)
class Answers:
    """`connectors`: as Kafka Connect's. `asked`: by connector, what is known of its offsets. `custom`: plugins of users by id."""

    connectors: WorkerState
    asked: Mapping[str, Asked]
    custom: Mapping[str, Custom]

    @property
    def unseen(self) -> tuple[Unseen, ...]:
        """What of it could not be seen."""
        return self.connectors.unseen


class ConnectPlane(Plane[Answers]):
    """The managed connectors of a Kafka cluster: one call, and one for the offsets of each that runs, now and then."""

    name: ClassVar[str] = "connect"
    stage: ClassVar[int] = 4

    def __init__(self, around: Around, cluster: KafkaCluster) -> None:
        super().__init__(around, cluster.scope)
        self.cluster, self.classes = cluster, catalogue().with_mappings(self.settings.mappings)
        self.path = f"/connect/v1/environments/{cluster.environment}/clusters/{cluster.id}/connectors"

    def lacks(self) -> str:
        """See Plane."""
        return "" if self.settings.cloud else "no Cloud API key is set (cloud)"

    def fetch(self, before: Snapshot | None, now_us: int) -> Answers:
        """See Plane."""
        http, was = self._http(), before or {}
        answer = http.get(self.path, expand="info,status,id")
        if not isinstance(answer, dict):
            raise SourceError(f"GET {self.path} answered {type(answer).__name__}, not the connectors by name")
        custom, unseen = self._custom(http, answer, was)
        place = Place(self.cluster.environment, self.cluster.id)
        read = {name: read_managed(name, entry, place, custom) for name, entry in sorted(answer.items())}
        connectors = {name: one for name, one in read.items() if one is not None}
        unseen += [Unseen(f"connector {name}", "the service told only a part of it") for name, one in read.items() if one is None]
        asked, details, failed = self._offsets(http, connectors, was, now_us)
        kept = {name: one for name, one in _asked(was).items() if name in read and name not in connectors}
        plugins = plugins_told(connectors.values(), self.classes, custom)
        fetched = WorkerState("", self.cluster.id, connectors, frozenset(read), details, plugins, unseen=(*unseen, *failed))
        return Answers(fetched, {**kept, **asked}, custom)

    def tell(self, fetched: Answers, before: Snapshot | None, around: SharedMetadata, now_us: int) -> Observation:
        """See Plane."""
        owned = {name: with_owner(one, around.names) for name, one in fetched.connectors.connectors.items()}
        seen = translate(
            replace(fetched.connectors, connectors=owned),
            before,
            within(around, self.cluster.id, self.cluster.space),
            now_us,
            ConnectorSettings(interval_s=self.settings.interval_s),
            self.cluster.space,
            self.classes,
        )
        listed = fetched.connectors.listed or frozenset()
        ids = {name: ident for name, ident in (before or {}).get("ids", {}).items() if name in listed}
        ids |= {name: one.service.settings["connector.id"] for name, one in owned.items() if one.service}
        kept = {"asked": dict(fetched.asked), "custom": dict(fetched.custom), "ids": ids}
        return replace(seen, snapshot={**seen.snapshot, **msgspec.to_builtins(kept)})

    def nothing(self) -> Answers:
        """See Plane."""
        return Answers(WorkerState("", self.cluster.id, {}, frozenset()), {}, {})

    def know(self, snapshot: Snapshot) -> SharedMetadata:
        """The consumer groups that are connectors', and their ids."""
        jobs = {ident: (self.cluster.space, name) for name, ident in snapshot.get("ids", {}).items()}
        return replace(shared_metadata(snapshot), jobs=jobs)

    def _http(self) -> HttpClient:
        if self.settings.cloud is None:
            raise SourceError(self.lacks())
        return self.clients.http(self.key, self.settings.url, self.settings.cloud, "cloud")

    def _custom(self, http: HttpClient, answer: Mapping[str, Any], before: Snapshot) -> tuple[dict[str, Custom], list[Unseen]]:
        """The plugins of users that connectors are of; asked where one is new."""
        used = {ident for entry in answer.values() if (ident := _plugin_of(entry))}
        known = msgspec.convert(before.get("custom", {}), dict[str, Custom])
        found, unseen = {ident: one for ident, one in known.items() if ident in used}, list[Unseen]()
        if used - found.keys():
            try:
                read = read_custom(listed(http, "/connect/v1/custom-connector-plugins"))
            except SourceError as error:
                unseen.append(Unseen("plugins of users", str(error)))
            else:
                found |= {ident: read.get(ident, Custom()) for ident in used}
        return found, unseen

    def _offsets(
        self, http: HttpClient, connectors: Mapping[str, ConnectorState], before: Snapshot, now_us: int
    ) -> tuple[dict[str, Asked], dict[str, ConnectorDetail], list[Unseen]]:
        """What is known of the connectors' offsets, and what could not be had."""
        earlier = _asked(before)
        due = [one for name, one in connectors.items() if is_due(one, earlier.get(name), now_us)]
        asked = {name: one for name, one in earlier.items() if name in connectors and one.config == mark_of(connectors[name])}
        details = {name: remembered(connectors[name], one) for name, one in asked.items()}
        unseen = []
        for one, answer in zip(due, http.map(lambda one: read_offsets(http.get(self._path(one, "offsets"))), due), strict=True):
            if not isinstance(answer, SourceError):
                asked[one.name] = answered(one, answer, now_us)
                details[one.name] = ConnectorDetail(offsets=answer)
            elif isinstance(answer, MissingError | ForbiddenError):
                asked[one.name] = Asked(now_us, mark_of(one), why=str(answer))
            else:
                unseen.append(Unseen(f"connector {one.name}: offsets", str(answer)))
        unseen += [Unseen(f"connector {name}: offsets", one.why) for name, one in sorted(asked.items()) if one.why]
        return asked, details, unseen

    def _path(self, one: ConnectorState, what: str) -> str:
        return f"{self.path}/{quote(one.name, safe='')}/{what}"


def planes(around: Around) -> Planes:
    """One for each Kafka cluster."""
    for cluster in around.estate.kafka:
        yield ConnectPlane(around, cluster)


def _asked(before: Snapshot) -> dict[str, Asked]:
    return msgspec.convert(before.get("asked", {}), dict[str, Asked])


def _plugin_of(entry: object) -> str:
    """The id of a user's plugin that a connector of the listing is of; empty if it is of Confluent's own."""
    info = entry.get("info") if isinstance(entry, dict) else None
    config = info.get("config") if isinstance(info, dict) else None
    return str(config.get(CUSTOM) or "") if isinstance(config, dict) else ""
