"""The datasets of the demo, from the shop's PostgreSQL tables to the revenue dashboard."""

from dataclasses import replace

from lineage_bridge.demo.model import Column, Dataset, System

POSTGRES = System("postgres://commerce-db.internal:5432", "commerce-db", "TABLE", row_bytes=164)
KAFKA = System("kafka://broker.internal:9092", "broker", "TOPIC", row_bytes=238)
SNOWFLAKE = System("snowflake://acme-analytics", "acme-analytics", "TABLE", row_bytes=96)
LOOKER = System("looker://acme.cloud.looker.com", "acme.cloud.looker.com", "DASHBOARD", row_bytes=48)

COMMERCE_TEAM = "team:commerce"
STREAMING_TEAM = "team:data-platform"
ANALYTICS_TEAM = "team:analytics-engineering"

ORDERS_TABLE = Dataset(
    POSTGRES,
    "commerce.public.orders",
    COMMERCE_TEAM,
    "Orders as the shop takes them. One row per order.",
    (
        Column("order_id", "bigint", "Key."),
        Column("customer_id", "bigint", "Who ordered."),
        Column("amount", "numeric(12,2)", "Price of all lines in US dollars, before the discount."),
        Column("discount", "numeric(12,2)", "Deducted from the amount, in US dollars."),
        Column("status", "text", "PLACED, PAID, SHIPPED or CANCELLED."),
        Column("created_at", "timestamp with time zone", "When the order was placed."),
    ),
)

CUSTOMERS_TABLE = Dataset(
    POSTGRES,
    "commerce.public.customers",
    COMMERCE_TEAM,
    "Everyone who has an account at the shop. One row per customer.",
    (
        Column("customer_id", "bigint", "Key."),
        Column("name", "text", "Full name.", personal="name"),
        Column("email", "text", "Address for receipts.", personal="email"),
        Column("country", "text", "ISO 3166 code of the billing address."),
    ),
)

ORDERS_TOPIC = replace(
    ORDERS_TABLE,
    system=KAFKA,
    owner=STREAMING_TEAM,
    description="Changes of the orders table, the row after each change.",
)

CUSTOMERS_TOPIC = replace(
    CUSTOMERS_TABLE,
    system=KAFKA,
    owner=STREAMING_TEAM,
    description="Changes of the customers table, the row after each change.",
)

FIRST_ENRICHED_TOPIC = Dataset(
    KAFKA,
    "order-events-enriched",
    STREAMING_TEAM,
    "Orders that were not cancelled, each with its customer.",
    (
        Column("order_id", "BIGINT"),
        Column("customer_id", "BIGINT"),
        Column("customer_name", "STRING", personal="name"),
        Column("customer_email_hash", "STRING", "SHA-256 of the customer's address in lower case."),
        Column("country", "STRING"),
        Column("amount", "DECIMAL(12, 2)", "Before the discount, US dollars."),
        Column("discount", "DECIMAL(12, 2)", "US dollars."),
        Column("ordered_at", "TIMESTAMP_LTZ(3)"),
    ),
)
"""The topic before the enrichment was deployed anew."""

ENRICHED_TOPIC = replace(
    FIRST_ENRICHED_TOPIC,
    columns=(*FIRST_ENRICHED_TOPIC.columns, Column("status", "STRING", "PLACED, PAID or SHIPPED.")),
)

ENRICHED_TABLE = Dataset(
    SNOWFLAKE,
    "analytics_db.raw.orders_enriched",
    STREAMING_TEAM,
    "Landing table of the topic order-events-enriched. One row per record of the topic.",
    (
        Column("order_id", "NUMBER(38,0)"),
        Column("customer_id", "NUMBER(38,0)"),
        Column("customer_name", "VARCHAR", personal="name"),
        Column("customer_email_hash", "VARCHAR"),
        Column("country", "VARCHAR"),
        Column("amount", "NUMBER(12,2)"),
        Column("discount", "NUMBER(12,2)"),
        Column("ordered_at", "TIMESTAMP_TZ"),
    ),
)

ORDERS_FACT = Dataset(
    SNOWFLAKE,
    "analytics_db.analytics.orders_fact",
    ANALYTICS_TEAM,
    "Orders for analysis, in net US dollars.",
    (
        Column("order_id", "NUMBER(38,0)"),
        Column("customer_id", "NUMBER(38,0)"),
        Column("customer_email_hash", "VARCHAR"),
        Column("country", "VARCHAR"),
        Column("net_amount", "NUMBER(13,2)", "Amount less discount, US dollars."),
        Column("order_date", "DATE", "UTC day the order was placed."),
    ),
)

DAILY_REVENUE = Dataset(
    SNOWFLAKE,
    "analytics_db.analytics.daily_revenue_summary",
    ANALYTICS_TEAM,
    "Revenue by day. One row per UTC day.",
    (
        Column("order_date", "DATE", "Key."),
        Column("revenue", "NUMBER(38,2)", "Sum of net amounts, US dollars."),
        Column("order_count", "NUMBER(38,0)"),
        Column("buyer_count", "NUMBER(38,0)", "Different customers that ordered."),
        Column("average_order_value", "NUMBER(38,2)", "US dollars."),
    ),
)

DASHBOARD = Dataset(
    LOOKER,
    "Executive Revenue Dashboard",
    ANALYTICS_TEAM,
    "What the board looks at: revenue, orders and buyers of today.",
    (
        Column("revenue_today", "number", "US dollars."),
        Column("order_count", "number"),
        Column("buyer_count", "number"),
        Column("average_order_value", "number", "US dollars."),
    ),
)
