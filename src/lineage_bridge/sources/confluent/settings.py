"""The settings of a Confluent Cloud source."""

from collections.abc import Mapping
from typing import Annotated, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationInfo

from lineage_bridge.sources.common.connect.settings import OwnClasses
from lineage_bridge.sources.common.kafka.settings import Servers
from lineage_bridge.sources.common.settings import Secret, Url, check_address

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
"""The planes that are observed. Each is fetched, fails and recovers independently."""


class Credential(BaseModel):
    """An API key and its secret. `key` is the id of the API key, which is not secret."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    key: str = Field(min_length=1, description="id of the API key")
    secret: Secret = Field(description="secret of the API key, as a reference")


class AuditLog(Credential):
    """Where the organization's audit log is, and how to log in there."""

    bootstrap_servers: Servers = Field(description="bootstrap servers of the audit log's cluster")
    topic: str = Field(default="confluent-audit-log-events", description="topic of the audit log")
    security_protocol: str = Field(default="SASL_SSL", description="security protocol of the connection")
    ssl_ca_file: str = Field(default="", description="PEM file of trusted certificate authorities; empty: the system's")


def _planes(value: tuple[str, ...]) -> tuple[str, ...]:
    unknown = sorted(set(value) - set(PLANES))
    if unknown:
        names = ", ".join(f"'{name}'" for name in unknown)
        raise ValueError(f"unknown plane {names}; use {', '.join(PLANES)}")
    return value


def _flink_url(value: str, info: ValidationInfo) -> str:
    """Check an address that may contain placeholders for cloud and region. Their values consist of letters, digits and hyphens."""
    check_address(value.replace("{cloud}", "cloud").replace("{region}", "region"), info)
    return value.rstrip("/")


class ConfluentSettings(OwnClasses):
    """The settings of a source for one organization. A plane without a credential is reported as not observed."""

    interval_s: float = Field(default=300.0, ge=1, le=86_400, description="seconds between polls")
    timeout_s: float = Field(default=30.0, gt=0, le=600, description="timeout of one call in seconds")
    cloud: Credential | None = Field(default=None, description="Cloud API key: environments, clusters, connectors, names, metrics")
    kafka: dict[str, Credential] = Field(default_factory=dict, description="API keys of Kafka clusters, by lkc-..; * for all others")
    kafka_urls: dict[str, Url] = Field(
        default_factory=dict, description="addresses of the REST APIs of Kafka clusters, by lkc-.., instead of those that are listed"
    )
    registry: dict[str, Credential] = Field(
        default_factory=dict, description="API keys of Schema Registries, by lsrc-.. or env-..; * for all others"
    )
    registry_urls: dict[str, Url] = Field(
        default_factory=dict, description="addresses of registries that Confluent Cloud does not list, by env-.."
    )
    strategies: dict[str, str] = Field(
        default_factory=dict,
        description="for subjects whose names do not contain the topic: subject pattern to the topic of its records (orders, orders#key)",
    )
    flink: dict[str, Credential] = Field(
        default_factory=dict, description="API keys of Flink, by env-../cloud.region, env-.. or cloud.region; * for all others"
    )
    ksqldb: dict[str, Credential] = Field(
        default_factory=dict, description="API keys of ksqlDB clusters, by lksqlc-.. or env-..; * for all others"
    )
    tableflow: dict[str, Credential] = Field(default_factory=dict, description="API keys of Tableflow, by env-..; * for all others")
    metrics: Credential | None = Field(default=None, description="API key of the Metrics API; default: the Cloud API key")
    audit_log: AuditLog | None = Field(default=None, description="bootstrap servers and topic of the audit log, and its API key")
    environments: tuple[str, ...] = Field(default=(), description="ids of the environments to observe; empty: all")
    clusters: tuple[str, ...] = Field(default=(), description="ids of the Kafka clusters to observe; empty: all")
    off: Annotated[tuple[str, ...], AfterValidator(_planes)] = Field(default=(), description=f"planes to leave out: {', '.join(PLANES)}")
    metrics_hours: float = Field(default=1.0, gt=0, le=168, description="how many hours back metrics are read")
    exclude_clients: tuple[str, ...] = Field(default=(), description="client-id globs to exclude from producers")
    at_once: int = Field(default=4, ge=1, le=64, description="maximum concurrent calls per plane")
    url: Url = Field(default="https://api.confluent.cloud", description="base URL of Confluent Cloud's API")
    telemetry_url: Url = Field(default="https://api.telemetry.confluent.cloud", description="base URL of the Metrics API")
    flink_url: Annotated[str, AfterValidator(_flink_url)] = Field(
        default="https://flink.{region}.{cloud}.confluent.cloud", description="base URL of Flink's API, with {cloud} and {region}"
    )
    ca_file: str = Field(default="", description="PEM file of trusted certificate authorities; empty: the system's")
    groups_by: Literal["auto", "protocol", "rest"] = Field(
        default="auto", description="how groups are listed: protocol, rest, or auto (the brokers, or REST if they cannot be reached)"
    )
    kafka_security_protocol: Literal["PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL"] = Field(
        default="SASL_SSL", description="security protocol of connections to the clusters' brokers"
    )

    @property
    def address(self) -> str:
        """The address of Confluent Cloud's API, which identifies the observed system."""
        return self.url

    def credential(self, plane: str, *names: str) -> Credential | None:
        """Return the credential of a plane (kafka, registry, flink, ksqldb, tableflow) under the first of these names that has one."""
        credentials: Mapping[str, Credential] = getattr(self, plane)
        return next((credentials[name] for name in (*names, EVERY) if name in credentials), None)
