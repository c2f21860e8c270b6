"""A registry observed over HTTP: which requests, what is told, and what is not told when something fails."""

import json
from collections.abc import Iterator
from typing import Any

import pytest
from tests.events import T0
from tests.sources.http import Reply, Standin, standing
from tests.sources.registry.confluent import Confluent

from lineage_bridge.errors import ForbiddenError, SourceError
from lineage_bridge.sources.common.observer import Observation
from lineage_bridge.sources.common.registry.settings import RegistrySettings
from lineage_bridge.sources.common.shared_metadata import ClusterMetadata, SharedMetadata
from lineage_bridge.sources.registry.observer import RegistryObserver
from lineage_bridge.sources.runtime.kinds import KINDS

MINUTE = 60_000_000
AROUND = SharedMetadata((ClusterMetadata("c1", "kafka://b1:9092", topics=frozenset(f"t{n}" for n in range(30)) | {"orders"}),))


def record(*names: str) -> str:
    return json.dumps({"type": "record", "name": "R", "fields": [{"name": name, "type": "string"} for name in names]})


@pytest.fixture
def registry() -> Confluent:
    return Confluent()


@pytest.fixture
def server(registry: Confluent) -> Iterator[Standin]:
    with standing(Standin(registry)) as running:
        yield running


class Polling:
    """An observer that is polled again and again."""

    def __init__(self, server: Standin, **settings: Any) -> None:
        self.observer = RegistryObserver("r", RegistrySettings(url=server.url, timeout_s=5, **settings))
        self.last: Observation | None = None
        self.now_us = T0

    def poll(self) -> Observation:
        before = json.loads(json.dumps(self.last.snapshot)) if self.last else None
        seen = self.observer.observe(before, AROUND, self.now_us)
        assert self.observer.observe(before, AROUND, self.now_us) == seen
        self.last, self.now_us = seen, self.now_us + MINUTE
        return seen


@pytest.fixture
def polling(server: Standin) -> Iterator[Polling]:
    made = Polling(server)
    yield made
    made.observer.close()


def versions_of(seen: Observation) -> list[tuple[str, str]]:
    return [(event["dataset"]["name"], event["dataset"]["facets"]["version"].get("datasetVersion", "gone")) for event in seen.events]


def test_all_pages_of_all_contexts_are_read_and_nothing_twice(registry: Confluent, server: Standin, polling: Polling) -> None:
    registry.most = 7
    for number in range(20):
        registry.register(f"t{number}-value", record("a"))
    registry.register(":.lab:orders-value", record("a"))
    assert len(versions_of(polling.poll())) == 21
    server.asked.clear()
    polling.observer.observe(polling.last.snapshot if polling.last else None, AROUND, T0)
    assert not [asked for asked in server.asked if "/versions" in asked]
    assert sum(asked.startswith("GET /schemas") for asked in server.asked) == 4


def test_only_new_versions_are_fetched(registry: Confluent, server: Standin, polling: Polling) -> None:
    registry.register("orders-value", record("a"))
    assert versions_of(polling.poll()) == [("orders", "orders-value version 1, id 1")]
    assert versions_of(polling.poll()) == []
    for names in (("a", "b"), ("a", "b", "c")):
        registry.register("orders-value", record(*names))
    server.asked.clear()
    seen = polling.poll()
    assert versions_of(seen) == [("orders", "orders-value version 2, id 2"), ("orders", "orders-value version 3, id 3")]
    asked = [request for request in server.asked if request.startswith("GET /subjects")]
    assert asked[: len(asked) // 2] == ["GET /subjects/orders-value/versions", "GET /subjects/orders-value/versions/2"]


@pytest.mark.parametrize("broken", ["/subjects/orders-value/versions", "/subjects/orders-value/versions/2"])
def test_no_version_is_passed_over_because_a_call_failed(registry: Confluent, server: Standin, polling: Polling, broken: str) -> None:
    registry.register("orders-value", record("a"))
    polling.poll()
    for names in (("a", "b"), ("a", "b", "c")):
        registry.register("orders-value", record(*names))
    server.failing[broken] = Reply(422, {"error_code": 42200, "message": "not now"})
    seen = polling.poll()
    assert versions_of(seen) == []
    assert "subject orders-value: versions" in {unseen.what for unseen in seen.unseen}
    server.failing.clear()
    assert versions_of(polling.poll()) == [("orders", "orders-value version 2, id 2"), ("orders", "orders-value version 3, id 3")]


def test_the_first_look_reports_all_versions_with_the_registrys_times(registry: Confluent, polling: Polling) -> None:
    registry.register("orders-value", record("a"), ts=T0 // 1000 - 7_200_000)
    registry.register("orders-value", record("a", "b"), ts=T0 // 1000 - 3_600_000)
    seen = polling.poll()
    first, second, now = seen.events
    assert [event["eventTime"] for event in (first, second, now)] == [
        "2026-11-18T09:06:40.000000Z",
        "2026-11-18T10:06:40.000000Z",
        "2026-11-18T11:06:40.000000Z",
    ]
    assert now["dataset"] == second["dataset"] != first["dataset"]


def test_references_are_followed_within_their_context(registry: Confluent, polling: Polling) -> None:
    registry.register(":.lab:city", '{"type": "record", "name": "City", "fields": [{"name": "zip", "type": "int"}]}')
    address = '{"type": "record", "name": "Address", "fields": [{"name": "city", "type": "City"}]}'
    registry.register(":.lab:address", address, references=[{"name": "City", "subject": "city", "version": 1}])
    order = '{"type": "record", "name": "Order", "fields": [{"name": "to", "type": "Address"}]}'
    registry.register(":.lab:orders-value", order, references=[{"name": "Address", "subject": "address", "version": 1}])
    seen = polling.poll()
    (event,) = seen.events
    facets: Any = event["dataset"]["facets"]
    assert facets["schema"]["fields"][0]["fields"][0]["fields"][0]["name"] == "zip"
    assert seen.snapshot["drift"]["subjects"] == []


def test_softly_deleted_subjects(registry: Confluent, server: Standin, polling: Polling) -> None:
    registry.register("orders-value", record("a"))
    polling.poll()
    registry.delete("orders-value")
    assert versions_of(polling.poll()) == [("orders", "gone")]
    also = Polling(server, deleted=True)
    (event,) = also.poll().events
    facets: Any = event["dataset"]["facets"]
    assert facets["schema_registry"]["subjects"][0]["deleted"] is True
    also.observer.close()


def test_compatibility_and_mode_of_a_subject(registry: Confluent, polling: Polling) -> None:
    registry.register("orders-value", record("a"))
    polling.poll()
    registry.levels["orders-value"], registry.modes[""] = "FULL_TRANSITIVE", "READONLY"
    (event,) = polling.poll().events
    facets: Any = event["dataset"]["facets"]
    subject = facets["schema_registry"]["subjects"][0]
    assert (subject["compatibility"], subject["mode"]) == ("FULL_TRANSITIVE", "READONLY")


def test_subjects_may_be_chosen(registry: Confluent, server: Standin) -> None:
    registry.register("orders-value", record("a"))
    registry.register("t1-value", record("a"))
    chosen = Polling(server, subjects=("ord*",))
    assert [topic for topic, _ in versions_of(chosen.poll())] == ["orders"]
    chosen.observer.close()


def test_half_an_answer_reports_nothing_as_gone(registry: Confluent, server: Standin, polling: Polling) -> None:
    registry.register("orders-value", record("a"))
    before = polling.poll()
    registry.most = 1
    registry.register("t1-value", record("a"))
    server.failing["/schemas?subjectPrefix=%3A%2A%3A&latestOnly=true&offset=1"] = Reply(400, {"error_code": 42208, "message": "no"})
    with pytest.raises(SourceError, match="400"):
        polling.poll()
    server.failing.clear()
    assert polling.last is before
    assert versions_of(polling.poll()) == [("t1", "t1-value version 1, id 2")]


def test_a_version_that_cannot_be_had_is_unseen_and_comes_later(registry: Confluent, server: Standin, polling: Polling) -> None:
    polling.observer._client._lists_schemas = False
    registry.register("orders-value", record("a"))
    registry.register("t1-value", record("a"))
    polling.poll()
    registry.register("t1-value", record("a", "b"))
    server.failing["/subjects/t1-value/versions/latest"] = Reply(404, b"<html>", "text/html")
    server.failing["/subjects/orders-value/versions/latest"] = Reply(422, {"error_code": 42202, "message": "no"})
    seen = polling.poll()
    assert (versions_of(seen), [unseen.what for unseen in seen.unseen if unseen.what.startswith("subject ")]) == (
        [],
        ["subject orders-value"],
    )
    server.failing.clear()
    assert versions_of(polling.poll()) == [("t1", "t1-value version 2, id 3")]


def test_who_asks_may_be_refused(registry: Confluent, server: Standin, monkeypatch: pytest.MonkeyPatch) -> None:
    registry.register("orders-value", record("a"))
    server.credentials = "me:right"
    monkeypatch.setenv("REGISTRY_PASSWORD", "wrong-secret")
    refused = Polling(server, username="me", password="${env:REGISTRY_PASSWORD}")
    with pytest.raises(ForbiddenError) as error:
        refused.poll()
    assert "wrong-secret" not in str(error.value)
    (check,) = refused.observer.test()
    assert (check.step, check.works, check.hint) == ("subjects", False, "check `username` and `password`, or `token`")
    refused.observer.close()
    monkeypatch.setenv("REGISTRY_PASSWORD", "right")
    allowed = Polling(server, username="me", password="${env:REGISTRY_PASSWORD}")
    assert len(allowed.poll().events) == 1
    allowed.observer.close()


def test_what_a_test_of_the_source_reports(registry: Confluent, server: Standin, polling: Polling) -> None:
    registry.register(":.lab:orders-value", record("a"))
    checks = list(polling.observer.test())
    assert [(check.step, check.works) for check in checks] == [
        (step, True) for step in ("subjects", "schemas", "compatibility", "all schemas at once", "mode", "contexts")
    ]
    assert checks[-1].message == ":.:, :.lab:"
    server.failing["/config"] = Reply(403, {"error_code": 40301, "message": "User is denied operation Read"})
    server.failing["/mode"] = Reply(404, b"", "text/plain")
    by_step = {check.step: check for check in polling.observer.test()}
    assert not by_step["compatibility"].works
    assert by_step["mode"].message.startswith("the registry does not support this")


def test_settings_that_cannot_be_had_stay_as_they_were(registry: Confluent, server: Standin, polling: Polling) -> None:
    registry.register("orders-value", record("a"))
    registry.levels[""] = "FULL"
    first = polling.poll()
    for path in ("/config", "/mode"):
        server.failing[path] = Reply(403, {"error_code": 40301, "message": "User is denied operation Read"})
    seen = polling.poll()
    assert (seen.events, {unseen.what for unseen in seen.unseen} >= {"config of the registry", "mode of the registry"}) == ((), True)
    server.failing.clear()
    assert polling.poll().events == ()
    (event,) = first.events
    facets: Any = event["dataset"]["facets"]
    assert facets["schema_registry"]["subjects"][0]["compatibility"] == "FULL"


def test_an_address_that_is_none_of_a_registry(server: Standin, polling: Polling) -> None:
    server.failing["/"] = Reply(200, {"version": "4.3.1"})
    with pytest.raises(SourceError, match="not return a list"):
        polling.poll()
    assert KINDS.load("registry").observer is RegistryObserver


def test_a_version_waits_for_what_it_refers_to(registry: Confluent, server: Standin, polling: Polling) -> None:
    registry.register("city", '{"type": "record", "name": "City", "fields": [{"name": "zip", "type": "int"}]}')
    polling.poll()
    order = '{"type": "record", "name": "Order", "fields": [{"name": "to", "type": "City"}]}'
    registry.register("orders-value", order, references=[{"name": "City", "subject": "city", "version": 1}])
    server.failing["/subjects/city/versions/1"] = Reply(422, {"error_code": 42200, "message": "not now"})
    seen = polling.poll()
    assert (versions_of(seen), [unseen.what for unseen in seen.unseen if "city" in unseen.what]) == ([], ["subject city version 1"])
    server.failing.clear()
    assert versions_of(polling.poll()) == [("orders", "orders-value version 1, id 2")]


def test_the_stream_catalog(registry: Confluent, server: Standin) -> None:
    registry.register("orders-value", record("a", "b"))
    for kind_, name in (("sr_field", "lsrc-1:.:1:R.b"), ("sr_schema", "lsrc-1:.:1"), ("kafka_topic", "lsrc-1:lkc-1:orders")):
        entity = {"typeName": kind_, "attributes": {"name": "x", "qualifiedName": name}, "classificationNames": [f"of_{kind_}"]}
        registry.catalog.append({**entity, "guid": name, "status": "ACTIVE", "displayText": "x"})
    asking = Polling(server, catalog=True)
    registry.most = 1
    (event,) = asking.poll().events
    facets: Any = event["dataset"]["facets"]
    assert [(tag.get("field"), tag["key"]) for tag in facets["tags"]["tags"]] == [
        (None, "of_kafka_topic"),
        (None, "of_sr_schema"),
        ("b", "of_sr_field"),
    ]
    server.failing["/catalog"] = Reply(403, {"error_code": 403, "message": "Forbidden"})
    seen = asking.poll()
    assert (seen.events, [unseen.what for unseen in seen.unseen if "catalog" in unseen.what]) == ((), ["stream catalog"])
    asking.observer.close()
