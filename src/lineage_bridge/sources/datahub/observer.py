"""The observer of DataHub: its datasets and jobs, listed by the scroll endpoint of its API."""

from collections.abc import Sequence
from typing import Any, Final
from urllib.parse import urlencode

from lineage_bridge.errors import SourceError
from lineage_bridge.sources.common.catalog.assets import Asset
from lineage_bridge.sources.common.catalog.observer import CatalogObserver
from lineage_bridge.sources.common.catalog.reading import hints, object_in, required_list, text_in
from lineage_bridge.sources.common.catalog.walk import MOST_PAGES, Page
from lineage_bridge.sources.common.datahub.urns import UNKNOWN
from lineage_bridge.sources.common.http import HttpClient
from lineage_bridge.sources.common.observer import SourceKind
from lineage_bridge.sources.datahub.settings import DataHubSourceSettings
from lineage_bridge.sources.datahub.translate import DATASET_ASPECTS, JOB_ASPECTS, read_dataset, read_job

DATASETS, JOBS = "datasets", "jobs"
_ENTITIES: Final = {DATASETS: ("dataset", DATASET_ASPECTS), JOBS: ("dataJob", JOB_ASPECTS)}
_PAGE: Final = 100
_ASKED: Final = 100
"""How many entities one request asks for by name."""
_SCROLL: Final = "/openapi/v3/entity/scroll"
_ADDRESS: Final = "use the address of DataHub's metadata service, or that of its web page with /api/gms; it must have the API version 3"
_RIGHTS: Final = "give the owner of the token the right to view entities, and to use the API"


class DataHubListings:
    """The datasets and jobs of one environment."""

    pages_at_once = MOST_PAGES
    asked_at_once = _ASKED

    def __init__(self, settings: DataHubSourceSettings, http: HttpClient) -> None:
        self._settings, self._http = settings, http
        self.listings = (DATASETS, JOBS) if settings.jobs else (DATASETS,)

    def page(self, listing: str, cursor: str) -> Page:
        """A page of datasets or jobs. Raises SourceError."""
        entity, aspects = _ENTITIES[listing]
        asked = {"count": str(_PAGE), "query": "*", "skipCache": "true", "includeSoftDelete": "false", "pitKeepAlive": "10m"}
        query = urlencode({**asked, **({"scrollId": cursor} if cursor else {})})
        answer = self._send(f"{_SCROLL}?{query}", {"entities": [entity], "aspects": list(aspects)})
        entities = required_list(answer, "entities", f"POST {_SCROLL}", _ADDRESS)
        found = {urn: self._read(listing, urn, entry) for entry in entities if (urn := text_in(entry, "urn"))}
        return Page(sorted(found.items(), key=lambda item: item[0]), text_in(answer, "scrollId"), len(entities) - len(found))

    def missing(self, listing: str, ids: Sequence[str]) -> set[str]:
        """Ask DataHub about entities. Returns those that do not exist or are marked as removed. Raises SourceError."""
        entity, _ = _ENTITIES[listing]
        path = f"/openapi/v3/entity/{entity}/batchGet"
        answer = self._send(path, [{"urn": urn, f"{entity}Key": {}, "status": {}} for urn in ids])
        if not isinstance(answer, list) or not all(text_in(entry, "urn") for entry in answer):
            raise SourceError(f"POST {path} did not return a list of entities", _ADDRESS)
        found = (entry for entry in answer if entry.get(f"{entity}Key") is not None)
        return set(ids) - {text_in(entry, "urn") for entry in found if object_in(entry, "status", "value").get("removed") is not True}

    def selects(self, listing: str, id_: str) -> bool:
        """Whether a dataset or job is observed."""
        return listing == JOBS or self._settings.selects(id_)

    def close(self) -> None:
        """Close all connections."""
        self._http.close()

    def _read(self, listing: str, urn: str, entity: dict[str, Any]) -> Asset | None:
        names = self._settings.names
        if listing == JOBS:
            return read_job(entity, urn, names)
        return read_dataset(entity, urn, names) if self._settings.selects(urn) else None

    def _send(self, path: str, body: Any) -> Any:  # noqa: ANN401  # JSON
        with hints(_RIGHTS, _ADDRESS):
            return self._http.send("POST", path, body)


class DataHubObserver(CatalogObserver[DataHubSourceSettings]):
    """Observes datasets with columns, descriptions, owners, tags and lineage, and jobs with what they read and write."""

    def __init__(self, name: str, settings: DataHubSourceSettings) -> None:
        super().__init__(name, settings, "datahub", DataHubListings(settings, HttpClient(settings)), UNKNOWN)


KIND = SourceKind(
    DataHubSourceSettings, DataHubObserver, "DataHub: datasets with columns, descriptions, owners, tags and lineage, and jobs"
)
