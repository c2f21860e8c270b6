"""Routes for the timeline of changes around a node, and for the current rates of its jobs."""

from collections.abc import Mapping
from typing import Annotated

from fastapi import APIRouter, Query, Response
from msgspec import UNSET

from lineage_bridge.api import position_tokens, serialization
from lineage_bridge.api.answering.lags import LagsByJob, lag_answer, read_lags
from lineage_bridge.api.answering.question_route import question_router
from lineage_bridge.api.dependencies import KINDS, Namespace, NodeName, Style, parse_time_argument, position_header, require_node
from lineage_bridge.api.name_styles import apply_name_style
from lineage_bridge.api.openapi import response_docs
from lineage_bridge.api.responses import json_response
from lineage_bridge.api.routes.questions.neighbourhood import Direction, Kind
from lineage_bridge.api.schemas.names import ErrorAnswer
from lineage_bridge.api.schemas.statistics import PulseAnswer, PulseItem
from lineage_bridge.api.schemas.time import TimelineAnswer, TimelineMark
from lineage_bridge.api.services import Services
from lineage_bridge.errors import RequestError
from lineage_bridge.graph.ids import DAY_US, NodeKind
from lineage_bridge.graph.relations import Side
from lineage_bridge.graph.runs.statistics import per_second
from lineage_bridge.model.differences import Between
from lineage_bridge.model.graph import Node, WalkLimits
from lineage_bridge.model.statistics import StatisticsFilter, StatisticsSeries
from lineage_bridge.openlineage.times import format_time
from lineage_bridge.projections.timeline import Mark, Surroundings, read_timeline

WEEK_US = 7 * DAY_US
MOST_SERIES = 5000
Depth = Annotated[int, Query(ge=0, le=20)]
Limit = Annotated[int, Query(ge=1, le=5000)]
Moment = Annotated[str | None, Query(description="RFC 3339; UTC if it has no zone")]


def routes(services: Services) -> APIRouter:
    """The routes for the timeline of a neighbourhood, and for its pulse, which is the current rates of its jobs."""
    router = question_router(services, "graph")
    _timeline_route(router, services)
    _pulse_route(router, services)
    return router


def _timeline_route(router: APIRouter, services: Services) -> None:
    @router.get("/graph/timeline", response_model=None, responses=response_docs({200: TimelineAnswer, 404: ErrorAnswer}, writes=False))
    def get_timeline(
        namespace: Namespace,
        name: NodeName,
        kind: Kind = "dataset",
        direction: Direction = "both",
        depth: Depth = 1,
        since: Moment = None,
        until: Moment = None,
        names: Style = "standard",
        limit: Limit = 1000,
    ) -> Response:
        """Changes around a dataset or a job within a window (default: the last week), each with its time, the newest last."""
        now_us = services.clock_us()
        last = parse_time_argument("until", until)
        last = last if last is not None else now_us
        first = parse_time_argument("since", since)
        first = first if first is not None else last - WEEK_US
        if first >= last:
            raise RequestError("the window is empty: since is not before until", "send a since that is earlier than until")
        with services.graph() as reader:
            around = Surroundings(require_node(reader.nodes, KINDS[kind], namespace, name), direction, depth)
            found = read_timeline(reader, around, Between(first, last), now_us=now_us)
            answer = TimelineAnswer(
                since=format_time(first),
                until=format_time(last),
                marks=[_mark(mark) for mark in found.marks[-limit:]],
                truncated=found.truncated or len(found.marks) > limit,
                settling=reader.progress.settling(),
                position=position_tokens.encode(reader.progress.position()),
            )
            return json_response(apply_name_style(reader.nodes, answer, names), headers=position_header(reader.progress))


def _mark(mark: Mark) -> TimelineMark:
    return TimelineMark(
        at=format_time(mark.at),
        what=mark.what,
        node=serialization.graph_node(mark.node),
        text=mark.text,
        before=mark.before,
        since=UNSET if mark.since is None else format_time(mark.since),
    )


def _pulse_route(router: APIRouter, services: Services) -> None:
    @router.get("/graph/pulse", response_model=None, responses=response_docs({200: PulseAnswer, 404: ErrorAnswer}, writes=False))
    def get_pulse(
        namespace: Namespace,
        name: NodeName,
        kind: Kind = "dataset",
        direction: Direction = "both",
        depth: Depth = 1,
        window_s: Annotated[int, Query(ge=60, le=86_400, description="Length of the window in seconds; it ends now, or at `until`")] = 3600,
        until: Moment = None,
        names: Style = "standard",
    ) -> Response:
        """The recent rates at which jobs around a node read and write (now, or before `until`), and when they last did."""
        last = parse_time_argument("until", until)
        now_us = last if last is not None else services.clock_us()
        with services.graph() as reader:
            node = require_node(reader.nodes, KINDS[kind], namespace, name)
            walk = reader.lineage.walk(node, direction, depth, WalkLimits(), now_us=now_us)
            datasets = frozenset(end.id for end in walk.nodes if end.kind == NodeKind.DATASET)
            which = StatisticsFilter(now_us - window_s * 1_000_000, now_us, datasets=datasets, limit=MOST_SERIES)
            found = reader.runs.statistics(which)
            lags = read_lags(reader.runs, (series.job for series in found.series), which.since, which.until)
            aliases = reader.nodes.names_of(series.dataset for series in found.series) if lags else {}
            answer = PulseAnswer(
                at=format_time(now_us),
                window_s=window_s,
                flows=[_pulse(series, window_s * 1_000_000, lags, aliases) for series in found.series],
                truncated=found.truncated or len(found.series) == MOST_SERIES,
                settling=reader.progress.settling(),
                position=position_tokens.encode(reader.progress.position()),
            )
            return json_response(apply_name_style(reader.nodes, answer, names), headers=position_header(reader.progress))


def _pulse(series: StatisticsSeries, span_us: int, lags: LagsByJob, aliases: Mapping[int, tuple[Node, ...]]) -> PulseItem:
    rate, size, _ = per_second(series.amount, span_us)
    read = series.side == Side.INPUT
    return PulseItem(
        job=serialization.graph_node(series.job),
        dataset=serialization.graph_node(series.dataset),
        side="input" if read else "output",
        last=format_time(series.last),
        rows_per_second=UNSET if rate is None else rate,
        bytes_per_second=UNSET if size is None else size,
        lag=lag_answer(lags, series.job, aliases.get(series.dataset.id, (series.dataset,)), rate) if read else UNSET,
    )
