"""A client for the REST APIs of observed systems: retries, rate limits, paging and clear errors."""

import random
import ssl
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from importlib.metadata import version
from typing import Any, NamedTuple, TypeVar
from urllib.parse import parse_qs, urlsplit

import httpx
import tenacity

from lineage_bridge.errors import BusyError, ForbiddenError, MissingError, SourceError, UnauthenticatedError, UnreachableError
from lineage_bridge.sources.common.http_answers import asked_wait, error_code_of, message_of, read_whole
from lineage_bridge.sources.common.rate_limiter import RateLimiter
from lineage_bridge.sources.common.settings import HttpSettings, reveal

TRIES, TRIES_WHEN_LIMITED = 3, 10
"""Maximum attempts of a call, and of a call that only fails because of a rate limit (429) whose answers state how long to wait."""
LONGEST_WAIT_S = 10.0
MOST_PAGES = 10_000
_MOST_TAGGED = 500
_USER_AGENT = f"LineageBridge/{version('lineage-bridge')}"
_NOT_THE_API = "check that the address is that of the REST API"
_AGAIN = frozenset((408, 409, 425, 429, 500, 502, 503, 504))
_ItemT = TypeVar("_ItemT")
_ResultT = TypeVar("_ResultT")


class _Form(NamedTuple):
    fields: Mapping[str, str]


class TlsContext:
    """The TLS settings of a source, which several clients share, because loading them takes time. Thread-safe."""

    def __init__(self, settings: HttpSettings) -> None:
        self._settings = settings
        self._context: ssl.SSLContext | None = None
        self._reading = threading.Lock()

    def context(self) -> ssl.SSLContext:
        """Return the TLS context for connections. It is loaded at the first call. Raises SourceError."""
        asked = self._settings
        with self._reading:
            if self._context is None:
                try:
                    trusted = ssl.create_default_context(cafile=asked.ca_file or None)
                    if asked.client_cert_file:
                        trusted.load_cert_chain(asked.client_cert_file, asked.client_key_file or None)
                except OSError as error:
                    message = f"a TLS file cannot be used: {error}"
                    raise SourceError(message, "`ca_file`, `client_cert_file` and `client_key_file` must name PEM files") from error
                self._context = trusted
            return self._context


class HttpClient:
    """Calls the REST API of one system. Thread-safe.

    `requests`: the number of requests sent. Clients that share a rate limit are given the same `limiter`. `authorize` returns headers of
    each request, such as a token that is renewed.
    """

    def __init__(
        self,
        settings: HttpSettings,
        headers: dict[str, str] | None = None,
        limiter: RateLimiter | None = None,
        tls: TlsContext | None = None,
        authorize: Callable[[], Mapping[str, str]] | None = None,
    ) -> None:
        self._authorize = authorize
        self.settings, self.requests, self.limiter = settings, 0, limiter or RateLimiter()
        self.host = urlsplit(settings.url).netloc
        self._headers, self._trust = headers or {}, tls or TlsContext(settings)
        self._trace = settings.outbound.trace(urlsplit(settings.url).hostname or "")
        self._client: httpx.Client | None = None
        self._opening = threading.Lock()
        self._tagged: dict[str, tuple[str, Any]] = {}

    def get(self, path: str, **parameters: Any) -> Any:  # noqa: ANN401  # JSON
        """Send a GET request, and return the JSON in the answer. A parameter may be a list.

        Raises UnreachableError, ForbiddenError (401, 403), MissingError (404, 405), BusyError (409, 429 after some tries) or
        SourceError.
        """
        return self._json("GET", path, parameters, None)

    def pages(self, path: str, **parameters: Any) -> Iterator[Any]:  # noqa: ANN401  # JSON
        """Fetch the pages of a listing. `metadata.next` of a page is the address of the next one, null or empty on the last page.

        Only the `page_token` in that address is used. The host in it may differ from the configured one, and must not get the
        credentials. Raises the errors of `get` at any page, and SourceError if pages form a cycle or the next one has no token.
        """
        tokens: set[str] = set()
        while len(tokens) < MOST_PAGES:
            page = self.get(path, **parameters)
            yield page
            following = _next_of(page)
            if not following:
                return
            token = next(iter(parse_qs(urlsplit(following).query).get("page_token", ())), "")
            if not token:
                raise SourceError(f"{self._named('GET', path)} returned a link to the next page that has no `page_token`", _NOT_THE_API)
            if token in tokens:
                break
            tokens.add(token)
            parameters["page_token"] = token
        raise SourceError(f"{self._named('GET', path)} returned the same page again, or too many pages", _NOT_THE_API)

    def send(self, method: str, path: str, body: Any) -> Any:  # noqa: ANN401  # JSON
        """Send a request with a JSON body, and return the JSON in the answer. The request must be safe to repeat. Raises the errors
        of `get`.
        """
        return self._json(method, path, {}, body)

    def send_form(self, path: str, fields: Mapping[str, str]) -> Any:  # noqa: ANN401  # JSON
        """Send a POST request with the fields of a form, and return the JSON in the answer. Raises the errors of `get`."""
        return self._json("POST", path, {}, _Form(fields))

    def map(self, do: Callable[[_ItemT], _ResultT], items: Iterable[_ItemT]) -> list[_ResultT | SourceError]:
        """Call `do` for each item, at most `at_once` at a time. Returns, in order, the results or the SourceErrors that the calls
        raised.
        """

        def attempt(item: _ItemT) -> _ResultT | SourceError:
            try:
                return do(item)
            except SourceError as error:
                return error

        with ThreadPoolExecutor(self.settings.at_once, thread_name_prefix="source") as pool:
            return list(pool.map(attempt, items))

    def close(self) -> None:
        """Close all connections."""
        if self._client is not None:
            self._client.close()
            self._client = None

    def _json(self, method: str, path: str, parameters: dict[str, Any], body: Any) -> Any:  # noqa: ANN401  # JSON
        response = self._tried(method, path, parameters, body)
        asked = str(response.request.url)
        if response.status_code == 304 and asked in self._tagged:
            return self._tagged[asked][1]
        try:
            answer = response.json()
        except ValueError as error:
            raise SourceError(f"{self._named(method, path)} did not return JSON", _NOT_THE_API) from error
        except RecursionError:
            raise SourceError(f"{self._named(method, path)} returned JSON that is nested too deeply", _NOT_THE_API) from None
        tag = response.headers.get("ETag", "")
        if method == "GET" and tag and (asked in self._tagged or len(self._tagged) < _MOST_TAGGED):
            self._tagged[asked] = (tag, answer)
        return answer

    def _tried(self, method: str, path: str, parameters: dict[str, Any], body: Any) -> httpx.Response:  # noqa: ANN401  # JSON
        retrying = tenacity.Retrying(
            stop=_enough,
            wait=_wait,
            retry=tenacity.retry_if_exception(_may_pass),
            reraise=True,
        )
        answer: httpx.Response = retrying(self._once, method, path, parameters, body)
        return answer

    def _once(self, method: str, path: str, parameters: dict[str, Any], body: Any) -> httpx.Response:  # noqa: ANN401  # JSON
        named = self._named(method, path)
        self.limiter.acquire()
        self.requests += 1
        with self._opening:
            client = self._open()
        content: dict[str, Any] = {"data": dict(body.fields)} if isinstance(body, _Form) else {"json": body}
        request = client.build_request(method, path, params=parameters or None, extensions={"trace": self._trace}, **content)
        if self._authorize is not None:
            request.headers.update(self._authorize())
        if method == "GET" and (tagged := self._tagged.get(str(request.url))):
            request.headers["If-None-Match"] = tagged[0]
        try:
            response = read_whole(client.send(request, stream=True), named)
        except httpx.TimeoutException as error:
            raise UnreachableError(
                f"{named} did not answer within {self.settings.timeout_s:g} s", "raise `timeout_s` if the server is slow"
            ) from error
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            raise UnreachableError(
                f"{named} failed: {str(error) or type(error).__name__}", "check the address, and that the server is running"
            ) from error
        self.limiter.update(response.status_code, response.headers)
        if response.is_success or response.status_code == 304:
            return response
        raise _refused(named, response)

    def _open(self) -> httpx.Client:
        if self._client is None:
            asked = self.settings
            auth = httpx.BasicAuth(asked.username, reveal(asked.password) if asked.password else "") if asked.username else None
            bearer = {"Authorization": f"Bearer {reveal(asked.token)}"} if asked.token else {}
            self._client = httpx.Client(
                base_url=asked.url,
                auth=auth,
                headers={"User-Agent": _USER_AGENT, **self._headers, **bearer},
                timeout=asked.timeout_s,
                verify=self._trust.context() if asked.url.startswith("https:") else False,  # redirects are not followed
            )
        return self._client

    def _named(self, method: str, path: str) -> str:
        return f"{method} {path.partition('?')[0]} of {self.host}"


def _next_of(page: object) -> str:
    metadata = page.get("metadata") if isinstance(page, Mapping) else None
    return str(metadata.get("next") or "") if isinstance(metadata, Mapping) else ""


def _refused(named: str, response: httpx.Response) -> SourceError:
    status, detail = response.status_code, message_of(response)
    text = f"{named} answered {status}" + (f": {detail}" if detail else "")
    if status == 401:
        return UnauthenticatedError(text, "check `username` and `password`, or `token`")
    if status == 403:
        return ForbiddenError(text, "grant these credentials the permission to read it")
    if status in (404, 405, 410):
        return MissingError(text, code=error_code_of(response))
    if status == 429:
        return BusyError(text, wait_s=asked_wait(response), limited=True)
    if status == 409:
        return BusyError(text, wait_s=asked_wait(response))
    return SourceError(text) if status not in _AGAIN else BusyError(text, wait_s=asked_wait(response))


def _may_pass(error: BaseException) -> bool:
    return isinstance(error, BusyError | UnreachableError)


def _enough(state: tenacity.RetryCallState) -> bool:
    error = state.outcome.exception() if state.outcome else None
    asked = isinstance(error, BusyError) and error.limited and error.wait_s is not None
    return state.attempt_number >= (TRIES_WHEN_LIMITED if asked else TRIES)


def _wait(state: tenacity.RetryCallState) -> float:
    error = state.outcome.exception() if state.outcome else None
    asked = error.wait_s if isinstance(error, BusyError) else None
    if isinstance(error, BusyError) and error.limited and asked is not None:
        return random.uniform(0.0, 0.2)  # noqa: S311  # no secret; the rate limiter waits as long as the system requires
    spread = tenacity.wait_random_exponential(multiplier=0.3, max=LONGEST_WAIT_S)(state)
    return min(LONGEST_WAIT_S, asked) if asked is not None else spread
