"""Serves the web page: the files that its build left in the package. They are kept in memory, each also in compressed form."""

import gzip
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from html import escape
from mimetypes import guess_type
from pathlib import Path
from typing import Final

from starlette.datastructures import Headers
from starlette.responses import Response

FOLDER: Final = Path(__file__).parent / "static"
"""The folder that the build of `web/` writes, and that the wheel contains."""
ASSETS: Final = "/assets"
VIEWS: Final = "/view"
_INDEX: Final = "index.html"
_BASE: Final = b"%LINEAGE_BRIDGE_BASE%"
_LOGIN: Final = b"%LINEAGE_BRIDGE_LOGIN%"
_FOREVER: Final = "public, max-age=31536000, immutable"
_POLICY: Final = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; font-src 'self'; connect-src 'self'; worker-src 'self';"
    " base-uri 'self'; form-action 'none'; frame-ancestors 'none'"
)
_ABSENT: Final = b"""<!doctype html>
<html lang="en"><meta charset="utf-8"><title>LineageBridge</title>
<h1>LineageBridge is running, without its web page</h1>
<p>The page is built by Node 20.19 or newer, which was not there when this copy was set up.
Install Node, then run <code>make page-build</code> in the checkout, and reload. Wheels carry the page.</p>
<p>The API works all the same: <a href="docs">its calls</a>.</p>
</html>
"""


@dataclass(frozen=True)
class PageFile:
    """A file of the page with its media type, as it is and compressed by gzip."""

    content: bytes
    compressed: bytes
    media_type: str

    def response(self, accepted: Headers, headers: Mapping[str, str]) -> Response:
        """A response with the file, compressed if the client accepts that."""
        if "gzip" in accepted.get("accept-encoding", ""):
            return Response(
                self.compressed, headers={**headers, "Content-Encoding": "gzip", "Vary": "Accept-Encoding"}, media_type=self.media_type
            )
        return Response(self.content, headers={**headers, "Vary": "Accept-Encoding"}, media_type=self.media_type)


class WebPage:
    """The web page in a folder: its HTML document, which is the same for every view, and its assets by name. A page may be built into
    the folder later.
    """

    def __init__(self, folder: Path = FOLDER) -> None:
        self._folder = folder

    def shell(self, prefix: str, *, has_logins: bool) -> Response:
        """The HTML document of every view, for a server below `prefix`; instructions if the page was not built."""
        index = self._folder / _INDEX
        headers = {"Cache-Control": "no-cache", "Content-Security-Policy": _POLICY}
        if not index.is_file():
            return Response(_ABSENT, 200, {**headers, "Cache-Control": "no-store"}, "text/html")
        document = index.read_bytes().replace(_BASE, escape(f"{prefix}/").encode()).replace(_LOGIN, b"yes" if has_logins else b"no")
        return Response(document, 200, headers, "text/html")

    def asset(self, name: str, accepted: Headers) -> Response | None:
        """An asset; None if the page has no such asset. Its name contains a digest of its content, so browsers may cache it forever."""
        index = self._folder / _INDEX
        if not index.is_file():
            return None
        found = _assets(self._folder, sha256(index.read_bytes()).hexdigest()).get(name)
        return found.response(accepted, {"Cache-Control": _FOREVER, "Content-Security-Policy": _POLICY}) if found else None


@cache
def _assets(folder: Path, build: str) -> Mapping[str, PageFile]:  # noqa: ARG001 - another build has other files
    """Read the files of one build from the folder, by name. They have about a megabyte in total."""
    found = sorted(path for path in (folder / ASSETS.strip("/")).iterdir() if path.is_file())
    return {path.name: _file(path) for path in found}


def _file(path: Path) -> PageFile:
    content = path.read_bytes()
    media_type = "text/javascript" if path.suffix == ".js" else guess_type(path.name)[0] or "application/octet-stream"
    return PageFile(content, gzip.compress(content, mtime=0), media_type)
