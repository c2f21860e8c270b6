"""Makes the OpenAPI document, with LineageBridge's schemas. It has version 3.0, which the offline documentation page can show."""

import inspect
import sys
from collections.abc import Mapping
from functools import cache
from typing import Any

import msgspec
from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi

from lineage_bridge.api import schemas
from lineage_bridge.api.responses import EVENT_STREAM, JSON, PROBLEM_JSON
from lineage_bridge.api.schemas.names import ErrorAnswer
from lineage_bridge.api.scopes import REQUIREMENTS, Requirement
from lineage_bridge.model.access import AccessScope
from lineage_bridge.projections import event_shapes, shapes
from lineage_bridge.projections.importing import shapes as import_shapes

OPENAPI_VERSION = "3.0.3"
_REFERENCE = "#/components/schemas/{name}"
_TEXTS = {
    200: "Done",
    201: "Durable",
    202: "Durable; answers show the effect soon",
    303: "Redirect to the address in the header Location",
    400: "Not JSON; kept in quarantine",
    401: "Not authenticated: without an API key, or with one that is not valid",
    403: "Refused because of the scopes or namespaces of the key, the Host header, the page of the request, or the machine that sends it",
    404: "Not found; the answer lists similar names",
    409: "Ambiguous: several nodes match; the answer lists their names",
    410: "No longer kept; the hint says how to continue",
    413: "Too large; a sample is kept in quarantine",
    415: "An unknown Content-Encoding",
    422: "Rejected; events are kept in quarantine",
    501: "Not available in this release",
    503: "Unavailable; send again later",
    507: "The disk is full; nothing was acknowledged",
}
_ANY_CALL: Mapping[int, Any] = {401: ErrorAnswer, 403: ErrorAnswer, 503: ErrorAnswer}
_SECURITY, _SESSION = "key", "session"

EVENTS_BODY = {
    "requestBody": {
        "required": True,
        "description": "OpenLineage events: one, an array, an object with `events`, or NDJSON. Content-Encoding gzip is supported.",
        "content": {"application/json": {"schema": {}}, "application/x-ndjson": {"schema": {"type": "string"}}},
    }
}


def body_docs(shape: object, *, required: bool = True) -> dict[str, Any]:
    """The documentation of a request's JSON body."""
    return {"requestBody": {"required": required, "content": _content(shape)}}


def response_docs(shapes: Mapping[int, Any], *, writes: bool = True) -> dict[int | str, dict[str, Any]]:
    """The documentation of a route's responses by status. A tuple of shapes means that the response has one of them."""
    every = {**_ANY_CALL, **({507: ErrorAnswer} if writes else {})}
    every |= {status: (*_all(shape), *_all(every.get(status, ()))) for status, shape in shapes.items()}
    return {status: {"description": _TEXTS[status], "content": _content(shape)} for status, shape in every.items()}


def event_stream_docs(*shapes: Any) -> dict[int | str, dict[str, Any]]:  # noqa: ANN401 - as those of `response_docs`
    """The documentation of a route that answers with server-sent events, whose data has one of these shapes."""
    docs = response_docs({200: shapes, 404: ErrorAnswer}, writes=False)
    return {**docs, 200: {**docs[200], "content": {EVENT_STREAM: docs[200]["content"][JSON]}}}


def openapi_document(app: FastAPI) -> dict[str, Any]:
    """The OpenAPI document of `app`."""
    document = get_openapi(
        title=app.title,
        version=app.version,
        openapi_version=OPENAPI_VERSION,
        description=app.description,
        routes=app.routes,
    )
    _, components = msgspec.json.schema_components(_shapes(), ref_template=_REFERENCE)
    schemas = document.setdefault("components", {}).setdefault("schemas", {})
    schemas.update(components)
    document["components"]["securitySchemes"] = {
        _SECURITY: {"type": "http", "scheme": "bearer", "bearerFormat": "lb_..."},
        _SESSION: {"type": "apiKey", "in": "cookie", "name": "lineage-session", "description": "The session of a browser: /auth/login"},
    }
    needed = {line.replace(":path}", "}"): requirement for line, requirement in REQUIREMENTS.items()}
    for path, operations in document["paths"].items():
        for method, operation in operations.items():
            _drop_framework_errors(operation, schemas)
            _add_requirement(operation, needed[f"{method.upper()} {path}"])
    return {key: _as_version_3_0(member) for key, member in document.items()}


def _shapes() -> list[type[msgspec.Struct]]:
    """Collect every shape of requests and answers: those of the projections, and of each module of `api.schemas` that a route has
    imported.
    """
    modules = [module for name, module in sorted(sys.modules.items()) if name.startswith(f"{schemas.__name__}.")]
    modules += [shapes, event_shapes, import_shapes]
    members = {shape for module in modules for _, shape in inspect.getmembers(module, inspect.isclass)}
    return sorted((s for s in members if issubclass(s, msgspec.Struct)), key=lambda s: (s.__module__, s.__name__))


def _content(shape: object) -> dict[str, Any]:
    """The documentation of a JSON text that has this shape, or one of these shapes. Errors have a media type of their own."""
    shapes = _all(shape)
    schemas = [_schema(item) for item in shapes if item is not ErrorAnswer]
    content = {JSON: {"schema": schemas[0] if len(schemas) == 1 else {"anyOf": schemas}}} if schemas else {}
    return {**content, PROBLEM_JSON: {"schema": _schema(ErrorAnswer)}} if ErrorAnswer in shapes else content


def _all(shape: object) -> tuple[object, ...]:
    return shape if isinstance(shape, tuple) else (shape,)


@cache
def _schema(shape: object) -> dict[str, Any]:
    """The JSON Schema of one shape, cached; callers must not change it."""
    (schema,), _ = msgspec.json.schema_components([shape], ref_template=_REFERENCE)
    return schema


def _drop_framework_errors(operation: dict[str, Any], schemas: dict[str, Any]) -> None:
    """Replace the framework's schema of errors by LineageBridge's."""
    schemas.pop("HTTPValidationError", None)
    schemas.pop("ValidationError", None)
    wrong = operation.get("responses", {}).get("422", {})
    if "HTTPValidationError" in str(wrong):
        wrong.update(description="An argument is invalid", content=_content(ErrorAnswer))


def _add_requirement(operation: dict[str, Any], needed: Requirement) -> None:
    """Add the scope that a route requires, for servers that require API keys."""
    operation["security"] = [] if needed == "nothing" else [{_SECURITY: []}, {_SESSION: []}]
    if isinstance(needed, AccessScope):
        operation["x-required-scope"] = needed.value
        operation["description"] = f"{operation.get('description', '')} Scope: `{needed.value}`.".strip()


def _as_version_3_0(value: Any) -> Any:  # noqa: ANN401 - a JSON edge
    """Replace what only version 3.1 allows in a document: null as a type, const, empty lists, and excluded bounds."""
    if isinstance(value, list):
        return [_as_version_3_0(element) for element in value]
    if not isinstance(value, dict):
        return value
    plain = {key: _as_version_3_0(member) for key, member in value.items()}
    if "const" in plain:
        plain["enum"] = [plain.pop("const")]
    if plain.get("required") == []:
        del plain["required"]
    for bound in ("minimum", "maximum"):
        excluded = f"exclusive{bound.capitalize()}"
        if isinstance(plain.get(excluded), int | float) and not isinstance(plain[excluded], bool):
            plain[bound], plain[excluded] = plain[excluded], True
    kinds = plain.get("anyOf")
    if isinstance(kinds, list) and {"type": "null"} in kinds:
        rest = [kind for kind in kinds if kind != {"type": "null"}]
        del plain["anyOf"]
        plain = {**plain, **(rest[0] if len(rest) == 1 else {"anyOf": rest}), "nullable": True}
    return plain
