"""Logins by themselves: an issuer whose answers a test writes, and a clock."""

import dataclasses
import secrets
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from tests.access.oidc.issuing import Clock, claims_of, signed
from tests.servers.web.openid import Key, made_key

from lineage_bridge.access.browsers.code_exchange import LoginClient
from lineage_bridge.access.browsers.logins import PENDING_S, IssuerAnswer, Logins, LoginStart
from lineage_bridge.access.browsers.targets import target_of
from lineage_bridge.access.oidc.endpoints import IssuerEndpoints, read_endpoints
from lineage_bridge.access.oidc.fetching import IssuerClient
from lineage_bridge.access.oidc.id_tokens import half_hash
from lineage_bridge.access.oidc.issuer_keys import IssuerKeys, TrustedIssuer
from lineage_bridge.access.oidc.key_set import read_key_set
from lineage_bridge.access.roles import Roles
from lineage_bridge.config.external import ExternalAddress
from lineage_bridge.config.people import ALGORITHMS, IssuerSettings, RoleSettings
from lineage_bridge.errors import ForbiddenError, RefusedError, UnreachableError

URL, BACK = "https://issuer.example", "https://lineage.example/auth/callback"
KEY, OTHER = made_key("RS256", "one"), made_key("RS256", "one")
SETTINGS = IssuerSettings(issuer=URL, audience=("api",), client_id="lineage")
HERE = IssuerEndpoints("k", f"{URL}/auth", f"{URL}/token", f"{URL}/me", names_itself=True)
ROLES = Roles({"data": RoleSettings(scopes=("read",))}, ["company"])


class Answers(IssuerClient):
    """The issuer: it gives the tokens that a test wrote, for any code, and takes notes."""

    def __init__(self) -> None:
        super().__init__("")
        self.tokens: Any = {}
        self.information: Any = {"sub": "8f2c"}
        self.posted: list[tuple[dict[str, str], Any]] = []

    def post(self, url: str, form: Any, auth: Any = None) -> dict[str, Any]:
        assert url == HERE.token
        self.posted.append((dict(form), auth))
        if isinstance(self.tokens, Exception):
            raise self.tokens
        return dict(self.tokens)

    def get(self, url: str, token: str = "") -> dict[str, Any]:
        assert (url, token) == (HERE.userinfo, "access")
        if isinstance(self.information, Exception):
            raise self.information
        return dict(self.information)


class Company:
    """A login at an issuer. `finish` ends it as the browser would, with what the issuer answers by then."""

    def __init__(self, endpoints: IssuerEndpoints | None = HERE, secret: str = "", key: Key = KEY) -> None:
        self.http, self.clock = Answers(), Clock()
        self.documents: list[dict[str, Any]] = []
        keys = IssuerKeys("company", SETTINGS, self._document)
        keys.keys = read_key_set({"keys": [key.as_dict(private=False)]}, ALGORITHMS)
        keys.endpoints = endpoints
        self.issuer = TrustedIssuer("company", SETTINGS, keys)
        self.client = LoginClient(self.issuer, self.http, secret)
        self.logins = Logins([self.client], ROLES, BACK, self.clock, secrets.token_bytes)

    def _document(self, url: str) -> dict[str, Any]:
        if not self.documents:
            raise UnreachableError(url)
        return self.documents.pop(0)

    def begin(self) -> LoginStart:
        return self.logins.begin("company", "/docs")

    def id_token(self, begun: LoginStart, key: Key = KEY, header: Any = None, **changes: Any) -> str:
        nonce = parse_qs(urlsplit(begun.url).query)["nonce"][0]
        claims = claims_of(
            URL, **{"aud": "lineage", "nonce": nonce, "client_id": None, "jti": None, "preferred_username": "ada", **changes}
        )
        return signed(key, claims, **{"typ": "JWT", **(header or {})})

    def finish(self, begun: LoginStart, **tokens: Any) -> Any:
        self.http.tokens = {"access_token": "access", **tokens}
        return self.logins.finish(IssuerAnswer(begun.state, "code", URL, None), begun.sealed)

    def refusal(self, begun: LoginStart, **tokens: Any) -> tuple[int, str, str]:
        with pytest.raises(RefusedError) as caught:
            self.finish(begun, **tokens)
        return caught.value.status, caught.value.code, str(caught.value)


def test_whoever_logs_in_is_named_as_with_an_access_token():
    company = Company()
    begun = company.begin()
    company.http.information = {"sub": "8f2c", "groups": ["data", "sales"], "preferred_username": "somebody else"}
    at_hash = half_hash("RS256", "access")
    identity, target = company.finish(begun, id_token=company.id_token(begun, at_hash=at_hash))
    assert (identity.principal, identity.issuer, identity.roles, target) == ("company:ada#8f2c", "company", ("data",), "/docs")
    (form, auth) = company.http.posted[0]
    assert (form["client_id"], form["redirect_uri"], len(form["code_verifier"]), auth) == ("lineage", BACK, 43, None)
    assert "client_secret" not in form


def test_a_secret_is_sent_as_the_issuer_takes_it():
    for takes_basic, expected in ((True, ("lineage", "a%3Ab+c")), (False, None)):
        company = Company(dataclasses.replace(HERE, takes_basic=takes_basic), "a:b c")
        begun = company.begin()
        company.finish(begun, id_token=company.id_token(begun, groups=["data"]))
        form, auth = company.http.posted[0]
        assert auth == expected
        assert form.get("client_secret") == (None if takes_basic else "a:b c")
        assert "a:b c" not in repr(company.client)


@pytest.mark.parametrize(
    "changes",
    [
        {"nonce": "x" * 43},
        {"nonce": None},
        {"nonce": 1},
        {"aud": "api"},
        {"aud": ["lineage", "api"]},
        {"azp": "page"},
        {"iss": "https://evil.example"},
        {"exp": 1},
        {"exp": None},
        {"iat": None},
        {"sub": None},
        {"sub": "x" * 300},
        {"at_hash": half_hash("RS256", "another")},
        {"at_hash": 1},
        {"header": {"typ": "at+jwt"}},
        {"header": {"typ": "logout+jwt"}},
        {"key": OTHER},
        {"key": made_key("ES256", "one")},
    ],
)
def test_an_id_token_that_is_not_for_this_login_is_refused(changes):
    company = Company()
    begun = company.begin()
    assert company.refusal(begun, id_token=company.id_token(begun, groups=["data"], **changes))[:2] == (403, "login_refused")


def test_a_token_that_nobody_signed_is_refused():
    company = Company()
    for text in ("", "x", "a.b.c", None, 1, "x" * 20_000):
        assert company.refusal(company.begin(), id_token=text)[:2] == (403, "login_refused")
    begun = company.begin()
    unsigned = company.id_token(begun).rpartition(".")[0] + "."
    assert company.refusal(begun, id_token=unsigned)[1] == "login_refused"


def test_user_information_about_somebody_else_is_refused_and_so_is_a_failure():
    company = Company()
    company.http.information = {"sub": "another", "groups": ["data"]}
    begun = company.begin()
    assert company.refusal(begun, id_token=company.id_token(begun))[:2] == (403, "login_refused")
    company.http.information = UnreachableError("no answer")
    begun = company.begin()
    assert company.refusal(begun, id_token=company.id_token(begun))[:2] == (503, "issuer_unavailable")


def test_a_code_that_the_issuer_does_not_take_is_refused():
    company = Company()
    for error, expected in (
        (ForbiddenError("invalid_grant"), (403, "login_refused")),
        (UnreachableError("x"), (503, "issuer_unavailable")),
    ):
        begun = company.begin()
        company.http.tokens = error
        with pytest.raises(RefusedError) as caught:
            company.logins.finish(IssuerAnswer(begun.state, "code", URL, None), begun.sealed)
        assert (caught.value.status, caught.value.code) == expected


def test_a_key_that_is_not_known_yet_is_fetched():
    company = Company(key=made_key("RS256", "old"))
    begun = company.begin()
    assert company.refusal(begun, id_token=company.id_token(begun))[:2] == (403, "login_refused")
    begun = company.begin()
    company.documents = [{"issuer": URL, "jwks_uri": f"{URL}/k"}, {"keys": [KEY.as_dict(private=False)]}]
    assert company.finish(begun, id_token=company.id_token(begun, groups=["data"]))[0].principal == "company:ada#8f2c"


def test_a_login_is_over_after_a_while_and_cannot_be_made_up():
    company = Company()
    begun = company.begin()
    company.clock.ahead_s = PENDING_S + 1
    assert company.refusal(begun, id_token=company.id_token(begun))[:2] == (400, "login_not_known")
    company.clock.ahead_s = 0
    elsewhere = Company().begin()
    for sealed in ("", "x", "é", elsewhere.sealed, begun.sealed[:-4] + "AAAA"):
        with pytest.raises(RefusedError) as caught:
            company.logins.finish(IssuerAnswer(begun.state, "code", URL, None), sealed)
        assert caught.value.code == "login_not_known"
    assert begun.state not in begun.sealed
    assert company.http.posted == []


def test_ten_thousand_logins_that_nobody_finishes_take_no_memory_and_drive_out_no_other():
    company = Company()
    first = company.begin()
    kept = {name: len(value) for name, value in vars(company.logins).items() if hasattr(value, "__len__")}
    for _ in range(10_000):
        company.begin()
    assert {name: len(value) for name, value in vars(company.logins).items() if hasattr(value, "__len__")} == kept
    assert company.finish(first, id_token=company.id_token(first, groups=["data"]))[0].issuer == "company"
    assert company.refusal(first, id_token="")[:2] == (400, "login_not_known"), "it was finished"


def test_an_issuer_that_was_not_reached_has_no_login():
    for endpoints in (None, IssuerEndpoints("k")):
        with pytest.raises(RefusedError) as caught:
            Company(endpoints).begin()
        assert (caught.value.status, caught.value.code) == (503, "issuer_unavailable")
    assert Company(None).logins.logout_url("company") == ""
    assert Company().logins.logout_url("company") == ""
    with_logout = Company(dataclasses.replace(HERE, end_session=f"{URL}/end?x=1"))
    assert with_logout.logins.logout_url("company") == f"{URL}/end?x=1&client_id=lineage"


def test_addresses_that_are_not_encrypted_are_not_used():
    document = {"jwks_uri": f"{URL}/k", "authorization_endpoint": "http://issuer.example/auth", "token_endpoint": "javascript:x"}
    assert read_endpoints(document, URL) == IssuerEndpoints(f"{URL}/k")
    methods = {"token_endpoint_auth_methods_supported": ["client_secret_post", "private_key_jwt"]}
    assert not read_endpoints(methods, URL).takes_basic


# OpenID Connect Core 1.0, A.3 has an access token and its hash.
def test_a_half_hash_is_that_of_the_standard_s_example():
    assert half_hash("RS256", "jHkWEdUXMU1BwAsC4vtUsZwnNvTIxEl0z9K3vx5KF0Y") == "77QmUPtjPfzWtF2AnpK9RQ"


def test_a_target_without_a_path_is_the_documentation():
    assert target_of("", ExternalAddress("https://a.example", "/lineage")) == "/lineage/docs"
    assert target_of("/api/v1/search?q=//x", ExternalAddress("https://a.example")) == "/api/v1/search?q=//x"
