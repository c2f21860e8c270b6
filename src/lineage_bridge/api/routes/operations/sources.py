"""Routes for sources: list, add, pause, poll, test and remove them."""

import msgspec
from anyio import to_thread
from fastapi import APIRouter, Request, Response
from msgspec import UNSET

from lineage_bridge.api.bodies import read_body
from lineage_bridge.api.dependencies import api_router
from lineage_bridge.api.limits.callers import caller_in
from lineage_bridge.api.openapi import body_docs, response_docs
from lineage_bridge.api.responses import json_response
from lineage_bridge.api.schemas.names import ErrorAnswer
from lineage_bridge.api.schemas.sources import (
    CheckItem,
    KindItem,
    KindsAnswer,
    SettingItem,
    SourceChecks,
    SourceFailure,
    SourceItem,
    SourceRemoved,
    SourceRequest,
    Sources,
    UnseenItem,
)
from lineage_bridge.api.serialization import time_text
from lineage_bridge.api.services import Services
from lineage_bridge.errors import RequestError
from lineage_bridge.model.sources import SourceRecord
from lineage_bridge.openlineage.times import SECOND_US, format_time

_ORDER = msgspec.json.Decoder(SourceRequest)


def routes(services: Services) -> APIRouter:
    """The routes for sources."""
    router = api_router("sources")
    _reading_routes(router, services)
    _add_route(router, services)
    _change_routes(router, services)
    return router


def _reading_routes(router: APIRouter, services: Services) -> None:
    @router.get("/sources", response_model=None, responses=response_docs({200: Sources}, writes=False))
    def get_sources() -> Response:
        """All sources and their states."""
        return json_response(Sources([_item(record) for record in services.sources.records()]))

    @router.get("/source-kinds", response_model=None, responses=response_docs({200: KindsAnswer}, writes=False))
    def get_source_kinds() -> Response:
        """The kinds of sources and their settings."""
        return json_response(
            KindsAnswer(
                [
                    KindItem(kind.kind, kind.description, [SettingItem(*setting) for setting in kind.settings])
                    for kind in services.sources.kinds()
                ]
            )
        )

    @router.get("/sources/{name}", response_model=None, responses=response_docs({200: SourceItem, 404: ErrorAnswer}, writes=False))
    def get_source(name: str) -> Response:
        """One source."""
        return json_response(_item(services.sources.record(name)))


def _add_route(router: APIRouter, services: Services) -> None:
    async def post_source(request: Request) -> Response:
        body = await read_body(request)
        order = _read(body)
        added = await to_thread.run_sync(
            lambda: services.sources.add(order.name, order.kind, order.settings, replace=order.replace),
        )
        return json_response(_item(added), 201)

    router.add_api_route(
        "/sources",
        post_source,
        methods=["POST"],
        description="Add a source. The first poll starts immediately.",
        response_model=None,
        openapi_extra=body_docs(SourceRequest),
        responses=response_docs({201: SourceItem, 422: ErrorAnswer}, writes=False),
    )


def _change_routes(router: APIRouter, services: Services) -> None:
    documented = response_docs({200: SourceItem, 404: ErrorAnswer, 422: ErrorAnswer}, writes=False)

    @router.delete(
        "/sources/{name}",
        response_model=None,
        responses=response_docs({200: SourceRemoved, 404: ErrorAnswer, 422: ErrorAnswer}, writes=False),
    )
    def delete_source(name: str) -> Response:
        """Remove a source. The events it sent stay."""
        services.sources.remove(name)
        return json_response(SourceRemoved(name))

    @router.post("/sources/{name}/pause", response_model=None, responses=documented)
    def pause_source(name: str) -> Response:
        """Pause a source until it is resumed."""
        return json_response(_item(services.sources.pause(name, paused=True)))

    @router.post("/sources/{name}/resume", response_model=None, responses=documented)
    def resume_source(name: str) -> Response:
        """Resume a paused source. It is polled immediately."""
        return json_response(_item(services.sources.pause(name, paused=False)))

    @router.post("/sources/{name}/poll", response_model=None, responses=documented)
    def poll_source(name: str) -> Response:
        """Poll a source now. The poll is done when `polls` has increased."""
        return json_response(_item(services.sources.poll(name)))

    @router.post(
        "/sources/{name}/test",
        response_model=None,
        responses=response_docs({200: SourceChecks, 404: ErrorAnswer}, writes=False),
    )
    async def test_source(request: Request, name: str) -> Response:
        """Test each step of a poll, without sending events."""
        checks = await services.trials.run(caller_in(request.scope), lambda: services.sources.test(name))
        return json_response(SourceChecks(all(check.works for check in checks), [CheckItem(*check) for check in checks]))


def _read(body: bytes) -> SourceRequest:
    """Parse a request to add a source. Raises RequestError."""
    try:
        return _ORDER.decode(body)
    except (ValueError, msgspec.DecodeError) as error:
        raise RequestError(
            f"invalid source: {error}", 'send {"name", "kind", "settings": {...}}; GET /api/v1/source-kinds lists the settings'
        ) from error


def _item(record: SourceRecord) -> SourceItem:
    state = record.state
    return SourceItem(
        name=record.name,
        kind=record.kind,
        state=_state(record),
        origin=record.origin,
        settings=record.settings,
        polls=state.polls,
        events=state.events,
        unseen=[UnseenItem(unseen.what, unseen.why, format_time(unseen.since_us)) for unseen in state.unseen],
        last_poll_at=time_text(state.tried_us),
        last_success_at=time_text(state.succeeded_us),
        failing_since=time_text(state.failing_since_us),
        last_error=UNSET if state.failed_us is None else SourceFailure(state.error, state.hint, format_time(state.failed_us)),
        next_poll_at=UNSET if state.paused else time_text(state.due_us),
        took_s=UNSET if state.took_us is None else state.took_us / SECOND_US,
    )


def _state(record: SourceRecord) -> str:
    state = record.state
    if state.paused:
        return "paused"
    if not state.polls:
        return "new"
    if state.failures:
        return "failing"
    return "partial" if state.unseen else "ok"
