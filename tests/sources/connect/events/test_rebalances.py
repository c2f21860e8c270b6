"""Tasks of a connector that other workers have taken over."""

from typing import Any

import pytest
from tests.sources.connect.events.test_lifecycles import MINUTE_US, NAMESPACE, SETTINGS, T0, sight

from lineage_bridge.sources.common.connect.catalogue.catalogue import catalogue
from lineage_bridge.sources.common.connect.events.translate import translate
from lineage_bridge.sources.common.connect.worker import RunStatus, WorkerState
from lineage_bridge.sources.common.shared_metadata import NO_METADATA


def rebalances(*polls: str, version: dict[int, int] | None = None) -> list[Any]:
    """What is reported at each poll, a minute apart; a poll is the workers of the tasks, `-` for a task that is on none."""
    before, found = None, []
    for number, text in enumerate(polls):
        workers = text.split()
        seen = sight("shop", f"RUNNING: {'RUNNING ' * len(workers)}@ {(version or {}).get(number, 1)}")
        tasks = {task: RunStatus("RUNNING", worker.strip("-")) for task, worker in enumerate(workers)}
        state = WorkerState("4.3.1", "cluster", {"shop": seen._replace(tasks=tasks)}, frozenset({"shop"}))
        got = translate(state, before, NO_METADATA, T0 + number * MINUTE_US, SETTINGS, NAMESPACE, catalogue())
        before = got.snapshot
        facets = [event["job"].get("facets", {}) for event in got.events if event["job"]["name"] == "shop"]
        stated = [job["kafka_rebalance"] for job in facets if "kafka_rebalance" in job]
        found.append([{key: value for key, value in facet.items() if not key.startswith("_")} for facet in stated])
    return found


def test_tasks_on_other_workers_are_a_rebalance_between_two_polls() -> None:
    found = rebalances("a a", "a b", "a b", "b a")
    assert [len(facets) for facets in found] == [0, 1, 0, 1]
    assert found[1] == [{"since": "2026-11-18T11:06:40.000000Z", "until": "2026-11-18T11:07:40.000000Z", "what": "TASKS", "moved": 1}]
    assert found[3][0]["moved"] == 2


@pytest.mark.parametrize("polls", [("a a", "a a b"), ("a b", "a"), ("a", "-", "a")])
def test_tasks_that_come_go_or_come_back_are_none(polls: tuple[str, ...]) -> None:
    assert not any(rebalances(*polls))


def test_a_task_that_was_on_no_worker_in_between_has_moved() -> None:
    assert [len(facets) for facets in rebalances("a", "-", "b")] == [0, 0, 1]


def test_a_change_of_the_configuration_is_no_rebalance() -> None:
    assert not any(rebalances("a", "b", version={1: 2}))


def test_a_connector_states_the_page_of_the_workers_about_it() -> None:
    state = WorkerState("4.3.1", "cluster", {"shop/a b": sight("shop/a b", "RUNNING: RUNNING")}, None)
    events: list[Any] = translate(state, None, NO_METADATA, T0, SETTINGS, NAMESPACE, catalogue()).events  # type: ignore[assignment]
    console = events[0]["job"]["facets"]["lineagebridge_console"]
    assert (console["title"], console["url"]) == ("Kafka Connect", "http://worker:8083/connectors/shop%2Fa%20b/status")
