"""Fetching an issuer's documents: bounded in bytes and time, without redirects."""

import ssl
import time
from collections.abc import Callable
from typing import Any, Final
from urllib.parse import urlsplit

import httpx
import msgspec

from lineage_bridge.config.outbound import ANYWHERE
from lineage_bridge.errors import ConfigError, SourceError, UnreachableError

MOST_BYTES: Final = 1 << 20
"""How large a document may be. A key takes about 500 bytes, or 2,000 with certificates."""
WAIT_S: Final = 5.0
"""How long to wait for a connection, and for the next bytes."""
WHOLE_S: Final = 15.0
"""How long a document may take."""
_HEADERS: Final = {"Accept": "application/json", "Accept-Encoding": "identity"}
Fetch = Callable[[str], dict[str, Any]]


def fetcher(ca_file: str) -> Fetch:
    """A function that returns the JSON object at an address, which an operator or an issuer named. It raises SourceError.

    Servers' certificates are checked against the system's authorities, or those in `ca_file`. Raises ConfigError if that cannot be used.
    """
    try:
        trusted = ssl.create_default_context(cafile=ca_file or None)
    except OSError as error:
        raise ConfigError(f"the file {ca_file!r} with authorities cannot be used: {error}", "ca_file must be a PEM file") from error

    def fetch(url: str) -> dict[str, Any]:
        try:
            trace = ANYWHERE.trace(urlsplit(url).hostname or "")
            with (
                httpx.Client(verify=trusted, timeout=WAIT_S, headers=_HEADERS, follow_redirects=False) as client,
                client.stream("GET", url, extensions={"trace": trace}) as response,
            ):
                return _json_object(_body(response), url)
        except (httpx.HTTPError, httpx.InvalidURL, ValueError) as error:
            raise UnreachableError(f"GET {url} failed: {str(error) or type(error).__name__}") from error

    return fetch


def _body(response: httpx.Response) -> bytes:
    """The bytes of a successful answer. Raises SourceError for any other, and for one that is too long or too slow."""
    url = response.request.url
    if response.status_code != 200:
        raise SourceError(f"GET {url} answered {response.status_code}")
    ends_at, pieces, size = time.monotonic() + WHOLE_S, [], 0
    for piece in response.iter_raw(1 << 16):
        pieces.append(piece)
        size += len(piece)
        if size > MOST_BYTES:
            raise SourceError(f"GET {url} answered more than {MOST_BYTES >> 10} KiB")
        if time.monotonic() > ends_at:
            raise UnreachableError(f"GET {url} was not answered within {WHOLE_S:g} s")
    return b"".join(pieces)


def _json_object(body: bytes, url: str) -> dict[str, Any]:
    try:
        return msgspec.json.decode(body, type=dict[str, Any])
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise SourceError(f"GET {url} did not answer a JSON object") from error
