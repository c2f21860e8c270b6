"""A client of other systems' REST APIs: retries, limits and clear errors, the same for all sources."""

import email.utils
import ssl
import threading
import time
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar
from urllib.parse import urlsplit

import httpx
import tenacity

from lineage_bridge.errors import BusyError, ForbiddenError, MissingError, SourceError, UnreachableError
from lineage_bridge.sources.settings import HttpSettings, reveal

TRIES = 3
LONGEST_WAIT_S = 10.0
_AGAIN = frozenset((408, 409, 425, 429, 500, 502, 503, 504))
_ItemT = TypeVar("_ItemT")
_ResultT = TypeVar("_ResultT")


class Http:
    """Calls one system. Safe in several threads. `requests` counts what was sent."""

    def __init__(self, settings: HttpSettings, headers: dict[str, str] | None = None) -> None:
        self.settings, self.requests = settings, 0
        self.host = urlsplit(settings.url).netloc
        self._headers = headers or {}
        self._client: httpx.Client | None = None
        self._opening = threading.Lock()

    def get(self, path: str, **parameters: Any) -> Any:  # noqa: ANN401  # JSON
        """The JSON that a GET answers. A parameter may be a list.

        Raises UnreachableError, ForbiddenError (401, 403), MissingError (404, 405), BusyError (409, 429 after some tries) or SourceError.
        """
        return self._json("GET", path, parameters, None)

    def send(self, method: str, path: str, body: Any) -> Any:  # noqa: ANN401  # JSON
        """The JSON that a call with a JSON body answers; it must be one that may be repeated. Raises as `get` does."""
        return self._json(method, path, {}, body)

    def each(self, do: Callable[[_ItemT], _ResultT], items: Iterable[_ItemT]) -> list[_ResultT | SourceError]:
        """What `do` gives for each item, in order, `at_once` at a time; or the error it raised."""

        def attempt(item: _ItemT) -> _ResultT | SourceError:
            try:
                return do(item)
            except SourceError as error:
                return error

        with ThreadPoolExecutor(self.settings.at_once, thread_name_prefix="source") as pool:
            return list(pool.map(attempt, items))

    def close(self) -> None:
        """Let go of connections."""
        if self._client is not None:
            self._client.close()
            self._client = None

    def _json(self, method: str, path: str, parameters: dict[str, Any], body: Any) -> Any:  # noqa: ANN401  # JSON
        response = self._tried(method, path, parameters, body)
        try:
            return response.json()
        except ValueError as error:
            raise SourceError(f"{self._named(method, path)} answered no JSON", "is the address that of the REST API?") from error

    def _tried(self, method: str, path: str, parameters: dict[str, Any], body: Any) -> httpx.Response:  # noqa: ANN401  # JSON
        retrying = tenacity.Retrying(
            stop=tenacity.stop_after_attempt(TRIES),
            wait=_wait,
            retry=tenacity.retry_if_exception(_may_pass),
            reraise=True,
        )
        answer: httpx.Response = retrying(self._once, method, path, parameters, body)
        return answer

    def _once(self, method: str, path: str, parameters: dict[str, Any], body: Any) -> httpx.Response:  # noqa: ANN401  # JSON
        named = self._named(method, path)
        self.requests += 1
        with self._opening:
            client = self._open()
        try:
            response = client.request(method, path, params=parameters, json=body)
        except httpx.TimeoutException as error:
            raise UnreachableError(f"{named} did not answer within {self.settings.timeout_s:g} s") from error
        except httpx.HTTPError as error:
            raise UnreachableError(
                f"{named} failed: {str(error) or type(error).__name__}", "is it running, and is the address right?"
            ) from error
        if response.is_success:
            return response
        raise _refused(named, response)

    def _open(self) -> httpx.Client:
        if self._client is None:
            asked = self.settings
            auth = httpx.BasicAuth(asked.username, reveal(asked.password) if asked.password else "") if asked.username else None
            bearer = {"Authorization": f"Bearer {reveal(asked.token)}"} if asked.token else {}
            self._client = httpx.Client(
                base_url=asked.url, auth=auth, headers={**self._headers, **bearer}, timeout=asked.timeout_s, verify=self._trusted()
            )
        return self._client

    def _trusted(self) -> ssl.SSLContext | bool:
        asked = self.settings
        if not asked.url.startswith("https:"):
            return True
        try:
            trusted = ssl.create_default_context(cafile=asked.ca_file or None)
            if asked.client_cert_file:
                trusted.load_cert_chain(asked.client_cert_file, asked.client_key_file or None)
        except OSError as error:
            raise SourceError(f"a file of TLS cannot be used: {error}", "ca_file, client_cert_file and client_key_file are PEM") from error
        return trusted

    def _named(self, method: str, path: str) -> str:
        return f"{method} {path} of {self.host}"


def _refused(named: str, response: httpx.Response) -> SourceError:
    status, said = response.status_code, _message(response)
    text = f"{named} answered {status}" + (f": {said}" if said else "")
    if status in (401, 403):
        hint = "are user, password or token right?" if status == 401 else "it lacks the right to read this"
        return ForbiddenError(text, hint)
    if status in (404, 405, 410):
        return MissingError(text)
    if status in (409, 429):
        return BusyError(text, wait_s=_asked_wait(response))
    return SourceError(text) if status not in _AGAIN else BusyError(text, wait_s=_asked_wait(response))


def _message(response: httpx.Response) -> str:
    """What the system says of itself, in one line of at most 300 characters."""
    try:
        said = response.json()
    except ValueError:
        return ""
    text = said.get("message") or said.get("errors") or said.get("error") or "" if isinstance(said, dict) else ""
    return " ".join(str(text).split())[:300]


def _asked_wait(response: httpx.Response) -> float | None:
    asked = response.headers.get("Retry-After", "")
    if asked.isdigit():
        return float(asked)
    at = email.utils.parsedate_to_datetime(asked) if asked.endswith("GMT") else None
    return max(0.0, at.timestamp() - time.time()) if at else None


def _may_pass(error: BaseException) -> bool:
    return isinstance(error, BusyError | UnreachableError)


def _wait(state: tenacity.RetryCallState) -> float:
    error = state.outcome.exception() if state.outcome else None
    asked = error.wait_s if isinstance(error, BusyError) else None
    spread = tenacity.wait_random_exponential(multiplier=0.3, max=LONGEST_WAIT_S)(state)
    return min(LONGEST_WAIT_S, asked) if asked is not None else spread
