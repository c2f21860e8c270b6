"""The connection to Google's catalog, Dataplex, by its own client with the session of LineageBridge."""

from collections.abc import Callable, Mapping
from typing import Any, Final

from google.cloud.dataplex_v1.services.catalog_service import CatalogServiceClient
from google.cloud.dataplex_v1.services.catalog_service.transports.rest import DEFAULT_CLIENT_INFO, CatalogServiceRestTransport
from google.cloud.dataplex_v1.types import AspectType, Entry, EntryGroup, EntryType
from google.protobuf.json_format import MessageToDict, ParseDict

from lineage_bridge.catalogs.kinds.google.session import GoogleAnswerError, GoogleConnection, OwnTransport
from lineage_bridge.catalogs.kinds.google.settings import DataplexSettings
from lineage_bridge.catalogs.target import Json, Repeat
from lineage_bridge.errors import BusyError, SourceError

PASSING: Final = frozenset((4, 8, 10, 13, 14))
"""Codes of operations that failed and may be tried again: DEADLINE_EXCEEDED, RESOURCE_EXHAUSTED, ABORTED, INTERNAL, UNAVAILABLE."""
_MESSAGES: Final = {"entry": Entry, "entry_group": EntryGroup, "entry_type": EntryType, "aspect_type": AspectType}


class _CatalogTransport(OwnTransport, CatalogServiceRestTransport):
    """Google's transport for JSON over HTTP, which uses LineageBridge's connection."""


class CatalogConnection(GoogleConnection):
    """Calls the Dataplex API with objects as JSON. Thread-safe. `repeat` makes each request.

    Raises ConfigError if the environment has variables of Google's client that cannot be honoured.
    """

    def __init__(self, settings: DataplexSettings, repeat: Repeat) -> None:
        super().__init__(settings, lambda: CatalogServiceClient(transport=_CatalogTransport(settings, repeat, DEFAULT_CLIENT_INFO)))
        self._parent = settings.parent

    def found(self, kind: str, name: str, **asked: Any) -> Json | None:  # noqa: ANN401  # members of requests
        """The object of a kind, such as `entry`, with this resource name; None if there is none."""
        try:
            answer = self.call(f"get_{kind}", {"name": name, **asked})
        except GoogleAnswerError as error:
            if error.is_missing:
                return None
            raise
        made: Json = MessageToDict(type(answer).pb(answer))
        return made

    def entry_ids(self, group: str) -> frozenset[str]:
        """The ids of all entries of an entry group, by its resource name; none if there is no such group."""
        return frozenset(entry.name.rpartition("/entries/")[2] for entry in self.listed("list_entries", group, "entries"))

    def create_entry(self, entry: Json) -> bool:
        """Create an entry. Returns False if there already is one of this name. Raises ParseError if it cannot be converted for sending."""
        group, _, id_ = str(entry["name"]).rpartition("/entries/")
        try:
            self.call("create_entry", {"parent": group, "entry_id": id_, "entry": _message("entry", entry)})
        except GoogleAnswerError as error:
            if error.is_taken:
                return False
            raise
        return True

    def write(self, entry: Json, asked: Mapping[str, Any]) -> None:
        """Create or replace an entry. Raises ParseError if the entry cannot be converted for sending."""
        self.call("update_entry", {"entry": _message("entry", entry), "allow_missing": True, **asked})

    def create(self, kind: str, id_: str, made: Json, wait: Callable[[float], None]) -> None:
        """Create an entry group or a type, and poll until the operation has ended. If it exists by then, that is not an error.
        `wait` waits the given seconds.
        """
        try:
            started = self.call(f"create_{kind}", {"parent": self._parent, f"{kind}_id": id_, kind: _message(kind, made)}).operation
        except GoogleAnswerError as error:
            if error.is_taken:
                return
            raise
        for question in range(1 + int(self._settings.settle_s / self._settings.poll_s)):
            if started.done:
                break
            if question:
                wait(self._settings.poll_s)
            started = self.call("get_operation", {"name": started.name})
        if not started.done:
            raise SourceError(f"the creation of {id_} has not ended yet", "try again later; settle_s says how long to wait")
        if started.HasField("error"):
            text = f"the creation of {id_} failed: {started.error.message or started.error.code}"
            raise BusyError(text) if started.error.code in PASSING else SourceError(text)


def _message(kind: str, made: Json) -> Any:  # noqa: ANN401  # the types of Google's client are made at run time
    message: Any = _MESSAGES[kind]
    return ParseDict(made, message.pb(message()))
