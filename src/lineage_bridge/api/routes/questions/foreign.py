"""The route for foreign assertions: what principals that are limited to namespaces asserted about datasets outside of them,
without effect.
"""

from typing import Annotated

from fastapi import APIRouter, Query, Request, Response
from msgspec import UNSET, Raw

from lineage_bridge.api import position_tokens, serialization
from lineage_bridge.api.answering.question_route import question_router
from lineage_bridge.api.dependencies import KINDS, Mended, Offset, Style, page_link, position_header, require_node
from lineage_bridge.api.name_styles import apply_name_style
from lineage_bridge.api.openapi import response_docs
from lineage_bridge.api.responses import json_response
from lineage_bridge.api.routes.questions.neighbourhood import Kind
from lineage_bridge.api.schemas.names import ErrorAnswer
from lineage_bridge.api.schemas.schema_versions import ForeignAnswer, ForeignItem
from lineage_bridge.api.services import Services
from lineage_bridge.errors import RequestError
from lineage_bridge.graph.ids import NodeKind
from lineage_bridge.model.graph import Node
from lineage_bridge.model.history import ForeignFilter, ForeignStatement
from lineage_bridge.openlineage.times import format_time
from lineage_bridge.ports.graph_reader import NodeReader

Part = Annotated[str | None, Query(), Mended]
Limit = Annotated[int, Query(ge=1, le=1000)]


def routes(services: Services) -> APIRouter:
    """Create the router with the route for foreign assertions."""
    router = question_router(services, "history", "/graph")

    @router.get("/facets/foreign", response_model=None, responses=response_docs({200: ForeignAnswer, 404: ErrorAnswer}, writes=False))
    def get_foreign_facets(
        request: Request,
        namespace: Part = None,
        name: Part = None,
        kind: Kind = "dataset",
        job_namespace: Part = None,
        job_name: Part = None,
        principal: Annotated[str | None, Query(description="Only assertions of this principal"), Mended] = None,
        names: Style = "standard",
        limit: Limit = 100,
        offset: Offset = 0,
    ) -> Response:
        """Facets without effect, the latest first. Their senders are limited to namespaces, and may not state them about the dataset or
        job.
        """
        with services.graph() as reader:
            node = _named(reader.nodes, KINDS[kind], namespace, name, "")
            job = _named(reader.nodes, NodeKind.JOB, job_namespace, job_name, "job_")
            found = reader.history.foreign(ForeignFilter(node, job, principal), limit, offset, services.max_page_bytes)
            link = page_link(request, limit, offset + len(found.statements)) if found.more else {}
            answer = ForeignAnswer(
                [_item(statement) for statement in found.statements],
                found.truncated,
                reader.progress.settling(),
                position_tokens.encode(reader.progress.position()),
            )
            return json_response(apply_name_style(reader.nodes, answer, names), headers={**link, **position_header(reader.progress)})

    return router


def _named(nodes: NodeReader, kind: NodeKind, namespace: str | None, name: str | None, prefix: str) -> Node | None:
    if (namespace is None) != (name is None):
        raise RequestError(f"{prefix}namespace and {prefix}name must be given together", "send both, or neither")
    return None if namespace is None or name is None else require_node(nodes, kind, namespace, name)


def _item(statement: ForeignStatement) -> ForeignItem:
    return ForeignItem(
        node=serialization.graph_node(statement.node),
        key=statement.key,
        side=statement.side.name.lower(),  # type: ignore[arg-type]  # the names of Side are the words of the model
        why=statement.why,  # type: ignore[arg-type]  # the reasons of the model
        principal=statement.principal,
        namespaces=list(statement.namespaces),
        first_seen=format_time(statement.first),
        last_seen=format_time(statement.last),
        facet=Raw(statement.text.encode()),
        job=serialization.job_name(statement.job) if statement.job else UNSET,
        deleted=statement.deleted,
    )
