"""One estate for every target.

What each cannot hold is as `docs/catalogs.md` counts it; everything else is there, and nothing is sent twice.
"""

import pytest
from tests.api.support import Server
from tests.catalogs.estate import published_row, send_estate, undocumented
from tests.catalogs.places import make_place

KINDS = (
    "openlineage-jobs",
    "openlineage-runs",
    "files",
    "marquez",
    "openmetadata",
    "openmetadata-entities",
    "databricks",
    "datahub",
    "datahub-events",
    "datazone",
    "google",
    "google-events",
    "atlan",
)


@pytest.mark.timeout(1800)  # thirteen targets
def test_the_same_estate_is_published_to_every_target(request: pytest.FixtureRequest, ours: Server) -> None:
    send_estate(ours)
    rows = []
    for kind in KINDS:
        name, _, form = kind.partition("-")
        rows.append(published_row(ours, make_place(kind, request, ours), f"`{name}`" + (f" (`{form}`)" if form else "")))
    assert not undocumented(rows), "\n".join(rows)


@pytest.mark.servers
@pytest.mark.parametrize("kind", ["kafka", "kinesis"])
def test_the_same_estate_is_published_to_topics_and_streams(request: pytest.FixtureRequest, ours: Server, kind: str) -> None:
    send_estate(ours)
    place = make_place(kind, request, ours)
    row = published_row(ours, place, f"`{kind}` (`jobs`)")
    assert not undocumented([row]), row
