"""Sends requests to an issuer. Answers are limited in bytes and time, and no redirect is followed."""

import re
import ssl
import time
from collections.abc import Callable, Mapping
from typing import Any, Final
from urllib.parse import urlsplit

import httpx
import msgspec

from lineage_bridge.config.outbound import ANYWHERE
from lineage_bridge.errors import ConfigError, ForbiddenError, SourceError, UnreachableError

MOST_BYTES: Final = 1 << 20
"""The maximum size of a document. A key takes about 500 bytes, or 2,000 with certificates."""
WAIT_S: Final = 5.0
"""How long to wait for a connection, and for the next bytes, in seconds."""
WHOLE_S: Final = 15.0
"""How long fetching a document may take, in seconds."""
_HEADERS: Final = {"Accept": "application/json", "Accept-Encoding": "identity"}
_REFUSALS: Final = frozenset({400, 401, 403})
_CODE: Final = re.compile(r"[a-z_]{1,40}")
Fetch = Callable[[str], dict[str, Any]]


class IssuerClient:
    """Calls addresses that an operator or an issuer named, and returns the JSON objects in their answers.

    Servers' certificates are verified against the system's authorities, or those in `ca_file`. Raises ConfigError if that file cannot be
    used.
    """

    def __init__(self, ca_file: str) -> None:
        try:
            self._trusted = ssl.create_default_context(cafile=ca_file or None)
        except OSError as error:
            raise ConfigError(
                f"the certificate authorities in {ca_file!r} cannot be used: {error}", "`ca_file` must name a PEM file with certificates"
            ) from error

    def get(self, url: str, token: str = "") -> dict[str, Any]:
        """Fetch the JSON object at an address, with the access token if one is given. Raises SourceError."""
        return self._call("GET", url, {"Authorization": f"Bearer {token}"} if token else {})

    def post(self, url: str, form: Mapping[str, str], auth: tuple[str, str] | None = None) -> dict[str, Any]:
        """Send a form, and return the JSON object in the answer. `auth` are user and password. Raises ForbiddenError if the form is
        refused, otherwise SourceError.
        """
        return self._call("POST", url, {}, data=form, auth=auth)

    def _call(self, method: str, url: str, headers: Mapping[str, str], **content: Any) -> dict[str, Any]:  # noqa: ANN401 - httpx's
        try:
            trace = ANYWHERE.trace(urlsplit(url).hostname or "")
            with (
                httpx.Client(verify=self._trusted, timeout=WAIT_S, headers={**_HEADERS, **headers}, follow_redirects=False) as client,
                client.stream(method, url, extensions={"trace": trace}, **content) as response,
            ):
                return _json_object(_body(response), f"{method} {url}")
        except (httpx.HTTPError, httpx.InvalidURL, ValueError) as error:
            raise UnreachableError(
                f"{method} {url} failed: {str(error) or type(error).__name__}", "check that this machine can reach the issuer"
            ) from error


def fetcher(ca_file: str) -> Fetch:
    """Make a function that fetches the JSON object at an address, with an `IssuerClient`."""
    return IssuerClient(ca_file).get


def _body(response: httpx.Response) -> bytes:
    """Read the body of a successful answer. Raises SourceError for any other answer, and for one that is too large or too slow."""
    called = f"{response.request.method} {response.request.url}"
    ends_at, pieces, size = time.monotonic() + WHOLE_S, [], 0
    if response.status_code not in {200, *_REFUSALS}:
        raise SourceError(f"{called} answered {response.status_code}", "check the issuer's address in the settings, and its state")
    for piece in response.iter_raw(1 << 16):
        pieces.append(piece)
        size += len(piece)
        if size > MOST_BYTES:
            raise SourceError(f"{called} returned more than {MOST_BYTES >> 10} KiB", "check the issuer's address in the settings")
        if time.monotonic() > ends_at:
            raise UnreachableError(f"{called} did not answer within {WHOLE_S:g} s", "check that this machine can reach the issuer")
    body = b"".join(pieces)
    if response.status_code != 200:
        raise ForbiddenError(f"{called} answered {response.status_code}{_reason(body)}", "check the client id and secret in the settings")
    return body


def _reason(body: bytes) -> str:
    """The error code in an answer, as OAuth defines it; empty if there is none."""
    try:
        code = msgspec.json.decode(body, type=dict[str, Any]).get("error")
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return ""
    return f": {code}" if isinstance(code, str) and _CODE.fullmatch(code) else ""


def _json_object(body: bytes, called: str) -> dict[str, Any]:
    try:
        return msgspec.json.decode(body, type=dict[str, Any])
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise SourceError(f"{called} did not return a JSON object", "check the issuer's address in the settings") from error
