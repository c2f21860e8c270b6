"""Topics with their columns, and the subjects that describe them."""

import json

from tests.confluent.organization.resources import (
    ANALYTICS,
    DEV,
    LAB,
    LOGISTICS,
    ORDERS,
    PAYMENTS,
    PROD,
    STAGING,
    TEST,
    WAREHOUSE,
    WEB,
    kafka_clusters,
    registry_of,
)
from tests.confluent.organization.values import Json, fields, number, paths

ENVIRONMENT = {cluster["id"]: cluster["environment"] for cluster in kafka_clusters()}
COLUMNS = {
    "orders": "order_id customer_id product_id quantity:int amount:double currency ordered_at:timestamp",
    "customers": "customer_id name email country created_at:timestamp",
    "payments": "payment_id order_id amount:double method paid_at:timestamp",
    "refunds": "refund_id payment_id amount:double reason",
    "shipments": "shipment_id order_id carrier status shipped_at:timestamp address:{street city zip}",
    "products": "title category price:double active:boolean",
    "inventory": "sku warehouse on_hand:int updated_at:timestamp",
    "clicks": "session_id user_id url referrer clicked_at:timestamp",
    "page_views": "view_id user_id page duration_ms:long viewed_at:timestamp",
    "users": "user_id email plan signed_up_at:timestamp",
    "invoices": "invoice_id order_id total:double due_at:timestamp",
    "sensors": "device_id temperature:double humidity:double measured_at:timestamp",
    "vehicles": "vehicle_id position:{lat:double lon:double} speed:double seen_at:timestamp",
    "tickets": "ticket_id customer_id subject priority:int opened_at:timestamp",
    "campaigns": "campaign_id name channel budget:double",
}
"""Kinds of records that several topics have."""

NAMED = {
    ORDERS: """orders orders.v2=orders orders-returns=orders customers products+product_id inventory tickets shop.checkout.completed=orders
        order_audit=invoices loyalty-points=customers""",
    PAYMENTS: """payments refunds payments.settled=payments chargebacks=refunds invoices orders card-authorizations=payments
        ledger_entries=invoices""",
    WEB: """clicks page_views users campaigns confluent-migration-events=clicks ab.test.assignments=users search-queries=page_views
        newsletter_signups=users""",
    LOGISTICS: """shipments vehicles inventory sensors warehouse.stock-levels=inventory route_plans=vehicles cold-chain.readings=sensors
        delivery_slots=shipments""",
    DEV: "orders customers payments clicks sensors products+product_id",
    TEST: "orders customers payments clicks inventory users",
    WAREHOUSE: """orders_fact=orders customers_dim=customers products_dim=products+product_id payments_fact=payments web_sessions=clicks
        sensors_raw=sensors campaigns tickets""",
    LAB: "orders experiments=users features=sensors labels.v1=tickets predictions=campaigns",
}
"""Cluster to its topics: the name, the kind of its records if that is another, and the field that is its key alone."""
FORMATS = ("AVRO", "AVRO", "PROTOBUF", "JSON", "AVRO")
INTERNAL = ("_schemas", "__consumer_offsets", "_confluent-telemetry-metrics")


def schema_text(kind: str, name: str, columns: list[Json]) -> str:
    """A schema of those columns in Avro, Protobuf or JSON Schema."""
    if kind == "AVRO":
        return json.dumps({"type": "record", "name": name, "namespace": "com.acme", "fields": [_avro(column) for column in columns]})
    if kind == "JSON":
        return json.dumps({"$schema": "http://json-schema.org/draft-07/schema#", "title": name, **_json(columns)})
    return f'syntax = "proto3";\npackage com.acme;\n\nimport "google/protobuf/timestamp.proto";\n\n{_proto(name, columns)}'


def _avro(column: Json) -> Json:
    kinds = {"timestamp": {"type": "long", "logicalType": "timestamp-millis"}}
    if "fields" in column:
        return {
            "name": column["name"],
            "type": {"type": "record", "name": column["name"].title(), "fields": [_avro(field) for field in column["fields"]]},
        }
    kind = kinds.get(column["type"], column["type"])
    return (
        {"name": column["name"], "type": ["null", kind], "default": None}
        if column["type"] != "string"
        else {"name": column["name"], "type": kind}
    )


def _json(columns: list[Json]) -> Json:
    kinds = {
        "int": {"type": "integer"},
        "long": {"type": "integer"},
        "double": {"type": "number"},
        "boolean": {"type": "boolean"},
        "timestamp": {"type": "string", "format": "date-time"},
    }
    return {
        "type": "object",
        "properties": {
            column["name"]: _json(column["fields"]) if "fields" in column else kinds.get(column["type"], {"type": "string"})
            for column in columns
        },
    }


def _proto(name: str, columns: list[Json], lead: str = "") -> str:
    kinds = {"int": "int32", "long": "int64", "double": "double", "boolean": "bool", "timestamp": "google.protobuf.Timestamp"}
    inner = [_proto(column["name"].title(), column["fields"], lead + "  ") for column in columns if "fields" in column]
    lines = [
        f"{lead}  {column['name'].title() if 'fields' in column else kinds.get(column['type'], 'string')} {column['name']} = {at};"
        for at, column in enumerate(columns, 1)
    ]
    return "\n".join([f"{lead}message {name} {{", *inner, *lines, f"{lead}}}"])


class Topics:
    """Topics and subjects while the organization is made."""

    def __init__(self) -> None:
        self.topics: dict[tuple[str, str], Json] = {}
        self.subjects: list[Json] = []
        for cluster, text in NAMED.items():
            for entry in text.split():
                declared, _, key = entry.partition("+")
                name, _, kind = declared.partition("=")
                self.add(cluster, name, COLUMNS[kind or name], key)

    def add(self, cluster: str, name: str, columns: str = "", key: str = "", kind: str = "", **more: object) -> Json:
        """A topic, made once. `columns` and `key` are as `fields` reads them; `kind` is the schema's; `more` are members of it."""
        if (cluster, name) in self.topics:
            return self.topics[cluster, name]
        topic: Json = {
            "cluster": cluster,
            "topic_name": name,
            "is_internal": name.startswith("_"),
            "partitions_count": (1, 3, 6, 6, 12)[number(name, 5)],
            "replication_factor": 3,
            "configs": {"cleanup.policy": "delete", "retention.ms": str(86400000 * (1 + number(name, 30)))},
            "columns": fields(columns),
            "key_columns": fields(key),
            **more,
        }
        self.topics[cluster, name] = topic
        for part, which in (("value", topic["columns"]), ("key", topic["key_columns"])):
            if which and not more.get("subjects"):
                record = "".join(entry.title() for entry in name.replace(".", "_").replace("-", "_").split("_")) + part.title()
                self.register(ENVIRONMENT[cluster], f"{name}-{part}", record, which, kind)
        return topic

    def register(self, environment: str, subject: str, record: str, columns: list[Json], kind: str = "", **more: object) -> None:
        """A version of a subject, unless the subject has one like it."""
        registry = registry_of(environment)
        kind = kind or FORMATS[number(subject, len(FORMATS))]
        text = schema_text(kind, record, columns)
        versions = [version for version in self.subjects if version["registry"] == registry and version["subject"] == subject]
        if any(version["schema"] == text for version in versions):
            return
        id_ = 100001 + sum(subject["registry"] == registry for subject in self.subjects)
        members = {"registry": registry, "subject": subject, "version": len(versions) + 1, "id": id_, "schemaType": kind, "schema": text}
        self.subjects.append({**members, "references": [], "metadata": None, "ruleSet": None, "deleted": False, **more})

    def columns(self, cluster: str, name: str) -> list[str]:
        """The dotted paths of a topic's values."""
        topic = self.topics.get((cluster, name))
        return paths(topic["columns"]) if topic else []

    def fill(self, most: int) -> None:
        """Internal topics of each cluster, then topics of teams without details, up to `most` in all."""
        for cluster in ENVIRONMENT:
            for name in INTERNAL[: 2 if cluster in (DEV, TEST) else 3]:
                self.add(cluster, name, configs={"cleanup.policy": "compact"})
        teams = ("risk", "growth", "platform", "ops")
        at = 0
        while len(self.topics) < most:
            cluster = list(ENVIRONMENT)[at % len(ENVIRONMENT)]
            name = (f"{teams[at % 4]}.events.v{at // 32}", f"{teams[at % 4]}-stream-{at // 32:02}", f"{teams[at % 4]}_raw_{at // 32}")[
                at // 8 % 3
            ]
            self.add(cluster, name)
            at += 1


def add_unusual_subjects(topics: Topics) -> None:
    """Topics whose subjects are not named after them: by record, by topic and record; references, contexts, rules, deleted ones."""
    events = topics.add(ORDERS, "order-events", subjects=["order-events-com.acme.OrderPlaced", "order-events-com.acme.OrderCancelled"])
    events["configs"]["confluent.value.subject.name.strategy"] = "io.confluent.kafka.serializers.subject.TopicRecordNameStrategy"
    topics.register(PROD, "order-events-com.acme.OrderPlaced", "OrderPlaced", fields("order_id placed_by amount:double"), "AVRO")
    topics.register(PROD, "order-events-com.acme.OrderCancelled", "OrderCancelled", fields("order_id reason"), "AVRO")
    alerts = topics.add(WAREHOUSE, "alerts", subjects=["com.acme.Alert"])
    alerts["configs"]["confluent.value.schema.validation"] = "true"
    alerts["configs"]["confluent.value.subject.name.strategy"] = "io.confluent.kafka.serializers.subject.RecordNameStrategy"
    topics.register(ANALYTICS, "com.acme.Alert", "Alert", fields("alert_id level:int text"), "AVRO")
    topics.register(PROD, "com.acme.Address", "Address", fields("street city zip country"), "AVRO")
    reference = {"name": "com.acme.Address", "subject": "com.acme.Address", "version": 1}
    profile = {
        "type": "record",
        "name": "Profile",
        "namespace": "com.acme",
        "fields": [{"name": "user_id", "type": "string"}, {"name": "home", "type": "com.acme.Address"}],
    }
    topics.add(WEB, "profiles", "user_id home:{street city zip country}", subjects=["profiles-value"])
    topics.register(PROD, "profiles-value", "Profile", [], "AVRO", schema=json.dumps(profile), references=[reference])
    sensitive = {"tags": {"com.acme.Card.number": ["PII", "PCI"]}, "properties": {"owner": "payments team"}, "sensitive": ["number"]}
    rules = {
        "domainRules": [
            {
                "name": "encryptPCI",
                "kind": "TRANSFORM",
                "mode": "WRITEREAD",
                "type": "ENCRYPT",
                "tags": ["PCI"],
                "params": {"encrypt.kek.name": "cards"},
            }
        ]
    }
    topics.add(PAYMENTS, "cards", "card_id number holder", subjects=["cards-value"])
    topics.register(PROD, "cards-value", "Card", fields("card_id number holder"), "AVRO", metadata=sensitive, ruleSet=rules)
    topics.register(PROD, ":.partners:orders-value", "PartnerOrder", fields("partner order_id amount:double"), "AVRO")
    topics.register(PROD, ":.partners:payouts-value", "Payout", fields("partner amount:double"), "JSON")
    topics.register(
        STAGING,
        "orders-value",
        "OrdersValue",
        fields("order_id customer_id product_id quantity:int amount:double currency ordered_at:timestamp note"),
    )
    for cluster in (DEV, TEST):
        topics.topics[cluster, "orders"]["columns"] = fields(
            "order_id customer_id product_id quantity:int amount:double currency ordered_at:timestamp note"
        )
    topics.register(ANALYTICS, "retired-value", "Retired", fields("id"), "AVRO", deleted=True)
