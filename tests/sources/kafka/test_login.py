"""Logging in with tokens and by Kerberos."""

import sys
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest
from tests.sources.kafka.identity import CLIENT, SECRET, provider

from lineage_bridge.errors import ConfigError, ForbiddenError, UnreachableError
from lineage_bridge.sources.common.kafka.protocol.login import Tokens, protocol_config, records_config
from lineage_bridge.sources.common.kafka.settings import KafkaSettings
from lineage_bridge.sources.common.settings import SourceContext


def oauth(url: str, **more: Any) -> KafkaSettings:
    settings = {
        "bootstrap_servers": "a:9092",
        "security_protocol": "SASL_PLAINTEXT",
        "sasl_mechanism": "OAUTHBEARER",
        "oauth_token_url": url,
        "oauth_client_id": CLIENT,
        "oauth_client_secret": "${env:LB_TEST_CLIENT}",
        "oauth_scope": "kafka",
    }
    return KafkaSettings(**{**settings, **more})


@pytest.fixture(autouse=True)
def _secret(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LB_TEST_CLIENT", SECRET)


def test_a_token_is_used_until_shortly_before_its_end() -> None:
    now = [0.0]
    with provider() as identity:
        tokens = Tokens(oauth(identity.url), lambda: now[0])
        first = tokens.token()
        now[0] = 3569
        assert tokens.token() == first
        assert identity.asked == [{"grant_type": ["client_credentials"], "scope": ["kafka"]}]
        now[0] = 3571
        tokens.token()
        assert len(identity.asked) == 2
        assert first not in repr([first])


def test_a_client_that_is_refused_is_reported_and_its_secret_is_not(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LB_TEST_CLIENT", "wrong-secret")
    with provider() as identity, pytest.raises(ForbiddenError, match=r"no token \(HTTP 401\)") as refused:
        Tokens(oauth(identity.url)).token()
    assert "wrong-secret" not in f"{refused.value}{refused.value.hint}"


@pytest.mark.parametrize("answer", [b"[]", b'{"access_token": 1}'])
def test_an_answer_without_a_token_is_reported(answer: bytes) -> None:
    with provider() as identity:
        identity.answer = answer
        with pytest.raises(ForbiddenError, match="no token"):
            Tokens(oauth(identity.url)).token()


def test_a_provider_that_does_not_answer_is_reported() -> None:
    with pytest.raises(UnreachableError, match="token endpoint does not answer"):
        Tokens(oauth("http://127.0.0.1:1/token")).token()
    with provider() as identity:
        identity.answer = b"<html>"
        with pytest.raises(UnreachableError, match="token endpoint does not answer"):
            Tokens(oauth(identity.url)).token()


AZURE: dict[str, Any] = {
    "bootstrap_servers": "a:9092",
    "security_protocol": "SASL_PLAINTEXT",
    "sasl_mechanism": "OAUTHBEARER",
    "oauth_identity": "azure",
    "oauth_scope": "https://events.servicebus.windows.net",
    "oauth_client_id": "1234",
}


def test_a_managed_identity_of_azure_gets_a_token_from_the_metadata_service() -> None:
    with provider() as identity:
        token = Tokens(KafkaSettings(**AZURE, oauth_token_url=identity.url)).token()
        assert token.count(".") == 2
        assert identity.asked == [
            {"api-version": ["2018-02-01"], "resource": ["https://events.servicebus.windows.net"], "client_id": ["1234"]}
        ]


def test_a_managed_identity_is_not_used_unless_the_operator_allows_it() -> None:
    withheld = KafkaSettings.model_validate(AZURE, context=SourceContext(withheld=frozenset({"azure"})))
    for ask in (Tokens(withheld).token, lambda: records_config(withheld)):
        with pytest.raises(ConfigError, match="do not allow connections to Kafka to use the credentials of this machine") as refused:
            ask()
        assert "machine_credentials" in refused.value.hint


KERBEROS = KafkaSettings(
    bootstrap_servers="a:9092",
    security_protocol="SASL_PLAINTEXT",
    sasl_mechanism="GSSAPI",
    kerberos_service_name="broker",
    kerberos_principal="bridge@EXAMPLE.ORG",
    kerberos_keytab="/etc/bridge.keytab",
)


def test_kerberos_without_its_package_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "gssapi", None)
    with pytest.raises(ConfigError) as missing:
        protocol_config(KERBEROS)
    assert missing.value.hint == "install it with: pip install gssapi"


def test_kerberos_logs_in_with_the_principal_and_keytab(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[tuple[str, dict[str, Any]]] = []

    class Name:
        def __init__(self, name: str, name_type: str) -> None:
            self.name = f"{name_type}:{name}"

        def __eq__(self, other: object) -> bool:
            return other == self.name

        __hash__ = None  # type: ignore[assignment]  # it is compared only

        def canonicalize(self, mechanism: str) -> str:
            return f"{mechanism} {self.name}"

    def context(**arguments: Any) -> SimpleNamespace:
        asked.append(("context", arguments))
        return SimpleNamespace(step=lambda token: b"first" if token is None else b"next", complete=False)

    def credentials(**arguments: Any) -> str:
        asked.append(("credentials", arguments))
        return "held"

    gssapi = ModuleType("gssapi")
    kinds = SimpleNamespace(hostbased_service="service", kerberos_principal="principal")
    gssapi.__dict__.update(
        Name=Name, NameType=kinds, MechType=SimpleNamespace(kerberos="krb5"), Credentials=credentials, SecurityContext=context
    )
    monkeypatch.setitem(sys.modules, "gssapi", gssapi)
    config = protocol_config(KERBEROS)
    from kafka.net.sasl import get_sasl_mechanism

    mechanism = get_sasl_mechanism("GSSAPI")(host="b1.example.org", **config)
    assert mechanism.auth_bytes() == b"first"
    assert asked == [
        ("credentials", {"name": "principal:bridge@EXAMPLE.ORG", "usage": "initiate", "store": {"client_keytab": "/etc/bridge.keytab"}}),
        ("context", {"name": "krb5 service:broker@b1.example.org", "creds": "held", "usage": "initiate"}),
    ]
