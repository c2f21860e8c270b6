"""The source `google`: what processes become, how they are listed, and what is gone, with a stand-in that answers by Google's messages."""

import json
from collections.abc import Iterator
from typing import Any

import pytest
from tests.api.support import Server
from tests.catalogs.google_login import TOKEN
from tests.catalogs.standins.google import LOCATION, PROJECT, DataLineage
from tests.catalogs.standins.server import Answer, Request, answering
from tests.events import T0, dataset, run_event

from lineage_bridge.errors import ForbiddenError, SourceError
from lineage_bridge.openlineage.event_builder import encode
from lineage_bridge.sources.common.google.entity_names import dataset_name, entity_name
from lineage_bridge.sources.common.observer import Observation
from lineage_bridge.sources.common.settings import NO_CONTEXT
from lineage_bridge.sources.common.shared_metadata import NO_METADATA
from lineage_bridge.sources.google_lineage import observer as observer_module
from lineage_bridge.sources.google_lineage.observer import GoogleListings, GoogleObserver
from lineage_bridge.sources.google_lineage.settings import GoogleSourceSettings
from lineage_bridge.sources.runtime.kinds import KINDS

MINUTE_US = 60_000_000
NOON, LATER = "2026-05-01T12:00:00Z", "2026-05-01T13:00:00Z"
TOPIC, RAW, REVENUE = "pubsub:topic:p.orders", "bigquery:p.shop.raw", "bigquery:p.shop.revenue"


class Catalog:
    """A location, and a source that observes it. Calls of paths that contain a text of `failing` are answered with its status."""

    def __init__(self) -> None:
        self.there, self.url, self.polls = DataLineage(), "", 0
        self.failing: dict[str, int] = {}

    def handle(self, request: Request) -> Answer:
        path = "/".join(request.parts)
        for text, status in self.failing.items():
            if text in path:
                return Answer(status, {"error": {"code": status, "message": "no", "status": "X"}})
        return self.there.handle(request)

    def source(self, **settings: Any) -> GoogleObserver:
        usual = {"url": self.url, "project": PROJECT, "location": LOCATION, "token": "${given:token}"}
        context = NO_CONTEXT.with_given({"token": TOKEN})
        return GoogleObserver("gcp", GoogleSourceSettings.model_validate({**usual, **settings}, context=context))

    def poll(self, before: Observation | None = None) -> Observation:
        source = self.source()
        self.polls += 1
        try:
            return source.observe(json.loads(json.dumps(before.snapshot)) if before else None, NO_METADATA, T0 + self.polls * MINUTE_US)
        finally:
            source.close()


@pytest.fixture
def lineage() -> Iterator[Catalog]:
    made = Catalog()
    with answering(made.handle) as url:
        made.url = url
        yield made


def jobs_of(seen: Observation) -> dict[str, Any]:
    return {event["job"]["name"]: event for event in seen.events}


def test_a_walk_goes_on_beyond_the_topic_and_joins_only_what_is_linked(lineage: Catalog, graph: Server) -> None:
    lineage.there.plant("sub", "r1", NOON, (TOPIC, RAW), ("gcs:b.x", "gcs:b.y"), displayName="to BigQuery")
    lineage.there.plant("q", "r1", NOON, (RAW, "bigquery:p.shop.old"))
    lineage.there.plant("q", "r2", LATER, (RAW, REVENUE), (f"{RAW} total.net", f"{REVENUE} net"))
    first = lineage.poll()
    assert sorted(jobs_of(first)) == ["q", "to BigQuery (sub)"]
    (entry,) = jobs_of(first)["q"]["job"]["facets"]["lineage"]["entries"]
    source = {"type": "DATASET", "namespace": "bigquery", "name": "p.shop.raw"}
    named = {"type": "DATASET", "namespace": "bigquery", "name": "p.shop.revenue"}
    assert entry == {**named, "inputs": [source], "fields": {"net": {"inputs": [{**source, "field": "total.net"}]}}}
    sends = run_event(job="shop", inputs=[dataset("clicks")], outputs=[dataset("topic:p:orders", "pubsub")])
    graph.send(sends, *map(encode, first.events))
    found = json.dumps(graph.ask("/graph/impact", namespace="ns", name="clicks"))
    assert ("p.shop.revenue" in found, "gs://b" in found, "p.shop.old" in found) == (True, False, False)
    assert (first.unseen, lineage.poll(first).events) == ((), ())
    lineage.there.objects = {name: made for name, made in lineage.there.objects.items() if "/processes/q" not in name}
    second = lineage.poll(first)
    assert list(jobs_of(second)) == ["q"]
    graph.send(*map(encode, second.events))
    found = json.dumps(graph.ask("/graph/impact", namespace="ns", name="clicks"))
    assert ("p.shop.raw" in found, "p.shop.revenue" in found) == (True, False)


def test_what_was_published_does_not_come_back(lineage: Catalog) -> None:
    lineage.there.plant("ours", "lineage", NOON, (TOPIC, RAW), attributes={"namespace": "jobs", "name": "clean", "installations": "1b0e"})
    lineage.there.plant("sent", "r", NOON, (TOPIC, RAW), attributes={"lineagebridge_publication": {"installations": ["1b0e"]}})
    lineage.there.plant("theirs", "r", NOON, (TOPIC, RAW), attributes={"name": "x"})
    assert list(jobs_of(lineage.poll())) == ["theirs"]


def test_runs_that_have_no_links_yet_hide_none(lineage: Catalog, monkeypatch: pytest.MonkeyPatch) -> None:
    lineage.there.plant("a", "r1", NOON, (TOPIC, RAW))
    first = lineage.poll()
    lineage.there.plant("a", "r2", LATER)
    lineage.there.objects = {name: made for name, made in lineage.there.objects.items() if "/r2/lineageEvents" not in name}
    second = lineage.poll(first)
    assert (second.events, second.unseen) == ((), ())
    monkeypatch.setattr(observer_module, "_RUNS", 1)
    third = lineage.poll(second)
    assert (third.events, len(third.snapshot["assets"]["processes"])) == ((), 1), "older runs are not looked at: it stays as it was"


def test_a_list_that_fails_ends_nothing(lineage: Catalog) -> None:
    lineage.there.plant("a", "r", NOON, (TOPIC, RAW))
    lineage.there.plant("b", "r", NOON, (TOPIC, RAW))
    first = lineage.poll()
    lineage.there.objects.clear()
    lineage.failing = {"processes": 403}
    with pytest.raises(ForbiddenError) as raised:
        lineage.poll(first)
    assert "datalineage.viewer" in raised.value.hint
    lineage.failing = {"processes/": 403}
    hidden = lineage.poll(first)
    assert (hidden.events, len(hidden.snapshot["assets"]["processes"])) == ((), 2), "what may not be read counts as there"
    lineage.failing = {}
    assert sorted(jobs_of(lineage.poll(hidden))) == ["a", "b"]


def test_a_process_that_cannot_be_read_is_unseen_and_hides_no_other(lineage: Catalog) -> None:
    lineage.there.plant("a", "r", NOON, (TOPIC, RAW))
    lineage.there.plant("b", "r", NOON, (TOPIC, RAW))
    first = lineage.poll()
    lineage.there.plant("a", "r2", LATER, (TOPIC, REVENUE))
    lineage.there.plant("b", "r2", LATER, (TOPIC, REVENUE))
    lineage.failing = {"processes/a/runs": 403}
    seen = lineage.poll(first)
    assert (list(jobs_of(seen)), [entry.what for entry in seen.unseen]) == (["b"], ["links of processes"])
    lineage.failing = {}
    assert list(jobs_of(lineage.poll(seen))) == ["a"]


def test_many_processes_are_read_by_several_polls(lineage: Catalog, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(GoogleListings, "pages_at_once", 2)
    for number in range(5):
        lineage.there.plant(f"p{number}", "r", NOON, (TOPIC, RAW))
    names, before = list[str](), None
    for _ in range(3):
        before = lineage.poll(before)
        names += jobs_of(before)
    assert (names, before is not None and before.snapshot["listing"]) == ([f"p{number}" for number in range(5)], "")


def test_odd_answers_are_errors_or_left_out(lineage: Catalog, monkeypatch: pytest.MonkeyPatch) -> None:
    no_name, no_target = {"source": {"fullyQualifiedName": 5}}, {"source": {"fullyQualifiedName": "x"}, "target": {}}
    answers: dict[str, Any] = {
        "processes": {"processes": [None, {"name": "p/a"}]},
        "runs": {"runs": [{"name": "r/1"}]},
        "lineageEvents": {"lineageEvents": [None, 5, {"links": [None, no_name, no_target]}]},
    }
    monkeypatch.setattr("lineage_bridge.sources.common.http.HttpClient.get", lambda _, path, **__: answers[path.rpartition("/")[2]])
    seen = lineage.poll()
    assert (seen.events, [entry.what for entry in seen.unseen]) == ((), ["processes: entries without an id"])
    answers["processes"] = []
    with pytest.raises(SourceError, match="list processes"):
        lineage.poll()


@pytest.mark.parametrize(
    ("namespace", "name"),
    [
        ("bigquery", "p.d.t"),
        ("bigquery", "my-p.d.a table"),
        ("pubsub", "topic:p:orders.v1"),
        ("pubsub", "subscription:p:s"),
        ("gs://lake", "a/b.parquet"),
        ("gs://lake", "/"),
        ("kafka://broker:9092", "orders.v1"),
        ("ns", "a `quoted` name"),
    ],
)
def test_names_are_the_reverse_of_what_is_published(namespace: str, name: str) -> None:
    assert dataset_name(entity_name(namespace, name)) == (namespace, name)


@pytest.mark.parametrize("name", ["cloudsql_mysql:p.l.i.d.t", "custom:a.b.c", "bigquery:p", "custom:`open", "odd", "pubsub:topic:p"])
def test_other_names_are_in_a_namespace_of_their_own(name: str) -> None:
    namespace, found = dataset_name(name)
    assert namespace.startswith("google-lineage://")
    assert found


def test_the_kind_is_offered_and_tested(lineage: Catalog) -> None:
    assert KINDS.load("google").settings is GoogleSourceSettings
    lineage.there.plant("a", "r", NOON, (TOPIC, RAW))
    assert [(check.step, check.works, check.message) for check in lineage.source().test()] == [
        ("list processes", True, "1 of the first 1 have metadata to report")
    ]
    with pytest.raises(ValueError, match="takes no user"):
        lineage.source(username="x", token=None)
