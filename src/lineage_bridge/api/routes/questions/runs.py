"""Routes for runs: those of a job or inside another run, a run by its id, and the lineage of a run."""

from typing import Annotated, Literal
from uuid import UUID

import msgspec
from fastapi import APIRouter, Query, Request, Response
from msgspec import UNSET, UnsetType

from lineage_bridge.api import position_tokens, serialization
from lineage_bridge.api.answering.question_route import question_router
from lineage_bridge.api.dependencies import Mended, Offset, RunId, Style, page, parse_time_argument, position_header, require_node
from lineage_bridge.api.name_styles import apply_name_style
from lineage_bridge.api.openapi import response_docs
from lineage_bridge.api.responses import json_response
from lineage_bridge.api.schemas.names import ErrorAnswer
from lineage_bridge.api.schemas.runs import DepthRun, RunDependency, RunLineageAnswer, RunLinkItem, RunsAnswer, RunTreeAnswer
from lineage_bridge.api.services import Services
from lineage_bridge.errors import NotFoundError, RequestError
from lineage_bridge.graph.ids import NodeKind
from lineage_bridge.model.runs import Dependency, RunFilter, RunRecord
from lineage_bridge.ports.graph_reader import ProgressReader, RunReader

State = Literal["START", "RUNNING", "COMPLETE", "FAIL", "ABORT", "UNKNOWN"]
Limit = Annotated[int, Query(ge=1, le=1000)]
Moment = Annotated[str | None, Query(description="RFC 3339; UTC if it has no zone")]
_DEPENDENCIES = 1000
_NOT_FOUND = {404: ErrorAnswer}


def routes(services: Services) -> APIRouter:
    """The routes for runs."""
    router = question_router(services, "runs", "/graph/runs")
    _list_route(router, services)
    _tree_route(router, services)
    _lineage_route(router, services)
    _run_route(router, services)
    return router


def _list_route(router: APIRouter, services: Services) -> None:
    @router.get("", response_model=None, responses=response_docs({200: RunsAnswer, **_NOT_FOUND}, writes=False))
    def get_runs(
        request: Request,
        namespace: Annotated[str | None, Query(description="The job's namespace, exactly"), Mended] = None,
        name: Annotated[str | None, Query(description="The job's name, exactly"), Mended] = None,
        parent: Annotated[str | None, Query(description="Only runs directly inside this run"), Mended] = None,
        state: State | None = None,
        since: Moment = None,
        until: Moment = None,
        names: Style = "standard",
        limit: Limit = 100,
        offset: Offset = 0,
    ) -> Response:
        """The runs of a job, or inside a run, the most recent first: those with events after `since` that began before `until`."""
        times = parse_time_argument("since", since), parse_time_argument("until", until)
        if parent is None and (namespace is None or name is None):
            raise RequestError("name a job or a parent run", "send namespace and name of a job, or parent=RUN_ID")
        with services.graph() as reader:
            job = None if namespace is None or name is None else require_node(reader.nodes, NodeKind.JOB, namespace, name).id
            above = None if parent is None else UUID(require_run(reader.runs, parent)[0].run_id).bytes
            found = reader.runs.page(RunFilter(job, above, state, *times, limit + 1, offset))
            records, link = page(request, found.runs, limit, offset)
            answer = _runs(reader.progress, list(records), services.clock_us(), truncated=found.truncated)
            return json_response(apply_name_style(reader.nodes, answer, names), headers={**link, **position_header(reader.progress)})


def _tree_route(router: APIRouter, services: Services) -> None:
    @router.get("/{run_id:path}/tree", response_model=None, responses=response_docs({200: RunTreeAnswer, **_NOT_FOUND}, writes=False))
    def get_run_tree(run_id: RunId, names: Style = "standard", limit: Limit = 200) -> Response:
        """A run with all runs inside it, each after the run that contains it."""
        with services.graph() as reader:
            tree = reader.runs.tree(UUID(require_run(reader.runs, run_id)[0].run_id).bytes, limit)
            runs = [run_with_depth(depth, record, services.clock_us()) for depth, record in tree.runs]
            answer = RunTreeAnswer(runs, tree.truncated, reader.progress.settling(), position_tokens.encode(reader.progress.position()))
            return json_response(apply_name_style(reader.nodes, answer, names), headers=position_header(reader.progress))


def _lineage_route(router: APIRouter, services: Services) -> None:
    @router.get("/{run_id:path}/lineage", response_model=None, responses=response_docs({200: RunLineageAnswer, **_NOT_FOUND}, writes=False))
    def get_run_lineage(
        run_id: RunId,
        direction: Literal["upstream", "downstream"] = "upstream",
        depth: Annotated[int, Query(ge=1, le=20, description="Hops from run to run")] = 1,
        names: Style = "standard",
        limit: Limit = 200,
    ) -> Response:
        """The runs that produced the data a run read, or that read the data it produced."""
        with services.graph() as reader:
            found = reader.runs.lineage(UUID(require_run(reader.runs, run_id)[0].run_id).bytes, direction, depth, limit)
            answer = RunLineageAnswer(
                direction,
                [run_with_depth(hop, record, services.clock_us()) for hop, record in found.runs],
                [RunLinkItem(link.producer, link.consumer, serialization.dataset_name(link.dataset), link.by) for link in found.links],
                found.truncated,
                reader.progress.settling(),
                position_tokens.encode(reader.progress.position()),
            )
            return json_response(apply_name_style(reader.nodes, answer, names), headers=position_header(reader.progress))


def _run_route(router: APIRouter, services: Services) -> None:
    @router.get("/{run_id:path}", response_model=None, responses=response_docs({200: RunsAnswer, **_NOT_FOUND}, writes=False))
    def get_run(run_id: RunId, names: Style = "standard") -> Response:
        """One run, by its id as sent or as a UUID, once for each of its jobs."""
        with services.graph() as reader:
            records = require_run(reader.runs, run_id)
            runs = [
                msgspec.structs.replace(serialization.run_item(record, services.clock_us()), dependencies=_waits(reader.runs, record))
                for record in records
            ]
            answer = RunsAnswer(runs, reader.progress.settling(), position_tokens.encode(reader.progress.position()))
            return json_response(apply_name_style(reader.nodes, answer, names), headers=position_header(reader.progress))


def _waits(runs: RunReader, record: RunRecord) -> list[RunDependency] | UnsetType:
    found = runs.dependencies(UUID(record.run_id).bytes, record.job, _DEPENDENCIES)
    return [_dependency(item) for item in found] or UNSET


def _dependency(item: Dependency) -> RunDependency:
    kind, sequence, status = (word or UNSET for word in item.rules)
    direction: Literal["upstream", "downstream"] = "upstream" if item.direction == "upstream" else "downstream"
    return RunDependency(direction, serialization.job_name(item.job), item.run_id or UNSET, kind, sequence, status)


def require_run(runs: RunReader, run_id: str) -> list[RunRecord]:
    """Find the run with an id. Raises NotFoundError."""
    records = runs.find(run_id)
    if not records:
        raise NotFoundError(f"there is no run {run_id!r}", "GET /api/v1/graph/runs lists the runs of a job")
    return records


def run_with_depth(depth: int, record: RunRecord, now_us: int) -> DepthRun:
    """A run as an answer shows it, with its depth."""
    return DepthRun(**msgspec.structs.asdict(serialization.run_item(record, now_us)), depth=depth)


def _runs(progress: ProgressReader, records: list[RunRecord], now_us: int, *, truncated: bool = False) -> RunsAnswer:
    return RunsAnswer(
        [serialization.run_item(record, now_us) for record in records],
        progress.settling(),
        position_tokens.encode(progress.position()),
        truncated,
    )
