"""The keys of an issuer that fails, lies, or says too much."""

import logging

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from joserfc.jwk import OctKey, RSAKey
from tests.access.oidc.issuing import AUDIENCE, FETCH, Door
from tests.servers.web.openid import made_key

from lineage_bridge.access.oidc.fetching import MOST_BYTES, fetcher
from lineage_bridge.access.oidc.issuer_keys import IssuerKeys
from lineage_bridge.access.oidc.key_set import MOST_KEYS, read_key_set
from lineage_bridge.config.people import ALGORITHMS, IssuerSettings
from lineage_bridge.errors import ConfigError, SourceError

KEY = made_key("ES256", "one")
PUBLIC = KEY.as_dict(private=False)


@pytest.fixture
def front(openid, faulty):
    proxy = faulty(openid.url)
    openid.be(proxy.url, [KEY], "ES256")
    return proxy


@pytest.mark.parametrize("path", ["/.well-known/openid-configuration", "/jwks"])
@pytest.mark.parametrize(
    ("fault", "reason"),
    [
        (lambda proxy, _: proxy.refuse(), "failed"),
        (lambda proxy, path: proxy.cut(path), "failed"),
        (lambda proxy, path: proxy.answer(503, path), "answered 503"),
        (lambda proxy, path: proxy.answer(302, path, headers={"Location": proxy.url + "/jwks"}), "answered 302"),
        (lambda proxy, path: proxy.answer(200, path, body=b"<html>"), "did not return a JSON object"),
        (lambda proxy, path: proxy.answer(200, path, body=b"[" * 100_000), "did not return a JSON object"),
        (lambda proxy, path: proxy.answer(200, path, body=b'{"keys": [' + b" " * (10 << 20) + b"]}"), "more than 1024 KiB"),
    ],
)
def test_the_last_keys_stay_while_new_ones_cannot_be_had(openid, front, fault, reason, path, caplog):
    caplog.set_level(logging.INFO)
    door = Door(front.url)
    assert door.keys.problem == ""
    token = openid.client_token(AUDIENCE)
    fault(front, path)
    for _ in range(3):
        door.keys.refresh()
    assert reason in door.keys.problem
    assert door.open(token)
    assert [record.levelname for record in caplog.records if "'company'" in record.message] == ["INFO", "WARNING"], "each said once"
    front.mend()
    door.keys.refresh()
    assert door.keys.problem == ""
    assert door.open(token)


def test_nothing_is_accepted_before_there_are_keys(openid, front):
    front.answer(503)
    door = Door(front.url)
    token = openid.client_token(AUDIENCE)
    assert door.refusal(token).status == 503
    door.keys.refresh()
    assert door.refusal(token).status == 503, "nobody knows whether the key is the issuer's"
    front.mend()
    door.keys.refresh()
    assert door.open(token)


def test_an_issuer_that_takes_back_all_keys_is_obeyed(openid, front):
    door = Door(front.url)
    token = openid.client_token(AUDIENCE)
    assert door.open(token)
    front.answer(200, "/jwks", body=b'{"keys": []}')
    door.keys.refresh()
    assert door.refusal(token).status == 503
    assert "no key" in door.keys.problem


def test_an_issuer_that_calls_itself_otherwise_is_not_believed(openid, front):
    openid.be("https://other.example", [KEY], "ES256")
    door = Door(front.url)
    assert "calls itself 'https://other.example'" in door.keys.problem


@pytest.mark.parametrize("address", ["http://issuer.example/jwks", "file:///etc/passwd", "", None, 7])
def test_keys_come_over_https_only(address):
    asked = []

    def fetch(url):
        asked.append(url)
        return {"issuer": "https://issuer.example", "jwks_uri": address}

    keys = IssuerKeys("company", IssuerSettings(issuer="https://issuer.example", audience=("x",)), fetch)
    keys.refresh()
    assert "https" in keys.problem
    assert asked == ["https://issuer.example/.well-known/openid-configuration"]


@pytest.mark.parametrize(
    "url", ["http://169.254.169.254/x", "http://[fe80::1%25lo]/x", "http://[::", "https://x.invalid/", "ftp://127.0.0.1/", "x"]
)
def test_addresses_that_are_not_called(url):
    with pytest.raises(SourceError):
        FETCH(url)


def test_a_file_of_authorities_has_to_be_one(tmp_path):
    with pytest.raises(ConfigError, match="authorities"):
        fetcher(str(tmp_path / "none.pem"))


def test_a_document_may_be_as_large_as_the_limit(front):
    front.answer(200, "/large", body=b'{"x": "' + b"a" * (MOST_BYTES - 9) + b'"}')
    assert len(FETCH(front.url + "/large")["x"]) == MOST_BYTES - 9


# Key sets


def kids(*keys, allowed=ALGORITHMS):
    return [key.kid for key in read_key_set({"keys": list(keys)}, allowed).keys]


def test_of_a_key_set_only_what_verifies_signatures_is_read():
    weak = {**PUBLIC, "kty": "RSA", "n": "w" * 171, "e": "AQAB", "alg": "RS256"}
    slow = {**weak, "n": "w" * 2731}
    secret = OctKey.generate_key(256, {"kid": "secret", "alg": "HS256"}).as_dict(private=True)
    others = [{**PUBLIC, "use": "enc"}, {**PUBLIC, "key_ops": ["sign"]}, {**PUBLIC, "alg": "ES384"}, {**PUBLIC, "crv": "secp256k1"}]
    broken = [{**PUBLIC, "x": "AA"}, {**PUBLIC, "x": 7}, {**PUBLIC, "kid": 7}, {**PUBLIC, "key_ops": 7}, {"kty": "EC"}, {}, "x", None]
    assert kids(weak, slow, secret, *others, *broken) == []
    assert kids(weak, PUBLIC, secret) == ["one"]
    assert kids({**PUBLIC, "x5c": [], "x5u": 7, "more": 1}) == ["one"]
    assert kids(PUBLIC, allowed=("RS256",)) == []


def test_a_private_key_that_an_issuer_publishes_by_mistake_is_not_kept():
    (key,) = read_key_set({"keys": [RSAKey.generate_key(2048, {"kid": "x"}).as_dict(private=True)]}, ALGORITHMS).keys
    assert not key.key.is_private


def test_a_key_set_has_a_limit():
    with pytest.raises(SourceError, match=f"the limit is {MOST_KEYS}"):
        read_key_set({"keys": [PUBLIC] * (MOST_KEYS + 1)}, ALGORITHMS)


VALUES: list[object] = [
    None,
    True,
    7,
    -1,
    10**400,
    0.5,
    "",
    "x",
    "å",
    "AQAB",
    "RSA",
    "EC",
    "OKP",
    "oct",
    "P-256",
    "P-384",
    "Ed25519",
    "verify",
    [],
    ["verify"],
    {},
]


@settings(max_examples=300)
@given(st.dictionaries(st.sampled_from([*PUBLIC, "n", "e", "key_ops"]), st.sampled_from(VALUES)))
def test_no_key_is_an_error_of_ours(changes):
    assert kids({**PUBLIC, **changes}) in ([], [changes.get("kid", "one")])


@pytest.mark.parametrize("document", [{}, {"keys": None}, {"keys": {}}])
def test_what_is_no_key_set(document):
    with pytest.raises(SourceError, match="no list"):
        read_key_set(document, ALGORITHMS)
