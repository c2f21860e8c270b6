"""Access tokens of a real OpenID provider, and forgeries of them."""

import hashlib
import hmac
import json
import time
from base64 import urlsafe_b64decode

import pytest
from cryptography.hazmat.primitives.asymmetric.padding import PKCS1v15
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey
from cryptography.hazmat.primitives.hashes import SHA256
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from joserfc.jwk import RSAKey
from tests.access.oidc.issuing import AUDIENCE, Door, base64url, claims_of, signed
from tests.servers.web.openid import made_key

from lineage_bridge.access.oidc.issuer_keys import LEAST_S
from lineage_bridge.access.oidc.signatures import MOST_CHARACTERS
from lineage_bridge.config.people import RoleSettings
from lineage_bridge.errors import RefusedError
from lineage_bridge.model.access import AccessScope, Principal

BARE = Door("http://127.0.0.1:9")
"""An issuer that does not answer."""
KEY, OTHER = made_key("RS256", "one"), made_key("RS256", "two")
READ, OPERATE, INGEST = AccessScope.READ, AccessScope.OPERATE, AccessScope.INGEST


@pytest.fixture
def front(openid, faulty):
    """The way to the provider, which is the issuer there, with one key."""
    proxy = faulty(openid.url)
    openid.be(proxy.url, [KEY])
    return proxy


@pytest.fixture
def live(front):
    """What knows the provider as an issuer."""
    return Door(front.url)


@pytest.fixture(scope="module")
def door(openid):
    """What knows an issuer whose key is `KEY`."""
    openid.be(openid.url, [KEY])
    return Door(openid.url)


def key_sets(front) -> int:
    return int(front.requests.count("GET /jwks"))


# Who is known


def test_a_program_s_token_gives_what_its_group_may(openid, live):
    principal = live.open(openid.client_token(AUDIENCE))
    assert principal == Principal("company:orders-job#orders-job", frozenset({INGEST}), ("orders-*",))


def test_a_person_s_token_gives_what_the_groups_may(openid, live):
    access, _ = openid.person_tokens("data-ada", AUDIENCE)
    assert live.open(access) == Principal("company:data-ada#data-ada", frozenset({READ, OPERATE}))


def test_an_id_token_opens_nothing(openid, front):
    _, id_token = openid.person_tokens("data-ada", AUDIENCE)
    error = Door(front.url, {"audience": "page"}).refusal(id_token)
    assert (error.status, error.code) == (401, "invalid_token")
    assert "ID token" in str(error)


def test_a_token_for_another_server_is_refused(openid, live):
    error = live.refusal(openid.client_token("https://other.example"))
    assert (error.status, error.code) == (401, "invalid_token")
    assert 'error="invalid_token"' in error.challenge


@pytest.mark.parametrize("algorithm", ["PS384", "ES256", "ES384", "ES512", "EdDSA"])
def test_each_kind_of_key_verifies(openid, faulty, algorithm):
    proxy = faulty(openid.url)
    openid.be(proxy.url, [made_key(algorithm, "its")], algorithm)
    token = openid.client_token(AUDIENCE)
    assert Door(proxy.url).open(token)
    narrow = Door(proxy.url, {"algorithms": ["RS256"]})
    assert "algorithm" in str(narrow.refusal(token))


def test_other_credentials_are_not_its_business(door):
    for text in ("", "Basic YTpi", "Bearer ", "Bearer lb_aaaaaaaa_b", "Bearer a.b.c.d.e", "Bearer a.b"):
        assert door.authenticator.authenticate({"authorization": text}, "10.1.2.3") is None
    assert door.authenticator.authenticate({}, "10.1.2.3") is None


# Time


def test_a_token_works_until_it_is_over_whether_or_not_it_came_before(openid, live):
    fresh, used = openid.client_token(AUDIENCE), openid.client_token(AUDIENCE)
    assert live.open(used) == live.open(used)
    live.clock.ahead_s = 600
    assert live.open(used), "within the clock skew"
    live.clock.ahead_s = 600 + 61
    assert {live.refusal(token).code for token in (fresh, used)} == {"expired_token"}


def test_the_clock_skew_is_a_setting(openid, front):
    door = Door(front.url, {"clock_skew_s": 0})
    token = openid.client_token(AUDIENCE)
    door.clock.ahead_s = -5
    assert "future" in str(door.refusal(token))
    door.clock.ahead_s = 1
    assert door.open(token)
    door.clock.ahead_s = 601
    assert door.refusal(token).code == "expired_token"


# Claims

NOW = int(time.time())


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({"exp": None}, "invalid_token"),
        ({"exp": True}, "invalid_token"),
        ({"exp": "9999999999"}, "invalid_token"),
        ({"exp": float("nan")}, "invalid_token"),
        ({"exp": float("inf")}, "invalid_token"),
        ({"exp": NOW - 61}, "expired_token"),
        ({"nbf": NOW + 3600}, "invalid_token"),
        ({"iat": NOW + 3600}, "invalid_token"),
        ({"aud": None}, "invalid_token"),
        ({"aud": []}, "invalid_token"),
        ({"aud": AUDIENCE + "/"}, "invalid_token"),
        ({"aud": {AUDIENCE: 1}}, "invalid_token"),
        ({"sub": None}, "invalid_token"),
        ({"sub": ""}, "invalid_token"),
        ({"sub": 7}, "invalid_token"),
        ({"sub": "x" * 256}, "invalid_token"),
        ({"sub": "a\nb"}, "invalid_token"),
        ({"sub": "å"}, "invalid_token"),
        ({"jti": None}, "invalid_token"),
        ({"client_id": None}, "invalid_token"),
        ({"iss": None}, "unknown_issuer"),
        ({"iss": ["x"]}, "unknown_issuer"),
        ({"cnf": {"jkt": "x"}}, "invalid_token"),
        ({"events": {}}, "invalid_token"),
    ],
)
def test_claims_that_are_refused(door, changes, code):
    claims = claims_of(door.url, **changes)
    assert door.refusal(signed(KEY, claims)).code == code
    assert door.open(signed(KEY, claims_of(door.url)))


@pytest.mark.parametrize(
    "changes", [{"aud": ["x", AUDIENCE]}, {"exp": NOW + 10**9}, {"exp": NOW + 10**6 + 0.5}, {"nbf": NOW}, {"azp": "any"}]
)
def test_claims_that_are_accepted(door, changes):
    assert door.open(signed(KEY, claims_of(door.url, **changes)))


@pytest.mark.parametrize("issuer", ["/", "x", "?"])
def test_an_issuer_is_itself_to_the_letter(door, issuer):
    assert door.refusal(signed(KEY, claims_of(door.url + issuer))).code == "unknown_issuer"


@pytest.mark.parametrize(
    ("typ", "changes", "is_accepted"),
    [
        ("at+jwt", {"nonce": "x"}, True),
        ("application/at+jwt", {}, True),
        ("AT+JWT", {}, True),
        ("JWT", {}, True),
        (None, {}, True),
        ("JWT", {"client_id": None, "jti": None}, True),
        (None, {"nonce": "x"}, False),
        ("JWT", {"at_hash": "x"}, False),
        ("JWT", {"typ": "Bearer", "nonce": "x"}, True),
        ("JWT", {"typ": "ID"}, False),
        ("JWT", {"typ": "Refresh"}, False),
        ("JWT", {"typ": "Bearer", "cnf": {}}, False),
        ("JWT", {"token_use": "access"}, True),
        ("JWT", {"token_use": "id"}, False),
        ("logout+jwt", {}, False),
        ("dpop+jwt", {}, False),
        ("secevent+jwt", {}, False),
        ("", {}, False),
    ],
)
def test_only_access_tokens_count(door, typ, changes, is_accepted):
    token = signed(KEY, claims_of(door.url, **changes), typ=typ)
    if is_accepted:
        assert door.open(token)
    else:
        assert door.refusal(token).code == "invalid_token"


def test_only_tokens_of_the_listed_applications_count_if_there_are_any(door):
    door = door.like({"clients": ["page"]})
    assert door.open(signed(KEY, claims_of(door.url)))
    assert door.open(signed(KEY, claims_of(door.url, client_id="x", azp="page")))
    assert "application" in str(door.refusal(signed(KEY, claims_of(door.url, client_id="x"))))


# Names and roles


@pytest.mark.parametrize(
    ("claim", "changes", "name"),
    [
        ("preferred_username", {"preferred_username": "ada"}, "company:ada#8f2c"),
        ("preferred_username", {}, "company:#8f2c"),
        ("preferred_username", {"preferred_username": ["ada"]}, "company:#8f2c"),
        ("sub", {"preferred_username": "ada"}, "company:#8f2c"),
        ("email", {"email": "ada@company.example"}, "company:ada@company.example#8f2c"),
        ("preferred_username", {"preferred_username": "Åda Løv"}, "company:Åda_Løv#8f2c"),
        ("preferred_username", {"preferred_username": "eve#8f2c\nadmin:x"}, "company:eve_8f2c_admin_x#8f2c"),
    ],
)
def test_a_name_leads_back_to_issuer_and_subject(door, claim, changes, name):
    principal = door.like({"name_claim": claim}).open(signed(KEY, claims_of(door.url, **changes)))
    assert principal
    assert principal.name == name


@pytest.mark.parametrize(
    ("claim", "changes", "scopes"),
    [
        ("groups", {"groups": ["data", "unknown"]}, {READ, OPERATE}),
        ("groups", {"groups": ["data", "orders"]}, {READ, OPERATE, INGEST}),
        ("scope", {"scope": "openid data"}, {READ, OPERATE}),
        ("realm_access.roles", {"realm_access": {"roles": ["data"]}}, {READ, OPERATE}),
        ("https://company.example/roles", {"https://company.example/roles": ["data"]}, {READ, OPERATE}),
        ("groups", {"groups": [7, None, ["data"]]}, set()),
        ("groups", {"groups": {"data": 1}}, set()),
        ("groups.x", {"groups": "data"}, set()),
        ("groups", {}, set()),
    ],
)
def test_roles_come_from_the_claim_of_the_settings(door, claim, changes, scopes):
    principal = door.like({"roles_claim": claim}).open(signed(KEY, claims_of(door.url, **changes)))
    assert principal
    assert principal.scopes == scopes


def test_a_role_of_everybody_is_that_of_who_has_no_other(door):
    door = door.like({}, roles={"*": RoleSettings(scopes=("read",))})
    assert door.open(signed(KEY, claims_of(door.url))) == Principal("company:#8f2c", frozenset({READ}))


# Forgeries


def hmac_signed(secret: bytes, header: dict, claims: dict) -> str:
    text = f"{base64url(json.dumps(header).encode())}.{base64url(json.dumps(claims).encode())}"
    return f"{text}.{base64url(hmac.digest(secret, text.encode(), hashlib.sha256))}"


def test_a_token_that_nobody_signed_is_refused(door):
    for name in ("none", "None", "NONE", ""):
        head, body = (base64url(json.dumps(part).encode()) for part in ({"alg": name, "kid": "one"}, claims_of(door.url)))
        for signature in ("", signed(KEY, claims_of(door.url)).rpartition(".")[2]):
            assert door.refusal(f"{head}.{body}.{signature}").status == 401


def test_a_public_key_is_no_shared_secret(door):
    public = KEY.as_dict(private=False)
    secrets = (KEY.as_pem(private=False), KEY.as_pem(private=False).strip(), str(public["n"]).encode(), json.dumps(public).encode())
    for secret in secrets:
        token = hmac_signed(secret, {"alg": "HS256", "kid": "one", "typ": "at+jwt"}, claims_of(door.url))
        assert "algorithm" in str(door.refusal(token))


@pytest.mark.parametrize(
    "header", [{"jwk": OTHER.as_dict(private=False)}, {"jku": "https://evil.example/jwks"}, {"x5u": "https://evil.example"}]
)
def test_a_key_that_the_token_brings_itself_counts_for_nothing(live, front, header):
    asked = len(front.requests)
    for kid in ("one", None):
        assert live.refusal(signed(OTHER, claims_of(live.url), kid=kid, **header)).status == 401
    assert front.requests[asked:] == []


@pytest.mark.parametrize("header", [{"crit": ["exp"], "exp": 1}, {"crit": []}, {"crit": 7}, {"b64": False, "crit": ["b64"]}, {"b64": True}])
def test_what_a_token_declares_critical_is_not_understood(door, header):
    def rsa_signed(more: dict) -> str:
        parts = {"alg": "RS256", "kid": "one", "typ": "at+jwt", **more}, claims_of(door.url)
        text = ".".join(base64url(json.dumps(part).encode()) for part in parts)
        assert isinstance(KEY.private_key, RSAPrivateKey)
        return f"{text}.{base64url(KEY.private_key.sign(text.encode(), PKCS1v15(), SHA256()))}"

    assert door.open(rsa_signed({}))
    assert door.refusal(rsa_signed(header)).status == 401


def test_a_key_works_with_its_own_algorithm_only(openid, faulty):
    proxy = faulty(openid.url)
    elliptic = made_key("ES256", "two")
    openid.be(proxy.url, [KEY, elliptic])
    door = Door(proxy.url)
    assert door.open(signed(elliptic, claims_of(door.url)))
    for kid, algorithm in (("one", "ES256"), ("two", "RS256"), ("two", "ES384"), ("one", "EdDSA"), ("one", "PS256")):
        header = base64url(json.dumps({"alg": algorithm, "kid": kid}).encode())
        _, body, signature = signed(elliptic, claims_of(door.url)).split(".")
        assert door.refusal(f"{header}.{body}.{signature}").status == 401


def test_a_key_that_is_for_one_algorithm_signs_with_no_other(door):
    material = {name: value for name, value in KEY.as_dict(private=True).items() if name != "alg"}
    token = signed(RSAKey.import_key(material), claims_of(door.url), alg="PS256", kid="one")
    assert "algorithm" in str(door.refusal(token))


def test_a_key_of_one_issuer_signs_for_no_other(openid, live, faulty):
    other = faulty(openid.url)
    openid.be(other.url, [OTHER])
    token = signed(OTHER, claims_of(live.url), kid="one")
    assert "signature" in str(live.refusal(token))


def test_a_changed_token_is_refused(openid, live):
    token = openid.client_token(AUDIENCE)
    head, body, signature = token.split(".")
    changed = {**json.loads(urlsafe_b64decode(body + "==")), "groups": ["data"]}
    forged = [f"{head}.{base64url(json.dumps(changed).encode())}.{signature}", f"{head}.{body}.{signature[:-4]}AAAA", f"{head}.{body}."]
    forged += [f".{body}.{signature}", f"{head}..{signature}", f"{head}.{body}.{signature}A", f"{head}.{body}.{signature}=="]
    for text in forged:
        assert live.refusal(text).status == 401
    assert live.open(token)


def test_nonsense_is_refused(door):
    deep = base64url(b"[" * 10_000)
    heads = [base64url(text) for text in (b"[]", b'["alg"]', b"7", b'"alg"', b"{}", b'{"alg": 7}', b'{"alg": "RS256", "kid": 7}', b"\xff")]
    body = base64url(json.dumps(claims_of(door.url)).encode())
    texts = [f"{head}.{body}.AAAA" for head in heads] + [f"{deep}.{body}.AAAA", "..", "a.b.c", "å.å.å"]
    good = base64url(b'{"alg": "RS256", "kid": "one"}')
    texts += [f"{good}.{base64url(text)}.AAAA" for text in (b"[]", b"7", b'["iss"]', b'{"iss": 1' + b"0" * 5000 + b"}", b"\xff")]
    for text in [*texts, f"{good}.{deep}.AAAA"]:
        assert door.refusal(text).status == 401


PARTS = st.one_of(st.text(max_size=20), st.binary(max_size=20).map(base64url), st.sampled_from(["e30", "W10", "bnVsbA", "eyJhbGciOjd9"]))


@settings(max_examples=50)
@given(st.tuples(PARTS, PARTS, PARTS))
def test_no_text_is_an_error_of_ours(parts):
    assume(not any("." in part for part in parts))
    assert BARE.refusal(".".join(parts)).status == 401


def test_a_huge_token_is_not_read(door):
    claims = claims_of(door.url, groups=["x" * 100] * 200)
    error = door.refusal(signed(KEY, claims))
    assert error.code == "malformed_token"
    assert f"{MOST_CHARACTERS:,}" in str(error)
    assert door.open(signed(KEY, claims_of(door.url, groups=["x" * 100] * 100)))


# Keys


def test_a_token_of_a_new_key_is_accepted_once_the_key_set_was_fetched_again(openid, front, live):
    old = openid.client_token(AUDIENCE)
    assert live.open(old)
    openid.be(front.url, [OTHER, KEY])
    new = openid.client_token(AUDIENCE)
    error = live.refusal(new)
    assert (error.status, error.code) == (503, "key_not_known_yet")
    live.keys.refresh()
    assert live.open(new)
    assert live.open(old)
    openid.be(front.url, [OTHER])
    live.keys.refresh()
    assert live.refusal(old).code == "key_not_known_yet"
    live.keys.refresh()
    assert live.refusal(old).code == "unknown_key"
    assert live.open(new)


def test_a_key_that_the_issuer_has_not_is_refused_for_good_by_the_next_key_set(live):
    forged = signed(OTHER, claims_of(live.url))
    assert [live.refusal(forged).status for _ in range(3)] == [503] * 3
    live.keys.refresh()
    assert live.refusal(forged).code == "unknown_key"


def test_unknown_keys_cause_no_storm_of_requests(front, live):
    began = time.monotonic()
    live.keys.start()
    front.wait_for("GET /jwks", after=front.wait_for("GET /jwks"))
    for number in range(300):
        assert live.refusal(signed(KEY, claims_of(live.url), kid=f"k{number}")).status == 503
    assert key_sets(front) <= 3 + (time.monotonic() - began) // LEAST_S
    live.keys.close()


def test_a_thread_follows_the_issuer_s_keys(openid, front):
    door = Door(front.url, least_s=0.01)
    door.keys.start()
    openid.be(front.url, [OTHER])
    new = openid.client_token(AUDIENCE)
    deadline = time.monotonic() + 60
    while new_key_is_unknown(door, new):
        assert time.monotonic() < deadline
    door.keys.close()
    assert door.open(new)


def new_key_is_unknown(door, token) -> bool:
    try:
        return door.open(token) is None
    except RefusedError as error:
        return error.status == 503


def test_a_token_without_a_key_id_is_for_the_one_key(openid, front, live):
    token = signed(KEY, claims_of(live.url), kid=None)
    assert live.open(token)
    openid.be(front.url, [OTHER, KEY])
    live.keys.refresh()
    assert "one key" in str(live.refusal(token))
