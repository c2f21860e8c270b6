"""The route for the audit trail, which states who changed what."""

from typing import Annotated

from fastapi import APIRouter, Query, Response

from lineage_bridge.access.audit import as_json
from lineage_bridge.api.dependencies import Mended, api_router
from lineage_bridge.api.openapi import response_docs
from lineage_bridge.api.responses import json_response
from lineage_bridge.api.schemas.operations import AuditItem, AuditPage
from lineage_bridge.api.services import Services
from lineage_bridge.conversion import convert

_LAST = 2**63 - 1


def routes(services: Services) -> APIRouter:
    """The route for the audit trail."""
    router = api_router("keys")

    @router.get("/audit", response_model=None, responses=response_docs({200: AuditPage}, writes=False))
    def get_audit(
        principal: Annotated[str | None, Query(description="Only changes of this principal"), Mended] = None,
        action: Annotated[str | None, Query(description="Only changes of this kind, exactly"), Mended] = None,
        below: Annotated[int | None, Query(ge=1, le=_LAST, description="Only entries with a smaller number: the next page")] = None,
        limit: Annotated[int, Query(ge=1, le=1000)] = 100,
    ) -> Response:
        """The entries of the audit trail, the newest first: who changed what, and when."""
        found = services.audit.newest(limit, below, principal, action)
        return json_response(AuditPage([convert(as_json(entry), AuditItem) for entry in found]))

    return router
