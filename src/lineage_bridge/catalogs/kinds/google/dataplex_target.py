"""Writes an entry for each topic to Google's catalog, Dataplex. It needs google-cloud-dataplex."""

import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Final

import msgspec
from google.cloud.dataplex_v1.types import EntryView
from google.protobuf.json_format import ParseError

from lineage_bridge.catalogs.kinds.google.catalog_connection import CatalogConnection
from lineage_bridge.catalogs.kinds.google.entries import (
    SCHEMA,
    SCHEMA_TYPE,
    FoundEntry,
    aspect_template,
    content_of,
    entry_id,
    entry_name,
    entry_of,
    missing_fields,
    topic_key,
)
from lineage_bridge.catalogs.kinds.google.session import GoogleAnswerError
from lineage_bridge.catalogs.kinds.google.settings import DataplexSettings
from lineage_bridge.catalogs.kinds.google.topics import by_topic, express_topic
from lineage_bridge.catalogs.pace import Quota
from lineage_bridge.catalogs.target import CREATE, DELETE, DONE, AnswerT, Expressed, Json, ObjectKey, Operation, Outcome, Target
from lineage_bridge.errors import ForbiddenError, MissingError, UnauthenticatedError
from lineage_bridge.model.sources import SourceCheck

_RIGHTS: Final = "grant roles/dataplex.catalogEditor on the project"
_COLLECTIONS: Final = {"entry_group": "entryGroups", "aspect_type": "aspectTypes", "entry_type": "entryTypes"}
_READS, _WRITES = "reads", "writes"
_LISTED_AFTER: Final = 20
"""After so many topics without an entry, the ids of all entries are listed: a hundred in one call, instead of one call for each topic."""
_MASK: Final = ("fully_qualified_name", "entry_source", "aspects")


class DataplexTarget(Target[DataplexSettings]):
    """Keeps an entry for each topic, with aspects for its columns, and for its jobs, owners and tags. Aspects of others stay.

    An instance is for one publication: it lists the entries at most once. Each topic is written by a call of its own; the ledger has them
    in portions, since two writes of it for each topic would take longer than the call.
    """

    deletes = True
    reads = True
    batch = read_batch = 20
    paces_itself = True
    quotas = MappingProxyType({_READS: Quota(6000, 60), _WRITES: Quota(1500, 60)})  # cloud.google.com/dataplex/docs/quotas

    def __init__(self, name: str, settings: DataplexSettings, _: Path) -> None:
        super().__init__(name, settings)
        self._connection = CatalogConnection(settings, self._counted)
        self._preparing, self._is_prepared = threading.Lock(), False
        self._listing, self._missing = threading.Lock(), 0
        self._listed: frozenset[str] | None = None
        self._may_list = True

    def _counted(self, request: Callable[[], AnswerT], method: str = "", /) -> AnswerT:
        return self.repeated(request, _READS if method == "GET" else _WRITES)

    def arranged(self, events: Iterable[Json]) -> Iterable[Json]:
        """Group what events say by topics: one event for each topic."""
        return by_topic(events, self.settings)

    def express(self, event: Json) -> Expressed:
        """Convert the event of a topic to the content of its entry. Raises InexpressibleError."""
        return express_topic(event)

    def visible(self, event: Json) -> str:
        """The digest of the content of an entry, which can be read back."""
        return content_of(event["entry"])

    def read(self, keys: Iterable[ObjectKey]) -> Mapping[ObjectKey, str]:
        """The topics that have an entry in the entry group, each with the digest of those parts of the entry that LineageBridge writes."""
        entries = {key: self._entry(key) for key in keys if self._may_be_there(key)}
        with self._listing:
            self._missing += sum(entry is None for entry in entries.values())
        return {key: entry.content for key, entry in entries.items() if entry}

    def _may_be_there(self, key: ObjectKey) -> bool:
        """Whether a topic may have an entry. Lists do not say what is in entries, so those that are there have to be read one by one."""
        with self._listing:
            if self._missing >= _LISTED_AFTER and self._listed is None and self._may_list:
                self._list()
            return self._listed is None or entry_id(key) in self._listed

    def _list(self) -> None:
        try:
            self._listed = self._connection.entry_ids(f"{self.settings.parent}/entryGroups/{self.settings.entry_group}")
        except ForbiddenError:  # a role without dataplex.entries.list
            self._may_list = False

    def write(self, operations: Sequence[Operation]) -> list[Outcome]:
        """Write or delete the entry of each topic."""
        return [self._write(operation) for operation in operations]

    def _write(self, operation: Operation) -> Outcome:
        try:
            if operation.action == DELETE:
                return self._delete(operation.key)
            self._prepare()
            event = msgspec.json.decode(operation.body)
            goal = entry_of(event, operation.key, self.settings)
            return self._publish(goal, operation.key, content_of(event["entry"]), is_new=operation.action == CREATE)
        except GoogleAnswerError as error:
            found = error.outcome
            if error.is_missing:  # deleted while it is written: the entry group, or a type
                self._is_prepared = False
            return found._replace(later=found.later or error.is_missing)
        except UnauthenticatedError:
            raise
        except ForbiddenError as error:
            raise ForbiddenError(str(error), _RIGHTS) from error

    def _publish(self, goal: Json, key: ObjectKey, content: str, *, is_new: bool) -> Outcome:
        try:
            if not is_new:
                return self._replace(goal, key)
            return DONE if self._connection.create_entry(goal) else self._compared(key, content)
        except ParseError as error:
            return Outcome(False, f"cannot be sent as JSON of Google's: {error}")

    def _compared(self, key: ObjectKey, content: str) -> Outcome:
        """The outcome of creating an entry that there is by now: by a request whose answer was lost, if it is as it should be."""
        there = self._entry(key)
        if there is None:
            return Outcome(False, "its entry was created and deleted meanwhile", later=True)
        if there.is_of_our_type and there.content == content:
            return DONE
        return Outcome(False, "somebody has created an entry under its id meanwhile", foreign=True)

    def _replace(self, goal: Json, key: ObjectKey) -> Outcome:
        there = self._entry(key)
        if there and not there.is_of_our_type:
            return Outcome(False, "there is an entry of another type under its id")
        was_ours = there is not None and there.has_our_schema
        keys = [topic_key(self.settings), *((SCHEMA,) if was_ours or SCHEMA in goal["aspects"] else ())]
        asked = {"update_mask": {"paths": list(_MASK)}, "aspect_keys": keys, "delete_missing_aspects": was_ours}
        self._connection.write(goal, asked)
        return DONE

    def _delete(self, key: ObjectKey) -> Outcome:
        """Delete an entry, unless others have attached aspects to it, which would be deleted with it."""
        name = entry_name(key, self.settings)
        there = self._connection.found("entry", name, view=EntryView.ALL)
        if there is None:
            return DONE
        if others := FoundEntry(there, self.settings).others:
            return Outcome(False, f"it has aspects of others, which would be deleted with it: {', '.join(others)[:500]}")
        try:
            self._connection.call("delete_entry", {"name": name})
        except GoogleAnswerError as error:
            if not error.is_missing:
                raise
        return DONE

    def _entry(self, key: ObjectKey) -> FoundEntry | None:
        types = [f"{self.settings.parent}/aspectTypes/{self.settings.aspect_type}", SCHEMA_TYPE]
        found = self._connection.found("entry", entry_name(key, self.settings), view=EntryView.CUSTOM, aspect_types=types)
        return FoundEntry(found, self.settings) if found is not None else None

    # what entries need

    def _prepare(self) -> None:
        """Check once that the entry group and the types exist, and create missing ones if the settings allow it."""
        with self._preparing:
            if self._is_prepared:
                return
            for kind, id_ in self._needed():
                found = self._connection.found(kind, self._name(kind, id_))
                if found is None and not self.settings.create_types:
                    raise MissingError(
                        f"there is no {kind.replace('_', ' ')} {id_} in {self.settings.parent}",
                        "create it, or allow that here with create_types=true",
                    )
                if found is None:
                    self._connection.create(kind, id_, self._definition(kind), self.wait)
                elif kind == "aspect_type" and (lacking := missing_fields(found.get("metadataTemplate", {}))):
                    raise MissingError(
                        f"the aspect type {id_} is not that of LineageBridge: it lacks {', '.join(lacking)}",
                        "give another id as aspect_type, which create_types=true can create",
                    )
            self._is_prepared = True

    def _needed(self) -> tuple[tuple[str, str], ...]:
        settings = self.settings
        ids = {"entry_group": settings.entry_group, "aspect_type": settings.aspect_type, "entry_type": settings.entry_type}
        return tuple((kind, ids[kind]) for kind in _COLLECTIONS)

    def _name(self, kind: str, id_: str) -> str:
        return f"{self.settings.parent}/{_COLLECTIONS[kind]}/{id_}"

    @staticmethod
    def _definition(kind: str) -> Json:
        if kind == "entry_group":
            return {"displayName": "LineageBridge", "description": "Topics that LineageBridge published"}
        made = {"displayName": "Topic", "description": "A topic of Kafka, as LineageBridge publishes it"}
        return (
            {**made, "metadataTemplate": aspect_template()} if kind == "aspect_type" else {**made, "platform": "Kafka", "system": "Kafka"}
        )

    def test(self) -> list[SourceCheck]:
        """Check whether the entry group and the types can be read. Whether entries can be written only shows when one is."""
        answers = SourceCheck("connect", True, "Google answers")
        try:
            missing = [id_ for kind, id_ in self._needed() if self._connection.found(kind, self._name(kind, id_)) is None]
        except ForbiddenError as error:
            return [answers, SourceCheck("authenticate", False, str(error), error.hint)]
        checks = [answers, SourceCheck("authenticate", True, f"{self.settings.parent} can be read")]
        if missing and not self.settings.create_types:
            hint = "create them, or allow that here with create_types=true"
            return [*checks, SourceCheck("types", False, f"there is no {', '.join(missing)}", hint)]
        return checks

    def close(self) -> None:
        """Close connections."""
        self._connection.close()
