"""Checks the head of a request, so that every proxy on the request's way interprets the head in the same way (RFC 9112).

The parser refuses much of this itself; these checks do not depend on it.
"""

import re
from collections.abc import Sequence
from typing import Final
from urllib.parse import urlsplit

Header = tuple[bytes, bytes]

_AUTHORITY: Final = re.compile(rb"(\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9._~!$&'()*+;=%-]*)(:[0-9]{0,5})?")
_TARGET: Final = re.compile(rb"[\x21\x22\x24-\x7e]+")
_LENGTH: Final = re.compile(rb"[0-9]{1,18}")
_WEB: Final = re.compile(rb"https?://", re.IGNORECASE)


def origin_form(method: bytes, target: bytes, headers: Sequence[Header]) -> tuple[bytes, list[Header]]:
    """Convert a request target to a path: without scheme and authority, which become the header Host (RFC 9112, 3.2.2).

    Raises ValueError with the reason if the target is not valid.
    """
    if not _TARGET.fullmatch(target):
        raise ValueError("the request target contains characters that must be percent-encoded")
    if target.startswith(b"/"):
        return target, list(headers)
    if target == b"*" and method == b"OPTIONS":
        return b"/", list(headers)
    if not _WEB.match(target):
        raise ValueError("the request target is neither a path nor an absolute URL")
    parts = urlsplit(target)
    if not parts.netloc or not _AUTHORITY.fullmatch(parts.netloc):
        raise ValueError("the request target contains an invalid host or port")
    path = parts.path or b"/"
    return path + (b"?" + parts.query if parts.query else b""), [*(h for h in headers if h[0] != b"host"), (b"host", parts.netloc)]


def check_head(version: str, headers: Sequence[Header]) -> None:
    """Check the head of a request. Raises ValueError with the reason if its host or the end of its body is ambiguous."""
    if version not in ("1.1", "1.0"):
        raise ValueError(f"HTTP/{version} is not supported")
    found = {name: [value for header, value in headers if header == name] for name in (b"host", b"content-length", b"transfer-encoding")}
    hosts, lengths, codings = found.values()
    if len(hosts) > 1 or (version == "1.1" and not hosts):
        raise ValueError(f"the request has {len(hosts)} Host headers instead of one")
    if hosts and not (hosts[0] and _AUTHORITY.fullmatch(hosts[0])):
        raise ValueError("the header Host is not valid")
    if len(lengths) > 1 or (lengths and not _LENGTH.fullmatch(lengths[0])):
        raise ValueError("the header Content-Length must be a single number")
    if codings and (lengths or version != "1.1" or [coding.lower() for coding in codings] != [b"chunked"]):
        raise ValueError("the only supported Transfer-Encoding is chunked, given once, in HTTP/1.1 and without Content-Length")
