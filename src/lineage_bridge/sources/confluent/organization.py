"""The resources of an organization for which planes are created: environments, and the clusters of every kind in them."""

from collections import Counter
from collections.abc import Iterable
from typing import TypeVar

import msgspec

from lineage_bridge.sources.common.stepwise import Selection


class Environment(msgspec.Struct, frozen=True):
    """An environment of Confluent Cloud. `package` is its Stream Governance package: ESSENTIALS, ADVANCED, or empty."""

    id: str
    name: str
    package: str = ""
    organization: str = ""


class KafkaCluster(msgspec.Struct, frozen=True):
    """A Kafka cluster. `kind`: Basic, Standard, Dedicated, Enterprise or Freight. `bootstrap`: host:port.

    `access_points`: other servers (host:port) by which clients reach it, for example through PrivateLink, sorted.
    """

    id: str
    environment: str
    name: str
    kind: str = ""
    cloud: str = ""
    region: str = ""
    url: str = ""
    bootstrap: str = ""
    availability: str = ""
    access_points: tuple[str, ...] = ()

    @property
    def servers(self) -> tuple[str, ...]:
        """All known servers of the cluster, the bootstrap server first."""
        return tuple(dict.fromkeys(server for server in (self.bootstrap, *self.access_points) if server))

    @property
    def namespace(self) -> str:
        """The namespace of the cluster's topics and jobs."""
        return f"confluent://{self.environment}/{self.id}"

    @property
    def scope(self) -> str:
        """The scope of the planes that observe the cluster."""
        return f"{self.environment}/{self.id}"


class SchemaRegistry(msgspec.Struct, frozen=True):
    """The Schema Registry of an environment. `catalog_url`: the address of its Stream Catalog, empty if that is the address of the
    registry.

    `package` is that of Stream Governance: ESSENTIALS, ADVANCED, or empty.
    """

    id: str
    environment: str
    url: str
    cloud: str = ""
    region: str = ""
    catalog_url: str = ""
    package: str = ""

    @property
    def namespace(self) -> str:
        """The namespace of the registry's subjects and jobs."""
        return f"confluent://{self.environment}/{self.id}"


class KsqlCluster(msgspec.Struct, frozen=True):
    """A ksqlDB cluster. `kafka`: the id of the Kafka cluster that it uses; `topic_prefix`: the prefix of its internal topics and groups."""

    id: str
    environment: str
    kafka: str
    name: str
    url: str
    topic_prefix: str = ""


class ComputePool(msgspec.Struct, frozen=True):
    """A compute pool, in which Flink statements run."""

    id: str
    environment: str
    name: str
    cloud: str
    region: str


class Organization(msgspec.Struct, frozen=True):
    """An organization, or a part of one. Each kind of resource is sorted by id. Stored as JSON in snapshots."""

    id: str = msgspec.field(default="", name="organization")
    environments: tuple[Environment, ...] = ()
    kafka_clusters: tuple[KafkaCluster, ...] = msgspec.field(default=(), name="kafka")
    registries: tuple[SchemaRegistry, ...] = ()
    ksqldb_clusters: tuple[KsqlCluster, ...] = msgspec.field(default=(), name="ksqldb")
    compute_pools: tuple[ComputePool, ...] = msgspec.field(default=(), name="pools")

    def cluster(self, name: str, environment: str = "") -> KafkaCluster | None:
        """Return the Kafka cluster with this id, or with this name in an environment."""
        matching = (
            cluster for cluster in self.kafka_clusters if name == cluster.id or (name, environment) == (cluster.name, cluster.environment)
        )
        return next(matching, None)

    def environment(self, name: str) -> Environment | None:
        """Return the environment with this id or name."""
        return next((environment for environment in self.environments if name in (environment.id, environment.name)), None)

    @property
    def flink_regions(self) -> tuple[tuple[str, str, str], ...]:
        """The environment, cloud and region of all compute pools, each once. Flink statements can run there."""
        return tuple(sorted({(pool.environment, pool.cloud, pool.region) for pool in self.compute_pools}))

    @property
    def shared_bootstraps(self) -> frozenset[str]:
        """The servers that several clusters have in common."""
        counts = Counter(server for cluster in self.kafka_clusters for server in cluster.servers)
        return frozenset(server for server, count in counts.items() if count > 1)

    def narrowed(self, only: Selection) -> "Organization":
        """Return the part of the organization with the selected environments and clusters."""
        environments, ids = only.environments, only.clusters
        clusters = [
            cluster
            for cluster in self.kafka_clusters
            if (not environments or cluster.environment in environments) and (not ids or cluster.id in ids)
        ]
        selected = environments or (frozenset(cluster.environment for cluster in clusters) if ids else frozenset())

        def within(resources: Iterable[_ResourceT]) -> tuple[_ResourceT, ...]:
            return tuple(resource for resource in resources if not selected or resource.environment in selected)

        return Organization(
            self.id,
            tuple(environment for environment in self.environments if not selected or environment.id in selected),
            tuple(clusters),
            within(self.registries),
            tuple(cluster for cluster in within(self.ksqldb_clusters) if not ids or cluster.kafka in ids),
            within(self.compute_pools),
        )


_ResourceT = TypeVar("_ResourceT", SchemaRegistry, KsqlCluster, ComputePool)
