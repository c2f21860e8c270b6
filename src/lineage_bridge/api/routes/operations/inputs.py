"""Routes for inputs: list, add, pause, test and remove them. An internal route ingests the events of inputs."""

from collections.abc import Callable
from typing import Final, TypeVar

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
    InputItem,
    InputPlace,
    InputRemoved,
    InputRequest,
    Inputs,
    KindItem,
    KindsAnswer,
    SettingItem,
    SourceChecks,
    SourceFailure,
)
from lineage_bridge.api.serialization import time_text
from lineage_bridge.api.services import Services
from lineage_bridge.errors import RequestError
from lineage_bridge.model.sources import InputProgress, InputRecord, InputStatus
from lineage_bridge.openlineage.times import format_time
from lineage_bridge.ports.inputs import InputStart, unpack_batch

_ORDER = msgspec.json.Decoder(InputRequest)
_START = msgspec.json.Decoder(InputStart)
_EXACT: Final = 2**53
"""Larger integers are rounded by JSON parsers that represent all numbers as doubles."""
_BodyT = TypeVar("_BodyT")


def routes(services: Services) -> APIRouter:
    """The routes for inputs."""
    router = api_router("inputs")
    _reading_routes(router, services)
    _add_route(router, services)
    _change_routes(router, services)
    _intake_routes(router, services)
    return router


def _reading_routes(router: APIRouter, services: Services) -> None:
    @router.get("/inputs", response_model=None, responses=response_docs({200: Inputs}, writes=False))
    def get_inputs() -> Response:
        """All inputs and their states."""
        return json_response(Inputs([_item(record) for record in services.inputs.records()]))

    @router.get("/input-kinds", response_model=None, responses=response_docs({200: KindsAnswer}, writes=False))
    def get_input_kinds() -> Response:
        """The kinds of inputs and their settings."""
        kinds = [
            KindItem(kind.kind, kind.description, [SettingItem(*setting) for setting in kind.settings]) for kind in services.inputs.kinds()
        ]
        return json_response(KindsAnswer(kinds))

    @router.get("/inputs/{name}", response_model=None, responses=response_docs({200: InputItem, 404: ErrorAnswer}, writes=False))
    def get_input(name: str) -> Response:
        """One input."""
        return json_response(_item(services.inputs.record(name)))


def _add_route(router: APIRouter, services: Services) -> None:
    async def post_input(request: Request) -> Response:
        order = _read(await read_body(request))
        added = await to_thread.run_sync(
            lambda: services.inputs.add(order.name, order.kind, order.settings, replace=order.replace),
        )
        return json_response(_item(added), 201)

    router.add_api_route(
        "/inputs",
        post_input,
        methods=["POST"],
        description="Add an input. Reading starts immediately.",
        response_model=None,
        openapi_extra=body_docs(InputRequest),
        responses=response_docs({201: InputItem, 422: ErrorAnswer}, writes=False),
    )


def _change_routes(router: APIRouter, services: Services) -> None:
    documented = response_docs({200: InputItem, 404: ErrorAnswer, 422: ErrorAnswer}, writes=False)

    @router.delete(
        "/inputs/{name}",
        response_model=None,
        responses=response_docs({200: InputRemoved, 404: ErrorAnswer, 422: ErrorAnswer}, writes=False),
    )
    def delete_input(name: str) -> Response:
        """Remove an input. Its events stay in the graph."""
        services.inputs.remove(name)
        return json_response(InputRemoved(name))

    @router.post("/inputs/{name}/pause", response_model=None, responses=documented)
    def pause_input(name: str) -> Response:
        """Stop reading an input until it is resumed."""
        return json_response(_item(services.inputs.pause(name, paused=True)))

    @router.post("/inputs/{name}/resume", response_model=None, responses=documented)
    def resume_input(name: str) -> Response:
        """Resume a paused input, at the position where it was paused."""
        return json_response(_item(services.inputs.pause(name, paused=False)))

    @router.post("/inputs/{name}/test", response_model=None, responses=response_docs({200: SourceChecks, 404: ErrorAnswer}, writes=False))
    async def test_input(request: Request, name: str) -> Response:
        """Test each step of reading, without ingesting any event."""
        checks = await services.trials.run(caller_in(request.scope), lambda: services.inputs.test(name))
        return json_response(SourceChecks(all(check.works for check in checks), [CheckItem(*check) for check in checks]))


def _intake_routes(router: APIRouter, services: Services) -> None:
    """The internal routes for the process that reads inputs. No other principal may call them, because the records in these requests count
    as validated.
    """

    @router.get("/inputs/{name}/positions", include_in_schema=False)
    def get_positions(name: str, files: str = "") -> Response:
        services.inputs.check(name)
        keys = files.split(",") if files else []
        return Response(msgspec.json.encode(services.input_log.positions(name, keys)), media_type="application/json")

    @router.post("/inputs/{name}/positions", include_in_schema=False)
    async def post_positions(name: str, request: Request) -> Response:
        body = await read_body(request)

        def begin() -> None:
            services.inputs.check(name)
            services.input_log.begin(name, _decoded(_START.decode, body))

        await to_thread.run_sync(begin, limiter=services.input_threads)
        return Response(status_code=204)

    @router.post("/inputs/{name}/records", include_in_schema=False)
    async def post_records(name: str, request: Request) -> Response:
        body = await read_body(request)

        def append() -> None:
            services.inputs.check(name)
            services.input_log.append(name, _decoded(unpack_batch, body))

        await to_thread.run_sync(append, limiter=services.input_threads)
        return Response(status_code=204)


def _decoded(decode: Callable[[bytes], _BodyT], body: bytes) -> _BodyT:
    """Decode the body of an internal request. Raises RequestError."""
    try:
        return decode(body)
    except msgspec.DecodeError as error:
        raise RequestError(f"the body cannot be read: {error}", "only LineageBridge's own processes send such bodies") from error


def _read(body: bytes) -> InputRequest:
    """Parse a request to add an input. Raises RequestError."""
    try:
        return _ORDER.decode(body)
    except (ValueError, msgspec.DecodeError) as error:
        raise RequestError(
            f"invalid input: {error}", 'send {"name", "kind", "settings": {...}}; GET /api/v1/input-kinds lists the settings'
        ) from error


def _item(record: InputRecord) -> InputItem:
    status, progress = record.status or InputStatus(), record.progress or InputProgress()
    return InputItem(
        name=record.name,
        kind=record.kind,
        state="paused" if record.paused else record.status.state if record.status else "unread",
        origin=record.origin,
        settings=record.settings,
        accepted=progress.accepted,
        rejected=dict(sorted(progress.rejected.items())),
        records_per_s=status.records_per_s,
        read=status.read,
        skipped=status.skipped,
        filtered=status.filtered,
        lost=status.lost,
        partitions=status.partitions,
        problems=list(status.problems),
        since=time_text(status.since_us or None),
        lag_records=UNSET if status.lag_records is None else status.lag_records,
        lag_files=UNSET if status.lag_files is None else status.lag_files,
        lag_bytes=UNSET if status.lag_bytes is None else status.lag_bytes,
        lag_s=UNSET if status.lag_s is None else round(status.lag_s, 1),
        last_record=_last_record(progress),
        last_error=UNSET if status.failed_us is None else SourceFailure(status.error, status.hint, format_time(status.failed_us)),
    )


def _last_record(progress: InputProgress) -> "InputPlace | msgspec.UnsetType":
    last = progress.last
    if last is None or progress.last_us is None:
        return UNSET
    at = UNSET if last.at_ms is None else format_time(last.at_ms * 1000)
    offset = last.offset if last.offset < _EXACT else str(last.offset)
    part = UNSET if last.part is None else last.part
    return InputPlace(last.stream, last.partition, offset, format_time(progress.last_us), at, part)
