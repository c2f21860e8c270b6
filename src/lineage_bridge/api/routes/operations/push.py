"""Routes for pushes, which are publications in the formats of the LineageBridge prototype, and for the catalogs in the graph."""

from collections.abc import Mapping
from importlib.metadata import PackageNotFoundError, distribution
from typing import Annotated, Any, Final

import anyio
import msgspec
from anyio import to_thread
from fastapi import APIRouter, Query, Request, Response

from lineage_bridge.api.bodies import read_body
from lineage_bridge.api.dependencies import api_router
from lineage_bridge.api.limits.callers import Caller, caller_in
from lineage_bridge.api.openapi import body_docs, response_docs
from lineage_bridge.api.responses import json_response
from lineage_bridge.api.routes.graphs.nodes import check_graph_id
from lineage_bridge.api.routes.operations.targets import begin_publication
from lineage_bridge.api.schemas.names import ErrorAnswer
from lineage_bridge.api.schemas.targets.publications import PublishRequest
from lineage_bridge.api.schemas.targets.pushes import CatalogItem, PushProviderItem, PushProviders
from lineage_bridge.api.services import Services
from lineage_bridge.errors import LineageBridgeError, RefusedError, RequestError, UnavailableError
from lineage_bridge.model.sources import KindRecord
from lineage_bridge.ports.targets import PublicationReport, TargetRecord
from lineage_bridge.projections.pushes import PROVIDERS, PushProvider, check_options, push_result
from lineage_bridge.projections.shapes import PushResult

POLL_S: Final = 0.2
_OPTIONS = msgspec.json.Decoder(dict[str, Any])


def routes(services: Services) -> APIRouter:
    """The routes for pushes."""
    router = api_router("push")
    _reading_routes(router, services)
    _push_route(router, services)
    return router


def _reading_routes(router: APIRouter, services: Services) -> None:
    @router.get("/catalogs", response_model=None, responses=response_docs({200: list[CatalogItem]}, writes=False))
    def get_catalogs() -> Response:
        """The catalogs whose tables are nodes of the graph."""
        return json_response([CatalogItem(provider.catalog_type, "catalog_table", provider.system) for provider in PROVIDERS])

    @router.get("/push/providers", response_model=None, responses=response_docs({200: PushProviders}, writes=False))
    def get_push_providers() -> Response:
        """The catalogs that can be pushed to, and what each needs."""
        kinds, records = {kind.kind: kind for kind in services.targets.kinds()}, services.targets.records()
        details = [_item(provider, kinds.get(provider.kind), records) for provider in PROVIDERS]
        return json_response(PushProviders([provider.name for provider in PROVIDERS], details))


def _push_route(router: APIRouter, services: Services) -> None:
    async def post_push(
        request: Request, provider: str, graph_id: Annotated[str | None, Query(description="Id of this installation's graph")] = None
    ) -> Response:
        if graph_id is not None:
            check_graph_id(services, graph_id)
        options = _options(await read_body(request))
        chosen = _provider(provider)
        targets = await to_thread.run_sync(_targets, services, chosen, options)
        return json_response(await _pushed(services, caller_in(request.scope), chosen, targets))

    router.add_api_route(
        "/push/{provider}",
        post_push,
        methods=["POST"],
        description="Publish to all targets of a catalog, one after the other, and answer after the last one has ended. Nothing is deleted "
        "in the targets. The body has options, and may be left out; `POST /targets/{name}/publish` is the same without waiting.",
        response_model=None,
        openapi_extra=body_docs(dict[str, Any], required=False),
        responses=response_docs({200: PushResult, 404: ErrorAnswer, 422: ErrorAnswer, 501: ErrorAnswer}, writes=False),
    )


def _options(body: bytes) -> Mapping[str, Any]:
    """Parse the options of a push. Raises RequestError."""
    if not body.strip() or body.strip() == b"null":
        return {}
    try:
        return _OPTIONS.decode(body)
    except (ValueError, msgspec.DecodeError, RecursionError) as error:
        raise RequestError(f"invalid request: {error}", "send an object of options, or nothing") from error


def _provider(name: str) -> PushProvider:
    for provider in PROVIDERS:
        if provider.name == name:
            return provider
    names = ", ".join(provider.name for provider in PROVIDERS)
    raise RefusedError(422, "unknown_provider", f"unknown provider {name!r}", f"use one of {names}")


def _targets(services: Services, provider: PushProvider, options: Mapping[str, Any]) -> list[str]:
    """The names of the targets that a push publishes to. Raises RefusedError if there are none, RequestError if an option contradicts the
    targets' settings.
    """
    kind = next((kind for kind in services.targets.kinds() if kind.kind == provider.kind), None)
    if kind is None:
        raise RefusedError(
            501,
            "provider_not_available",
            f"{provider.name} cannot be pushed to: there is no kind of target for it",
            "GET /api/v1/target-kinds",
        )
    records = [record for record in services.targets.records() if record.kind == provider.kind]
    if not records:
        hint = f"add one: lineage-bridge target add NAME {provider.kind} ...; `lineage-bridge target kinds {provider.kind}` lists settings"
        raise RefusedError(422, "provider_not_configured", f"{provider.name} cannot be pushed to: it has no target", hint)
    defaults = {setting.name: setting.default for setting in kind.settings}
    for record in records:
        check_options(provider, options, {**defaults, **record.settings}, record.name)
    return [record.name for record in records]


async def _pushed(services: Services, caller: Caller, provider: PushProvider, targets: list[str]) -> PushResult:
    """Publish to targets, and report each publication. Raises the first error if none could begin, such as OverloadedError."""
    reports: dict[str, PublicationReport] = {}
    failures: dict[str, LineageBridgeError] = {}
    has_begun = False
    for name in targets:
        begun = await to_thread.run_sync(_begun, services, caller, name)
        has_begun = has_begun or isinstance(begun, TargetRecord)
        found = await _ended(services, begun) if isinstance(begun, TargetRecord) else begun
        if isinstance(found, PublicationReport):
            reports[name] = found
        else:
            failures[name] = found
    if not has_begun:
        raise next(iter(failures.values()))
    texts = [f"target {name}: {error}" for name, error in failures.items()]
    return push_result(reports, texts, takes_events=provider.takes_events)


def _begun(services: Services, caller: Caller, name: str) -> TargetRecord | LineageBridgeError:
    try:
        return begin_publication(services, caller, name, PublishRequest())
    except LineageBridgeError as error:
        return error


async def _ended(services: Services, begun: TargetRecord) -> PublicationReport | LineageBridgeError:
    """Wait for the end of a publication, and return its report. If there is no report, for example because a later publication has replaced
    it, return the error instead.
    """
    report = begun.report
    while report is not None and report.state == "running":
        await anyio.sleep(POLL_S)
        last = report
        try:
            report = (await to_thread.run_sync(services.targets.record, begun.name)).report
        except LineageBridgeError as error:
            return error
        if report is not None and report.started_us != last.started_us:
            report = None
    if report is None:
        problem = f"the publication to target {begun.name!r} has ended, but a later publication has replaced its report"
        return UnavailableError(problem, f"lineage-bridge target show {begun.name} shows the report of the later one")
    return report


def _item(provider: PushProvider, kind: KindRecord | None, records: list[TargetRecord]) -> PushProviderItem:
    targets = [record.name for record in records if record.kind == provider.kind]
    return PushProviderItem(
        provider=provider.name,
        kind=provider.kind,
        available=kind is not None,
        installed=_is_installed(provider.library),
        configured=bool(targets),
        targets=targets,
        extra=provider.extra,
        needs=[setting.name for setting in kind.settings if setting.required] if kind else [],
        options=sorted(provider.options),
    )


def _is_installed(library: str) -> bool:
    try:
        distribution(library)
    except PackageNotFoundError:
        return False
    return True
