"""Logins at an issuer: the authorization code flow of OpenID Connect, with PKCE (RFC 7636, RFC 9207, RFC 9700).

The state of a pending login is in a cookie, encrypted with a key of this process. So logins that are never finished take no memory, and
nobody can displace pending logins of others by beginning many logins.
"""

import hashlib
import hmac
import re
import threading
from base64 import urlsafe_b64encode
from collections import OrderedDict
from collections.abc import Callable, Sequence
from typing import Final, NamedTuple
from urllib.parse import urlencode

import msgspec
from cryptography.fernet import Fernet, InvalidToken

from lineage_bridge.access.browsers.code_exchange import LoginClient, identify
from lineage_bridge.access.oidc.endpoints import IssuerEndpoints
from lineage_bridge.access.roles import Roles
from lineage_bridge.errors import NotFoundError, RefusedError
from lineage_bridge.model.access import LoginIdentity

PENDING_S: Final = 600
"""How long a login may take, in seconds."""
MOST_FINISHED: Final = 10_000
"""How many finished logins are remembered, so that their answers are not accepted again."""
_RANDOM_BYTES: Final = 32
_AGAIN: Final = "log in again"
_CODE: Final = re.compile(r"[a-z_]{1,60}")


class PendingLogin(msgspec.Struct, frozen=True, array_like=True):
    """A login that has begun but is not completed: the issuer, the random values, and where the browser goes afterwards."""

    issuer: str
    state: str
    nonce: str
    verifier: str
    target: str


class LoginStart(NamedTuple):
    """The beginning of a login: the address to which the browser goes, the parameter `state` that it has to bring back, and the encrypted
    login for its cookie.
    """

    url: str
    state: str
    sealed: str


class IssuerAnswer(NamedTuple):
    """The parameters with which an issuer sends a browser back to the server; None for an absent one."""

    state: str | None
    code: str | None
    iss: str | None
    error: str | None


_PENDING: Final = msgspec.msgpack.Decoder(PendingLogin)


class Logins:
    """Logs people in. `redirect_url` is the address of this server to which issuers send browsers back."""

    def __init__(
        self,
        clients: Sequence[LoginClient],
        roles: Roles,
        redirect_url: str,
        clock_us: Callable[[], int],
        random_bytes: Callable[[int], bytes],
    ) -> None:
        self._clients = {client.issuer.name: client for client in clients}
        self._roles, self._redirect_url = roles, redirect_url
        self._clock_us, self._random_bytes = clock_us, random_bytes
        self._seal = Fernet(urlsafe_b64encode(random_bytes(32)))
        self._finished: OrderedDict[str, None] = OrderedDict()
        self._lock = threading.Lock()

    @property
    def issuers(self) -> tuple[str, ...]:
        """The names of the issuers at which people can log in."""
        return tuple(self._clients)

    def begin(self, issuer: str, target: str) -> LoginStart:
        """Begin a login at an issuer. Raises NotFoundError for an unknown issuer, RefusedError (503) for an issuer that could not be
        reached yet.
        """
        client = self._client(issuer)
        endpoint = _endpoints(client).authorization
        pending = PendingLogin(issuer, self._random(), self._random(), self._random(), target)
        challenge = urlsafe_b64encode(hashlib.sha256(pending.verifier.encode()).digest()).rstrip(b"=").decode()
        parameters = {
            "response_type": "code",
            "client_id": client.issuer.settings.client_id,
            "redirect_uri": self._redirect_url,
            "scope": " ".join(client.issuer.settings.login_scopes),
            "state": pending.state,
            "nonce": pending.nonce,
            "code_challenge": challenge,
            "code_challenge_method": "S256",
        }
        sealed = self._seal.encrypt_at_time(msgspec.msgpack.encode(pending), self._now_s()).decode()
        return LoginStart(_with_query(endpoint, parameters), pending.state, sealed)

    def finish(self, answer: IssuerAnswer, sealed: str) -> tuple[LoginIdentity, str]:
        """Complete a login. Returns the principal, and where the browser goes next. `sealed` is the value of the login's cookie. Waits for
        the issuer. Raises RefusedError.
        """
        pending = self._pending(answer, sealed)
        client = self._client(pending.issuer)
        issuer, endpoints = client.issuer.settings.issuer, _endpoints(client)
        if (answer.iss is None and endpoints.names_itself) or answer.iss not in (None, issuer):
            raise _refused("the answer to the login comes from another issuer")
        if answer.error is not None:
            code = answer.error if _CODE.fullmatch(answer.error) else "unknown"
            raise _refused(f"the issuer refused the login: {code}")
        if not answer.code:
            raise _unknown("the issuer's answer contains no authorization code")
        form = {"code": answer.code, "redirect_uri": self._redirect_url, "code_verifier": pending.verifier}
        return identify(client, endpoints, form, pending.nonce, self._roles, self._now_s), pending.target

    def logout_url(self, issuer: str) -> str:
        """The address at which a browser logs out at an issuer; empty if the issuer has none."""
        client = self._clients.get(issuer)
        endpoints = client.issuer.keys.endpoints if client else None
        if client is None or endpoints is None or not endpoints.end_session:
            return ""
        return _with_query(endpoints.end_session, {"client_id": client.issuer.settings.client_id})

    def _pending(self, answer: IssuerAnswer, sealed: str) -> PendingLogin:
        """Find the login to which an answer of an issuer belongs. Each answer is accepted once. Raises RefusedError."""
        try:
            pending = _PENDING.decode(self._seal.decrypt_at_time(sealed.encode(), PENDING_S, self._now_s()))
        except (InvalidToken, msgspec.DecodeError, ValueError) as error:
            raise _unknown("this browser did not begin the login, or began it too long ago") from error
        if not hmac.compare_digest((answer.state or "").encode("utf-8", "replace"), pending.state.encode()):
            raise _unknown("the answer belongs to another login")
        with self._lock:
            if pending.state in self._finished:
                raise _unknown("this login was already completed, for example in another tab")
            self._finished[pending.state] = None
            if len(self._finished) > MOST_FINISHED:
                self._finished.popitem(last=False)
        return pending

    def _client(self, issuer: str) -> LoginClient:
        found = self._clients.get(issuer)
        if found is None:
            names = ", ".join(self._clients)
            hint = f"log in at one of {names}" if names else "set `client_id` of an issuer to let people log in"
            raise NotFoundError(f"no login is set up for the issuer {issuer!r}", hint)
        return found

    def _now_s(self) -> int:
        return self._clock_us() // 1_000_000

    def _random(self) -> str:
        return urlsafe_b64encode(self._random_bytes(_RANDOM_BYTES)).rstrip(b"=").decode()


def _endpoints(client: LoginClient) -> IssuerEndpoints:
    """The addresses of an issuer for logins. Raises RefusedError if the issuer has not published them yet."""
    endpoints = client.issuer.keys.endpoints
    if endpoints is None or not endpoints.authorization or not endpoints.token:
        name = client.issuer.name
        raise RefusedError(
            503, "issuer_unavailable", f"no login address of the issuer {name!r} is known yet", "GET /api/v1/ready gives the reason"
        )
    return endpoints


def _with_query(url: str, parameters: dict[str, str]) -> str:
    return f"{url}{'&' if '?' in url else '?'}{urlencode(parameters)}"


def _unknown(problem: str) -> RefusedError:
    return RefusedError(400, "login_not_known", problem, _AGAIN)


def _refused(problem: str) -> RefusedError:
    return RefusedError(403, "login_refused", problem, _AGAIN)
