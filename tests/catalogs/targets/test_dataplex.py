"""Google's catalog, Dataplex: an entry for each topic, under the name that lineage has, and nothing of others changed or deleted."""

import itertools
import json
import sys
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from google.api_core.exceptions import BadRequest, Conflict, NotFound
from google.cloud import dataplex_v1 as api
from google.cloud.dataplex_v1.services.catalog_service.transports.rest import CatalogServiceRestTransport
from google.oauth2.credentials import Credentials
from google.protobuf.json_format import MessageToDict, ParseDict
from tests.api.support import Server
from tests.catalogs.conftest import EDGES, added, published
from tests.catalogs.estate import published_row, send_estate, undocumented
from tests.catalogs.google_login import TOKEN
from tests.catalogs.places import Edges, Place, make_place
from tests.catalogs.standins.dataplex import LARGEST_ASPECT, SCHEMA, Dataplex
from tests.catalogs.standins.google import LOCATION, NUMBER, PROJECT
from tests.catalogs.standins.server import Answer, answering
from tests.catalogs.test_golden import EVENTS, check_golden
from tests.catalogs.test_targets import CrashError, CrashingLedger
from tests.events import T0, dataset, dataset_event, facet, job_event, schema
from tests.servers.web.faulty import Faulty

from lineage_bridge.catalogs.kinds_of_targets import TargetKinds
from lineage_bridge.errors import ConfigError
from lineage_bridge.store.state.targets import PublicationLedger

PARENT = f"projects/{PROJECT}/locations/{LOCATION}"
TYPES = ("entryGroups/lineagebridge", "aspectTypes/lineagebridge-topic", "entryTypes/lineagebridge-topic")
TOPICS = ["a", "alone", "b", "c", "d", "e"]
FOREIGN, CHANGED, REMOVED = "was there before, and was not published from here", "was changed there", "was removed there"
THEIRS = f"{NUMBER}.{LOCATION}.theirs"


@pytest.fixture
def place(ours: Server, tmp_path: Path) -> Iterator[Place]:
    (tmp_path / "google-token").write_text(TOKEN)
    catalog = Dataplex()
    with answering(catalog.handle) as url:
        yield _place(ours, catalog, tmp_path, url)


def _place(ours: Server, there: Dataplex, tmp_path: Path, url: str) -> Place:
    login = {"url": url, "project": PROJECT, "location": LOCATION, "token": f"${{file:{tmp_path / 'google-token'}}}"}
    settings = {**login, "poll_s": 0.01, "create_types": True, "topics": ["ns", "kafka://*"]}
    made = Place("dataplex", settings, partial(_edges, there), deletes=True, reads=True, writes="/entries/", more={"there": there})
    added(ours, made)
    return made


@pytest.fixture
def there(place: Place) -> Dataplex:
    found: Dataplex = place.more["there"]
    return found


@pytest.fixture
def their_client(place: Place) -> api.CatalogServiceClient:
    host = place.settings["url"].removeprefix("http://")
    transport = CatalogServiceRestTransport(host=host, credentials=Credentials(TOKEN), url_scheme="http")
    return api.CatalogServiceClient(transport=transport)


def _edges(there: Dataplex) -> Edges:
    """The edges that aspects state, each by its topics and the job that reads one and writes the other."""
    topics = {name: data for name, data, _ in there.entries()}
    return {
        (job["name"], source, target)
        for (source, read), (target, written) in itertools.product(topics.items(), topics.items())
        for job in read.get("consumers", ())
        if job in written.get("producers", ())
    }


def _entry(there: Dataplex, topic: str) -> dict[str, Any]:
    (found,) = (made for name, _, made in there.entries() if name == topic)
    return found


def _topic(there: Dataplex, topic: str) -> dict[str, Any]:
    (found,) = (data for name, data, _ in there.entries() if name == topic)
    return found


def _names(there: Dataplex) -> list[str]:
    return [name for name in there.objects if "/entries/" in name]


def _changes(there: Dataplex) -> list[str]:
    return [request for request in there.requests if not request.startswith("GET")]


# what is there


def test_everything_is_published_and_then_nothing(ours: Server, place: Place, there: Dataplex) -> None:
    planned = published(ours, plan_only=True)
    assert (planned.state, planned.counts) == ("done", {"create": 6})
    assert not _changes(there)
    done = published(ours)
    assert (done.state, done.outcomes, done.error) == ("done", {"done": 6}, "")
    assert done.not_expressible == {"facets that entries of topics do not hold": 1}
    assert place.edges() == EDGES
    assert {*there.objects} >= {f"{PARENT.replace(PROJECT, NUMBER)}/{name}" for name in TYPES}
    there.requests.clear()
    again = published(ours)
    assert (again.counts, again.drift, again.unchanged) == ({}, [], 6)
    assert [request.partition(" ")[0] for request in there.requests] == ["GET"] * 6


def test_their_own_client_reads_what_is_published_as_sets(ours: Server, there: Dataplex, their_client: api.CatalogServiceClient) -> None:
    published(ours)
    found = set()
    for name in _names(there):
        entry = their_client.get_entry(api.GetEntryRequest(name=name, view=api.EntryView.ALL))
        aspects = MessageToDict(api.Entry.pb(entry))["aspects"]
        columns = [column["name"] for column in aspects.get(SCHEMA, {"data": {"fields": []}})["data"]["fields"]]
        found.add((entry.entry_source.display_name, entry.fully_qualified_name, entry.entry_source.system, *columns))
    columns_of = {"a": ["y"], "alone": ["z"], "b": ["x"]}
    assert found == {(topic, f"custom:ns.{topic}", "Kafka", *columns_of.get(topic, [])) for topic in TOPICS}


def test_an_entry_has_the_name_by_which_lineage_has_the_topic(
    request: pytest.FixtureRequest, ours: Server, place: Place, there: Dataplex
) -> None:
    ours.send(*EVENTS, job_event("dotted", inputs=[dataset("a.b", "kafka://b:1")], outputs=[dataset("c`d", "kafka://b:1")]))
    mapped = {"map_namespaces": {"kafka://b:1": "kafka://other"}}
    added(ours, place, **mapped)
    published(ours)
    lineage = make_place("google", request, ours)
    ours.targets.add("lineage", "google", {**lineage.settings, **mapped}, replace=True)
    report = ours.targets.start("lineage", plan_only=False, prune=False, overwrite=False).report
    assert report is not None
    assert report.state == "done"
    ends = {end[0] for ends in lineage.more["there"].links() for end in ends}
    names = {made["fullyQualifiedName"] for _, _, made in there.entries()}
    assert names - ends == {"custom:ns.alone"}
    assert names >= {"custom:`kafka://broker:9092`.orders", "custom:`kafka://other`.`a.b`", "custom:`kafka://other`.`c``d`"}
    assert not any("postgres" in name or "s3" in name for name in names)


def test_an_entry_says_who_owns_a_topic_what_it_is_and_how_long_it_keeps_records(ours: Server, there: Dataplex) -> None:
    fields = [
        {"name": "id", "type": "long", "description": "the key"},
        {"name": "lines", "type": "array<record>", "fields": [{"name": "price", "type": "decimal(10,2)"}]},
        {"name": "when", "type": "timestamp"},
        {"name": "odd", "type": "custom.Type"},
    ]
    facets: dict[str, Any] = {
        "schema": facet(fields=fields),
        "documentation": facet(description="orders of the shop"),
        "ownership": facet(owners=[{"name": "team:shop", "type": "OWNER"}]),
        "tags": facet(tags=[{"key": "pii", "value": "true", "source": "u"}, {"key": "pii", "value": "no", "source": "u", "field": "id"}]),
        "kafka_topic": facet(partitions=3, config={"retention.ms": "604800000"}),
    }
    ours.send(job_event("sell", inputs=[dataset("a")], outputs=[dataset("orders", "kafka://b:1", **facets)]))
    published(ours)
    data, entry = _topic(there, "orders"), _entry(there, "orders")
    assert (data["owners"], data["retention"], data["producers"]) == (["team:shop"], "7 days", [{"namespace": "jobs", "name": "sell"}])
    assert data["tags"] == [{"key": "pii", "value": "no", "field": "id"}, {"key": "pii", "value": "true"}]
    assert (data["hasSchema"], len(data["installations"])) == (True, 1)
    assert entry["entrySource"]["description"] == "orders of the shop"
    assert entry["entrySource"]["resource"] == "kafka://b:1/orders"
    columns = [
        (column["name"], column["mode"], column["metadataType"], [inner["metadataType"] for inner in column.get("fields", ())])
        for column in entry["aspects"][SCHEMA]["data"]["fields"]
    ]
    assert columns == [
        ("id", "NULLABLE", "NUMBER", []),
        ("lines", "REPEATED", "STRUCT", ["NUMBER"]),
        ("when", "NULLABLE", "TIMESTAMP", []),
        ("odd", "NULLABLE", "OTHER", []),
    ]


def test_what_is_no_topic_is_left_to_lineage_and_counted(ours: Server, place: Place) -> None:
    added(ours, place, topics=["kafka://*"])
    ours.send(*EVENTS)
    report = published(ours)
    assert [(item.kind, item.namespace, item.name) for item in report.operations] == [("dataset", "kafka://broker:9092", "orders")]
    assert report.not_expressible == {"jobs that read and write no topic": 4, "datasets that are not topics": 1}


def test_the_content_of_entries_is_as_the_file_has_it(ours: Server, place: Place) -> None:
    check_golden(ours, place, "dataplex")


def test_the_estate_is_published_and_what_is_lost_is_documented(ours: Server, place: Place) -> None:
    send_estate(ours)
    row = published_row(ours, Place("dataplex", {**place.settings, "topics": ["kafka://*", "confluent://*"]}, place.edges), "`dataplex`")
    assert not undocumented([row]), row


# what changes and what is deleted


def test_what_changed_is_updated_alone(ours: Server, place: Place) -> None:
    published(ours)
    ours.parts.now_us += 1_000_000
    ours.send(job_event("declared", time_us=ours.parts.now_us, inputs=[dataset("d")], outputs=[dataset("e")]))
    report = published(ours)
    assert {(item.action, item.name, item.outcome) for item in report.operations} == {("update", "c", "done"), ("update", "d", "done")}
    assert place.edges() == EDGES - {("declared", "c", "e")} | {("declared", "d", "e")}
    assert published(ours).counts == {}


def test_nothing_is_deleted_unless_told_and_what_returns_is_there_again(ours: Server, place: Place, there: Dataplex) -> None:
    published(ours)
    added(ours, place, exclude_namespaces=["*"])
    assert published(ours).kept == {"no longer to be published; --prune deletes it": 6}
    assert place.edges() == EDGES
    assert published(ours, prune=True).outcomes == {"done": 6}
    assert _names(there) == []
    added(ours, place)
    assert published(ours).outcomes == {"done": 6}
    assert place.edges() == EDGES


def test_an_entry_of_others_is_left_alone_and_never_deleted(ours: Server, place: Place, there: Dataplex) -> None:
    published(ours)
    name, theirs = _entry(there, "b")["name"], {"fullyQualifiedName": "custom:theirs", "aspects": {}}
    added(ours, place, exclude_namespaces=["*"])
    published(ours, prune=True)
    there.objects[name] = planted = {"name": name, "entryType": f"{name.partition('/entryGroups')[0]}/{TYPES[2]}", **theirs}
    added(ours, place)
    report = published(ours)
    assert [(finding.name, finding.finding) for finding in report.drift] == [("b", FOREIGN)]
    assert (report.outcomes, there.objects[name]) == ({"done": 5}, planted)
    assert published(ours, overwrite=True).outcomes == {"done": 1}
    assert place.edges() == EDGES
    added(ours, place, exclude_namespaces=["*"])
    assert published(ours, prune=True).kept == {"no longer to be published, but was there before it was published": 1}
    assert _names(there) == [name]


def test_an_entry_of_another_type_is_refused(ours: Server, place: Place, there: Dataplex) -> None:
    published(ours)
    for name in _names(there):
        there.objects[name]["entryType"] = f"{PARENT}/entryTypes/theirs"
    added(ours, place, map_names={"x": "y"})
    ours.send(job_event("declared", time_us=T0 + 9, inputs=[dataset("d")], outputs=[dataset("e")]))
    report = published(ours)
    assert {(item.outcome, item.detail) for item in report.operations} == {("refused", "there is an entry of another type under its id")}


def test_what_somebody_changed_is_reported_and_overwritten_only_with_overwrite(ours: Server, place: Place, there: Dataplex) -> None:
    published(ours)
    _topic(there, "c")["consumers"] = []
    _entry(there, "d")["entrySource"]["description"] = "theirs"
    _entry(there, "a")["aspects"][SCHEMA]["data"]["fields"] = []
    del there.objects[_entry(there, "e")["name"]]
    report = published(ours)
    assert {(finding.name, finding.finding) for finding in report.drift} == {
        *((topic, CHANGED) for topic in "acd"),
        ("e", REMOVED),
    }
    assert report.counts == {}
    assert published(ours, overwrite=True).counts == {"create": 1, "update": 3}
    assert place.edges() == EDGES
    assert published(ours).drift == []


def test_aspects_of_others_stay_and_an_entry_that_has_some_is_not_deleted(ours: Server, place: Place, there: Dataplex) -> None:
    published(ours)
    theirs = {"data": {"approved": True}}
    column = f"{SCHEMA}@Schema.x"
    for topic, key in (("b", THEIRS), ("c", SCHEMA), ("d", column)):
        _entry(there, topic)["aspects"][key] = theirs
    assert published(ours).drift == []
    ours.send(job_event("more", time_us=T0 + 9, inputs=[dataset(topic) for topic in "bcd"], outputs=[dataset("e")]))
    assert published(ours).outcomes == {"done": 4}
    kept = [_entry(there, topic)["aspects"][key] for topic, key in (("b", THEIRS), ("c", SCHEMA), ("d", column))]
    assert kept == [theirs] * 3
    added(ours, place, exclude_namespaces=["*"])
    report = published(ours, prune=True)
    assert report.outcomes == {"done": 3, "refused": 3}
    why = {item.name: item.detail for item in report.operations if item.outcome == "refused"}
    assert {name: text.rpartition(": ")[2] for name, text in why.items()} == {"b": THEIRS, "c": SCHEMA, "d": column}
    for topic, key in (("b", THEIRS), ("c", SCHEMA), ("d", column)):
        del _entry(there, topic)["aspects"][key]
    assert published(ours, prune=True).outcomes == {"done": 3}
    assert _names(there) == []


def test_columns_that_are_no_longer_known_are_removed(ours: Server, there: Dataplex) -> None:
    published(ours)
    assert SCHEMA in _entry(there, "alone")["aspects"]
    ours.send(dataset_event(dataset("alone", schema={**facet(), "_deleted": True}), time_us=T0 + 9))
    assert published(ours).outcomes == {"done": 1}
    assert SCHEMA not in _entry(there, "alone")["aspects"]
    assert "hasSchema" in _topic(there, "alone")
    assert published(ours).drift == []


def test_an_entry_that_somebody_creates_meanwhile_is_left_alone_and_never_deleted(
    ours: Server, place: Place, there: Dataplex, faulty: Any
) -> None:
    published(ours)
    name, theirs = _entry(there, "b")["name"], _entry(there, "b")
    theirs["entrySource"]["description"] = "theirs"
    added(ours, place, exclude_namespaces=["*"])
    there.objects = {of: found for of, found in there.objects.items() if "/entries/" not in of}
    published(ours)
    there.objects[name] = theirs
    before = json.dumps(theirs)
    proxy: Faulty = faulty(place.settings["url"])
    proxy.answer(404, "/entries/", times=6, body=b'{"error": {"status": "NOT_FOUND", "message": "not yet"}}')
    added(ours, place.behind(proxy))
    report = published(ours)
    assert report.outcomes == {"done": 5, "refused": 1}
    assert {item.detail for item in report.operations} == {"", "somebody has created an entry under its id meanwhile"}
    assert [(finding.name, finding.finding) for finding in published(ours).drift] == [("b", FOREIGN)]
    added(ours, place.behind(proxy), exclude_namespaces=["*"])
    assert published(ours, prune=True).outcomes == {"done": 5}
    assert (_names(there), json.dumps(there.objects[name])) == ([name], before)


def test_an_entry_whose_creation_was_not_answered_is_its_own(ours: Server, place: Place, there: Dataplex) -> None:
    lost = [True]

    def losing(request: Any) -> Any:
        answer = there.handle(request)
        if request.method == "POST" and request.parts[-1] == "entries" and answer.status == 200 and lost:
            return Answer(503 if lost.pop() else 200)
        return answer

    with answering(losing) as url:
        added(ours, place, url=url, at_once=1)
        assert published(ours).outcomes == {"done": 6}
        assert (published(ours).counts, published(ours).drift) == ({}, [])
    assert not [request for request in there.requests if request.startswith("PATCH")]


def test_an_entry_whose_deletion_was_not_made_is_published_again(ours: Server, place: Place, there: Dataplex) -> None:
    def refusing(request: Any) -> Any:
        return Answer(401) if request.method == "DELETE" else there.handle(request)

    with answering(refusing) as url:
        added(ours, place, url=url)
        published(ours)
        added(ours, place, url=url, exclude_namespaces=["*"])
        assert published(ours, prune=True).state == "failed"
        added(ours, place, url=url)
        ours.send(dataset_event(dataset("alone", schema=schema("changed")), time_us=T0 + 9))
        assert published(ours).state == "done"
        assert (published(ours).counts, published(ours).drift, place.edges()) == ({}, [], EDGES)


MANY = 130


@pytest.mark.parametrize("may_list", [True, False])
def test_many_topics_without_an_entry_are_not_asked_for_one_by_one(ours: Server, place: Place, there: Dataplex, may_list: bool) -> None:
    published(ours)
    there.may_list = may_list
    ours.send(*(dataset_event(dataset(f"t{number:03}"), time_us=T0 + 9) for number in range(MANY)))
    added(ours, place, at_once=1)
    _entry(there, "c")["entrySource"]["description"] = "theirs"
    there.requests.clear()
    report = published(ours)
    assert (report.outcomes, [finding.name for finding in report.drift]) == ({"done": MANY}, ["c"])
    lists = [request for request in there.requests if request.startswith("GET") and request.endswith("/entries")]
    asked = [request for request in there.requests if request.startswith("GET") and "/entries/" in request]
    assert (len(lists), len(asked)) == (1, 6 + 34) if may_list else (1, 6 + MANY)
    assert len([request for request in there.requests if request.startswith("POST")]) == MANY
    there.requests.clear()
    assert published(ours).counts == {}
    assert len(there.requests) == 6 + MANY
    assert not [request for request in there.requests if request.endswith("/entries")]


def test_lists_have_several_pages(ours: Server, there: Dataplex) -> None:
    ours.send(*(dataset_event(dataset(f"t{number:03}"), time_us=T0 + 9) for number in range(MANY)))
    published(ours)
    ours.send(*(dataset_event(dataset(f"u{number:03}"), time_us=T0 + 99) for number in range(MANY)))
    there.requests.clear()
    assert (published(ours).outcomes, published(ours).drift) == ({"done": MANY}, [])
    assert len([request for request in there.requests if request.startswith("GET") and request.endswith("/entries")]) == 2


# what entries need


def test_without_being_allowed_to_nothing_that_entries_need_is_created(ours: Server, place: Place, there: Dataplex) -> None:
    added(ours, place, create_types=False)
    report = published(ours)
    assert (report.state, report.code, report.outcomes.get("done")) == ("failed", "missing_there", None)
    assert (there.objects, _changes(there)) == ({}, [])
    failed = ours.targets.test("there")
    assert [check.works for check in failed] == [True, True, False]
    assert "lineagebridge-topic" in failed[-1].message
    added(ours, place)
    assert published(ours).outcomes == {"done": 6}
    added(ours, place, create_types=False)
    assert [check.works for check in ours.targets.test("there")] == [True, True]
    there.requests.clear()
    ours.send(job_event("more", time_us=T0 + 9, inputs=[dataset("a")], outputs=[dataset("b")]))
    assert published(ours).outcomes == {"done": 2}
    assert {request.partition(" ")[0] for request in _changes(there)} == {"PATCH"}


@pytest.mark.parametrize(("code", "tries"), [(14, 1), (9, 1)])
def test_a_type_whose_creation_fails_ends_the_publication(ours: Server, place: Place, there: Dataplex, code: int, tries: int) -> None:
    added(ours, place, tries=tries, at_once=1)
    there.failure = {"code": code, "message": "no more types"}
    report = published(ours)
    assert (report.state, report.outcomes.get("done")) == ("failed", None)
    assert "no more types" in report.error + "".join(item.detail for item in report.operations)
    there.failure = {}
    assert published(ours).outcomes == {"done": 6}


def test_a_type_that_takes_long_is_asked_for_again(ours: Server, place: Place, there: Dataplex) -> None:
    there.polls = 4
    assert published(ours).outcomes == {"done": 6}
    polls = [request for request in there.requests if "/operations/" in request]
    assert len(polls) == 4 * 3
    there.objects.clear()
    added(ours, place, settle_s=0, map_names={"*": "z"})
    report = published(ours, overwrite=True)
    assert report.state == "failed"
    assert "has not ended yet" in report.error


def test_what_somebody_else_creates_meanwhile_is_used(ours: Server, place: Place, there: Dataplex, faulty: Callable[[str], Faulty]) -> None:
    published(ours)
    there.objects = {name: made for name, made in there.objects.items() if "/entries/" not in name}
    proxy = faulty(place.settings["url"])
    missing = b'{"error": {"status": "NOT_FOUND", "message": "not yet"}}'
    for name in TYPES:
        proxy.answer(404, name, times=1, body=missing)
    added(ours, place.behind(proxy), at_once=1, map_names={"a": "z"})
    assert published(ours, overwrite=True).state == "done"


def test_an_aspect_type_of_others_is_not_used(ours: Server, there: Dataplex) -> None:
    published(ours)
    name = f"{PARENT.replace(PROJECT, NUMBER)}/{TYPES[1]}"
    there.objects[name]["metadataTemplate"]["recordFields"].pop()
    ours.send(job_event("more", time_us=T0 + 9, inputs=[dataset("a")], outputs=[dataset("b")]))
    report = published(ours)
    assert (report.state, report.code) == ("failed", "missing_there")
    assert "hasSchema" in report.error


def test_an_entry_group_that_is_deleted_meanwhile_is_created_again(ours: Server, place: Place, faulty: Any) -> None:
    proxy: Faulty = faulty(place.settings["url"])
    added(ours, place.behind(proxy), at_once=1)
    published(ours, plan_only=True)
    proxy.answer(404, "/entries/", times=1, every=9, body=b'{"error": {"status": "NOT_FOUND", "message": "no entry group"}}')
    report = published(ours)
    assert report.outcomes.get("done", 0) >= 5
    assert published(ours).state == "done"
    assert place.edges() == EDGES


# crashes, storms and refusals


@pytest.mark.parametrize("after", [False, True], ids=["before", "after"])
def test_after_a_crash_at_any_step_the_rest_is_published(ours: Server, place: Place, there: Dataplex, after: bool) -> None:
    ours.parts.alive = False
    for crash_at in range(1, 4):  # the plan, and before and after the topics, which are written together
        ours.publication_ledger = partial(CrashingLedger, at=crash_at, after=after)
        added(ours, place, map_names={"*": f"{crash_at}-"})
        with pytest.raises(CrashError):
            published(ours)
        ours.publication_ledger = PublicationLedger
        report = published(ours)
        assert (report.state, {*report.outcomes} <= {"done"}) == ("done", True)
        prefix = f"{crash_at}-"
        edges = {(f"{prefix}{job}", f"{prefix}{source}", f"{prefix}{target}") for job, source, target in EDGES}
        assert {edge for edge in place.edges() if edge[0].startswith(prefix)} == edges
        assert published(ours).counts == {}
    assert len(_names(there)) == 6 * 3


def test_topics_of_a_portion_that_broke_off_are_published_again(ours: Server, place: Place, there: Dataplex) -> None:
    """Whichever of them are there already, under the same names and once."""
    left, handle = [0], there.handle

    def breaking(request: Any) -> Any:
        left[0] -= request.method == "POST" and request.parts[-1] == "entries"
        return Answer(401) if left[0] < 0 else handle(request)

    with answering(breaking) as url:
        for written in range(6):
            added(ours, place, url=url, at_once=1, map_names={"*": f"{written}-"})
            left[0] = written
            assert published(ours).state == "failed"
            assert len(_names(there)) == 6 * written + written
            left[0] = 99
            assert published(ours).outcomes == {"done": 6}
            assert {name for name, _, _ in there.entries()} >= {f"{written}-{topic}" for topic in TOPICS}
            assert (published(ours).counts, len(_names(there))) == ({}, 6 * written + 6)


def test_after_a_crash_the_rest_is_deleted(ours: Server, place: Place, there: Dataplex) -> None:
    published(ours)
    ours.parts.alive = False
    added(ours, place, exclude_namespaces=["*"])
    ours.publication_ledger = partial(CrashingLedger, at=2, after=False)
    with pytest.raises(CrashError):
        published(ours, prune=True)
    ours.publication_ledger = PublicationLedger
    assert published(ours, prune=True).state == "done"
    assert _names(there) == []
    assert published(ours, prune=True).counts == {}


@pytest.fixture
def proxy(ours: Server, place: Place, faulty: Callable[[str], Faulty]) -> Faulty:
    found = faulty(place.settings["url"])
    added(ours, place.behind(found), at_once=1)
    return found


def test_a_storm_passes_and_waits_are_as_long_as_asked(ours: Server, place: Place, proxy: Faulty) -> None:
    waits: list[float] = []
    ours.wait = waits.append
    proxy.answer(429, "/entries/", times=2, headers={"Retry-After": "7"})
    proxy.answer(503, "/entries/", times=2, headers={"Retry-After": "11"})
    proxy.answer(503, "/entryTypes", times=1, headers={"Retry-After": "3"})
    assert published(ours).outcomes == {"done": 6}
    assert [wait for wait in waits if wait >= 1] == [7.0, 7.0, 11.0, 11.0, 3.0]
    assert place.edges() == EDGES


def test_one_that_is_too_busy_for_each_third_request_gets_everything(ours: Server, place: Place, proxy: Faulty) -> None:
    waits: list[float] = []
    ours.wait = waits.append
    proxy.answer(429, headers={"Retry-After": "1"}, every=3)
    report = published(ours)
    assert (report.state, report.outcomes) == ("done", {"done": 6})
    assert len([wait for wait in waits if wait >= 1]) == len(proxy.requests) // 3
    assert place.edges() == EDGES


def test_a_catalog_that_stays_broken_is_given_up_and_the_rest_is_sent_later(ours: Server, place: Place, proxy: Faulty) -> None:
    added(ours, place.behind(proxy), at_once=1, tries=2)
    published(ours, plan_only=True)
    proxy.answer(500, "/entryGroups/lineagebridge")
    report = published(ours)
    assert (report.state, report.outcomes.get("done")) == ("failed", None)
    assert "answered 500" in report.error
    proxy.mend()
    assert published(ours).outcomes == {"done": 6}
    assert place.edges() == EDGES


def test_an_answer_that_breaks_off_is_asked_for_again(ours: Server, place: Place, proxy: Faulty) -> None:
    proxy.cut("/entries/", times=1)
    assert published(ours).outcomes == {"done": 6}
    assert place.edges() == EDGES


def test_credentials_that_are_refused_end_the_publication(ours: Server, proxy: Faulty) -> None:
    proxy.answer(401)
    assert [check.works for check in ours.targets.test("there")] == [True, False]
    report = published(ours)
    assert (report.state, report.outcomes.get("done")) == ("failed", None)
    assert "answered 401" in report.error


def test_rights_that_are_missing_end_the_publication(ours: Server, there: Dataplex) -> None:
    there.may_write = False
    report = published(ours)
    assert (report.state, report.outcomes.get("done"), report.code) == ("failed", None, "forbidden")
    assert "dataplex.catalogEditor" in report.hint or "dataplex.catalogEditor" in report.operations[0].detail
    there.may_write = True
    assert published(ours).outcomes == {"done": 6}


def test_one_that_is_refused_does_not_hold_up_others_and_is_sent_again_when_it_changes(ours: Server, place: Place, there: Dataplex) -> None:
    handle = there.handle

    def refusing(request: Any) -> Any:
        if request.method == "POST" and b'"custom:ns.b"' in request.body:
            return handle(request._replace(body=b'{"unknown": 1}'))
        return handle(request)

    with answering(refusing) as url:
        added(ours, Place("dataplex", {**place.settings, "url": url}, place.edges), at_once=1)
        report = published(ours)
        assert report.outcomes == {"done": 5, "refused": 1}
        assert "answered 400" in next(item.detail for item in report.operations if item.outcome == "refused")
        again = published(ours)
        assert (again.counts, again.kept) == ({}, {"refused there before, and unchanged since": 1})


# sizes and names


def test_what_is_too_large_is_shortened_and_counted(ours: Server, there: Dataplex) -> None:
    wide = schema(*(f"column_{number:04}_{'x' * 80}" for number in range(1000)))
    ours.send(
        *(job_event(f"job-{number:04}-{'j' * 900}", inputs=[dataset("hub")], outputs=[dataset("e")]) for number in range(140)),
        job_event("wide", inputs=[dataset("wide", schema=wide)], outputs=[dataset("n" * 4000)]),
        job_event("wordy", inputs=[dataset("wordy", documentation=facet(description="w" * 3000))], outputs=[dataset("e")]),
    )
    report = published(ours)
    assert report.state == "done"
    assert {*report.outcomes} == {"done"}
    lost = report.not_expressible
    assert lost["topics whose names are too long"] == 1
    assert lost["ends of descriptions that are too long"] == 1
    kept = len(_topic(there, "hub")["consumers"])
    written = len(_topic(there, "e")["producers"])
    assert lost["jobs, owners and tags of topics that are too many"] == (140 - kept) + (142 - written)
    assert 100 < kept < 140
    columns = len(_entry(there, "wide")["aspects"][SCHEMA]["data"]["fields"])
    assert lost["columns of topics that are too many"] == 1000 - columns > 0
    assert len(_entry(there, "wordy")["entrySource"]["description"]) == 2000
    assert published(ours).drift == []


def test_names_with_any_characters_are_published(ours: Server, place: Place, there: Dataplex) -> None:
    odd = ["a/b", "a?b=c#d", "%41", " ", "ü\n", "{x}", "..", "a.b"]
    ours.send(job_event("odd", inputs=[dataset(name) for name in odd], outputs=[dataset("e")]))
    assert published(ours).outcomes == {"done": 6 + len(odd)}
    assert {name for name, _, _ in there.entries()} == {*TOPICS, *odd}
    assert published(ours).counts == {}
    added(ours, place, exclude_namespaces=["*"])
    assert published(ours, prune=True).outcomes == {"done": 6 + len(odd)}


def test_the_stand_in_refuses_what_the_service_would(ours: Server, there: Dataplex, their_client: api.CatalogServiceClient) -> None:
    published(ours)
    entry, key = _entry(there, "b"), f"{PROJECT}.{LOCATION}.lineagebridge-topic"
    wrongs: list[dict[str, Any]] = [
        {"aspects": {key: {"data": {"unknown": "x"}}}},
        {"aspects": {key: {"data": {"name": 5}}}},
        {"aspects": {"lineagebridge-topic": {"data": {}}}},
        {"aspects": {key: {"data": {"name": "x" * LARGEST_ASPECT}}}},
        {"aspects": {SCHEMA: {"data": {"fields": [{"name": "x", "mode": "MAYBE"}]}}}},
        {"fullyQualifiedName": "custom:" + "x" * 4000},
        {"entrySource": {"displayName": "x" * 501}},
        {"entrySource": {"description": "x" * 2001}},
    ]
    for wrong in wrongs:
        made = ParseDict({"name": entry["name"], "entryType": entry["entryType"], **wrong}, api.Entry.pb(api.Entry()))
        with pytest.raises(BadRequest):
            their_client.update_entry({"entry": made})
    made = ParseDict({"name": entry["name"], "entryType": f"{PARENT}/entryTypes/none"}, api.Entry.pb(api.Entry()))
    with pytest.raises(NotFound):
        their_client.update_entry({"entry": made})
    with pytest.raises(Conflict):
        their_client.create_entry_group(parent=PARENT, entry_group_id="lineagebridge", entry_group=api.EntryGroup())
    with pytest.raises(BadRequest):
        their_client.create_entry_group(parent=PARENT, entry_group_id="Bad_Id", entry_group=api.EntryGroup())


@pytest.mark.parametrize(
    "wrong",
    [{"entry_group": "Bad_Id"}, {"entry_type": "x" * 64}, {"aspect_type": "-a"}, {"username": "u", "token": None}, {"form": "native"}],
)
def test_settings_that_are_wrong(ours: Server, place: Place, wrong: dict[str, Any]) -> None:
    with pytest.raises(ConfigError):
        added(ours, place, **wrong)


def test_without_the_library_it_says_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for module in ("dataplex_target", "catalog_connection"):
        monkeypatch.delitem(sys.modules, f"lineage_bridge.catalogs.kinds.google.{module}", raising=False)
    monkeypatch.setitem(sys.modules, "google.cloud.dataplex_v1.services.catalog_service", None)
    with pytest.raises(ConfigError) as caught:
        TargetKinds(tmp_path).make("there", "dataplex", {"project": "p-1", "location": "eu", "token": "${env:PATH}"})
    assert caught.value.hint == "install it with: pip install 'lineage-bridge[google]'"
