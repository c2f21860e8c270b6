"""The routes for views: the graph as OpenLineage events."""

from collections.abc import Collection, Iterable, Iterator
from typing import Annotated

from fastapi import APIRouter, Query, Response

from lineage_bridge.api.answering.json_stream import encode, json_array, stream_graph
from lineage_bridge.api.answering.question_route import question_router
from lineage_bridge.api.dependencies import Mended, Style
from lineage_bridge.api.openapi import response_docs
from lineage_bridge.api.schemas.graphs import ViewAnswer
from lineage_bridge.api.services import Services
from lineage_bridge.graph.identity.node_ids import CONFLUENT, system_of
from lineage_bridge.ports.graph_reader import GraphReader
from lineage_bridge.projections.views import run_events, statement_events

Systems = Annotated[
    str | None,
    Query(description="Comma-separated systems: only jobs of these systems, or that read or write their datasets; by default all jobs"),
    Mended,
]


def routes(services: Services) -> APIRouter:
    """The routes for views."""
    router = question_router(services, "graphs", "/graphs")

    @router.get("/confluent/view", response_model=None, responses=response_docs({200: ViewAnswer}, writes=False))
    def get_confluent_view(names: Style = "lineagebridge") -> Response:
        """The jobs of Confluent Cloud with the datasets they read and write, as OpenLineage events."""
        return _view(services, "confluent", None, names)

    @router.get("/enriched/view", response_model=None, responses=response_docs({200: ViewAnswer}, writes=False))
    def get_enriched_view(systems: Systems = None, names: Style = "lineagebridge") -> Response:
        """All jobs with the datasets they read and write, or only those related to the given systems, as OpenLineage events."""
        chosen = [system for text in (systems or "").split(",") if (system := text.strip().lower())]
        return _view(services, "enriched", chosen or None, names)

    return router


def _view(services: Services, name: str, systems: list[str] | None, style: str) -> Response:
    def includes(job: str, datasets: Iterable[str]) -> bool:
        """Whether the view includes a job. The namespaces of the job and of its datasets decide."""
        if name == CONFLUENT:
            return system_of(job) == CONFLUENT
        return systems is None or any(_is_in(namespace, systems) for namespace in (job, *datasets))

    def write(reader: GraphReader) -> Iterator[bytes]:
        yield encode({"view": name, "systems": systems})[:-1] + b","
        yield from json_array("events", run_events(reader, services.clock_us(), style, includes))
        yield b","
        yield from json_array("statements", statement_events(reader, services.clock_us(), style, includes))
        yield b"}"

    return stream_graph(services, write)


def _is_in(namespace: str, systems: Collection[str]) -> bool:
    """Whether a namespace belongs to one of these systems, or has one of these schemes."""
    return system_of(namespace) in systems or namespace.partition("://")[0].lower() in systems
