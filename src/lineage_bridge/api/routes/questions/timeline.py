"""The route for the timeline of changes around a node."""

from typing import Annotated

from fastapi import APIRouter, Query, Response
from msgspec import UNSET

from lineage_bridge.api import position_tokens, serialization
from lineage_bridge.api.answering.question_route import question_router
from lineage_bridge.api.dependencies import KINDS, Namespace, NodeName, Style, parse_time_argument, position_header, require_node
from lineage_bridge.api.name_styles import apply_name_style
from lineage_bridge.api.openapi import response_docs
from lineage_bridge.api.responses import json_response
from lineage_bridge.api.routes.questions.neighbourhood import Direction, Kind
from lineage_bridge.api.schemas.names import ErrorAnswer
from lineage_bridge.api.schemas.time import TimelineAnswer, TimelineMark
from lineage_bridge.api.services import Services
from lineage_bridge.errors import RequestError
from lineage_bridge.graph.ids import DAY_US
from lineage_bridge.model.differences import Between
from lineage_bridge.openlineage.times import format_time
from lineage_bridge.projections.timeline import Mark, Surroundings, read_timeline

WEEK_US = 7 * DAY_US
Depth = Annotated[int, Query(ge=0, le=20)]
Limit = Annotated[int, Query(ge=1, le=5000)]
Moment = Annotated[str | None, Query(description="RFC 3339; UTC if it has no zone")]


def routes(services: Services) -> APIRouter:
    """The route for the timeline of a neighbourhood."""
    router = question_router(services, "graph")

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

    return router


def _mark(mark: Mark) -> TimelineMark:
    return TimelineMark(
        at=format_time(mark.at),
        what=mark.what,
        node=serialization.graph_node(mark.node),
        text=mark.text,
        before=mark.before,
        since=UNSET if mark.since is None else format_time(mark.since),
    )
