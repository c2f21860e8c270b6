"""Reads what a proxy states about the client of a request, in the headers `X-Forwarded-*`.

The headers are trusted from the proxy's addresses only. Of several values, the last one counts, because the proxy itself wrote it; the
client may have written the others. The header `Forwarded` (RFC 7239) is not read, because a proxy that writes `X-Forwarded-*` passes
`Forwarded` on unchanged from the client.
"""

import re
from collections.abc import Mapping
from typing import Final, NamedTuple

from lineage_bridge.access.networks import Networks, plain_address
from lineage_bridge.config.external import check_prefix

_MOST_HOPS: Final = 20
"""How many addresses of `X-Forwarded-For` are evaluated, counted from its end."""
_HOST: Final = re.compile(r"[A-Za-z0-9._-]{1,253}(:\d{1,5})?|\[[0-9A-Fa-f:.]{2,45}\](:\d{1,5})?")
_WITH_PORT: Final = re.compile(r"\[(?P<v6>[^\]]+)\](?::\d+)?|(?P<v4>[\d.]+):\d+")


class Forwarded(NamedTuple):
    """The client that sent a request, and the address that the client used, as a proxy stated them. A member that the proxy did not state
    is empty.
    """

    client: str = ""
    scheme: str = ""
    host: str = ""
    prefix: str = ""


NOT_FORWARDED: Final = Forwarded()


def forwarded(headers: Mapping[str, str], proxies: Networks) -> Forwarded:
    """Read what the headers of a request from a proxy state about the client."""
    scheme, host, prefix = (_last(headers, f"x-forwarded-{name}") for name in ("proto", "host", "prefix"))
    return Forwarded(
        _client(_values(headers, "x-forwarded-for"), proxies),
        scheme.lower() if scheme.lower() in ("http", "https") else "",
        host if _HOST.fullmatch(host) else "",
        _prefix(prefix),
    )


def _client(hops: list[str], proxies: Networks) -> str:
    """The address of the client: the last address that is not a proxy's or, if all are addresses of proxies, the first one. A text that is
    not an address is ignored, with everything before it.
    """
    client = ""
    for hop in reversed(hops[-_MOST_HOPS:]):
        found = _WITH_PORT.fullmatch(hop)
        address = plain_address((found["v6"] or found["v4"]) if found else hop)
        if address is None:
            break
        client = str(address)
        if client not in proxies:
            break
    return client


def _prefix(text: str) -> str:
    prefix = text.rstrip("/")
    try:
        check_prefix(prefix)
    except ValueError:
        return ""
    return prefix


def _values(headers: Mapping[str, str], name: str) -> list[str]:
    """The values of a header in order. The header may occur several times."""
    return [value.strip() for header, text in headers.items() if header == name for value in text.split(",")]


def _last(headers: Mapping[str, str], name: str) -> str:
    return _values(headers, name)[-1] if name in headers else ""
