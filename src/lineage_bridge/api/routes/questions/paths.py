"""Routes for paths between two nodes."""

from collections.abc import Iterable
from typing import Annotated, Literal

from fastapi import APIRouter, Query, Response

from lineage_bridge.api import position_tokens, serialization
from lineage_bridge.api.answering.question_route import question_router
from lineage_bridge.api.dependencies import KINDS, AsOf, Mended, Style, parse_time_argument, position_header, require_node
from lineage_bridge.api.name_styles import apply_name_style
from lineage_bridge.api.openapi import response_docs
from lineage_bridge.api.responses import json_response
from lineage_bridge.api.schemas.lineage import PathAnswer, PathsAnswer
from lineage_bridge.api.schemas.names import ErrorAnswer
from lineage_bridge.api.schemas.nodes import GraphNode
from lineage_bridge.api.services import Services
from lineage_bridge.model.graph import Node, WalkLimits
from lineage_bridge.model.lineage import Paths
from lineage_bridge.ports.graph_reader import ProgressReader

Kind = Literal["dataset", "job"]
Depth = Annotated[int, Query(ge=1, le=100, description="Maximum number of hops")]
_NOT_FOUND = {404: ErrorAnswer}


def routes(services: Services) -> APIRouter:
    """The route for paths."""
    router = question_router(services, "graph", "/graph")

    @router.get("/paths", response_model=None, responses=response_docs({200: PathsAnswer, **_NOT_FOUND}, writes=False))
    def get_paths(
        source_namespace: Annotated[str, Query(description="The dataset or job where the path starts"), Mended],
        source_name: Annotated[str, Query(), Mended],
        target_namespace: Annotated[str, Query(description="The dataset or job where the path ends"), Mended],
        target_name: Annotated[str, Query(), Mended],
        source_kind: Kind = "dataset",
        target_kind: Kind = "dataset",
        depth: Depth = 20,
        at: AsOf = None,
        names: Style = "standard",
        limit: Annotated[int, Query(ge=1, le=1000, description="Maximum number of paths")] = 20,
    ) -> Response:
        """The paths that data takes from one node to another, shortest first."""
        with services.graph() as reader:
            source = require_node(reader.nodes, KINDS[source_kind], source_namespace, source_name)
            target = require_node(reader.nodes, KINDS[target_kind], target_namespace, target_name)
            found = reader.lineage.paths(source, target, depth, limit, WalkLimits(), parse_time_argument("at", at))
            return json_response(
                apply_name_style(reader.nodes, _paths(reader.progress, found), names), headers=position_header(reader.progress)
            )

    return router


def _paths(progress: ProgressReader, found: Paths) -> PathsAnswer:
    return PathsAnswer(
        source=serialization.graph_node(found.source),
        target=serialization.graph_node(found.target),
        paths=[PathAnswer(_nodes(path.nodes, found.dropped), [_nodes(jobs) for jobs in path.jobs]) for path in found.paths],
        more=found.more,
        truncated=found.truncated,
        hidden=found.hidden,
        resolution=found.resolution,
        settling=progress.settling(),
        position=position_tokens.encode(progress.position()),
        hidden_ended=found.ended,
    )


def _nodes(nodes: Iterable[Node], dropped: frozenset[int] = frozenset()) -> list[GraphNode]:
    return [serialization.graph_node(node, dropped=node.id in dropped) for node in nodes]
