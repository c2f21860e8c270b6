"""What recorded answers become: events written by hand."""

from pathlib import Path
from typing import Any

import pytest
from tests.corpora.published import faults
from tests.sources.flink.orders import DDL, FAILED, FINISHED, GEN, NOW_US, ORDERS, SCRIPT, START_MS, TOPICS, answer_orders, count, overview
from tests.sources.flink.stand import Stand, recorded

from lineage_bridge.openlineage.event_builder import run_id
from lineage_bridge.openlineage.times import format_time
from lineage_bridge.sources.common.observer import Observation, Snapshot, Unseen
from lineage_bridge.sources.common.shared_metadata import NO_METADATA
from lineage_bridge.sources.flink.observer import FlinkObserver
from lineage_bridge.sources.flink.settings import FlinkSettings

NAMESPACE = "flink://jobmanager:8081"


def bare(value: Any) -> Any:
    """Without the members that every facet has, and without the address of the stand."""
    if isinstance(value, dict):
        if "title" in value:
            return {"title": value["title"], "page": value["url"].partition("#")[2]}
        return {key: bare(inner) for key, inner in value.items() if key not in ("_producer", "_schemaURL", "producer", "schemaURL")}
    return [bare(inner) for inner in value] if isinstance(value, list) else value


def look(stand: Stand, before: Snapshot | None = None, now_us: int = NOW_US, **settings: Any) -> Observation:
    observer = FlinkObserver("flink", FlinkSettings(url=stand.url, namespace=NAMESPACE, **settings))
    try:
        seen = observer.observe(before, NO_METADATA, now_us)
        assert not faults(seen.events)
        return seen
    finally:
        observer.close()


@pytest.fixture
def scripted(tmp_path: Path) -> dict[str, Any]:
    (tmp_path / "orders.sql").write_text(SCRIPT)
    return {"init_sql": DDL, "statements": (str(tmp_path),)}


def source(name: str, field: str | None = None, subtype: str | None = None) -> dict[str, Any]:
    members: dict[str, Any] = {"type": "DATASET", "namespace": TOPICS, "name": name}
    if subtype:
        direct = subtype in ("IDENTITY", "TRANSFORMATION", "AGGREGATION")
        members |= {"field": field, "transformations": [{"type": "DIRECT" if direct else "INDIRECT", "subtype": subtype}]}
    return members


def untyped(facet: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in facet.items() if key != "type"}


def columns(*fields: tuple[str, str]) -> dict[str, Any]:
    return {"fields": [{"name": name, "type": type_, "ordinal_position": index} for index, (name, type_) in enumerate(fields, start=1)]}


def table(name: str, connector: str) -> dict[str, Any]:
    return {"tables": [f"default_catalog.default_database.{name}"], "inferred": False, "connector": connector}


RUN = {"runId": str(run_id("flink", NAMESPACE, ORDERS))}
JOB = {"namespace": NAMESPACE, "name": "orders_pipeline"}
ID, AMOUNT = source("orders", "id", "IDENTITY"), source("orders", "amount", "TRANSFORMATION")
FILTER, GROUP = source("orders", "id", "FILTER"), source("orders", "id", "GROUP_BY")
FLINK_JOB = {"jid": ORDERS, "state": "RUNNING", "restarts": 0, "parallelism": 1}
STARTED = {
    "eventType": "START",
    "eventTime": format_time(START_MS * 1000),
    "run": {**RUN, "facets": {"processing_engine": {"name": "flink", "version": "2.3.0"}, "flink_job": FLINK_JOB}},
    "job": {
        **JOB,
        "facets": {
            "jobType": {
                "processingType": "STREAMING",
                "integration": "FLINK",
                "jobType": "JOB",
                "emissionPattern": {"eventTrigger": "PERIODIC", "eventContentMode": "ACCUMULATIVE", "windowDuration": 60},
            },
            "lineagebridge_console": {"title": "Flink", "page": "/job/running/72910c00e628d2f29f5bb5a54a3ff72b/overview"},
            "sql": {
                "query": "EXECUTE STATEMENT SET BEGIN\n"
                "INSERT INTO orders_out SELECT id, amount*2 FROM orders_src WHERE id > 1;\n"
                "INSERT INTO orders_agg SELECT id, COUNT(*) FROM orders_src GROUP BY id;\n"
                "END",
                "dialect": "flink",
            },
            "lineage": {
                "entries": [
                    {**source("orders-doubled"), "inputs": [FILTER], "fields": {"id": {"inputs": [ID]}, "doubled": {"inputs": [AMOUNT]}}},
                    {**source("orders-agg"), "inputs": [GROUP], "fields": {"id": {"inputs": [ID]}}},
                ]
            },
        },
    },
    "inputs": [
        {
            **untyped(source("orders")),
            "facets": {
                "schema": columns(("id", "INT"), ("customer_id", "INT"), ("amount", "DECIMAL(10, 2)")),
                "flink_table": table("orders_src", "kafka"),
            },
        }
    ],
    "outputs": [
        {
            **untyped(source("orders-doubled")),
            "facets": {
                "schema": columns(("id", "INT"), ("doubled", "DECIMAL(12, 2)")),
                "flink_table": table("orders_out", "kafka"),
                "columnLineage": {
                    "fields": {"id": {"inputFields": [untyped(ID)]}, "doubled": {"inputFields": [untyped(AMOUNT)]}},
                    "dataset": [untyped(FILTER)],
                },
            },
        },
        {
            **untyped(source("orders-agg")),
            "facets": {
                "schema": columns(("id", "INT"), ("n", "BIGINT")),
                "flink_table": table("orders_agg", "upsert-kafka"),
                "columnLineage": {"fields": {"id": {"inputFields": [untyped(ID)]}}, "dataset": [untyped(GROUP)]},
            },
        },
    ],
}


def heartbeat(now_us: int, rows: int, **run_facets: Any) -> dict[str, Any]:
    return {
        "eventType": "RUNNING",
        "eventTime": format_time(now_us),
        "run": {**RUN, "facets": run_facets},
        "job": {**JOB, "facets": {}},
        "inputs": [{**untyped(source("orders")), "inputFacets": {"inputStatistics": {"rowCount": rows, "size": rows * 40}}}],
        "outputs": [
            {
                **untyped(source("orders-doubled")),
                "outputFacets": {"outputStatistics": {"rowCount": rows - 10, "size": (rows - 10) * 20}},
            },
            {**untyped(source("orders-agg")), "outputFacets": {"outputStatistics": {"rowCount": rows, "size": rows * 15}}},
        ],
    }


def test_a_running_job_with_its_statements(stand: Stand, scripted: dict[str, Any]):
    answer_orders(stand)
    seen = look(stand, **scripted)

    assert [bare(event) for event in seen.events] == [STARTED, heartbeat(NOW_US, 30)]
    assert seen.unseen == ()
    assert seen.aliases == ()


def test_then_only_heartbeats_in_few_calls(stand: Stand, scripted: dict[str, Any]):
    answer_orders(stand)
    first = look(stand, **scripted)
    stand.asked.clear()
    count(stand, 50)
    later = NOW_US + 60_000_000
    seen = look(stand, first.snapshot, later, **scripted)

    assert [bare(event) for event in seen.events] == [heartbeat(later, 50)]
    assert len(stand.asked) == 5, stand.asked


def test_the_plan_alone_reports_tables_as_inferred(stand: Stand):
    """No DDL: the topic that is read is in the metrics, but its cluster is not known; tables of a session are the job's own."""
    answer_orders(stand)
    started = bare(look(stand).events[0])

    def own(name: str) -> dict[str, Any]:
        return {"namespace": NAMESPACE, "name": f"orders_pipeline/default_catalog.default_database.{name}"}

    assert [(dataset["namespace"], dataset["name"]) for dataset in started["inputs"]] == [tuple(own("orders_src").values())]
    assert started["inputs"][0]["facets"] == {"flink_table": {"tables": ["default_catalog.default_database.orders_src"], "inferred": True}}
    assert started["job"]["facets"]["lineage"] == {
        "entries": [
            {"type": "DATASET", **own("orders_out"), "inputs": [{"type": "DATASET", **own("orders_src")}]},
            {"type": "DATASET", **own("orders_agg"), "inputs": [{"type": "DATASET", **own("orders_src")}]},
        ]
    }
    tables = ", ".join(f"default_catalog.default_database.{name}" for name in ("orders_agg", "orders_out", "orders_src"))
    why = f"the datasets of the tables {tables} are unknown; give their DDL in `init_sql` or `statements`, or annotate the job"
    assert look(stand).unseen == (Unseen("job orders_pipeline: tables", why),)


def test_metrics_report_the_topic_of_a_known_cluster(stand: Stand):
    answer_orders(stand)
    started = bare(look(stand, kafka="b1.example.com:9092,b2.example.com:9092").events[0])

    assert [(dataset["namespace"], dataset["name"]) for dataset in started["inputs"]] == [(TOPICS, "orders")]


def test_annotations_stand_before_the_statements(stand: Stand, scripted: dict[str, Any], tmp_path: Path):
    facet = (
        "name: orders*\ninputs: [kafka://b1.example.com:9092/orders]\noutputs: ['kafka://b1.example.com:9092/orders-agg', 's3://lake/x']\n"
    )
    (tmp_path / "a.yaml").write_text(facet + "owner: team\ndescription: Doubles.\ntags: [pii]\n")
    answer_orders(stand)
    started = bare(look(stand, annotations=(str(tmp_path / "a.yaml"),), **scripted).events[0])

    assert started["inputs"] == STARTED["inputs"]
    assert [dataset["name"] for dataset in started["outputs"]] == ["orders-agg", "x"]
    facets = started["job"]["facets"]
    assert facets["lineage"]["entries"] == [
        {**source("orders-agg"), "inputs": [GROUP], "fields": {"id": {"inputs": [ID]}}},
        {"type": "DATASET", "namespace": "s3://lake", "name": "x", "inputs": [source("orders")]},
    ]
    assert facets["documentation"] == {"description": "Doubles."}
    assert facets["ownership"] == {"owners": [{"name": "team", "type": "MAINTAINER"}]}
    assert facets["tags"] == {"tags": [{"key": "pii", "value": "true", "source": "FLINK_ANNOTATION"}]}


def test_jobs_that_began_and_ended_between_polls(stand: Stand):
    """One failed, one finished, one was cancelled; each has a start and an end at Flink's own times."""
    answer_orders(stand)
    stand.answers["/jobs/overview"] = overview(FAILED, FINISHED, GEN)
    for jid in (FAILED, FINISHED, GEN):
        stand.answers[f"/jobs/{jid}"] = {**recorded("flink_job_failed"), "jid": jid}
        stand.answers[f"/jobs/{jid}/exceptions"] = recorded("flink_job_exceptions_failed")
    seen = look(stand)
    found = [(event["eventType"], event["job"]["name"], event["eventTime"]) for event in bare(list(seen.events))]

    assert found == [
        ("START", "gen_to_print", format_time(1795219557011_000)),
        ("ABORT", "gen_to_print", format_time(1795219612614_000)),
        ("START", "bounded_job", format_time(1795219611394_000)),
        ("COMPLETE", "bounded_job", format_time(1795219611641_000)),
        ("START", "failing_job", format_time(1795219612276_000)),
        ("FAIL", "failing_job", format_time(1795219612498_000)),
    ]
    error = bare(seen.events[-1])["run"]["facets"]["errorMessage"]
    assert error["message"].startswith("java.lang.NumberFormatException")
    assert error["stackTrace"].startswith("org.apache.flink.runtime.JobException: Recovery is suppressed")
    assert look(stand, seen.snapshot).events == ()
