"""What schedulers and builders send: Airflow, dbt, Great Expectations, Dagster."""

from typing import Any

from tests.events import facet, schema
from tests.quirks.builders import DAY_MINUTES, Producer, Row, job_type, quirk, run_id

AIRFLOW = Producer("https://github.com/apache/airflow/tree/providers-openlineage/2.7.0", "airflow", "postgres://db:5432")
DAG = job_type("AIRFLOW", jobType="DAG")
TASK = job_type("AIRFLOW", jobType="TASK")
UNDER_DAG = AIRFLOW.parent("shop_dag", root="shop_dag")
UNKNOWN_SOURCE = facet(unknownItems=[{"name": "BashOperator", "properties": {"task_id": "load", "bash_command": "echo"}}])
SECRETS = facet(task={"task_id": "pay", "params": {"card_api_url": "https://bank", "note": "all of it"}}, dag={"dag_id": "shop_dag"})


def task(name: str, minute: float, reads: list[Any], writes: list[Any], end: str = "COMPLETE", **facets: Any) -> list[bytes]:
    """A task: its START names nothing, its end does."""
    run_facets = {**UNDER_DAG, **facets}
    return [
        AIRFLOW.event("START", name, minute, [], [], run_facets=run_facets, job_facets=TASK),
        AIRFLOW.event(end, name, minute + 2, reads, writes, run_facets=run_facets, job_facets=TASK),
    ]


AIRFLOW_ROW = Row(
    "Airflow provider",
    quirk(
        "DAG run + task START/COMPLETE/FAIL",
        [
            AIRFLOW.event("START", "shop_dag", 0, job_facets=DAG),
            *task("shop_dag.load", 1, ["shop.public.orders"], ["shop.public.orders_clean"]),
            *task("shop_dag.broken", 4, ["shop.public.orders"], ["shop.public.never"], end="FAIL"),
            AIRFLOW.event("COMPLETE", "shop_dag", 30, job_facets=DAG),
        ],
        "shop.public.orders > shop.public.orders_clean",
        "shop.public.orders > shop.public.never",
    ),
    (
        quirk(
            "START usually without datasets",
            task("shop_dag.quiet_start", 6, ["shop.public.a"], ["shop.public.b"]),
            "shop.public.a > shop.public.b",
        ),
        quirk(
            "deterministic UUIDs",
            [
                AIRFLOW.event("START", "shop_dag.retried", 8, run=run_id("shop_dag", "2026-11-18", "retried", "1"), run_facets=UNDER_DAG),
                AIRFLOW.event("FAIL", "shop_dag.retried", 9, run=run_id("shop_dag", "2026-11-18", "retried", "1"), run_facets=UNDER_DAG),
                AIRFLOW.event("START", "shop_dag.retried", 12, run=run_id("shop_dag", "2026-11-18", "retried", "1"), run_facets=UNDER_DAG),
                AIRFLOW.event(
                    "COMPLETE",
                    "shop_dag.retried",
                    13,
                    ["shop.public.a"],
                    ["shop.public.c"],
                    run=run_id("shop_dag", "2026-11-18", "retried", "1"),
                ),
            ],
            "shop.public.a > shop.public.c",
        ),
        quirk(
            "10 s extraction limit can drop the event",
            [AIRFLOW.event("START", "shop_dag.slow_extraction", 14, [], [], run_facets=UNDER_DAG, job_facets=TASK)],
        ),
        quirk(
            "EmptyOperator and skipped tasks silent",
            [
                *task("shop_dag.before_gap", 16, ["shop.public.a"], ["shop.public.d"]),
                *task(
                    "shop_dag.after_gap",
                    20,
                    ["shop.public.d"],
                    ["shop.public.e"],
                    jobDependencies=facet(upstream=[{"job": {"namespace": "airflow", "name": "shop_dag.skipped"}}]),
                ),
            ],
            "shop.public.a > shop.public.d",
            "shop.public.d > shop.public.e",
        ),
        quirk(
            "externally changed state not reported",
            [AIRFLOW.event("START", "shop_dag.marked_by_hand", 24, ["shop.public.a"], ["shop.public.f"], run_facets=UNDER_DAG)],
            "shop.public.a > shop.public.f",
        ),
        quirk(
            "unknownSourceAttribute on 20 of 32 corpus events",
            task("shop_dag.bash", 26, [], [], unknownSourceAttribute=UNKNOWN_SOURCE),
        ),
        quirk(
            "root added (Airflow #49237)",
            [
                AIRFLOW.event("START", "shop_dag.old_root", 28, run_facets=AIRFLOW.parent("shop_dag")),
                AIRFLOW.event("COMPLETE", "shop_dag.old_root", 29, run_facets=AIRFLOW.parent("shop_dag", root="trigger_dag")),
            ],
        ),
        quirk(
            "full task info may carry sensitive values",
            task("shop_dag.pay", 31, ["shop.public.a"], ["shop.public.paid"], airflow=SECRETS),
            "shop.public.a > shop.public.paid",
        ),
    ),
)

DBT = Producer("https://github.com/OpenLineage/OpenLineage/tree/1.53.0/integration/dbt", "dbt", "snowflake://org-account")
MODEL = job_type("DBT", jobType="MODEL")
COMMAND = DBT.parent("dbt-run-shop")
NODE = DBT.parent("model.shop.totals", root="dbt-run-shop")
LONG_AGO = -200 * DAY_MINUTES
TESTED = facet(assertions=[{"assertion": "not_null", "success": False, "column": "id"}, {"assertion": "unique", "success": True}])


def model(producer: Producer, name: str, minute: float, source: str, target: str) -> list[bytes]:
    """The pair of events of a model."""
    pair: dict[str, Any] = {"run_facets": COMMAND, "job_facets": MODEL}
    return [
        producer.event("START", name, minute, [source], [producer.data_set(target, schema=schema("id"))], **pair),
        producer.event("COMPLETE", name, minute + 0.5, [source], [target], **pair),
    ]


DBT_ROW = Row(
    "dbt",
    quirk(
        "wrapper: pairs per node after the run from artifacts; structured-log mode: live command → node → SQL hierarchy",
        [
            *model(DBT, "model.shop.stg", 40, "raw.orders", "stg.orders"),
            DBT.event("START", "dbt-run-shop", 41),
            DBT.event("START", "model.shop.totals", 42, run_facets=COMMAND),
            DBT.event("START", "model.shop.totals.sql.1", 43, ["stg.orders"], ["mart.totals"], run_facets=NODE),
            DBT.event("COMPLETE", "model.shop.totals.sql.1", 44, ["stg.orders"], ["mart.totals"], run_facets=NODE),
            DBT.event("COMPLETE", "model.shop.totals", 45, ["stg.orders"], ["mart.totals"], run_facets=COMMAND),
            DBT.event("COMPLETE", "dbt-run-shop", 46),
        ],
        "raw.orders > stg.orders",
        "stg.orders > mart.totals",
    ),
    (
        quirk("event times are historical", model(DBT, "model.shop.old", LONG_AGO, "raw.old", "stg.old"), "raw.old > stg.old"),
        quirk(
            "namespace differs by adapter",
            [
                *model(DBT, "model.shop.one", 48, "raw.one", "stg.one"),
                *model(Producer(DBT.uri, "dbt", "databricks://adb-1.azuredatabricks.net"), "model.shop.one", 50, "raw.one", "stg.one"),
            ],
            "raw.one > stg.one",
        ),
        quirk(
            "tests as run/assertion facets",
            [
                DBT.event(
                    "COMPLETE",
                    "test.shop.not_null",
                    52,
                    [{**DBT.data_set("mart.totals"), "inputFacets": {"dataQualityAssertions": TESTED}}],
                    run_facets={"test": facet(tests=[{"name": "not_null", "status": "fail", "severity": "error"}])},
                )
            ],
        ),
        quirk("failing tests as FAIL", [DBT.event("FAIL", "test.shop.unique", 53, ["mart.totals"], [], run_facets=COMMAND)]),
    ),
)

EXPECTATIONS = Producer("no uri at all", "great_expectations", "postgres://db:5432")
WITHOUT_A_ZONE = EXPECTATIONS.event("COMPLETE", "validate_local_time", 56, ["shop.public.orders"])
WITHOUT_A_ZONE = WITHOUT_A_ZONE.replace(b'Z", "producer"', b'", "producer"')
EXPECTATIONS_ROW = Row(
    "Great Expectations",
    quirk(
        "one COMPLETE with assertions",
        [
            EXPECTATIONS.event(
                "COMPLETE",
                "validate_orders",
                55,
                [{**EXPECTATIONS.data_set("shop.public.orders"), "inputFacets": {"dataQualityAssertions": TESTED}}],
            )
        ],
    ),
    (quirk("invalid producer/eventTime fixed only recently (#4846)", [WITHOUT_A_ZONE]),),
)

DAGSTER = Producer("https://github.com/OpenLineage/OpenLineage/tree/1.53.0/integration/dagster", "dagster", "postgres://db:5432")
DAGSTER_ROW = Row(
    "Dagster",
    quirk(
        "community package over sensors",
        [
            DAGSTER.event("START", "asset_job", 60),
            DAGSTER.event("START", "asset_job.step", 60.1, run_facets=DAGSTER.parent("asset_job")),
            DAGSTER.event("COMPLETE", "asset_job.step", 61, run_facets=DAGSTER.parent("asset_job")),
            DAGSTER.event("COMPLETE", "asset_job", 62),
        ],
    ),
    (
        quirk(
            "several sensors duplicate runs",
            [
                DAGSTER.event(type_, "twice", 64 + minute, ["shop.public.x"], ["shop.public.y"], run=run_id("dagster", sensor))
                for sensor in ("sensor 1", "sensor 2")
                for minute, type_ in enumerate(("START", "COMPLETE"))
            ],
            "shop.public.x > shop.public.y",
        ),
    ),
)
