"""Settings of a connection, in the names and forms of Kafka's Java client."""

from pathlib import Path
from typing import Any

import pytest
import trustme
from cryptography.hazmat.primitives.serialization import BestAvailableEncryption, Encoding, PrivateFormat, load_pem_private_key

from lineage_bridge.errors import ConfigError
from lineage_bridge.inputs.kafka.java_client import java_options
from lineage_bridge.inputs.kafka.settings import KafkaInputSettings
from lineage_bridge.inputs.kinds import KINDS


def settings(**more: Any) -> KafkaInputSettings:
    made = KINDS.make_stream("events", "kafka", {"bootstrap_servers": "b:9092", "topics": ["t"], "form": "stream", **more}).settings
    assert isinstance(made, KafkaInputSettings)
    return made


def test_a_plain_connection_reads_what_was_committed() -> None:
    options = java_options(settings(properties={"client.rack": "r1", "fetch.error.backoff.ms": "7"}, timeout_s=3))
    assert options["kafka.bootstrap.servers"] == "b:9092"
    assert options["kafka.isolation.level"] == "read_committed"
    assert options["kafka.request.timeout.ms"] == "3000"
    assert options["kafka.client.rack"] == "r1"
    assert not any("ssl" in name or "sasl" in name or "backoff" in name for name in options)


def test_a_password_with_quotes_stays_one_value(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("P", 'a"b\\c; d')
    given = {"security_protocol": "SASL_PLAINTEXT", "sasl_mechanism": "SCRAM-SHA-512", "username": "u", "password": "${env:P}"}
    options = java_options(settings(**given))
    assert options["kafka.sasl.mechanism"] == "SCRAM-SHA-512"
    assert options["kafka.sasl.jaas.config"].endswith('scram.ScramLoginModule required username="u" password="a\\"b\\\\c; d";')


def test_an_encrypted_key_becomes_the_form_that_java_reads(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KEY_PASSWORD", "hunter2")
    issued = trustme.CA().issue_cert("client.example")
    key = load_pem_private_key(issued.private_key_pem.bytes(), None)
    pem = key.private_bytes(Encoding.PEM, PrivateFormat.TraditionalOpenSSL, BestAvailableEncryption(b"hunter2"))
    files = {"ssl_key_file": tmp_path / "key.pem", "ssl_cert_file": tmp_path / "cert.pem"}
    files["ssl_key_file"].write_bytes(pem)
    files["ssl_cert_file"].write_bytes(issued.cert_chain_pems[0].bytes())
    given = {name: str(path) for name, path in files.items()} | {"ssl_key_password": "${env:KEY_PASSWORD}"}
    options = java_options(settings(security_protocol="SSL", ssl_check_hostname=False, **given))
    assert options["kafka.ssl.keystore.key"].startswith("-----BEGIN PRIVATE KEY-----")
    assert options["kafka.ssl.keystore.certificate.chain"] == issued.cert_chain_pems[0].bytes().decode()
    assert options["kafka.ssl.endpoint.identification.algorithm"] == ""
    with pytest.raises(ConfigError, match="cannot be read"):
        java_options(settings(security_protocol="SSL", ssl_ca_file=str(tmp_path / "absent.pem")))


def test_tokens_are_fetched_with_client_credentials(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("S", 'a"b')
    given = {"oauth_token_url": "https://issuer.example/token", "oauth_client_id": "c", "oauth_client_secret": "${env:S}"}
    more: dict[str, Any] = {
        "oauth_scope": "lineage",
        "oauth_extensions": {"logicalCluster": "lkc-1", "identityPoolId": "pool-1"},
        "timeout_s": 3,
    }
    more["properties"] = {"https.ca.location": "/etc/authorities.pem"}
    options = java_options(settings(security_protocol="SASL_SSL", sasl_mechanism="OAUTHBEARER", **given, **more))
    assert options["kafka.sasl.oauthbearer.token.endpoint.url"] == "https://issuer.example/token"
    assert options["kafka.sasl.login.read.timeout.ms"] == options["kafka.sasl.login.connect.timeout.ms"] == "3000"
    words = 'clientId="c" clientSecret="a\\"b" scope="lineage" extension_identityPoolId="pool-1" extension_logicalCluster="lkc-1"'
    words += ' ssl.truststore.type="PEM" ssl.truststore.location="/etc/authorities.pem";'
    assert options["kafka.sasl.jaas.config"].endswith(f"oauthbearer.OAuthBearerLoginModule required {words}")


def test_a_login_that_is_not_translated_is_refused() -> None:
    with pytest.raises(ConfigError, match="does not support GSSAPI"):
        settings(security_protocol="SASL_SSL", sasl_mechanism="GSSAPI")
