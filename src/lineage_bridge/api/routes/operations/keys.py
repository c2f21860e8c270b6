"""Routes for API keys: list, create, rotate and revoke them."""

from typing import TypeVar

import msgspec
from anyio import to_thread
from fastapi import APIRouter, Request, Response
from msgspec import UNSET

from lineage_bridge.api.bodies import read_body
from lineage_bridge.api.dependencies import api_router
from lineage_bridge.api.guard import admission
from lineage_bridge.api.openapi import body_docs, response_docs
from lineage_bridge.api.responses import json_response
from lineage_bridge.api.schemas.names import ErrorAnswer
from lineage_bridge.api.schemas.operations import KeyItem, KeyRequest, Keys, KeysRevoked, RotateRequest
from lineage_bridge.api.serialization import time_text
from lineage_bridge.api.services import Services
from lineage_bridge.errors import RequestError
from lineage_bridge.model.access import AccessScope, ApiKey, KeyOptions
from lineage_bridge.openlineage.times import SECOND_US, format_time

LONGEST_S = 100 * 366 * 86_400
_ORDERS = msgspec.json.Decoder(KeyRequest)
_ROTATIONS = msgspec.json.Decoder(RotateRequest)
_ReadT = TypeVar("_ReadT")


def routes(services: Services) -> APIRouter:
    """The routes for API keys."""
    router = api_router("keys", "/keys")

    @router.get("", response_model=None, responses=response_docs({200: Keys}, writes=False))
    def get_keys() -> Response:
        """API keys, without their secrets, which are not stored."""
        return json_response(Keys([_item(services, key) for key in services.keys.records()]))

    @router.delete("/{name:path}", response_model=None, responses=response_docs({200: KeysRevoked, 404: ErrorAnswer}, writes=False))
    def delete_key(name: str) -> Response:
        """Revoke the keys with this name, or the one with this id. They stop working at once."""
        return json_response(KeysRevoked(services.keys.revoke(name)))

    _creating_routes(router, services)
    return router


def _creating_routes(router: APIRouter, services: Services) -> None:
    @router.post(
        "",
        response_model=None,
        status_code=201,
        openapi_extra=body_docs(KeyRequest),
        responses=response_docs({201: KeyItem, 422: ErrorAnswer}, writes=False),
    )
    async def post_key(request: Request) -> Response:
        """Create an API key. Only this answer contains the key's text."""
        asked = _read(_ORDERS, await read_body(request))
        expires_us = None if asked.expires_in_s is None else services.clock_us() + _duration_us(asked.expires_in_s)
        options = KeyOptions(
            asked.name, frozenset(map(AccessScope, asked.scopes)), tuple(asked.namespaces), asked.note, expires_us, tuple(asked.teams)
        )
        return json_response(_item(services, *await to_thread.run_sync(services.keys.create, options, _by(request))), 201)

    @router.post(
        "/{name:path}/rotate",
        response_model=None,
        status_code=201,
        openapi_extra=body_docs(RotateRequest, required=False),
        responses=response_docs({201: KeyItem, 404: ErrorAnswer, 422: ErrorAnswer}, writes=False),
    )
    async def post_rotate(request: Request, name: str) -> Response:
        """Create another key with the same name and rights. The previous key stays valid for a grace period."""
        body = await read_body(request)
        grace_us = _duration_us(_read(_ROTATIONS, body).grace_s if body.strip() else RotateRequest().grace_s)
        return json_response(_item(services, *await to_thread.run_sync(services.keys.rotate, name, grace_us, _by(request))), 201)


def _read(decoder: msgspec.json.Decoder[_ReadT], body: bytes) -> _ReadT:
    try:
        return decoder.decode(body)
    except (ValueError, msgspec.DecodeError) as error:
        raise RequestError(f"invalid request: {error}", 'send {"name", "scopes": ["ingest", ...]}') from error


def _duration_us(seconds: int) -> int:
    if not 0 <= seconds <= LONGEST_S:
        raise RequestError(f"{seconds} seconds is not a valid lifetime of a key", f"send 0 to {LONGEST_S}")
    return seconds * SECOND_US


def _by(request: Request) -> str:
    return admission(request).principal.name


def _item(services: Services, key: ApiKey, text: str = "") -> KeyItem:
    return KeyItem(
        id=key.id,
        name=key.name,
        scopes=[scope.value for scope in sorted(key.scopes)],
        namespaces=list(key.namespaces),
        state=key.state(services.clock_us()),
        note=key.note,
        created_at=format_time(key.created_us),
        created_by=key.created_by,
        expires_at=time_text(key.expires_us),
        revoked_at=time_text(key.revoked_us),
        last_used_at=time_text(key.used_us),
        teams=list(key.teams),
        key=text or UNSET,
    )
