"""The route that searches for datasets and jobs."""

from typing import Annotated, Literal

from fastapi import APIRouter, Query, Request, Response
from msgspec import UNSET

from lineage_bridge.api import position_tokens, serialization
from lineage_bridge.api.answering.question_route import question_router
from lineage_bridge.api.dependencies import KINDS, Mended, Offset, Style, page, position_header
from lineage_bridge.api.name_styles import apply_name_style
from lineage_bridge.api.openapi import response_docs
from lineage_bridge.api.responses import json_response
from lineage_bridge.api.routes.questions.neighbourhood import Kind
from lineage_bridge.api.schemas.nodes import FoundNode, MatchedLine, SearchAnswer
from lineage_bridge.api.services import Services
from lineage_bridge.errors import RequestError
from lineage_bridge.model.search import Match, SearchFilter

In = Literal["name", "column", "owner", "tag", "description", "sql", "failure"]
Text = Annotated[str | None, Mended]
Limit = Annotated[int, Query(ge=1, le=1000)]
EVERYWHERE: tuple[In, ...] = ("name", "column", "owner", "tag", "description", "sql", "failure")


def routes(services: Services) -> APIRouter:
    """The route for searches."""
    router = question_router(services, "graph")

    @router.get("/search", response_model=None, responses=response_docs({200: SearchAnswer}, writes=False))
    def get_search(
        request: Request,
        q: Annotated[
            Text, Query(description="Words; each must be part of a name, or the beginning of a word in a facet", max_length=500)
        ] = None,
        where: Annotated[list[In] | None, Query(alias="in", description="Where to search; by default everywhere")] = None,
        kind: Kind | None = None,
        namespace: Annotated[Text, Query(description="Only in this namespace, exactly")] = None,
        owner: Annotated[Text, Query(description="Only nodes with exactly this owner, under any of their names")] = None,
        tag: Annotated[Text, Query(description="Only nodes with this tag: a key, or key=value")] = None,
        has: Annotated[list[str] | None, Query(description="Only nodes that currently have a facet with this key")] = None,
        names: Style = "standard",
        limit: Limit = 50,
        offset: Offset = 0,
    ) -> Response:
        """Datasets and jobs by parts of their names, by columns, owners, tags, descriptions and SQL; names first."""
        if q is None and owner is None and tag is None and not has:
            raise RequestError("the search has no condition", "send one of `q`, `owner`, `tag` and `has`")
        which = SearchFilter(
            q or "",
            kind=KINDS[kind] if kind else None,
            namespace=namespace,
            owner=owner,
            tag=tag,
            has=tuple(has or ()),
            fields=tuple(where or EVERYWHERE),
            limit=limit + 1,
            offset=offset,
        )
        with services.graph() as reader:
            matching = reader.search.page(which)
            shown, link = page(request, matching.matches, limit, offset)
            answer = SearchAnswer(
                [_found_node(match) for match in shown], position_tokens.encode(reader.progress.position()), matching.truncated
            )
            return json_response(apply_name_style(reader.nodes, answer, names), headers={**link, **position_header(reader.progress)})

    return router


def _found_node(match: Match) -> FoundNode:
    node = match.node
    lines = [MatchedLine(field, line) for field, line in match.lines]
    return FoundNode(serialization.node_id_of(node), node.kind.name.lower(), node.namespace, node.name, matched=lines or UNSET)
