"""Serves pages that load nothing from other hosts: the web page, the interactive API documentation, and the schemas of LineageBridge's
facets.
"""

import re
from base64 import b64encode
from hashlib import sha256
from importlib.resources import files
from pathlib import Path

from fastapi import FastAPI, Request, Response
from fastapi.openapi.docs import get_swagger_ui_html
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.responses import HTMLResponse
from starlette.routing import Route
from starlette.staticfiles import StaticFiles
from swagger_ui_bundle import swagger_ui_path

from lineage_bridge import openlineage
from lineage_bridge.api.answering.deferred_route import DeferredRoute
from lineage_bridge.api.web.forwarding import server_prefix
from lineage_bridge.api.web.page import ASSETS, VIEWS, WebPage

FILES = "/docs/files"
FACETS = "/spec/facets"
_SCRIPT = re.compile(rb"<script>(.*?)</script>", re.DOTALL)
"""The inline scripts of the page. Browsers only run those whose hashes are in the content security policy."""
_POLICY = (
    "default-src 'none'; connect-src 'self'; script-src 'self' {scripts}; style-src 'self' 'unsafe-inline'; img-src 'self' data:;"
    " frame-ancestors 'none'"
)


def install_pages(app: FastAPI) -> None:
    """Serve `/docs` and `/spec/facets`."""
    app.mount(FILES, StaticFiles(directory=Path(str(swagger_ui_path))), name="swagger")
    app.mount(FACETS, StaticFiles(directory=Path(str(files(openlineage))) / "spec" / "facets"), name="facets")

    def get_docs(request: Request) -> Response:
        page = _page(app.title, request.scope.get("root_path", ""))
        scripts = " ".join(f"'sha256-{b64encode(sha256(script).digest()).decode()}'" for script in _SCRIPT.findall(page))
        return HTMLResponse(page, headers={"Content-Security-Policy": _POLICY.format(scripts=scripts)})

    app.router.add_api_route("/docs", get_docs, include_in_schema=False, route_class_override=DeferredRoute)


def install_web_page(app: Starlette, page: WebPage, *, has_logins: bool) -> None:
    """Serve the web page: its HTML document at `/` and below `/view`, and its assets."""

    async def get_shell(request: Request) -> Response:
        return page.shell(server_prefix(request.scope), has_logins=has_logins)

    async def get_asset(request: Request) -> Response:
        found = page.asset(request.path_params["name"], request.headers)
        if found is None:
            raise HTTPException(404)
        return found

    for path in ("/", f"{VIEWS}/{{view:path}}"):
        app.router.routes.append(Route(path, get_shell, methods=["GET"], include_in_schema=False))
    app.router.routes.append(Route(f"{ASSETS}/{{name}}", get_asset, methods=["GET"], include_in_schema=False))


def _page(title: str, prefix: str) -> bytes:
    """The interactive documentation page of a server that is shown below a path prefix."""
    return bytes(
        get_swagger_ui_html(
            openapi_url=f"{prefix}/openapi.json",
            title=f"{title}: calls",
            swagger_js_url=f"{prefix}{FILES}/swagger-ui-bundle.js",
            swagger_css_url=f"{prefix}{FILES}/swagger-ui.css",
            swagger_favicon_url=f"{prefix}{FILES}/favicon-32x32.png",
        ).body
    )
