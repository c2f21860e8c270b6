"""Builds the application with all routes of the API."""

from dataclasses import replace
from typing import Any

from fastapi import APIRouter, FastAPI
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from lineage_bridge.api import openapi, responses
from lineage_bridge.api.answering.followed_rates import Pulses
from lineage_bridge.api.answering.lanes import CURRENT_TURN, interruptible
from lineage_bridge.api.answering.visibility import CURRENT_VISIBILITY
from lineage_bridge.api.auditing import RequestAudit
from lineage_bridge.api.dependencies import PREFIX
from lineage_bridge.api.guard import Guard
from lineage_bridge.api.intake import Intake
from lineage_bridge.api.limits.requests import RequestLimits
from lineage_bridge.api.routes.erasing import erasures
from lineage_bridge.api.routes.graphs import imports, nodes, views
from lineage_bridge.api.routes.operations import (
    analysis,
    audit,
    health,
    inputs,
    keys,
    logins,
    metrics,
    pages,
    push,
    quarantine,
    sessions,
    sources,
    targets,
    tasks,
)
from lineage_bridge.api.routes.operations.intake import routes as intake_routes
from lineage_bridge.api.routes.page import overview, pins, rate_stream, rates, schema_changes
from lineage_bridge.api.routes.questions import (
    aliases,
    changes,
    events,
    foreign,
    impact,
    ledger,
    lineage,
    neighbourhood,
    paths,
    runs,
    schema_versions,
    search,
    statistics,
    time,
    timeline,
)
from lineage_bridge.api.routes.questions.traces import access, trace
from lineage_bridge.api.scopes import RouteRequirements
from lineage_bridge.api.services import Services
from lineage_bridge.api.telemetry.requests import RequestTelemetry, parent_of, take_request_id
from lineage_bridge.api.web.page import WebPage
from lineage_bridge.tracing import span
from lineage_bridge.visibility.findings import limited_findings
from lineage_bridge.visibility.reader import limited

_DESCRIPTION = "The OpenLineage home for streaming: send events, ask for lineage."


class Application(FastAPI):
    """FastAPI with LineageBridge's OpenAPI document and, if it is given, telemetry."""

    telemetry: RequestTelemetry | None = None
    pulses: Pulses | None = None

    def end_streams(self) -> None:
        """End all answers that would go on for as long as their clients read them."""
        if self.pulses:
            self.pulses.end()

    def openapi(self) -> dict[str, Any]:
        """The OpenAPI document, made once."""
        if not self.openapi_schema:
            self.openapi_schema = openapi.openapi_document(self)
        return self.openapi_schema

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        # The server starts a pipelined request in the context of the one before it, whose client may already count as disconnected.
        CURRENT_TURN.set(None)
        if scope["type"] != "http":
            await super().__call__(scope, receive, send)
        elif self.telemetry is None:
            take_request_id(scope)
            with span("answer question", {"url.path": scope["path"]}, parent=parent_of(scope)):
                await super().__call__(scope, receive, send)
        else:
            await self.telemetry(super().__call__, scope, receive, send)


def create_app(services: Services) -> Application:
    """Create the API over these services. The application keeps no state of its own."""
    services = _as_whoever_asks(services)
    intake = Intake(services)
    pulses = Pulses(services, services.questions or _app(services, rates.routes(services)))
    app = _app(
        services,
        *_question_routes(services, intake),
        rate_stream.routes(services, pulses),
        intake_routes(intake),
        imports.routes(services, intake),
        changes.routes(services),
        analysis.routes(services),
        sources.routes(services),
        inputs.routes(services),
        targets.routes(services),
        push.routes(services),
        tasks.routes(services),
        pins.routes(services),
        keys.routes(services),
        sessions.routes(services),
        audit.routes(services),
        erasures.routes(services),
        health.routes(services, intake),
        metrics.routes(services),
        logins.routes(services),
    )
    # Most requests send one event. This route skips FastAPI's dependencies, which cost more than validation; the guard comes before it too.
    app.router.routes.insert(0, Route(f"{PREFIX}/lineage", intake.post_lineage, methods=["POST"], include_in_schema=False))
    pages.install_pages(app)
    pages.install_web_page(app, WebPage(), has_logins=services.logins is not None)
    requirements = RouteRequirements(app.routes)
    app.add_middleware(RequestAudit, routes=requirements, trail=services.audit, key=services.key)
    app.add_middleware(RequestLimits, routes=requirements, rates=services.rates, bodies=services.bodies, clock_us=services.clock_us)
    app.add_middleware(Guard, routes=requirements, policy=services.access, max_body_bytes=services.max_body_bytes)
    app.pulses = pulses
    app.telemetry = RequestTelemetry(services.counters, requirements, log_requests=services.log_requests)
    return app


def create_question_app(services: Services) -> FastAPI:
    """Create an application with the API's questions only, for a process to which the API passes requests that its guard has admitted."""
    services = _as_whoever_asks(services)
    return _app(services, *_question_routes(services, Intake(services)), metrics.lane_routes(services))


def _as_whoever_asks(services: Services) -> Services:
    """Adapt the services to the current question. Readers of the graph are then interrupted when the question's client disconnects, and
    limited to what the question's principal may see.
    """
    see = CURRENT_VISIBILITY.get
    return replace(services, graph=limited(interruptible(services.graph), see), findings=limited_findings(services.findings, see))


def _app(services: Services, *routers: APIRouter) -> Application:
    app = Application(title="LineageBridge", version=services.version, description=_DESCRIPTION, docs_url=None, redoc_url=None)
    for router in routers:
        app.router.routes.extend(router.routes)
    responses.install_error_handlers(app, services.clock_us)
    return app


def _question_routes(services: Services, intake: Intake) -> tuple[APIRouter, ...]:
    # Routes are tried in this order, so those that are asked most come first.
    return (
        neighbourhood.routes(services),
        lineage.routes(services),
        paths.routes(services),
        trace.routes(services),
        search.routes(services),
        events.routes(services),
        overview.routes(services),
        schema_changes.routes(services),
        nodes.routes(services),
        views.routes(services),
        impact.routes(services),
        aliases.routes(services, intake),
        runs.routes(services),
        schema_versions.routes(services),
        foreign.routes(services),
        statistics.routes(services),
        timeline.routes(services),
        rates.routes(services),
        ledger.routes(services),
        access.routes(services),
        quarantine.routes(services, intake),
        time.routes(services, intake),
    )
