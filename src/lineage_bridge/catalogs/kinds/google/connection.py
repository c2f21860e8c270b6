"""The connection to Google's Data Lineage API, by its own client with the session of LineageBridge."""

from collections.abc import Iterator
from typing import Any, Final

from google.cloud.datacatalog_lineage_v1 import LineageClient
from google.cloud.datacatalog_lineage_v1.services.lineage.transports.rest import DEFAULT_CLIENT_INFO, LineageRestTransport

from lineage_bridge.catalogs.kinds.google.session import GoogleAnswerError, GoogleConnection, OwnTransport, readable
from lineage_bridge.catalogs.kinds.google.settings import GoogleSettings
from lineage_bridge.catalogs.target import Repeat
from lineage_bridge.errors import SourceError

_PAGE: Final = 100


class _Transport(OwnTransport, LineageRestTransport):
    """Google's transport for JSON over HTTP, which uses LineageBridge's connection."""


class LineageConnection(GoogleConnection):
    """Calls the Data Lineage API. Thread-safe. Raises ConfigError if the environment has variables of Google's client that cannot be
    honoured.

    `repeat` makes each request.
    """

    def __init__(self, settings: GoogleSettings, repeat: Repeat) -> None:
        super().__init__(settings, lambda: LineageClient(transport=_Transport(settings, repeat, DEFAULT_CLIENT_INFO)))

    def listed(self, method: str, parent: str, member: str) -> Iterator[Any]:
        """The objects on all pages of a list. Each page is requested when it is reached.

        Empty if the parent does not exist. Raises as `call`.
        """
        try:
            pages = self.call(method, {"parent": parent, "page_size": _PAGE}).pages
        except GoogleAnswerError as error:
            if error.is_missing:
                return
            raise
        token = ""
        while True:
            with readable(method):
                page = next(pages, None)
            if page is None:
                return
            if page.next_page_token and page.next_page_token == token:
                raise SourceError(
                    f"{method} returned the token of the page just read, so the list has no end",
                    "try again later; if it repeats, report it to Google",
                )
            token = page.next_page_token
            yield from getattr(page, member)
