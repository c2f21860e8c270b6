"""The settings of issuers, the proxy, roles and teams, by which the server recognises people and programs without an API key."""

import re
from ipaddress import ip_address, ip_network
from typing import Annotated, Final
from urllib.parse import urlsplit

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field

ALGORITHMS: Final = ("RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA", "Ed25519", "Ed448")
"""Signature algorithms with a key pair. With a shared secret, anyone who knows the public key could create tokens."""
PROXY: Final = "proxy"
"""The name of the proxy where a setting names an issuer."""
_NAME: Final = re.compile(r"[a-z0-9][a-z0-9_-]{0,39}")
_HEADER: Final = r"^[A-Za-z0-9-]+$"


def _issuer_url(url: str) -> str:
    parts = urlsplit(url)
    if parts.scheme != "https" and not (parts.scheme == "http" and _is_loopback(parts.hostname or "")):
        raise ValueError("an issuer must be an https address (http only on this machine)")
    if not parts.hostname or parts.query or parts.fragment or parts.username is not None:
        raise ValueError("an issuer's address must not contain a user, a query or a fragment")
    return url


def _is_loopback(host: str) -> bool:
    try:
        return host == "localhost" or ip_address(host).is_loopback
    except ValueError:
        return False


def _listed(value: object) -> object:
    """Convert a list in the settings file to a tuple; a single string becomes a tuple with one element."""
    return (value,) if isinstance(value, str) else tuple(value) if isinstance(value, list) else value


def _networks(texts: tuple[str, ...]) -> tuple[str, ...]:
    for text in texts:
        ip_network(text)
    return texts


def _asymmetric(names: tuple[str, ...]) -> tuple[str, ...]:
    for name in names:
        if name not in ALGORITHMS:
            raise ValueError(f"{name!r} is not an accepted algorithm; use one of {', '.join(ALGORITHMS)}")
    return names


def _with_openid(scopes: tuple[str, ...]) -> tuple[str, ...]:
    if "openid" not in scopes:
        raise ValueError("the scopes must include 'openid'")
    return scopes


def check_issuer_names(issuers: "dict[str, IssuerSettings]") -> "dict[str, IssuerSettings]":
    """Check the names of issuers. Raises ValueError for a name that cannot be part of a principal's name, and for an issuer that is listed
    under two names.
    """
    for name in issuers:
        if not _NAME.fullmatch(name) or name == PROXY:
            raise ValueError(f"{name!r} cannot be the name of an issuer: use up to 40 of a-z, 0-9, _ and -, and not 'proxy'")
    if len({settings.issuer for settings in issuers.values()}) < len(issuers):
        raise ValueError("two sections of `oidc` have the same issuer")
    return issuers


_Texts = Annotated[tuple[Annotated[str, Field(min_length=1)], ...], BeforeValidator(_listed)]


class _Section(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class IssuerSettings(_Section):
    """An OpenID Connect issuer whose access tokens are accepted.

    `issuer` is its identifier, exactly as in its tokens. A token must be meant for one of `audience`. `clients`: the applications whose
    tokens are accepted; empty: any. `roles_claim` may be a path (`realm_access.roles`).

    With a `client_id`, people can log in at this issuer with a browser. `client_id` is the id that the issuer gave this server,
    `client_secret` is a reference to the secret that it gave, if any, and `login_scopes` are the scopes that the server requests.
    """

    issuer: Annotated[str, AfterValidator(_issuer_url)]
    audience: Annotated[_Texts, Field(min_length=1)]
    name_claim: str = Field(default="preferred_username", min_length=1)
    roles_claim: str = Field(default="groups", min_length=1)
    clients: _Texts = ()
    algorithms: Annotated[_Texts, AfterValidator(_asymmetric), Field(min_length=1)] = ALGORITHMS
    clock_skew_s: int = Field(default=60, ge=0, le=300)
    ca_file: str = ""
    client_id: str = Field(default="", max_length=200)
    client_secret: str = ""
    login_scopes: Annotated[_Texts, AfterValidator(_with_openid)] = ("openid", "profile")


class RoleSettings(_Section):
    """The scopes that a role, or membership of a group, gives to principals.

    What such principals may send and see is limited to the namespaces that match the globs in `namespaces`, and to those of `teams`.
    `granted_by` are the issuers that may grant the role; empty: all.
    """

    scopes: Annotated[_Texts, Field(min_length=1)]
    namespaces: _Texts = ()
    teams: _Texts = ()
    granted_by: _Texts = ()


class TeamSettings(_Section):
    """A team. It owns the datasets and jobs in the namespaces that one of these globs matches."""

    namespaces: Annotated[_Texts, Field(min_length=1)]


class ProxySettings(_Section):
    """A proxy through which clients reach the server. Without `addresses` there is none.

    Its headers state the client of a request, and the address that the client used (`X-Forwarded-For`, `-Proto`, `-Host`, `-Prefix`). With
    `user_header` it also names the principal, with `groups_header` the principal's groups. The proxy must set or remove these two headers
    in every request: a header that it passes on unchanged is under the client's control.
    """

    addresses: Annotated[_Texts, AfterValidator(_networks)] = ()
    user_header: str = Field(default="", pattern=f"^$|{_HEADER}")
    groups_header: str = Field(default="", pattern=f"^$|{_HEADER}")
