"""Edges that a person read from the organization's configurations and SQL. `expected_edges` must have all of EDGES and none of NOT_EDGES.

A line is `system | source | target | job`. A dataset or job is `namespace name`, a column `namespace name : column`, and `-` stands for
none. `$orders` stands for the namespace of that cluster.
"""

from tests.confluent.expected_edges import Column, Edge, Name

SPACES = {
    "$orders": "confluent://env-p9k2x7/lkc-p1ord7",
    "$payments": "confluent://env-p9k2x7/lkc-p2pay4",
    "$web": "confluent://env-p9k2x7/lkc-p3web9",
    "$logistics": "confluent://env-p9k2x7/lkc-p4log2",
    "$test": "confluent://env-s4m8d1/lkc-s2tst8",
    "$warehouse": "confluent://env-a7n3t5/lkc-a1dwh3",
    "$lab": "confluent://env-a7n3t5/lkc-a2lab6",
    "$reports": "postgres://reporting.db.acme.example:5432",
    "$billing": "mysql://billing.db.acme.example:3306",
    "$registry": "confluent://env-p9k2x7/lsrc-p7rod1",
}

EDGES = """
connect | $orders orders.v2 | s3://acme-lake-orders topics/orders.v2 | $orders orders-to-s3
connect | $test orders : note | s3://acme-test topics/orders : note | $test orders-to-s3
connect | $payments refunds | s3://acme-archive raw/kafka/refunds | $payments payments-archive
connect | $orders risk-stream-01 | s3://acme-risk topics/risk-stream-01 | $orders risk-by-regex
connect | $web clicks : url | s3://acme-routed topics/web_clicks_v1 : url | $web clicks-routed-to-s3
connect | $web users : signed_up_at | $reports reports.public.crm_users : created_at | $web users-masked-to-postgres
connect | $orders customers | snowflake://xy12345.eu-central-1 RAW.SALES.CUSTOMERS_RAW | $orders orders-to-snowflake
connect | $orders orders | redshift://acme.us-east-1:5439 dw.public.orders | $orders orders-to-redshift
connect | $payments chargebacks | https://risk.acme.example:443 /v2/chargebacks | $payments chargeback-webhook
connect | $web profiles : home.zip | mongodb://cluster0.ab1cd.mongodb.net web.profiles : home.zip | $web profiles-to-mongo
connect | postgres://mart.db.acme.example:5432 mart.public.products : on_hand | $warehouse mart-products : on_hand | $warehouse mart-cdc
connect | mssql://wms.db.acme.example:1433 wms.dbo.stock | $logistics wms_cdc.wms.dbo.stock | $logistics wms-cdc
connect | $billing billing.payments : amount | $payments billing_cdc.billing.payments : before.amount | $payments billing-cdc
connect | oracle://legacy.db.acme.example:1521 LEG.BANK.CARDS | $payments legacy-CARDS | $payments legacy-oracle-cdc
connect | ibmmq://mq.acme.example:1414/QM1 queue/SETTLE.OUT | $payments mq.settlements | $payments mq-settlements
ksqldb | $orders orders.v2 : currency | $orders pksqlc-1a2b3QUOTED : CURRENCY | $orders ksqldb/lksqlc-k1or/CSAS_QUOTED_13
ksqldb | $orders orders.v2 | $orders pksqlc-4c5d6BIG | $orders ksqldb/lksqlc-k2or/INSERTQUERY_15
ksqldb | $warehouse sensors_raw : device_id | $warehouse pksqlc-7e8f9LATEST : _key | $warehouse ksqldb/lksqlc-k3wh/CTAS_LATEST_19
flink | $orders orders : amount | $orders orders_enriched : gross | $orders flink/orders-enriched
flink | $orders orders.v2 : amount | $orders us_orders : dollars | $orders flink/fan-out
flink | $orders tickets : priority | $orders urgent_tickets : urgency | $orders flink/urgent-tickets
flink | $web clicks : session_id | $orders checkout_sessions : session_id | $orders flink/other-database
flink | $web clicks | $orders session_lengths | $orders flink/other-catalog
flink | $logistics shipments | $payments paid_shipments | $payments flink/paid-shipments
flink | $orders orders : customer_id | $orders customer_totals : _key.customer_id | $orders flink/keyed-ctas
flink | $lab labels.v1 : subject | $lab labels_v1_slim : renamed | $lab flink/slim-a2lab-3
flink | $warehouse orders_fact : amount | $warehouse customer_360 : last_amount | $warehouse flink/customer_360
groups | $orders orders | - | $orders consumer-group/share-picking
groups | $web clicks | $web sessionizer-by-id-repartition | $web consumer-group/sessionizer
links | $orders inventory | $warehouse prod.inventory | $warehouse cluster-link/orders-to-warehouse
links | kafka://lkc-x9ext1 partner.rates | $logistics partner.rates | $logistics cluster-link/partner-feed
exporters | $registry clicks-value | confluent://env-a7n3t5/lsrc-a3nal4 :.prod:clicks-value | $registry schema-link/to-analytics
tableflow | $orders orders | $orders tableflow/orders | $orders tableflow/orders
tableflow | $orders orders : amount | $orders tableflow/orders : amount | $orders tableflow/orders
tableflow | $orders tableflow/orders | arn:aws:glue:us-east-1:210987654321 table/lkc-p1ord7/orders | $orders tableflow/orders
tableflow | $web tableflow/page_views | aws://us-east-1/web_lake page_views | $web tableflow/page_views
tableflow | $web tableflow/clicks | unitycatalog://adb-8811223344.7.azuredatabricks.net acme.web.clicks | $web tableflow/clicks
producers | - | $payments cards | $payments producer/payment-gateway
"""

NOT_EDGES = """
connect | $web users : plan | $reports reports.public.crm_users : plan | $web users-masked-to-postgres
connect | $orders risk-stream-01 | s3://acme-risk topics/risk-stream-00 | $orders risk-by-regex
connect | $billing billing.payments | $payments billing_cdc.billing.refunds | $payments billing-cdc
ksqldb | $orders orders | $orders pksqlc-1a2b3LITERAL | $orders ksqldb/lksqlc-k1or/CSAS_LITERAL_17
ksqldb | $orders orders | $orders pksqlc-4c5d6BIG | $orders ksqldb/lksqlc-k1or/CSAS_BIG_9
flink | $orders ghost_topic | $orders order_notes | $orders flink/commented
flink | $orders orders.v2 | $orders eu_orders | $orders flink/fan-out
flink | $orders clicks | $orders session_lengths | $orders flink/other-catalog
flink | $orders open_tickets | $orders urgent_tickets | $orders flink/urgent-tickets
flink | $web users : user_id | $web bought_clicks : session_id | $web flink/in-subquery
groups | $orders orders | - | $orders consumer-group/connect-lcc-04fdjm
links | $warehouse orders | $warehouse prod.orders | $warehouse cluster-link/orders-to-warehouse
"""


def edges(text: str) -> list[Edge]:
    """The edges of the lines."""
    return [_edge(*line.split(" | ")) for line in text.strip().splitlines()]


def _edge(system: str, source: str, target: str, job: str) -> Edge:
    what = "column" if " : " in source else "reads" if target == "-" else "writes" if source == "-" else "flow"
    return Edge(system, what, _end(source), _end(target), _name(job))


def _end(text: str) -> Name | Column | None:
    dataset, _, column = text.partition(" : ")
    return None if text == "-" else (*_name(dataset), column) if column else _name(dataset)


def _name(text: str) -> Name:
    space, _, name = text.partition(" ")
    return SPACES.get(space, space), name
