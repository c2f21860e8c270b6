"""What streaming systems send: Flink 1 and 2, Debezium, the Kafka Connect transform."""

from typing import Any

from tests.events import dataset, facet, schema
from tests.quirks.builders import Producer, Row, job_type, link, quirk, recorded, run_id

KAFKA = "kafka://broker:9092"

FLINK_1 = Producer("https://github.com/OpenLineage/OpenLineage/tree/1.53.0/integration/flink", "flink1", KAFKA)
FLINK_STREAM = job_type("FLINK", "STREAMING", jobType="JOB")
FLINK_1_ROW = Row(
    "Flink 1",
    quirk(
        "START, RUNNING at checkpoints with datasets, terminal",
        [
            FLINK_1.event("START", "totals", 0, ["orders"], ["totals"], job_facets=FLINK_STREAM),
            FLINK_1.event("RUNNING", "totals", 1, ["orders"], ["totals"], run_facets={"checkpoints": facet(completed=1, failed=0)}),
            FLINK_1.event("RUNNING", "totals", 2, ["orders"], ["totals"], run_facets={"checkpoints": facet(completed=2, failed=0)}),
            FLINK_1.event("COMPLETE", "totals", 3, ["orders"], ["totals"]),
        ],
        "orders > totals",
    ),
    (
        quirk(
            "attached application mode only",
            [FLINK_1.event("START", "attached", 4, ["orders"], ["attached_out"], job_facets=FLINK_STREAM)],
            "orders > attached_out",
        ),
    ),
)

FLINK = Producer("https://github.com/OpenLineage/OpenLineage/tree/1.53.0/integration/flink", "flink2", KAFKA)


def local(topic: str, table: str) -> dict[str, Any]:
    """A topic under the name a session gave it, which another session may give to another topic."""
    return FLINK.data_set(topic, symlinks=link(KAFKA, f"default_catalog.default_database.{table}"))


LOST = ["orders"]
FLINK_2_ROW = Row(
    "Flink 2",
    quirk(
        "START with datasets; RUNNING (checkpoint poll, 60 s) and terminal **without datasets or jobType**",
        [
            FLINK.event("START", "enrich", 0, ["orders"], ["enriched"], job_facets=FLINK_STREAM),
            *(FLINK.event("RUNNING", "enrich", minute) for minute in range(1, 6)),
            FLINK.event("COMPLETE", "enrich", 6, [], []),
        ],
        "orders > enriched",
    ),
    (
        quirk(
            "the mechanism behind the Marquez/DataHub graph loss",
            [
                FLINK.event("START", "graph_loss", 10, LOST, ["kept"], job_facets=FLINK_STREAM),
                FLINK.event("RUNNING", "graph_loss", 11, [], []),
                FLINK.event("RUNNING", "graph_loss", 12, LOST, ["kept"]),
            ],
            "orders > kept",
        ),
        quirk(
            "CANCELED became ABORT in 1.50 (#4615)",
            [
                FLINK.event("START", "canceled", 20, ["orders"], ["canceled_out"], job_facets=FLINK_STREAM, run=run_id("canceled", "1.49")),
                FLINK.event("FAIL", "canceled", 21, run=run_id("canceled", "1.49")),
                FLINK.event("START", "canceled", 22, ["orders"], ["canceled_out"], job_facets=FLINK_STREAM, run=run_id("canceled", "1.50")),
                FLINK.event("ABORT", "canceled", 23, run=run_id("canceled", "1.50")),
            ],
            "orders > canceled_out",
        ),
        quirk(
            "detached mode sends only START unless enabled (#4596, #3788)",
            [FLINK.event("START", "detached", 30, ["orders"], ["detached_out"], job_facets=FLINK_STREAM)],
            "orders > detached_out",
        ),
        quirk(
            "RUNNING can follow FAIL/ABORT",
            [
                FLINK.event("START", "straggler", 40, ["orders"], ["straggler_out"], job_facets=FLINK_STREAM),
                FLINK.event("ABORT", "straggler", 45),
                FLINK.event("RUNNING", "straggler", 45.5),
                FLINK.event("START", "failed_straggler", 46, ["orders"], ["failed_out"], job_facets=FLINK_STREAM),
                FLINK.event("FAIL", "failed_straggler", 47),
                FLINK.event("RUNNING", "failed_straggler", 47.2),
            ],
            "orders > straggler_out",
            "orders > failed_out",
        ),
        quirk(
            "first bootstrap server only",
            [
                FLINK.event("START", "first_server", 50, [dataset("orders", "kafka://b1:9092")], ["first_out"]),
                FLINK.event("START", "all_servers", 51, [dataset("orders", "kafka://b1:9092,b2:9092")], ["all_out"]),
            ],
            "orders > first_out",
            "orders > all_out",
        ),
        quirk(
            "topic lists/patterns unsplit or null names",
            [
                FLINK.event("START", "topic_list", 52, ["orders;customers", "shop-.*"], ["listed_out"]),
                FLINK.event("START", "null_name", 53, ["orders"], [dataset("null", KAFKA)]),
                FLINK.event("START", "no_name", 54, ["orders"], [dataset("", KAFKA)]),
            ],
            "orders;customers > listed_out",
            "shop-.* > listed_out",
            "orders > null",
            "orders > ",
        ),
        quirk(
            "Kafka and JDBC connectors only",
            [
                FLINK.event("START", "to_jdbc", 55, ["orders"], [dataset("shop.public.orders", "postgres://db:5432")]),
                FLINK.event("START", "datagen_to_topic", 56, [], [local("generated", "t")]),
            ],
            "orders > shop.public.orders",
        ),
        quirk(
            "no column lineage",
            [
                FLINK.event("START", "two_to_two", 57, [local("left", "l"), local("right", "t")], ["sum", "count"]),
                FLINK.event("START", "other_session", 58, [local("unrelated", "t")], ["unrelated_out"]),
            ],
            "left > sum",
            "left > count",
            "right > sum",
            "right > count",
            "unrelated > unrelated_out",
        ),
        quirk(
            "tracking can be switched off",
            [
                FLINK.event("START", "untracked", 60, ["orders"], ["untracked_out"], job_facets=FLINK_STREAM, run=run_id("untracked", "1")),
                FLINK.event("START", "untracked", 90, ["orders"], ["untracked_out"], job_facets=FLINK_STREAM, run=run_id("untracked", "2")),
            ],
            "orders > untracked_out",
        ),
    ),
)

DEBEZIUM = Producer("https://github.com/debezium/debezium/v3.5.0.Final", "debezium", KAFKA)
TASK = job_type("DEBEZIUM", "STREAMING", jobType="TASK")
ENVELOPE = schema("before", "after", "source", "op", "ts_ms", type_="STRUCT")
TABLE = {"datasetType": facet(datasetType="TABLE", subType="")}
CLEAR_CONFIG = {"debezium_config": facet(configs=["connector.class=io.debezium.connector.mysql", "database.password=not-masked-there"])}


def table(name: str, *fields: str) -> dict[str, Any]:
    return dataset(f"shop.public.{name}", "postgres://db:5432", None, schema=schema(*(fields or ("id",))), **TABLE)


def change(type_: str | None, job: str, minute: float, reads: Any = None, writes: Any = None, **more: Any) -> bytes:
    return DEBEZIUM.event(type_, job, minute, reads or [], writes or [], **{"job_facets": TASK, **more})


def fine_digits(body: bytes, digits: str) -> bytes:
    """The same event with nine digits of a second."""
    return body.replace(b'.000000Z"', f'.{digits}Z"'.encode())


DEBEZIUM_ROW = Row(
    "Debezium ≥ 3.2",
    quirk(
        "START, periodic RUNNING, COMPLETE, FAIL; per table",
        [
            change("START", "shop.0", 0),
            change("RUNNING", "shop.0", 1, [table("orders")]),
            change("RUNNING", "shop.0", 2, [table("customers")]),
            change("RUNNING", "shop.0", 3, None, ["shop.public.orders"]),
            change("FAIL", "shop.0", 4, run_facets={"errorMessage": facet(message="walsender killed", programmingLanguage="java")}),
            change("FAIL", "shop.0", 4.1),
            change("RUNNING", "shop.0", 6),
            change("COMPLETE", "shop.0", 50),
        ],
        "shop.public.orders > shop.public.orders",
        "shop.public.customers > shop.public.orders",
    ),
    (
        quirk(
            "source event has the table as input",
            [change("START", "input_only.0", 10), change("RUNNING", "input_only.0", 11, [table("stock")])],
        ),
        quirk(
            "output topics come on a separate RUNNING with empty inputs, through a transform",
            [
                change("RUNNING", "apart.0", 12, [table("apart")]),
                change("RUNNING", "apart.0", 13, [], [DEBEZIUM.data_set("apart.topic", schema=ENVELOPE)]),
            ],
            "shop.public.apart > apart.topic",
        ),
        quirk(
            "sinks (Mongo, JDBC) since DBZ-9469",
            [
                change("START", "jdbc-out.0", 14),
                change("RUNNING", "jdbc-out.0", 15, [DEBEZIUM.data_set("apart.topic", schema=ENVELOPE)]),
                change("RUNNING", "jdbc-out.0", 16, None, [dataset("shop.public.copy", "postgres://db:5432", schema=ENVELOPE)]),
                change("RUNNING", "mongo-out.0", 17, ["apart.topic"], [dataset("shop.copy", "mongodb://m:27017")]),
            ],
            "apart.topic > shop.public.copy",
            "apart.topic > shop.copy",
        ),
        quirk(
            "an older published sample has a config facet with **database.password in clear** (3.5 masks it)",
            [change("START", "older.0", 18, [table("secret")], run_facets=CLEAR_CONFIG)],
        ),
        quirk(
            "topic typed TABLE until DBZ-9285",
            [
                change("RUNNING", "typed.0", 19, None, [DEBEZIUM.data_set("typed", **TABLE)]),
                change("RUNNING", "typed.0", 20, None, [DEBEZIUM.data_set("typed", datasetType=facet(datasetType="STREAM"))]),
            ],
        ),
        quirk(
            "envelope fields before/after/source/op as schema",
            [change("RUNNING", "envelope.0", 21, [table("e", "id", "name")], [DEBEZIUM.data_set("e.topic", schema=ENVELOPE)])],
            "shop.public.e > e.topic",
        ),
        quirk(
            "9-digit fractions",
            [
                fine_digits(change("START", "fractions.0", 22), "665235185"),
                fine_digits(change("RUNNING", "fractions.0", 22, [table("f")]), "665235186"),
                fine_digits(change("RUNNING", "fractions.0", 22, None, ["f.topic"]), "665235999"),
            ],
            "shop.public.f > f.topic",
        ),
    ),
)

CONNECT = Producer("https://github.com/OpenLineage/kafka-connect-smt", "kafka-connect", KAFKA)
AVRO = schema("id", "amount", type_="long")
CONNECT_ROW = Row(
    "Kafka Connect SMT (seed 003)",
    quirk(
        "RUNNING, COMPLETE, FAIL; **no START**",
        [
            CONNECT.event("RUNNING", "s3-sink", 0, ["orders"], ["s3-orders"]),
            CONNECT.event("COMPLETE", "s3-sink", 5),
            CONNECT.event("RUNNING", "failing-sink", 6, ["orders"], ["failing"]),
            CONNECT.event("FAIL", "failing-sink", 7),
        ],
        "orders > s3-orders",
        "orders > failing",
    ),
    (
        quirk(
            "needs tasks.max 1",
            [
                CONNECT.event("RUNNING", "many-tasks", minute, ["orders"], ["many"], run=run_id("many-tasks", task))
                for minute, task in ((10, "0"), (10, "1"), (10, "2"))
            ],
            "orders > many",
        ),
        quirk(
            "Avro only",
            [CONNECT.event("RUNNING", "avro", 12, [CONNECT.data_set("avro-in", schema=AVRO)], ["avro-out"])],
            "avro-in > avro-out",
        ),
        quirk(
            "no schema version tracking",
            [
                CONNECT.event("RUNNING", "evolving", 13, [CONNECT.data_set("evolving-in", schema=schema("id"))], ["evolving-out"]),
                CONNECT.event("RUNNING", "evolving", 33, [CONNECT.data_set("evolving-in", schema=schema("id", "x"))], ["evolving-out"]),
            ],
            "evolving-in > evolving-out",
        ),
        quirk("initial failure unreported", [CONNECT.event("FAIL", "failed-later", 40)]),
        quirk(
            "sink dataset named by topic. A Connect extension in Apache Kafka (PR 22050) was closed",
            [
                CONNECT.event(
                    "RUNNING",
                    "named-by-topic",
                    41,
                    [dataset("orders", "kafka")],
                    [dataset("orders", "s3://bucket", storage=facet(storageLayer="s3", fileFormat="avro"))],
                )
            ],
            "orders > orders",
        ),
        quirk(
            "Iceberg connector request iceberg #14511",
            [CONNECT.event("RUNNING", "iceberg-sink", 42, ["orders"], [dataset("wh/shop/orders", "s3://lake")])],
            "orders > wh/shop/orders",
        ),
    ),
)

RECORDED = (
    recorded("The OpenLineage listener of Flink 2.3.0, attached", "flink/flink_openlineage_events_attached.ndjson"),
    recorded("The same, detached", "flink/flink_openlineage_events_detached.ndjson"),
    recorded("Debezium 3.5.0 from PostgreSQL", "debezium/debezium_events.ndjson"),
    recorded("Debezium's JDBC sink", "debezium/debezium_jdbc_sink_events.ndjson"),
)
