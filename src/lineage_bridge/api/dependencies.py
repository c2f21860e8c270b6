"""Functions that routes share: for the router, for waiting until the graph has a position, for pages, and for arguments."""

import re
from collections.abc import Callable, Coroutine, Sequence
from typing import Annotated, Any, Final, Literal, TypeVar

import anyio
from anyio import to_thread
from fastapi import APIRouter, Header, Path, Query, Request
from pydantic import AfterValidator

from lineage_bridge.api import position_tokens
from lineage_bridge.api.answering.deferred_route import DeferredRoute
from lineage_bridge.api.answering.lanes import Cost
from lineage_bridge.api.limits.callers import caller_in
from lineage_bridge.api.readiness import is_reached
from lineage_bridge.api.responses import POSITION_HEADER
from lineage_bridge.api.services import Services
from lineage_bridge.errors import NotFoundError, RequestError, UnavailableError
from lineage_bridge.graph.identity.naming.spelling import bridge_rank
from lineage_bridge.graph.identity.steps import BRIDGE, STANDARD
from lineage_bridge.graph.ids import NodeKind
from lineage_bridge.model.graph import Node
from lineage_bridge.openlineage.times import parse_time
from lineage_bridge.ports.graph_reader import NodeReader, ProgressReader

PREFIX: Final = "/api/v1"
POLL_S: Final = 0.025
MAX_OFFSET: Final = 1_000_000_000
KINDS: Final = {"dataset": NodeKind.DATASET, "job": NodeKind.JOB}


def api_router(tag: str, prefix: str = "", **options: Any) -> APIRouter:  # noqa: ANN401 - FastAPI's own options
    """Create a router for routes below `/api/v1`.

    The routes have their whole paths, because including them under a prefix would build each a second time.
    """
    return APIRouter(prefix=PREFIX + prefix, tags=[tag], **{"route_class": DeferredRoute, **options})


def mend_argument(text: str) -> str:
    """Replace NUL characters in an argument, as ingest replaces them in events."""
    return text.replace("\0", "\ufffd")


Mended = AfterValidator(mend_argument)
Namespace = Annotated[str, Query(description="Namespace, exactly"), Mended]
NodeName = Annotated[str, Query(description="Name, exactly"), Mended]
Style = Annotated[
    Literal["standard", "lineagebridge"],
    Query(description="Style of names: `standard`, as the specification writes them, or `lineagebridge`"),
]
AnyStyle = Annotated[
    Literal["standard", "lineagebridge"] | None,
    Query(description="Style of names; by default the style of the namespace in the question"),
]
RunId = Annotated[str, Path(description="The run's id, as sent or as a UUID"), Mended]
Offset = Annotated[int, Query(ge=0, le=MAX_OFFSET)]
AsOf = Annotated[str | None, Query(description="As of this time: RFC 3339; UTC if it has no zone")]
IncludeEnded = Annotated[bool, Query(description="Include flows that have ended")]
Item = TypeVar("Item")
# Each router has these arguments: made once, they are a seventh of what an application costs less.
_MinPosition = Annotated[str | None, Query(description="Wait until the graph reflects this position and has settled")]
_MinPositionHeader = Annotated[str | None, Header(description="As min_position")]
_Wait = Annotated[float, Query(ge=0, le=60, description="How many seconds to wait at most")]

_LOST_PLUS = re.compile(r" (?=\d\d:?\d\d$)")


def wait_for_position(services: Services) -> Callable[..., Coroutine[Any, Any, None]]:
    """Make a dependency for questions: it waits until the graph has applied the requested position and has derived all lineage."""

    async def wait_for_position(
        request: Request,
        min_position: _MinPosition = None,
        x_min_position: _MinPositionHeader = None,
        wait: _Wait = 10.0,
    ) -> None:
        text = min_position or request.query_params.get("min-position") or x_min_position
        if not text:
            return
        position = position_tokens.decode(text)
        until = anyio.current_time() + wait
        async with services.lanes[Cost.WAITING].slot(caller_in(request.scope)):
            while not await to_thread.run_sync(is_reached, services, position, limiter=services.waiting_threads):
                if anyio.current_time() >= until:
                    raise UnavailableError(
                        f"the graph has not reached the requested position within {wait:g} s",
                        "ask again; GET /api/v1/ready reports how far behind it is",
                    )
                await anyio.sleep(POLL_S)

    return wait_for_position


def position_header(progress: ProgressReader) -> dict[str, str]:
    """The header that states up to which position of the log an answer reflects events."""
    return {POSITION_HEADER: position_tokens.encode(progress.position())}


def one_of(allowed: Sequence[str]) -> AfterValidator:
    """A validator that accepts the given words, and raises ValueError for others."""

    def check(value: str | None) -> str | None:
        if value is not None and value not in allowed:
            raise ValueError(f"use one of {', '.join(allowed)}")
        return value

    return AfterValidator(check)


def page(request: Request, items: Sequence[Item], limit: int, offset: int) -> tuple[Sequence[Item], dict[str, str]]:
    """Make the items of a page, and the link to the next page. `items` has up to `limit` + 1 items; the last one only shows that there
    is a next page.
    """
    return (items, {}) if len(items) <= limit else (items[:limit], page_link(request, limit, offset + limit))


def page_of_texts(
    request: Request, items: Sequence[Item], encode: Callable[[Item], bytes | None], bounds: tuple[int, int], max_bytes: int
) -> tuple[list[bytes], dict[str, str]]:
    """Like `page`, with items as JSON texts. Items without a text are left out. A page also ends at `max_bytes`, but has at least one
    item.

    `bounds` are the limit and the offset of the page.
    """
    limit, offset = bounds
    texts, shown = texts_within(items[:limit], encode, max_bytes)
    return texts, page_link(request, limit, offset + shown) if shown < len(items) else {}


def texts_within(items: Sequence[Item], encode: Callable[[Item], bytes | None], max_bytes: int) -> tuple[list[bytes], int]:
    """Encode items as JSON until the texts have `max_bytes`, but at least one. Returns the texts, and how many items were used; an item
    without a text is skipped, and counts as used.
    """
    texts: list[bytes] = []
    size = shown = 0
    for item in items:
        text = encode(item)
        if text is not None:
            size += len(text)
            if texts and size > max_bytes:
                break
            texts.append(text)
        shown += 1
    return texts, shown


def page_link(request: Request, limit: int, offset: int) -> dict[str, str]:
    """The header with the link to the page that begins at `offset`."""
    following = request.url.include_query_params(limit=limit, offset=offset)
    return {"Link": f'<{following.path}?{following.query}>; rel="next"'}


def require_node(nodes: NodeReader, kind: NodeKind, namespace: str, name: str) -> Node:
    """Find the node that has this name in any spelling. Raises NotFoundError, with similar names."""
    node = nodes.by_spelling(kind, namespace, name)
    if node is not None:
        return node
    near = [(close.namespace, close.name) for close in nodes.near(kind, namespace, name)]
    noun = kind.name.lower()
    hint = f"GET /api/v1/search?q=... finds names; GET /api/v1/lineage/{noun}s lists them"
    raise NotFoundError(f"there is no {noun} {name!r} in the namespace {namespace!r}", hint, near)


def all_names(nodes: NodeReader, namespace: str | None, name: str | None) -> frozenset[int] | None:
    """The ids of all names of a dataset; None unless namespace and name are given. Raises NotFoundError."""
    if namespace is None or name is None:
        return None
    return frozenset(node.id for node in nodes.group(require_node(nodes, NodeKind.DATASET, namespace, name))[1])


def style_of(namespace: str, names: str | None) -> str:
    """The style in which an answer shows names: the requested one, else that of the namespace in the question."""
    return names or (BRIDGE if bridge_rank(namespace) == 0 else STANDARD)


def parse_time_argument(name: str, text: str | None) -> int | None:
    """Parse a time argument to UTC microseconds. A time without a zone is taken as UTC. Raises RequestError."""
    if text is None:
        return None
    parsed = parse_time(_LOST_PLUS.sub("+", text))
    if parsed is None:
        raise RequestError(f"{name} is not a time: {text!r}", "write it as RFC 3339: 2026-05-01T04:00:00Z")
    return parsed.us
