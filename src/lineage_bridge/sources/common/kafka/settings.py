"""The settings of a Kafka cluster."""

import re
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field, ValidationInfo, model_validator

from lineage_bridge.sources.common.settings import Secret, SourceSettings, Url, as_reference, check_host

SECRET_PROPERTY = re.compile(r"password|secret|passphrase|\.pem$|jaas|token$|sasl\.oauthbearer\.config|credential", re.IGNORECASE)
"""Names of a client's settings whose values are secrets."""
_FIXED = frozenset(
    {
        "bootstrap.servers",
        "enable.sparse.connections",
        "metadata.broker.list",
        "plugin.library.paths",
        "sasl.kerberos.kinit.cmd",
        "sasl.oauthbearer.assertion.file",
        "sasl.oauthbearer.assertion.jwt.template.file",
        "sasl.oauthbearer.assertion.private.key.file",
        "sasl.oauthbearer.metadata.authentication.type",
        "sasl.oauthbearer.method",
        "sasl.oauthbearer.token.endpoint.url",
        "ssl.engine.location",
        "ssl.providers",
    }
)
"""Properties of librdkafka that name addresses to call, commands to run, libraries to load, or files whose content is sent to the token
endpoint. They would bypass the checks.
"""
AZURE = "azure"
_SERVER = re.compile(r"(\[[0-9A-Fa-f:.]+\]|[^\s:,/@\[\]]+):\d{1,5}")


def _servers(value: str, info: ValidationInfo) -> str:
    servers = [server.strip() for server in value.split(",") if server.strip()]
    if not servers or not all(_SERVER.fullmatch(server) for server in servers):
        raise ValueError("servers must be host:port, separated by commas")
    for server in servers:
        check_host(server.rpartition(":")[0], info)
    return ",".join(servers)


Servers = Annotated[str, AfterValidator(_servers)]
"""`host:port` of some brokers, separated by commas."""


def _properties(value: dict[str, str], info: ValidationInfo) -> dict[str, str]:
    if fixed := sorted(_FIXED & value.keys()):
        raise ValueError(f"{fixed[0]} cannot be set in `properties`: it names an address to call, a file to send, or code to run")
    return {name: _referred(name, setting, info) if SECRET_PROPERTY.search(name) else setting for name, setting in value.items()}


def _referred(name: str, setting: str, info: ValidationInfo) -> str:
    try:
        return as_reference(setting, info)
    except ValueError as error:
        raise ValueError(f"{name}: {error}") from error


class KafkaConnection(SourceSettings):
    """The settings of a connection to a Kafka cluster: its address, and how to log in."""

    bootstrap_servers: Servers = Field(description="host:port of some brokers, separated by commas")
    security_protocol: Literal["PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL"] = Field(
        default="PLAINTEXT", description="security protocol of the connection"
    )
    ssl_ca_file: str = Field(default="", description="PEM file of trusted certificate authorities; empty: the system's")
    ssl_cert_file: str = Field(default="", description="PEM file of the client's certificate")
    ssl_key_file: str = Field(default="", description="PEM file of the client's key")
    ssl_key_password: Secret | None = Field(default=None, description="password of the client's key, as a reference")
    ssl_check_hostname: bool = Field(default=True, description="require the brokers' certificates to match their host names")
    sasl_mechanism: Literal["", "PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512", "OAUTHBEARER", "GSSAPI"] = Field(
        default="", description="SASL mechanism for SASL_PLAINTEXT and SASL_SSL"
    )
    username: str = Field(default="", description="user for PLAIN and SCRAM")
    password: Secret | None = Field(default=None, description="password of that user, as a reference")
    oauth_identity: Literal["", "azure"] = Field(
        default="",
        description="azure: tokens of OAUTHBEARER are those of the managed identity of the server's machine; empty: client credentials",
    )
    oauth_token_url: Url | None = Field(default=None, description="token endpoint of OAUTHBEARER (client credentials)")
    oauth_client_id: str = Field(default="", description="client id at the token endpoint; of several managed identities, the one to use")
    oauth_client_secret: Secret | None = Field(default=None, description="client secret at the token endpoint, as a reference")
    oauth_scope: str = Field(default="", description="OAuth scope to request; the resource to which a managed identity wants access")
    oauth_extensions: dict[str, str] = Field(
        default_factory=dict, description="SASL extensions sent with the token (logicalCluster, identityPoolId)"
    )
    kerberos_service_name: str = Field(default="kafka", description="the brokers' service name in Kerberos")
    kerberos_principal: str = Field(default="", description="principal for GSSAPI; empty: the principal of the ticket cache")
    kerberos_keytab: str = Field(default="", description="keytab of the principal; empty: use the ticket cache")
    properties: Annotated[dict[str, str], AfterValidator(_properties)] = Field(
        default_factory=dict, description="further settings of the connection, under librdkafka's names; secrets as references"
    )

    @property
    def server(self) -> str:
        """The first bootstrap server, which the namespace of the cluster's topics contains."""
        return self.bootstrap_servers.split(",", maxsplit=1)[0]

    @property
    def address(self) -> str:
        """The address by which the cluster is identified: the first bootstrap server."""
        return self.server

    @property
    def tls(self) -> bool:
        """Whether the connection is encrypted by TLS."""
        return self.security_protocol.endswith("SSL")

    @model_validator(mode="after")
    def _consistent(self) -> Any:  # noqa: ANN401  # pydantic: the model itself
        sasl = self.security_protocol.startswith("SASL")
        if sasl != bool(self.sasl_mechanism):
            raise ValueError("set `sasl_mechanism` if `security_protocol` is SASL_PLAINTEXT or SASL_SSL, and only then")
        if (self.sasl_mechanism == "PLAIN" or self.sasl_mechanism.startswith("SCRAM")) and not (self.username and self.password):
            raise ValueError(f"{self.sasl_mechanism} requires `username` and `password`")
        if self.sasl_mechanism == "OAUTHBEARER" and not self.oauth_identity:
            if not (self.oauth_token_url and self.oauth_client_id and self.oauth_client_secret):
                raise ValueError("OAUTHBEARER requires `oauth_token_url`, `oauth_client_id` and `oauth_client_secret`, or `oauth_identity`")
        elif self.oauth_identity and (self.sasl_mechanism != "OAUTHBEARER" or self.oauth_client_secret or not self.oauth_scope):
            raise ValueError("`oauth_identity` requires OAUTHBEARER and `oauth_scope`, and has no `oauth_client_secret`")
        if (self.ssl_ca_file or self.ssl_cert_file or self.ssl_key_file or self.ssl_key_password) and not self.tls:
            raise ValueError("certificates require `security_protocol` SSL or SASL_SSL")
        if self.ssl_key_file and not self.ssl_cert_file:
            raise ValueError("a client key requires a certificate: set `ssl_cert_file`")
        return self


class KafkaSettings(KafkaConnection):
    """The settings of a source: a Kafka cluster to observe, and what to report about it."""

    topics: tuple[str, ...] = Field(default=("*",), description="globs of the topics to report")
    exclude_topics: tuple[str, ...] = Field(default=(), description="globs of topics to leave out")
    groups: tuple[str, ...] = Field(default=("*",), description="globs of the groups and transactional ids to report")
    internal: bool = Field(default=False, description="also report the internal topics of Kafka, Connect and registries")
    sample: tuple[str, ...] = Field(default=(), description="globs of topics whose newest records may be read to learn field names")
