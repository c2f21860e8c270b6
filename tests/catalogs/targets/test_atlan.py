"""Atlan: the runs that jobs become, connections, logins, what is dropped without a word, windows of streams, archiving."""

from datetime import datetime
from itertools import count, groupby
from pathlib import Path
from typing import Any
from uuid import RFC_4122, UUID

import pytest
from tests.api.support import Server
from tests.catalogs.conftest import EDGES, added, published
from tests.catalogs.places import Place, make_place
from tests.catalogs.standins.atlan import CLIENT, CONNECTION, CONNECTOR, QUALIFIED, SECRET, TOKEN, Atlan
from tests.catalogs.standins.server import Answer, Request, answering
from tests.catalogs.test_golden import EVENTS
from tests.events import RUNS, T0, columns, dataset, facet, job_event, run_event, schema
from tests.servers.web.faulty import Faulty

from lineage_bridge.catalogs.kinds.atlan.api import MOST, AtlanApi
from lineage_bridge.catalogs.kinds.atlan.atlan_target import AtlanTarget
from lineage_bridge.catalogs.kinds.atlan.runs import LONGEST_NAME, content_of, content_of_run, named, run_of
from lineage_bridge.catalogs.kinds.atlan.settings import AtlanSettings
from lineage_bridge.catalogs.target import ObjectKey
from lineage_bridge.errors import ConfigError, SourceError

PARENT = {"_producer": "p", "_schemaURL": "s", "processingType": "BATCH", "integration": "AIRFLOW"}


@pytest.fixture
def place(request: pytest.FixtureRequest, ours: Server) -> Place:
    made = make_place("atlan", request, ours)
    added(ours, made)
    return made


@pytest.fixture
def there(place: Place) -> Atlan:
    found: Atlan = place.more["there"]
    return found


def _sent(there: Atlan, job: str) -> list[dict[str, Any]]:
    return [event for event in there.events if event["job"]["name"].rpartition("#")[2] == job]


def _job(there: Atlan, name: str) -> dict[str, Any]:
    (found,) = (asset for asset in there.active("FlowControlOperation") if asset["attributes"]["name"] == name)
    attributes: dict[str, Any] = found["attributes"]
    return attributes


# runs


def test_each_state_of_a_job_is_a_run_with_a_beginning_and_an_end(ours: Server, there: Atlan) -> None:
    published(ours)
    start, end = _sent(there, "clean")
    assert (start["eventType"], end["eventType"]) == ("START", "COMPLETE")
    assert (start["run"], start["job"]) == (end["run"], end["job"])
    assert start["job"]["namespace"] == CONNECTION
    assert ([found["name"] for found in start["inputs"]], [found["name"] for found in start["outputs"]]) == (["a"], ["b"])
    assert start["outputs"][0]["facets"].keys() == {"columnLineage"}
    assert not {"inputs", "outputs"} & end.keys()
    assert there.dropped == []
    assert _job(there, "jobs#clean") == {
        "qualifiedName": f"{QUALIFIED}/jobs#clean",
        "name": "jobs#clean",
        "connectionQualifiedName": QUALIFIED,
        "flowRunId": start["run"]["runId"],
        "flowDataResults": _job(there, "jobs#clean")["flowDataResults"],
        "assetUserDefinedType": "APPLICATION",
    }


def test_the_run_of_a_stream_is_a_window_that_ends_with_its_publication(ours: Server, place: Place, there: Atlan) -> None:
    added(ours, place, window_s=90, connections={"kafka://broker:9092": "streams"})
    there.connect("streams", f"{QUALIFIED}1")
    ours.send(EVENTS[0])
    published(ours)
    times = {
        job: [datetime.fromisoformat(event["eventTime"].replace("Z", "+00:00")) for event in _sent(there, job)]
        for job in ("stream", "clean")
    }
    assert (times["stream"][1] - times["stream"][0]).total_seconds() == 90
    assert 0 < (times["clean"][1] - times["clean"][0]).total_seconds() < 1
    assert _job(there, "stream")["qualifiedName"] == f"{QUALIFIED}1/stream"
    assert _sent(there, "stream")[0]["job"]["facets"]["jobType"]["processingType"] == "STREAMING"


def test_columns_between_relational_datasets_are_there_and_others_are_counted(ours: Server, there: Atlan) -> None:
    link = facet(identifiers=[{"namespace": "hive://metastore:9083", "name": "default.t", "type": "TABLE"}])
    made = columns(
        v=[("postgres://db:5432", "shop.public.orders", "id"), ("kafka://broker:9092", "orders", "id")], w=[("s3://lake", "t", "w")]
    )
    inputs = [
        dataset("shop.public.orders", "postgres://db:5432"),
        dataset("orders", "kafka://broker:9092"),
        dataset("t", "s3://lake", symlinks=link),
    ]
    ours.send(
        run_event(
            run=RUNS[3], job="joins", inputs=inputs, outputs=[dataset("DWH.RAW.ORDERS", "snowflake://org-account", columnLineage=made)]
        )
    )
    report = published(ours)
    assert report.not_expressible["columns from or to datasets that Atlan shows without columns"] == 1 + 1  # one of the other job
    target = ("snowflake://org-account", "DWH.RAW.ORDERS")
    sources = [("postgres://db:5432", "shop.public.orders", "id", *target, "v"), ("hive://metastore:9083", "default.t", "w", *target, "w")]
    assert {asset["attributes"]["name"] for asset in there.active("ColumnProcess")} == set(map(str, sources))


@pytest.mark.parametrize(("stated", "there_is"), [("DAG", "DAG"), ("application", "APPLICATION"), ("TASK", "APPLICATION")])
def test_jobs_are_of_types_that_need_no_parent(ours: Server, there: Atlan, stated: str, there_is: str) -> None:
    ours.send(job_event("typed", inputs=[dataset("a")], outputs=[dataset("b")], job_facets={"jobType": {**PARENT, "jobType": stated}}))
    report = published(ours)
    assert _sent(there, "typed")[0]["job"]["facets"]["jobType"] == {**PARENT, "jobType": there_is}
    assert report.not_expressible.get("types of jobs", 0) == (stated == "TASK")
    assert there.dropped == []


def test_jobs_that_only_read_or_write_and_names_that_are_too_long_are_left_out(ours: Server, there: Atlan) -> None:
    ours.send(
        job_event("reads", inputs=[dataset("a")]),
        job_event("x" * LONGEST_NAME, inputs=[dataset("a")], outputs=[dataset("b")]),
    )
    report = published(ours)
    assert report.outcomes == {"done": 3}
    assert report.not_expressible["jobs without inputs or without outputs"] == 1
    assert report.not_expressible["jobs whose names are too long"] == 1
    assert there.edges() == EDGES


def test_datasets_without_a_namespace_do_not_spoil_the_others(ours: Server, there: Atlan) -> None:
    ours.send(job_event("partly", inputs=[dataset("a"), dataset("b", "")], outputs=[dataset("c")]))
    report = published(ours)
    assert report.outcomes == {"done": 4}
    assert report.not_expressible["datasets without a namespace or name"] == 1
    assert ("partly", "a", "c") in there.edges()


def test_a_run_id_says_what_was_sent_and_is_new_for_each_publication() -> None:
    event = {"job": {"name": "j"}, "run": {"facets": {}}, "inputs": [], "eventTime": "t"}
    first, second = ({**event, "eventTime": text, "run": {"facets": {}, "runId": text}} for text in RUNS[:2])
    assert run_of(first) != run_of(second)
    assert (UUID(run_of(first)).version, UUID(run_of(first)).variant) == (8, RFC_4122)
    assert content_of_run(run_of(first)) == content_of_run(run_of(second)) == content_of(event)
    changed = {**first, "inputs": [{"name": "a"}]}
    assert content_of_run(run_of(changed)) != content_of(event)
    assert content_of_run(RUNS[0]).startswith("another run")
    assert content_of_run("None").startswith("another run")


def test_jobs_of_two_namespaces_never_share_a_name() -> None:
    settings = AtlanSettings.model_validate(
        {"url": "http://localhost:9", "token": "${env:PATH}", "connection": "all", "connections": {"own": "of its own"}}
    )
    keys = [ObjectKey("job", *pair) for pair in (("a", "b#c"), ("a#b", "c"), ("a%23b", "c"), ("own", "b"), ("own", "a#b#c"), ("a", "b"))]
    assert len({named(key, settings) for key in keys}) == len(keys)
    assert named(keys[3], settings) == ("of its own", "b")
    assert named(ObjectKey("job", "kafka://broker:9092", "x"), settings) == ("all", "kafka://broker:9092#x")


# connections and connectors


def test_a_connector_that_is_not_set_up_is_said_and_not_taken_for_wrong_credentials(ours: Server, there: Atlan) -> None:
    there.enabled.clear()
    report = published(ours)
    assert (report.state, report.code, report.outcomes.get("done")) == ("failed", "missing_there", None)
    assert f"the connector {CONNECTOR} is not set up" in report.error
    there.enabled.add(CONNECTOR)
    assert published(ours).outcomes == {"done": 3}


def test_events_of_a_connection_that_is_not_there_are_not_sent(ours: Server, place: Place, there: Atlan) -> None:
    added(ours, place, connection="elsewhere")
    checks = ours.targets.test("there")
    assert [(check.step, check.works) for check in checks] == [("connect", True), ("authenticate", True), ("connections", False)]
    report = published(ours)
    assert (report.state, report.code) == ("failed", "missing_there")
    assert "there is no connection 'elsewhere'" in report.error
    assert there.events == []
    there.connect("elsewhere", f"{QUALIFIED}1")
    assert [check.works for check in ours.targets.test("there")] == [True, True, True]
    there.connect("elsewhere", f"{QUALIFIED}2")
    assert "there are 2 connections" in published(ours).error


def test_other_connectors_are_only_sent_to(ours: Server, place: Place, there: Atlan) -> None:
    there.enabled.add("spark")
    added(ours, place, connector="spark")
    assert [(check.step, check.works) for check in ours.targets.test("there")] == [("connect", True)]
    assert published(ours).outcomes == {"done": 3}
    assert (there.searches, len(there.events)) == ([], 6)
    added(ours, place, connector="spark", exclude_namespaces=["*"])
    assert published(ours, prune=True).kept == {"no longer to be published, but nothing can be deleted there": 3}


def test_without_the_right_to_read_nothing_is_asked(ours: Server, place: Place, there: Atlan) -> None:
    added(ours, place, read_back=False)
    assert published(ours).outcomes == {"done": 3}
    assert there.searches == []
    assert there.edges() == EDGES
    assert published(ours).counts == {}


# what becomes of events


def test_a_run_that_is_shown_later_is_waited_for(ours: Server, there: Atlan) -> None:
    there.lag = 4
    assert published(ours).outcomes == {"done": 3}
    again = published(ours)
    assert (again.counts, again.drift, again.unchanged) == ({}, [], 3)


def test_a_run_that_is_not_shown_in_time_is_sent_again_as_the_same_run(ours: Server, place: Place, there: Atlan) -> None:
    added(ours, place, settle_s=0)
    there.lag = 3
    report = published(ours)
    assert (report.state, report.outcomes, report.code) == ("failed", {"failed": 3}, "failed_there")
    assert "settle_s" in report.error
    runs = {event["run"]["runId"] for event in there.events}
    there.lag = 0
    assert published(ours).outcomes == {"done": 3}
    assert {event["run"]["runId"] for event in there.events} == runs
    assert there.edges() == EDGES


def test_waits_get_shorter_while_nothing_is_shown(ours: Server, place: Place, there: Atlan) -> None:
    added(ours, place, settle_s=0.08, poll_s=0.01, at_once=1)
    there.hiding = "-hidden"
    kinds = [kind for kind in ("hidden", "hidden", "shown", "hidden") for _ in range(AtlanTarget.batch)]
    jobs = [f"{number:03}-{kind}" for number, kind in enumerate(kinds)]
    ours.send(*(job_event(job, inputs=[dataset("a")], outputs=[dataset("b")]) for job in jobs))
    report = published(ours)
    assert report.outcomes == {"failed": 30, "done": 13}
    asked = [str(search["dsl"]["query"]) for search in there.searches if "FlowControlOperation" in str(search)]
    assert [len(list(same)) for _, same in groupby(asked)] == [1, 9, 5, 1, 9, 1]  # the first one is of the plan


def test_one_that_is_refused_does_not_hold_up_others_of_its_portion(ours: Server, there: Atlan) -> None:
    there.refusing = "#load"
    report = published(ours)
    assert report.outcomes == {"done": 2, "refused": 1}
    (refused,) = (item for item in report.operations if item.outcome == "refused")
    assert (refused.name, refused.detail) == ("load", "answered 400: not allowed here")
    there.refusing = ""
    ours.send(job_event("load", time_us=T0 + 9, inputs=[dataset("b")], outputs=[dataset("f")]))
    assert published(ours).outcomes == {"done": 1}


def test_an_unchanged_graph_costs_one_search_and_one_for_the_connection(ours: Server, there: Atlan) -> None:
    published(ours)
    there.searches.clear()
    there.events.clear()
    assert published(ours).counts == {}
    assert (len(there.searches), there.events) == (2, [])


def test_a_job_whose_lineage_comes_back_has_a_run_of_its_own(ours: Server, there: Atlan) -> None:
    for number, source in enumerate("cdc"):
        ours.parts.now_us += 1_000_000
        ours.send(job_event("declared", time_us=T0 + 9 + number, inputs=[dataset(source)], outputs=[dataset("e")]))
        published(ours)
    runs = [event["run"]["runId"] for event in _sent(there, "declared")]
    assert len(set(runs)) == 3
    assert ("declared", "c", "e") in there.edges()


def test_pruning_archives_a_job_and_its_lineage_and_nothing_of_others(ours: Server, place: Place, there: Atlan) -> None:
    relational = {"shop": "postgres://db:5432", "dwh": "snowflake://org-account"}
    made = dataset("dwh", relational["dwh"], columnLineage=columns(v=[(relational["shop"], "shop", "id")]))
    ours.send(run_event(run=RUNS[3], job="copies", inputs=[dataset("shop", relational["shop"], schema=schema("id"))], outputs=[made]))
    published(ours)
    theirs = there.put("Process", f"{QUALIFIED}9/theirs", name="theirs", inputs=[], outputs=[], connectionQualifiedName=f"{QUALIFIED}9")
    _job(there, "jobs#copies")["flowDataResults"].append({"guid": theirs, "typeName": "Process"})
    added(ours, place, exclude_namespaces=["*"])
    assert published(ours, prune=True).outcomes == {"done": 4}
    assert [there.active(kind) for kind in ("FlowControlOperation", "ColumnProcess")] == [[], []]
    assert [asset["guid"] for asset in there.active("Process")] == [theirs]
    assert {asset["attributes"]["name"].lower() for asset in there.active("Table")} == {*"abcde", *relational}
    assert published(ours, prune=True).counts == {}


# logins and settings


def test_an_oauth_client_logs_in_and_again_when_its_token_has_expired(ours: Server, place: Place, there: Atlan, tmp_path: Any) -> None:
    (tmp_path / "secret").write_text(SECRET)
    added(ours, place, token=None, client_id=CLIENT, client_secret=f"${{file:{tmp_path / 'secret'}}}")
    target = ours.targets.target("there")
    try:
        assert [check.works for check in target.test()] == [True, True, True]
        first, there.tokens = there.tokens, {"another"}
        assert target.read([ObjectKey("job", "jobs", "clean")]) == {}
        assert there.tokens not in (first, {"another"})
    finally:
        target.close()
    assert published(ours).outcomes == {"done": 3}
    (tmp_path / "secret").write_text("wrong")
    assert [check.works for check in ours.targets.test("there")] == [True, False]
    report = published(ours)
    assert (report.state, report.code) == ("failed", "unauthenticated")


@pytest.mark.parametrize(
    "wrong",
    [
        {"token": None},
        {"client_id": "x"},
        {"username": "u", "token": None},
        {"connection": ""},
        {"connector": "a/b"},
        {"connections": {"a": CONNECTION}},
        {"connections": {"a": "x", "b": "x"}},
        {"connections": {"a*": "x"}},
        {"token": "plain"},
    ],
)
def test_settings_that_are_wrong(ours: Server, place: Place, wrong: dict[str, Any]) -> None:
    with pytest.raises(ConfigError):
        added(ours, place, **wrong)


@pytest.mark.parametrize("body", [b"[]", b'{"entities": 5}', b'{"entities": [5]}', b"<html>"])
def test_answers_that_make_no_sense_end_the_publication(ours: Server, place: Place, faulty: Any, body: bytes) -> None:
    proxy: Faulty = faulty(place.settings["url"])
    added(ours, place.behind(proxy), at_once=1, tries=1)
    proxy.answer(200, "indexsearch", body=body)
    report = published(ours)
    assert (report.state, report.code) == ("failed", "wrong_answer")
    proxy.mend()
    assert published(ours).outcomes == {"done": 3}


@pytest.mark.parametrize(("of_page", "answered"), [(0, "the page just read once more"), (1, "finds 10,000 assets or more")])
def test_a_search_that_does_not_end_is_given_up(tmp_path: Path, of_page: int, answered: str) -> None:
    pages = count()

    def page(_: Request) -> Answer:
        number = next(pages)
        size = MOST if number < 120 else 0
        return Answer(200, {"entities": [{"guid": str(number * of_page * MOST + at)} for at in range(size)]})

    (tmp_path / "token").write_text(TOKEN)
    with answering(page) as url:
        asked = {"url": url, "token": f"${{file:{tmp_path / 'token'}}}", "connection": CONNECTION}
        api = AtlanApi(AtlanSettings.model_validate(asked), lambda request, _="": request())
        try:
            with pytest.raises(SourceError, match=answered):
                api.search("Process", {}, ())
        finally:
            api.close()
    assert next(pages) <= 100
