"""The connection to Google's Data Lineage API, by its own client with the session of LineageBridge."""

from google.cloud.datacatalog_lineage_v1 import LineageClient
from google.cloud.datacatalog_lineage_v1.services.lineage.transports.rest import DEFAULT_CLIENT_INFO, LineageRestTransport

from lineage_bridge.catalogs.kinds.google.session import GoogleConnection, OwnTransport
from lineage_bridge.catalogs.kinds.google.settings import GoogleSettings
from lineage_bridge.catalogs.target import Repeat


class _Transport(OwnTransport, LineageRestTransport):
    """Google's transport for JSON over HTTP, which uses LineageBridge's connection."""


class LineageConnection(GoogleConnection):
    """Calls the Data Lineage API. Thread-safe. Raises ConfigError if the environment has variables of Google's client that cannot be
    honoured.

    `repeat` makes each request.
    """

    def __init__(self, settings: GoogleSettings, repeat: Repeat) -> None:
        super().__init__(settings, lambda: LineageClient(transport=_Transport(settings, repeat, DEFAULT_CLIENT_INFO)))
