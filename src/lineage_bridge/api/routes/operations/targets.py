"""Routes for targets: list, add, pause, test and remove them, publish to them, and list the published objects."""

from typing import Annotated, Final, TypeVar

import msgspec
from anyio import to_thread
from fastapi import APIRouter, Query, Request, Response
from msgspec import UNSET

from lineage_bridge.api.bodies import read_body
from lineage_bridge.api.dependencies import api_router
from lineage_bridge.api.limits.callers import Caller, caller_in
from lineage_bridge.api.openapi import body_docs, response_docs
from lineage_bridge.api.responses import json_response
from lineage_bridge.api.schemas.names import ErrorAnswer, Problem
from lineage_bridge.api.schemas.sources import CheckItem, KindItem, KindsAnswer, SettingItem, SourceChecks
from lineage_bridge.api.schemas.targets.publications import (
    ContinuousItem,
    PublicationItem,
    PublishedObject,
    PublishedObjects,
    PublishRequest,
    TargetItem,
    TargetRemoved,
    TargetRequest,
    TargetsAnswer,
)
from lineage_bridge.api.serialization import time_text
from lineage_bridge.api.services import Services
from lineage_bridge.errors import NotFoundError, RequestError
from lineage_bridge.openlineage.facets import MAX_NAME
from lineage_bridge.openlineage.times import format_time
from lineage_bridge.ports.continuous import ContinuousStatus
from lineage_bridge.ports.targets import LedgerEntry, PublicationReport, TargetRecord

_TARGET = msgspec.json.Decoder(TargetRequest)
_PUBLISH = msgspec.json.Decoder(PublishRequest)
_BodyT = TypeVar("_BodyT")
MOST_KEY: Final = 3 * MAX_NAME
"""The maximum length, in characters, of an object's key in a request: namespace and name, with quotes and escapes."""


def routes(services: Services) -> APIRouter:
    """The routes for targets."""
    router = api_router("targets")
    _reading_routes(router, services)
    _add_route(router, services)
    _change_routes(router, services)
    _publication_routes(router, services)
    return router


def _reading_routes(router: APIRouter, services: Services) -> None:
    @router.get("/targets", response_model=None, responses=response_docs({200: TargetsAnswer}, writes=False))
    def get_targets() -> Response:
        """All targets and their states."""
        return json_response(TargetsAnswer([_item(record) for record in services.targets.records()]))

    @router.get("/target-kinds", response_model=None, responses=response_docs({200: KindsAnswer}, writes=False))
    def get_target_kinds() -> Response:
        """The kinds of targets and their settings."""
        kinds = [
            KindItem(kind.kind, kind.description, [SettingItem(*setting) for setting in kind.settings]) for kind in services.targets.kinds()
        ]
        return json_response(KindsAnswer(kinds))

    @router.get("/targets/{name}", response_model=None, responses=response_docs({200: TargetItem, 404: ErrorAnswer}, writes=False))
    def get_target(name: str) -> Response:
        """One target."""
        return json_response(_item(services.targets.record(name)))

    @router.get(
        "/targets/{name}/ledger",
        response_model=None,
        responses=response_docs({200: PublishedObjects, 404: ErrorAnswer, 422: ErrorAnswer}, writes=False),
    )
    def get_ledger(
        name: str,
        after: Annotated[str, Query(max_length=MOST_KEY, description="The `next` of the previous page")] = "",
        limit: Annotated[int, Query(ge=1, le=1000)] = 100,
    ) -> Response:
        """The objects that were published to a target, by kind, namespace and name."""
        found = services.targets.ledger(name, after, limit + 1)
        shown = list(map(_published, found[:limit]))
        return json_response(PublishedObjects(shown, found[limit - 1].key if len(found) > limit else UNSET))


def _add_route(router: APIRouter, services: Services) -> None:
    async def post_target(request: Request) -> Response:
        order = _read(_TARGET, await read_body(request), 'send {"name", "kind", "settings": {...}}')
        added = await to_thread.run_sync(
            lambda: services.targets.add(order.name, order.kind, order.settings, replace=order.replace),
        )
        return json_response(_item(added), 201)

    router.add_api_route(
        "/targets",
        post_target,
        methods=["POST"],
        description="Add a target. Nothing is published yet.",
        response_model=None,
        openapi_extra=body_docs(TargetRequest),
        responses=response_docs({201: TargetItem, 422: ErrorAnswer}, writes=False),
    )


def _change_routes(router: APIRouter, services: Services) -> None:
    documented = response_docs({200: TargetItem, 404: ErrorAnswer, 422: ErrorAnswer}, writes=False)

    @router.delete(
        "/targets/{name}",
        response_model=None,
        responses=response_docs({200: TargetRemoved, 404: ErrorAnswer, 422: ErrorAnswer}, writes=False),
    )
    def delete_target(name: str) -> Response:
        """Remove a target. What was published stays there."""
        services.targets.remove(name)
        return json_response(TargetRemoved(name))

    @router.post("/targets/{name}/pause", response_model=None, responses=documented)
    def pause_target(name: str) -> Response:
        """Pause a target: nothing is published to it until it is resumed."""
        return json_response(_item(services.targets.pause(name, paused=True)))

    @router.post("/targets/{name}/resume", response_model=None, responses=documented)
    def resume_target(name: str) -> Response:
        """Resume a paused target."""
        return json_response(_item(services.targets.pause(name, paused=False)))

    @router.post("/targets/{name}/test", response_model=None, responses=response_docs({200: SourceChecks, 404: ErrorAnswer}, writes=False))
    async def test_target(request: Request, name: str) -> Response:
        """Test each step of publishing, without changing the target."""
        checks = await services.trials.run(caller_in(request.scope), lambda: services.targets.test(name))
        return json_response(SourceChecks(all(check.works for check in checks), [CheckItem(*check) for check in checks]))


def _publication_routes(router: APIRouter, services: Services) -> None:
    @router.get(
        "/targets/{name}/publication",
        response_model=None,
        responses=response_docs({200: PublicationItem, 404: ErrorAnswer}, writes=False),
    )
    def get_publication(
        name: str, continuous: Annotated[bool, Query(description="The last continuous publication, which no request started")] = False
    ) -> Response:
        """The last requested plan or publication of a target, or its last continuous publication, with its progress."""
        record = services.targets.record(name)
        report = record.report if not continuous else record.continuous.report if record.continuous else None
        if report is None:
            raise NotFoundError(
                f"nothing has been published to target {name} yet", f"see what would be published: lineage-bridge publish {name} --plan"
            )
        return json_response(_publication(report))

    async def post_publication(name: str, request: Request) -> Response:
        order = _read(_PUBLISH, await read_body(request) or b"{}", 'send {"plan_only", "prune", "overwrite"}, each true or false')
        begun = await to_thread.run_sync(begin_publication, services, caller_in(request.scope), name, order)
        return json_response(_item(begun), 202)

    @router.post(
        "/targets/{name}/cancel",
        response_model=None,
        responses=response_docs({200: TargetItem, 404: ErrorAnswer, 422: ErrorAnswer}, writes=False),
    )
    def cancel_publication(name: str) -> Response:
        """Cancel the plan or publication that was requested: it ends soon, as `cancelled`. The changes that it has made stay, and are in
        the ledger.
        """
        return json_response(_item(services.targets.cancel(name)))

    router.add_api_route(
        "/targets/{name}/publish",
        post_publication,
        methods=["POST"],
        description="Start a publication, or only a plan, in a process of its own; GET /targets/{name}/publication shows its progress.",
        response_model=None,
        openapi_extra=body_docs(PublishRequest),
        responses=response_docs({202: TargetItem, 404: ErrorAnswer, 422: ErrorAnswer}, writes=False),
    )


def begin_publication(services: Services, caller: Caller, name: str, order: PublishRequest) -> TargetRecord:
    """Start a publication to a target. Raises NotFoundError, RequestError, and OverloadedError while too many run."""
    services.targets.record(name)  # report an unknown target as such, even while too many publications run
    return services.publications.begin(
        caller,
        name,
        services.targets.publishing,
        lambda: services.targets.start(name, plan_only=order.plan_only, prune=order.prune, overwrite=order.overwrite),
    )


def _read(decoder: "msgspec.json.Decoder[_BodyT]", body: bytes, hint: str) -> _BodyT:
    """Decode the body of a publication request. Raises RequestError."""
    try:
        return decoder.decode(body)
    except (ValueError, msgspec.DecodeError) as error:
        raise RequestError(f"invalid request: {error}", hint) from error


def _item(record: TargetRecord) -> TargetItem:
    report = record.report
    return TargetItem(
        name=record.name,
        kind=record.kind,
        state="paused" if record.paused else report.state if report else "new",
        origin=record.origin,
        settings=record.settings,
        published=record.published,
        last_error=report.error if report and report.error else UNSET,
        last_at=UNSET if report is None else format_time(report.ended_us or report.started_us),
        continuous=UNSET if record.continuous is None else continuous_item(record.continuous),
    )


def continuous_item(status: ContinuousStatus) -> ContinuousItem:
    """The state of continuous publishing to a target, as an answer."""
    state, report = status.state, status.report
    return ContinuousItem(
        state=status.activity,
        lag_s=round(status.lag_s, 3),
        publications=state.done + state.failed,
        failed=state.failed,
        failures=state.failures,
        operations=state.operations,
        lag_changes=UNSET if status.lag_changes is None else status.lag_changes,
        last_success_at=time_text(state.succeeded_us),
        last_error=Problem(state.code, state.error, state.hint) if state.error else UNSET,
        last_error_at=time_text(state.failed_us),
        next_at=format_time(state.due_us) if state.failures else UNSET,
        drift=UNSET if report is None else len(report.drift) + report.drift_left_out,
        refused=UNSET if report is None else report.outcomes.get("refused", 0),
    )


def _publication(report: PublicationReport) -> PublicationItem:
    return PublicationItem(
        state=report.state,
        plan_only=report.plan_only,
        prune=report.prune,
        overwrite=report.overwrite,
        started_at=format_time(report.started_us),
        ended_at=time_text(report.ended_us),
        error=report.error or UNSET,
        hint=report.hint or UNSET,
        desired=report.desired,
        unchanged=report.unchanged,
        counts=report.counts,
        outcomes=report.outcomes,
        kept=report.kept,
        not_expressible=report.not_expressible,
        operations=report.operations,
        operations_left_out=report.operations_left_out,
        drift=report.drift,
        drift_left_out=report.drift_left_out,
        code=report.code or UNSET,
        retry_after_s=UNSET if report.retry_after_s is None else report.retry_after_s,
        written=report.written,
        unmatched=report.unmatched,
    )


def _published(entry: LedgerEntry) -> PublishedObject:
    kind, namespace, name = msgspec.json.decode(entry.key)
    changed = format_time(entry.changed_us)
    return PublishedObject(kind, namespace, name, entry.state, entry.ours, entry.revision, changed, entry.detail or UNSET)
