"""The session that Google's client libraries use for their calls: checked addresses, no retries, errors converted to ours.

The libraries' own sessions use credentials of the machine, connect to addresses from environment variables, and retry by themselves.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Final, NamedTuple
from urllib.parse import urlencode, urlsplit

import msgspec
from google.api_core.exceptions import GoogleAPIError
from google.auth.credentials import AnonymousCredentials
from google.auth.exceptions import MutualTLSChannelError
from google.protobuf.json_format import ParseError

from lineage_bridge.catalogs.http import HttpAnswer, TargetClient, outcome_of
from lineage_bridge.catalogs.kinds.google.settings import GoogleLocationSettings
from lineage_bridge.catalogs.target import Outcome, Repeat
from lineage_bridge.errors import ConfigError, SourceError
from lineage_bridge.sources.common.google.credentials import Authorization

_ABORTED: Final = "ABORTED"
_PAGE: Final = 100
"""The most objects that a page of a list may have."""
_HINT: Final = "check that the address is that of Google's API"


class GoogleAnswerError(SourceError):
    """An answer with an error; `status` is Google's name for it, empty if the answer is not Google's."""

    def __init__(self, named: str, answer: HttpAnswer, status: str) -> None:
        super().__init__(f"{named} answered {answer.status}: {answer.message or status}", _HINT)
        self.answer, self.status = answer, status

    @property
    def is_missing(self) -> bool:
        """Whether an object that the call names does not exist."""
        return self.status == "NOT_FOUND"

    @property
    def is_taken(self) -> bool:
        """Whether the object to create already exists."""
        return self.status == "ALREADY_EXISTS"

    @property
    def outcome(self) -> Outcome:
        """The outcome of the call for an object. If the answer is not Google's, a later attempt may succeed."""
        found = outcome_of(self.answer)
        return found._replace(later=False) if self.status else found


class _Response(NamedTuple):
    """An answer in the form that Google's client reads."""

    status_code: int
    content: bytes
    headers: Mapping[str, str]


class GoogleSession:
    """The HTTP session that Google's client uses."""

    def __init__(self, settings: GoogleLocationSettings, repeat: Repeat) -> None:
        self._client, self._authorization = TargetClient(settings, repeat, is_busy=_is_aborted), Authorization(settings)

    def get(self, url: str, **asked: Any) -> _Response:  # noqa: ANN401  # as requests has it
        """Make a GET request."""
        return self._made("GET", url, **asked)

    def post(self, url: str, **asked: Any) -> _Response:  # noqa: ANN401  # as above
        """Make a POST request."""
        return self._made("POST", url, **asked)

    def patch(self, url: str, **asked: Any) -> _Response:  # noqa: ANN401  # as above
        """Make a PATCH request."""
        return self._made("PATCH", url, **asked)

    def delete(self, url: str, **asked: Any) -> _Response:  # noqa: ANN401  # as above
        """Make a DELETE request."""
        return self._made("DELETE", url, **asked)

    def close(self) -> None:
        """Close connections."""
        self._client.close()

    def _made(
        self,
        method: str,
        url: str,
        *,
        headers: Mapping[str, str],
        params: Iterable[tuple[str, Any]],
        data: str | None = None,
        timeout: object = None,  # noqa: ARG002  # the settings say how long
    ) -> _Response:
        path, query = urlsplit(url).path, urlencode(list(params))
        body = None if data is None else data.encode()
        answer = self._client.call(method, f"{path}?{query}", body, lambda: {**headers, **self._authorization.headers()})
        if answer.is_success and not answer.body.lstrip().startswith(b"{"):
            raise SourceError(f"{method} {path} answered something other than an object", _HINT)
        if answer.is_success:
            return _Response(answer.status, answer.body, {})
        raise GoogleAnswerError(f"{method} {path}", answer, _status(answer))


class OwnTransport:
    """A base class that makes one of Google's transports for JSON over HTTP use a GoogleSession. `client_info` is that of the transport's
    module.
    """

    def __init__(self, settings: GoogleLocationSettings, repeat: Repeat, client_info: object) -> None:
        parts = urlsplit(settings.url)
        nobody: Any = AnonymousCredentials
        transport: Any = super()
        transport.__init__(host=parts.netloc, credentials=nobody(), url_scheme=parts.scheme)
        self._session: Any = GoogleSession(settings, repeat)
        prepare: Any = getattr(self, "_prep_wrapped_messages")  # noqa: B009  # of the transport
        prepare(client_info)  # again, since it keeps methods by their session


class GoogleConnection:
    """Calls one of Google's APIs. Thread-safe. `made` creates its client; raises ConfigError if the environment has variables of Google's
    client that cannot be honoured.
    """

    def __init__(self, settings: GoogleLocationSettings, made: Callable[[], Any]) -> None:
        self._settings = settings
        try:
            self._client = made()
        except (MutualTLSChannelError, ValueError) as error:
            text = f"Google's client cannot be used: {' '.join(str(error).split())[:300]}"
            raise ConfigError(text, "correct or remove the variable in the environment of this server") from error

    def call(self, method: str, request: Mapping[str, Any]) -> Any:  # noqa: ANN401  # the types of Google's client are made at run time
        """Call a method of Google's client, such as `create_process`, and return its answer.

        Raises GoogleAnswerError for an error, and the errors of `TargetClient.call`.
        """
        with readable(method):
            return getattr(self._client, method)(request=dict(request), retry=None, timeout=self._settings.timeout_s)

    def listed(self, method: str, parent: str, member: str) -> Iterator[Any]:
        """The objects on all pages of a list. Each page is requested when it is reached.

        Empty if the parent does not exist. Raises as `call`.
        """
        try:
            pages = self.call(method, {"parent": parent, "page_size": _PAGE}).pages
        except GoogleAnswerError as error:
            if error.is_missing:
                return
            raise
        token = ""
        while True:
            with readable(method):
                page = next(pages, None)
            if page is None:
                return
            if page.next_page_token and page.next_page_token == token:
                raise SourceError(
                    f"{method} returned the token of the page just read, so the list has no end",
                    "try again later; if it repeats, report it to Google",
                )
            token = page.next_page_token
            yield from getattr(page, member)

    def close(self) -> None:
        """Close connections."""
        self._client.transport.close()


@contextmanager
def readable(method: str) -> Iterator[None]:
    """A context manager that converts errors while an answer is read to LineageBridge's errors."""
    try:
        yield
    except (ParseError, GoogleAPIError, UnicodeDecodeError) as error:
        raise SourceError(f"{method}: the answer cannot be read: {' '.join(str(error).split())[:200]}", _HINT) from error


def _is_aborted(answer: HttpAnswer) -> bool:
    return not answer.is_success and _status(answer) == _ABORTED


def _status(answer: HttpAnswer) -> str:
    try:
        found = msgspec.json.decode(answer.body)
    except (msgspec.DecodeError, RecursionError):
        return ""
    error = found.get("error") if isinstance(found, dict) else None
    status = error.get("status") if isinstance(error, dict) else None
    return status if isinstance(status, str) else ""
