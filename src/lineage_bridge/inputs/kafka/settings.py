"""The settings of an input that reads topics of Kafka, and the configuration of its client."""

import re
from typing import Annotated, Any, Final, Literal

from pydantic import AfterValidator, Field, model_validator
from typing_extensions import Self

from lineage_bridge.inputs.settings import STREAM, InputSettings
from lineage_bridge.openlineage.times import parse_time
from lineage_bridge.sources.common.kafka.protocol.login import records_config
from lineage_bridge.sources.common.kafka.settings import KafkaConnection
from lineage_bridge.sources.common.settings import Secret, reveal

EARLIEST, LATEST, STOP = "earliest", "latest", "stop"
_OWN: Final = frozenset(
    {
        "auto.offset.reset",
        "bootstrap.servers",
        "enable.auto.commit",
        "enable.auto.offset.store",
        "group.id",
        "group.protocol",
        "isolation.level",
        "partition.assignment.strategy",
        "security.protocol",
        "session.timeout.ms",
    }
)
"""Properties of librdkafka that users cannot set: an input depends on its own value, or has a setting for it."""
_GLOB: Final = re.compile(r"[*?\[]")


def _start(value: str) -> str:
    if value not in (EARLIEST, LATEST) and parse_time(value) is None:
        raise ValueError("use earliest, latest, or a time such as 2026-01-31T12:00:00Z")
    return value


def _topics(value: tuple[str, ...]) -> tuple[str, ...]:
    if not value or not all(value):
        raise ValueError("give at least one topic or glob of topics")
    return value


def _properties(value: dict[str, str]) -> dict[str, str]:
    if own := sorted(_OWN & value.keys()):
        raise ValueError(f"{own[0]} cannot be set in `properties`: the input sets it itself, or has a setting for it")
    return value


class KafkaInputSettings(KafkaConnection, InputSettings):
    """Settings of an input that reads topics of Kafka: the cluster, the topics, and where to begin."""

    topics: Annotated[tuple[str, ...], AfterValidator(_topics)] = Field(description="topics to read, by name or as globs (`lineage.*`)")
    exclude_topics: tuple[str, ...] = Field(default=(), description="globs of topics to leave out")
    group: str = Field(default="", max_length=255, description="consumer group; empty: lineage-bridge-NAME-INSTALLATION")
    start: Annotated[str, AfterValidator(_start)] = Field(
        default=EARLIEST, description="where to begin in topics that exist at the first start: earliest, latest, or a time"
    )
    expired: str = Field(
        default=EARLIEST,
        pattern=f"^({EARLIEST}|{LATEST}|{STOP})$",
        description="where to continue if the next records were deleted before they were read: earliest, latest, or stop",
    )
    form: Literal["embedded", "stream"] = Field(
        default="embedded", description="embedded: read into the log by a process of its own; stream: read by Spark, beside the log"
    )
    max_offsets_per_trigger: int = Field(
        default=20_000, ge=1, le=1_000_000, description="maximum number of records that are ingested together, in the form `stream`"
    )
    session_timeout_s: float = Field(
        default=45.0,
        ge=1,
        le=1800,
        description="seconds without a heartbeat after which the group reassigns the partitions of this consumer",
    )
    refresh_s: float = Field(default=10.0, ge=0.5, le=3600, description="seconds between two searches for new and recreated topics")
    ssl_ca_pem: str = Field(default="", description="trusted certificate authorities as PEM text, instead of ssl_ca_file")
    ssl_cert_pem: str = Field(default="", description="the client's certificate as PEM text, instead of ssl_cert_file")
    ssl_key_pem: Secret | None = Field(default=None, description="the client's key as PEM text, as a reference")
    properties: Annotated[dict[str, str], AfterValidator(_properties)] = KafkaConnection.model_fields["properties"]  # type: ignore[assignment]  # a field of pydantic

    @model_validator(mode="after")
    def _consistent_pem(self) -> Self:
        if (self.ssl_ca_pem or self.ssl_cert_pem or self.ssl_key_pem) and not self.tls:
            raise ValueError("certificates require `security_protocol` SSL or SASL_SSL")
        if bool(self.ssl_cert_pem) != bool(self.ssl_key_pem):
            raise ValueError("set both `ssl_cert_pem` and `ssl_key_pem`, or neither")
        return self

    @model_validator(mode="after")
    def _translated_login(self) -> Self:
        if self.form == STREAM and self.sasl_mechanism == "GSSAPI":
            raise ValueError("the form `stream` does not support GSSAPI; use the form `embedded`")
        if self.form == STREAM and self.oauth_identity:
            raise ValueError(
                "the form `stream` does not support `oauth_identity`, as Kafka's Java client does not; use the form `embedded`"
            )
        return self

    @property
    def names(self) -> tuple[str, ...]:
        """The topics in the settings that are names, not globs."""
        return tuple(topic for topic in self.topics if not _GLOB.search(topic))

    @property
    def globs(self) -> tuple[str, ...]:
        """The topics in the settings that are globs."""
        return tuple(topic for topic in self.topics if _GLOB.search(topic))


def group_of(name: str, settings: KafkaInputSettings, installation: str) -> str:
    """The name of the consumer group of an input."""
    return settings.group or f"lineage-bridge-{name}{'-' + installation[:8] if installation else ''}"


def client_config(settings: KafkaInputSettings) -> dict[str, Any]:
    """The configuration of librdkafka for the connection, after checking the addresses that it would connect to. Raises ConfigError,
    SourceError.
    """
    pem = {
        "ssl.ca.pem": settings.ssl_ca_pem,
        "ssl.certificate.pem": settings.ssl_cert_pem,
        "ssl.key.pem": reveal(settings.ssl_key_pem) if settings.ssl_key_pem else "",
    }
    config = records_config(settings) | {name: value for name, value in pem.items() if value}
    timeout_ms = int(settings.timeout_s * 1000)
    return {"socket.timeout.ms": max(timeout_ms, 10), "socket.connection.setup.timeout.ms": max(timeout_ms, 1000), **config, "log_level": 0}


def consumer_config(settings: KafkaInputSettings, group: str) -> dict[str, Any]:
    """The configuration of a consumer that reads only committed records, and does not keep its positions itself."""
    session_ms = int(settings.session_timeout_s * 1000)
    return {
        "queued.max.messages.kbytes": 16_384,
        "queued.min.messages": 10_000,
        "fetch.wait.max.ms": 200,
        "check.crcs": True,
        **client_config(settings),
        "group.id": group,
        "enable.auto.commit": False,
        "enable.auto.offset.store": False,
        "auto.offset.reset": "error",
        "isolation.level": "read_committed",
        "session.timeout.ms": session_ms,
        "heartbeat.interval.ms": min(3000, session_ms // 3),
        "max.poll.interval.ms": max(300_000, session_ms),
    }
