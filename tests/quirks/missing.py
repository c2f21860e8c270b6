"""What no recorded corpus holds, written by hand: each item of the list of what is to be synthesised, beside the two of `declared`."""

import json
from typing import Any

from tests.events import columns, dataset, facet, run_event, schema
from tests.quirks.builders import DAY_MINUTES, Producer, Quirk, job_type, link, quirk, run_id, statistics

LISTED = """ABORT and OTHER; FAIL in disorder; two terminals for one run; JobEvent and DatasetEvent with declared lineage; `_deleted`;
explicit lineage over several events; emissionPattern snapshots; KPL-aggregated records; multi-MB events; ksqlDB; consumer groups;
schema evolution; alias conflicts; two different events with equal run id, type and time; files whose names sort 1, 10, 2; statistics
only on a RUNNING event; COMPLETE-only runs; a DROP event with an empty schema facet; one table under hive:// and hdfs:// names"""
"""The list, as the survey has it."""
HUGE = "multi-MB events"
"""The item that `multi_megabyte` shows."""

LAB = Producer("https://example.org/lab/1.0.0", "lab", "kafka://lab:9092")
STREAM = job_type("LAB", "STREAMING")
SNAPSHOT = job_type(
    "LAB", "STREAMING", emissionPattern={"eventTrigger": "PERIODIC", "eventContentMode": "COMPLETE_SNAPSHOT", "windowDuration": 60}
)
CONFLUENT = Producer("https://example.org/confluent-observer", "confluent://env-1/lkc-1", "confluent://env-1/lkc-1")

ABORT_AND_OTHER = quirk(
    "ABORT and OTHER",
    [
        LAB.event("OTHER", "aborted", 0, ["a"]),
        LAB.event("START", "aborted", 1),
        LAB.event("ABORT", "aborted", 5),
        LAB.event("OTHER", "aborted", 9, None, ["b"]),
    ],
    "a > b",
)
FAIL_IN_DISORDER = quirk(
    "FAIL in disorder",
    [
        LAB.event("FAIL", "disorder", 13),
        LAB.event("RUNNING", "disorder", 12, ["a"], ["c"]),
        LAB.event("START", "disorder", 11),
    ],
    "a > c",
)
TWO_TERMINALS = quirk(
    "two terminals for one run",
    [
        LAB.event("START", "two_ends", 20, ["a"], ["d"]),
        LAB.event("FAIL", "two_ends", 21),
        LAB.event("COMPLETE", "two_ends", 21),
        LAB.event("COMPLETE", "two_ends", 22),
        LAB.event("ABORT", "two_ends_apart", 22, ["a"], ["e"]),
        LAB.event("COMPLETE", "two_ends_apart", 24),
    ],
    "a > d",
    "a > e",
)
DELETED = quirk(
    "`_deleted`",
    [
        LAB.event(
            "START",
            "deletes",
            30,
            ["a"],
            [LAB.data_set("f", ownership=facet(owners=[{"name": "team"}]), schema=schema("id"))],
            job_facets={"sql": facet(query="insert into f select * from a"), "documentation": facet(description="copies a to f")},
        ),
        LAB.event(
            "RUNNING",
            "deletes",
            31,
            ["a"],
            [LAB.data_set("f", ownership=facet(_deleted=True), columnLineage=facet(_deleted=True))],
            job_facets={"sql": facet(_deleted=True)},
        ),
        LAB.event("COMPLETE", "deletes", 32, job_facets={"documentation": facet(description="copies a to f, all of it")}),
    ],
    "a > f",
)


def entry(target: str, *sources: str, **more: Any) -> dict[str, Any]:
    """One entry of explicit lineage: a dataset from datasets."""
    inputs = [{"type": "DATASET", "namespace": LAB.data, "name": source} for source in sources]
    return {"type": "DATASET", "namespace": LAB.data, "name": target, "inputs": inputs, **more}


def explicit(*entries: dict[str, Any]) -> dict[str, Any]:
    return {"lineage": facet(entries=list(entries))}


EXPLICIT = quirk(
    "explicit lineage over several events",
    [
        LAB.event("START", "explicit", 40, ["x1", "x2", "x3"], ["y1", "y2"], job_facets=explicit(entry("y1", "x1"))),
        LAB.event("RUNNING", "explicit", 41, job_facets=explicit(entry("y1", "x2"), entry("y2"))),
        LAB.event("COMPLETE", "explicit", 42, ["x1", "x2", "x3"], ["y1", "y2"]),
    ],
    "x1 > y1",
    "x2 > y1",
    "x3 > explicit",
)
SNAPSHOTS = quirk(
    "emissionPattern snapshots",
    [
        LAB.event("START", "snapshots", 50, ["s1", "s2"], ["t"], job_facets=SNAPSHOT),
        LAB.event("RUNNING", "snapshots", 51, ["s1", "s3"], ["t"], job_facets=SNAPSHOT),
        LAB.event("RUNNING", "snapshots", 52, [], []),
        LAB.event("RUNNING", "accumulates", 50, ["s1"], ["u"], job_facets=STREAM),
        LAB.event("RUNNING", "accumulates", 51, ["s2"], ["u"], job_facets=STREAM),
    ],
    "s1 > t",
    "s3 > t",
    "s1 > u",
    "s2 > u",
)
KPL = quirk(
    "KPL-aggregated records",
    [LAB.event("RUNNING", "aggregated", 60, [f"k{number}"], ["k"], run=run_id("aggregated", str(number // 3))) for number in range(6)],
    *(f"k{number} > k" for number in range(6)),
)
PLAN_CHARACTERS = 3_000_000


def multi_megabyte() -> bytes:
    """An event of three megabytes, a plan and a wide schema, made when asked for."""
    plan = {"spark.logicalPlan": facet(plan="Project [id#1]\n" * (PLAN_CHARACTERS // 15))}
    wide = LAB.data_set("wide", schema=schema(*(f"column_{number}" for number in range(2_000))))
    return LAB.event("COMPLETE", "huge", 70, ["a"], [wide], run_facets=plan)


KSQLDB = quirk(
    "ksqlDB",
    [
        CONFLUENT.event(
            "RUNNING",
            "CSAS_ORDERS_0",
            80,
            ["orders"],
            [CONFLUENT.data_set("ORDERS_CLEAN", schema=schema("ID", "TOTAL"))],
            job_facets={
                **job_type("KSQLDB", "STREAMING", jobType="QUERY"),
                "sql": facet(query="CREATE STREAM ORDERS_CLEAN AS SELECT * FROM ORDERS EMIT CHANGES;", dialect="ksqldb"),
            },
        ),
        CONFLUENT.event("RUNNING", "CSAS_ORDERS_0", 85),
        CONFLUENT.event("ABORT", "CSAS_ORDERS_0", 90),
    ],
    "orders > ORDERS_CLEAN",
)
CONSUMER_GROUPS = quirk(
    "consumer groups",
    [
        CONFLUENT.event(
            "RUNNING", "billing-service", 80 + minute, topics, None, job_facets=job_type("KAFKA", "STREAMING", jobType="CONSUMER_GROUP")
        )
        for minute, topics in ((0, ["orders"]), (1, ["orders", "customers"]), (2, []), (3, ["customers"]))
    ],
)
EVOLUTION = quirk(
    "schema evolution",
    [
        LAB.event("RUNNING", "evolves", 100, ["a"], [LAB.data_set("evolving", schema=schema("id"))]),
        LAB.event("RUNNING", "evolves", 130, ["a"], [LAB.data_set("evolving", schema=schema("id", "amount"))]),
        LAB.event("RUNNING", "evolves", 160, ["a"], [LAB.data_set("evolving", schema=schema("id", "amount", type_="LONG"))]),
        LAB.event("RUNNING", "evolves", 2 * DAY_MINUTES, ["a"], [LAB.data_set("evolving", schema=schema("id", "amount"))]),
        LAB.event("RUNNING", "reads_evolved", 140, [LAB.data_set("evolving", schema=schema("id"))], []),
    ],
    "a > evolving",
)
ALIASES = quirk(
    "alias conflicts",
    [
        LAB.event("COMPLETE", "names_1", 110, ["a"], [dataset("p1", "s3://wh", symlinks=link("hive://m:9083", "db.t"))]),
        LAB.event("COMPLETE", "names_2", 111, ["a"], [dataset("p2", "s3://wh", symlinks=link("hive://m:9083", "db.t"))]),
        LAB.event("COMPLETE", "names_1", 112, ["a"], [dataset("p1", "s3://wh", symlinks=link("hive://m:9083", "db.t1"))]),
        LAB.event("COMPLETE", "names_3", 113, ["a"], [dataset("db.t", "hive://m:9083", symlinks=link("s3://wh", "p3", "LOCATION"))]),
    ],
    "a > p1",
    "a > p2",
    "a > db.t",
)
SAME_MOMENT = quirk(
    "two different events with equal run id, type and time",
    [
        LAB.event("RUNNING", "same_moment", 120, ["a"], [dataset("g", LAB.data, access=statistics(10))]),
        LAB.event("RUNNING", "same_moment", 120, ["h"], [dataset("g", LAB.data, access=statistics(7, 99))]),
        LAB.event("RUNNING", "same_moment", 120, ["h"], [LAB.data_set("g", schema=schema("one"))], job_facets={"sql": facet(query="one")}),
        LAB.event("RUNNING", "same_moment", 120, ["h"], [LAB.data_set("g", schema=schema("two"))], job_facets={"sql": facet(query="two")}),
    ],
    "a > g",
    "h > g",
)
FILE_NAMES = quirk(
    "files whose names sort 1, 10, 2",
    [
        LAB.event(
            type_,
            "from_files",
            200 + minute,
            [f"file_{minute}"],
            ["merged"],
            job_facets={"documentation": facet(description=f"file {minute}")},
        )
        for minute, type_ in sorted(((1, "START"), (2, "RUNNING"), (10, "COMPLETE")), key=lambda named: str(named[0]))
    ],
    "file_1 > merged",
    "file_2 > merged",
    "file_10 > merged",
)
STATISTICS = quirk(
    "statistics only on a RUNNING event",
    [
        LAB.event("START", "counts", 140, ["a"], ["counted"]),
        LAB.event("RUNNING", "counts", 141, ["a"], [dataset("counted", LAB.data, access=statistics(500, 4_000))]),
        LAB.event("RUNNING", "counts", 142, ["a"], [dataset("counted", LAB.data, access=statistics(0, 0))]),
        LAB.event("COMPLETE", "counts", 143, ["a"], [dataset("counted", LAB.data, access=("outputFacets", {"outputStatistics": None}))]),
    ],
    "a > counted",
)
COMPLETE_ONLY = quirk(
    "COMPLETE-only runs",
    [
        LAB.event("COMPLETE", "complete_only", 150 + number, ["a"], ["done"], run=run_id("complete_only", str(number)))
        for number in range(3)
    ],
    "a > done",
)
DROP = quirk(
    "a DROP event with an empty schema facet",
    [
        LAB.event("COMPLETE", "makes", 160, ["a"], [LAB.data_set("dropped", schema=schema("id"))]),
        LAB.event(
            "COMPLETE",
            "drops",
            170,
            None,
            [LAB.data_set("dropped", schema=facet(fields=[]), lifecycleStateChange=facet(lifecycleStateChange="DROP"))],
        ),
    ],
    "a > dropped",
)
HIVE_AND_HDFS = quirk(
    "one table under hive:// and hdfs:// names",
    [
        LAB.event(
            "COMPLETE",
            "hive_writes",
            180,
            ["a"],
            [dataset("shop.sales", "hive://m:9083", symlinks=link("hdfs://nn:8020", "/wh/shop.db/sales", "LOCATION"))],
        ),
        LAB.event(
            "COMPLETE",
            "spark_reads",
            181,
            [dataset("/wh/shop.db/sales", "hdfs://nn:8020", symlinks=link("hive://m:9083", "shop.sales"))],
            ["sales_report"],
        ),
    ],
    "a > shop.sales",
    "/wh/shop.db/sales > sales_report",
)
COLUMNS_GO = quirk(
    "column lineage that a later event of another run lacks",
    [
        LAB.event(
            "COMPLETE",
            "columns",
            190,
            ["a", "b"],
            [LAB.data_set("sum", columnLineage=columns(id=[(LAB.data, "a", "id")]))],
            run=run_id("columns", "1"),
        ),
        LAB.event("COMPLETE", "columns", 191, ["a", "b"], ["sum"], run=run_id("columns", "2")),
    ],
    "a > sum",
    "b > sum",
)
ONE_ID_TWO_JOBS = quirk(
    "one run id under two job names, and one that is no UUID under two",
    [
        LAB.event("START", "first_name", 210, ["a"], ["i"], run=run_id("shared")),
        LAB.event("COMPLETE", "second_name", 211, ["a"], ["j"], run=run_id("shared")),
        LAB.event("COMPLETE", "first_name", 212, ["a"], ["i"], run="run-2026-11-18"),
        LAB.event(
            "COMPLETE", "second_name", 213, ["a"], ["j"], run="run-2026-11-18", run_facets=LAB.parent("first_name", "run-2026-11-18")
        ),
    ],
    "a > i",
    "a > j",
)
REFUSED = quirk(
    "bodies that are no event",
    [b"{", b"[]", json.dumps({"eventTime": "2026-11-18T00:00:00Z"}).encode(), run_event(eventTime="not a time")],
)

SHOWN: tuple[Quirk, ...] = (
    ABORT_AND_OTHER,
    FAIL_IN_DISORDER,
    TWO_TERMINALS,
    DELETED,
    EXPLICIT,
    SNAPSHOTS,
    KPL,
    KSQLDB,
    CONSUMER_GROUPS,
    EVOLUTION,
    ALIASES,
    SAME_MOMENT,
    FILE_NAMES,
    STATISTICS,
    COMPLETE_ONLY,
    DROP,
    HIVE_AND_HDFS,
    COLUMNS_GO,
    ONE_ID_TWO_JOBS,
    REFUSED,
)
