"""Pins: short links to views of the web page."""

import re
from typing import Annotated, Final

import msgspec
from anyio import to_thread
from fastapi import APIRouter, Path, Query, Request, Response

from lineage_bridge.api.auditing import note_unchanged
from lineage_bridge.api.bodies import read_body
from lineage_bridge.api.dependencies import Offset, api_router, mend_argument, page
from lineage_bridge.api.guard import admitted_principal, require_author
from lineage_bridge.api.openapi import body_docs, response_docs
from lineage_bridge.api.responses import json_response
from lineage_bridge.api.schemas.names import ErrorAnswer
from lineage_bridge.api.schemas.operations import PinItem, PinRemoved, PinRequest, PinsAnswer
from lineage_bridge.api.services import Services
from lineage_bridge.errors import NotFoundError, RefusedError, RequestError
from lineage_bridge.model.access import AccessScope
from lineage_bridge.openlineage.times import format_time
from lineage_bridge.ports.pins import Pin

LONGEST_ADDRESS: Final = 8192
LONGEST_NAME: Final = 200
_VIEW: Final = re.compile(r"view/(?!pin\b)[a-z][a-z-]*(\?[!-~]*)?")
"""The address of a view, as the page writes it, relative to the address of the page. It can neither lead elsewhere nor to another pin."""
_REQUESTS: Final = msgspec.json.Decoder(PinRequest)
PinId = Annotated[str, Path(max_length=64, description="The pin's id")]


def routes(services: Services) -> APIRouter:
    """The routes for pins."""
    router = api_router("pins", "/pins")

    @router.get("", response_model=None, responses=response_docs({200: PinsAnswer}, writes=False))
    def get_pins(request: Request, limit: Annotated[int, Query(ge=1, le=1000)] = 100, offset: Offset = 0) -> Response:
        """Pins, the newest first. A principal that is limited to namespaces only sees its own pins, because addresses contain names."""
        principal = admitted_principal(request.scope)
        author = None if principal.visibility is None else principal.name
        shown, link = page(request, services.pins.records(author, limit + 1, offset), limit, offset)
        return json_response(PinsAnswer(list(map(_item, shown))), headers=link)

    @router.get("/{pin_id}", response_model=None, responses=response_docs({200: PinItem, 404: ErrorAnswer}, writes=False))
    def get_pin(pin_id: PinId) -> Response:
        """The pin with this id, for everybody who knows the id."""
        return json_response(_item(_require(services, pin_id)))

    @router.post(
        "",
        response_model=None,
        status_code=201,
        openapi_extra=body_docs(PinRequest),
        responses=response_docs({200: PinItem, 201: PinItem, 422: ErrorAnswer}, writes=False),
    )
    async def post_pin(request: Request) -> Response:
        """Keep the address of a view under a short id. A pin contains no data: the view shows what the graph has when the pin is opened. If
        the principal already has a pin with this address and name, it is returned (200).
        """
        principal = admitted_principal(request.scope)
        require_author(principal)
        asked, author = _read(await read_body(request)), principal.name
        kept, new = await to_thread.run_sync(services.pins.keep, asked.address, mend_argument(asked.name), author, services.clock_us())
        if not new:
            note_unchanged(request.scope)
        return json_response(_item(kept), 201 if new else 200)

    @router.delete(
        "/{pin_id}", response_model=None, responses=response_docs({200: PinRemoved, 403: ErrorAnswer, 404: ErrorAnswer}, writes=False)
    )
    def delete_pin(request: Request, pin_id: PinId) -> Response:
        """Remove a pin. Only its author and principals with the scope `operate` may do so."""
        principal = admitted_principal(request.scope)
        require_author(principal)
        pin = _require(services, pin_id)
        if pin.author != principal.name and AccessScope.OPERATE not in principal.scopes:
            raise RefusedError(
                403,
                "missing_scope",
                f"the pin belongs to {pin.author!r}",
                "only its author, or a principal with the scope operate, can remove it",
            )
        return json_response(PinRemoved(services.pins.remove(pin_id)))

    return router


def _read(body: bytes) -> PinRequest:
    """Decode a request. Raises RequestError if its address is not that of a view, or is too long."""
    try:
        asked = _REQUESTS.decode(body)
    except (ValueError, msgspec.DecodeError) as error:
        raise RequestError(f"invalid request: {error}", 'send {"address": "view/...", "name"}') from error
    if len(asked.address) > LONGEST_ADDRESS or len(asked.name) > LONGEST_NAME:
        raise RequestError(
            "the address or the name is too long", f"an address has up to {LONGEST_ADDRESS} characters, a name {LONGEST_NAME}"
        )
    if not _VIEW.fullmatch(asked.address):
        raise RequestError(
            f"not an address of a view: {asked.address[:100]!r}", "send the part of the page's address that begins with view/"
        )
    return asked


def _require(services: Services, pin_id: str) -> Pin:
    pin = services.pins.find(pin_id)
    if pin is None:
        raise NotFoundError(f"there is no pin {pin_id!r}", "the pin was removed, or the link is incomplete")
    return pin


def _item(pin: Pin) -> PinItem:
    return PinItem(pin.id, pin.address, pin.name, pin.author, format_time(pin.created_us))
