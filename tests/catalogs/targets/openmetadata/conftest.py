"""A target that publishes to OpenMetadata by its entities, and what its server has."""

from typing import Any

import pytest
from tests.api.support import Server
from tests.catalogs.conftest import added
from tests.catalogs.places import Place, make_place
from tests.catalogs.standins.openmetadata_entities import OpenMetadataEntities

WAREHOUSE = "warehouse.main.public."


@pytest.fixture
def there(request: pytest.FixtureRequest, ours: Server) -> Place:
    place = make_place("openmetadata-entities", request, ours)
    added(ours, place)
    return place


def server_of(place: Place) -> OpenMetadataEntities:
    found: OpenMetadataEntities = place.more["there"]
    return found


def edge_of(server: OpenMetadataEntities, source: str, target: str) -> dict[str, Any] | None:
    """The details of the edge between two tables."""
    ids = {made["fullyQualifiedName"]: id_ for id_, made in server.entities.items()}
    return server.lineage.get((ids.get(WAREHOUSE + source, ""), ids.get(WAREHOUSE + target, "")))


def put_edge(server: OpenMetadataEntities, begin: str, end: str, /, **details: Any) -> None:
    """Somebody else's edge between two tables."""
    ends = [server.named("table", WAREHOUSE + name) or server.put("table", WAREHOUSE + name, ["x", "y"]) for name in (begin, end)]
    server.lineage[ends[0]["id"], ends[1]["id"]] = details
