"""The parts of Atlan's API that publications need: sending events, searching assets, archiving them.

Paths, requests and answers are those of pyatlan 11.6. That library is not used: it does not allow newer versions of pydantic and
tenacity, and retries up to six times by itself.
"""

import threading
from collections.abc import Iterable, Sequence
from typing import Any, Final
from urllib.parse import urlencode

from lineage_bridge.catalogs.http import HttpAnswer, LoggedInClient, TargetClient
from lineage_bridge.catalogs.kinds.atlan.settings import AtlanSettings
from lineage_bridge.catalogs.target import Json, Repeat
from lineage_bridge.errors import MissingError, SourceError
from lineage_bridge.openlineage.event_builder import encode
from lineage_bridge.sources.common.settings import reveal

_SEARCH: Final = "/api/meta/search/indexsearch"
_ENTITIES: Final = "/api/meta/entity/bulk/"
_TOKENS: Final = "/api/service/oauth-clients/token"
_NOT_ENABLED: Final = b"url path not configured to receive data"
_HINT: Final = "check that the address is that of the tenant"
MOST: Final = 100
"""How many assets are asked for in one search."""
_MOST_FOUND: Final = 10_000
"""How many assets a search may find, far more than those of one job."""


class AtlanApi:
    """Calls the API of one tenant. Thread-safe."""

    def __init__(self, settings: AtlanSettings, repeat: Repeat) -> None:
        """`repeat` is called to make each request, and may repeat it."""
        self._settings = settings
        self._plain = TargetClient(settings, repeat, is_refusal=_is_refusal)
        self._client = LoggedInClient(settings, self._plain, self._asked_for_token)
        self._connections: dict[str, str] = {}
        self._looking = threading.Lock()
        self.events: Final = f"/events/openlineage/{settings.connector}/api/v1/lineage"

    def send(self, body: bytes) -> HttpAnswer:
        """Send an event and return the answer.

        Raises MissingError if the tenant accepts no events for this connector, and the errors of `TargetClient.call`.
        """
        answer = self._client.call("POST", self.events, body)
        if answer.status == 401:
            raise MissingError(
                f"POST {self.events} answered 401: the connector {self._settings.connector} is not set up to receive events",
                "set up its workflow in Atlan, which creates the connection",
            )
        return answer

    def is_answering(self) -> HttpAnswer:
        """Make a GET request to the address that accepts events, and return the answer."""
        return self._client.call("GET", self.events)

    def connection(self, name: str) -> str:
        """The qualified name of the connection with this name. Raises MissingError if there is none, SourceError if there are several."""
        with self._looking:
            if name not in self._connections:
                self._connections[name] = self._found_connection(name)
            return self._connections[name]

    def _found_connection(self, name: str) -> str:
        connector = self._settings.connector
        found = self.search("Connection", {"name.keyword": [name], "connectorName": [connector]}, ("qualifiedName",))
        names = [attributes_of(entity).get("qualifiedName") for entity in found]
        if not names or not isinstance(names[0], str):
            raise MissingError(
                f"there is no connection {name!r} of the connector {connector}",
                "create it in Atlan, and give the token the right to read it; or set read_back=false",
            )
        if len(names) > 1:
            raise SourceError(f"there are {len(names)} connections {name!r} of the connector {connector}", "rename all but one in Atlan")
        return names[0]

    def search(self, kind: str, terms: dict[str, Sequence[str]], attributes: Sequence[str], of_related: Sequence[str] = ()) -> list[Json]:
        """The active assets of a kind that match each term by one of its values. Raises SourceError, also if there are too many."""
        filters: list[Json] = [{"term": {"__state": "ACTIVE"}}, {"term": {"__typeName.keyword": kind}}]
        filters += [{"terms": {name: list(values)}} for name, values in terms.items()]
        found: list[Json] = []
        first: object = None
        while True:
            dsl = {"from": len(found), "size": MOST, "track_total_hits": True, "query": {"bool": {"filter": filters}}, "sort": _SORT}
            asked = {"dsl": dsl, "attributes": list(attributes), "relationAttributes": list(of_related)}
            page = self._page(encode(asked))
            if found and page and page[0].get("guid") == first:
                raise SourceError(f"POST {_SEARCH} returned the page just read once more, so the list has no end", _HINT)
            first = page[0].get("guid") if page else None
            found += page
            if len(page) < MOST:
                return found
            if len(found) >= _MOST_FOUND:
                raise SourceError(f"POST {_SEARCH} finds {_MOST_FOUND:,} assets or more of the type {kind}", _HINT)

    def _page(self, body: bytes) -> list[Json]:
        answer = self._client.call("POST", _SEARCH, body)
        if not answer.is_success:
            raise SourceError(f"POST {_SEARCH} answered {answer.status}: {answer.message}", _HINT)
        found = answer.json()
        entities = found.get("entities") or [] if isinstance(found, dict) else None
        if not isinstance(entities, list) or not all(isinstance(entity, dict) for entity in entities):
            raise SourceError(f"POST {_SEARCH} answered something other than assets", _HINT)
        return entities

    def archive(self, guids: Iterable[str]) -> HttpAnswer:
        """Archive assets, which an administrator can undo; returns the answer."""
        query = urlencode([*(("guid", guid) for guid in guids), ("deleteType", "SOFT")])
        return self._client.call("DELETE", f"{_ENTITIES}?{query}")

    def _asked_for_token(self) -> HttpAnswer:
        login = {"clientId": self._settings.client_id, "clientSecret": reveal(self._settings.client_secret or "")}
        return self._plain.call("POST", _TOKENS, encode(login))

    def close(self) -> None:
        """Close connections."""
        self._client.close()


_SORT: Final = [{"__guid": {"order": "asc"}}]


def _is_refusal(status: int, body: bytes) -> bool:
    """Whether a 401 has another cause than the token."""
    return status == 401 and _NOT_ENABLED in body


def attributes_of(entity: Json) -> Json:
    """The attributes of an asset; empty if the answer has none."""
    found: Any = entity.get("attributes")
    return found if isinstance(found, dict) else {}
