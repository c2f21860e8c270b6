"""Reads a Stream Catalog's answers into plain values. Pure."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import msgspec

from lineage_bridge.openlineage.secret_rules.names import names_secret
from lineage_bridge.openlineage.secrets import mask_text
from lineage_bridge.sources.common.observer import Unseen


class Entity(msgspec.Struct, frozen=True):
    """The catalog's entry about a topic or connector. `metadata` is None if business metadata was not fetched."""

    kind: str
    qualified_name: str
    cluster: str
    name: str
    tags: tuple[str, ...] = ()
    owner: str = ""
    description: str = ""
    metadata: Mapping[str, Any] | None = None

    @property
    def is_described(self) -> bool:
        """Whether it has tags, an owner or a description."""
        return bool(self.tags or self.owner or self.description)


class CatalogAnswers(msgspec.Struct, frozen=True):
    """The answers of a Stream Catalog at one poll; None for a part that could not be fetched. `schemas`: tags by the names of schemas,
    records and fields.
    """

    topics: tuple[Entity, ...] | None = ()
    connectors: tuple[Entity, ...] | None = ()
    schemas: Mapping[str, tuple[str, ...]] | None = {}
    unseen: tuple[Unseen, ...] = ()


def parse_entity(entry: Mapping[str, Any]) -> Entity | None:
    """Parse a topic or connector, whose qualified name is `registry:cluster:name`; None if the name contains no cluster.

    An owner that is an e-mail address is left out.
    """
    attributes = _attributes(entry)
    qualified_name = str(attributes.get("qualifiedName") or "")
    cluster = next((part for part in qualified_name.split(":") if part.startswith("lkc-")), "")
    name = str(attributes.get("name") or "") or qualified_name.rpartition(":")[2]
    if not cluster or not name:
        return None
    owner = str(attributes.get("owner") or "")
    description = mask_text(str(attributes.get("description") or ""))
    kind = str(entry.get("typeName") or "")
    return Entity(kind, qualified_name, cluster, name, _tags(entry), "" if "@" in owner else owner, description)


def parse_schema_tags(entries: Iterable[Mapping[str, Any]]) -> dict[str, tuple[str, ...]]:
    """Return the tags of schemas, records and fields by name (`context:id:record.field`)."""
    return dict(sorted(_schema_tags(entries)))


def _schema_tags(entries: Iterable[Mapping[str, Any]]) -> Iterator[tuple[str, tuple[str, ...]]]:
    for entry in entries:
        qualified_name, tags = qualified_name_of(entry), _tags(entry)
        if tags and qualified_name.count(":") >= 2:
            yield qualified_name.partition(":")[2], tags


def parse_business_metadata(answer: list[Any]) -> dict[str, Any]:
    """Return the entries of business metadata by name. Members whose names suggest secrets are left out."""
    found: dict[str, Any] = {}
    for entry in answer:
        attributes, name = (entry.get("attributes"), entry.get("typeName")) if isinstance(entry, Mapping) else (None, None)
        if name and isinstance(attributes, Mapping):
            members = {
                str(key): mask_text(str(value)) for key, value in attributes.items() if value is not None and not names_secret(str(key))
            }
            found[str(name)] = dict(sorted(members.items()))
    return dict(sorted(found.items()))


def qualified_name_of(entry: Mapping[str, Any]) -> str:
    """An entity's full name in the catalog; empty if it has none."""
    return str(_attributes(entry).get("qualifiedName") or "")


def _attributes(entry: Mapping[str, Any]) -> Mapping[str, Any]:
    attributes = entry.get("attributes")
    return attributes if isinstance(attributes, Mapping) else {}


def _tags(entry: Mapping[str, Any]) -> tuple[str, ...]:
    names = entry.get("classificationNames")
    return tuple(sorted({str(tag) for tag in names})) if isinstance(names, list) else ()
