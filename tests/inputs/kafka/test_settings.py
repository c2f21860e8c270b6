"""Each setting of an input that reads Kafka changes what its client is told; what contradicts another is refused."""

from typing import Any

import pytest
from pydantic import ValidationError

from lineage_bridge.errors import ConfigError
from lineage_bridge.inputs.kafka.settings import KafkaInputSettings, consumer_config
from lineage_bridge.inputs.kinds import KINDS
from lineage_bridge.sources.common.kafka.protocol import login

BASE: dict[str, Any] = {"bootstrap_servers": "127.0.0.1:9092", "topics": ["lineage"]}
SASL = {"security_protocol": "SASL_SSL"}
AZURE = {"sasl_mechanism": "OAUTHBEARER", "oauth_identity": "azure", "oauth_scope": "s"}


def config(**settings: Any) -> dict[str, Any]:
    return consumer_config(KafkaInputSettings(**{**BASE, **settings}), "group")


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ({}, {"group.id": "group", "enable.auto.commit": False, "auto.offset.reset": "error", "isolation.level": "read_committed"}),
        ({"session_timeout_s": 20}, {"session.timeout.ms": 20_000, "heartbeat.interval.ms": 3000}),
        ({"session_timeout_s": 3}, {"session.timeout.ms": 3000, "heartbeat.interval.ms": 1000}),
        ({"session_timeout_s": 900}, {"session.timeout.ms": 900_000, "max.poll.interval.ms": 900_000}),
        ({"timeout_s": 4}, {"socket.timeout.ms": 4000, "socket.connection.setup.timeout.ms": 4000}),
        (
            {"properties": {"client.id": "mine", "queued.max.messages.kbytes": "99"}},
            {"client.id": "mine", "queued.max.messages.kbytes": "99"},
        ),
        ({"security_protocol": "SSL", "ssl_ca_pem": "CA", "ssl_check_hostname": False}, {"ssl.ca.pem": "CA"}),
        (
            {"security_protocol": "SASL_SSL", "sasl_mechanism": "GSSAPI", "kerberos_principal": "me", "kerberos_keytab": "/k"},
            {"sasl.mechanism": "GSSAPI", "sasl.kerberos.principal": "me", "sasl.kerberos.keytab": "/k"},
        ),
        (
            {
                "security_protocol": "SASL_PLAINTEXT",
                "sasl_mechanism": "OAUTHBEARER",
                "oauth_token_url": "http://127.0.0.1:9/token",
                "oauth_client_id": "id",
                "oauth_client_secret": "${env:LB_TEST_CLIENT}",
                "oauth_scope": "kafka",
            },
            {"sasl.oauthbearer.method": "oidc", "sasl.oauthbearer.client.secret": "s3cret", "sasl.oauthbearer.scope": "kafka"},
        ),
        (
            {
                "security_protocol": "SASL_SSL",
                "sasl_mechanism": "OAUTHBEARER",
                "oauth_identity": "azure",
                "oauth_scope": "api://a,b",
                "oauth_client_id": "id",
            },
            {
                "sasl.oauthbearer.method": "oidc",
                "sasl.oauthbearer.metadata.authentication.type": "azure_imds",
                "sasl.oauthbearer.config": "query=api-version=2018-02-01&resource=api%3A%2F%2Fa%2Cb&client_id=id",
            },
        ),
    ],
)
def test_settings_reach_the_client(settings: dict[str, Any], expected: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LB_TEST_CLIENT", "s3cret")
    monkeypatch.setattr(login, "check_kerberos", lambda: None)  # PyPI's librdkafka has none
    found = config(**settings)
    assert {name: found[name] for name in expected} == expected


@pytest.mark.parametrize(
    ("settings", "reason"),
    [
        ({"topics": []}, "at least one topic"),
        ({"topics": [""]}, "at least one topic"),
        ({"start": "yesterday"}, "earliest, latest, or a time"),
        ({"expired": "never"}, "expired"),
        ({"properties": {"group.id": "x"}}, "group.id cannot be set in"),
        ({"properties": {"isolation.level": "read_uncommitted"}}, "isolation.level cannot be set in"),
        ({"properties": {"sasl.password": "plain"}}, "must be a reference"),
        ({"password": "plain"}, "must be a reference"),
        ({"ssl_ca_pem": "CA"}, "`security_protocol` SSL"),
        ({"security_protocol": "SSL", "ssl_cert_pem": "C"}, "ssl_key_pem"),
        ({"security_protocol": "SASL_SSL"}, "sasl_mechanism"),
        ({"namespaces": [""]}, "none of them empty"),
        ({"batch_records": 0}, "batch_records"),
        ({"groups": ["x"]}, "groups"),
        ({"properties": {"sasl.oauthbearer.assertion.file": "/etc/passwd"}}, "a file to send"),
        ({"properties": {"sasl.oauthbearer.assertion.jwt.template.file": "/etc/passwd"}}, "a file to send"),
        ({"properties": {"sasl.oauthbearer.assertion.private.key.file": "/etc/key.pem"}}, "a file to send"),
        ({**SASL, "sasl_mechanism": "OAUTHBEARER", "oauth_token_url": "http://b/"}, "or `oauth_identity`"),
        ({**SASL, "sasl_mechanism": "OAUTHBEARER", "oauth_identity": "azure"}, "requires OAUTHBEARER and `oauth_scope`"),
        ({"oauth_identity": "azure", "oauth_scope": "s"}, "requires OAUTHBEARER and `oauth_scope`"),
        ({**SASL, **AZURE, "oauth_client_secret": "${env:S}"}, "has no `oauth_client_secret`"),
        ({**SASL, **AZURE, "form": "stream"}, "form `stream` does not support `oauth_identity`"),
    ],
)
def test_what_cannot_be_is_refused(settings: dict[str, Any], reason: str) -> None:
    with pytest.raises(ValidationError, match=reason):
        KafkaInputSettings(**{**BASE, **settings})


def test_kerberos_without_a_librdkafka_that_has_it_says_so() -> None:
    made: Any = KINDS.make("events", "kafka", {**BASE, **SASL, "sasl_mechanism": "GSSAPI"})
    with pytest.raises(ConfigError, match=r"built without Kerberos \(GSSAPI\)") as refused:
        list(made.test(lambda _: ""))
    assert "install confluent-kafka from its source" in refused.value.hint


def test_the_group_is_this_installations_and_this_inputs() -> None:
    made: Any = KINDS.make("events", "kafka", BASE, installation="0123456789")
    assert made.group == "lineage-bridge-events-01234567"
    named: Any = KINDS.make("events", "kafka", {**BASE, "group": "mine"}, installation="0123456789")
    assert named.group == "mine"


def test_an_error_names_the_input_and_the_setting() -> None:
    with pytest.raises(ConfigError, match=r"input events \(kafka\): setting start: use earliest") as error:
        KINDS.make("events", "kafka", {**BASE, "start": "x"})
    assert "input kinds kafka" in error.value.hint
    with pytest.raises(ConfigError, match="unknown kind of input 'kinesys'"):
        KINDS.make("events", "kinesys", {})
