"""Converts the settings of an input to options of Spark's Kafka source, whose client is Kafka's own, in Java."""

from pathlib import Path
from typing import Final

from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat, load_pem_private_key

from lineage_bridge.errors import ConfigError
from lineage_bridge.inputs.kafka.settings import KafkaInputSettings
from lineage_bridge.sources.common.settings import reveal

_MODULES: Final = {
    "PLAIN": "plain.PlainLoginModule",
    "SCRAM-SHA-256": "scram.ScramLoginModule",
    "SCRAM-SHA-512": "scram.ScramLoginModule",
    "OAUTHBEARER": "oauthbearer.OAuthBearerLoginModule",
}
"""SASL mechanisms that are translated, each with Kafka's login module for it."""
HTTPS_AUTHORITIES: Final = "https.ca.location"
"""librdkafka's property for the file of authorities that vouch for the token endpoint."""
_SECURITY: Final = "org.apache.kafka.common.security"
SAME: Final = frozenset({"client.dns.lookup", "client.id", "client.rack", "reconnect.backoff.max.ms", "reconnect.backoff.ms"})
"""Properties that Kafka's Java client has under the same name. Others only apply to librdkafka, which finds topics and offsets."""


def java_options(settings: KafkaInputSettings) -> dict[str, str]:
    """The options of the connection. Raises ConfigError for certificates or secrets that cannot be read."""
    timeout_ms = int(settings.timeout_s * 1000)
    found = {
        "bootstrap.servers": settings.bootstrap_servers,
        "security.protocol": settings.security_protocol,
        "client.id": "lineage-bridge",
        "isolation.level": "read_committed",
        "fetch.max.wait.ms": "20",
        "request.timeout.ms": str(max(timeout_ms, 1000)),
        "default.api.timeout.ms": str(max(timeout_ms, 1000)),
        **{name: value for name, value in settings.properties.items() if name in SAME},
        **(_tls(settings) if settings.tls else {}),
        **(_login(settings) if settings.sasl_mechanism else {}),
    }
    return {f"kafka.{name}": value for name, value in found.items()}


def _tls(settings: KafkaInputSettings) -> dict[str, str]:
    found = {"ssl.endpoint.identification.algorithm": "https" if settings.ssl_check_hostname else ""}
    if authorities := settings.ssl_ca_pem or _text(settings.ssl_ca_file):
        found |= {"ssl.truststore.type": "PEM", "ssl.truststore.certificates": authorities}
    if certificate := settings.ssl_cert_pem or _text(settings.ssl_cert_file):
        own = reveal(settings.ssl_key_pem) if settings.ssl_key_pem else _text(settings.ssl_key_file or settings.ssl_cert_file)
        key = _pkcs8(own, reveal(settings.ssl_key_password) if settings.ssl_key_password else "")
        found |= {"ssl.keystore.type": "PEM", "ssl.keystore.certificate.chain": certificate, "ssl.keystore.key": key}
    return found


def _login(settings: KafkaInputSettings) -> dict[str, str]:
    mechanism = settings.sasl_mechanism
    options, more = _bearer(settings) if mechanism == "OAUTHBEARER" else (_password(settings), {})
    jaas = " ".join(f"{name}={_quoted(value)}" for name, value in options.items())
    return {"sasl.mechanism": mechanism, "sasl.jaas.config": f"{_SECURITY}.{_MODULES[mechanism]} required {jaas};", **more}


def _password(settings: KafkaInputSettings) -> dict[str, str]:
    return {"username": settings.username, "password": reveal(settings.password or "")}


def _bearer(settings: KafkaInputSettings) -> tuple[dict[str, str], dict[str, str]]:
    """The options of the login module and the client that fetch tokens with client credentials."""
    options = {
        "clientId": settings.oauth_client_id,
        "clientSecret": reveal(settings.oauth_client_secret or ""),
        **({"scope": settings.oauth_scope} if settings.oauth_scope else {}),
        **{f"extension_{name}": value for name, value in sorted(settings.oauth_extensions.items())},
    }
    if authorities := settings.properties.get(HTTPS_AUTHORITIES):
        options |= {"ssl.truststore.type": "PEM", "ssl.truststore.location": authorities}
    timeout_ms = str(max(int(settings.timeout_s * 1000), 1000))
    return options, {
        "sasl.login.callback.handler.class": f"{_SECURITY}.oauthbearer.OAuthBearerLoginCallbackHandler",
        "sasl.oauthbearer.token.endpoint.url": str(settings.oauth_token_url),
        "sasl.login.connect.timeout.ms": timeout_ms,
        "sasl.login.read.timeout.ms": timeout_ms,
    }


def _quoted(text: str) -> str:
    """Write a text as a value in a JAAS configuration."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def _text(file: str) -> str:
    """The content of a file; empty without one. Raises ConfigError."""
    if not file:
        return ""
    try:
        return Path(file).read_text(encoding="ascii")
    except (OSError, ValueError) as error:
        raise ConfigError(
            f"{file} cannot be read: {error}", "`ssl_ca_file`, `ssl_cert_file` and `ssl_key_file` must name PEM files"
        ) from error


def _pkcs8(pem: str, password: str) -> str:
    """Convert a private key to PKCS #8, the only form that Kafka's client reads. Raises ConfigError."""
    try:
        key = load_pem_private_key(pem.encode(), password.encode() or None)
    except (ValueError, TypeError) as error:
        raise ConfigError(
            f"the client's key cannot be read: {error}", "check the settings `ssl_key_file`, `ssl_key_pem` and `ssl_key_password`"
        ) from error
    return key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()).decode()
