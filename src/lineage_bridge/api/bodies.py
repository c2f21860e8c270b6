"""Reads bodies of requests, within the limits of the guard."""

from typing import Final

from fastapi import Request

from lineage_bridge.api.guard import admission
from lineage_bridge.api.services import Services
from lineage_bridge.errors import RefusedError, RequestError
from lineage_bridge.ingest.payload import Payload

_IS_COMPRESSED: Final = {"": False, "identity": False, "gzip": True, "x-gzip": True, "deflate": True}
_NDJSON: Final = ("ndjson", "jsonl", "json-seq", "jsonlines")


async def read_payload(request: Request, services: Services) -> Payload:
    """Read the body of a request with events. Raises RefusedError for an unknown Content-Encoding."""
    encoding = request.headers.get("content-encoding", "").strip().lower()
    if encoding not in _IS_COMPRESSED:
        raise RefusedError(
            415, "encoding", f"unknown Content-Encoding {encoding!r}", "use Content-Encoding: gzip, or send the body uncompressed"
        )
    kind = request.headers.get("content-type", "").lower()
    return Payload(
        await request.body(),
        compressed=_IS_COMPRESSED[encoding],
        truncated=admission(request).body.truncated,
        ndjson=any(name in kind for name in _NDJSON),
        max_bytes=services.max_body_bytes,
        max_events=services.max_events,
    )


async def read_body(request: Request) -> bytes:
    """Read the body of a request that does not send events. Raises RequestError if it is too large."""
    body, bounded = await request.body(), admission(request).body
    if bounded.truncated:
        raise RequestError(f"the body has more than {bounded.limit} bytes", "split the body into several requests")
    return body
