"""Routes for datasets and jobs, in LineageBridge's own JSON format."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Annotated, Literal

from fastapi import APIRouter, Query, Request, Response
from msgspec import UNSET

from lineage_bridge.api import position_tokens, serialization
from lineage_bridge.api.answering.json_stream import encode
from lineage_bridge.api.answering.question_route import question_router
from lineage_bridge.api.dependencies import (
    AnyStyle,
    AsOf,
    IncludeEnded,
    Mended,
    Namespace,
    NodeName,
    Offset,
    Style,
    one_of,
    page_link,
    page_of_texts,
    parse_time_argument,
    position_header,
    require_node,
    style_of,
    texts_within,
)
from lineage_bridge.api.name_styles import apply_name_style
from lineage_bridge.api.openapi import response_docs
from lineage_bridge.api.responses import json_response, raw_json_list
from lineage_bridge.api.schemas.lineage import DatasetDetail, DatasetLineage, JobDetail, RunEvent
from lineage_bridge.api.schemas.names import DescribedNode, ErrorAnswer
from lineage_bridge.api.schemas.nodes import ListedNode, NodeDetails
from lineage_bridge.api.services import Services
from lineage_bridge.graph.identity.node_ids import JOB_TYPES
from lineage_bridge.graph.ids import NodeKind
from lineage_bridge.graph.relations import Side
from lineage_bridge.model.graph import Node, Port, Walk, WalkLimits
from lineage_bridge.ports.graph_reader import GraphReader, LineageReader, NodeReader
from lineage_bridge.projections.job_states import STATES
from lineage_bridge.projections.overview import JobFilter, read_jobs

Text = Annotated[str, Mended]
Glob = Annotated[Text | None, Query(description="Glob: * any text, ? any character, [...] one of these")]
Direction = Literal["upstream", "downstream", "both"]
Depth = Annotated[int, Query(ge=1, le=50, description="Hops of flows, from dataset to dataset")]
Limit = Annotated[int, Query(ge=1, le=10_000)]
JobType = Annotated[
    str | None,
    Query(description=f"Only jobs of this type, each listed once, under its preferred name: {', '.join(JOB_TYPES)}"),
    one_of(JOB_TYPES),
]
JobState = Annotated[
    str | None,
    Query(description=f"Only jobs in this state, each listed once, under its preferred name: {', '.join(STATES)}"),
    one_of(STATES),
]
Details = Annotated[bool, Query(description="Include what each node is, the state of jobs, and when datasets were last written and read")]
_NOT_FOUND = {404: ErrorAnswer}


def routes(services: Services) -> APIRouter:
    """The routes for datasets and jobs."""
    router = question_router(services, "lineage", "/lineage")
    _dataset_routes(router, services)
    _job_routes(router, services)
    return router


def _dataset_routes(router: APIRouter, services: Services) -> None:
    @router.get("/datasets", response_model=None, responses=response_docs({200: list[ListedNode]}, writes=False))
    def get_datasets(
        request: Request, namespace: Glob = None, name: Glob = None, details: Details = False, limit: Limit = 1000, offset: Offset = 0
    ) -> Response:
        """Datasets with their current facets, in the order of their names."""
        with services.graph() as reader:
            nodes = reader.nodes.matching(NodeKind.DATASET, namespace, name, limit + 1, offset)
            return _list_page(services, request, reader, nodes, (limit, offset), with_details=details)

    @router.get("/datasets/detail", response_model=None, responses=response_docs({200: DatasetDetail, **_NOT_FOUND}, writes=False))
    def get_dataset(namespace: Namespace, name: NodeName, names: Style = "standard") -> Response:
        """One dataset, with its other names."""
        with services.graph() as reader:
            node = require_node(reader.nodes, NodeKind.DATASET, namespace, name)
            members = reader.nodes.group(node)[1]
            described = serialization.described_node(reader.nodes, node)
            detail = DatasetDetail(
                described.namespace,
                described.name,
                described.facets,
                canonical=serialization.dataset_name(reader.nodes.spelt([node], names)[node.id]),
                aliases=[*serialization.dataset_names(member for member in members if member.id != node.id)],
                position=position_tokens.encode(reader.progress.position()),
            )
            return json_response(detail, headers=position_header(reader.progress))

    @router.get("/datasets/lineage", response_model=None, responses=response_docs({200: DatasetLineage, **_NOT_FOUND}, writes=False))
    def get_dataset_lineage(
        namespace: Namespace,
        name: NodeName,
        direction: Direction = "upstream",
        depth: Depth = 5,
        names: AnyStyle = None,
        at: AsOf = None,
        ended: IncludeEnded = False,
    ) -> Response:
        """The lineage up- or downstream of a dataset: one event for each job on the way, and for each dataset that declares its own
        lineage.
        """
        style = style_of(namespace, names)
        now_us, at_us = services.clock_us(), parse_time_argument("at", at)
        with services.graph() as reader:
            node = require_node(reader.nodes, NodeKind.DATASET, namespace, name)
            walk = reader.lineage.walk(node, direction, depth, WalkLimits(), now_us=now_us, at_us=at_us, ended=ended)
            return json_response(_dataset_lineage(reader, walk, now_us, style, ended=ended), headers=position_header(reader.progress))


def _dataset_lineage(reader: GraphReader, walk: Walk, now_us: int, style: str, *, ended: bool) -> DatasetLineage:
    named = {edge.job for edge in walk.edges} | {port.job for port in walk.ports}
    heads = reader.inventory.canonical_nodes({*walk.nodes, *named})
    jobs = sorted({heads[job.id] for job in named if job.kind == NodeKind.JOB}, key=_by_name)
    datasets = {heads[node.id].id for node in walk.nodes if node.kind == NodeKind.DATASET}
    return DatasetLineage(
        origin=serialization.dataset_name(reader.nodes.spelt([walk.origin], style)[walk.origin.id]),
        direction=walk.direction,
        depth=walk.depth,
        events=[
            *_job_events(reader, jobs, now_us, style, walk.at),
            *_dataset_events(reader.lineage, reader.nodes, walk, now_us, style, ended=ended),
        ],
        datasets_visited=len(datasets),
        jobs_visited=len(jobs),
        truncated=walk.truncated,
        settling=reader.progress.settling(),
        position=position_tokens.encode(reader.progress.position()),
        at=serialization.time_text(walk.at),
        resolution=walk.resolution if walk.at is not None else UNSET,
        hidden_ended=walk.ended or UNSET,
    )


def _dataset_events(lineage: LineageReader, nodes: NodeReader, walk: Walk, now_us: int, style: str, *, ended: bool) -> list[RunEvent]:
    """Make an event for each dataset of a walk that declares its own lineage, in the order of their names."""
    datasets = sorted({edge.job for edge in walk.edges if edge.job.kind == NodeKind.DATASET}, key=_by_name)
    flows = lineage.declared_flows(datasets, WalkLimits(), now_us=now_us, at_us=walk.at, ended=ended) if datasets else ()
    names = nodes.spelt({*datasets, *(flow.source for flow in flows)}, style)
    events = []
    for dataset in datasets:
        own = [flow for flow in flows if flow.job == dataset]
        seen_us = max((flow.last for flow in own if flow.last is not None), default=now_us if walk.at is None else walk.at)
        events.append(serialization.dataset_event(names[dataset.id], (names[flow.source.id] for flow in own), seen_us))
    return events


def _job_events(reader: GraphReader, jobs: Sequence[Node], now_us: int, style: str, at_us: int | None) -> list[RunEvent]:
    """Make an event for the newest run of each job, with the run's datasets. If the run named none, or if the answer is as of an earlier
    time, the event has the job's inputs and outputs.
    """
    runs = reader.runs.latest_of(jobs, with_datasets=True) if at_us is None else {}
    rest = [job for job in jobs if job.id not in runs]
    ports = reader.lineage.job_ports_of(rest, now_us=now_us, at_us=at_us)
    for id_, run in (reader.runs.latest_of(rest, with_datasets=False) if at_us is None else {}).items():
        inputs, outputs = (_datasets_of_side(ports[id_], side) for side in (Side.INPUT, Side.OUTPUT))
        runs[id_] = replace(run, inputs=inputs, outputs=outputs)
    named = {node for run in runs.values() for node in (run.job, *run.inputs, *run.outputs)}
    names = reader.nodes.spelt({*jobs, *named, *(port.dataset for some in ports.values() for port in some)}, style)
    return [
        serialization.run_event(runs[job.id], names)
        if job.id in runs
        else _design_time_event(names[job.id], ports[job.id], names, now_us if at_us is None else at_us)
        for job in jobs
    ]


def _design_time_event(job: Node, ports: Iterable[Port], names: Mapping[int, Node], now_us: int) -> RunEvent:
    return serialization.job_event(job, [port._replace(dataset=names[port.dataset.id]) for port in ports], now_us)


def _by_name(node: Node) -> tuple[str, str]:
    return node.namespace, node.name


def _datasets_of_side(ports: Iterable[Port], side: Side) -> tuple[Node, ...]:
    return tuple(port.dataset for port in ports if port.side == side)


def _job_routes(router: APIRouter, services: Services) -> None:
    @router.get("/jobs", response_model=None, responses=response_docs({200: list[ListedNode]}, writes=False))
    def get_jobs(
        request: Request,
        namespace: Glob = None,
        name: Glob = None,
        type: JobType = None,  # noqa: A002 - the parameter's name on the wire
        state: JobState = None,
        details: Details = False,
        limit: Limit = 1000,
        offset: Offset = 0,
    ) -> Response:
        """Jobs with their current facets, in the order of their names.

        With a type or a state, the offset also counts the names that are left out. Follow the link to the next page, if there is one, even
        if this page has fewer entries than the limit.
        """
        with services.graph() as reader:
            if type is None and state is None:
                nodes = reader.nodes.matching(NodeKind.JOB, namespace, name, limit + 1, offset)
                return _list_page(services, request, reader, nodes, (limit, offset), with_details=details)
            found = read_jobs(reader, JobFilter(type, state, namespace, name), services.clock_us(), limit, offset)
            jobs = [job for _, job in found.jobs]
            known = serialization.details_of(reader, jobs, services.clock_us()) if details else {}
            texts, shown = texts_within(jobs, _text_of(reader, known), services.max_page_bytes)
            following = found.next if shown == len(found.jobs) else found.jobs[shown][0]
            link = {} if following is None else page_link(request, limit, following)
            return raw_json_list(texts, {**link, **position_header(reader.progress)})

    @router.get("/jobs/detail", response_model=None, responses=response_docs({200: JobDetail, **_NOT_FOUND}, writes=False))
    def get_job(namespace: Namespace, name: NodeName, names: Style = "standard") -> Response:
        """One job, with the inputs and outputs of its newest run that named a dataset."""
        with services.graph() as reader:
            node = require_node(reader.nodes, NodeKind.JOB, namespace, name)
            detail = _job_detail(reader, node, services.clock_us())
            return json_response(apply_name_style(reader.nodes, detail, names), headers=position_header(reader.progress))


def _job_detail(reader: GraphReader, job: Node, now_us: int) -> JobDetail:
    record = reader.runs.latest(job, with_datasets=True)
    ports = [] if record else reader.lineage.job_ports(job, now_us=now_us)
    newest = record or reader.runs.latest(job, with_datasets=False)
    is_run = newest is not None and not newest.declared
    return JobDetail(
        job=serialization.described_node(reader.nodes, job),
        latest_inputs=_all_described(reader.nodes, record.inputs if record else _datasets_of_side(ports, Side.INPUT)),
        latest_outputs=_all_described(reader.nodes, record.outputs if record else _datasets_of_side(ports, Side.OUTPUT)),
        position=position_tokens.encode(reader.progress.position()),
        latest_run=serialization.run_item(newest) if newest is not None and is_run else UNSET,
    )


def _all_described(reader: NodeReader, nodes: Iterable[Node]) -> list[DescribedNode]:
    canonical = {(node.namespace, node.name): node for node in reader.spelt(nodes, "standard").values()}
    ordered = [canonical[name] for name in sorted(canonical)]
    return [serialization.described_node(reader, node) for node in ordered]


def _list_page(
    services: Services, request: Request, reader: GraphReader, nodes: Sequence[Node], page_bounds: tuple[int, int], *, with_details: bool
) -> Response:
    """A page of nodes with their current facets, up to the bytes that a page may have."""
    known = serialization.details_of(reader, nodes, services.clock_us()) if with_details else {}
    texts, link = page_of_texts(request, nodes, _text_of(reader, known), page_bounds, services.max_page_bytes)
    return raw_json_list(texts, {**link, **position_header(reader.progress)})


def _text_of(reader: GraphReader, details: Mapping[int, NodeDetails]) -> Callable[[Node], bytes]:
    """Make a function that encodes a node with its current facets, and with its details if they are given."""
    return lambda node: encode(serialization.listed_node(reader.nodes, node, details.get(node.id, UNSET)))
