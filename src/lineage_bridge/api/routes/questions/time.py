"""Routes for changes between two moments, for drift between declared and observed lineage, and for ending flows."""

from typing import Annotated, Literal

import msgspec
from anyio import to_thread
from fastapi import APIRouter, Depends, Query, Request, Response
from msgspec import UNSET

from lineage_bridge.api import position_tokens, serialization, walk_items
from lineage_bridge.api.answering.question_route import question_route
from lineage_bridge.api.bodies import read_body
from lineage_bridge.api.dependencies import (
    KINDS,
    Mended,
    Offset,
    Style,
    api_router,
    parse_time_argument,
    position_header,
    require_node,
    wait_for_position,
)
from lineage_bridge.api.intake import Intake
from lineage_bridge.api.name_styles import apply_name_style
from lineage_bridge.api.openapi import body_docs, response_docs
from lineage_bridge.api.responses import POSITION_HEADER, json_response
from lineage_bridge.api.schemas.names import ErrorAnswer
from lineage_bridge.api.schemas.time import DiffAnswer, DiffItem, DriftAnswer, DriftItem, EndAccepted, EndRequest
from lineage_bridge.api.services import Services
from lineage_bridge.errors import RequestError
from lineage_bridge.graph.relations import Origin
from lineage_bridge.model.differences import Between, Drift, GraphChange, GraphDiff
from lineage_bridge.model.graph import Node, WalkLimits
from lineage_bridge.openlineage.times import format_time
from lineage_bridge.ports.graph_reader import ProgressReader

Kind = Literal["dataset", "job"]
Direction = Literal["upstream", "downstream", "both"]
Limit = Annotated[int, Query(ge=1, le=5000)]
Glob = Annotated[str | None, Query(description="Glob: * any text, ? any character, [...] one of these"), Mended]
_ORDER = msgspec.json.Decoder(EndRequest)
_HINT = 'send {"job": {"namespace", "name"}, "source": {"namespace", "name"}, "target": {...}, "at": TIME}'


def routes(services: Services, intake: Intake) -> APIRouter:
    """The routes for differences between two times, drift, and flows that operators ended."""
    router = api_router("graph", route_class=question_route(services))
    _diff_route(router, services)
    _drift_route(router, services)
    _end_routes(router, intake)
    return router


def _diff_route(router: APIRouter, services: Services) -> None:
    @router.get(
        "/graph/diff",
        response_model=None,
        dependencies=[Depends(wait_for_position(services))],
        responses=response_docs({200: DiffAnswer, 404: ErrorAnswer}, writes=False),
    )
    def get_diff(
        since: Annotated[str, Query(description="The earlier moment: RFC 3339; UTC if it has no zone")],
        until: Annotated[str | None, Query(description="The later moment; by default now")] = None,
        namespace: Annotated[str | None, Query(description="Namespace, exactly; without a name, a glob on jobs"), Mended] = None,
        name: Annotated[str | None, Query(description="Name, exactly; without it, all jobs are compared"), Mended] = None,
        kind: Kind = "dataset",
        direction: Direction = "both",
        depth: Annotated[int, Query(ge=0, le=50)] = 20,
        names: Style = "standard",
        limit: Limit = 1000,
        offset: Offset = 0,
    ) -> Response:
        """Changes between two moments, around a node or of all jobs."""
        between = _between(since, until)
        with services.graph() as reader:
            if name is not None:
                node = require_node(reader.nodes, KINDS[kind], namespace or "", name)
                found = reader.history.diff(node, direction, depth, WalkLimits(), between, now_us=services.clock_us())
                shown = found.changes[offset : offset + limit]
                following = offset + limit if len(found.changes) > offset + limit else None
                found = GraphDiff(shown, found.resolution, found.truncated, following)
            else:
                found = reader.history.diff_jobs(namespace, between, limit, offset, now_us=services.clock_us())
            return json_response(
                apply_name_style(reader.nodes, _diff(reader.progress, between, found), names), headers=position_header(reader.progress)
            )


def _between(since: str, until: str | None) -> Between:
    first, last = parse_time_argument("since", since), parse_time_argument("until", until)
    if first is None or (last is not None and last < first):
        raise RequestError("`until` is before `since`", "swap `since` and `until`")
    return Between(first, last)


def _diff(progress: ProgressReader, between: Between, found: GraphDiff) -> DiffAnswer:
    return DiffAnswer(
        since=format_time(between.since),
        changes=[_change(change) for change in found.changes],
        nodes=[serialization.graph_node(node) for node in _named(found)],
        resolution="day" if found.resolution == "day" else "exact",
        settling=progress.settling(),
        position=position_tokens.encode(progress.position()),
        until=serialization.time_text(between.until),
        truncated=found.truncated,
        next=UNSET if found.next is None else found.next,
    )


def _named(found: GraphDiff) -> list[Node]:
    edges = {node for some in found.changes if some.edge for node in (some.edge.source, some.edge.target, some.edge.job)}
    ports = {node for some in found.changes if some.port for node in (some.port.job, some.port.dataset)}
    return sorted(edges | ports, key=lambda node: (node.kind, node.namespace, node.name))


def _change(change: GraphChange) -> DiffItem:
    kind: Literal["node", "edge", "port"] = "node" if change.node else "edge" if change.edge else "port"
    names: dict[str, Literal["appeared", "disappeared", "changed"]] = {"appeared": "appeared", "disappeared": "disappeared"}
    return DiffItem(
        change=names.get(change.change, "changed"),
        kind=kind,
        node=serialization.graph_node(change.node) if change.node else UNSET,
        edge=walk_items.graph_edge(change.edge) if change.edge else UNSET,
        port=walk_items.graph_port(change.port) if change.port else UNSET,
        label_before=change.label_before.value if change.label_before else UNSET,
        evidence_before=change.evidence_before.text if change.evidence_before else UNSET,
    )


def _drift_route(router: APIRouter, services: Services) -> None:
    @router.get(
        "/graph/drift",
        response_model=None,
        dependencies=[Depends(wait_for_position(services))],
        responses=response_docs({200: DriftAnswer}, writes=False),
    )
    def get_drift(
        namespace: Glob = None, name: Glob = None, names: Style = "standard", limit: Limit = 1000, offset: Offset = 0
    ) -> Response:
        """Where the declared and the observed lineage of jobs differ."""
        with services.graph() as reader:
            found = reader.history.drift(namespace, name, limit, offset, now_us=services.clock_us())
            answer = DriftAnswer(
                drifts=[_drift(drift) for drift in found.drifts],
                jobs=found.jobs,
                settling=reader.progress.settling(),
                position=position_tokens.encode(reader.progress.position()),
                next=UNSET if found.next is None else found.next,
            )
            return json_response(apply_name_style(reader.nodes, answer, names), headers=position_header(reader.progress))


def _drift(drift: Drift) -> DriftItem:
    names: dict[str, Literal["input", "output", "flow"]] = {"input": "input", "output": "output"}
    return DriftItem(
        job=serialization.job_name(drift.job),
        drift="declared" if drift.origin is Origin.DECLARED else "observed",
        what=names.get(drift.what, "flow"),
        node=serialization.graph_node(drift.node),
        target=serialization.graph_node(drift.target) if drift.target else UNSET,
        since=serialization.time_text(drift.since),
    )


def _end_routes(router: APIRouter, intake: Intake) -> None:
    async def append_statement(request: Request, operation: str) -> Response:
        end = await to_thread.run_sync(_parse_end, await read_body(request))
        position = await intake.ingest_operation(request, {"operation": operation, **msgspec.to_builtins(end)})
        return json_response(EndAccepted(position), 202, {POSITION_HEADER: position})

    @router.post(
        "/operations/end",
        response_model=None,
        openapi_extra=body_docs(EndRequest),
        responses=response_docs({202: EndAccepted, 422: ErrorAnswer}),
    )
    async def post_end(request: Request) -> Response:
        """End a flow: answers leave it out until its job states it again."""
        return await append_statement(request, "end")

    @router.post(
        "/operations/unend",
        response_model=None,
        openapi_extra=body_docs(EndRequest),
        responses=response_docs({202: EndAccepted, 422: ErrorAnswer}),
    )
    async def post_unend(request: Request) -> Response:
        """Undo the end of a flow."""
        return await append_statement(request, "unend")


def _parse_end(body: bytes) -> EndRequest:
    try:
        request = _ORDER.decode(body)
    except msgspec.DecodeError as error:
        raise RequestError(f"invalid request: {error}", _HINT) from error
    if request.source is None and request.target is None:
        raise RequestError("give the source or the target of the flow", _HINT)
    parse_time_argument("at", request.at or None)
    return request
