"""The jobs of the demo, with the column lineage of their outputs."""

from lineage_bridge.demo.datasets import (
    ANALYTICS_TEAM,
    CUSTOMERS_TABLE,
    CUSTOMERS_TOPIC,
    DAILY_REVENUE,
    DASHBOARD,
    ENRICHED_TABLE,
    ENRICHED_TOPIC,
    FIRST_ENRICHED_TOPIC,
    ORDERS_FACT,
    ORDERS_TABLE,
    ORDERS_TOPIC,
    STREAMING_TEAM,
)
from lineage_bridge.demo.facets import facets
from lineage_bridge.demo.model import Dataset, Job, Source, copied, lineage
from lineage_bridge.openlineage.event_builder import Json

HEARTBEAT_S = 30 * 60
REPOSITORY = "https://git.acme.example/data-platform/streaming-jobs"
FIRST_REVISION = "4f7d20c86be15a93cd40e8127fb69d35a01c84e6"
REVISION = "9c1e4b7a52d80f3361a7be0d4c95f28e6a1037bd"

FIRST_ENRICHMENT_SQL = """\
INSERT INTO order_events_enriched
SELECT o.order_id, o.customer_id, c.name AS customer_name, SHA256(LOWER(c.email)) AS customer_email_hash,
       c.country, o.amount, o.discount, o.created_at AS ordered_at
FROM orders AS o JOIN customers AS c ON o.customer_id = c.customer_id
WHERE o.status <> 'CANCELLED'"""
ENRICHMENT_SQL = FIRST_ENRICHMENT_SQL.replace("AS ordered_at", "AS ordered_at, o.status")

ORDERS_FACT_SQL = """\
SELECT order_id, customer_id, customer_email_hash, country,
       amount - discount AS net_amount, CAST(ordered_at AS DATE) AS order_date
FROM analytics_db.raw.orders_enriched
WHERE order_id IS NOT NULL"""

DAILY_REVENUE_SQL = """\
SELECT order_date, SUM(net_amount) AS revenue, COUNT(order_id) AS order_count,
       COUNT(DISTINCT customer_id) AS buyer_count, AVG(net_amount) AS average_order_value
FROM analytics_db.analytics.orders_fact
GROUP BY order_date"""

DASHBOARD_SQL = """\
SELECT revenue AS revenue_today, order_count, buyer_count, average_order_value
FROM analytics_db.analytics.daily_revenue_summary
WHERE order_date = CURRENT_DATE"""


def _job_facets(kind: Json, owner: str, description: str, **further: Json) -> Json:
    described: Json = {
        "jobType": kind,
        "ownership": facets.ownership("Job", owner),
        "documentation": facets.documentation("Job", description),
    }
    return {**described, **further}


def _mirror(source: Dataset, target: Dataset) -> tuple[Dataset, Json]:
    return target, lineage(copied(source, *(column.name for column in source.columns)))


CDC = Job(
    "kafka-connect",
    "commerce-cdc",
    _job_facets(
        facets.job_type("STREAMING", "DEBEZIUM", "TASK"),
        STREAMING_TEAM,
        "Captures each change of the shop's orders and customers and writes it to Kafka.",
    ),
    ("Debezium", "3.5.0.Final"),
    (ORDERS_TABLE, CUSTOMERS_TABLE),
    (_mirror(ORDERS_TABLE, ORDERS_TOPIC), _mirror(CUSTOMERS_TABLE, CUSTOMERS_TOPIC)),
)


def _enrichment(topic: Dataset, sql: str, revision: str, **further: list[Source]) -> Job:
    """Make a version of the Flink job: its output, its code, and the columns that it has in addition to those of the first version."""
    return Job(
        "flink-jobs",
        "order-enrichment",
        _job_facets(
            facets.job_type("STREAMING", "FLINK", "JOB", period_s=HEARTBEAT_S),
            STREAMING_TEAM,
            "Joins orders with their customers and leaves out cancelled orders.",
            sql=facets.sql(sql, "flink"),
            sourceCodeLocation=facets.source_code_location(REPOSITORY, "sql/order_enrichment.sql", revision),
        ),
        ("flink", "2.3.0"),
        (ORDERS_TOPIC, CUSTOMERS_TOPIC),
        (
            (
                topic,
                lineage(
                    {
                        **copied(ORDERS_TOPIC, "order_id", "customer_id", "amount", "discount"),
                        **copied(CUSTOMERS_TOPIC, "country"),
                        "customer_name": [Source(CUSTOMERS_TOPIC, "name")],
                        "customer_email_hash": [Source(CUSTOMERS_TOPIC, "email", "TRANSFORMATION", "SHA256(LOWER(email))", masking=True)],
                        "ordered_at": [Source(ORDERS_TOPIC, "created_at")],
                        **further,
                    },
                    [
                        Source(ORDERS_TOPIC, "customer_id", "JOIN"),
                        Source(CUSTOMERS_TOPIC, "customer_id", "JOIN"),
                        Source(ORDERS_TOPIC, "status", "FILTER", "status <> 'CANCELLED'"),
                    ],
                ),
            ),
        ),
    )


FIRST_ENRICHMENT = _enrichment(FIRST_ENRICHED_TOPIC, FIRST_ENRICHMENT_SQL, FIRST_REVISION)
ENRICHMENT = _enrichment(ENRICHED_TOPIC, ENRICHMENT_SQL, REVISION, **copied(ORDERS_TOPIC, "status"))

SINK = Job(
    "kafka-connect",
    "snowflake-orders-sink",
    _job_facets(
        facets.job_type("STREAMING", "KAFKA_CONNECT", "CONNECTOR"),
        STREAMING_TEAM,
        "Appends each enriched order to a Snowflake table.",
    ),
    ("Kafka Connect", "4.3.1"),
    (FIRST_ENRICHED_TOPIC,),
    (_mirror(FIRST_ENRICHED_TOPIC, ENRICHED_TABLE),),
)

BUILD = Job(
    "dbt",
    "dbt-run-shop",
    _job_facets(
        facets.job_type("BATCH", "DBT", "JOB"),
        ANALYTICS_TEAM,
        "Builds every model of the dbt project shop.",
    ),
    ("dbt", "1.10.4"),
)

FACT_MODEL = Job(
    "dbt",
    "analytics_db.analytics.shop.orders_fact",
    _job_facets(
        facets.job_type("BATCH", "DBT", "MODEL"),
        ANALYTICS_TEAM,
        "Model orders_fact of the dbt project shop.",
        sql=facets.sql(ORDERS_FACT_SQL, "snowflake"),
    ),
    ("dbt", "1.10.4"),
    (ENRICHED_TABLE,),
    (
        (
            ORDERS_FACT,
            lineage(
                {
                    **copied(ENRICHED_TABLE, "order_id", "customer_id", "customer_email_hash", "country"),
                    "net_amount": [
                        Source(ENRICHED_TABLE, "amount", "TRANSFORMATION", "amount - discount"),
                        Source(ENRICHED_TABLE, "discount", "TRANSFORMATION", "amount - discount"),
                    ],
                    "order_date": [Source(ENRICHED_TABLE, "ordered_at", "TRANSFORMATION", "cast to date")],
                },
                [Source(ENRICHED_TABLE, "order_id", "FILTER", "order_id is not null")],
            ),
        ),
    ),
)

REVENUE_MODEL = Job(
    "dbt",
    "analytics_db.analytics.shop.daily_revenue_summary",
    _job_facets(
        facets.job_type("BATCH", "DBT", "MODEL"),
        ANALYTICS_TEAM,
        "Model daily_revenue_summary of the dbt project shop.",
        sql=facets.sql(DAILY_REVENUE_SQL, "snowflake"),
    ),
    ("dbt", "1.10.4"),
    (ORDERS_FACT,),
    (
        (
            DAILY_REVENUE,
            lineage(
                {
                    **copied(ORDERS_FACT, "order_date"),
                    "revenue": [Source(ORDERS_FACT, "net_amount", "AGGREGATION", "sum")],
                    "order_count": [Source(ORDERS_FACT, "order_id", "AGGREGATION", "count", masking=True)],
                    "buyer_count": [Source(ORDERS_FACT, "customer_id", "AGGREGATION", "count distinct", masking=True)],
                    "average_order_value": [Source(ORDERS_FACT, "net_amount", "AGGREGATION", "average")],
                },
                [Source(ORDERS_FACT, "order_date", "GROUP_BY")],
            ),
        ),
    ),
)

REFRESH = Job(
    "looker",
    "executive_revenue_dashboard.refresh",
    _job_facets(
        facets.job_type("BATCH", "LOOKER", "REFRESH"),
        ANALYTICS_TEAM,
        "Queries the warehouse again for the dashboard.",
        sql=facets.sql(DASHBOARD_SQL, "snowflake"),
    ),
    ("Looker", "26.18"),
    (DAILY_REVENUE,),
    (
        (
            DASHBOARD,
            lineage(
                {
                    **copied(DAILY_REVENUE, "order_count", "buyer_count", "average_order_value"),
                    "revenue_today": [Source(DAILY_REVENUE, "revenue")],
                },
                [Source(DAILY_REVENUE, "order_date", "FILTER", "order_date = current_date")],
            ),
        ),
    ),
)
