"""Routes for an overview of the whole graph, and for its systems and environments with the flows between them."""

from collections import Counter
from typing import Annotated

from fastapi import APIRouter, Query, Response

from lineage_bridge.api import position_tokens, serialization
from lineage_bridge.api.answering.question_route import question_router
from lineage_bridge.api.dependencies import Style, position_header
from lineage_bridge.api.name_styles import apply_name_style
from lineage_bridge.api.openapi import response_docs
from lineage_bridge.api.responses import json_response
from lineage_bridge.api.schemas.statistics import (
    EstateAnswer,
    EstateFlow,
    EstateNode,
    JobTypeCount,
    NamespaceCount,
    OverviewAnswer,
    StateCount,
    SystemCount,
    UrgentItem,
)
from lineage_bridge.api.services import Services
from lineage_bridge.ports.graph_reader import ProgressReader
from lineage_bridge.projections.overview import Overview, by_first, read_overview
from lineage_bridge.projections.system_flows import Scale, SystemFlows, read_system_flows


def routes(services: Services) -> APIRouter:
    """The routes for the overview and the estate, which is the whole graph summed up as systems or environments."""
    router = question_router(services, "graph")

    @router.get("/overview", response_model=None, responses=response_docs({200: OverviewAnswer}, writes=False))
    def get_overview(
        urgent: Annotated[int, Query(ge=0, le=1000, description="Maximum number of jobs in the list of those that need attention")] = 20,
        namespaces: Annotated[int, Query(ge=0, le=1000, description="Maximum number of namespaces to list for each system")] = 10,
        names: Style = "standard",
    ) -> Response:
        """How many datasets each system has, how many jobs of each type are in which state, and the jobs that need attention."""
        now_us = services.clock_us()
        with services.graph() as reader:
            answer = _overview(reader.progress, read_overview(reader, now_us, urgent), now_us, namespaces)
            return json_response(apply_name_style(reader.nodes, answer, names), headers=position_header(reader.progress))

    @router.get("/estate", response_model=None, responses=response_docs({200: EstateAnswer}, writes=False))
    def get_estate(
        scale: Annotated[Scale, Query(description="Whether each node is a system, or an environment of one")] = "environment",
        limit: Annotated[int, Query(ge=1, le=200, description="Maximum number of nodes; one more stands for all others")] = 60,
        namespaces: Annotated[int, Query(ge=0, le=1000, description="Maximum number of namespaces to list for each node")] = 10,
        flows: Annotated[int, Query(ge=0, le=5000, description="Maximum number of flows, those of most jobs first")] = 1000,
    ) -> Response:
        """Systems or their environments, how many datasets each has, and how many jobs move data from one to another."""
        with services.graph() as reader:
            found = read_system_flows(reader, scale, limit, services.clock_us())
            answer = _estate_answer(reader.progress, found, most_namespaces=namespaces, most_flows=flows)
            return json_response(answer, headers=position_header(reader.progress))

    return router


def _estate_answer(progress: ProgressReader, found: SystemFlows, *, most_namespaces: int, most_flows: int) -> EstateAnswer:
    contents = sorted(found.contents.items(), key=lambda item: (-item[1].datasets, item[0]))
    nodes = [
        EstateNode(
            id=item.id,
            system=item.system,
            environment=item.environment,
            datasets=inside.datasets,
            namespaces=len(inside.namespaces),
            largest=[NamespaceCount(*space) for space in inside.largest()[:most_namespaces]],
            readers=inside.readers,
            writers=inside.writers,
        )
        for item, inside in contents
    ]
    largest = sorted(found.flows.items(), key=lambda item: (-item[1].jobs, -item[1].direct, item[0]))[:most_flows]
    return EstateAnswer(
        scale=found.scale,
        nodes=nodes,
        flows=[EstateFlow(source.id, target.id, moved.jobs, moved.direct) for (source, target), moved in largest],
        flows_left_out=len(found.flows) - len(largest),
        others=found.others,
        settling=progress.settling(),
        position=position_tokens.encode(progress.position()),
    )


def _overview(progress: ProgressReader, found: Overview, now_us: int, most: int) -> OverviewAnswer:
    systems = [
        SystemCount(system, sum(count for _, count in spaces), len(spaces), [NamespaceCount(*space) for space in spaces[:most]])
        for system, spaces in by_first(found.datasets)
    ]
    types = [
        JobTypeCount(type_, sum(count for _, count in states), [StateCount(*state) for state in states])
        for type_, states in by_first(found.jobs)
    ]
    every: Counter[str] = Counter()
    for (_, state), count in found.jobs.items():
        every[state] += count
    return OverviewAnswer(
        systems=systems,
        job_types=types,
        states=[StateCount(state, count) for state, count in sorted(every.items(), key=lambda item: (-item[1], item[0]))],
        urgent=[
            UrgentItem(serialization.job_name(item.job), item.job_type, item.state, serialization.run_item(item.run, now_us))
            for item in found.urgent
        ],
        settling=progress.settling(),
        position=position_tokens.encode(progress.position()),
    )
