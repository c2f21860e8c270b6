"""Routes for erasures from the data folder: request one, and read the proofs."""

from typing import Annotated

import msgspec
from anyio import to_thread
from fastapi import APIRouter, Query, Request, Response

from lineage_bridge.api.bodies import read_body
from lineage_bridge.api.dependencies import Offset, api_router, page
from lineage_bridge.api.guard import admission
from lineage_bridge.api.openapi import body_docs, response_docs
from lineage_bridge.api.responses import json_response
from lineage_bridge.api.schemas.erasing.erasures import ErasedFile, ErasureBody, ErasureItem, ErasuresAnswer
from lineage_bridge.api.schemas.names import ErrorAnswer
from lineage_bridge.api.services import Services
from lineage_bridge.conversion import convert
from lineage_bridge.errors import RequestError
from lineage_bridge.model.erasing.erasure import ErasureReport
from lineage_bridge.openlineage.times import format_time

_BODIES = msgspec.json.Decoder(ErasureBody)


def routes(services: Services) -> APIRouter:
    """The routes for erasures."""
    router = api_router("operations", "/erasures")

    @router.post(
        "",
        response_model=None,
        openapi_extra=body_docs(ErasureBody),
        responses=response_docs({202: ErasureItem, 422: ErrorAnswer}),
    )
    async def post_erasure(request: Request) -> Response:
        """Erase a person, a run, a dataset or a namespace from every file of the data folder. The server stops its other programs for it,
        this one too, and clients wait.
        """
        body = _parse(await read_body(request))
        by = admission(request).principal.name
        report = await to_thread.run_sync(lambda: services.erasures.request(body.kind, body.name, body.namespace, body.dry_run, by))
        return json_response(_item(report), 202)

    @router.get("", response_model=None, responses=response_docs({200: ErasuresAnswer}, writes=False))
    def get_erasures(request: Request, limit: Annotated[int, Query(ge=1, le=1000)] = 100, offset: Offset = 0) -> Response:
        """Erasures, the newest first."""
        found, link = page(request, services.erasures.records(limit + 1, offset), limit, offset)
        return json_response(ErasuresAnswer(list(map(_item, found))), headers=link)

    @router.get("/{erasure_id}", response_model=None, responses=response_docs({200: ErasureItem, 404: ErrorAnswer}, writes=False))
    def get_erasure(erasure_id: str) -> Response:
        """The proof of an erasure."""
        return json_response(_item(services.erasures.record(erasure_id)))

    return router


def _parse(body: bytes) -> ErasureBody:
    """Parse the request. Raises RequestError, without what was sent: it may be somebody's identifier."""
    try:
        return _BODIES.decode(body)
    except msgspec.DecodeError as error:
        raise RequestError(
            f"invalid request: {error}", 'send {"kind": "person", "name": IDENTIFIER}; kinds: person, run, dataset, namespace'
        ) from error


def _item(report: ErasureReport) -> ErasureItem:
    found = {
        **msgspec.structs.asdict(report),
        "erased": report.erased,
        "masked": report.masked,
        "requested_at": format_time(report.requested_us),
        "files": [ErasedFile(path, counts.erased, counts.masked) for path, counts in sorted(report.files.items())],
    }
    if report.finished_us:
        found["finished_at"] = format_time(report.finished_us)
    return convert({name: value for name, value in found.items() if value != ""}, ErasureItem)
