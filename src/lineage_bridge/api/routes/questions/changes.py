"""The route for the change feed: changes of the graph in order, with a cursor."""

from typing import Annotated, Final, Literal

import anyio
import msgspec
from anyio import to_thread
from fastapi import APIRouter, Query, Request, Response
from msgspec import UNSET

from lineage_bridge.api import position_tokens, serialization
from lineage_bridge.api.answering.lanes import Cost
from lineage_bridge.api.dependencies import api_router, position_header
from lineage_bridge.api.limits.callers import caller_in
from lineage_bridge.api.openapi import response_docs
from lineage_bridge.api.responses import json_response
from lineage_bridge.api.schemas.aliases import AliasEnd
from lineage_bridge.api.schemas.changes import ChangedAlias, ChangedNode, ChangeFeed, ChangeItem
from lineage_bridge.api.schemas.names import ErrorAnswer
from lineage_bridge.api.services import Services
from lineage_bridge.graph.ids import NodeKind
from lineage_bridge.model.differences import ChangeRecord
from lineage_bridge.model.graph import Node

POLL_S: Final = 0.1
Kind = Literal["node", "port", "flow", "hub", "columns", "identity", "alias", "facet"]


def routes(services: Services) -> APIRouter:
    """The routes for the change feed."""
    router = api_router("changes")

    def read(after: str | None, kinds: list[Kind], limit: int) -> tuple[ChangeFeed, dict[str, str]]:
        with services.graph() as reader:
            page = reader.history.changes(after, kinds, limit)
            items = [_item(record) for record in page.changes]
            feed = ChangeFeed(
                items,
                page.following,
                page.oldest,
                page.more,
                reader.progress.settling(),
                position_tokens.encode(reader.progress.position()),
            )
            return feed, position_header(reader.progress)

    @router.get("/changes", response_model=None, responses=response_docs({200: ChangeFeed, 410: ErrorAnswer}, writes=False))
    async def get_changes(
        request: Request,
        after: Annotated[
            str | None, Query(description="Cursor (the `next` of an answer), or `now`; by default the oldest change that is kept")
        ] = None,
        kind: Annotated[list[Kind] | None, Query(description="Only changes of this kind, repeatable")] = None,
        limit: Annotated[int, Query(ge=1, le=10_000)] = 1000,
        wait_s: Annotated[float, Query(ge=0, le=60, description="How many seconds to wait for a change if there is none yet")] = 0.0,
    ) -> Response:
        """Changes of the graph since a cursor. Repeated statements do not count as changes. 410 if changes after the cursor are no longer
        kept.
        """
        until = anyio.current_time() + wait_s
        async with services.lanes[Cost.WAITING].slot(caller_in(request.scope)):
            while True:
                feed, headers = await to_thread.run_sync(read, after, kind or [], limit, limiter=services.waiting_threads)
                if feed.changes or anyio.current_time() >= until or await request.is_disconnected():
                    return json_response(feed, headers=headers)
                after = feed.next
                await anyio.sleep(POLL_S)

    return router


def _item(record: ChangeRecord) -> ChangeItem:
    is_hub, is_flow, is_alias = record.kind == "hub", record.kind == "flow", record.kind == "alias"
    node, other = _node(record.node), _node(record.other) if record.other else UNSET
    return ChangeItem(
        seq=record.seq,
        kind=record.kind,
        change=record.action.name.lower(),
        node=UNSET if is_flow or is_hub or is_alias else node,
        source=node if is_flow else UNSET,
        target=other if is_flow else UNSET,
        other=other if record.kind == "identity" else UNSET,
        link=record.key if record.kind == "identity" else UNSET,
        alias=_alias(record) if is_alias else UNSET,
        job=_node(record.job) if record.job else UNSET,
        hub=serialization.node_id_of(record.node) if is_hub else UNSET,
        side=UNSET if record.side is None else record.side.name.lower(),
        origin=UNSET if record.origin is None else record.origin.name.lower(),
        evidence=UNSET if record.evidence is None else record.evidence.text,
        facet=record.key or UNSET if record.kind == "facet" else UNSET,
        hash=UNSET if is_alias else record.value.hex() or UNSET,
    )


def _alias(record: ChangeRecord) -> ChangedAlias:
    entity, whole, a_namespace, a_name, b_namespace, b_name, kind, evidence = msgspec.json.decode(record.key)
    ends = (AliasEnd(a_namespace), AliasEnd(b_namespace)) if whole else (AliasEnd(a_namespace, a_name), AliasEnd(b_namespace, b_name))
    prefix = b_name or UNSET if whole else UNSET
    return ChangedAlias(NodeKind(entity).name.lower(), *ends, kind, evidence, record.value == b"vetoed", prefix)


def _node(node: Node) -> ChangedNode:
    return ChangedNode(serialization.node_id_of(node), *((node.kind.name.lower(), node.namespace, node.name) if node.name else ()))
