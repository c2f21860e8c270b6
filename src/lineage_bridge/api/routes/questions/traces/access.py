"""The route for who may read and write a dataset."""

from typing import Final

from fastapi import APIRouter, Response

from lineage_bridge.api import position_tokens
from lineage_bridge.api.answering.question_route import question_router
from lineage_bridge.api.dependencies import KINDS, AsOf, Namespace, NodeName, Style, parse_time_argument, position_header, require_node
from lineage_bridge.api.name_styles import apply_name_style
from lineage_bridge.api.openapi import response_docs
from lineage_bridge.api.responses import json_response
from lineage_bridge.api.routes.questions.traces import items
from lineage_bridge.api.schemas.names import ErrorAnswer
from lineage_bridge.api.schemas.traces.access import AccessAnswer
from lineage_bridge.api.serialization import graph_node
from lineage_bridge.api.services import Services
from lineage_bridge.model.graph import WalkLimits
from lineage_bridge.projections.traces.access import read_access

_SECONDS: Final = WalkLimits().seconds


def routes(services: Services) -> APIRouter:
    """The route for access."""
    router = question_router(services, "graph", "/graph")

    @router.get("/access", response_model=None, responses=response_docs({200: AccessAnswer, 404: ErrorAnswer}, writes=False))
    def get_access(namespace: Namespace, name: NodeName, at: AsOf = None, names: Style = "standard") -> Response:
        """Who may read and write a dataset, as far as it was observed, and which jobs do."""
        with services.graph() as reader:
            node = require_node(reader.nodes, KINDS["dataset"], namespace, name)
            found, _ = read_access(reader, [node], parse_time_argument("at", at), now_us=services.clock_us(), seconds=_SECONDS)
            answer = AccessAnswer(
                dataset=graph_node(node),
                access=items.dataset_access(found[0]),
                settling=reader.progress.settling(),
                position=position_tokens.encode(reader.progress.position()),
            )
            return json_response(apply_name_style(reader.nodes, answer, names), headers=position_header(reader.progress))

    return router
