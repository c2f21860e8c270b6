"""The connection settings of both Kafka clients: kafka-python sends requests of the protocol, librdkafka reads records."""

import ssl
import time
from collections.abc import Callable
from typing import Any, Final
from urllib.parse import urlencode, urlsplit

import httpx
from confluent_kafka import Consumer, KafkaException

from lineage_bridge.errors import ConfigError, ForbiddenError, UnreachableError
from lineage_bridge.sources.common.kafka.settings import AZURE, SECRET_PROPERTY, KafkaConnection, KafkaSettings
from lineage_bridge.sources.common.settings import reveal

_EARLY_S = 30.0
"""How many seconds before its expiry a token is replaced."""
_AZURE_URL: Final = "http://169.254.169.254/metadata/identity/oauth2/token"
"""Where virtual machines of Azure get the tokens of their managed identities (Azure Instance Metadata Service)."""
_AZURE_VERSION: Final = "2018-02-01"


class Hidden(str):
    """A secret that is not shown in its repr, because clients log their configuration."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "'***'"


_PROPERTIES: dict[str, tuple[str, Callable[[str], Any]]] = {
    "client.dns.lookup": ("client_dns_lookup", str),
    "client.id": ("client_id", str),
    "reconnect.backoff.max.ms": ("reconnect_backoff_max_ms", int),
    "reconnect.backoff.ms": ("reconnect_backoff_ms", int),
    "receive.message.max.bytes": ("receive_message_max_bytes", int),
    "socket.connection.setup.timeout.ms": ("socket_connection_setup_timeout_ms", int),
    "ssl.crl.location": ("ssl_crlfile", str),
}
"""Properties of librdkafka that kafka-python has under another name. The other properties only apply to librdkafka."""


def protocol_config(settings: KafkaSettings) -> dict[str, Any]:
    """The configuration of kafka-python's connections. Raises ConfigError."""
    config: dict[str, Any] = {
        "bootstrap_servers": settings.bootstrap_servers.split(","),
        "client_id": "lineage-bridge",
        "receive_message_max_bytes": 1_000_000_000,
        "request_timeout_ms": int(settings.timeout_s * 1000),
        "socket_connection_setup_timeout_ms": int(settings.timeout_s * 1000),
        "security_protocol": settings.security_protocol,
    }
    if settings.tls:
        config["ssl_context"] = tls_context(settings)
    if settings.sasl_mechanism:
        config |= _login(settings)
    for name, value in settings.properties.items():
        if name in _PROPERTIES:
            own, read = _PROPERTIES[name]
            config[own] = read(value)
    return config


def _login(settings: KafkaSettings) -> dict[str, Any]:
    config: dict[str, Any] = {"sasl_mechanism": settings.sasl_mechanism}
    if settings.sasl_mechanism == "GSSAPI":
        from lineage_bridge.sources.common.kafka.protocol import kerberos  # noqa: PLC0415  # an optional dependency

        kerberos.prepare()
        return config | {"sasl_kerberos_service_name": kerberos.KerberosService(settings)}
    if settings.sasl_mechanism == "OAUTHBEARER":
        return config | {"sasl_oauth_token_provider": token_provider(settings)}
    return config | {"sasl_plain_username": settings.username, "sasl_plain_password": Hidden(reveal(settings.password or ""))}


def tls_context(settings: KafkaSettings) -> ssl.SSLContext:
    """Make a TLS context with the trusted authorities and the client's certificate. Raises ConfigError."""
    try:
        context = ssl.create_default_context(cafile=settings.ssl_ca_file or None)
        if settings.ssl_cert_file:
            password = reveal(settings.ssl_key_password) if settings.ssl_key_password else ""
            context.load_cert_chain(settings.ssl_cert_file, settings.ssl_key_file or None, password)
    except (OSError, ssl.SSLError) as error:
        reason = error.strerror or str(error)
        raise ConfigError(
            f"a certificate or key cannot be read: {reason}", "`ssl_ca_file`, `ssl_cert_file` and `ssl_key_file` must name PEM files"
        ) from error
    context.check_hostname = settings.ssl_check_hostname
    return context


def records_config(settings: KafkaConnection) -> dict[str, Any]:
    """The configuration of librdkafka, after checking the addresses that it would connect to. Raises ConfigError, SourceError."""
    settings.outbound.check_servers(_host_and_port(server) for server in settings.bootstrap_servers.split(","))
    if settings.oauth_token_url:
        url = urlsplit(settings.oauth_token_url)
        settings.outbound.check_servers([(url.hostname or "", url.port or 443)])
    named = {
        "bootstrap.servers": settings.bootstrap_servers,
        "client.id": "lineage-bridge",
        "security.protocol": settings.security_protocol,
        "sasl.mechanism": settings.sasl_mechanism,
        "ssl.ca.location": settings.ssl_ca_file,
        "ssl.certificate.location": settings.ssl_cert_file,
        "ssl.key.location": settings.ssl_key_file or settings.ssl_cert_file,
        "ssl.key.password": _revealed(settings.ssl_key_password),
        "ssl.endpoint.identification.algorithm": "https" if settings.ssl_check_hostname else "none",
        "sasl.username": settings.username,
        "sasl.password": _revealed(settings.password),
    }
    check_identity(settings)
    if settings.sasl_mechanism == "OAUTHBEARER":
        extensions = ",".join(f"{name}={value}" for name, value in sorted(settings.oauth_extensions.items()))
        named |= {
            "sasl.oauthbearer.method": "oidc",
            "sasl.oauthbearer.token.endpoint.url": settings.oauth_token_url or "",
            "sasl.oauthbearer.client.id": settings.oauth_client_id,
            "sasl.oauthbearer.client.secret": _revealed(settings.oauth_client_secret),
            "sasl.oauthbearer.scope": settings.oauth_scope,
            "sasl.oauthbearer.extensions": extensions,
        }
    if settings.oauth_identity == AZURE:
        query = urlencode(_identity(settings))
        named |= {"sasl.oauthbearer.metadata.authentication.type": "azure_imds", "sasl.oauthbearer.config": f"query={query}"}
    if settings.sasl_mechanism == "GSSAPI":
        check_kerberos()
        named |= {
            "sasl.kerberos.service.name": settings.kerberos_service_name,
            "sasl.kerberos.principal": settings.kerberos_principal,
            "sasl.kerberos.keytab": settings.kerberos_keytab,
        }
    given = {name: reveal(value) if SECRET_PROPERTY.search(name) else value for name, value in settings.properties.items()}
    return {name: value for name, value in named.items() if value} | given


def check_identity(settings: KafkaConnection) -> None:
    """Check that the server's settings allow connections to use the identity that the cloud gives to this machine. Raises ConfigError."""
    if settings.oauth_identity in settings.context.withheld:
        hint = "use client credentials; an operator can allow this machine's credentials with the setting `machine_credentials`"
        raise ConfigError("the settings do not allow connections to Kafka to use the credentials of this machine", hint)


def _identity(settings: KafkaConnection) -> dict[str, str]:
    """The parameters of a request that asks Azure for a token of a managed identity."""
    chosen = {"client_id": settings.oauth_client_id} if settings.oauth_client_id else {}
    return {"api-version": _AZURE_VERSION, "resource": settings.oauth_scope, **chosen}


def check_kerberos() -> None:
    """Check that librdkafka was built with Kerberos. Raises ConfigError."""
    try:
        Consumer({"group.id": "none", "builtin.features": "sasl_gssapi"}).close()
    except (KafkaException, ValueError) as error:
        raise ConfigError(
            "the librdkafka in the package confluent-kafka was built without Kerberos (GSSAPI)",
            "use another `sasl_mechanism`, or install confluent-kafka from its source, with a librdkafka that has Kerberos",
        ) from error


def _host_and_port(server: str) -> tuple[str, int]:
    host, _, port = server.strip().rpartition(":")
    return host.strip("[]"), int(port)


def _revealed(reference: str | None) -> str:
    return Hidden(reveal(reference)) if reference else ""


class Tokens:
    """Fetches bearer tokens, with client credentials or as a managed identity. Each token is reused until shortly before it expires."""

    def __init__(self, settings: KafkaSettings, clock: Callable[[], float] = time.monotonic) -> None:
        self._settings, self._clock = settings, clock
        self._token, self._until = "", 0.0

    def token(self) -> str:
        """Return a valid token, fetched now if necessary. Raises ForbiddenError, UnreachableError."""
        if self._clock() >= self._until:
            answer = self._ask()
            self._token = Hidden(answer["access_token"])
            self._until = self._clock() + max(0.0, float(answer.get("expires_in") or 60.0) - _EARLY_S)
        return self._token

    def _ask(self) -> dict[str, Any]:
        settings = self._settings
        check_identity(settings)
        try:
            trusted = ssl.create_default_context()
            if settings.ssl_ca_file:
                trusted.load_verify_locations(settings.ssl_ca_file)
            # The endpoint of the machine's identity must not be called through a proxy, because the proxy would see the token.
            proxied = settings.oauth_identity != AZURE
            with httpx.Client(timeout=settings.timeout_s, verify=trusted, trust_env=proxied) as client:
                answer = client.send(self._request(client))
            body = answer.json() if answer.is_success else {}
        except (httpx.HTTPError, OSError, ValueError) as error:
            raise UnreachableError(
                f"the token endpoint does not answer: {type(error).__name__}", "check the setting `oauth_token_url`"
            ) from error
        if not isinstance(body, dict) or not isinstance(body.get("access_token"), str):
            hint = "check the settings `oauth_client_id`, `oauth_client_secret` and `oauth_scope`"
            raise ForbiddenError(f"the token endpoint returned no token (HTTP {answer.status_code})", hint)
        return body

    def _request(self, client: httpx.Client) -> httpx.Request:
        settings = self._settings
        url = settings.oauth_token_url
        extensions = {"trace": settings.outbound.trace(urlsplit(url).hostname or "")} if url else {}
        if settings.oauth_identity == AZURE:
            return client.build_request(
                "GET", url or _AZURE_URL, params=_identity(settings), headers={"Metadata": "true"}, extensions=extensions
            )
        form = {"grant_type": "client_credentials"} | ({"scope": settings.oauth_scope} if settings.oauth_scope else {})
        basic = httpx.BasicAuth(settings.oauth_client_id, reveal(settings.oauth_client_secret or ""))
        request = client.build_request("POST", str(url), data=form, extensions=extensions)
        return next(basic.auth_flow(request))


def token_provider(settings: KafkaSettings) -> Any:  # noqa: ANN401  # kafka-python has no types
    """Make the object from which kafka-python gets its tokens."""
    from kafka.net.sasl.oauth import AbstractTokenProvider  # noqa: PLC0415  # an optional dependency

    tokens = Tokens(settings)

    class Provider(AbstractTokenProvider):  # type: ignore[misc]  # a class without types
        """Gives tokens to kafka-python in the interface that it expects."""

        def token(self) -> str:
            return tokens.token()

        def extensions(self) -> dict[str, str]:
            return dict(settings.oauth_extensions)

    return Provider()
