"""Makes single calls of a target's HTTP API, without retries. If necessary, it logs in for a token."""

import re
import threading
from collections.abc import Callable, Mapping
from http import HTTPStatus
from importlib.metadata import version
from typing import Any, Final, NamedTuple
from urllib.parse import urlsplit

import httpx
import msgspec

from lineage_bridge.catalogs.settings import HttpTargetSettings, LoginSettings
from lineage_bridge.catalogs.target import DONE, Outcome, Repeat
from lineage_bridge.errors import BusyError, ForbiddenError, SourceError, TimedOutError, UnauthenticatedError, UnreachableError
from lineage_bridge.sources.common.http import TlsContext
from lineage_bridge.sources.common.http_answers import asked_wait, message_of, read_whole
from lineage_bridge.sources.common.settings import reveal

_LATER: Final = frozenset((408, 425, 429))
_ELSEWHERE: Final = frozenset((404, 405, 410, 421))
_DELAY: Final = re.compile(r"(\d{1,9}(?:\.\d{1,9})?)s", re.ASCII)
_USER_AGENT: Final = f"LineageBridge/{version('lineage-bridge')}"


class HttpAnswer(NamedTuple):
    """The status and the body of an answer; for an error, its message in one line."""

    status: int
    body: bytes
    message: str

    @property
    def is_success(self) -> bool:
        """Whether the call succeeded."""
        return 200 <= self.status < 300

    def json(self) -> Any:  # noqa: ANN401  # JSON
        """The decoded body. Raises SourceError."""
        try:
            return msgspec.json.decode(self.body)
        except (msgspec.DecodeError, RecursionError) as error:
            raise SourceError("the answer is not JSON", "check that the address is that of the API") from error


Headers = Mapping[str, str] | Callable[[], Mapping[str, str]]


class TargetClient:
    """Calls one target's API. Thread-safe."""

    def __init__(
        self,
        settings: HttpTargetSettings,
        repeat: Repeat,
        headers: Mapping[str, str] | None = None,
        is_refusal: Callable[[int, bytes], bool] = lambda _, __: False,
        is_busy: Callable[[HttpAnswer], bool] = lambda _: False,
    ) -> None:
        """`repeat` is called to make each request, and may repeat it. `is_refusal` returns whether an answer is a permanent refusal
        although its status suggests otherwise; `is_busy` whether an answer asks to call again although its status suggests otherwise.
        """
        self._settings, self._headers, self._repeat = settings, dict(headers or {}), repeat
        self._is_refusal, self._is_busy = is_refusal, is_busy
        self._host = urlsplit(settings.url)
        self._trace = settings.outbound.trace(self._host.hostname or "")
        self._opening = threading.Lock()
        self._client: httpx.Client | None = None

    def call(self, method: str, path: str, body: bytes | None = None, headers: Headers | None = None) -> HttpAnswer:
        """Make a request and return the answer, even if it is an error. `path` is below the address, escaped. If `headers` is a function,
        each try calls it.

        Raises UnreachableError; TimedOutError if only this call is not answered; BusyError for 408, 425, 429 and 5xx, with the
        requested wait; UnauthenticatedError for 401, ForbiddenError for 403.
        """
        return self._repeat(lambda: self._called(method, path, body, headers), method)

    def _called(self, method: str, path: str, body: bytes | None, headers: Headers | None) -> HttpAnswer:
        named = f"{method} {path.partition('?')[0]} of {self._host.netloc}"
        client = self._opened()
        sent = {"Content-Type": "application/json"} if body is not None else {}
        more = headers() if callable(headers) else headers
        request = client.build_request(
            method, f"{self._settings.url}{path}", content=body, headers={**sent, **(more or {})}, extensions={"trace": self._trace}
        )
        try:
            response = read_whole(client.send(request, stream=True), named)
        except (httpx.ConnectTimeout, httpx.PoolTimeout) as error:
            raise UnreachableError(
                f"{self._host.netloc} accepted no connection within {self._settings.timeout_s:g} s",
                "check the address, and that the server is running",
            ) from error
        except httpx.TimeoutException as error:
            raise TimedOutError(
                f"{named} did not answer within {self._settings.timeout_s:g} s", "raise `timeout_s` if the server is slow"
            ) from error
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            raise UnreachableError(
                f"{named} failed: {str(error) or type(error).__name__}", "check the address, and that the server is running"
            ) from error
        if not self._is_refusal(response.status_code, response.content):
            _raise_for_retry_or_credentials(response, named)
        answer = HttpAnswer(response.status_code, response.content, message_of(response))
        if self._is_busy(answer):
            raise BusyError(f"{named} answered {answer.status}: {answer.message}")
        return answer

    def close(self) -> None:
        """Close all connections."""
        if self._client is not None:
            self._client.close()

    def _opened(self) -> httpx.Client:
        with self._opening:
            if self._client is None:
                asked = self._settings
                auth = httpx.BasicAuth(asked.username, reveal(asked.password) if asked.password else "") if asked.username else None
                bearer = {"Authorization": f"Bearer {reveal(asked.token)}"} if asked.token else {}
                self._client = httpx.Client(
                    auth=auth,
                    headers={"User-Agent": _USER_AGENT, **self._headers, **bearer},
                    timeout=asked.timeout_s,
                    verify=TlsContext(asked).context() if asked.url.startswith("https:") else False,  # redirects are not followed
                )
            return self._client


def _raise_for_retry_or_credentials(response: httpx.Response, named: str) -> None:
    message = message_of(response)
    text = f"{named} answered {response.status_code}" + (f": {message}" if message else "")
    if response.status_code in _LATER or response.status_code >= HTTPStatus.INTERNAL_SERVER_ERROR:
        raise BusyError(text, wait_s=_asked_wait(response), limited=response.status_code == 429)
    if response.status_code == 401:
        raise UnauthenticatedError(text, "check user, password or token")
    if response.status_code == 403:
        raise ForbiddenError(text, "give these credentials the right to publish; docs/catalogs.md lists the rights for each kind")


class _Detail(msgspec.Struct):
    kind: str = msgspec.field(default="", name="@type")
    delay: str = msgspec.field(default="", name="retryDelay")


class _Status(msgspec.Struct):
    details: list[_Detail] = []


class _Failure(msgspec.Struct):
    error: _Status


_FAILURE: Final = msgspec.json.Decoder(_Failure)


def _asked_wait(response: httpx.Response) -> float | None:
    """The number of seconds that an error answer asks to wait, by the header Retry-After, or by google.rpc.RetryInfo in the body."""
    if (wait_s := asked_wait(response)) is not None:
        return wait_s
    try:
        details = _FAILURE.decode(response.content).error.details
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError):
        return None
    found = (_DELAY.fullmatch(detail.delay) for detail in details if detail.kind.endswith("/google.rpc.RetryInfo"))
    return next((max(1.0, float(delay[1])) for delay in found if delay), None)


def outcome_of(answer: HttpAnswer) -> Outcome:
    """The outcome of sending an event. Some servers answer 200 to events that they do not use, and say so in the body.

    An answer of an address that accepts no events (a redirect, 404, 405, 410, 421) is not a permanent refusal: a proxy may give it for a
    while.
    """
    if not answer.is_success:
        text = f"answered {answer.status}" + (f": {answer.message}" if answer.message else "")
        return Outcome(False, text, later=answer.status < HTTPStatus.BAD_REQUEST or answer.status in _ELSEWHERE)
    try:
        status = answer.json().get("status") if answer.body.startswith(b"{") else ""
    except (AttributeError, SourceError):
        status = ""
    if status in ("failure", "partial_success", "rejected"):
        return Outcome(False, f"answered {answer.status} with status {status}" + (f": {answer.message}" if answer.message else ""))
    return DONE


class LoggedInClient:
    """Calls a target's API, with a token that the target issues for a client id and secret, if the settings have these. Thread-safe.

    `ask` asks the target for such a token.
    """

    def __init__(self, settings: LoginSettings, client: TargetClient, ask: Callable[[], HttpAnswer]) -> None:
        self._has_login, self._client, self._ask = bool(settings.client_id), client, ask
        self._token, self._login = "", threading.Lock()

    def call(self, method: str, path: str, body: bytes | None = None, headers: Mapping[str, str] | None = None) -> HttpAnswer:
        """Make a call, as `TargetClient.call` does. If the target refuses the token, request a new one and repeat the call once."""
        if not self._has_login:
            return self._client.call(method, path, body, headers)
        token = self._token or self._logged_in("")
        try:
            return self._client.call(method, path, body, {**(headers or {}), "Authorization": f"Bearer {token}"})
        except UnauthenticatedError:  # it is valid for a while
            return self._client.call(method, path, body, {**(headers or {}), "Authorization": f"Bearer {self._logged_in(token)}"})

    def _logged_in(self, expired: str) -> str:
        """Log in for a new token, unless another thread has replaced the refused one already."""
        with self._login:
            if self._token == expired:
                self._token = _token_of(self._ask())
            return self._token

    def close(self) -> None:
        """Close connections."""
        self._client.close()


def _token_of(answer: HttpAnswer) -> str:
    """The token in the answer to a login. Raises UnauthenticatedError."""
    found = answer.json() if answer.is_success else {}
    token = (found.get("access_token") or found.get("accessToken")) if isinstance(found, dict) else None
    if not isinstance(token, str) or not token:
        text = f"the login answered {answer.status}" + (f": {answer.message}" if answer.message else "")
        raise UnauthenticatedError(text, "check client_id and client_secret")
    return token
