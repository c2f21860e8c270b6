"""Static pages that need no network: the interactive API documentation, and the schemas of our facets."""

from importlib.resources import files
from pathlib import Path

from fastapi import FastAPI, Response
from fastapi.openapi.docs import get_swagger_ui_html
from starlette.staticfiles import StaticFiles
from swagger_ui_bundle import swagger_ui_path

from lineage_bridge import openlineage

FILES = "/docs/files"
FACETS = "/spec/facets"


def install_pages(app: FastAPI) -> None:
    """Serve `/docs` and `/spec/facets`."""
    app.mount(FILES, StaticFiles(directory=Path(str(swagger_ui_path))), name="swagger")
    app.mount(FACETS, StaticFiles(directory=Path(str(files(openlineage))) / "spec" / "facets"), name="facets")

    @app.get("/docs", include_in_schema=False)
    def get_docs() -> Response:
        return get_swagger_ui_html(
            openapi_url="/openapi.json",
            title=f"{app.title}: calls",
            swagger_js_url=f"{FILES}/swagger-ui-bundle.js",
            swagger_css_url=f"{FILES}/swagger-ui.css",
            swagger_favicon_url=f"{FILES}/favicon-32x32.png",
        )
