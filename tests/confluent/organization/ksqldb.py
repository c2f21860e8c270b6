"""ksqlDB clusters: streams, tables and persistent queries, and the lineage of each query."""

from tests.confluent.organization.flink import add_written, sql_lineage
from tests.confluent.organization.resources import ORDERS, WAREHOUSE
from tests.confluent.organization.topics import ENVIRONMENT, Topics
from tests.confluent.organization.values import Json, load, number, time

CLUSTERS = (
    ("lksqlc-k1or", "pksqlc-1a2b3", ORDERS, "orders-ksql"),
    ("lksqlc-k2or", "pksqlc-4c5d6", ORDERS, "risk-ksql"),
    ("lksqlc-k3wh", "pksqlc-7e8f9", WAREHOUSE, "facts-ksql"),
)
"""Id, service id, Kafka cluster, name. The first two have queries of the same ids."""
SOURCES = {
    ORDERS: {"ORDERS": "orders", "orders-v2": "orders.v2", "TICKETS": "tickets", "STOCK": "inventory", "CUSTOMERS": "customers"},
    WAREHOUSE: {
        "ORDERS": "orders_fact",
        "orders-v2": "orders_fact",
        "TICKETS": "tickets",
        "STOCK": "sensors_raw",
        "CUSTOMERS": "customers_dim",
    },
}
KINDS = {"string": "STRING", "int": "INTEGER", "long": "BIGINT", "double": "DOUBLE", "boolean": "BOOLEAN", "timestamp": "TIMESTAMP"}


def ksqldb_clusters(topics: Topics) -> list[Json]:
    """All ksqlDB clusters; the topics that they write are added."""
    return [_cluster(id_, service, kafka, name, topics) for id_, service, kafka, name in CLUSTERS]


def _cluster(id_: str, service: str, kafka: str, name: str, topics: Topics) -> Json:
    relations = [_source(stream, topics.topics[kafka, topic]) for stream, topic in SOURCES[kafka].items()]
    queries = []
    for query in _queries(kafka, service):
        lineage = sql_lineage(kafka, query["reads"], query["topic"], query["columns"])
        add_written(topics, {**lineage, "written": [column for column in lineage["written"] if column[2] != "_key"]})
        if not query["id"].startswith("INSERT"):
            relations.append(_written(query, topics.topics[kafka, query["topic"]]))
        group = f"_confluent-ksql-{service}query_{query['id']}"
        state = {"CSAS_PAUSED_25": "PAUSED", "CSAS_BROKEN_27": "ERROR"}.get(query["id"], "RUNNING")
        if query.get("window"):
            for suffix in ("Aggregate-Aggregate-Materialize-changelog", "Aggregate-GroupBy-repartition"):
                topics.add(kafka, f"{group}-{suffix}", is_internal=True)
        queries.append(
            {
                "id": query["id"],
                "text": query["text"],
                "sources": _reading(query["text"], relations),
                "sinks": [query["sink"]],
                "sink_topics": [query["topic"]],
                "state": state,
                "window": query.get("window"),
                "errors": ["Serialization failed: unknown magic byte"] if state == "ERROR" else [],
                "lineage": lineage,
                "group": group,
            }
        )
    topics.add(kafka, f"{service}-processing-log")
    return {
        "id": id_,
        "environment": ENVIRONMENT[kafka],
        "kafka_cluster": kafka,
        "display_name": name,
        "topic_prefix": service,
        "service_id": service,
        "csu": 4,
        "phase": "PROVISIONED",
        "created_at": time(id_),
        "relations": relations,
        "queries": queries,
    }


def _queries(kafka: str, service: str) -> list[Json]:
    """The queries of a cluster, with its topics and columns in them."""
    of = SOURCES[kafka]
    sku, amount = ("sku", "on_hand") if of["STOCK"] == "inventory" else ("device_id", "humidity")
    variables = {
        "orders": of["ORDERS"],
        "second": of["orders-v2"],
        "tickets": of["TICKETS"],
        "stock": of["STOCK"],
        "customers": of["CUSTOMERS"],
    }
    variables |= {"lead": service, "sku": sku, "amount": amount, "SKU": sku.upper(), "AMOUNT": amount.upper()}
    return [{key: value.format(**variables) for key, value in query.items()} for query in load("ksqldb")["query"]]


def _reading(text: str, relations: list[Json]) -> list[str]:
    """The streams that follow FROM or JOIN, outside of literals."""
    words = " ".join(part for at, part in enumerate(text.split("'")) if at % 2 == 0).split()
    names = {relation["name"] for relation in relations}
    found = [words[at + 1].strip("`;") for at, entry in enumerate(words[:-1]) if entry in ("FROM", "JOIN")]
    return list(dict.fromkeys(name for name in found if name in names))


def _source(name: str, topic: Json) -> Json:
    """A stream over a topic whose columns are in the registry; the table of customers has its key."""
    table = name == "CUSTOMERS"
    key = "ID" if table else ""
    columns = [
        {"name": column["name"].upper(), "type": KINDS.get(column["type"], "STRUCT"), "key": False, "topic_column": column["name"]}
        for column in topic["columns"]
    ]
    if table:
        columns.insert(0, {"name": key, "type": "STRING", "key": True, "topic_column": "_key"})
    listed = f" ({key} STRING PRIMARY KEY)" if table else ""
    kind = "TABLE" if table else "STREAM"
    quoted = f"`{name}`" if "-" in name else name
    return {
        "name": name,
        "type": kind,
        "topic": topic["topic_name"],
        "columns": columns,
        "window": None,
        "statement": f"CREATE {kind} {quoted}{listed} WITH (KAFKA_TOPIC='{topic['topic_name']}', KEY_FORMAT='KAFKA', VALUE_FORMAT='AVRO');",
    }


def _written(query: Json, topic: Json) -> Json:
    columns = [
        {"name": column["name"], "type": KINDS.get(column["type"], "STRING"), "key": False, "topic_column": column["name"]}
        for column in topic["columns"]
    ]
    key = next((entry.partition("=")[2] for entry in query["columns"].split() if entry.startswith("_key=")), "")
    if key:
        columns.insert(0, {"name": key.rpartition(".")[2].upper(), "type": "STRING", "key": True, "topic_column": "_key"})
    return {
        "name": query["sink"],
        "type": "TABLE" if query["text"].startswith("CREATE TABLE") else "STREAM",
        "topic": topic["topic_name"],
        "columns": columns,
        "window": query.get("window"),
        "statement": query["text"],
    }


def committed(group: str, topic: Json) -> list[Json]:
    """What a group has read of a topic, by partition."""
    offsets = []
    for partition in range(topic["partitions_count"]):
        end = 5000 + number(f"end {topic['cluster']} {topic['topic_name']} {partition}", 5000)
        offsets.append({"partition": partition, "current_offset": end - number(f"{group} {partition}", 50), "log_end_offset": end})
    return offsets
