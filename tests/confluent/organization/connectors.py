"""Managed connectors as Confluent Cloud reports them, and their lineage."""

from collections import Counter

from tests.confluent.organization.resources import LAB, LOGISTICS, ORDERS, WEB
from tests.confluent.organization.topics import ENVIRONMENT, Topics
from tests.confluent.organization.values import Json, Secrets, load, number, time, token

STATES = {
    (ORDERS, "orders-to-splunk"): "FAILED",
    ("", "legacy-oracle-cdc"): "FAILED",
    ("", "commands-to-mqtt"): "PAUSED",
    ("", "datagen-pageviews"): "PAUSED",
    ("", "dims-to-spanner"): "PROVISIONING",
    ("", "ledger-to-postgres"): "DEGRADED",
    ("", "payments-to-mq"): "FAILED",
}
MOST = 120


def connectors(topics: Topics, secrets: Secrets) -> list[Json]:
    """All connectors; their topics are added to `topics`."""
    found = [_sink(definition, topics, secrets) for definition in load("sinks")["sink"]]
    found += [_source(definition, topics, secrets) for definition in load("sources")["source"]]
    found += [_custom(topics, secrets)]
    while len(found) < MOST:
        found.append(_sink(_archive(MOST - len(found)), topics, secrets))
    assert len(Counter((entry["cluster"], entry["name"]) for entry in found)) == MOST
    return found


def _archive(at: int) -> Json:
    """One of the many archives of topics of teams."""
    team = ("risk", "growth", "platform", "ops")[at % 4]
    topic = f"{team}-archived-{at:02}"
    config = {"topics": topic, "s3.bucket.name": f"acme-{team}", "topics.dir": f"archive/{at:02}", "aws.secret.access.key": "SECRET"}
    target = [topic, f"s3://acme-{team}", f"archive/{at:02}/{topic}"]
    return {
        "cluster": (ORDERS, LOGISTICS, WEB, LAB)[at % 4],
        "name": f"archive-{team}-{at:02}",
        "plugin": "S3_SINK",
        "to": [target],
        "config": config,
    }


def _shell(definition: Json, kind: str, secrets: Secrets) -> Json:
    cluster, name = definition["cluster"], definition["name"]
    state = STATES.get((cluster, name), STATES.get(("", name), "RUNNING"))
    number_of_tasks = 0 if state == "PROVISIONING" else 1 + number(f"tasks {name}", 3)
    trace = ""
    if state == "FAILED":
        message = f"cannot connect as user=kafka password={secrets.create(f'trace {name}')}"
        trace = f"org.apache.kafka.connect.errors.ConnectException: {message}\n\tat io.confluent.connect.Task.start(Task.java:71)"
    broken = {"FAILED": range(number_of_tasks), "DEGRADED": range(1)}.get(state, range(0))
    auth = {"kafka.auth.mode": "SERVICE_ACCOUNT", "kafka.service.account.id": "sa-conn42"}
    if number(name, 3) == 0:
        key = token(f"connector key {name}", 16).upper()
        auth = {"kafka.auth.mode": "KAFKA_API_KEY", "kafka.api.key": key, "kafka.api.secret": "SECRET"}
    about = {"name": name, "connector.class": definition["plugin"], "cloud.environment": "prod", "tasks.max": str(max(1, number_of_tasks))}
    config = {**about, "input.data.format" if kind == "sink" else "output.data.format": "AVRO", **auth, **definition["config"]}
    running = "PAUSED" if state == "PAUSED" else "RUNNING"
    return {
        "environment": ENVIRONMENT[cluster],
        "cluster": cluster,
        "name": name,
        "id": f"{'clcc' if 'confluent.custom.plugin.id' in config else 'lcc'}-{token(f'connector {cluster} {name}')}",
        "type": kind,
        "config": {key: secrets.create(f"{cluster} {name} {key}") if value == "SECRET" else value for key, value in config.items()},
        "state": state,
        "trace": trace,
        "tasks": [
            {"id": at, "state": "FAILED", "trace": trace or "task failed: broken pipe"}
            if at in broken
            else {"id": at, "state": running, "trace": ""}
            for at in range(number_of_tasks)
        ],
        "created_at": time(f"{cluster} {name}"),
        "offsets": [],
        "custom": False,
        "lineage": {"flows": [], "dead_letters": None, "side": {}},
    }


def _sink(definition: Json, topics: Topics, secrets: Secrets) -> Json:
    connector = _shell(definition, "sink", secrets)
    if number(definition["name"], 3):
        connector["lineage"]["dead_letters"] = f"dlq-{connector['id']}"
        topics.add(definition["cluster"], f"dlq-{connector['id']}")
        connector["config"]["errors.deadletterqueue.topic.name"] = f"dlq-{connector['id']}"
    for topic, namespace, name in definition["to"]:
        topics.add(definition["cluster"], topic)
        same = [[path, path] for path in topics.columns(definition["cluster"], topic)]
        flow = {"topic": topic, "namespace": namespace, "name": name, "columns": definition.get("renamed", same)}
        connector["lineage"]["flows"].append(flow)
        offset = {"kafka_offset": 1000 + number(topic, 9000)}
        connector["offsets"].append({"partition": {"kafka_partition": 0, "kafka_topic": topic}, "offset": offset})
    return connector


def _source(definition: Json, topics: Topics, secrets: Secrets) -> Json:
    connector = _shell(definition, "source", secrets)
    for topic, namespace, name in definition["from"]:
        topics.add(definition["cluster"], topic, definition.get("columns", {}).get(topic, ""))
        paths = topics.columns(definition["cluster"], topic)
        pairs = [[path, path] for path in paths] if definition["shape"] == "row" else []
        if definition["shape"] == "envelope":
            pairs = [[path.partition(".")[2], path] for path in paths if path.startswith(("before.", "after."))]
        connector["lineage"]["flows"].append({"topic": topic, "namespace": namespace, "name": name, "columns": pairs})
        if "Cdc" in definition["plugin"]:
            partition = {"server": definition["config"].get("topic.prefix", definition["name"])}
            connector["offsets"] = [{"partition": partition, "offset": {"lsn": number(name, 10**9), "ts_usec": 1767000000000000}}]
        elif "connection.host" in definition["config"]:
            offset = {"timestamp": 1767000000000, "incrementing": number(name, 10**6)}
            connector["offsets"].append({"partition": {"protocol": "1", "table": name}, "offset": offset})
    for topic, role in definition.get("side", {}).items():
        topics.add(definition["cluster"], topic)
        connector["lineage"]["side"][topic] = role
    return connector


def _custom(topics: Topics, secrets: Secrets) -> Json:
    """A connector with a user's own plugin. Its token is not declared as a secret, so it is not masked. What it writes to is guessed."""
    config = {
        "confluent.connector.type": "CUSTOM",
        "confluent.custom.plugin.id": "ccp-l3dg3r",
        "ledger.endpoint.url": "https://ledger.acme.example/api",
        "ledger.account": "main",
        "ledger.api.token": "SECRET",
        "topics": "ledger-bookings",
    }
    topics.add(ORDERS, "ledger-bookings", "booking_id account amount:double")
    about = {"cluster": ORDERS, "name": "ledger-writer", "plugin": "com.acme.kafka.LedgerSinkConnector", "config": config}
    connector = _shell(about, "sink", secrets)
    target = {"namespace": "https://ledger.acme.example:443", "name": "/api"}
    flow: Json = {"topic": "ledger-bookings", **target, "columns": [[path, path] for path in topics.columns(ORDERS, "ledger-bookings")]}
    return {**connector, "custom": True, "shown": ["ledger.api.token"], "lineage": {"flows": [flow], "dead_letters": None, "side": {}}}


def plugins(connectors_: list[Json]) -> list[Json]:
    """Connector plugins of Confluent Cloud that the organization uses."""
    return [
        {"class": name, "type": kind, "version": "2.9.1"}
        for name, kind in sorted(
            {(connector["config"]["connector.class"], connector["type"]) for connector in connectors_ if not connector["custom"]}
        )
    ]
