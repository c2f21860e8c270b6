"""Routes for the impact of a change of nodes."""

from collections.abc import Sequence
from typing import Annotated, Final, Literal

from fastapi import APIRouter, Query, Request, Response
from msgspec import UNSET
from msgspec.structs import replace

from lineage_bridge.api import position_tokens, serialization
from lineage_bridge.api.answering.question_route import question_router
from lineage_bridge.api.dependencies import KINDS, AsOf, Mended, Offset, Style, page, parse_time_argument, position_header, require_node
from lineage_bridge.api.name_styles import apply_name_style
from lineage_bridge.api.openapi import response_docs
from lineage_bridge.api.responses import json_response
from lineage_bridge.api.schemas.lineage import AffectedNode, AffectingFlow, BeyondCounts, ImpactAnswer, ImpactCounts, OriginNode
from lineage_bridge.api.schemas.names import ErrorAnswer
from lineage_bridge.api.schemas.nodes import NodeDetails
from lineage_bridge.api.services import Services
from lineage_bridge.errors import NotFoundError, RequestError
from lineage_bridge.graph.ids import NodeKind
from lineage_bridge.model.graph import Node, WalkLimits
from lineage_bridge.model.lineage import Affected, Impact, ImpactFlow
from lineage_bridge.ports.graph_reader import NodeReader, ProgressReader
from lineage_bridge.projections.nodes import node_id_text

MOST_ORIGINS: Final = 50
"""The maximum number of nodes that one question may name."""
MOST_MATCHING: Final = 1_000
"""The maximum number of nodes of one question that asks about whole namespaces."""
ORIGINS: Final = "origins"
"""The limit, in an answer's `truncated`, because of which not all nodes of the namespaces are origins."""
Kind = Literal["dataset", "job"]
Names = Annotated[
    list[Annotated[str, Mended]] | None,
    Query(
        max_length=MOST_ORIGINS,
        description="Exact name; repeat it for several nodes. If absent, the question is about everything in the namespaces",
    ),
]
Namespaces = Annotated[
    list[Annotated[str, Mended]],
    Query(min_length=1, max_length=MOST_ORIGINS, description="Exact namespaces, one for each name; without a name, globs"),
]
Kinds = Annotated[
    list[Kind] | None,
    Query(max_length=MOST_ORIGINS, description="One for all nodes, or one for each; by default datasets, and without a name both"),
]


def routes(services: Services) -> APIRouter:
    """The route for the impact of nodes."""
    router = question_router(services, "graph", "/graph")

    @router.get("/impact", response_model=None, responses=response_docs({200: ImpactAnswer, 404: ErrorAnswer}, writes=False))
    def get_impact(
        request: Request,
        namespace: Namespaces,
        name: Names = None,
        kind: Kinds = None,
        direction: Literal["upstream", "downstream"] = "downstream",
        depth: Annotated[int, Query(ge=1, le=100, description="Maximum number of hops")] = 50,
        at: AsOf = None,
        names: Style = "standard",
        flows: Annotated[bool, Query(description="Include the flows from the origins to affected nodes, with the first page")] = False,
        details: Annotated[bool, Query(description="Include the system, type, owners and state of each node, as they are now")] = False,
        limit: Annotated[int, Query(ge=1, le=5000)] = 500,
        offset: Offset = 0,
    ) -> Response:
        """The nodes that a change of datasets or jobs affects: their distance, the number of paths, and whether all or some of their data
        is affected. Without a name, of everything in namespaces: at most 1,000 nodes, listed with the first page; if there are more,
        `truncated` is `origins`.
        """
        has_flows = flows and offset == 0
        with services.graph() as reader:
            if name:
                origins, cut = _require_origins(reader.nodes, kind or ["dataset"], namespace, name), ""
            else:
                origins, cut = _require_matching(reader.nodes, kind or ["dataset", "job"], namespace)
            listed = origins if name or offset == 0 else origins[:0]
            impact = reader.lineage.impact(origins, direction, depth, WalkLimits(), parse_time_argument("at", at), flows=has_flows)
            shown, link = page(request, impact.affected[offset : offset + limit + 1], limit, offset)
            found = serialization.details_of(reader, [*listed, *(item.node for item in shown)], services.clock_us()) if details else {}
            answer = _impact(reader.progress, impact, [_affected(item, found.get(item.node.id)) for item in shown], found)
            answer = replace(answer, origins=answer.origins[: len(listed)], truncated=cut or answer.truncated)
            answer = apply_name_style(reader.nodes, answer, names)
            if has_flows:
                answer = replace(answer, flows=list(map(_flow, impact.flows)))
            return json_response(answer, headers={**link, **position_header(reader.progress)})

    return router


def _require_origins(nodes: NodeReader, kinds: Sequence[Kind], namespaces: Sequence[str], names: Sequence[str]) -> list[Node]:
    """The nodes of a question, each once. Raises RequestError if the numbers of namespaces and names differ, NotFoundError for an unknown
    node.
    """
    if len(namespaces) != len(names) or len(kinds) not in (1, len(names)):
        counts = f"{len(namespaces)} `namespace`, {len(names)} `name` and {len(kinds)} `kind`"
        raise RequestError(
            f"the question has {counts}", "repeat `namespace` and `name` for each node; send `kind` once for all nodes, or once for each"
        )
    each = kinds if len(kinds) == len(names) else [*kinds] * len(names)
    found = [require_node(nodes, KINDS[kind], *pair) for kind, *pair in zip(each, namespaces, names, strict=True)]
    return list({node.id: node for node in found}.values())


def _require_matching(nodes: NodeReader, kinds: Sequence[Kind], namespaces: Sequence[str]) -> tuple[list[Node], str]:
    """The datasets and jobs whose namespaces match one of these globs, up to MOST_MATCHING. Also returns ORIGINS if there are more. Raises
    NotFoundError if there are none.
    """
    globs = [(KINDS[kind], namespace) for kind in dict.fromkeys(kinds) for namespace in dict.fromkeys(namespaces)]
    found: dict[int, Node] = {}
    for kind, namespace in globs:
        # Of what matches an earlier glob, too, so many nodes at most come before those that are new.
        found |= {node.id: node for node in nodes.matching(kind, namespace, None, MOST_MATCHING + 1 + len(found), 0)}
        if len(found) > MOST_MATCHING:
            break
    if not found:
        hint = "a `namespace` without a `name` is a glob, such as kafka://* ; GET /api/v1/lineage/datasets?namespace=... lists what matches"
        raise NotFoundError(f"nothing is in a namespace that matches {' or '.join(map(repr, namespaces))}", hint)
    return list(found.values())[:MOST_MATCHING], ORIGINS if len(found) > MOST_MATCHING else ""


def _impact(progress: ProgressReader, impact: Impact, shown: list[AffectedNode], details: dict[int, NodeDetails]) -> ImpactAnswer:
    wholly = sum(item.wholly for item in impact.affected)
    jobs = sum(item.node.kind == NodeKind.JOB for item in impact.affected)
    failed = sum(item.only_failed for item in impact.affected)
    origins = [_origin(node, head, details.get(node.id)) for node, head in zip(impact.origins, impact.heads, strict=True)]
    return ImpactAnswer(
        origin=serialization.graph_node(impact.origins[0]),
        direction=impact.direction,
        depth=impact.depth,
        counts=ImpactCounts(len(impact.affected) - jobs, jobs, wholly, len(impact.affected) - wholly, failed),
        affected=shown,
        truncated=impact.truncated,
        hidden=impact.hidden,
        resolution=impact.resolution,
        settling=progress.settling(),
        position=position_tokens.encode(progress.position()),
        hidden_ended=impact.ended,
        beyond=BeyondCounts(*impact.beyond) if any(impact.beyond) else UNSET,
        origins=origins,
    )


def _origin(node: Node, head: int, details: NodeDetails | None) -> OriginNode:
    named = serialization.graph_node(node)
    canonical = UNSET if head == node.id else node_id_text(head)
    return OriginNode(named.id, named.kind, named.namespace, named.name, canonical=canonical, details=details or UNSET)


def _affected(item: Affected, details: NodeDetails | None) -> AffectedNode:
    return AffectedNode(
        serialization.graph_node(item.node, dropped=item.dropped),
        item.distance,
        "all" if item.wholly else "some",
        UNSET if item.paths is None else item.paths,
        item.only_failed,
        details or UNSET,
    )


def _flow(flow: ImpactFlow) -> AffectingFlow:
    source, target, job = map(serialization.node_id_of, (flow.source, flow.target, flow.job))
    return AffectingFlow(source, target, job, flow.origin.name.lower(), flow.only_failed)
