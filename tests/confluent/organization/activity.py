"""Activity: the rows of the Metrics API and the events of the audit log."""

from tests.confluent.organization.resources import DEV, LAB, LOGISTICS, ORDERS, ORGANIZATION, PAYMENTS, PROD, WAREHOUSE, WEB
from tests.confluent.organization.topics import ENVIRONMENT
from tests.confluent.organization.values import Json, number, uid

SERVER, CONNECT, FLINK = "io.confluent.kafka.server", "io.confluent.kafka.connect", "io.confluent.flink"
PRODUCERS = [
    (ORDERS, "order-service", "sa-ord3rs", "orders orders.v2 order-events shop.checkout.completed"),
    (ORDERS, "loyalty-service", "sa-ord3rs", "loyalty-points"),
    (PAYMENTS, "payment-gateway", "sa-pay5en", "payments refunds cards"),
    (PAYMENTS, "ledger-writer", "sa-pay5en", "ledger_entries"),
    (WEB, "web-tracker", "sa-web7tr", "clicks page_views profiles"),
    (WEB, "rdkafka", "sa-web7tr", "search-queries"),
    (LOGISTICS, "fleet-gateway", "sa-conn42", "vehicles sensors"),
    (WAREHOUSE, "dbt-export", "sa-an4lyt", "orders_fact customers_dim"),
    (LAB, "rdkafka", "u-4nn4k1", "features"),
    (DEV, "console-producer", "u-b0r1s2", "orders"),
]
"""Cluster, client id, principal and topics of the applications that write. Two of them did not set a client id."""
TAILS = [(ORDERS, "audit-tail", "sa-adm1n0", "order_audit"), (WAREHOUSE, "notebook-anna", "u-4nn4k1", "sensors_raw")]
"""Applications that read without a group."""


class Rows:
    """Rows of metrics while they are made."""

    def __init__(self) -> None:
        self.rows: list[Json] = []

    def add(self, metric: str, per_minute: float, **labels: str) -> None:
        dotted = {key.replace("__", "."): value for key, value in labels.items()}
        self.rows.append({"metric": metric, "labels": dotted, "per_minute": per_minute})

    def moved(self, direction: str, cluster: str, topic: str, client: str = "", principal: str = "") -> None:
        """Records and bytes of a topic, by client and principal if they are known."""
        count = 1 + number(f"{direction} {cluster} {topic} {client}", 500)
        client_labels = {"metric__client_id": client, "metric__principal_id": principal} if client else {}
        for what, each in (("records", count), ("bytes", count * 180)):
            self.add(f"{SERVER}/{direction}_{what}", each, resource__kafka__id=cluster, metric__topic=topic, **client_labels)


def metrics(connectors: list[Json], statements: list[Json], ksqldb: list[Json], groups: list[Json], topics: list[Json]) -> list[Json]:
    """Rows: a metric, its labels, and what it counts each minute (for `consumer_lag_offsets` and `retained_bytes`: the value)."""
    rows = Rows()
    for cluster, client, principal, names in PRODUCERS:
        for topic in names.split():
            rows.moved("received", cluster, topic, client, principal)
    for cluster, client, principal, topic in TAILS:
        rows.moved("sent", cluster, topic, client, principal)
    for job in (connector for connector in connectors if connector["state"] == "RUNNING"):
        _add_connector(rows, job)
    for job in (statement for statement in statements if statement["phase"] in ("RUNNING", "DEGRADED") and statement["lineage"]["reads"]):
        _add_statement(rows, job)
    for ksqldb_cluster in ksqldb:
        _add_ksqldb(rows, ksqldb_cluster)
    for group in groups:
        _add_group(rows, group)
    for topic_ in topics:
        if not topic_["is_internal"]:
            size = 1000 * (1 + number(topic_["topic_name"], 9999))
            rows.add(f"{SERVER}/retained_bytes", size, resource__kafka__id=topic_["cluster"], metric__topic=topic_["topic_name"])
    return rows.rows


def _add_group(rows: Rows, group: Json) -> None:
    for topic, partitions in group["offsets"].items():
        lag = sum(partition["log_end_offset"] - partition["current_offset"] for partition in partitions)
        labels = {"resource__kafka__id": group["cluster"], "metric__topic": topic, "metric__consumer_group_id": group["group_id"]}
        rows.add(f"{SERVER}/consumer_lag_offsets", lag, **labels)


def _add_connector(rows: Rows, connector: Json) -> None:
    sink = connector["type"] == "sink"
    count = 1 + number(f"metric {connector['id']}", 300)
    for what, each in (("records", count), ("bytes", count * 200)):
        rows.add(f"{CONNECT}/{'received' if sink else 'sent'}_{what}", each, resource__connector__id=connector["id"])
    if connector["lineage"]["dead_letters"]:
        rows.add(f"{CONNECT}/dead_letter_queue_records", number(connector["id"], 3), resource__connector__id=connector["id"])
    client = f"connector-{'consumer' if sink else 'producer'}-{connector['id']}-0"
    for flow in connector["lineage"]["flows"]:
        rows.moved("sent" if sink else "received", connector["cluster"], flow["topic"], client, "sa-conn42")


def _add_statement(rows: Rows, statement: Json) -> None:
    labels = {
        "resource__flink_statement__name": statement["name"],
        "resource__flink_statement__uid": statement["uid"],
        "resource__compute_pool__id": statement["compute_pool_id"],
        "resource__environment__id": statement["environment"],
    }
    rows.add(f"{FLINK}/num_records_in", 1 + number(f"in {statement['uid']}", 400), **labels)
    rows.add(f"{FLINK}/num_records_out", 1 + number(f"out {statement['uid']}", 400), **labels)
    for cluster, topic in statement["lineage"]["writes"]:
        rows.moved("received", cluster, topic)


def _add_ksqldb(rows: Rows, cluster: Json) -> None:
    rows.add("io.confluent.kafka.ksql/streaming_unit_count", cluster["csu"], resource__ksqldb__id=cluster["id"])
    for query in cluster["queries"]:
        if query["state"] == "RUNNING":
            client = f"{query['group']}-{uid(query['group'])}-StreamThread-1-producer"
            rows.moved("received", cluster["kafka_cluster"], query["sink_topics"][0], client, "sa-ks9ldb")


def audit_events(connectors: list[Json], statements: list[Json]) -> list[Json]:
    """Events of the audit log, as CloudEvents; the last one occurs twice, since deliveries may repeat."""
    events: list[Json] = []

    def add(kind: str, method: str, subject: str, principal: str, granted: bool = True, client: str = "", **more: object) -> None:
        at = len(events)
        data: Json = {
            "serviceName": "crn://confluent.cloud/",
            "methodName": method,
            "resourceName": subject,
            "cloudResources": [
                {"resource": {"type": subject.rpartition("/")[2].partition("=")[0].upper(), "resourceId": subject.rpartition("=")[2]}}
            ],
            "authenticationInfo": {
                "principal": {"confluentServiceAccount": {"resourceId": principal}}
                if principal.startswith("sa-")
                else {"confluentUser": {"resourceId": principal}},
                "result": "SUCCESS",
            },
            "authorizationInfo": {"granted": granted, "operation": method, "result": "ALLOW" if granted else "DENY"},
            "request": {"clientId": client, "accessType": "MODIFICATION"},
            **more,
        }
        events.append(
            {
                "specversion": "1.0",
                "id": uid(f"audit {at}"),
                "source": "crn://confluent.cloud/",
                "type": kind,
                "subject": subject,
                "time": f"2026-03-02T11:{at:02}:00.000Z",
                "datacontenttype": "application/json",
                "data": data,
            }
        )

    root = f"crn://confluent.cloud/organization={ORGANIZATION}"
    request, authorization = "io.confluent.cloud/request", "io.confluent.kafka.server/authorization"
    for connector in connectors[:3]:
        crn = f"{root}/environment={connector['environment']}/cloud-cluster={connector['cluster']}/connector={connector['id']}"
        add(request, "CreateConnector", crn, "u-4nn4k1")
    add(request, "PauseConnector", f"{root}/environment={PROD}/cloud-cluster={ORDERS}/connector={connectors[0]['id']}", "u-b0r1s2")
    add(request, "ResumeConnector", f"{root}/environment={PROD}/cloud-cluster={ORDERS}/connector={connectors[0]['id']}", "u-b0r1s2")
    add(request, "DeleteConnector", f"{root}/environment={PROD}/cloud-cluster={ORDERS}/connector=lcc-g0ne42", "u-b0r1s2")
    for cluster, client, principal, topics in PRODUCERS[:5]:
        crn = f"{root}/environment={ENVIRONMENT[cluster]}/cloud-cluster={cluster}/kafka={cluster}/topic={topics.split()[0]}"
        add(authorization, "kafka.Produce", crn, principal, client=client)
    add(
        authorization,
        "kafka.Fetch",
        f"{root}/environment={PROD}/cloud-cluster={ORDERS}/kafka={ORDERS}/topic=order_audit",
        "sa-adm1n0",
        client="audit-tail",
    )
    add(
        authorization,
        "kafka.Produce",
        f"{root}/environment={PROD}/cloud-cluster={PAYMENTS}/kafka={PAYMENTS}/topic=cards",
        "sa-nobody",
        granted=False,
        client="intruder",
    )
    add(
        authorization,
        "kafka.CreateTopics",
        f"{root}/environment={PROD}/cloud-cluster={ORDERS}/kafka={ORDERS}/topic=order_notes",
        "sa-fl1nk0",
    )
    for statement in statements[:2]:
        add(
            request,
            "CreateStatement",
            f"{root}/environment={statement['environment']}/flink-region={statement['cloud']}.{statement['region']}/statement={statement['name']}",
            statement["principal"],
        )
    add(
        "io.confluent.schema_registry/request",
        "schema-registry.RegisterSchema",
        f"{root}/environment={PROD}/schema-registry=lsrc-p7rod1/subject=orders-value",
        "sa-ord3rs",
    )
    events.append(dict(events[-1]))
    return events
