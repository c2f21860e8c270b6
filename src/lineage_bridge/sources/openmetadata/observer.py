"""The observer of OpenMetadata. It lists tables and topics from the search index, which also has their lineage."""

import json
from collections.abc import Sequence
from typing import Any, Final
from urllib.parse import quote

from lineage_bridge.errors import ForbiddenError, MissingError, SourceError
from lineage_bridge.sources.common.catalog.assets import Asset
from lineage_bridge.sources.common.catalog.observer import CatalogObserver
from lineage_bridge.sources.common.catalog.reading import hints, list_in, object_in, required_list, text_in
from lineage_bridge.sources.common.catalog.walk import MOST_PAGES, Page
from lineage_bridge.sources.common.http import HttpClient
from lineage_bridge.sources.common.observer import SourceKind
from lineage_bridge.sources.openmetadata.names import TABLE, TOPIC, UNKNOWN
from lineage_bridge.sources.openmetadata.settings import OpenMetadataSourceSettings
from lineage_bridge.sources.openmetadata.translate import FIELDS, read_asset

TABLES, TOPICS = "tables", "topics"
_KINDS: Final = {TABLES: TABLE, TOPICS: TOPIC}
_PAGE: Final = 100
_SEARCH: Final = "/api/v1/search/query"
_ADDRESS: Final = "check that the address is that of OpenMetadata's server, version 1.12 or newer, and that its search index is there"
_RIGHTS: Final = "give the bot the policy to view all tables and topics (ViewAll)"


class OpenMetadataListings:
    """The tables and topics of a server."""

    pages_at_once = MOST_PAGES
    asked_at_once = 20

    def __init__(self, settings: OpenMetadataSourceSettings, http: HttpClient) -> None:
        self._settings, self._http = settings, http
        self.listings = (TABLES, TOPICS) if settings.topics else (TABLES,)

    def page(self, listing: str, cursor: str) -> Page:
        """A page of tables or topics. Raises SourceError, which also happens if a part of the search index did not answer."""
        asked = {"q": "", "size": _PAGE, "deleted": "false", "index": f"{_KINDS[listing]}_search_index"}
        ordered = {"sort_field": "fullyQualifiedName", "sort_order": "asc", "include_source_fields": FIELDS}
        after = {"search_after": json.loads(cursor)} if cursor else {}
        answer = self._get(_SEARCH, **asked, **ordered, **after)
        hits = required_list(object_in(answer, "hits"), "hits", f"GET {_SEARCH}", _ADDRESS)
        if answer.get("timed_out") is True or object_in(answer, "_shards").get("failed"):
            raise SourceError(f"GET {_SEARCH}: a part of the search index did not answer", "try again later")
        documents = (object_in(hit, "_source") for hit in hits)
        found = {name: self._read(listing, name, document) for document in documents if (name := text_in(document, "fullyQualifiedName"))}
        last = [str(value) for value in list_in(hits[-1], "sort")] if hits else []
        if hits and not last:
            raise SourceError(f"GET {_SEARCH}: the hits have no `sort` values, so the next page cannot be requested", _ADDRESS)
        return Page(list(found.items()), json.dumps(last) if last else "", len(hits) - len(found))

    def missing(self, listing: str, ids: Sequence[str]) -> set[str]:
        """Ask OpenMetadata about tables or topics. Returns those that do not exist; one that may not be read counts as existing. Raises
        SourceError.
        """
        answers = self._http.map(lambda name: self._get(f"/api/v1/{listing}/name/{quote(name, safe='')}", include="non-deleted"), ids)
        for answer in answers:
            if isinstance(answer, SourceError) and not isinstance(answer, MissingError | ForbiddenError):
                raise answer
        return {name for name, answer in zip(ids, answers, strict=True) if isinstance(answer, MissingError)}

    def selects(self, listing: str, id_: str) -> bool:
        """Whether a table or topic is observed."""
        del listing
        return self._settings.selects(id_)

    def close(self) -> None:
        """Close all connections."""
        self._http.close()

    def _read(self, listing: str, name: str, document: Any) -> Asset | None:  # noqa: ANN401  # JSON
        return read_asset(document, _KINDS[listing], self._settings) if self._settings.selects(name) else None

    def _get(self, path: str, **parameters: Any) -> Any:  # noqa: ANN401  # JSON
        with hints(_RIGHTS, _ADDRESS):
            return self._http.get(path, **parameters)


class OpenMetadataObserver(CatalogObserver[OpenMetadataSourceSettings]):
    """Observes tables and topics: columns, descriptions, owners, tags and lineage with columns."""

    def __init__(self, name: str, settings: OpenMetadataSourceSettings) -> None:
        super().__init__(name, settings, "openmetadata", OpenMetadataListings(settings, HttpClient(settings)), UNKNOWN)


KIND = SourceKind(
    OpenMetadataSourceSettings,
    OpenMetadataObserver,
    "OpenMetadata: tables and topics with columns, descriptions, owners, tags and lineage",
)
