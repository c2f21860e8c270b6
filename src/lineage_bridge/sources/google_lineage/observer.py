"""The observer of Google Data Lineage: the processes of a location, each with the links of its newest run."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final

from lineage_bridge.errors import ConfigError, ForbiddenError, MissingError, SourceError
from lineage_bridge.sources.common.catalog.assets import Asset
from lineage_bridge.sources.common.catalog.observer import CatalogObserver
from lineage_bridge.sources.common.catalog.reading import hints, list_in, text_in
from lineage_bridge.sources.common.catalog.walk import Page
from lineage_bridge.sources.common.google.entity_names import UNKNOWN
from lineage_bridge.sources.common.http import HttpClient
from lineage_bridge.sources.common.observer import SourceKind, Unseen
from lineage_bridge.sources.google_lineage.settings import GoogleSourceSettings
from lineage_bridge.sources.google_lineage.translate import is_published, read_process

PROCESSES: Final = "processes"
_PAGE: Final = 50
_EVENT_PAGES: Final = 100
"""How many pages of lineage events of a run are read: 10,000 events, and a hundred links in each."""
_RUNS: Final = 10
"""How many runs of a process are looked at for one that has links: the newest may have just begun, or have failed."""
_RIGHTS: Final = "grant roles/datalineage.viewer on the project, and enable the Data Lineage API"
_ADDRESS: Final = "check that the address is that of the Data Lineage API, and the location"


class GoogleListings:
    """The processes of a location."""

    listings = (PROCESSES,)
    pages_at_once = 10
    asked_at_once = 20

    def __init__(self, settings: GoogleSourceSettings, http: HttpClient) -> None:
        self._settings, self._http = settings, http

    def page(self, listing: str, cursor: str) -> Page:
        """A page of processes, each with its links. Processes that cannot be read are reported as unseen. Raises SourceError."""
        del listing
        answer = self._get(f"/v1/{self._settings.parent}/processes", pageSize=_PAGE, **({"pageToken": cursor} if cursor else {}))
        processes = _list_of(answer, PROCESSES)
        found = {_id(text_in(process, "name")): process for process in processes if _id(text_in(process, "name"))}
        read = self._http.map(self._read, found.values())
        failed = [error for error in read if isinstance(error, SourceError) and not isinstance(error, MissingError)]
        unseen = [Unseen("links of processes", str(error), error.hint) for error in failed[:1]]
        assets = [
            (id_, None if isinstance(asset, SourceError) else asset)
            for id_, asset in zip(found, read, strict=True)
            if not isinstance(asset, MissingError)  # deleted since it was listed
        ]
        return Page(assets, text_in(answer, "nextPageToken"), len(processes) - len(found), unseen)

    def missing(self, listing: str, ids: Sequence[str]) -> set[str]:
        """Ask Google about processes. Returns those that do not exist; a process that may not be read counts as existing. Raises
        SourceError.
        """
        del listing
        answers = self._http.map(lambda id_: self._get(f"/v1/{self._settings.parent}/processes/{id_}"), ids)
        for answer in answers:
            if isinstance(answer, SourceError) and not isinstance(answer, MissingError | ForbiddenError):
                raise answer
        return {id_ for id_, answer in zip(ids, answers, strict=True) if isinstance(answer, MissingError)}

    def selects(self, listing: str, id_: str) -> bool:
        """Every process is observed."""
        del listing, id_
        return True

    def close(self) -> None:
        """Close all connections."""
        self._http.close()

    def _read(self, process: Mapping[str, Any]) -> Asset | None:
        """Convert a process to an asset, by its newest run with links. The asset is empty if no run has links. None if LineageBridge
        published the process, or if only runs that are too old to be read may have links.
        """
        if is_published(process):
            return None
        path = f"/v1/{self._settings.parent}/processes/{_id(text_in(process, 'name'))}"
        token, looked_at = "", 0
        while looked_at < _RUNS:
            answer = self._get(f"{path}/runs", pageSize=_RUNS, **({"pageToken": token} if token else {}))
            for run in _list_of(answer, "runs")[: _RUNS - looked_at]:
                if not (id_ := _id(text_in(run, "name"))):
                    raise SourceError(f"GET {path}/runs returned a run without a name", _ADDRESS)
                asset = read_process(process, self._settings.parent, self._events(f"{path}/runs/{id_}"))
                if not asset.is_empty:
                    return asset
                looked_at += 1
            token = text_in(answer, "nextPageToken")
            if not token:
                return read_process(process, self._settings.parent, ())
            looked_at += not _list_of(answer, "runs")
        return None

    def _events(self, run: str) -> Iterator[Mapping[str, Any]]:
        token = ""
        for _ in range(_EVENT_PAGES):
            answer = self._get(f"{run}/lineageEvents", pageSize=100, **({"pageToken": token} if token else {}))
            yield from (event for event in _list_of(answer, "lineageEvents") if isinstance(event, dict))
            token = text_in(answer, "nextPageToken")
            if not token:
                return
        raise SourceError(f"{run} has more than {_EVENT_PAGES * 100:,} lineage events", "its links are left out")

    def _get(self, path: str, **parameters: Any) -> Any:  # noqa: ANN401  # JSON
        with hints(_RIGHTS, _ADDRESS):
            return self._http.get(path, **parameters)


class GoogleObserver(CatalogObserver[GoogleSourceSettings]):
    """Observes processes with what they read and write, and their columns."""

    def __init__(self, name: str, settings: GoogleSourceSettings) -> None:
        super().__init__(name, settings, "google", GoogleListings(settings, HttpClient(settings, authorize=_login(settings))), UNKNOWN)


def _list_of(answer: Any, member: str) -> list[Any]:  # noqa: ANN401  # JSON
    """A list in an answer, which Google omits if it is empty. Raises SourceError if the answer does not have the form of Google's
    answers.
    """
    if not isinstance(answer, dict) or not isinstance(answer.get(member, []), list):
        raise SourceError(f"the answer has no list {member}", _ADDRESS)
    return list_in(answer, member)


def _id(name: str) -> str:
    """The last part of a resource name. The parts before it differ: answers have the project's number in place of its id."""
    return name.rpartition("/")[2]


def _login(settings: GoogleSourceSettings) -> Callable[[], Mapping[str, str]]:
    try:
        from lineage_bridge.sources.common.google.credentials import Authorization  # noqa: PLC0415  # an optional dependency
    except ImportError as error:
        raise ConfigError(
            "sources of kind google require the extra google", "install it with: pip install 'lineage-bridge[google]'"
        ) from error
    return Authorization(settings).headers


KIND = SourceKind(GoogleSourceSettings, GoogleObserver, "Google Data Lineage: processes with links of datasets and columns")
