"""The route for statistics: how many rows, bytes and files were read and written."""

from typing import Annotated, Literal
from uuid import UUID

from fastapi import APIRouter, Query, Request, Response
from msgspec import UNSET, UnsetType

from lineage_bridge.api import position_tokens, serialization
from lineage_bridge.api.answering.question_route import question_router
from lineage_bridge.api.dependencies import Mended, Offset, Style, all_names, page, parse_time_argument, position_header, require_node
from lineage_bridge.api.name_styles import apply_name_style
from lineage_bridge.api.openapi import response_docs
from lineage_bridge.api.responses import json_response
from lineage_bridge.api.routes.questions.runs import require_run
from lineage_bridge.api.schemas.names import ErrorAnswer
from lineage_bridge.api.schemas.statistics import Bucket, Series, StatisticsAnswer
from lineage_bridge.api.services import Services
from lineage_bridge.errors import RequestError
from lineage_bridge.graph.ids import DAY_US, NodeKind
from lineage_bridge.graph.relations import Side
from lineage_bridge.graph.runs.statistics import Amount, per_second
from lineage_bridge.model.statistics import StatisticsFilter, StatisticsSeries
from lineage_bridge.openlineage.times import format_time
from lineage_bridge.ports.graph_reader import NodeReader

MAX_BUCKETS = 1000
SIDES = {"input": Side.INPUT, "output": Side.OUTPUT}
Text = Annotated[str | None, Mended]
Limit = Annotated[int, Query(ge=1, le=1000)]
Moment = Annotated[str | None, Query(description="RFC 3339; UTC if it has no zone")]


def routes(services: Services) -> APIRouter:
    """The route for statistics."""
    router = question_router(services, "statistics")

    @router.get("/graph/statistics", response_model=None, responses=response_docs({200: StatisticsAnswer, 404: ErrorAnswer}, writes=False))
    def get_statistics(
        request: Request,
        namespace: Annotated[Text, Query(description="The dataset's namespace, exactly")] = None,
        name: Annotated[Text, Query(description="The dataset's name, exactly")] = None,
        job_namespace: Annotated[Text, Query(description="The job's namespace, exactly")] = None,
        job_name: Annotated[Text, Query(description="The job's name, exactly")] = None,
        run: Annotated[Text, Query(description="Only statistics of this run; the window is then by default its whole duration")] = None,
        side: Literal["input", "output"] | None = None,
        since: Moment = None,
        until: Moment = None,
        bucket: Annotated[int, Query(ge=0, le=366 * 86_400, description="Length of a bucket in seconds; 0 for no buckets")] = 0,
        names: Style = "standard",
        limit: Limit = 100,
        offset: Offset = 0,
    ) -> Response:
        """The amounts read and written within a window (default: the last day), by job, dataset and side."""
        with services.graph() as reader:
            record = require_run(reader.runs, run)[0] if run is not None else None
            window = _window(services, (since, until), bucket, whole=run is not None)
            which = StatisticsFilter(
                *window,
                job=_job(reader.nodes, job_namespace, job_name),
                datasets=all_names(reader.nodes, namespace, name),
                side=SIDES[side] if side else None,
                run=UUID(record.run_id).bytes if record else None,
                bucket_us=bucket * 1_000_000,
                limit=limit + 1,
                offset=offset,
            )
            if which.job is None and which.datasets is None and which.run is None:
                raise RequestError(
                    "name a dataset, a job or a run", "send `namespace` and `name`, `job_namespace` and `job_name`, or `run`"
                )
            found = reader.runs.statistics(which)
            shown, link = page(request, found.series, limit, offset)
            answer = StatisticsAnswer(
                format_time(window[0]),
                format_time(window[1]),
                [_series(series, window[1] - window[0]) for series in shown],
                found.truncated,
                reader.progress.settling(),
                position_tokens.encode(reader.progress.position()),
            )
            return json_response(apply_name_style(reader.nodes, answer, names), headers={**link, **position_header(reader.progress)})

    return router


def _window(services: Services, texts: tuple[str | None, str | None], bucket: int, *, whole: bool) -> tuple[int, int]:
    since, until = parse_time_argument("since", texts[0]), parse_time_argument("until", texts[1])
    until = until if until is not None else services.clock_us() + (DAY_US if whole else 0)
    since = since if since is not None else 0 if whole and not bucket else until - DAY_US
    if since >= until:
        raise RequestError("the window is empty: since is not before until", "send a since that is earlier than until")
    if bucket and (until - since) > bucket * 1_000_000 * MAX_BUCKETS:
        raise RequestError(f"the window holds more than {MAX_BUCKETS} buckets of {bucket} s", "use larger buckets or a shorter window")
    return since, until


def _job(nodes: NodeReader, namespace: str | None, name: str | None) -> int | None:
    return None if namespace is None or name is None else require_node(nodes, NodeKind.JOB, namespace, name).id


def _series(series: StatisticsSeries, window_us: int) -> Series:
    rates = [UNSET if rate is None else rate for rate in per_second(series.amount, window_us)]
    return Series(
        job=serialization.job_name(series.job),
        dataset=serialization.dataset_name(series.dataset),
        side="input" if series.side == Side.INPUT else "output",
        runs=series.runs,
        samples=series.samples,
        first=format_time(series.first),
        last=format_time(series.last),
        counting=series.counting,
        **_amount_members(series.amount),
        rows_per_second=rates[0],
        bytes_per_second=rates[1],
        files_per_second=rates[2],
        buckets=[Bucket(format_time(start), **_amount_members(amount)) for start, amount in series.buckets] or UNSET,
    )


def _amount_members(amount: Amount) -> dict[str, int | UnsetType]:
    return {key: value for key, value in amount._asdict().items() if value is not None}
