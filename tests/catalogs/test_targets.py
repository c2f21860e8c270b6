"""What every target does: publish, publish nothing twice, change, delete, and go on after a crash."""

import itertools
import json
import threading
from collections import Counter
from functools import partial
from typing import Any

import pytest
from tests.api.support import Server
from tests.catalogs.conftest import EDGES, Other, added, published
from tests.catalogs.places import READABLE, Place, make_place
from tests.events import RUNS, T0, dataset, job_event, run_event

from lineage_bridge.catalogs.plan import DELETING, SENDING
from lineage_bridge.ports.targets import PublicationReport
from lineage_bridge.store.state.targets import PublicationLedger


def test_everything_is_published_and_then_nothing(ours: Server, place: Place) -> None:
    added(ours, place)
    planned = published(ours, plan_only=True)
    objects = 3 + place.has_datasets
    assert (planned.state, planned.counts, planned.outcomes) == ("done", {"create": objects}, {})
    assert all(operation.reason == "is new in the graph" for operation in planned.operations)
    done = published(ours)
    assert (done.state, done.outcomes, done.error) == ("done", {"done": objects}, "")
    assert done.not_expressible == ({} if place.has_datasets else {"datasets that no job reads or writes": 1}) | place.loses
    assert place.edges() == EDGES
    again = published(ours)
    assert (again.state, again.counts, again.outcomes, again.unchanged) == ("done", {}, {}, objects)
    assert place.edges() == EDGES


def test_a_run_that_changes_nothing_changes_nothing_there(ours: Server, place: Place) -> None:
    added(ours, place)
    published(ours)
    ours.send(run_event(run=RUNS[3], job="clean", time_us=T0 + 5, inputs=[dataset("a")], outputs=[dataset("b")]))
    assert published(ours, plan_only=True).counts == {}


def test_what_changed_is_updated_alone(ours: Server, place: Place) -> None:
    added(ours, place)
    published(ours)
    ours.parts.now_us += 1_000_000
    ours.send(job_event("declared", time_us=T0 + 9, inputs=[dataset("d")], outputs=[dataset("e")]))
    report = published(ours)
    (operation,) = report.operations
    assert (operation.action, operation.name, operation.reason, operation.outcome) == ("update", "declared", "changed in the graph", "done")
    assert place.edges() == EDGES - {("declared", "c", "e")} | {("declared", "d", "e")}
    assert published(ours).counts == {}


def test_what_has_left_the_graph_is_deleted_only_when_told_and_where_that_is_possible(ours: Server, place: Place) -> None:
    added(ours, place)
    published(ours)
    added(ours, place, exclude_namespaces=["ns"])  # the dataset by itself
    kept = published(ours)
    if not place.has_datasets:
        assert (kept.counts, kept.kept) == ({}, {})
        return
    why = (
        "no longer to be published; --prune deletes it" if place.deletes else "no longer to be published, but nothing can be deleted there"
    )
    assert (kept.counts, kept.kept) == ({}, {why: 1})
    pruned = published(ours, prune=True)
    if place.deletes:
        (operation,) = pruned.operations
        assert (operation.action, operation.kind, operation.name, operation.outcome) == ("delete", "dataset", "alone", "done")
        assert published(ours, prune=True).kept == {}
    else:
        assert pruned.counts == {}
    assert place.edges() == EDGES


class CrashError(BaseException):
    """Stands for the end of the process."""


class CrashingLedger(PublicationLedger):
    """Ends the process at one of its writes, before or after it."""

    def __init__(self, state: Any, at: int, *, after: bool) -> None:
        super().__init__(state)
        self.at, self.after, self.counting = at, after, threading.Lock()

    def record(self, destination: str, entries: Any, forgotten: Any = ()) -> None:
        with self.counting:
            self.at -= 1
            is_last = self.at == 0
        if is_last and not self.after:
            raise CrashError
        super().record(destination, entries, forgotten)
        if is_last:
            raise CrashError


@pytest.mark.parametrize("after", [False, True], ids=["before", "after"])
def test_after_a_crash_at_any_step_the_rest_is_published(ours: Server, place: Place, after: bool) -> None:
    ours.parts.alive = False  # the process of the publication that crashed
    unsure = set()
    for crash_at in itertools.count(1):  # of the writes of the ledger: the plan, before and after each operation
        added(ours, place, map_names={"*": f"{crash_at}-"})
        if not _crashed(ours, crash_at, after=after):
            break
        unsure |= {entry.state for entry in ours.targets.ledger("there", "", 1000)}
        report = published(ours)
        assert (report.state, {*report.outcomes} <= {"done"}) == ("done", True)
        assert {edge for edge in place.edges() if edge[0].startswith(f"{crash_at}-")} == {
            (f"{crash_at}-{job}", f"{crash_at}-{source}", f"{crash_at}-{target}") for job, source, target in EDGES
        }
        assert not after or published(ours).counts == {}
    assert crash_at > 3
    assert SENDING in unsure
    assert DELETING not in unsure


@pytest.mark.parametrize("after", [False, True], ids=["before", "after"])
@pytest.mark.parametrize("kind", READABLE)
def test_after_a_crash_at_any_step_the_rest_is_deleted(request: pytest.FixtureRequest, ours: Server, kind: str, after: bool) -> None:
    place = make_place(kind, request, ours)
    ours.parts.alive = False
    unsure = set()
    for crash_at in itertools.count(1):
        added(ours, place)
        published(ours)
        added(ours, place, exclude_namespaces=["*"])
        if not _crashed(ours, crash_at, after=after, prune=True):
            break
        unsure |= {entry.state for entry in ours.targets.ledger("there", "", 1000)}
        report = published(ours, prune=True)
        assert (report.state, {*report.outcomes} <= {"done"}) == ("done", True)
        assert place.edges() == set()
        assert published(ours, prune=True).counts == {}
    assert crash_at > 3
    assert DELETING in unsure


def _crashed(ours: Server, at: int, *, after: bool, prune: bool = False) -> bool:
    """Publish, and end the process at a write of the ledger, if there are so many."""
    ours.publication_ledger = partial(CrashingLedger, at=at, after=after)
    try:
        published(ours, prune=prune)
    except CrashError:
        return True
    finally:
        ours.publication_ledger = PublicationLedger
    return False


def test_what_is_sent_again_after_a_crash_is_the_same(ours: Server, other: Other) -> None:
    ours.targets.add("there", "openlineage", {"url": other.url, "at_once": 1}, replace=False)
    ours.publication_ledger = lambda state: CrashingLedger(state, 3, after=False)  # when the first event was sent
    with pytest.raises(CrashError):
        published(ours)
    ours.parts.alive, ours.publication_ledger = False, PublicationLedger
    ours.parts.now_us += 5_000_000
    report = published(ours)
    assert report.operations[0].reason == "its last publication may not have ended"
    events = [json.loads(record.body) for record in other.server.stored()]
    assert len(events) == 4
    (name,) = (name for name, count in Counter(event["job"]["name"] for event in events).items() if count == 2)
    first, again = (event for event in events if event["job"]["name"] == name)
    assert first["run"] == again["run"]
    assert {**first, "eventTime": ""} == {**again, "eventTime": ""}


def test_large_events_lose_facets_or_are_left_out_and_counted(ours: Server, place: Place) -> None:
    documentation = {"_producer": "p", "_schemaURL": "s", "description": "x" * 4000}
    ours.send(
        job_event(
            "large",
            inputs=[dataset("a", documentation=documentation)],
            outputs=[dataset("c")],
            job_facets={"documentation": documentation},
        ),
        job_event("huge", inputs=[dataset(f"input-{number:03}") for number in range(200)], outputs=[dataset("c")]),
    )
    added(ours, place, max_bytes=3000)
    report = published(ours)
    assert report.state == "done"
    assert report.not_expressible["events that are too large"] == 1
    if place.more.get("sends_descriptions", True):
        assert report.not_expressible["facets of events that are too large"] > 0
    assert not [operation for operation in report.operations if operation.name == "huge"]
    assert [operation.outcome for operation in report.operations if operation.name == "large"] == ["done"]


def test_names_are_mapped_wherever_they_stand(ours: Server, place: Place) -> None:
    added(ours, place, map_namespaces={"n*": "prefix-", "ns": "exact"}, map_names={"clean": "washed"})
    report: PublicationReport = published(ours)
    assert {(item.namespace, item.name) for item in report.operations if item.kind == "job"} == {
        ("jobs", "washed"),
        ("jobs", "load"),
        ("jobs", "declared"),
    }
    assert {item.namespace for item in report.operations if item.kind == "dataset"} <= {"exact"}
    assert ("washed", "a", "b") in place.edges()


@pytest.mark.parametrize(
    ("settings", "jobs"),
    [
        ({"namespaces": ["ns"]}, {"clean", "load", "declared"}),
        ({"namespaces": ["other*"]}, set()),
        ({"exclude_namespaces": ["jobs", "else*"]}, set()),
        ({"tags": ["pii"]}, {"tagged"}),
        ({"systems": ["confluent"]}, {"cloudy"}),
        ({"environments": ["env-1"]}, {"cloudy"}),
    ],
)
def test_filters(ours: Server, settings: dict[str, Any], jobs: set[str]) -> None:
    tags = {"_producer": "p", "_schemaURL": "s", "tags": [{"key": "pii", "value": "true", "source": "u"}]}
    ours.send(
        run_event(run=RUNS[3], job="tagged", namespace="elsewhere", outputs=[dataset("t", "far", tags=tags)]),
        run_event(run=RUNS[4], job="cloudy", namespace="elsewhere", outputs=[dataset("t", "confluent://env-1/lkc-1")]),
    )
    ours.targets.add("there", "files", settings, replace=False)
    assert {item.name for item in published(ours, plan_only=True).operations if item.kind == "job"} == jobs


def test_values_of_filters_that_nothing_matches_are_named(ours: Server) -> None:
    unknown = {"systems": ["nosuch"], "tags": ["none"], "environments": ["env-0"]}
    ours.targets.add("there", "files", {"namespaces": ["ns", "typo*"], **unknown}, replace=True)
    report = published(ours, plan_only=True)
    assert report.unmatched == ["namespaces typo*", "systems nosuch", "tags none", "environments env-0"]
    shown = ours.client.get("/api/v1/targets/there/publication").json()
    assert (shown["unmatched"], shown["desired"]) == (report.unmatched, 0)
    ours.targets.add("there", "files", {"namespaces": ["ns"], "exclude_namespaces": ["*"]}, replace=True)
    assert published(ours, plan_only=True).unmatched == []
