"""Exchanges an authorization code, which a browser brings from an issuer, for tokens, and determines who has logged in."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final
from urllib.parse import quote_plus

from lineage_bridge.access.oidc.claims import roles_of
from lineage_bridge.access.oidc.endpoints import IssuerEndpoints
from lineage_bridge.access.oidc.fetching import IssuerClient
from lineage_bridge.access.oidc.id_tokens import verify_id_token
from lineage_bridge.access.oidc.issuer_keys import TrustedIssuer
from lineage_bridge.access.oidc.tokens import principal_name
from lineage_bridge.access.roles import Roles
from lineage_bridge.errors import ForbiddenError, RefusedError, SourceError
from lineage_bridge.model.access import LoginIdentity

_UNKNOWN_KEY: Final = 503
"""The status of the refusal of a token whose key must first be fetched."""


@dataclass(frozen=True)
class LoginClient:
    """The registration of this server as an application at an issuer. `secret` is empty for a public client, which the issuer identifies by
    its id alone.
    """

    issuer: TrustedIssuer
    http: IssuerClient
    secret: str = field(default="", repr=False)


def identify(
    client: LoginClient, endpoints: IssuerEndpoints, form: Mapping[str, str], nonce: str, roles: Roles, now_s: Callable[[], int]
) -> LoginIdentity:
    """Determine who has logged in. `form` has the authorization code and the parameters that are sent with it. Raises RefusedError.

    Claims that the ID token lacks are taken from the issuer's user information.
    """
    issuer = client.issuer
    try:
        tokens = _exchange(client, endpoints, form)
        access_token = str(tokens.get("access_token") or "")
        claims = _verified(issuer, str(tokens.get("id_token") or ""), nonce, access_token, now_s)
        if endpoints.userinfo and access_token and _is_incomplete(claims, issuer):
            claims = _completed(claims, client.http.get(endpoints.userinfo, access_token))
    except ForbiddenError as error:
        raise RefusedError(403, "login_refused", f"the issuer {issuer.name!r} did not accept the login: {error}", "log in again") from error
    except SourceError as error:
        raise RefusedError(503, "issuer_unavailable", f"the issuer {issuer.name!r} did not answer: {error}", "log in again") from error
    return LoginIdentity(principal_name(issuer, claims), issuer.name, roles.known(roles_of(claims, issuer.settings.roles_claim)))


def _exchange(client: LoginClient, endpoints: IssuerEndpoints, form: Mapping[str, str]) -> Mapping[str, Any]:
    """Exchange an authorization code for tokens. The client's secret is sent as RFC 6749, 2.3.1 prescribes."""
    id_, auth = client.issuer.settings.client_id, None
    sent = {"grant_type": "authorization_code", **form}
    if client.secret and endpoints.takes_basic:
        auth = quote_plus(id_), quote_plus(client.secret)
    else:
        sent |= {"client_id": id_, **({"client_secret": client.secret} if client.secret else {})}
    return client.http.post(endpoints.token, sent, auth)


def _verified(issuer: TrustedIssuer, id_token: str, nonce: str, access_token: str, now_s: Callable[[], int]) -> dict[str, Any]:
    """Verify an ID token, and return its claims. If its key is unknown, the issuer's keys are fetched once more. Raises RefusedError,
    SourceError.
    """
    for again in (True, False):
        try:
            return verify_id_token(id_token, issuer, nonce, access_token, now_s())
        except RefusedError as error:
            if error.status != _UNKNOWN_KEY:
                raise RefusedError(403, "login_refused", str(error), "log in again") from error
        if again:
            issuer.keys.refresh()
    raise RefusedError(403, "login_refused", "the ID token is signed with a key that its issuer does not have", "log in again")


def _is_incomplete(claims: Mapping[str, Any], issuer: TrustedIssuer) -> bool:
    """Whether the name or the roles of the principal are missing in the claims."""
    return issuer.settings.name_claim not in claims or not roles_of(claims, issuer.settings.roles_claim)


def _completed(claims: Mapping[str, Any], information: Mapping[str, Any]) -> dict[str, Any]:
    """The claims, completed from the issuer's user information. Raises RefusedError if that information is about another person."""
    if information.get("sub") != claims["sub"]:
        raise RefusedError(403, "login_refused", "the issuer's user information is about somebody else", "log in again")
    return {**information, **claims}
