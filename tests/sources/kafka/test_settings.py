"""What can be set of a cluster, how that is said to the clients, and that secrets stay secrets."""

from typing import Any

import pytest
from pydantic import ValidationError

from lineage_bridge.errors import ConfigError
from lineage_bridge.sources.common.kafka.protocol import login
from lineage_bridge.sources.common.kafka.protocol.fetch import Failures
from lineage_bridge.sources.common.kafka.protocol.login import Hidden, protocol_config, records_config
from lineage_bridge.sources.common.kafka.settings import KafkaSettings
from lineage_bridge.sources.common.observer import Unseen

SASL = {"security_protocol": "SASL_SSL", "sasl_mechanism": "SCRAM-SHA-512", "username": "reader", "password": "${env:LB_TEST_SECRET}"}
OAUTH = {
    "security_protocol": "SASL_SSL",
    "sasl_mechanism": "OAUTHBEARER",
    "oauth_token_url": "https://login.example.org/token",
    "oauth_client_id": "bridge",
    "oauth_client_secret": "${env:LB_TEST_SECRET}",
    "oauth_scope": "kafka",
    "oauth_extensions": {"logicalCluster": "lkc-1", "identityPoolId": "pool-1"},
}


def settings(**stated: Any) -> KafkaSettings:
    return KafkaSettings(**{"bootstrap_servers": "a:9092, b:9093", **stated})


@pytest.fixture(autouse=True)
def _secret(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LB_TEST_SECRET", "s3cret")


def test_the_first_server_names_the_cluster() -> None:
    assert (settings().bootstrap_servers, settings().server, settings().address) == ("a:9092,b:9093", "a:9092", "a:9092")
    assert settings(bootstrap_servers="[::1]:9092").server == "[::1]:9092"


@pytest.mark.parametrize(
    "stated",
    [
        {"bootstrap_servers": "a"},
        {"bootstrap_servers": "SASL_SSL://a:9092"},
        {"bootstrap_servers": ""},
        {"security_protocol": "SASL_SSL"},
        {"sasl_mechanism": "PLAIN"},
        {**SASL, "username": ""},
        {**SASL, "password": "s3cret"},
        {**OAUTH, "oauth_token_url": None},
        {"ssl_ca_file": "ca.pem"},
        {"security_protocol": "SSL", "ssl_key_file": "key.pem"},
        {"properties": {"sasl.password": "s3cret"}},
        {"properties": {"ssl.key.pem": "s3cret"}},
        {"properties": {"ssl.keystore.password": "s3cret"}},
        {"properties": {"sasl.oauthbearer.client.secret": "s3cret"}},
    ],
)
def test_what_cannot_be_meant_is_refused(stated: dict[str, Any]) -> None:
    with pytest.raises(ValidationError) as refused:
        settings(**stated)
    assert "s3cret" not in str(refused.value.errors(include_input=False))


def test_a_user_and_password_reach_both_clients() -> None:
    ours = settings(**SASL)
    protocol, records = protocol_config(ours), records_config(ours)
    assert (protocol["sasl_mechanism"], protocol["sasl_plain_username"], protocol["sasl_plain_password"]) == (
        "SCRAM-SHA-512",
        "reader",
        "s3cret",
    )
    assert (records["sasl.mechanism"], records["sasl.username"], records["sasl.password"]) == ("SCRAM-SHA-512", "reader", "s3cret")
    assert protocol["ssl_context"].check_hostname


def test_a_configuration_in_a_log_shows_no_secret() -> None:
    assert "s3cret" not in f"{protocol_config(settings(**SASL))}{records_config(settings(**SASL))}{records_config(settings(**OAUTH))}"
    assert f"{Hidden('s3cret')}" == "s3cret"


def test_a_client_of_an_identity_provider_reaches_librdkafka() -> None:
    records = records_config(settings(**OAUTH))
    properties = {name: value for name, value in records.items() if name.startswith("sasl.oauthbearer")}
    assert properties == {
        "sasl.oauthbearer.method": "oidc",
        "sasl.oauthbearer.token.endpoint.url": "https://login.example.org/token",
        "sasl.oauthbearer.client.id": "bridge",
        "sasl.oauthbearer.client.secret": "s3cret",
        "sasl.oauthbearer.scope": "kafka",
        "sasl.oauthbearer.extensions": "identityPoolId=pool-1,logicalCluster=lkc-1",
    }
    provider = protocol_config(settings(**OAUTH))["sasl_oauth_token_provider"]
    assert provider.extensions() == {"logicalCluster": "lkc-1", "identityPoolId": "pool-1"}


def test_a_principal_of_kerberos_reaches_librdkafka(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(login, "check_kerberos", lambda: None)  # PyPI's librdkafka has none
    kerberos = settings(
        security_protocol="SASL_PLAINTEXT",
        sasl_mechanism="GSSAPI",
        kerberos_service_name="broker",
        kerberos_principal="bridge@EXAMPLE.ORG",
        kerberos_keytab="/etc/bridge.keytab",
    )
    properties = {name: value for name, value in records_config(kerberos).items() if name.startswith("sasl.kerberos")}
    assert properties == {
        "sasl.kerberos.service.name": "broker",
        "sasl.kerberos.principal": "bridge@EXAMPLE.ORG",
        "sasl.kerberos.keytab": "/etc/bridge.keytab",
    }


def test_further_properties_reach_the_clients_and_their_secrets_are_revealed() -> None:
    more = settings(properties={"client.id": "mine", "ssl.keystore.password": "${env:LB_TEST_SECRET}", "log.connection.close": "false"})
    assert protocol_config(more)["client_id"] == "mine"
    records = records_config(more)
    assert (records["client.id"], records["ssl.keystore.password"], records["log.connection.close"]) == ("mine", "s3cret", "false")


def test_a_key_that_cannot_be_read_is_reported() -> None:
    with pytest.raises(ConfigError, match="No such file"):
        protocol_config(settings(security_protocol="SSL", ssl_ca_file="/nowhere/ca.pem"))


def test_failures_of_one_name_are_reported_as_one() -> None:
    failures = Failures()
    failures.add_listing("topics: offsets", "no answer")
    failures.add_listing("topics: offsets", "no answer again")
    for topic in ("d", "a", "c", "b", "a"):
        failures.add_name("topics: offsets", 29, topic)
    failures.add_name("groups: members", "too old", "readers")
    assert failures.unseen() == (
        Unseen("groups: members", "too old (1: readers)"),
        Unseen("topics: offsets", "no answer; TopicAuthorizationFailedError (4: a, b, c, ...)"),
    )
