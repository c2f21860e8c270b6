"""Makes responses: JSON values, and errors, which all have the same shape."""

import logging
from collections.abc import Callable, Generator, Iterable, Mapping
from http import HTTPStatus
from itertools import chain
from typing import Final

import msgspec
from anyio import CancelScope, to_thread
from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from msgspec import UNSET, UnsetType
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect
from starlette.responses import StreamingResponse
from starlette.types import Receive, Scope, Send

from lineage_bridge.api.schemas.names import ErrorAnswer, FieldProblem, Problem
from lineage_bridge.config.log_format import REQUEST_ID
from lineage_bridge.errors import (
    AbandonedError,
    AmbiguousError,
    ConfigError,
    GoneError,
    LineageBridgeError,
    LogError,
    LogFullError,
    NotFoundError,
    OverloadedError,
    RefusedError,
    RequestError,
    StoreError,
    StoreMissingError,
    StoreUnreachableError,
    UnavailableError,
)
from lineage_bridge.projections.shapes import Name

POSITION_HEADER: Final = "X-Lineage-Position"
JSON: Final = "application/json"
EVENT_STREAM: Final = "text/event-stream"
PROBLEM_JSON: Final = "application/problem+json"
_TYPE: Final = "urn:lineage-bridge:problem:"
_HEADERS: Final = {"Cache-Control": "no-store"}
_MOST_FIELDS: Final = 20
_RETRY_AFTER: Final = {"Retry-After": "1"}
_KINDS: Final[tuple[tuple[type[LineageBridgeError], int, str], ...]] = (
    (NotFoundError, 404, "not_found"),
    (AmbiguousError, 409, "ambiguous"),
    (GoneError, 410, "gone"),
    (RequestError, 422, "bad_argument"),
    (ConfigError, 422, "bad_setting"),
    (OverloadedError, 503, "overloaded"),
    (UnavailableError, 503, "unavailable"),
    (AbandonedError, 503, "abandoned"),
    (LogFullError, 507, "log_full"),
    (LogError, 503, "log_failed"),
    (StoreMissingError, 503, "no_graph_yet"),
    (StoreUnreachableError, 503, "store_unreachable"),
    (StoreError, 503, "store_failed"),
)
"""HTTP status and reason code of each kind of error. The first kind that matches is used."""
_CODES: Final = {404: "not_found", 405: "method_not_allowed"}

_log = logging.getLogger(__name__)


def json_response(value: object, status: int = 200, headers: Mapping[str, str] | None = None) -> Response:
    """A response with a value as JSON."""
    return raw_json_response(msgspec.json.encode(value), status, headers)


def raw_json_response(body: bytes, status: int = 200, headers: Mapping[str, str] | None = None) -> Response:
    """A response with a text that is JSON already and is sent unchanged."""
    return Response(body, status, {**_HEADERS, **(headers or {})}, JSON)


def raw_json_list(texts: Iterable[bytes], headers: Mapping[str, str]) -> Response:
    """A response with an array of texts that are JSON already and are sent unchanged."""
    return raw_json_response(b"[" + b",".join(texts) + b"]", 200, headers)


class _JsonStream(StreamingResponse):
    """A response that sends a JSON text in pieces, until the client disconnects."""

    def __init__(self, first: bytes, pieces: Generator[bytes, None, None], headers: Mapping[str, str]) -> None:
        super().__init__(chain((first,), pieces), 200, headers, JSON)
        self.pieces = pieces

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send the response."""
        try:
            await super().__call__(scope, receive, send)
        finally:
            with CancelScope(shield=True):
                await to_thread.run_sync(self.pieces.close)


def streaming_response(pieces: Generator[bytes, None, None], headers: Mapping[str, str]) -> Response:
    """Send JSON text in pieces as they are computed. An error before the first piece is answered with its own status."""
    first = next(pieces, b"")
    return _JsonStream(first, pieces, {**_HEADERS, **headers})


def error_answer(status: int, code: str, message: str, hint: str = "", headers: Mapping[str, str] | None = None) -> Response:
    """A response with an error, in the shape that all errors have."""
    return problem_response(Problem(code, message, hint), status, headers)


def problem_response(problem: Problem, status: int, headers: Mapping[str, str] | None = None) -> Response:
    """A response with an error that is given as a Problem."""
    answer = ErrorAnswer(f"{_TYPE}{problem.code}", HTTPStatus(status).phrase, status, problem.message, problem)
    return Response(msgspec.json.encode(answer), status, {**_HEADERS, **(headers or {})}, PROBLEM_JSON)


def install_error_handlers(app: FastAPI, clock_us: Callable[[], int]) -> None:
    """Make `app` answer every error in one shape."""
    app.exception_handler(LineageBridgeError)(_own_error)
    app.exception_handler(RequestValidationError)(_validation_error)
    app.exception_handler(HTTPException)(_http_error)
    app.exception_handler(ClientDisconnect)(_disconnected)

    def unexpected(request: Request, error: Exception) -> Response:
        id_ = REQUEST_ID.get() or f"{clock_us():x}"
        _log.error("request %s %s failed, id %s: %r", request.method, request.url.path, id_, error)
        hint = "look for this id in the server's log"
        return problem_response(Problem("internal", "the server could not answer because of an internal error", hint, id=id_), 500)

    app.exception_handler(Exception)(unexpected)


def error_response(error: LineageBridgeError) -> Response:
    """The response for a LineageBridgeError."""
    if isinstance(error, RefusedError):
        challenge = {"WWW-Authenticate": error.challenge} if error.challenge else None
        return error_answer(error.status, error.code, str(error), error.hint, _RETRY_AFTER if error.status == 503 else challenge)
    status, code = next(((status, code) for kind, status, code in _KINDS if isinstance(error, kind)), (503, "failed"))
    if isinstance(error, OverloadedError):
        code = error.code
    near = [Name(*names) for names in error.near] if isinstance(error, NotFoundError | AmbiguousError) else None
    problem = Problem(code, str(error), error.hint, UNSET if near is None else near, _fields(error.fields.items()))
    retry = {"Retry-After": str(error.retry_after_s)} if isinstance(error, OverloadedError) else _RETRY_AFTER
    return problem_response(problem, status, retry if status == 503 else None)


def _own_error(_: Request, error: LineageBridgeError) -> Response:
    return error_response(error)


def _validation_error(_: Request, error: RequestValidationError) -> Response:
    found = [(".".join(str(name) for name in item["loc"][1:]), str(item["msg"])) for item in error.errors()[:_MOST_FIELDS]]
    where, reason = found[0]
    message, hint = f"{where or 'the request'}: {reason}", "docs/api.md lists every route with its arguments"
    return problem_response(Problem("bad_argument", message, hint, fields=_fields(pair for pair in found if pair[0])), 422)


def _fields(found: Iterable[tuple[str, str]]) -> list[FieldProblem] | UnsetType:
    return [FieldProblem(path, reason) for path, reason in found] or UNSET


def _http_error(request: Request, error: HTTPException) -> Response:
    message = f"{error.detail}: {request.method} {request.url.path}"
    code = _CODES.get(error.status_code, "refused")
    return error_answer(error.status_code, code, message, "/docs lists every route", error.headers)


def _disconnected(_: Request, __: ClientDisconnect) -> Response:
    return error_answer(400, "disconnected", "the client disconnected before the request was complete")
