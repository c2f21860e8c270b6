"""What Spark's OpenLineage listener sends."""

from typing import Any

from tests.events import columns, dataset, facet, schema
from tests.quirks.builders import DAY_MINUTES, Producer, Row, job_type, link, quirk, recorded, run_id, statistics

SPARK = Producer("https://github.com/OpenLineage/OpenLineage/tree/1.53.0/integration/spark", "spark", "s3://lake")
APP = "shop_app"
BATCH = job_type("SPARK", jobType="SQL_JOB")
STREAM = job_type("SPARK", "STREAMING", jobType="SQL_JOB")
UNDER = SPARK.parent(APP)


def batch_run(job: str, minute: float, run: str | None = None) -> list[bytes]:
    """START and COMPLETE of an execution that reads orders and writes `job`'s table."""
    pair: dict[str, Any] = {"reads": ["orders"], "writes": [job], "run": run, "run_facets": UNDER, "job_facets": BATCH}
    return [SPARK.event("START", job, minute, **pair), SPARK.event("COMPLETE", job, minute + 1, **pair)]


V2_WRITE = [
    SPARK.event("START", "append_data", 10, ["orders", "customers"], [], run_facets=UNDER, job_facets=BATCH),
    SPARK.event("COMPLETE", "append_data", 11, [], [SPARK.data_set("enriched", schema=schema("id", "name"))], run_facets=UNDER),
]
ONE_SIDED = [
    SPARK.event("START", "adaptive_plan", 20, run_facets=UNDER),
    SPARK.event("RUNNING", "adaptive_plan", 21, ["orders"], None, run_facets=UNDER),
    SPARK.event("RUNNING", "adaptive_plan", 22, None, [dataset("daily", "s3://lake", access=statistics(0, 0))], run_facets=UNDER),
    SPARK.event("RUNNING", "adaptive_plan", 23, [], [dataset("daily", "s3://lake", access=statistics(800, 64_000))], run_facets=UNDER),
    SPARK.event("COMPLETE", "adaptive_plan", 24, [], [], run_facets=UNDER),
]
TEMPORARY = [
    SPARK.event("COMPLETE", "stage_write", 30, ["orders"], ["report/_temporary/0/task_1", ".spark-staging-9/dt=1"]),
    SPARK.event("COMPLETE", "stage_commit", 31, ["report/_temporary/0/task_1", ".spark-staging-9/dt=1"], ["report"]),
]
WITHOUT_START = [SPARK.event("COMPLETE", "never_started", 60, ["orders"], ["never_started_out"], run_facets=UNDER)]
LARGE_PLAN = "Project [id#1, name#2]\n+- Relation [id#1,name#2] parquet\n" * 400
OLD_DEBUG = {
    "spark.logicalPlan": facet(plan=[{"class": "org.apache.spark.sql.catalyst.plans.logical.Project", "text": LARGE_PLAN}]),
    "debug": facet(classpath={"sparkVersion": "3.3.1"}, logs=["x" * 2000]),
    "spark_unknown": facet(output={"description": {"@class": "LogicalRDD"}}),
}
PLANS = [
    SPARK.event("START", "older_agent", 70, ["orders"], ["older_out"], run_facets={**UNDER, **OLD_DEBUG}),
    SPARK.event("COMPLETE", "older_agent", 71, ["orders"], ["older_out"], run_facets={**UNDER, **OLD_DEBUG}),
]
ENGINE = '"processing_engine": {"_producer": "https://x.org", "_schemaURL": "https://x.org/1", "version": "3.5.%d", "name": "spark"}'
ENGINE_TWICE = [
    SPARK.event("COMPLETE", "engine_twice", 80, ["orders"], ["engine_out"], run_facets={"processing_engine": "TWICE"}).replace(
        b'"processing_engine": "TWICE"', f"{ENGINE % 1}, {ENGINE % 2}".encode()
    )
]
INDIRECT = {"type": "INDIRECT", "subtype": "FILTER", "description": "", "masking": False}
DIRECT = {"type": "DIRECT", "subtype": "IDENTITY", "description": "", "masking": False}


def multiplied(*fields: str) -> dict[str, object]:
    """Column lineage of an older agent: the column that filters stands in every output column."""
    orders = {"namespace": "s3://lake", "name": "orders"}
    filtered = {**orders, "field": "status", "transformations": [INDIRECT]}
    return facet(fields={name: {"inputFields": [{**orders, "field": name, "transformations": [DIRECT]}, filtered]} for name in fields})


MULTIPLIED = [
    SPARK.event(
        "COMPLETE", "older_columns", 90, ["orders"], [SPARK.data_set("filtered", columnLineage=multiplied("id", "amount", "currency"))]
    )
]
MERGE = [
    SPARK.event("START", "merge_into", 100, ["gold"], [SPARK.data_set("gold", schema=schema("id", "amount"))]),
    SPARK.event("COMPLETE", "merge_into", 101, ["gold"], [SPARK.data_set("gold", columnLineage=columns(id=[("s3://lake", "gold", "id")]))]),
]
FOREACH_BATCH = [
    SPARK.event("START", "micro_batch_read", 110, ["events"], [], run_facets=SPARK.parent("foreach_app"), job_facets=STREAM),
    SPARK.event("COMPLETE", "micro_batch_read", 111, ["events"], [], run_facets=SPARK.parent("foreach_app"), job_facets=STREAM),
    SPARK.event("START", "micro_batch_write", 110.5, [], ["events_out"], run_facets=SPARK.parent("foreach_app"), job_facets=BATCH),
    SPARK.event("COMPLETE", "micro_batch_write", 110.9, [], ["events_out"], run_facets=SPARK.parent("foreach_app"), job_facets=BATCH),
]
FILE_SINK = [
    SPARK.event("START", "stream_to_files", 120, ["events"], [], job_facets=STREAM),
    SPARK.event("RUNNING", "stream_to_files", 121, ["events"], [], job_facets=STREAM),
]
LONG_STREAM = [
    SPARK.event("START", "long_stream", 130, ["events"], ["long_out"], job_facets=STREAM),
    SPARK.event("COMPLETE", "long_stream", 130 + 20 * DAY_MINUTES, [], [], job_facets=STREAM),
]
SYMLINKS = [
    SPARK.event("COMPLETE", "by_path", 140, ["orders"], [SPARK.data_set("wh/sales", symlinks=link("hive://metastore:9083", "shop.sales"))]),
    SPARK.event("COMPLETE", "by_name", 141, [dataset("shop.sales", "hive://metastore:9083")], ["sales_copy"]),
    SPARK.event("COMPLETE", "no_metastore", 142, ["orders"], [SPARK.data_set("wh/sales", symlinks=link("file:/warehouse", "shop.sales"))]),
]

ROW = Row(
    "Spark listener",
    quirk(
        "START, RUNNING, COMPLETE/FAIL per SQL execution/job; application START/COMPLETE as parent",
        [
            SPARK.event("START", APP, 0),
            *batch_run("insert_orders", 1),
            SPARK.event("RUNNING", "insert_orders", 1.5, ["orders"], ["insert_orders"], run_facets=UNDER),
            SPARK.event("START", "failing_write", 3, ["orders"], ["failing_out"], run_facets=UNDER),
            SPARK.event("FAIL", "failing_write", 4, ["orders"], ["failing_out"], run_facets=UNDER),
            SPARK.event("COMPLETE", "failing_write", 4.0002, ["orders"], ["failing_out"], run_facets=UNDER),
            SPARK.event("COMPLETE", APP, 200),
        ],
        "orders > insert_orders",
        "orders > failing_out",
    ),
    (
        quirk(
            "inputs only on START and outputs only on COMPLETE for V2 writes",
            V2_WRITE,
            "orders > enriched",
            "customers > enriched",
        ),
        quirk("RUNNING may carry only one side", ONE_SIDED, "orders > daily"),
        quirk(
            "temp and staging datasets (#652, #670)",
            TEMPORARY,
            "orders > report/_temporary/0/task_1",
            "orders > .spark-staging-9/dt=1",
            "report/_temporary/0/task_1 > report",
            ".spark-staging-9/dt=1 > report",
        ),
        quirk(
            "duplicate runs with AQE/Delta (#2104, #1828, #1041, #1600)",
            [*batch_run("delta_insert", 40, run_id("aqe", "1")), *batch_run("delta_insert", 40.1, run_id("aqe", "2"))],
            "orders > delta_insert",
        ),
        quirk(
            "AQE filter drops events (#4299)",
            [SPARK.event("START", "dropped_by_filter", 50, ["orders"], ["dropped_out"], run_facets=UNDER)],
            "orders > dropped_out",
        ),
        quirk("missing START (#2322)", WITHOUT_START, "orders > never_started_out"),
        quirk(
            "one event of 23 MB seen against a 1 MB hub limit (Purview accelerator #192), size complaints #829, #917, #402, #1260 - "
            "logical plan and debug facets off by default since #2433 yet present in older traffic",
            PLANS,
            "orders > older_out",
        ),
        quirk("duplicate JSON key processing_engine (#4943; last wins in Python)", ENGINE_TWICE, "orders > engine_out"),
        quirk(
            "older column lineage multiplies indirect columns into every output column unless dataset lineage is enabled",
            MULTIPLIED,
            "orders > filtered",
        ),
        quirk("MERGE column gaps (#3613, #2895)", MERGE, "gold > gold"),
        quirk("foreachBatch splits lineage (#3398, #2867, #2594)", FOREACH_BATCH),
        quirk("streaming file sink without outputs (#4110, #4772, #4018)", FILE_SINK),
        quirk("no RUNNING for long streams (#3105)", LONG_STREAM, "events > long_out"),
        quirk(
            "symlink disputes (#3642, #2718, #435)",
            SYMLINKS,
            "orders > wh/sales",
            "shop.sales > sales_copy",
        ),
    ),
)
RECORDED = recorded(
    "The OpenLineage agent on Spark 3.5.9, 4.1.4 and 4.2.0, with Delta and without",
    "spark/with_delta_kafka_4.1.4.ndjson",
    "spark/with_delta_kafka_4.2.0.ndjson",
    "spark/without_delta_3.5.9.ndjson",
    "spark/without_delta_4.1.4.ndjson",
)
