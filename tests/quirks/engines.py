"""What query engines and the rest send: Trino, Presto, Hive, Snowflake, Marquez's export, and others."""

from typing import Any

from tests.events import columns, dataset, facet, job_event, schema
from tests.quirks.builders import Producer, Row, link, quirk, recorded, run_id

TRINO = Producer("https://github.com/trinodb/trino/plugin/trino-openlineage", "trino://coordinator:8080", "trino://coordinator:8080")
QUERY = "20261118_110640_00001_abcde"


def query(number: int, minute: float, kind: str = "INSERT") -> list[bytes]:
    """The two events of a query, which is its own job."""
    job = f"20261118_110640_{number:05}_abcde"
    about = {"trino_metadata": facet(queryPlan=f"{kind} plan"), "processing_engine": facet(version="480", name="trino")}
    return [
        TRINO.event("START", job, minute, run_facets=about),
        TRINO.event("COMPLETE", job, minute + 1, ["hive.shop.orders"], [f"hive.shop.q{number}"], run_facets=about),
    ]


TRINO_ROW = Row(
    "Trino",
    quirk(
        "2 events; START without datasets; by default only DELETE, INSERT, MERGE, UPDATE, ALTER TABLE EXECUTE",
        [
            TRINO.event("START", "starts_empty", 2, [], []),
            TRINO.event("COMPLETE", "starts_empty", 3, ["hive.shop.orders"], ["hive.shop.later"]),
            *(body for number, kind in enumerate(("DELETE", "INSERT", "MERGE", "UPDATE"), 2) for body in query(number, 4, kind)),
        ],
        "hive.shop.orders > hive.shop.later",
        *(f"hive.shop.orders > hive.shop.q{number}" for number in range(2, 6)),
    ),
    (
        quirk(
            "job = query id → unbounded job count",
            [body for number in range(10, 40) for body in query(number, number)],
            *(f"hive.shop.orders > hive.shop.q{number}" for number in range(10, 40)),
        ),
        quirk(
            "deterministic UUIDv7",
            [
                TRINO.event("START", QUERY, 50, run="019aa0d5-1c00-7abc-8def-0123456789ab"),
                TRINO.event("FAIL", QUERY, 51, ["hive.shop.orders"], ["hive.shop.q1"], run="019AA0D5-1C00-7ABC-8DEF-0123456789AB"),
            ],
            "hive.shop.orders > hive.shop.q1",
        ),
        quirk("wrong default path", query(60, 60), "hive.shop.orders > hive.shop.q60"),
    ),
)

PRESTO = Producer("https://github.com/prestodb/presto/tree/0.297", "presto://coordinator:8080", "presto://coordinator:8080")
PRESTO_ROW = Row(
    "Presto ≥ 0.297",
    quirk(
        "similar listener",
        [
            PRESTO.event("START", "20261118_1_p", 0),
            PRESTO.event("COMPLETE", "20261118_1_p", 1, ["hive.shop.orders"], ["hive.shop.presto"]),
        ],
        "hive.shop.orders > hive.shop.presto",
    ),
    (quirk("-", [PRESTO.event("FAIL", "20261118_2_p", 3, ["hive.shop.orders"])]),),
)

HIVE = Producer("https://github.com/OpenLineage/OpenLineage/tree/1.53.0/integration/hive", "hive", "hive://metastore:9083")
HIVE_ROW = Row(
    "Hive hook",
    quirk(
        "START + COMPLETE/FAIL",
        [
            HIVE.event("START", "ctas_1", 0),
            HIVE.event("COMPLETE", "ctas_1", 1, ["shop.orders"], ["shop.big_orders"]),
            HIVE.event("START", "ctas_2", 0),
            HIVE.event("FAIL", "ctas_2", 1, ["shop.orders"], ["shop.bad"]),
        ],
        "shop.orders > shop.big_orders",
        "shop.orders > shop.bad",
    ),
    (
        quirk(
            "column lineage vanishes under constant folding",
            [
                HIVE.event(
                    "COMPLETE",
                    "folded",
                    5,
                    ["shop.orders"],
                    [HIVE.data_set("shop.folded", columnLineage=columns(id=[(HIVE.data, "shop.orders", "id")], constant=[]))],
                ),
                HIVE.event(
                    "COMPLETE", "all_folded", 6, ["shop.orders"], [HIVE.data_set("shop.constant", columnLineage=columns(constant=[]))]
                ),
            ],
            "shop.orders > shop.folded",
            "shop.orders > shop.constant",
        ),
        quirk(
            "LOCATION symlinks",
            [
                HIVE.event(
                    "COMPLETE",
                    "located",
                    7,
                    ["shop.orders"],
                    [HIVE.data_set("shop.located", symlinks=link("hdfs://nn:8020", "/warehouse/shop/located", "LOCATION"))],
                )
            ],
            "shop.orders > shop.located",
        ),
    ),
)

SNOWFLAKE = Producer("https://example.org/snowflake-usage-extractor", "snowflake-usage", "snowflake://org-account")
QUOTED = dataset('SHOP.PUBLIC."Orders"', "snowflake://account.snowflakecomputing.com")
SNOWFLAKE_ROW = Row(
    "Snowflake",
    quirk(
        "receives rather than emits; account-usage extraction by third parties",
        [
            SNOWFLAKE.event("COMPLETE", "query_1", 0, ["SHOP.PUBLIC.ORDERS"], ["SHOP.PUBLIC.TOTALS"]),
            SNOWFLAKE.event("COMPLETE", "query_2", 1, [QUOTED], ["SHOP.PUBLIC.QUOTED"]),
        ],
        "SHOP.PUBLIC.ORDERS > SHOP.PUBLIC.TOTALS",
        'SHOP.PUBLIC."Orders" > SHOP.PUBLIC.QUOTED',
    ),
    (quirk("-", [SNOWFLAKE.event(None, "query_3", 2, ["SHOP.PUBLIC.ORDERS"])]),),
)

MARQUEZ = Producer("https://github.com/MarquezProject/marquez/blob/main/export", "marquez-export", "postgres://db:5432")
NULLS: dict[str, Any] = {"run_facets": {"nominalTime": None, "parent": None}, "job_facets": {"sql": None}}
CORE = "https://openlineage.io/spec/1-0-5/OpenLineage.json"
MARQUEZ_ROW = Row(
    "Marquez export / bridges",
    quirk("-", [MARQUEZ.event("COMPLETE", "exported", 0, ["a"], ["b"])], "a > b"),
    (
        quirk(
            "facets with null values (nominalTime, parent, sql), schemaURL without fragment; strip nulls before validation",
            [
                MARQUEZ.event("START", "nulls", 1, ["a"], None, **NULLS, schemaURL=CORE),
                MARQUEZ.event("COMPLETE", "nulls", 2, None, [{**MARQUEZ.data_set("c"), "facets": None}], schemaURL=CORE),
                MARQUEZ.event(None, "nulls", 3, None, [{**MARQUEZ.data_set("c"), "facets": {"schema": None}}], **NULLS),
                job_event("declared_by_marquez", producer=MARQUEZ.uri, schemaURL=CORE, inputs=None, outputs=[MARQUEZ.data_set("d")]),
            ],
            "a > c",
        ),
    ),
)


def other(name: str) -> list[bytes]:
    """One run of a producer that is seldom seen."""
    producer = Producer(f"https://example.org/{name}", name, f"{name}://host:1")
    output = producer.data_set("out", schema=schema("id"), somethingOfItsOwn=facet(of=name))
    return [producer.event("START", f"{name} job", 0, ["in"]), producer.event("COMPLETE", f"{name} job", 1, None, [output])]


SEEN_LITTLE = ("druid", "feast", "seatunnel", "streampark", "gravitino", "duckdb")
OTHERS_ROW = Row(
    "Others with support",
    quirk(
        "Druid, Feast, SeaTunnel, StreamPark, Gravitino, DuckDB extension",
        [body for name in SEEN_LITTLE for body in other(name)],
        "in > out",
    ),
    (
        quirk(
            "little seen traffic",
            [Producer("https://example.org/lone", "lone", "lone://host:1").event(None, "lone job", run=run_id("lone"))],
        ),
    ),
)
RECORDED = recorded("Marquez's demo", "food_delivery_events.ndjson")
