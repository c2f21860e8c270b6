"""Routes for tasks: start, follow, cancel and resume extractions and enrichments."""

from collections.abc import Sequence
from typing import Annotated, Any, Literal, TypeVar

import msgspec
from anyio import to_thread
from fastapi import APIRouter, Query, Request, Response

from lineage_bridge.api.bodies import read_body
from lineage_bridge.api.dependencies import Offset, api_router, page
from lineage_bridge.api.openapi import body_docs, response_docs
from lineage_bridge.api.responses import json_response
from lineage_bridge.api.routes.graphs.nodes import check_graph_id
from lineage_bridge.api.schemas.names import ErrorAnswer
from lineage_bridge.api.schemas.tasks import (
    Credentials,
    EnrichmentItem,
    EnrichmentRequest,
    ExtractionRequest,
    KeyPair,
    PlaneItem,
    TaskItem,
    TaskResult,
    UnknownItem,
)
from lineage_bridge.api.services import Services
from lineage_bridge.errors import RequestError
from lineage_bridge.model.tasks import ASKED, Credential, ExtractionOptions, PlaneRecord, TaskFilter, TaskRecord
from lineage_bridge.openlineage.times import SECOND_US, format_time

_REQUESTS = msgspec.json.Decoder(ExtractionRequest)
_CREDENTIALS = msgspec.json.Decoder(Credentials)
_ENRICHMENTS = msgspec.json.Decoder(EnrichmentRequest)
_SWITCHES = {
    "enable_connect": ("connect",),
    "enable_ksqldb": ("ksqldb",),
    "enable_flink": ("flink",),
    "enable_schema_registry": ("registry", "schema-links"),
    "enable_stream_catalog": ("catalog",),
    "enable_tableflow": ("tableflow",),
    "enable_metrics": ("metrics",),
}
"""For each switch of a request, the planes that are skipped if it is false."""
_SCOPED = {
    "cluster_credentials": "kafka",
    "sr_credentials": "registry",
    "flink_credentials": "flink",
    "ksqldb_credentials": "ksqldb",
    "tableflow_credentials": "tableflow",
}
_Ids = Annotated[list[str], Query(description="Ids, repeated or comma-separated")]
_ReadT = TypeVar("_ReadT")


def routes(services: Services) -> APIRouter:
    """The routes for tasks."""
    router = api_router("tasks")
    _reading_routes(router, services)
    _extract_route(router, services)
    _enrich_route(router, services)
    _change_routes(router, services)
    return router


def _reading_routes(router: APIRouter, services: Services) -> None:
    @router.get("/tasks", response_model=None, responses=response_docs({200: list[TaskItem]}, writes=False))
    def get_tasks(
        request: Request,
        task_type: Literal["extract", "enrich"] | None = None,
        status: Literal["pending", "running", "completed", "failed"] | None = None,
        limit: Annotated[int, Query(ge=1, le=500)] = 20,
        offset: Offset = 0,
    ) -> Response:
        """Tasks, the newest first."""
        found = services.tasks.records(TaskFilter(task_type or "", status or "", limit + 1, offset))
        tasks, links = page(request, found, limit, offset)
        return json_response([_item(task) for task in tasks], headers=links)

    @router.get("/tasks/{task_id}", response_model=None, responses=response_docs({200: TaskItem, 404: ErrorAnswer}, writes=False))
    def get_task(task_id: str) -> Response:
        """A task, its progress and its result."""
        return json_response(_item(services.tasks.record(task_id)))


def _extract_route(router: APIRouter, services: Services) -> None:
    async def post_extract(
        request: Request,
        environment_ids: _Ids = [],  # noqa: B006  # FastAPI copies it
        cluster_ids: _Ids = [],  # noqa: B006  # as above
        source: str | None = None,
    ) -> Response:
        body = await read_body(request)
        asked = _read(_REQUESTS, body) or ExtractionRequest()
        options = _extraction_options(
            asked, _ids("environment_ids", environment_ids, asked), _ids("cluster_ids", cluster_ids, asked), source
        )
        started = await to_thread.run_sync(services.tasks.extract, options)
        return json_response(_item(started), 202)

    router.add_api_route(
        "/tasks/extract",
        post_extract,
        methods=["POST"],
        description="Extract the lineage of an organization of Confluent Cloud. The body may be left out.",
        response_model=None,
        status_code=202,
        openapi_extra=body_docs(ExtractionRequest, required=False),
        responses=response_docs({202: TaskItem, 422: ErrorAnswer}, writes=False),
    )


def _enrich_route(router: APIRouter, services: Services) -> None:
    async def post_enrich(
        request: Request,
        name: Annotated[str | None, Query(description="Name of a source that reads a catalog, or of a target")] = None,
        graph_id: Annotated[str | None, Query(description="Id of this installation's graph")] = None,
    ) -> Response:
        if graph_id is not None:
            check_graph_id(services, graph_id)
        body = await read_body(request)
        asked = _read(_ENRICHMENTS, body) or EnrichmentRequest()
        if asked.enable_metrics or not asked.enable_catalog:
            raise RequestError(
                "an enrichment always reads a catalog, and nothing else", "for metrics, send enable_metrics to POST /api/v1/tasks/extract"
            )
        if name and asked.name and name != asked.name:
            raise RequestError("`name` is both in the query and in the body", "send it in one of the two only")
        started = await to_thread.run_sync(services.tasks.enrich, name or asked.name or "")
        first = msgspec.structs.asdict(_item(started[0]))
        return json_response(EnrichmentItem(**first, task_ids=[task.id for task in started]), 202)

    router.add_api_route(
        "/tasks/enrich",
        post_enrich,
        methods=["POST"],
        description="Read catalogs: that of a source or target, or those of all sources that are not paused. The body may be left out.",
        response_model=None,
        status_code=202,
        openapi_extra=body_docs(EnrichmentRequest, required=False),
        responses=response_docs({202: EnrichmentItem, 404: ErrorAnswer, 422: ErrorAnswer}, writes=False),
    )


def _change_routes(router: APIRouter, services: Services) -> None:
    documented = response_docs({200: TaskItem, 404: ErrorAnswer, 422: ErrorAnswer}, writes=False)

    async def post_resume(request: Request, task_id: str) -> Response:
        body = await read_body(request)
        given = _read(_CREDENTIALS, body) or Credentials()
        options = ExtractionOptions(credentials=_credentials(given))
        resumed = await to_thread.run_sync(services.tasks.resume, task_id, options)
        return json_response(_item(resumed), 202)

    router.add_api_route(
        "/tasks/{task_id}/resume",
        post_resume,
        methods=["POST"],
        description="Resume a task that was cancelled or interrupted. Credentials that came with its request have to be sent again.",
        response_model=None,
        status_code=202,
        openapi_extra=body_docs(Credentials, required=False),
        responses=response_docs({202: TaskItem, 404: ErrorAnswer, 422: ErrorAnswer}, writes=False),
    )

    @router.post("/tasks/{task_id}/cancel", response_model=None, responses=documented)
    def cancel_task(task_id: str) -> Response:
        """Cancel a task: it ends soon, as failed and `cancelled`. The events it has sent stay."""
        return json_response(_item(services.tasks.cancel(task_id)))

    @router.delete("/tasks/{task_id}", response_model=None, responses=documented)
    def delete_task(task_id: str) -> Response:
        """Cancel a task, as `cancel` does."""
        return json_response(_item(services.tasks.cancel(task_id)))


def _read(decoder: msgspec.json.Decoder[_ReadT], body: bytes) -> _ReadT | None:
    """Decode the body of a request; None if it is empty. Raises RequestError, which never quotes the body, because it may contain
    credentials.
    """
    if not body.strip() or body.strip() == b"null":
        return None
    try:
        return decoder.decode(body)
    except (ValueError, msgspec.DecodeError) as error:
        raise RequestError(f"invalid request: {error}", "docs/tasks.md describes the request") from None


def _ids(name: str, asked: Sequence[str], body: ExtractionRequest) -> tuple[str, ...]:
    """The ids in the query, or those in the body. Raises RequestError if both contain ids."""
    in_query = {id_.strip() for text in asked for id_ in text.split(",")} - {""}
    in_body = {id_.strip() for id_ in getattr(body, name) or ()} - {""}
    if in_query and in_body and in_query != in_body:
        raise RequestError(f"`{name}` is both in the query and in the body", "send it in one of the two only")
    return tuple(sorted(in_query or in_body))


def _extraction_options(
    asked: ExtractionRequest, environments: tuple[str, ...], clusters: tuple[str, ...], source: str | None
) -> ExtractionOptions:
    switched = [plane for switch, planes in _SWITCHES.items() if getattr(asked, switch) is False for plane in planes]
    off = {plane.strip() for text in asked.off or () for plane in text.split(",")} - {""}
    return ExtractionOptions(
        source=source or asked.source or "",
        environments=environments,
        clusters=clusters,
        off=tuple(sorted(off | set(switched))),
        hours=asked.metrics_lookback_hours,
        addresses=asked.sr_endpoints or {},
        credentials=_credentials(asked),
        enrich=asked.enable_enrichment is not False,
        enrich_at_cost=asked.enable_enrichment is True,
    )


def _credentials(asked: Credentials) -> dict[tuple[str, str], Credential]:
    single = {("cloud", ""): asked.cloud_credentials, ("metrics", ""): asked.metrics_credentials}
    scoped = {(plane, scope): pair for name, plane in _SCOPED.items() for scope, pair in (getattr(asked, name) or {}).items()}
    return {key: _credential(pair) for key, pair in {**single, **scoped}.items() if pair is not None}


def _credential(pair: KeyPair) -> Credential:
    if not pair.api_key or not pair.api_secret:
        raise RequestError("the request contains an empty credential", "send both `api_key` and `api_secret`")
    return Credential(pair.api_key, pair.api_secret)


def _item(task: TaskRecord) -> TaskItem:
    return TaskItem(
        task_id=task.id,
        task_type=task.kind,
        status=task.status,
        created_at=format_time(task.created_us),
        started_at=_moment(task.started_us),
        completed_at=_moment(task.ended_us),
        progress=[*task.steps[:1], *(_progress_line(plane) for plane in task.planes if plane.state != ASKED), *task.steps[1:]],
        result=TaskResult(task.result.graph_id, task.result.node_count, task.result.edge_count) if task.result else None,
        error=task.error,
        hint=task.hint,
        params=_params(task),
        source=task.source,
        planes=[_plane(plane) for plane in task.planes],
        unknown=[UnknownItem(*_names(plane), plane.state, list(plane.why)) for plane in task.unknown] if task.ended else [],
        events=sum(plane.events for plane in task.planes),
        cancelled=task.cancelled,
        resumable=task.resumable,
        enrichments=list(task.enrichments),
    )


def _params(task: TaskRecord) -> dict[str, Any]:
    return {
        "source": task.source,
        "environment_ids": task.environments,
        "cluster_ids": task.clusters,
        "off": task.off,
        "metrics_lookback_hours": task.hours,
        "sr_endpoints": task.addresses,
        "credentials": task.given,
    }


def _plane(plane: PlaneRecord) -> PlaneItem:
    took_s = plane.took_us / SECOND_US
    return PlaneItem(*_names(plane), plane.state, list(plane.why), plane.events, plane.requests, took_s, list(plane.hints))


def _names(plane: PlaneRecord) -> tuple[str, str]:
    name, _, scope = plane.key.partition(" ")
    return name, scope


def _progress_line(plane: PlaneRecord) -> str:
    return f"{plane.key}: {plane.state.replace('_', ' ')}, {plane.events} events"


def _moment(time_us: int | None) -> str | None:
    return None if time_us is None else format_time(time_us)
