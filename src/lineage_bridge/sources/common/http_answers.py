"""Reads answers of REST APIs: their whole body, an error in one line, and how long to wait."""

import email.utils
import time
from contextlib import closing
from typing import Final

import httpx

from lineage_bridge.errors import SourceError

MOST_BYTES: Final = 64 << 20
"""The maximum size of a decompressed answer in bytes."""
_MESSAGE: Final = 300
_OF_TRANSFER: Final = frozenset(("content-encoding", "content-length", "transfer-encoding"))


def read_whole(response: httpx.Response, named: str) -> httpx.Response:
    """Read the whole body of a response. Raises SourceError if it is longer than `MOST_BYTES`."""
    pieces, size = [], 0
    with closing(response):
        for piece in response.iter_bytes():
            pieces.append(piece)
            size += len(piece)
            if size > MOST_BYTES:
                raise SourceError(f"{named} answered more than {MOST_BYTES >> 20} MiB", "check that the address is that of the REST API")
    headers = [(name, value) for name, value in response.headers.multi_items() if name.lower() not in _OF_TRANSFER]
    return httpx.Response(response.status_code, headers=headers, content=b"".join(pieces), request=response.request)


def message_of(response: httpx.Response) -> str:
    """The error message in a JSON answer, in one line of at most 300 printable characters. An error code that consists of words comes
    before it.
    """
    try:
        body = response.json()
    except (ValueError, RecursionError):
        return ""
    if not isinstance(body, dict):
        return ""
    inner = body["error"] if isinstance(body.get("error"), dict) else body
    code = inner.get("code") if isinstance(inner.get("code"), str) else ""
    message = inner.get("message") or _details(inner.get("errors")) or inner.get("error") or inner.get("errorMessage")
    text = ": ".join(str(part) for part in (code, message) if part)
    return " ".join("".join(sign if sign.isprintable() else " " for sign in text).split())[:_MESSAGE]


def error_code_of(response: httpx.Response) -> str:
    """The member `error_code` of a JSON answer, in which some systems send a word for the error; empty if there is none."""
    try:
        body = response.json()
    except (ValueError, RecursionError):
        return ""
    code = body.get("error_code") if isinstance(body, dict) else None
    return code if isinstance(code, str) else ""


def _details(errors: object) -> object:
    """The messages in a list of errors in the style of JSON:API. Any other value is returned unchanged."""
    if not isinstance(errors, list):
        return errors
    texts = [error.get("detail") or error.get("title") if isinstance(error, dict) else error for error in errors]
    return "; ".join(str(text) for text in texts if text)


def asked_wait(response: httpx.Response) -> float | None:
    """The number of seconds in the header Retry-After; None if the header is missing or cannot be read."""
    asked = response.headers.get("Retry-After", "")
    if asked.isascii() and asked.isdigit():
        return float(asked)
    try:
        return max(0.0, email.utils.parsedate_to_datetime(asked).timestamp() - time.time())
    except ValueError:
        return None
