"""One estate for every target: the demo, recorded events of Airflow, dbt, Debezium, Flink, Python and Spark, and what is extracted from the
organization of the stand-in of Confluent Cloud.
"""

from functools import cache
from pathlib import Path

import pytest
from tests.api.support import NOW, Server
from tests.catalogs.conftest import added, published
from tests.catalogs.places import Place
from tests.confluent.cloud import running
from tests.confluent.expected_edges import expected

from lineage_bridge.demo.events import events
from lineage_bridge.sources.common.shared_metadata import NO_METADATA
from lineage_bridge.sources.confluent.observer import ConfluentObserver
from lineage_bridge.sources.confluent.settings import ConfluentSettings
from lineage_bridge.sources.runtime.poller import outbox_messages

SAMPLES = Path(__file__).parents[1] / "samples"
DOCUMENTED = Path(__file__).parents[2] / "docs" / "catalogs.md"
CONFLUENT_EDGES = 1413
"""How many edges the organization of the stand-in has."""


@cache
def extracted() -> tuple[tuple[str, bytes], ...]:
    """What the first poll of the stand-in sends: paths of the API, and bodies. Extracted once in a process."""
    with running() as cloud, pytest.MonkeyPatch.context() as patch:
        cloud.limits.scale = 1000
        for name, secret in cloud.environment().items():
            patch.setenv(name, secret)
        assert len(expected(cloud.organization)) == CONFLUENT_EDGES
        observer = ConfluentObserver("cc", ConfluentSettings.model_validate({**cloud.settings(), "groups_by": "rest"}))
        try:
            return tuple(outbox_messages(observer.observe(None, NO_METADATA, NOW)))
        finally:
            observer.close()


def send_estate(ours: Server) -> None:
    """Send all its events."""
    recorded = [line for path in sorted(SAMPLES.glob("*/recorded-*.ndjson")) for line in path.read_bytes().splitlines()]
    ours.send(*events(NOW, "estate"), *recorded)
    for path, body in extracted():
        answer = ours.client.post(path, content=body)
        assert answer.is_success, answer.text
    ours.fold()


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
