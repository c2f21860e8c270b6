"""Requests, answers, errors and paged lists in the form of Confluent Cloud's APIs."""

import base64
import hashlib
from typing import Any, NamedTuple
from urllib.parse import urlencode

from tests.confluent.organization.values import Json


class Request(NamedTuple):
    """A request. `parts`: the path's, unquoted, behind the prefix of its plane; `query`: all values of each parameter."""

    method: str
    path: str
    parts: tuple[str, ...]
    query: dict[str, list[str]]
    body: Any
    headers: dict[str, str]
    credential: Json

    def value(self, name: str, default: str = "") -> str:
        """The last value of a parameter."""
        return self.query.get(name, [default])[-1]

    def values(self, name: str) -> list[str]:
        """All values of a parameter that is repeated or separated by commas."""
        return [part for value in self.query.get(name, []) for part in value.split(",") if part]


class Answer(NamedTuple):
    """An answer; `body` is sent as JSON, bytes as they are."""

    status: int
    body: Any
    content_type: str = "application/json"
    headers: dict[str, str] = {}  # noqa: RUF012 - never changed


TITLES = {400: "Bad Request", 401: "Unauthorized", 403: "Forbidden", 404: "Not Found", 405: "Method Not Allowed", 429: "Too Many Requests"}


def error(status: int, detail: str, plane: str = "", code: int = 0) -> Answer:
    """An error in the shape of the plane: Confluent's errors[], or that of Kafka REST, the registry or ksqlDB."""
    code = code or status * 100
    if plane == "ksqldb":
        kind = "application/vnd.ksql.v1+json"
        return Answer(status, {"@type": "generic_error", "error_code": code, "message": detail}, kind)
    if plane in ("kafka", "registry", "catalog"):
        return Answer(status, {"error_code": code if code % 100 or plane == "kafka" else status, "message": detail})
    name = hashlib.sha256(f"{status} {detail}".encode()).hexdigest()[:32]
    title = TITLES.get(status, "Internal Server Error")
    problem = {"id": name, "status": str(status), "code": title.lower().replace(" ", "_"), "title": title, "detail": detail, "source": {}}
    return Answer(status, {"errors": [problem]})


PUBLIC_URL = "https://api.confluent.cloud"


def paged(base: str, request: Request, kind: str, items: list[Json]) -> Answer:
    """A page of a list: 10 entries unless `page_size` is set, at most 100.

    `metadata.next` is the full address of the next page, on Confluent Cloud's own host, whatever host was asked.

    `base`: address of the API that the request's path is below; `kind`: version and kind of the entries (`org/v2 Environment`).
    """
    version, _, name = kind.partition(" ")
    size = request.value("page_size", "10")
    if not size.isdigit() or not 1 <= int(size) <= 100:
        return error(400, f"page_size must be between 1 and 100, not {size}")
    token = request.value("page_token")
    start = _start(request, token)
    if start is None:
        return error(400, "page_token is not valid")
    end = start + int(size)
    metadata: Json = {"first": f"{base}{request.path}", "total_size": len(items)}
    if end < len(items):
        query = [(key, value) for key, values in request.query.items() if key != "page_token" for value in values]
        metadata["next"] = f"{PUBLIC_URL}{request.path}?{urlencode([*query, ('page_token', _token(request, end))])}"
    return Answer(200, {"api_version": version, "kind": f"{name}List", "metadata": metadata, "data": items[start:end]})


def _token(request: Request, start: int) -> str:
    return base64.urlsafe_b64encode(f"{start}@{request.path}".encode()).decode().rstrip("=")


def _start(request: Request, token: str) -> int | None:
    """Where a page starts; None for a token that was not given for this list."""
    if not token:
        return 0
    try:
        start, _, path = base64.urlsafe_b64decode(token + "=" * (-len(token) % 4)).decode().partition("@")
    except ValueError:
        return None
    return int(start) if start.isdigit() and path == request.path else None
