"""Sends requests to a Stream Catalog."""

from collections.abc import Mapping
from typing import Any
from urllib.parse import quote

from lineage_bridge.errors import SourceError
from lineage_bridge.sources.common.http import HttpClient
from lineage_bridge.sources.confluent.catalog.parse import Entity, qualified_name_of

PAGE_SIZE = 500
"""Entities per page: the most that the catalog returns."""
TOPICS, CONNECTORS, SCHEMAS = ("kafka_topic",), ("cn_connector",), ("sr_schema", "sr_record", "sr_field")
"""Types of entities, grouped by search."""
_ROOT = "/catalog/v1"
_ATTRIBUTES = ("owner", "description")


def search_entities(http: HttpClient, types: tuple[str, ...]) -> list[Mapping[str, Any]]:
    """Fetch all entities of some types. Of the schemas, only those with tags are fetched. For a type that the catalog does not know, there
    are no entities. Raises SourceError.
    """
    found: dict[str, Mapping[str, Any]] = {}
    parameters: dict[str, Any] = {"type": list(types), "limit": PAGE_SIZE}
    parameters |= {"tag": "*"} if types == SCHEMAS else {"attr": list(_ATTRIBUTES)}
    offset = 0
    while True:
        answer = http.get(f"{_ROOT}/search/basic", **parameters, offset=offset)
        page = answer.get("entities", answer.get("searchResults")) if isinstance(answer, Mapping) else None
        if page is None and isinstance(answer, Mapping):
            page = []
        if not isinstance(page, list):
            raise SourceError(
                f"GET {_ROOT}/search/basic did not return a list", "check that the address is that of Confluent's Stream Catalog"
            )
        readable = (entry for entry in page if isinstance(entry, Mapping) and qualified_name_of(entry))
        new = {qualified_name_of(entry): entry for entry in readable if (entry.get("status") or "ACTIVE") == "ACTIVE"}
        is_last = len(page) < PAGE_SIZE or not new.keys() - found.keys()
        found.update(new)
        if is_last:
            return list(found.values())
        offset += len(page)


def list_business_metadata_definitions(http: HttpClient) -> Any:  # noqa: ANN401  # JSON
    """Fetch the definitions of business metadata. Raises the errors of `HttpClient.get`."""
    return http.get(f"{_ROOT}/types/businessmetadatadefs")


def get_business_metadata(http: HttpClient, entity: Entity) -> Any:  # noqa: ANN401  # JSON
    """Fetch the business metadata of an entity. Raises the errors of `HttpClient.get`."""
    return http.get(f"{_ROOT}/entity/type/{entity.kind}/name/{quote(entity.qualified_name, safe='')}/businessmetadata")
