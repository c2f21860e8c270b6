"""Client of a ksqlDB server's REST API."""

from lineage_bridge.sources.common.http import HttpClient
from lineage_bridge.sources.common.ksqldb.answers import STATEMENTS, KsqldbState, parse

_TYPE = "application/vnd.ksql.v1+json"
HEADERS = {"Accept": _TYPE, "Content-Type": _TYPE}
_LISTINGS = {"ksql": " ".join(STATEMENTS), "streamsProperties": {}}


def fetch_state(http: HttpClient) -> KsqldbState:
    """Fetch a server's info and all its listings with two requests. Raises SourceError."""
    return parse(http.get("/info"), http.send("POST", "/ksql", _LISTINGS))
