"""The route for the ledger of a path: how much each job on it read and wrote."""

from typing import Annotated, Literal

from fastapi import APIRouter, Query, Response
from msgspec import UNSET

from lineage_bridge.api import position_tokens, serialization
from lineage_bridge.api.answering.ledger_hops import LedgerFacts
from lineage_bridge.api.answering.question_route import question_router
from lineage_bridge.api.dependencies import KINDS, Mended, Style, parse_time_argument, position_header, require_node
from lineage_bridge.api.name_styles import apply_name_style
from lineage_bridge.api.openapi import response_docs
from lineage_bridge.api.responses import json_response
from lineage_bridge.api.schemas.ledger import LedgerAnswer, TimeWindow
from lineage_bridge.api.schemas.names import ErrorAnswer
from lineage_bridge.api.services import Services
from lineage_bridge.errors import NotFoundError, RequestError
from lineage_bridge.graph.ids import DAY_US
from lineage_bridge.graph.runs.path_ledger import FACTOR, LedgerWindow
from lineage_bridge.model.graph import WalkLimits
from lineage_bridge.model.lineage import Ledger
from lineage_bridge.openlineage.times import format_time
from lineage_bridge.ports.graph_reader import GraphReader

Kind = Literal["dataset", "job"]
Moment = Annotated[str | None, Query(description="RFC 3339; UTC if it has no zone")]
_MOST_PATHS = 100
_SPINE = WalkLimits(nodes=500, edges=1_000)
"""The limits of the walk upstream whose hops are compared. They are low, because the amounts of each hop are read."""


def routes(services: Services) -> APIRouter:
    """The route for ledgers."""
    router = question_router(services, "graph", "/graph")

    @router.get("/ledger", response_model=None, responses=response_docs({200: LedgerAnswer, 404: ErrorAnswer}, writes=False))
    def get_ledger(
        target_namespace: Annotated[str, Query(description="The dataset or job where the path ends"), Mended],
        target_name: Annotated[str, Query(), Mended],
        source_namespace: Annotated[
            str | None, Query(description="The dataset or job where the path starts; by default everything upstream"), Mended
        ] = None,
        source_name: Annotated[str | None, Query(), Mended] = None,
        source_kind: Kind = "dataset",
        target_kind: Kind = "dataset",
        way: Annotated[int, Query(ge=1, le=_MOST_PATHS, description="Number of the path, the shortest first")] = 1,
        depth: Annotated[int, Query(ge=1, le=100, description="Maximum number of hops")] = 20,
        since: Moment = None,
        until: Moment = None,
        baseline_since: Moment = None,
        baseline_until: Moment = None,
        factor: Annotated[
            float, Query(gt=1, le=1000, description="Factor by which an amount must exceed or undercut the baseline to count as a change")
        ] = FACTOR,
        names: Style = "standard",
    ) -> Response:
        """What each job on a path read and wrote in a window (default: the last day), compared with a baseline (default: as long as the
        window, right before it).
        """
        window = _window(("since", since), ("until", until), LedgerWindow(services.clock_us() - DAY_US, services.clock_us()))
        baseline = _window(("baseline_since", baseline_since), ("baseline_until", baseline_until), window.before())
        with services.graph() as reader:
            target = require_node(reader.nodes, KINDS[target_kind], target_namespace, target_name)
            if source_namespace is None or source_name is None:
                if source_namespace != source_name:
                    raise RequestError(
                        "one of source_namespace and source_name is missing", "send both, or neither to compare everything upstream"
                    )
                walk = reader.lineage.walk(target, "upstream", depth, _SPINE, now_us=services.clock_us())
                ledger = reader.lineage.upstream_ledger(walk, window, baseline, factor)
            else:
                source = require_node(reader.nodes, KINDS[source_kind], source_namespace, source_name)
                found = reader.lineage.paths(source, target, depth, way, WalkLimits())
                if found.paths and len(found.paths) < way:
                    raise NotFoundError(
                        f"`way` is greater than the number of paths found, {len(found.paths)}", "GET /api/v1/graph/paths lists the paths"
                    )
                ledger = reader.lineage.ledger(found, way - 1, window, baseline, factor)
            answer = _ledger(reader, ledger, services.clock_us())
            return json_response(apply_name_style(reader.nodes, answer, names), headers=position_header(reader.progress))

    return router


def _window(since: tuple[str, str | None], until: tuple[str, str | None], default: LedgerWindow) -> LedgerWindow:
    """The requested window of time. If only one end is given, it has the default length. Raises RequestError for an empty window."""
    begins, ends = parse_time_argument(*since), parse_time_argument(*until)
    if begins is None and ends is None:
        return default
    if begins is None:
        begins = (ends or 0) - default.length
    window = LedgerWindow(begins, begins + default.length if ends is None else ends)
    if window.length <= 0:
        raise RequestError(f"the window is empty: {until[0]} is not after {since[0]}", f"send a {until[0]} that is later than {since[0]}")
    return window


def _ledger(reader: GraphReader, ledger: Ledger, now_us: int) -> LedgerAnswer:
    facts = LedgerFacts.read(reader, ledger, now_us)
    return LedgerAnswer(
        source=serialization.graph_node(ledger.source),
        target=serialization.graph_node(ledger.target),
        path=[serialization.graph_node(node) for node in ledger.nodes],
        window=_time_window(ledger.window),
        baseline=_time_window(ledger.baseline),
        hops=[facts.hop(hop) for hop in ledger.hops],
        paths=ledger.found,
        more=ledger.more,
        settling=reader.progress.settling(),
        position=position_tokens.encode(reader.progress.position()),
        last_good=format_time(ledger.onset.last_good) if ledger.onset else UNSET,
        first_bad=format_time(ledger.onset.first_bad) if ledger.onset else UNSET,
    )


def _time_window(window: LedgerWindow) -> TimeWindow:
    return TimeWindow(format_time(window.since), format_time(window.until))
