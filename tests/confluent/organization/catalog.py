"""The Stream Catalogs: tags, owners, descriptions and business metadata. Only environments with the package ADVANCED have one."""

from tests.confluent.organization.resources import ORDERS, PAYMENTS, WAREHOUSE, WEB, registries
from tests.confluent.organization.topics import ENVIRONMENT, Topics
from tests.confluent.organization.values import Json, time

TAGS = {"PII": "Says who somebody is", "PCI": "Card data", "production": "In use", "gold": "Checked", "pii": ""}
BUSINESS = {"DataDomain": ["domain", "steward"], "Retention": ["years"]}
DESCRIBED = [
    (
        ORDERS,
        "orders",
        "production gold",
        "order team",
        "orders@acme.example",
        "All orders, as they are placed",
        {"DataDomain": {"domain": "sales", "steward": "Anna Kovacs"}},
    ),
    (ORDERS, "customers", "PII production", "crm team", "crm@acme.example", "", {}),
    (ORDERS, "orders.v2", "production", "", "", "Orders of the new shop", {}),
    (ORDERS, "high-value-orders", "gold", "", "", "", {"Retention": {"years": "7"}}),
    (
        PAYMENTS,
        "payments",
        "production",
        "payments team",
        "pay@acme.example",
        "Payments",
        {"DataDomain": {"domain": "finance", "steward": "Boris Lund"}},
    ),
    (PAYMENTS, "cards", "PCI PII", "payments team", "", "", {}),
    (WEB, "users", "PII", "", "", "Who has an account", {}),
    (WEB, "clicks", "", "web team", "", "Every click", {}),
    (
        WAREHOUSE,
        "orders_fact",
        "gold",
        "warehouse",
        "dwh@acme.example",
        "Orders \u2013 the fact table",
        {"DataDomain": {"domain": "sales", "steward": "Chlo\u00e9 Martin"}},
    ),
    (WAREHOUSE, "customers_dim", "pii", "warehouse", "", "", {}),
]
FIELDS = [
    ("lsrc-p7rod1", "customers-value", "email", "PII"),
    ("lsrc-p7rod1", "users-value", "email", "PII"),
    ("lsrc-a3nal4", "customers_dim-value", "email", "pii"),
]


def catalog(topics: Topics) -> Json:
    """Definitions of tags and of business metadata, and what entities have of both."""
    registry = {registry["environment"]: registry["id"] for registry in registries()}
    entities: list[Json] = []
    for cluster, topic, tags, owner, mail, text, business in DESCRIBED:
        qualified_name = f"{registry[ENVIRONMENT[cluster]]}:{cluster}:{topic}"
        attributes = {
            "name": topic,
            "qualifiedName": qualified_name,
            "owner": owner or None,
            "ownerEmail": mail or None,
            "description": text or None,
            "createTime": time(topic),
        }
        entities.append(
            {
                "registry": registry[ENVIRONMENT[cluster]],
                "typeName": "kafka_topic",
                "cluster": cluster,
                "topic": topic,
                "attributes": attributes,
                "classificationNames": tags.split(),
                "businessMetadata": business,
            }
        )
    for lsrc, subject, field, tag in FIELDS:
        version = next(entry for entry in topics.subjects if entry["registry"] == lsrc and entry["subject"] == subject)
        record = "com.acme." + "".join(piece.title() for piece in subject.replace("-", "_").split("_"))
        qualified_name = f"{lsrc}:.:{version['id']}:{record}.{field}"
        entities.append(
            {
                "registry": lsrc,
                "typeName": "sr_field",
                "subject": subject,
                "field": field,
                "attributes": {"name": field, "qualifiedName": qualified_name},
                "classificationNames": [tag],
                "businessMetadata": {},
            }
        )
    return {
        "tags": [{"name": name, "description": text} for name, text in TAGS.items()],
        "business_metadata": [{"name": name, "attributes": named} for name, named in BUSINESS.items()],
        "entities": entities,
    }
