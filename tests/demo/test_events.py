"""The demo's events: valid, complete and reproducible."""

import json
from collections import Counter
from collections.abc import Iterator
from typing import Any
from uuid import UUID

import pytest

from lineage_bridge.demo.events import events, heartbeat_events, run_ids
from lineage_bridge.openlineage.event_builder import OWN_FACETS
from lineage_bridge.openlineage.verdict import Clean, judge

NOW_US = 1_795_225_921_123_456
HOUR_US = 3_600_000_000


def parsed(edition: str = "first") -> list[dict[str, Any]]:
    """The demo's events as JSON values."""
    return [json.loads(raw) for raw in events(NOW_US, edition)]


def facets_of(event: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Every facet of an event, with its key."""
    carriers = [event["run"], event["job"], *event["inputs"], *event["outputs"]]
    for carrier in carriers:
        for member in ("facets", "inputFacets", "outputFacets"):
            yield from carrier.get(member, {}).items()


def test_every_event_is_accepted_without_a_repair() -> None:
    verdicts = [judge(raw, NOW_US) for raw in events(NOW_US, "first")]

    assert [verdict for verdict in verdicts if not isinstance(verdict, Clean)] == []
    assert {verdict.event.kind for verdict in verdicts if isinstance(verdict, Clean)} == {"run"}


def test_streams_go_on_reporting_with_greater_counts_in_the_same_runs() -> None:
    later = [json.loads(raw) for raw in heartbeat_events(NOW_US + 3 * HOUR_US, NOW_US, "first")]
    before = {event["job"]["name"]: event for event in parsed() if event["eventType"] == "RUNNING" and event["outputs"]}

    def rows(event: dict[str, Any]) -> dict[str, int]:
        return {output["name"]: output["outputFacets"]["outputStatistics"]["rowCount"] for output in event["outputs"]}

    assert all(isinstance(judge(json.dumps(event).encode(), NOW_US + 3 * HOUR_US), Clean) for event in later)
    written = {event["job"]["name"]: event for event in later if event["outputs"]}
    assert len(written) == 3
    for name, event in written.items():
        assert event["run"]["runId"] == before[name]["run"]["runId"]
        assert event["eventTime"] > before[name]["eventTime"]
        earlier = rows(before[name])
        assert all(count > earlier[output] for output, count in rows(event).items())


def test_times_are_ordered_and_within_two_days_before_now() -> None:
    verdicts = [judge(raw, NOW_US) for raw in events(NOW_US, "first")]
    times = [verdict.event.time_us for verdict in verdicts if isinstance(verdict, Clean)]

    assert times == sorted(times)
    assert times[0] == NOW_US - 48 * HOUR_US
    assert NOW_US - HOUR_US < times[-1] <= NOW_US


def test_the_same_arguments_give_the_same_bytes() -> None:
    assert events(NOW_US, "first") == events(NOW_US, "first")


def test_another_time_moves_the_events_and_keeps_the_runs() -> None:
    here = Counter(event["run"]["runId"] for event in parsed())
    later = Counter(json.loads(raw)["run"]["runId"] for raw in events(NOW_US + HOUR_US, "first"))

    assert here == later
    assert events(NOW_US, "first") != events(NOW_US + HOUR_US, "first")


@pytest.mark.parametrize("edition", ["", "first", "Zweite Ausgabe №2", '","', "\ud800"])
def test_run_ids_are_those_of_the_events_and_of_their_parents(edition: str) -> None:
    runs = {UUID(event["run"]["runId"]).bytes for event in parsed(edition)}
    parents = {UUID(facet["run"]["runId"]).bytes for event in parsed(edition) for key, facet in facets_of(event) if key == "parent"}

    assert run_ids(edition) == sorted(runs)
    assert parents
    assert parents < runs


def test_two_editions_share_no_run() -> None:
    assert not set(run_ids("first")) & set(run_ids("second"))


def test_there_are_a_few_hundred_events_and_one_is_repeated() -> None:
    copies = Counter(events(NOW_US, "first"))

    assert 150 <= copies.total() <= 300
    assert [count for count in copies.values() if count > 1] == [2]


def test_every_facet_names_its_producer_and_schema() -> None:
    found = [facet for event in parsed() for _, facet in facets_of(event)]

    assert found
    assert {facet["_producer"] for facet in found} == {"https://lineagebridge.dev/demo"}
    assert all(facet["_schemaURL"].startswith(("https://openlineage.io/spec/facets/", OWN_FACETS)) for facet in found)


def test_every_dataset_and_every_job_is_described() -> None:
    described: dict[str, set[str]] = {}
    jobs: dict[str, set[str]] = {}
    for event in parsed():
        jobs.setdefault(event["job"]["name"], set()).update(event["job"].get("facets", {}))
        for dataset in [*event["inputs"], *event["outputs"]]:
            key = f"{dataset['namespace']} {dataset['name']}"
            described.setdefault(key, set()).update(dataset.get("facets", {}))

    for keys in described.values():
        assert {"schema", "dataSource", "documentation", "datasetType", "ownership"} <= keys
    assert all({"jobType", "ownership", "documentation"} <= keys for keys in jobs.values())
    assert {"sql", "sourceCodeLocation"} <= jobs["order-enrichment"]
