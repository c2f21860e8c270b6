"""Entries of Google's catalog in the form of its API: names, keys of aspects, and the types that entries need. Pure.

Google answers with the number of a project where its id was sent, also in the keys of aspects.
"""

from collections.abc import Iterable, Mapping
from typing import Any, Final

from lineage_bridge.catalogs.kinds.google.settings import DataplexSettings
from lineage_bridge.catalogs.kinds.google.topics import without_empty
from lineage_bridge.catalogs.target import Json, ObjectKey
from lineage_bridge.openlineage.event_builder import digest_of
from lineage_bridge.sources.common.google.entity_names import process_id

SCHEMA: Final = "dataplex-types.global.schema"
"""The key of Google's own aspect for columns."""
SCHEMA_TYPE: Final = "projects/dataplex-types/locations/global/aspectTypes/schema"
_SCHEMAS: Final = frozenset((SCHEMA, "655216118709.global.schema"))
_HELD: Final = ("resource", "system", "platform", "displayName", "description")
_JOB: Final = ("namespace", "name")
_TAG: Final = ("key", "value", "field")
_FIELDS: Final[tuple[tuple[str, str, tuple[str, ...], str], ...]] = (
    ("namespace", "string", (), "the topic's cluster, by OpenLineage's naming specification"),
    ("name", "string", (), "the topic's name"),
    ("producers", "array", _JOB, "the jobs that write the topic"),
    ("consumers", "array", _JOB, "the jobs that read the topic"),
    ("owners", "array", (), "the owners of the topic"),
    ("tags", "array", _TAG, "tags of the topic, and of its columns"),
    ("retention", "string", (), "how long records are kept"),
    ("installations", "array", (), "the installations of LineageBridge that this came through"),
    ("hasSchema", "bool", (), "whether the aspect schema of the entry comes from LineageBridge"),
)
"""The fields of the aspect: name, type, the members of each of its elements, description. An index, once it is given, stays."""


def aspect_template() -> Json:
    """The template of the type of LineageBridge's aspect."""
    return {"name": "lineagebridge_topic", "type": "record", "recordFields": [_field(at, *of) for at, of in enumerate(_FIELDS, start=1)]}


def missing_fields(template: Json) -> list[str]:
    """The fields that the template of an aspect type lacks, or has with another type."""
    there = {field.get("name"): field.get("type") for field in template.get("recordFields", ())}
    return [name for name, type_, _, _ in _FIELDS if there.get(name) != type_]


def _field(index: int, name: str, type_: str, members: tuple[str, ...], description: str) -> Json:
    made: Json = {"index": index, "name": name, "type": type_, "annotations": {"description": description}}
    if type_ != "array":
        return made
    if not members:
        return {**made, "arrayItems": {"name": "item", "type": "string"}}
    inner = [{"index": at, "name": member, "type": "string"} for at, member in enumerate(members, start=1)]
    return {**made, "arrayItems": {"name": "item", "type": "record", "recordFields": inner}}


def entry_id(key: ObjectKey) -> str:
    """The id of the entry of a topic in its entry group."""
    return process_id(key.namespace, key.name, "topic")


def entry_name(key: ObjectKey, settings: DataplexSettings) -> str:
    """The resource name of the entry of a topic."""
    return f"{settings.parent}/entryGroups/{settings.entry_group}/entries/{entry_id(key)}"


def topic_key(settings: DataplexSettings) -> str:
    """The key of LineageBridge's aspect in requests."""
    return f"{settings.project}.{settings.location}.{settings.aspect_type}"


def entry_of(event: Json, key: ObjectKey, settings: DataplexSettings) -> Json:
    """The entry of a topic, from its event as `express_topic` makes it."""
    goal = event["entry"]
    aspects = {topic_key(settings): {"data": goal["topic"]}}
    if "schema" in goal:
        aspects[SCHEMA] = {"data": goal["schema"]}
    return {
        "name": entry_name(key, settings),
        "entryType": f"{settings.parent}/entryTypes/{settings.entry_type}",
        "fullyQualifiedName": goal["fullyQualifiedName"],
        "entrySource": goal["source"],
        "aspects": aspects,
    }


class FoundEntry:
    """An entry as Google answers it."""

    def __init__(self, found: Json, settings: DataplexSettings) -> None:
        self._found, self._settings = found, settings
        self._projects = {settings.project, str(found.get("name", "")).removeprefix("projects/").partition("/")[0]}

    @property
    def is_of_our_type(self) -> bool:
        """Whether the entry has the type that the settings name."""
        return str(self._found.get("entryType", "")).rpartition("/")[2] == self._settings.entry_type

    @property
    def topic(self) -> Json:
        """The data of LineageBridge's aspect; empty if there is none."""
        return self._data(key for key in self._aspects if self._is_topic(key))

    @property
    def has_our_schema(self) -> bool:
        """Whether LineageBridge wrote the entry's aspect for columns."""
        return self.topic.get("hasSchema") is True

    @property
    def others(self) -> list[str]:
        """The keys of aspects that LineageBridge did not write."""
        ours = {key for key in self._aspects if self._is_topic(key) or (key in _SCHEMAS and self.has_our_schema)}
        return sorted(self._aspects.keys() - ours)

    @property
    def content(self) -> str:
        """A digest as `content_of` makes it."""
        source = {name: value for name, value in self._found.get("entrySource", {}).items() if name in _HELD}
        made = {"fullyQualifiedName": self._found.get("fullyQualifiedName", ""), "source": source, "topic": self.topic}
        if self.has_our_schema:
            made["schema"] = self._data(key for key in self._aspects if key in _SCHEMAS)
        return content_of(made)

    @property
    def _aspects(self) -> Mapping[str, Any]:
        found: Mapping[str, Any] = self._found.get("aspects", {})
        return found

    def _is_topic(self, key: str) -> bool:
        return key in {f"{project}.{self._settings.location}.{self._settings.aspect_type}" for project in self._projects}

    def _data(self, keys: Iterable[str]) -> Json:
        found: Json = self._aspects.get(next(iter(keys), ""), {}).get("data", {})
        return found


def content_of(entry: Json) -> str:
    """A digest of the parts of an entry that LineageBridge wrote."""
    return digest_of(without_empty(entry))
