"""One estate for every target: the demo, and recorded events of Airflow, dbt, Debezium, Flink, Python and Spark."""

from pathlib import Path

from tests.api.support import NOW, Server
from tests.catalogs.conftest import added, published
from tests.catalogs.places import Place

from lineage_bridge.demo.events import events

SAMPLES = Path(__file__).parents[1] / "samples"
DOCUMENTED = Path(__file__).parents[2] / "docs" / "catalogs.md"


def send_estate(ours: Server) -> None:
    """Send all its events."""
    recorded = [line for path in sorted(SAMPLES.glob("*/recorded-*.ndjson")) for line in path.read_bytes().splitlines()]
    ours.send(*events(NOW, "estate"), *recorded)


def published_row(ours: Server, place: Place, shown: str) -> str:
    """Publish to a target, and nothing a second time; return the line of the table in the documentation."""
    added(ours, place)
    report = published(ours)
    refused = {(item.name, item.detail) for item in report.operations if item.outcome != "done"}
    assert (report.state, report.error, refused) == ("done", "", set()), shown
    again = published(ours)
    assert (again.counts, again.drift, again.unchanged) == ({}, [], report.desired), shown
    lost = ", ".join(f"{count} {what}" for what, count in sorted(report.not_expressible.items()))
    return f"| {shown} | {report.desired} | {lost or 'nothing'} |"


def undocumented(rows: list[str]) -> list[str]:
    """The rows that the documentation does not have."""
    return [row for row in rows if row not in DOCUMENTED.read_text().splitlines()]
