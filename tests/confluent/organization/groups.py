"""Groups of consumers: classic, of the new protocol, share and streams groups; some are those of connectors and of ksqlDB."""

from tests.confluent.organization.ksqldb import committed
from tests.confluent.organization.resources import DEV, LAB, LOGISTICS, ORDERS, PAYMENTS, TEST, WAREHOUSE, WEB
from tests.confluent.organization.topics import Topics
from tests.confluent.organization.values import Json, number, token, uid

APPS = {
    ORDERS: "order-service fulfilment recommender billing email-sender fraud-check",
    PAYMENTS: "payment-gateway ledger-writer dunning fraud-check",
    WEB: "personalization ab-testing click-stats email-sender",
    LOGISTICS: "route-planner fleet-monitor eta-service",
    DEV: "order-service console-consumer-4711 anna-test",
    TEST: "order-service console-consumer-815",
    WAREHOUSE: "dbt-loader metrics-cache report-builder",
    LAB: "notebook-anna training-job",
}
"""Applications by cluster: each reads some topics with some groups."""
MOST = 200


def groups(topics: Topics, connectors: list[Json], ksqldb: list[Json]) -> list[Json]:
    """All groups. `lineage.owner`: the name of the connector or the id of the query whose group it is, else none."""
    found = []
    for connector in connectors:
        if connector["type"] == "sink" and connector["tasks"]:
            read = [flow["topic"] for flow in connector["lineage"]["flows"]]
            found.append(
                _group(
                    topics,
                    connector["cluster"],
                    f"connect-{connector['id']}",
                    read,
                    owner=connector["name"],
                    members=len(connector["tasks"]),
                    active=connector["state"] == "RUNNING",
                )
            )
    for cluster in ksqldb:
        for query in cluster["queries"]:
            read = [topic for _, topic in query["lineage"]["reads"]]
            found.append(
                _group(
                    topics,
                    cluster["kafka_cluster"],
                    query["group"],
                    read,
                    owner=f"{cluster['id']}/{query['id']}",
                    active=query["state"] == "RUNNING",
                )
            )
    found += _special(topics)
    found += _applications(topics, MOST - len(found))
    return found


def _group(
    topics: Topics,
    cluster: str,
    group: str,
    read: list[str],
    kind: str = "CLASSIC",
    owner: str | None = None,
    members: int = 1,
    active: bool = True,
    client: str = "",
) -> Json:
    partitions = [(topic, at) for topic in read for at in range(topics.topics[cluster, topic]["partitions_count"])]
    people = []
    for at in range(members if active else 0):
        name = f"{client or group}-{at}"
        people.append(
            {
                "consumer_id": f"{name}-{uid(f'{cluster} {name}')}",
                "client_id": name,
                "instance_id": None,
                "assigned": [list(partition) for partition in partitions[at::members]],
            }
        )
    return {
        "cluster": cluster,
        "group_id": group,
        "type": kind,
        "state": "STABLE" if active else "EMPTY",
        "is_simple": False,
        "partition_assignor": "range" if kind == "CLASSIC" else "",
        "members": people,
        "offsets": {topic: committed(f"{cluster} {group}", topics.topics[cluster, topic]) for topic in read},
        "subtopologies": [],
        "lineage": {"reads": read, "owner": owner},
    }


def _special(topics: Topics) -> list[Json]:
    share = [
        _group(topics, ORDERS, "share-picking", ["orders"], "SHARE", members=3),
        _group(topics, WAREHOUSE, "share-alerts", ["alerts"], "SHARE", active=False),
        _group(topics, WEB, "share-thumbnails", ["page_views"], "SHARE"),
    ]
    streams = []
    for cluster, name, read, written in (
        (ORDERS, "order-totals-app", ["orders", "customers"], "order-totals"),
        (WEB, "sessionizer", ["clicks"], "sessionizer-out"),
    ):
        topics.add(cluster, written, "id total:double")
        repartition, changelog = f"{name}-by-id-repartition", f"{name}-store-changelog"
        for topic in (repartition, changelog):
            topics.add(cluster, topic)
        group = _group(topics, cluster, name, read, "STREAMS", members=2)
        group["subtopologies"] = [
            {
                "subtopology_id": "0",
                "source_topics": read,
                "repartition_sink_topics": [repartition],
                "state_changelog_topics": [],
                "repartition_source_topics": [],
            },
            {
                "subtopology_id": "1",
                "source_topics": [],
                "repartition_sink_topics": [],
                "state_changelog_topics": [changelog],
                "repartition_source_topics": [repartition],
            },
        ]
        streams.append(group)
    empty = [
        _group(topics, DEV, "never-committed", [], active=False),
        _group(topics, ORDERS, "old-reader", ["orders-returns"], active=False),
    ]
    return [*share, *streams, *empty]


def _applications(topics: Topics, count: int) -> list[Json]:
    """Groups of applications, round by round until there are enough."""
    applications: dict[tuple[str, str], Json] = {}
    turn = 0
    while len(applications) < count:
        for cluster, text in APPS.items():
            candidates = [name for (cluster_id, name), topic in topics.topics.items() if cluster_id == cluster and topic["columns"]]
            for app in text.split():
                group = app if not turn else f"{app}.{token(f'{app} {turn}', 3)}"
                start = number(f"{cluster} {group}", len(candidates))
                read = list(dict.fromkeys(candidates[(start + at) % len(candidates)] for at in range(1 + number(group, 2))))
                kind = "CONSUMER" if number(f"protocol {group}", 3) == 0 else "CLASSIC"
                if len(applications) < count:
                    applications[cluster, group] = _group(
                        topics,
                        cluster,
                        group,
                        read,
                        kind,
                        members=1 + number(f"members {group}", 2),
                        active=number(f"active {cluster} {group}", 5) > 0,
                        client=app,
                    )
        turn += 1
    return list(applications.values())
