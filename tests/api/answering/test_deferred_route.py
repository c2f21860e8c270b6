"""Routes that are made ready by their first request are FastAPI's own in all else."""

from typing import Annotated

import pytest
from fastapi import APIRouter, Depends, FastAPI, Query
from fastapi.exceptions import FastAPIError
from fastapi.routing import APIRoute
from pydantic import BaseModel
from starlette.testclient import TestClient

from lineage_bridge.api.answering.deferred_route import DeferredRoute


class Found(BaseModel):
    """An answer."""

    text: str
    count: int


def has_page(page: Annotated[int, Query(ge=0)] = 0) -> int:
    return page


def made(route_class: type[APIRoute]) -> FastAPI:
    router = APIRouter(prefix="/v1", tags=["found"], route_class=route_class)

    @router.get("/found/{name}")
    def find(name: str, page: Annotated[int, Depends(has_page)], count: Annotated[int, Query(le=9)] = 1) -> Found:
        """Find it."""
        return Found(text=f"{name} {page}", count=count)

    @router.post("/found", status_code=201)
    def add(found: Found) -> Found:
        return found

    @router.get("/unlisted", include_in_schema=False)
    def unlisted() -> str:
        return "here"

    app = FastAPI()
    app.router.routes.extend(router.routes)
    return app


def test_the_first_request_makes_its_route_ready_and_no_other() -> None:
    app = made(DeferredRoute)
    find, add, unlisted = (route for route in app.routes if isinstance(route, DeferredRoute))
    assert not any("dependant" in vars(route) for route in (find, add, unlisted))
    client = TestClient(app)
    assert client.get("/v1/found/a?page=2").json() == {"text": "a 2", "count": 1}
    assert [("dependant" in vars(route)) for route in (find, add, unlisted)] == [True, False, False]


def test_requests_are_answered_as_by_fastapi_itself() -> None:
    deferred, own = TestClient(made(DeferredRoute)), TestClient(made(APIRoute))
    for method, path, body in (
        ("GET", "/v1/found/a?count=9", None),
        ("GET", "/v1/found/a?count=10", None),
        ("GET", "/v1/found/a?page=-1", None),
        ("POST", "/v1/found", {"text": "a", "count": 3}),
        ("POST", "/v1/found", {"text": "a"}),
        ("DELETE", "/v1/found", None),
        ("GET", "/v1/unlisted", None),
        ("GET", "/v1/none", None),
    ):
        for _ in range(2):
            answers = [client.request(method, path, json=body) for client in (deferred, own)]
            assert answers[0].status_code == answers[1].status_code
            assert answers[0].json() == answers[1].json()
            assert answers[0].headers == answers[1].headers


def test_the_document_describes_routes_that_no_request_has_made_ready() -> None:
    assert made(DeferredRoute).openapi() == made(APIRoute).openapi()
    assert "/v1/unlisted" not in made(DeferredRoute).openapi()["paths"]


class NoField:
    """What no request can bring."""


def test_an_error_in_a_signature_comes_with_every_request() -> None:
    def find(page: NoField) -> None:
        """Never answers."""

    route = DeferredRoute("/found", find)
    for _ in range(2):
        with pytest.raises(FastAPIError, match="NoField"):
            _ = route.app
