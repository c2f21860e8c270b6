"""What an organization has: environments, and in them the clusters of every kind. The rest is observed within these."""

from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

import msgspec

from lineage_bridge.errors import SourceError
from lineage_bridge.openlineage.naming import first_server
from lineage_bridge.sources.common.http import HttpClient
from lineage_bridge.sources.common.observer import Unseen
from lineage_bridge.sources.confluent.clients import listed
from lineage_bridge.sources.confluent.settings import Only


class Environment(msgspec.Struct, frozen=True):
    """An environment. `package`: of Stream Governance, ESSENTIALS or ADVANCED, empty if there is none."""

    id: str
    name: str
    package: str = ""
    organization: str = ""


class KafkaCluster(msgspec.Struct, frozen=True):
    """A Kafka cluster. `kind`: Basic, Standard, Dedicated, Enterprise or Freight. `bootstrap`: host:port."""

    id: str
    environment: str
    name: str
    kind: str = ""
    cloud: str = ""
    region: str = ""
    url: str = ""
    bootstrap: str = ""
    availability: str = ""

    @property
    def space(self) -> str:
        """The namespace of its topics and of the jobs on it."""
        return f"confluent://{self.environment}/{self.id}"

    @property
    def scope(self) -> str:
        """Where it is, for the keys of planes."""
        return f"{self.environment}/{self.id}"


class Registry(msgspec.Struct, frozen=True):
    """A Schema Registry, which is its environment's."""

    id: str
    environment: str
    url: str
    cloud: str = ""
    region: str = ""

    @property
    def space(self) -> str:
        """The namespace of its subjects, and of the jobs on it."""
        return f"confluent://{self.environment}/{self.id}"


class KsqlCluster(msgspec.Struct, frozen=True):
    """A ksqlDB cluster, on a Kafka cluster. `service`: the id in the names of its consumer groups and topics."""

    id: str
    environment: str
    kafka: str
    name: str
    url: str
    topic_prefix: str = ""


class Pool(msgspec.Struct, frozen=True):
    """A compute pool of Flink."""

    id: str
    environment: str
    name: str
    cloud: str
    region: str


class Estate(msgspec.Struct, frozen=True):
    """All of it, each kind in the order of ids."""

    organization: str = ""
    environments: tuple[Environment, ...] = ()
    kafka: tuple[KafkaCluster, ...] = ()
    registries: tuple[Registry, ...] = ()
    ksqldb: tuple[KsqlCluster, ...] = ()
    pools: tuple[Pool, ...] = ()

    def cluster(self, name: str, environment: str = "") -> KafkaCluster | None:
        """The Kafka cluster of this id, or of this name in an environment."""
        named = (one for one in self.kafka if name == one.id or (name == one.name and environment == one.environment))
        return next(named, None)

    def environment(self, name: str) -> Environment | None:
        """The environment of this id or name."""
        return next((one for one in self.environments if name in (one.id, one.name)), None)

    @property
    def regions(self) -> tuple[tuple[str, str, str], ...]:
        """Environment, cloud and region wherever there is a compute pool or a Kafka cluster: Flink's statements may be there."""
        pools = {(pool.environment, pool.cloud, pool.region) for pool in self.pools}
        return tuple(sorted(pools))

    @property
    def shared_bootstraps(self) -> frozenset[str]:
        """Servers that are the bootstrap servers of several clusters."""
        seen = [one.bootstrap for one in self.kafka]
        return frozenset(one for one in seen if one and seen.count(one) > 1)

    def within(self, only: Only) -> "Estate":
        """The part that an observation is narrowed to."""
        envs, ids = only.environments, only.clusters
        kafka = [one for one in self.kafka if (not envs or one.environment in envs) and (not ids or one.id in ids)]
        wanted = envs or (frozenset(one.environment for one in kafka) if ids else frozenset())

        def here(parts: Iterable[_PartT]) -> tuple[_PartT, ...]:
            return tuple(one for one in parts if not wanted or one.environment in wanted)

        return Estate(
            self.organization,
            tuple(one for one in self.environments if not wanted or one.id in wanted),
            tuple(kafka),
            here(self.registries),
            tuple(one for one in here(self.ksqldb) if not ids or one.kafka in ids),
            here(self.pools),
        )


_PartT = TypeVar("_PartT", Registry, KsqlCluster, Pool, KafkaCluster)
_Listing = tuple[str, str, Callable[[str, Mapping[str, Any]], Any]]


def discover(http: HttpClient, before: Estate | None, only: Only) -> tuple[Estate, tuple[Unseen, ...]]:
    """What there is now. A listing that fails leaves what it told before. Raises SourceError if not even environments can be listed."""
    known = before or Estate()
    environments = listed(http, "/org/v2/environments")
    everywhere = tuple(sorted((_environment(one) for one in environments), key=lambda one: one.id))
    organization = next((one.organization for one in everywhere if one.organization), known.organization)
    organization = organization or _organization(http)
    envs = [one.id for one in everywhere if not only.environments or one.id in only.environments]
    unseen = [Unseen(f"environment {name}", "there is none of this id, or it is hidden") for name in sorted(only.environments - set(envs))]
    wanted = [(kind, env) for kind in range(len(_LISTINGS)) for env in envs]
    found: list[list[Any]] = [[], [], [], []]
    with ThreadPoolExecutor(http.settings.at_once, thread_name_prefix="discover") as pool:
        answers = list(pool.map(lambda one: _attempt(http, *one), wanted))
    for (kind, env), answer in zip(wanted, answers, strict=True):
        if isinstance(answer, SourceError):
            unseen.append(Unseen(f"{_LISTINGS[kind][0]} of {env}", str(answer)))
            found[kind] += [one for one in _parts(known)[kind] if one.environment == env]
        else:
            found[kind] += answer
    there = {one.id for one in everywhere}
    for kind, parts in enumerate(_parts(known)):
        found[kind] += [one for one in parts if one.environment in there and one.environment not in envs]
    kafka, registries, ksqldb, pools = (tuple(sorted(parts, key=lambda one: one.id)) for parts in found)
    return Estate(organization, everywhere, kafka, registries, ksqldb, pools), tuple(unseen)


def _parts(estate: Estate) -> tuple[tuple[Any, ...], ...]:
    return estate.kafka, estate.registries, estate.ksqldb, estate.pools


def _attempt(http: HttpClient, kind: int, environment: str) -> list[Any] | SourceError:
    name, path, read = _LISTINGS[kind]
    try:
        return [read(environment, one) for one in listed(http, path, environment=environment)]
    except SourceError as error:
        return error
    except (AttributeError, KeyError, TypeError) as error:
        return SourceError(f"{name}: an entry lacks {error}")


def _environment(one: Mapping[str, Any]) -> Environment:
    named = str((one.get("metadata") or {}).get("resource_name") or "")
    organization = next((part.removeprefix("organization=") for part in named.split("/") if part.startswith("organization=")), "")
    package = str((one.get("stream_governance_config") or {}).get("package") or "")
    return Environment(str(one["id"]), str(one.get("display_name") or one["id"]), package, organization)


def _organization(http: HttpClient) -> str:
    """The organization's id; empty if it cannot be had: then Flink's statements cannot."""
    try:
        return next((str(one["id"]) for one in listed(http, "/org/v2/organizations")), "")
    except (SourceError, KeyError):
        return ""


def _kafka(environment: str, one: Mapping[str, Any]) -> KafkaCluster:
    spec = one["spec"]
    return KafkaCluster(
        str(one["id"]),
        environment,
        str(spec.get("display_name") or one["id"]),
        str((spec.get("config") or {}).get("kind") or ""),
        str(spec.get("cloud") or "").lower(),
        str(spec.get("region") or ""),
        str(spec.get("http_endpoint") or "").rstrip("/"),
        first_server(str(spec.get("kafka_bootstrap_endpoint") or "")),
        str(spec.get("availability") or ""),
    )


def _registry(environment: str, one: Mapping[str, Any]) -> Registry:
    spec, status = one.get("spec") or {}, one.get("status") or {}
    url = str(spec.get("http_endpoint") or status.get("http_endpoint") or "").rstrip("/")
    return Registry(str(one["id"]), environment, url, str(spec.get("cloud") or "").lower(), str(_id(spec.get("region"))))


def _ksqldb(environment: str, one: Mapping[str, Any]) -> KsqlCluster:
    spec, status = one["spec"], one.get("status") or {}
    url = str(status.get("http_endpoint") or spec.get("http_endpoint") or "").rstrip("/")
    prefix = str(status.get("topic_prefix") or spec.get("topic_prefix") or "")
    return KsqlCluster(str(one["id"]), environment, _id(spec.get("kafka_cluster")), str(spec.get("display_name") or one["id"]), url, prefix)


def _pool(environment: str, one: Mapping[str, Any]) -> Pool:
    spec = one["spec"]
    return Pool(str(one["id"]), environment, str(spec.get("display_name") or one["id"]), str(spec["cloud"]).lower(), str(spec["region"]))


def _id(reference: object) -> str:
    """The id that a reference to another object has."""
    return str(reference.get("id") or "") if isinstance(reference, dict) else str(reference or "")


_LISTINGS: tuple[_Listing, ...] = (
    ("Kafka clusters", "/cmk/v2/clusters", _kafka),
    ("Schema Registries", "/srcm/v3/clusters", _registry),
    ("ksqlDB clusters", "/ksqldbcm/v2/clusters", _ksqldb),
    ("compute pools", "/fcpm/v2/compute-pools", _pool),
)
