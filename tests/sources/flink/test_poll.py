"""A job's life over several polls, and what is not told when an answer cannot be had."""

import json
from pathlib import Path
from typing import Any

import pytest
from tests.api.support import Server
from tests.sources.flink.orders import (
    AGGREGATE,
    DDL,
    FAILED,
    GEN,
    NOW_US,
    ORDERS,
    READER,
    SCRIPT,
    SOURCE,
    TOPICS,
    answer_orders,
    count,
    overview,
)
from tests.sources.flink.stand import Stand, recorded, standing

from lineage_bridge.errors import SourceError, UnreachableError
from lineage_bridge.openlineage.event_builder import encode, run_id
from lineage_bridge.openlineage.times import format_time
from lineage_bridge.sources.common.observer import Observation, SameJob
from lineage_bridge.sources.common.shared_metadata import NO_METADATA, VALUE, ClusterMetadata, SharedMetadata
from lineage_bridge.sources.flink import observer as flink
from lineage_bridge.sources.flink.settings import FlinkSettings

MINUTE_US = 60_000_000
NAMESPACE = "flink://jobmanager:8081"
PLACE = f"/jobs/{ORDERS}"
SOURCE_METRICS = f"{PLACE}/vertices/{READER}/subtasks/metrics"


class Polls:
    """Polls one after the other; a snapshot lies on disk as JSON in between."""

    def __init__(self, stand: Stand, **settings: Any) -> None:
        self.stand, self.settings = stand, {"init_sql": DDL, "namespace": NAMESPACE, **settings}
        self.before: Any = None
        self.now_us = NOW_US
        self.around = NO_METADATA

    def poll(self) -> Observation:
        observer = flink.FlinkObserver("flink", FlinkSettings(url=self.stand.url, timeout_s=2, **self.settings))
        try:
            seen = observer.observe(self.before, self.around, self.now_us)
        finally:
            observer.close()
        self.before = json.loads(json.dumps(seen.snapshot))
        self.now_us += MINUTE_US
        return seen

    def kinds(self) -> list[str]:
        """What the next poll tells, by type."""
        return [str(event["eventType"]) for event in self.poll().events]

    def rows(self) -> list[int]:
        """What the next poll tells of rows: read, then written."""
        event: Any = self.poll().events[-1]
        statistics = [*(dataset["inputFacets"]["inputStatistics"] for dataset in event["inputs"])]
        statistics += [dataset["outputFacets"]["outputStatistics"] for dataset in event["outputs"]]
        return [entry["rowCount"] for entry in statistics]


@pytest.fixture
def polls(stand: Stand) -> Polls:
    answer_orders(stand)
    return Polls(stand)


def whats(seen: Observation) -> list[str]:
    return [unseen.what for unseen in seen.unseen]


def test_the_same_answers_give_the_same_observation(polls: Polls):
    first, again = polls.poll(), Polls(polls.stand).poll()

    assert first == again


def test_counters_go_on_over_a_restart(polls: Polls):
    """The tasks' own counters begin at nothing; the totals do not fall, and leave out what came before the first poll after it."""
    assert polls.rows() == [30, 20, 30]
    count(polls.stand, 15, restarts=1)
    assert polls.rows() == [30, 20, 30]
    count(polls.stand, 25, restarts=1)
    assert polls.rows() == [40, 30, 40]


def test_what_a_source_of_a_topic_has_not_read_is_the_lag_of_the_job(polls: Polls):
    def lag() -> Any:
        event: Any = polls.poll().events[-1]
        return event["run"].get("facets", {}).get("kafka_lag")

    def calls() -> int:
        before = len(polls.stand.asked)
        polls.poll()
        return len(polls.stand.asked) - before

    count(polls.stand, 0)
    assert lag() is None
    count(polls.stand, 30)
    polls.stand.metrics[SOURCE_METRICS][f"{SOURCE}.pendingRecords"] = 12
    found = lag()
    assert (found["rows"], found["topics"], found["namespaces"]) == (12, {"orders": 12}, {"orders": TOPICS})
    assert found["at"] == format_time(NOW_US + MINUTE_US)
    polls.stand.metrics[SOURCE_METRICS][f"{SOURCE}.pendingRecords"] = 0
    assert lag()["rows"] == 0
    with_gauge = calls()
    del polls.stand.metrics[SOURCE_METRICS][f"{SOURCE}.pendingRecords"]
    polls.poll()
    polls.poll()
    assert lag() is None
    assert calls() == with_gauge, "what a source that has read something does not have is not looked for again"


def test_a_restart_is_a_state_of_the_run(polls: Polls):
    polls.poll()
    polls.stand.answers["/jobs/overview"] = overview(ORDERS, state="RESTARTING", **{"last-modification": 1})
    polls.stand.answers[f"{PLACE}/exceptions"] = recorded("flink_job_exceptions_failed")
    count(polls.stand, 30, restarts=2)
    (event,) = polls.poll().events
    started: Any = event

    assert event["eventType"] == "RUNNING"
    facet = started["run"]["facets"]["flink_job"]
    assert (facet["state"], facet["restarts"]) == ("RESTARTING", 2)
    assert facet["last_error"]["message"].startswith("java.lang.NumberFormatException")
    assert "trace" not in json.dumps(polls.before)
    assert polls.kinds() == ["RUNNING"]


def test_an_end_is_reported_once_with_the_last_counters(polls: Polls):
    polls.poll()
    polls.stand.answers["/jobs/overview"] = overview(ORDERS, state="CANCELED", **{"end-time": 1795219700_000})
    count(polls.stand, 35)
    (event,) = polls.poll().events
    started: Any = event

    assert (event["eventType"], event["eventTime"]) == ("ABORT", format_time(1795219700_000_000))
    assert started["inputs"][0]["inputFacets"]["inputStatistics"]["rowCount"] == 35
    assert polls.kinds() == []
    polls.stand.answers["/jobs/overview"] = overview()
    assert polls.kinds() == []
    assert polls.before["jobs"] == {}


def test_an_end_is_not_before_the_last_heartbeat(polls: Polls):
    """The clock of the JobManager may be behind ours."""
    polls.poll()
    polls.stand.answers["/jobs/overview"] = overview(ORDERS, state="FINISHED", **{"end-time": NOW_US // 1000 - 5000})

    (event,) = polls.poll().events
    assert (event["eventType"], event["eventTime"]) == ("COMPLETE", format_time(NOW_US))


def test_a_suspended_job_is_reported_once_and_goes_on(polls: Polls):
    polls.poll()
    polls.stand.answers["/jobs/overview"] = overview(ORDERS, state="SUSPENDED")
    assert [polls.kinds(), polls.kinds()] == [["OTHER"], []]
    polls.stand.answers["/jobs/overview"] = overview(ORDERS)
    assert polls.kinds() == ["RUNNING"]


def test_a_job_that_is_gone_while_it_ran_has_no_end_that_is_known(polls: Polls):
    polls.poll()
    polls.stand.answers["/jobs/overview"] = overview()
    seen = polls.poll()

    assert seen.events == ()
    assert whats(seen) == [f"job orders_pipeline ({ORDERS}): end"]
    assert "RUNNING" in seen.unseen[0].why
    polls.stand.answers["/jobs/overview"] = overview(ORDERS)
    back = polls.poll()
    assert [event["eventType"] for event in back.events] == ["RUNNING"]
    assert back.unseen == ()


def test_what_became_of_it_is_forgotten_after_a_day(polls: Polls):
    polls.poll()
    polls.stand.answers["/jobs/overview"] = overview()
    polls.poll()
    polls.now_us += 1440 * MINUTE_US

    assert polls.poll().unseen == ()
    assert polls.before["jobs"] == {}


def test_the_history_server_knows_the_end(polls: Polls):
    with standing() as history:
        polls.settings["history_url"] = history.url
        polls.poll()
        polls.stand.answers["/jobs/overview"] = overview()
        assert whats(polls.poll()) == [f"job orders_pipeline ({ORDERS}): end"]
        history.answers |= {
            PLACE: {**recorded("flink_job"), "state": "FAILED", "end-time": 1795219700_000},
            f"{PLACE}/exceptions": recorded("flink_job_exceptions_failed"),
        }
        (event,) = polls.poll().events
        assert (event["eventType"], event["eventTime"]) == ("FAIL", format_time(1795219700_000_000))
        assert "errorMessage" in event["run"]["facets"]
        seen = polls.poll()
        assert (seen.events, seen.unseen) == ((), ())


def test_a_job_taken_up_under_its_old_id_is_another_run(polls: Polls):
    started: Any = polls.poll().events[0]
    polls.stand.answers["/jobs/overview"] = overview(ORDERS, state="FINISHED", **{"end-time": 1795219700_000})
    polls.poll()
    polls.stand.answers["/jobs/overview"] = overview(ORDERS, **{"start-time": 1795219800_000})
    again: Any = polls.poll().events

    assert [event["eventType"] for event in again] == ["START", "RUNNING"]
    assert again[0]["run"]["runId"] == str(run_id("flink", NAMESPACE, ORDERS, 1795219800_000)) != started["run"]["runId"]
    assert again[1]["run"]["runId"] == again[0]["run"]["runId"]
    (later,) = polls.poll().events
    assert later["run"]["runId"] == again[0]["run"]["runId"]


def test_every_deployment_of_an_application_has_one_id(stand: Stand):
    """A highly available application's job is 000...: the run is named with its start."""
    answer_orders(stand)
    zero = "0" * 32
    stand.answers["/jobs/overview"] = overview(ORDERS, jid=zero)
    stand.answers[f"/jobs/{zero}"] = recorded("flink_job")
    started: Any = Polls(stand).poll().events[0]

    assert started["run"]["runId"] == str(run_id("flink", NAMESPACE, zero, 1795219561838))


def test_only_the_jobs_that_are_wanted(polls: Polls):
    polls.settings["jobs"] = ("gen_*", "bounded*")

    assert polls.poll().events == ()
    assert not any(path.startswith(PLACE) for path in polls.stand.asked)


# what cannot be had


@pytest.mark.parametrize("answer", [500, 403, b"half an ans", {"errors": ["not yet"]}, {"jobs": [{"jid": "1"}]}, {"jobs": None}])
def test_without_a_whole_list_nothing_is_reported(polls: Polls, answer: Any):
    polls.poll()
    polls.stand.answers["/jobs/overview"] = answer

    with pytest.raises(SourceError):
        polls.poll()


def test_without_a_jobmanager_nothing_is_reported():
    with standing() as stand:
        gone = Polls(stand)
    with pytest.raises(UnreachableError):
        gone.poll()


@pytest.mark.parametrize(
    ("path", "answer", "what"),
    [
        (f"{PLACE}/checkpoints", 500, "checkpoints"),
        (f"{PLACE}/metrics", {"not": "a list"}, "restarts"),
        (SOURCE_METRICS, b"[", "metrics"),
    ],
)
def test_a_request_that_fails_is_reported_and_the_rest_goes_on(polls: Polls, path: str, answer: Any, what: str):
    polls.poll()
    polls.stand.answers[path] = answer
    seen = polls.poll()

    assert [event["eventType"] for event in seen.events] == ["RUNNING"]
    assert whats(seen) == [f"job orders_pipeline: {what}"]
    assert polls.rows() == [30, 20, 30]


@pytest.mark.parametrize(("answer", "is_unseen"), [(500, True), (b"{", True), ({"vertices": None}, True), (404, False)])
def test_a_job_that_cannot_be_seen_stays_as_it_was(polls: Polls, answer: Any, is_unseen: bool):
    """Nothing is told of it, not even its end, until it can be seen whole."""
    polls.poll()
    known = polls.before["jobs"]
    polls.stand.answers["/jobs/overview"] = overview(ORDERS, state="FINISHED", **{"end-time": 1795219700_000})
    polls.stand.answers[PLACE] = answer
    seen = polls.poll()

    assert seen.events == ()
    assert whats(seen) == (["job orders_pipeline"] if is_unseen else [])
    assert polls.before["jobs"] == known
    polls.stand.answers[PLACE] = recorded("flink_job")
    assert polls.kinds() == ["COMPLETE"]


def test_a_failure_is_reported_with_its_cause_or_later(polls: Polls):
    polls.stand.answers["/jobs/overview"] = overview(FAILED)
    polls.stand.answers[f"/jobs/{FAILED}"] = recorded("flink_job_failed")
    polls.stand.answers[f"/jobs/{FAILED}/exceptions"] = 500
    assert polls.kinds() == []
    polls.stand.answers[f"/jobs/{FAILED}/exceptions"] = recorded("flink_job_exceptions_failed")
    assert polls.kinds() == ["START", "FAIL"]


def test_metrics_that_are_not_there_yet_come_later(polls: Polls):
    """The JobManager collects them every ten seconds; while its TaskManager is gone it has none."""
    polls.stand.metrics = {path: {} for path in polls.stand.metrics}
    first: Any = polls.poll().events[-1]
    assert (first["inputs"], first["outputs"]) == ([], [])
    count(polls.stand, 30)
    assert polls.rows() == [30, 20, 30]
    polls.stand.metrics = {path: {} for path in polls.stand.metrics}
    assert polls.rows() == [30, 20, 30]


def test_a_file_that_cannot_be_read_takes_nothing_away(polls: Polls, tmp_path: Path):
    file = tmp_path / "a.yaml"
    file.write_text(f"name: orders_pipeline\noutputs: [{TOPICS}/other]\n")
    polls.settings["annotations"] = (str(file),)
    started: Any = polls.poll().events[0]
    assert [dataset["name"] for dataset in started["outputs"]] == ["other"]
    file.write_text("name: [")
    seen = polls.poll()
    (event,) = seen.events
    assert (event["inputs"], event["outputs"], event["job"]["facets"]) == ([], [], {})
    assert whats(seen) == ["evidence about jobs"]
    file.write_text(f"name: orders_pipeline\noutputs: [{TOPICS}/new]\n")
    changed: Any = polls.poll().events[0]
    assert [dataset["name"] for dataset in changed["outputs"]] == ["new"]
    assert "lineage" in changed["job"]["facets"]


def test_a_job_that_is_new_while_a_file_cannot_be_read_is_reported_when_it_can(polls: Polls, tmp_path: Path):
    file = tmp_path / "a.sql"
    polls.settings["statements"] = (str(file),)
    started: Any = polls.poll().events
    assert [(event["eventType"], event["outputs"]) for event in started] == [("START", []), ("RUNNING", [])]
    file.write_text(SCRIPT)
    first: Any = polls.poll().events[0]
    assert [dataset["name"] for dataset in first["outputs"]] == ["orders-doubled", "orders-agg"]
    assert first["job"]["facets"]["sql"]["dialect"] == "flink"


def test_a_statement_that_is_not_the_one_that_runs(polls: Polls, tmp_path: Path):
    """It has the job's name and other tables; two of one name and the same tables tell no more."""
    file = tmp_path / "a.sql"
    polls.settings["statements"] = (str(file),)
    file.write_text(SCRIPT.replace("FROM orders_src", "FROM elsewhere"))
    seen = polls.poll()
    assert whats(seen) == ["job orders_pipeline: statement"]
    event: Any = seen.events[0]
    assert ("sql" in event["job"]["facets"], "lineage" in event["job"]["facets"]) == (False, True)
    file.write_text(SCRIPT + SCRIPT.replace("amount*2", "amount*3"))
    seen = polls.poll()
    assert whats(seen) == ["job orders_pipeline: statement"]
    assert seen.unseen[0].why.startswith("2 statements")
    file.write_text(SCRIPT + SCRIPT)
    seen = polls.poll()
    changed: Any = seen.events[0]
    assert (seen.unseen, changed["job"]["facets"]["sql"]["dialect"]) == ((), "flink")


# the gateway

LAKE = "CREATE CATALOG lake WITH ('type' = 'paimon', 'warehouse' = 's3://b/w')"
SHOWN = (
    "CREATE TABLE `lake`.`sales`.`{}` (\n  `id` INT\n) WITH (\n  'connector' = 'kafka',\n  'topic' = 'shown-{}',\n"
    "  'properties.bootstrap.servers' = 'b1:9092'\n)\n"
)


@pytest.fixture
def of_a_catalog(polls: Polls) -> Polls:
    """A job whose source is told in full and whose sink by its last part."""
    plan = "[1]:TableSourceScan(table=[[lake, sales, `orders`]], fields=[id])<br/>+- copy[2]: Writer<br/>"
    polls.stand.answers[PLACE] = {**recorded("flink_job"), "plan": {"nodes": [{"id": READER, "description": plan.replace("`", "")}]}}
    polls.settings |= {"gateway_url": polls.stand.url, "init_sql": (LAKE,)}
    polls.stand.rows = {LAKE: "OK"}
    polls.stand.rows |= {f"SHOW CREATE TABLE `lake`.`sales`.`{name}`": SHOWN.format(name, name) for name in ("orders", "copy")}
    return polls


def names(event: Any) -> list[tuple[str, str]]:
    return [(dataset["namespace"], dataset["name"]) for dataset in (*event["inputs"], *event["outputs"])]


def test_the_gateway_reports_tables_once(of_a_catalog: Polls):
    seen = of_a_catalog.poll()

    assert names(seen.events[0]) == [("kafka://b1:9092", "shown-orders"), ("kafka://b1:9092", "shown-copy")]
    assert seen.unseen == ()
    assert of_a_catalog.stand.statements[0] == LAKE
    assert of_a_catalog.stand.asked[-1] == "/v1/sessions/1"
    of_a_catalog.stand.asked.clear()
    assert of_a_catalog.kinds() == ["RUNNING"]
    assert not any(path.startswith("/v1") for path in of_a_catalog.stand.asked)


def test_without_a_gateway_the_catalog_places_tables(of_a_catalog: Polls):
    """By its warehouse; the sink is where the source is. Of another kind of catalog, the table is itself."""
    of_a_catalog.settings["gateway_url"] = None
    seen = of_a_catalog.poll()
    assert names(seen.events[0]) == [("s3://b", "w/sales.db/orders"), ("s3://b", "w/sales.db/copy")]
    assert seen.unseen == ()
    of_a_catalog.settings["init_sql"] = ("CREATE CATALOG lake WITH ('type' = 'hive')",)
    of_a_catalog.before = None
    seen = of_a_catalog.poll()
    assert names(seen.events[0]) == [(NAMESPACE, "lake.sales.orders"), (NAMESPACE, "lake.sales.copy")]
    assert whats(seen) == ["job orders_pipeline: tables"]


@pytest.mark.parametrize("path", ["/v1/sessions", "/v1/sessions/1/statements", "/v1/sessions/1/operations/1/status"])
def test_a_gateway_that_fails_is_asked_again(of_a_catalog: Polls, path: str):
    of_a_catalog.stand.answers[path] = 500
    seen = of_a_catalog.poll()
    assert [(event["eventType"], names(event)) for event in seen.events] == [("START", []), ("RUNNING", [])]
    assert whats(seen) == ["the SQL gateway"]
    del of_a_catalog.stand.answers[path]
    event: Any = of_a_catalog.poll().events[0]
    assert names(event) == [("kafka://b1:9092", "shown-orders"), ("kafka://b1:9092", "shown-copy")]
    assert event["job"]["facets"]["lineage"]["entries"]


def test_a_table_that_the_gateway_does_not_know_lies_where_its_catalog_puts_it(of_a_catalog: Polls):
    del of_a_catalog.stand.rows["SHOW CREATE TABLE `lake`.`sales`.`copy`"]
    seen = of_a_catalog.poll()

    assert names(seen.events[0]) == [("kafka://b1:9092", "shown-orders"), ("s3://b", "w/sales.db/copy")]


# what others use


def test_groups_and_schemas_are_for_others(polls: Polls):
    polls.around = SharedMetadata((ClusterMetadata("lkc-1", "kafka://b0.example.com:9092", frozenset({"b1.example.com:9092"})),))
    started: Any = polls.poll().events[0]
    known = flink.FlinkObserver("flink", FlinkSettings(url=polls.stand.url)).shared_metadata(polls.before)

    assert started["inputs"][0]["namespace"] == "kafka://b0.example.com:9092"
    assert known.owners == {("lkc-1", "flink-orders"): (NAMESPACE, "orders_pipeline")}
    schema = known.schemas[("kafka://b0.example.com:9092", "orders-agg"), VALUE]
    assert [(field.name, field.type) for field in schema.fields] == [("id", "INT"), ("n", "BIGINT")]
    assert schema.rank == 1


def test_groups_that_are_annotated_report_inputs(polls: Polls, tmp_path: Path):
    """A DataStream job: operators only."""
    polls.stand.answers[PLACE] = {
        **recorded("flink_job"),
        "plan": {"nodes": [{"id": READER, "description": "Source: events<br/>+- Map<br/>   +- out: Writer<br/>"}]},
    }
    bare = polls.poll()
    assert whats(bare) == ["job orders_pipeline: datasets"]
    assert "Source: events, out: Writer" in bare.unseen[0].why
    file = tmp_path / "a.yaml"
    file.write_text("name: orders_pipeline\ngroups: [enrich]\noutputs: [kafka://made]\n")
    cluster = ClusterMetadata("lkc-1", "kafka://b1:9092", topics=frozenset({"a", "b", "made"}), groups={"enrich": frozenset({"a", "b"})})
    polls.around = SharedMetadata((cluster,))
    polls.settings["annotations"] = (str(file),)
    seen = polls.poll()
    event: Any = seen.events[0]

    assert seen.unseen == ()
    assert [dataset["name"] for dataset in (*event["inputs"], *event["outputs"])] == ["a", "b", "made"]
    observer = flink.FlinkObserver("flink", FlinkSettings(url=polls.stand.url))
    assert observer.shared_metadata(polls.before).owners == {("lkc-1", "enrich"): (NAMESPACE, "orders_pipeline")}


LISTENER = {
    "key": "execution.job-status-changed-listeners",
    "value": "io.openlineage.flink.listener.OpenLineageJobStatusChangedListenerFactory",
}
BY_CLUSTER = "OpenLineage's listener, by the JobManager's configuration"
BY_JOB = "OpenLineage's listener, by the job's configuration"


@pytest.mark.parametrize(
    ("cluster", "job", "expected"),
    [
        ({}, {}, ("flink-jobs", "orders_pipeline", BY_CLUSTER)),
        ({"openlineage.job.namespace": "ours"}, {}, ("ours", "orders_pipeline", BY_CLUSTER)),
        ({"openlineage.job.name": "all"}, {}, None),
        ({}, {"openlineage.job.namespace": "own", "openlineage.job.name": "mine"}, ("own", "mine", BY_JOB)),
        (None, {}, None),
    ],
)
def test_the_listeners_job_is_the_same_job(
    polls: Polls, cluster: dict[str, str] | None, job: dict[str, str], expected: tuple[str, str, str] | None
):
    listener_settings = [] if cluster is None else [LISTENER, *({"key": key, "value": value} for key, value in cluster.items())]
    polls.stand.answers["/jobmanager/config"] = listener_settings
    polls.stand.answers[f"{PLACE}/config"] = {"execution-config": {"user-config": job}}
    same = () if expected is None else (SameJob(*expected[:2], NAMESPACE, "orders_pipeline", expected[2]),)

    assert polls.poll().aliases == same
    assert polls.poll().aliases == ()


def test_what_was_inferred_is_dropped_when_it_is_known(polls: Polls, server: Server):
    polls.settings["init_sql"] = ()
    inferred = polls.poll()
    polls.settings["init_sql"] = DDL
    known = polls.poll()
    dropped = [event["dataset"]["name"] for event in known.events if "dataset" in event]
    assert dropped == [f"orders_pipeline/default_catalog.default_database.{name}" for name in ("orders_agg", "orders_out", "orders_src")]
    later = polls.poll()
    assert [event.get("eventType") for event in later.events] == ["RUNNING"]

    server.send(*(encode(event) for seen in (inferred, known, later) for event in seen.events))
    job = server.ask("/graph/neighbourhood", namespace=TOPICS, name="orders", direction="downstream")
    assert {node["name"] for node in job["nodes"]} == {"orders", "orders-doubled", "orders-agg", "orders_pipeline"}


def test_each_step_is_tested(polls: Polls):
    observer = flink.FlinkObserver("flink", FlinkSettings(url=polls.stand.url, annotations=("/no/where.yaml",), init_sql=DDL))
    checks = {check.step: check for check in observer.test()}
    observer.close()

    assert [check.step for check in checks.values() if not check.works] == ["read annotations"]
    assert checks["reach the JobManager"].message == "Flink 2.3.0"
    assert checks["list its jobs"].message == "1 of 1 jobs are observed"
    assert checks["read init_sql"].message == "3 tables"
    assert checks["read annotations"].hint


def test_no_secret_is_reported_or_remembered(polls: Polls):
    """Of DDL, of the job's statement, of a stack trace."""
    secret = "hunter2hunter2"
    polls.settings["init_sql"] = tuple(text.replace("'format'='json'", f"'properties.sasl.jaas.config'='{secret}'") for text in DDL)
    failed: Any = recorded("flink_job_exceptions_failed")
    failed["exceptionHistory"]["entries"][0]["stacktrace"] = f"a.Broken: password={secret}\nCaused by: b.Broken: password={secret}"
    polls.stand.answers[f"{PLACE}/exceptions"] = failed
    polls.stand.answers["/jobs/overview"] = overview(ORDERS, state="FAILING")
    seen = polls.poll()

    assert secret not in json.dumps([seen.snapshot, list(seen.events), list(seen.unseen)])
    assert "b.Broken" in json.dumps(list(seen.events))


def test_vertices_without_sources_and_sinks_are_not_asked(polls: Polls):
    polls.stand.answers[PLACE] = {**recorded("flink_job"), "plan": {"nodes": []}}
    polls.poll()

    assert not any("vertices" in path for path in polls.stand.asked)
    assert AGGREGATE not in json.dumps(polls.before)
    assert GEN not in json.dumps(polls.before)
