"""Error answers to invalid requests and to connections above the limit. The connection is closed after them."""

from http import HTTPStatus
from typing import Final

from lineage_bridge.api.guard import NO_CONTENT_POLICY, SECURITY_HEADERS
from lineage_bridge.api.responses import error_answer

_REFUSALS: Final = {
    "malformed_request": (400, "the request is not valid HTTP/1.1", "RFC 9112 defines the format"),
    "no_proxy": (400, "this server is not a proxy", "use a path of this server as the request target"),
    "head_too_large": (431, "the request line and headers are too large", "send fewer and shorter headers"),
    "target_too_long": (414, "the target of the request is too long", "send long values in the body instead of the URL"),
    "too_slow": (408, "the request did not arrive completely within the time limit", "send it faster, or in several requests"),
    "too_many_connections": (503, "too many connections are open", "try again later, or use one connection for many requests"),
    "too_many_connections_of_address": (
        503,
        "too many connections from this address are open",
        "use one connection for many requests; an operator can raise the setting `max_connections_per_address`",
    ),
}
"""Status, message and hint of each refusal, by its code."""


def refusal(code: str, problem: str = "") -> bytes:
    """The bytes of an error answer. `problem` is a message that says more than the code."""
    status, message, hint = _REFUSALS[code]
    headers = {"Connection": "close", **({"Retry-After": "5"} if status == 503 else {})}
    answer = error_answer(status, code, problem or message, hint, headers)
    lines = [f"HTTP/1.1 {status} {HTTPStatus(status).phrase}".encode()]
    lines += [b"%b: %b" % header for header in (*answer.raw_headers, *SECURITY_HEADERS, NO_CONTENT_POLICY)]
    return b"\r\n".join([*lines, b"", bytes(answer.body)])
