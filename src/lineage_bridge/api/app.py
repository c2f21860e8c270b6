"""The application: all routes together."""

from dataclasses import replace
from typing import Any

from fastapi import FastAPI
from starlette.routing import Route

from lineage_bridge.api import openapi, responses
from lineage_bridge.api.answering.lanes import interruptible
from lineage_bridge.api.guard import Guard
from lineage_bridge.api.intake import Intake
from lineage_bridge.api.routes.graphs import imports, nodes, views
from lineage_bridge.api.routes.operations import analysis, health, pages, quarantine, sources, tasks
from lineage_bridge.api.routes.operations.intake import routes as intake_routes
from lineage_bridge.api.routes.questions import (
    aliases,
    changes,
    impact,
    ledger,
    lineage,
    neighbourhood,
    runs,
    schema_versions,
    search,
    statistics,
    time,
)
from lineage_bridge.api.services import Services

PREFIX = "/api/v1"
_DESCRIPTION = "The OpenLineage home for streaming: send events, ask for lineage."


class _App(FastAPI):
    """FastAPI, with an OpenAPI document of our own shapes."""

    def openapi(self) -> dict[str, Any]:
        if not self.openapi_schema:
            self.openapi_schema = openapi.openapi_document(self)
        return self.openapi_schema


def create_app(services: Services) -> FastAPI:
    """The API over these services. It keeps no state of its own."""
    services = replace(services, graph=interruptible(services.graph))
    app = _App(title="LineageBridge", version=services.version, description=_DESCRIPTION, docs_url=None, redoc_url=None)
    intake = Intake(services)
    for routes in (
        intake_routes(intake),
        lineage.routes(services),
        neighbourhood.routes(services),
        nodes.routes(services),
        imports.routes(services, intake),
        views.routes(services),
        impact.routes(services),
        aliases.routes(services, intake),
        changes.routes(services),
        runs.routes(services),
        schema_versions.routes(services),
        search.routes(services),
        statistics.routes(services),
        ledger.routes(services),
        analysis.routes(services),
        sources.routes(services),
        tasks.routes(services),
        quarantine.routes(services, intake),
        time.routes(services, intake),
        health.routes(services, intake),
    ):
        app.include_router(routes, prefix=PREFIX)
    # Most requests bring one event. This route skips FastAPI's dependencies, which cost more than judging; the guard lies before both.
    app.router.routes.insert(0, Route(f"{PREFIX}/lineage", intake.post_lineage, methods=["POST"], include_in_schema=False))
    pages.install_pages(app)
    responses.install_error_handlers(app, services.clock_us)
    app.add_middleware(Guard, allowed_hosts=services.allowed_hosts, max_body_bytes=services.max_body_bytes)
    return app
