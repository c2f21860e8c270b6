"""What can be set of a source that is an organization of Confluent Cloud."""

from collections.abc import Mapping
from typing import Annotated, Literal, NamedTuple

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from lineage_bridge.sources.common.connect.settings import Mappings
from lineage_bridge.sources.common.settings import Secret, SourceSettings, Url

EVERY = "*"
PLANES = (
    "names",
    "topics",
    "registry",
    "catalog",
    "schema-links",
    "ksqldb",
    "flink",
    "connect",
    "links",
    "tableflow",
    "groups",
    "metrics",
    "audit-log",
)
"""What is observed, each by itself."""


class Credential(BaseModel):
    """An API key. `key` is its id, which is no secret."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    key: str = Field(min_length=1, description="id of the API key")
    secret: Secret = Field(description="secret of the API key, as a reference")


class AuditLog(Credential):
    """Where the organization's audit log is."""

    bootstrap_servers: str = Field(min_length=1, description="bootstrap servers of the audit log's cluster")
    topic: str = Field(default="confluent-audit-log-events", description="topic of the audit log")
    security_protocol: str = Field(default="SASL_SSL", description="how the connection is secured")
    ssl_ca_file: str = Field(default="", description="file of the authorities that are trusted, in PEM; empty: the system's")


def _planes(value: tuple[str, ...]) -> tuple[str, ...]:
    unknown = sorted(set(value) - set(PLANES))
    if unknown:
        raise ValueError(f"there is no plane {', '.join(unknown)}; there are {', '.join(PLANES)}")
    return value


class ConfluentSettings(SourceSettings):
    """An organization. What has no credential is not observed, and told so; the rest is."""

    interval_s: float = Field(default=300.0, ge=1, le=86_400, description="seconds between two polls")
    timeout_s: float = Field(default=30.0, gt=0, le=600, description="seconds that one call may take")
    cloud: Credential | None = Field(default=None, description="Cloud API key: environments, clusters, connectors, names, metrics")
    kafka: dict[str, Credential] = Field(default_factory=dict, description="API keys of Kafka clusters, by lkc-..; * for all others")
    registry: dict[str, Credential] = Field(
        default_factory=dict, description="API keys of Schema Registries, by lsrc-.. or env-..; * for all others"
    )
    registry_urls: dict[str, Url] = Field(default_factory=dict, description="addresses of registries, by env-.., where they are not listed")
    strategies: dict[str, str] = Field(
        default_factory=dict,
        description="pattern of subjects to the topic of their records (orders, orders#key), where the name tells none",
    )
    flink: dict[str, Credential] = Field(
        default_factory=dict, description="API keys of Flink, by env-../cloud.region, env-.. or cloud.region; * for all others"
    )
    ksqldb: dict[str, Credential] = Field(
        default_factory=dict, description="API keys of ksqlDB clusters, by lksqlc-.. or env-..; * for all others"
    )
    tableflow: dict[str, Credential] = Field(default_factory=dict, description="API keys of Tableflow, by env-..; * for all others")
    metrics: Credential | None = Field(default=None, description="API key of the Metrics API; else the Cloud API key")
    audit_log: AuditLog | None = Field(default=None, description="where the audit log is, and its API key")
    environments: tuple[str, ...] = Field(default=(), description="ids of the environments to observe; empty: all")
    clusters: tuple[str, ...] = Field(default=(), description="ids of the Kafka clusters to observe; empty: all")
    off: Annotated[tuple[str, ...], AfterValidator(_planes)] = Field(default=(), description=f"planes to leave out: {', '.join(PLANES)}")
    mappings: Mappings = Field(default=(), description="connector classes of one's own, as docs/connectors.md has them")
    metrics_hours: float = Field(default=1.0, gt=0, le=168, description="hours that metrics look back")
    exclude_clients: tuple[str, ...] = Field(default=(), description="globs of client ids that are told as no producers")
    at_once: int = Field(default=4, ge=1, le=64, description="most calls at the same time, in each plane")
    url: Url = Field(default="https://api.confluent.cloud", description="address of Confluent Cloud's API")
    telemetry_url: Url = Field(default="https://api.telemetry.confluent.cloud", description="address of the Metrics API")
    flink_url: str = Field(
        default="https://flink.{region}.{cloud}.confluent.cloud", description="address of Flink's API, with {cloud} and {region}"
    )
    ca_file: str = Field(default="", description="file of the authorities that are trusted, in PEM; empty: the system's")
    groups_by: Literal["auto", "protocol", "rest"] = Field(
        default="auto", description="how groups are asked for: protocol, rest, or auto: the brokers, and REST where they cannot be reached"
    )
    kafka_security_protocol: Literal["PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL"] = Field(
        default="SASL_SSL", description="how connections to the clusters' brokers are secured"
    )

    @property
    def address(self) -> str:
        """The address of the API."""
        return self.url

    def credential(self, plane: str, *names: str) -> Credential | None:
        """The credential of a plane (kafka, registry, flink, ksqldb, tableflow) for the first of these names that has one."""
        held: Mapping[str, Credential] = getattr(self, plane)
        return next((held[name] for name in (*names, EVERY) if name in held), None)


class Only(NamedTuple):
    """What an observation is narrowed to: ids of environments and clusters (empty: all), and planes left out."""

    environments: frozenset[str] = frozenset()
    clusters: frozenset[str] = frozenset()
    off: frozenset[str] = frozenset()


ALL = Only()
