"""Routes for aliases: list the names of a dataset or job with their evidence, add aliases, veto them and lift vetoes, and choose preferred
names.
"""

from collections.abc import Sequence
from contextlib import suppress
from typing import Annotated, Literal

import msgspec
from anyio import to_thread
from fastapi import APIRouter, Depends, Query, Request, Response
from msgspec import UNSET

from lineage_bridge.api import position_tokens
from lineage_bridge.api.answering.question_route import question_route
from lineage_bridge.api.bodies import read_body
from lineage_bridge.api.dependencies import KINDS, Mended, Offset, api_router, page, position_header, wait_for_position
from lineage_bridge.api.intake import Intake
from lineage_bridge.api.openapi import body_docs, response_docs
from lineage_bridge.api.responses import POSITION_HEADER, json_response
from lineage_bridge.api.schemas.aliases import AliasAsserter, AliasEnd, Aliases, AliasesAccepted, AliasItem, AliasRequest, UnknownEnd
from lineage_bridge.api.schemas.names import ErrorAnswer
from lineage_bridge.api.services import Services
from lineage_bridge.errors import RequestError, StoreError
from lineage_bridge.graph.facts.operations import ALIAS, ALIAS_OPERATIONS, ENTITIES, PREFER, VETO, AliasStatement, End, alias_key
from lineage_bridge.graph.flows.labels import Label, freshness
from lineage_bridge.graph.identity.naming.rules import VERSION
from lineage_bridge.graph.identity.steps import OPERATOR, PREFERRED
from lineage_bridge.graph.ids import NodeKind
from lineage_bridge.model.history import AliasFilter, AliasRecord, LinkAsserter
from lineage_bridge.openlineage.times import format_time

MAX_ALIASES = 10_000
_ABOUT_NAMES = (ALIAS, VETO, PREFER)
_MOST_UNKNOWN = 100
_MOST_CORRECTED = 500
_REQUEST = msgspec.json.Decoder(AliasRequest)
Kind = Literal["operator", "rule", "symlink", "facet", "preferred", "veto"]
Limit = Annotated[int, Query(ge=1, le=1000)]


def routes(services: Services, intake: Intake) -> APIRouter:
    """The routes for aliases."""
    router = api_router("aliases", route_class=question_route(services))
    _list_route(router, services)
    for operation in ALIAS_OPERATIONS:
        _operation_route(router, services, intake, operation)
    return router


def _list_route(router: APIRouter, services: Services) -> None:
    @router.get(
        "/aliases",
        response_model=None,
        dependencies=[Depends(wait_for_position(services))],
        responses=response_docs({200: Aliases}, writes=False),
    )
    def get_aliases(
        request: Request,
        kind: Annotated[Kind | None, Query(description="Only aliases with this kind of evidence; `veto`: vetoes")] = None,
        entity: Literal["dataset", "job"] | None = None,
        namespace: Annotated[str | None, Query(description="Namespace of either end, exactly"), Mended] = None,
        name: Annotated[str | None, Query(description="Name of either end, exactly; with a namespace"), Mended] = None,
        limit: Limit = 100,
        offset: Offset = 0,
    ) -> Response:
        """Which names stand for one dataset or job, with the evidence of each."""
        if name is not None and namespace is None:
            raise RequestError("`name` needs `namespace`", "send both, or `namespace` alone")
        which = AliasFilter(kind, KINDS[entity] if entity else None, namespace, name, limit + 1, offset)
        with services.graph() as reader:
            shown, link = page(request, reader.nodes.aliases(which), limit, offset)
            found = Aliases(
                [_item(record, services.clock_us()) for record in shown], VERSION, position_tokens.encode(reader.progress.position())
            )
            return json_response(found, headers={**link, **position_header(reader.progress)})


def _item(record: AliasRecord, now_us: int) -> AliasItem:
    last_us = max((asserter.last_us for asserter in record.asserted_by), default=now_us)
    return AliasItem(
        entity=NodeKind(record.entity).name.lower(),
        a=AliasEnd(record.a[0], UNSET if record.whole else record.a[1]),
        b=AliasEnd(record.b[0], UNSET if record.whole else record.b[1]),
        kind=record.kind,
        evidence=record.evidence,
        standing=record.standing,
        prefix=record.b[1] if record.whole and record.b[1] else UNSET,
        parts=record.parts or UNSET,
        stated_by=record.by or UNSET if record.kind in (OPERATOR, PREFERRED) else UNSET,
        stated_at=format_time(record.at_us) if record.at_us is not None else UNSET,
        asserters=record.asserters or UNSET,
        asserted_by=[_asserter(asserter) for asserter in record.asserted_by] or UNSET,
        stale=freshness(last_us, now_us) is Label.STALE,
    )


def _asserter(asserter: LinkAsserter) -> AliasAsserter:
    node = asserter.node
    return AliasAsserter(node.kind.name.lower(), node.namespace, node.name, format_time(asserter.last_us), asserter.declared)


def _operation_route(router: APIRouter, services: Services, intake: Intake, operation: str) -> None:
    descriptions = {
        "alias": "State that names, or whole namespaces, are aliases. An alias that is vetoed stays vetoed until the veto is lifted.",
        "veto": "Veto aliases: what an operator, a producer or a naming rule states about them has no effect.",
        "lift": "Lift vetoes. Each has to be given with the same values as when it was made.",
        "prefer": "Choose the preferred name of a dataset or job: `a`, one of its names. The latest choice counts.",
        "withdraw": "Withdraw the choice of a preferred name.",
    }

    async def post(request: Request) -> Response:
        asked = await to_thread.run_sync(_parse_request, operation, await read_body(request))
        unknown = await to_thread.run_sync(_unknown_ends, services, asked.aliases) if operation in _ABOUT_NAMES else []
        position = await intake.ingest_operation(request, {"operation": operation, "aliases": asked.aliases})
        return json_response(AliasesAccepted(len(asked.aliases), position, unknown or UNSET), 202, {POSITION_HEADER: position})

    router.add_api_route(
        f"/operations/{operation}",
        post,
        methods=["POST"],
        name=f"post_{operation}",
        description=descriptions[operation],
        response_model=None,
        openapi_extra=body_docs(AliasRequest),
        responses=response_docs({202: AliasesAccepted, 422: ErrorAnswer}),
    )


def _unknown_ends(services: Services, statements: Sequence[AliasStatement]) -> list[UnknownEnd]:
    """The names in statements that no node of the graph has, without duplicates; empty while there is no graph. Only a limited number of
    names is also looked up in other spellings.
    """
    found: dict[UnknownEnd, None] = {}
    ends = dict.fromkeys((ENTITIES[item.entity], end) for item in statements for end in (item.a, item.b) if end != End(""))
    corrected = 0
    with suppress(StoreError), services.graph() as reader:
        for kind, end in ends:
            if end.name is None:
                known = reader.nodes.has_namespace(kind, end.namespace)
            elif reader.nodes.find(kind, end.namespace, end.name) is not None:
                continue
            else:
                corrected += 1
                known = reader.nodes.by_spelling(kind, end.namespace, end.name) is not None
            if not known:
                name = UNSET if end.name is None else end.name
                found[UnknownEnd(end.namespace, name, entity=kind.name.lower())] = None
            if len(found) == _MOST_UNKNOWN or corrected == _MOST_CORRECTED:
                break
    return list(found)


def _parse_request(operation: str, body: bytes) -> AliasRequest:
    """Parse the aliases in a request. Raises RequestError unless all of them are valid."""
    try:
        asked = _REQUEST.decode(body)
    except (ValueError, msgspec.DecodeError) as error:
        raise RequestError(f"invalid request: {error}", 'send {"aliases": [{"a": {"namespace", "name"}, "b": {...}}, ...]}') from error
    if not 0 < len(asked.aliases) <= MAX_ALIASES:
        raise RequestError(f"{len(asked.aliases)} aliases cannot be changed at once", f"send 1 to {MAX_ALIASES} aliases")
    for alias in asked.aliases:
        alias_key(operation, alias)
    return asked
