"""Builds the nodes of the graph in LineageBridge's own JSON format."""

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

import msgspec
from msgspec import UNSET, Raw

from lineage_bridge.graph.identity.node_ids import CATALOGS, display_name, environment, qualified_name
from lineage_bridge.model.inventory import InventoryEntry
from lineage_bridge.openlineage.times import format_time
from lineage_bridge.projections.importing.facet import IMPORTED, ImportFacet, read_import_facet
from lineage_bridge.projections.shapes import LineageNode, Name

Json = dict[str, Any]
_CONFLUENT_FACETS = "confluent_"
_OWN_MEMBERS = ("environment_id", "environment_name", "cluster_id", "cluster_name", "tags", "url")
"""Attributes that are members of a node themselves."""
_JSON = msgspec.json.Decoder()


@lru_cache(32_768)
def node_id_text(node_id: int) -> str:
    """Write the id of a node as 16 hexadecimal digits."""
    return f"{node_id & 0xFFFF_FFFF_FFFF_FFFF:016x}"


def node_id_from_text(text: str) -> int:
    """Read the id of a node that `node_id_text` wrote."""
    return int.from_bytes(bytes.fromhex(text), "big", signed=True)


def lineage_node(entry: InventoryEntry, *, facets: bool = False) -> LineageNode:
    """A dataset or job in the JSON format for nodes. With `facets`, its current facets are included."""
    imported = read_import_facet(entry.facets) or ImportFacet()
    named, attributes = entry.named, json_object(imported.attributes) | _attributes(entry.facets)
    env, cluster = environment(named.namespace)
    return LineageNode(
        node_id=entry.node_id.id,
        system=entry.node_id.system,
        node_type=entry.node_id.type,
        qualified_name=qualified_name(entry.node_id.id),
        display_name=display_name(entry.node_id.type, named.name),
        environment_id=env or _text(attributes, "environment_id"),
        environment_name=_text(attributes, "environment_name") or imported.environment_name,
        cluster_id=cluster or _text(attributes, "cluster_id"),
        cluster_name=_text(attributes, "cluster_name") or imported.cluster_name,
        catalog_type=CATALOGS.get(entry.node_id.system) if entry.node_id.type == "catalog_table" else None,
        attributes={key: value for key, value in attributes.items() if key not in _OWN_MEMBERS},
        tags=_tags(entry.facets, attributes, imported),
        url=_text(attributes, "url") or _source_url(entry.facets) or imported.url,
        first_seen=None if entry.first is None else format_time(entry.first),
        last_seen=None if entry.last is None else format_time(entry.last),
        id=node_id_text(entry.node.id),
        kind=entry.node.kind.name.lower(),
        namespace=entry.node.namespace,
        name=entry.node.name,
        aliases=[Name(node.namespace, node.name) for node in entry.members if node != entry.node],
        facets={key: Raw(text.encode()) for key, text in entry.facets.items() if key != IMPORTED} if facets else UNSET,
    )


def tags_of(entry: InventoryEntry) -> list[str]:
    """The tags of the dataset or job itself (not of its columns), as `key` or `key=value`, sorted."""
    imported = read_import_facet(entry.facets) or ImportFacet()
    return _tags(entry.facets, json_object(imported.attributes) | _attributes(entry.facets), imported)


def _attributes(facets: Mapping[str, str]) -> Json:
    found: Json = {}
    for key in sorted(key for key in facets if key.startswith(_CONFLUENT_FACETS)):
        found |= {name: value for name, value in json_object(facets[key]).items() if not name.startswith("_")}
    for key, member, name in (("documentation", "description", "description"), ("sql", "query", "sql")):
        if isinstance(value := json_object(facets.get(key)).get(member), str):
            found[name] = value
    return found


def _tags(facets: Mapping[str, str], attributes: Json, imported: ImportFacet) -> list[str]:
    own, stated = attributes.get("tags"), json_object(facets.get("tags")).get("tags")
    found = {tag for tag in own if isinstance(tag, str)} if isinstance(own, list) else set()
    for tag in stated if isinstance(stated, list) else ():
        if isinstance(tag, dict) and isinstance(key := tag.get("key"), str) and not tag.get("field"):
            value = tag.get("value")
            found.add(f"{key}={value}" if value not in (None, "", "true", True) else key)
    return sorted(found.union(imported.tags))


def _source_url(facets: Mapping[str, str]) -> str | None:
    """The web address of a dataset's source, if it has one."""
    uri = json_object(facets.get("dataSource")).get("uri")
    return uri if isinstance(uri, str) and uri.startswith(("http://", "https://")) else None


def _text(attributes: Json, key: str) -> str | None:
    value = attributes.get(key)
    return value if isinstance(value, str) and value else None


def json_object(text: str | None) -> Json:
    """Parse a text that contains a JSON object. For any other text, the result is empty."""
    value = _JSON.decode(text) if text else None
    return value if isinstance(value, dict) else {}
