"""One estate for every target: the demo, and recorded events of Airflow, dbt, Debezium, Flink, Python and Spark.

What each cannot hold is as `docs/catalogs.md` counts it; everything else is there, and nothing is sent twice.
"""

from pathlib import Path

import pytest
from tests.api.support import NOW, Server
from tests.catalogs.conftest import added, published
from tests.catalogs.places import make_place

from lineage_bridge.demo.events import events

SAMPLES = Path(__file__).parents[1] / "samples"
DOCUMENTED = Path(__file__).parents[2] / "docs" / "catalogs.md"
KINDS = ("openlineage-jobs", "openlineage-runs", "files", "marquez", "openmetadata", "datahub")


def _row(kind: str, objects: int, not_expressible: dict[str, int]) -> str:
    """The line of the table in the documentation."""
    lost = ", ".join(f"{count} {what}" for what, count in sorted(not_expressible.items()))
    name, _, form = kind.partition("-")
    shown = f"`{name}`" + (f" (`{form}`)" if form else "")
    return f"| {shown} | {objects} | {lost or 'nothing'} |"


def test_the_same_estate_is_published_to_every_target(request: pytest.FixtureRequest, ours: Server) -> None:
    recorded = [line for path in sorted(SAMPLES.glob("*/recorded-*.ndjson")) for line in path.read_bytes().splitlines()]
    ours.send(*events(NOW, "estate"), *recorded)
    rows = []
    for kind in KINDS:
        place = make_place(kind, request, ours)
        added(ours, place)
        report = published(ours)
        refused = {(item.name, item.detail) for item in report.operations if item.outcome != "done"}
        assert (report.state, report.error, refused) == ("done", "", set()), kind
        rows.append(_row(kind, report.desired, report.not_expressible))
        again = published(ours)
        assert (again.counts, again.drift, again.unchanged) == ({}, [], report.desired), kind
    missing = [row for row in rows if row not in DOCUMENTED.read_text().splitlines()]
    assert not missing, "\n".join(rows)
