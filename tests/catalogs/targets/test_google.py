"""Google Data Lineage: what jobs and datasets become there, how much at once, logins, and what Google's own client makes of it."""

import json
import sys
from pathlib import Path
from typing import Any

import pytest
from google.api_core.exceptions import BadRequest, Conflict, NotFound
from google.cloud import datacatalog_lineage_v1 as api
from google.cloud.datacatalog_lineage_v1.services.lineage.transports.rest import LineageRestTransport
from google.oauth2.credentials import Credentials
from google.protobuf.json_format import ParseDict
from google.protobuf.struct_pb2 import Struct
from tests.api.support import Server
from tests.catalogs.conftest import EDGES, added, published
from tests.catalogs.google_login import TOKEN, service_account
from tests.catalogs.places import Place, make_place
from tests.catalogs.standins.google import LOCATION, MOST_LINKS, PROJECT, DataLineage
from tests.catalogs.standins.server import Answer, answering
from tests.catalogs.test_golden import EVENTS
from tests.events import RUNS, T0, columns, dataset, facet, job_event, run_event
from tests.servers.web.faulty import Faulty

from lineage_bridge.catalogs.kinds.google.settings import GoogleSettings
from lineage_bridge.catalogs.kinds_of_targets import TargetKinds
from lineage_bridge.config.outbound import ANYWHERE
from lineage_bridge.errors import ConfigError, UnauthenticatedError, UnreachableError
from lineage_bridge.sources.common.google.credentials import Authorization
from lineage_bridge.sources.common.google.entity_names import displayed, entity_name, field_path
from lineage_bridge.sources.common.settings import NO_SECRETS, SourceContext

PARENT = f"projects/{PROJECT}/locations/{LOCATION}"


@pytest.fixture
def place(request: pytest.FixtureRequest, ours: Server) -> Place:
    made = make_place("google", request, ours)
    added(ours, made)
    return made


@pytest.fixture
def there(place: Place) -> DataLineage:
    found: DataLineage = place.more["there"]
    return found


@pytest.fixture
def their_client(place: Place) -> api.LineageClient:
    host = place.settings["url"].removeprefix("http://")
    credentials = Credentials(TOKEN)
    return api.LineageClient(transport=LineageRestTransport(host=host, credentials=credentials, url_scheme="http"))


def _kind(there: DataLineage, kind: type) -> list[Any]:
    return [made for made in there.objects.values() if made.DESCRIPTOR.name == kind.__name__]


def _process(there: DataLineage, job: str) -> Any:
    (found,) = (made for made in _kind(there, api.Process) if made.attributes["name"].string_value == job)
    return found


# what is there


def test_their_own_client_finds_the_published_graph_as_sets(ours: Server, place: Place, their_client: api.LineageClient) -> None:
    published(ours)
    found = set()
    for source in "abcdez":
        asked = api.SearchLinksRequest(parent=PARENT, source={"fully_qualified_name": f"custom:ns.{source}"})
        found |= {(link.source.fully_qualified_name, link.target.fully_qualified_name) for link in their_client.search_links(asked)}
    assert found == {(f"custom:ns.{source}", f"custom:ns.{target}") for _, source, target in EDGES}
    column = api.EntityReference(fully_qualified_name="custom:ns.b", field=["x"])
    (link,) = their_client.search_links(api.SearchLinksRequest(parent=PARENT, target=column))
    assert (link.source.fully_qualified_name, list(link.source.field)) == ("custom:ns.a", ["y"])
    (process,) = (made for made in their_client.list_processes(parent=PARENT) if made.display_name == "jobs:clean")
    (run,) = their_client.list_runs(parent=process.name)
    links = [link for event in their_client.list_lineage_events(parent=run.name) for link in event.links if link.target.field]
    assert [link.dependency_info.dependency_type for link in links] == [api.DependencyType.EXACT_COPY]
    assert place.edges() == EDGES


def test_a_stream_goes_on_and_a_batch_has_ended(ours: Server, there: DataLineage) -> None:
    ours.send(*EVENTS)
    published(ours)
    for job, state, has_end in (("stream", api.Run.State.STARTED, False), ("clean", api.Run.State.COMPLETED, True)):
        process = _process(there, job).name
        below = [made for name, made in there.objects.items() if name.startswith(f"{process}/runs/")]
        (run,) = (made for made in below if made.DESCRIPTOR.name == "Run")
        assert run.state == state
        assert {made.HasField("end_time") for made in below} == {has_end}
    assert _process(there, "stream").attributes["sql"].string_value == "INSERT INTO t SELECT 1"


@pytest.mark.parametrize(
    ("namespace", "name", "expected"),
    [
        ("bigquery", "p-1.sales.orders", "bigquery:p-1.sales.orders"),
        ("bigquery", "example.com:p.sales.orders", "custom:bigquery.`example.com:p.sales.orders`"),
        ("pubsub", "topic:p:orders", "pubsub:topic:p.orders"),
        ("pubsub", "subscription:p:orders", "pubsub:subscription:p.orders"),
        ("gs://bucket", "/path/to", "gcs:bucket.path/to"),
        ("gs://bucket", "a.csv", "gcs:bucket.`a.csv`"),
        ("gs://my.bucket", "/", "gcs:`my.bucket`"),
        ("kafka://broker:9092", "orders.v1", "custom:`kafka://broker:9092`.`orders.v1`"),
        ("", "a`b", "custom:`a``b`"),
    ],
)
def test_names_are_such_as_google_has(namespace: str, name: str, expected: str) -> None:
    assert entity_name(namespace, name) == expected


def test_names_of_different_datasets_differ() -> None:
    pairs = [("a", "b.c"), ("a.b", "c"), ("a", "`b`.c"), ("a`.`b", "c"), ("", "a"), ("custom", "a"), ("bigquery", "a.b"), ("pubsub", "a")]
    assert len({entity_name(*pair) for pair in pairs}) == len(pairs)
    assert field_path("item.price") == ("item", "price")
    assert field_path("a..b") == ("a..b",)
    assert (field_path("x" * 501), field_path(".".join("x" * 21))) == (None, None)
    assert displayed("kafka://b, {ü}" + "x" * 300) == "kafka:_b_ _ü_" + "x" * 187


# what changes and what is deleted


def test_many_links_are_in_hundreds_and_only_what_differs_is_written(ours: Server, there: DataLineage) -> None:
    there.page = 100
    inputs = [dataset(f"i{number:03}") for number in range(250)]
    ours.send(job_event("wide", inputs=inputs, outputs=[dataset("o")]))
    published(ours)
    process = _process(there, "wide").name
    sizes = sorted(len(made.links) for name, made in there.objects.items() if name.startswith(f"{process}/") and "lineageEvents" in name)
    assert sizes == [50, 100, 100]
    ours.send(job_event("wide", time_us=T0 + 9, inputs=[*inputs, dataset("i999")], outputs=[dataset("o")]))
    there.requests.clear()
    assert published(ours).outcomes == {"done": 1}
    events = [request.partition(" ")[0] for request in there.requests if "lineageEvents" in request and not request.startswith("GET")]
    assert events == ["POST", "DELETE"]
    assert len([edge for edge in there.edges() if edge[0] == "wide"]) == 251


def test_an_unchanged_graph_costs_three_reads_a_job_and_no_write(ours: Server, there: DataLineage) -> None:
    there.page = 100
    published(ours)
    there.requests.clear()
    assert published(ours).counts == {}
    assert [request.partition(" ")[0] for request in there.requests] == ["GET"] * 9


def test_a_link_that_somebody_removed_is_drift(ours: Server, there: DataLineage) -> None:
    published(ours)
    name = next(made.name for made in _kind(there, api.LineageEvent) if len(made.links) == 2)
    del there.objects[name].links[0]
    report = published(ours)
    assert [(found.name, found.finding) for found in report.drift] == [("load", "was changed there")]
    assert published(ours, overwrite=True).counts == {"update": 1}
    assert there.edges() == EDGES


def test_a_run_of_others_is_drift_also_without_links(ours: Server, there: DataLineage) -> None:
    published(ours)
    name = f"{_process(there, 'load').name}/runs/theirs"
    there.objects[name] = ParseDict({"name": name, "displayName": "theirs", "state": 2}, api.Run.pb(api.Run()))
    ours.send(job_event("load", time_us=T0 + 9, inputs=[dataset("b")], outputs=[dataset("f")]))
    report = published(ours)
    assert [(found.name, found.finding) for found in report.drift] == [("load", "was changed there")]
    assert name in there.objects
    assert published(ours, overwrite=True).outcomes == {"done": 1}
    assert name not in there.objects


def test_a_deletion_that_takes_long_is_asked_for_again(ours: Server, place: Place, there: DataLineage) -> None:
    published(ours)
    there.polls = 3
    added(ours, place, exclude_namespaces=["*"], settle_s=0)
    report = published(ours, prune=True)
    assert (report.state, report.outcomes) == ("failed", {"failed": 3})
    assert "has not ended yet" in report.error
    added(ours, place, exclude_namespaces=["*"])
    assert published(ours, prune=True).outcomes == {"done": 3}
    assert there.objects == {}


def test_a_job_that_returns_waits_until_its_deletion_has_ended(ours: Server, place: Place, there: DataLineage) -> None:
    published(ours)
    there.polls = 3
    added(ours, place, exclude_namespaces=["*"], settle_s=0)
    assert published(ours, prune=True).outcomes == {"failed": 3}
    added(ours, place, at_once=1)
    there.requests.clear()
    assert published(ours).outcomes == {"done": 3}
    changes = [request.partition(" ")[0] for request in there.requests if not request.startswith("GET")]
    assert changes[:2] == ["DELETE", "PATCH"]
    assert there.edges() == EDGES


def test_a_process_that_is_deleted_while_it_is_written_is_written_again(ours: Server, place: Place, faulty: Any) -> None:
    proxy: Faulty = faulty(place.settings["url"])
    added(ours, place.behind(proxy), at_once=1)
    proxy.answer(404, "/runs/lineage", times=1, body=b'{"error": {"status": "NOT_FOUND", "message": "no process"}}')
    assert published(ours).outcomes == {"failed": 1, "done": 2}
    assert published(ours).outcomes == {"done": 1}
    assert place.edges() == EDGES


@pytest.mark.parametrize(("code", "outcome"), [(14, "failed"), (9, "refused")])
def test_a_deletion_that_fails_says_why(ours: Server, place: Place, there: DataLineage, code: int, outcome: str) -> None:
    published(ours)
    there.failure = {"code": code, "message": "it is in use"}
    added(ours, place, exclude_namespaces=["*"], tries=1)
    report = published(ours, prune=True)
    assert report.outcomes == {outcome: 3}
    assert all("it is in use" in operation.detail for operation in report.operations)


def test_what_google_cannot_hold_is_left_out_and_counted(ours: Server, there: DataLineage) -> None:
    long = columns(**{"x" * 501: [("ns", "a", "y")]})
    ours.send(
        job_event("long", inputs=[dataset("n" * 4000), dataset("a")], outputs=[dataset("b", columnLineage=long)]),
        job_event("wordy", inputs=[dataset("a")], outputs=[dataset("b")], job_facets={"sql": facet(query="q" * 5000)}),
        job_event("vast", inputs=[dataset(f"i{n}") for n in range(101)], outputs=[dataset(f"o{n}") for n in range(100)]),
    )
    report = published(ours)
    assert (report.outcomes, report.state) == ({"done": 5}, "done")
    lost = report.not_expressible
    assert lost["datasets whose names are too long"] == 1
    assert lost["columns whose names are too long"] == 1
    assert lost["ends of descriptions and statements that are too long"] == 1
    assert lost["jobs with more than 10,000 links"] == 1
    assert len(_process(there, "wordy").attributes["sql"].string_value) == 4000


# OpenLineage events


def test_each_job_is_one_event_and_what_is_too_much_is_left_out(ours: Server, place: Place, there: DataLineage) -> None:
    added(ours, place, form="events")
    inputs = [dataset(f"i{n}") for n in range(MOST_LINKS)]
    ours.send(
        job_event("most", inputs=inputs, outputs=[dataset("o")]),
        job_event("over", inputs=[*inputs, dataset("one")], outputs=[dataset("o")]),
        run_event(run=RUNS[4], job="loads", inputs=[dataset("t", "kafka://b:1")], outputs=[dataset("p.d.t", "bigquery")]),
    )
    report = published(ours)
    assert report.outcomes == {"done": 5}
    assert report.not_expressible["jobs with more than 1,000 links"] == 1
    assert len(there.requests) == 5
    assert {len(made.links) for made in _kind(there, api.LineageEvent)} == {1, 2, 100}
    assert (("custom:`kafka://b:1`.t", ()), ("bigquery:p.d.t", ())) in there.links()
    assert {len(request_id) for request_id in there.replays} == {36}


def test_what_is_no_run_event_is_refused(there: DataLineage, their_client: api.LineageClient, place: Place) -> None:
    message = json.loads(run_event(inputs=[dataset("a", "custom")], outputs=[dataset("b", "custom")]))
    view = {"nodes": [], "edges": [], "events": [message]}
    job = {name: value for name, value in message.items() if name not in ("run", "eventType")}
    far = {**message, "inputs": [dataset("n" * 4000, "custom")]}
    odd = {**message, "inputs": [dataset("a", "kafka://b:1")]}
    for wrong in (view, job, far, odd, {**message, "eventType": "NONE"}):
        with pytest.raises(BadRequest):
            their_client.process_open_lineage_run_event({"parent": PARENT, "open_lineage": ParseDict(wrong, Struct())})
    assert there.objects == {}
    asked = {"parent": PARENT, "open_lineage": ParseDict(message, Struct()), "request_id": "once"}
    assert their_client.process_open_lineage_run_event(asked) == their_client.process_open_lineage_run_event(asked)
    with pytest.raises(BadRequest):
        their_client.process_open_lineage_run_event({**asked, "request_id": "x" * 37})
    assert len(_kind(there, api.LineageEvent)) == 1
    assert place.kind == "google"


def test_the_stand_in_refuses_what_the_service_would(their_client: api.LineageClient) -> None:
    origin = {"source_type": api.Origin.SourceType.CUSTOM, "name": "test"}
    good: dict[str, Any] = {"name": f"{PARENT}/processes/p", "display_name": "p", "origin": origin}
    wrongs: list[dict[str, Any]] = [
        {"display_name": "a/b"},
        {"display_name": "x" * 201},
        {"name": f"{PARENT}/processes/{'p' * 201}"},
        {"origin": {"source_type": api.Origin.SourceType.BIGQUERY}},
        {"attributes": {str(number): "x" for number in range(101)}},
    ]
    for wrong in wrongs:
        with pytest.raises(BadRequest):
            their_client.create_process({"parent": PARENT, "process": {**good, **wrong}})
    their_client.create_process({"parent": PARENT, "process": good})
    with pytest.raises(Conflict):
        their_client.create_process({"parent": PARENT, "process": good})
    with pytest.raises(NotFound):
        their_client.create_run(parent=f"{PARENT}/processes/q", run=api.Run(state=2))


# logins and settings


def test_a_service_account_signs_its_tokens(ours: Server, place: Place, there: DataLineage, tmp_path: Path) -> None:
    text, there.key = service_account(PROJECT)
    (tmp_path / "key.json").write_text(text)
    added(ours, place, token=None, credentials=f"${{file:{tmp_path / 'key.json'}}}")
    assert [check.works for check in ours.targets.test("there")] == [True, True]
    assert published(ours).outcomes == {"done": 3}
    there.key = b""
    report = published(ours)
    assert (report.state, report.code) == ("failed", "unauthenticated")
    (tmp_path / "key.json").write_text('{"private_key": "nothing to be seen"}')
    report = published(ours)
    assert (report.state, report.code) == ("failed", "bad_setting")
    assert "nothing" not in report.error + report.hint


def test_default_credentials_are_used_only_if_they_are_allowed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    about = json.loads(service_account(PROJECT)[0])
    settings = {"project": PROJECT, "location": LOCATION}

    def authorized(withheld: frozenset[str], **more: str) -> dict[str, str]:
        context = SourceContext(NO_SECRETS, ANYWHERE, None, withheld)
        return Authorization(GoogleSettings.model_validate({**settings, **more}, context=context)).headers()

    monkeypatch.setenv("GOOGLE_APPLICATION_CREDENTIALS", str(tmp_path / "default.json"))
    with pytest.raises(ConfigError, match="credentials of this machine"):
        authorized(frozenset({"google"}))
    with pytest.raises(UnauthenticatedError, match="no credentials"):
        authorized(frozenset())
    with answering(lambda _: Answer(200, {"access_token": TOKEN, "expires_in": 3600, "token_type": "Bearer"})) as url:
        (tmp_path / "default.json").write_text(json.dumps({**about, "token_uri": url}))
        assert authorized(frozenset())["authorization"] == f"Bearer {TOKEN}"
        for url_of_others in ("https://googleapis.com.example", "http://datalineage.googleapis.com"):
            with pytest.raises(ConfigError, match="only sent to hosts of Google"):
                authorized(frozenset(), url=url_of_others)
    (tmp_path / "default.json").write_text(json.dumps({**about, "token_uri": url}))
    with pytest.raises(UnreachableError, match="no token"):
        authorized(frozenset())


def test_rights_that_are_missing_end_the_publication(ours: Server, there: DataLineage) -> None:
    there.may_write = False
    report = published(ours)
    assert (report.state, report.outcomes.get("done"), report.code) == ("failed", None, "forbidden")
    assert "datalineage.editor" in report.hint or "datalineage.editor" in report.operations[0].detail
    there.may_write = True
    assert published(ours).outcomes == {"done": 3}


@pytest.mark.parametrize(
    "wrong",
    [
        {"credentials": "${env:PATH}"},
        {"username": "u", "token": None},
        {"project": "a/b"},
        {"location": ""},
        {"prefix": "A b"},
        {"form": "runs"},
        {"max_bytes": 5_000_001},
        {"token": "plain"},
    ],
)
def test_settings_that_are_wrong(ours: Server, place: Place, wrong: dict[str, Any]) -> None:
    with pytest.raises(ConfigError):
        added(ours, place, **wrong)


@pytest.mark.parametrize("body", [b"[]", b"\xff", b'{"nextPageToken": "again"}', b'{"runs": 5}'])
def test_answers_that_make_no_sense_end_the_publication(ours: Server, place: Place, faulty: Any, body: bytes) -> None:
    published(ours)
    proxy: Faulty = faulty(place.settings["url"])
    added(ours, place.behind(proxy), at_once=1, tries=1)
    proxy.answer(200, "/runs", body=body)
    report = published(ours)
    assert (report.state, report.code) == ("failed", "wrong_answer")


def test_without_the_library_it_says_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for module in ("google_target", "connection"):
        monkeypatch.delitem(sys.modules, f"lineage_bridge.catalogs.kinds.google.{module}", raising=False)
    monkeypatch.setitem(sys.modules, "google.cloud.datacatalog_lineage_v1", None)
    with pytest.raises(ConfigError) as caught:
        TargetKinds(tmp_path).make("there", "google", {"project": "p-1", "location": "eu", "token": "${env:PATH}"})
    assert caught.value.hint == "install it with: pip install 'lineage-bridge[google]'"


def test_a_variable_of_google_that_is_wrong_is_said_and_hides_no_target(
    ours: Server, place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GOOGLE_API_USE_MTLS_ENDPOINT", "bogus")
    assert [(record.name, record.kind) for record in ours.targets.records()] == [("there", place.kind)]
    (check,) = ours.targets.test("there")
    assert (check.step, check.works) == ("settings", False)
    assert "GOOGLE_API_USE_MTLS_ENDPOINT" in check.message
