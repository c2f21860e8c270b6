"""Routes for paths between two nodes, and for column traces."""

from collections.abc import Iterable
from dataclasses import replace
from typing import Annotated, Final, Literal
from uuid import UUID

from fastapi import APIRouter, Query, Response
from msgspec import UNSET, structs

from lineage_bridge.api import position_tokens, serialization
from lineage_bridge.api.answering.question_route import question_router
from lineage_bridge.api.dependencies import (
    KINDS,
    AsOf,
    Mended,
    Namespace,
    NodeName,
    Style,
    parse_time_argument,
    position_header,
    require_node,
)
from lineage_bridge.api.name_styles import apply_name_style
from lineage_bridge.api.openapi import response_docs
from lineage_bridge.api.responses import json_response
from lineage_bridge.api.schemas.lineage import PathAnswer, PathsAnswer
from lineage_bridge.api.schemas.names import ErrorAnswer
from lineage_bridge.api.schemas.nodes import GraphNode, TransformationItem
from lineage_bridge.api.schemas.traces.answers import (
    HeldDataset,
    KeptDataset,
    ProofAnswer,
    TraceAnswer,
    TraceColumn,
    TraceCoverage,
    TraceFlow,
    TraceGap,
)
from lineage_bridge.api.services import Services
from lineage_bridge.model.graph import Node, WalkLimits
from lineage_bridge.model.lineage import Gap, Paths, Trace, TracedFlow, TraceOptions
from lineage_bridge.openlineage.times import format_time
from lineage_bridge.ports.graph_reader import GraphReader, ProgressReader
from lineage_bridge.projections.overview import system_name
from lineage_bridge.projections.stewardship import read_stewardship
from lineage_bridge.projections.traces.held import read_held

Kind = Literal["dataset", "job"]
Direction = Literal["upstream", "downstream"]
Depth = Annotated[int, Query(ge=1, le=100, description="Maximum number of hops")]
STEWARDSHIP_SECONDS: Final = WalkLimits().seconds
"""How many seconds a trace may spend on reading the owners and the retention of its datasets."""
_NOT_FOUND = {404: ErrorAnswer}


def routes(services: Services) -> APIRouter:
    """The routes for paths and traces."""
    router = question_router(services, "graph", "/graph")
    _paths_route(router, services)
    _trace_route(router, services)
    return router


def _paths_route(router: APIRouter, services: Services) -> None:
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


def _trace_route(router: APIRouter, services: Services) -> None:
    @router.get("/trace", response_model=None, responses=response_docs({200: TraceAnswer, **_NOT_FOUND}, writes=False))
    def get_trace(
        namespace: Namespace,
        name: NodeName,
        field: Annotated[str, Query(description="The column; by default all columns"), Mended] = "",
        kind: Kind = "dataset",
        direction: Direction = "upstream",
        depth: Depth = 20,
        at: AsOf = None,
        names: Style = "standard",
        indirect: Annotated[bool, Query(description="Include indirect flows: filters, joins, sorting")] = False,
        through_masking: Annotated[bool, Query(description="Continue beyond masked columns")] = False,
        proofs: Annotated[bool, Query(description="Include the latest event that states each flow")] = True,
        gaps: Annotated[int, Query(ge=0, le=10_000, description="Maximum number of gaps to list")] = 100,
        held: Annotated[bool, Query(description="Include which datasets hold the values, and why the others do not")] = False,
    ) -> Response:
        """The columns from which a column is derived, or which are derived from it."""
        options = TraceOptions(field, direction, depth, indirect, through_masking, proofs, gaps)
        with services.graph() as reader:
            node = require_node(reader.nodes, KINDS[kind], namespace, name)
            at_us = parse_time_argument("at", at)
            trace = reader.lineage.trace(node, options, WalkLimits(), at_us)
            answer = _trace(reader, trace, names, at_us)
            if held:
                answer = structs.replace(answer, held=_held(reader, trace, at_us))
            return json_response(answer, headers=position_header(reader.progress))


def _trace(reader: GraphReader, trace: Trace, style: str, at_us: int | None) -> TraceAnswer:
    nodes, progress = reader.nodes, reader.progress
    every = trace.nodes
    kept, is_whole = read_stewardship(reader, every, at_us, STEWARDSHIP_SECONDS)
    if not is_whole:
        trace = replace(trace, truncated=trace.truncated or "time")
    return TraceAnswer(
        origin=apply_name_style(nodes, serialization.graph_node(trace.origin, dropped=trace.origin.id in trace.dropped), style),
        field=trace.options.field,
        direction=trace.options.direction,
        depth=trace.options.depth,
        nodes=apply_name_style(nodes, _nodes(sorted(every, key=lambda node: (node.kind, node.namespace, node.name)), trace.dropped), style),
        columns=[
            TraceColumn(serialization.node_id_of(c.node), c.field, UNSET if c.distance is None else c.distance, c.end or UNSET)
            for c in trace.columns
        ],
        flows=[_flow(flow) for flow in trace.flows],
        kept=[KeptDataset(serialization.node_id_of(node), list(found.owners), found.retention) for node, found in kept.items()],
        coverage=TraceCoverage(trace.coverage.with_columns, trace.coverage.without_columns, [_gap(gap) for gap in trace.coverage.gaps]),
        truncated=trace.truncated,
        hidden=trace.hidden,
        resolution=trace.resolution,
        settling=progress.settling(),
        position=position_tokens.encode(progress.position()),
        digest=serialization.trace_digest(trace, kept),
        hidden_ended=trace.ended,
    )


def _held(reader: GraphReader, trace: Trace, at_us: int | None) -> list[HeldDataset]:
    return [
        HeldDataset(
            node=serialization.node_id_of(found.node),
            system=system_name(found.node.namespace),
            fields=list(found.fields),
            left_out=found.left_out or UNSET,
            last_written=serialization.time_text(found.last_written),
        )
        for found in read_held(reader, trace, at_us)
    ]


def _flow(flow: TracedFlow) -> TraceFlow:
    return TraceFlow(
        source=serialization.node_id_of(flow.source),
        source_field=flow.source_field,
        target=serialization.node_id_of(flow.target),
        target_field=flow.target_field,
        job=serialization.node_id_of(flow.job),
        origin=flow.origin.name.lower(),
        transformations=[TransformationItem(*change) for change in flow.transformations],
        masked=flow.masked,
        indirect=flow.indirect,
        descriptions=list(flow.descriptions),
        proof=ProofAnswer(flow.proof.event.hex(), format_time(flow.proof.time), str(UUID(bytes=flow.proof.asserted_by)))
        if flow.proof
        else UNSET,
    )


def _gap(gap: Gap) -> TraceGap:
    return TraceGap(
        serialization.node_id_of(gap.source),
        serialization.node_id_of(gap.target),
        serialization.node_id_of(gap.job),
        gap.origin.name.lower(),
        gap.evidence.text,
    )
