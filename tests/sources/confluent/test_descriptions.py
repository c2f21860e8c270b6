"""Every body that Confluent Cloud's published API descriptions allow is read: each optional member absent, null or empty, each value of an
enum and an unknown one. An entry that breaks a rule loses itself, never its neighbour.
"""

import copy
import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from types import SimpleNamespace
from typing import Any

import pytest
from tests.confluent import descriptions as d
from tests.corpora.published import faults
from tests.sources.confluent.audit.test_audit import CONNECTOR, event
from tests.sources.ksqldb.server import Ksql, Query, Relation, column, shop

from lineage_bridge.errors import MissingError, SourceError
from lineage_bridge.sources.common.observer import Observation, Snapshot
from lineage_bridge.sources.common.shared_metadata import ClusterMetadata, SharedMetadata
from lineage_bridge.sources.common.stepwise import EVERYTHING
from lineage_bridge.sources.confluent.audit.parse import parse_request
from lineage_bridge.sources.confluent.catalog import plane as catalog
from lineage_bridge.sources.confluent.cluster_links import plane as cluster_links
from lineage_bridge.sources.confluent.connect import plane as connect
from lineage_bridge.sources.confluent.discovery import discover
from lineage_bridge.sources.confluent.flink import plane as flink
from lineage_bridge.sources.confluent.groups import plane as groups
from lineage_bridge.sources.confluent.identities import plane as identities
from lineage_bridge.sources.confluent.ksqldb import plane as ksqldb
from lineage_bridge.sources.confluent.metrics import plane as metrics
from lineage_bridge.sources.confluent.organization import ComputePool, Environment, KafkaCluster, KsqlCluster, Organization, SchemaRegistry
from lineage_bridge.sources.confluent.plane import AnyPlane, PlaneContext, Planes
from lineage_bridge.sources.confluent.registry import plane as registry
from lineage_bridge.sources.confluent.schema_links import plane as schema_links
from lineage_bridge.sources.confluent.settings import ConfluentSettings
from lineage_bridge.sources.confluent.tableflow import plane as tableflow
from lineage_bridge.sources.confluent.topics import plane as topics

T0, POLL_US = 1_795_000_000_000_000, 300_000_000
SPACE = f"confluent://{d.ENV}/{d.LKC}"
KEY = {"key": "KEY", "secret": "${env:SECRET}"}
SETTINGS = ConfluentSettings.model_validate(
    {"cloud": KEY, "groups_by": "rest", **{name: {"*": KEY} for name in ("kafka", "registry", "flink", "ksqldb", "tableflow")}}
)
ORGANIZATION = Organization(
    "o-1",
    (Environment(d.ENV, "production", "ADVANCED"),),
    (KafkaCluster(d.LKC, d.ENV, "orders", "Dedicated", "aws", "eu-west-1", "https://pkc-1", "pkc-1:9092"),),
    (SchemaRegistry(d.LSRC, d.ENV, "https://psrc-1"),),
    (KsqlCluster("lksqlc-1", d.ENV, d.LKC, "ksql", "https://pksqlc-1"),),
    (ComputePool("lfcp-1", d.ENV, "pool", "aws", "eu-west-1"),),
)
TOPICS = frozenset(("orders", "near-orders", "copies", "near-copies", "daily", "rich-orders", "customers"))
SHARED = SharedMetadata((ClusterMetadata(d.LKC, SPACE, topics=TOPICS),), names={"sa-1": "order service"})
LABELS = {
    "resource.kafka.id": d.LKC,
    "resource.connector.id": "lcc-1",
    "resource.compute_pool.id": "lfcp-1",
    "resource.flink_statement.name": "insert-1",
    "metric.topic": "orders",
    "metric.client_id": "billing-1",
    "metric.principal_id": "sa-1",
    "metric.consumer_group_id": "billing",
}
METRICS = [{"name": metric.name, "labels": [{"key": label} for label in LABELS]} for metric in metrics.METRICS]
Routes = Mapping[str, Any]
"""End of a path to its entries (a list), or to the answer itself."""
KEYED = ("connectors",)


class Answers:
    """Stands in for the clients of a poll and for each of them; answers are those of `routes`."""

    host = "cloud"
    requests: Mapping[str, int] = {}
    settings = SimpleNamespace(at_once=1, url="https://cloud")

    def __init__(self, routes: Routes) -> None:
        self.routes = routes

    def http(self, *_: object, **__: object) -> "Answers":
        return self

    def get(self, path: str, **parameters: Any) -> Any:
        plain = path.partition("?")[0]
        route = max((route for route in self.routes if f"{plain}/".endswith(f"/{route}/")), key=len, default=None)
        if route is None:
            raise MissingError(path)
        answer = copy.deepcopy(self.routes[route])
        if route in OFFSET_PAGED:
            answer = answer if not parameters.get("offset") and "kafka_topic" in parameters.get("type", ("kafka_topic",)) else []
            return {"entities": answer} if route == "search/basic" else answer
        return {"data": answer, "metadata": {"next": None}} if isinstance(answer, list) and route not in PLAIN else answer

    def pages(self, path: str, **parameters: Any) -> Iterator[Any]:
        yield self.get(path, **parameters)

    def send(self, _: str, path: str, body: Any) -> Any:
        if path.endswith("/query"):
            labels = {label: LABELS.get(label, "") for label in body["group_by"]}
            first, second = self.routes["query"]
            return {"data": [first if first is None else labels | first, near(labels) | second], "meta": {}}
        return copy.deepcopy(self.routes["ksql"])

    @staticmethod
    def map(do: Callable[[Any], Any], items: Iterable[Any]) -> list[Any]:
        return [_attempt(do, item) for item in items]


PLAIN = ("exporters", "businessmetadata", "businessmetadatadefs", "schemas", "ksql", f"{d.LSRC}%3A{d.LKC}%3Anear-orders/businessmetadata")
"""Routes whose answer is a list, not a page."""
OFFSET_PAGED = ("search/basic", "schemas", "subjects")


def _attempt(do: Callable[[Any], Any], item: Any) -> Any:
    try:
        return do(item)
    except SourceError as error:
        return error


def near(body: Any) -> Any:
    """A neighbour in the same listing: with other names and ids."""
    text = json.dumps(body)
    for name in ("orders", "billing", "picking", "totals", "east", "insert-1", "copies", "daily", "sink", "KEY1"):
        for sign in '"`:':
            text = text.replace(f"{sign}{name}", f"{sign}near-{name}")
    for ending in ("lcc-1", "tci-1", "sa-1", "u-1", "lfcp-1", "lksqlc-1", "ccp-1", "cspi-1", "uid-1"):
        text = text.replace(f'"{ending}"', f'"{ending}9"')
    return json.loads(text)


def two(shape: Any) -> list[Any]:
    body = d.whole(shape)
    return [body, near(body)]


FLINK = {"statements": two(d.STATEMENT), "materialized-tables": two(d.MATERIALIZED_TABLE), "exceptions": two(d.EXCEPTION)}
GROUPS = {
    "consumer-groups": two(d.GROUP),
    "billing/lags": [d.whole(d.LAG)],
    "near-billing/lags": [near(d.whole(d.LAG))],
    "share-groups": two(d.SHARE_GROUP),
    "streams-groups": two(d.STREAMS_GROUP),
    "totals/subtopologies": [d.whole(d.SUBTOPOLOGY)],
    "near-totals/subtopologies": [near(d.whole(d.SUBTOPOLOGY))],
    "consumers": [{"consumer_id": "c", "client_id": "billing-1"}],
}
CONNECT: dict[str, Any] = {
    "connectors": {"sink": d.whole(d.CONNECTOR), "near-sink": near(d.whole(d.CONNECTOR))},
    "offsets": {"name": "sink", "offsets": [d.whole(d.OFFSET)]},
    "custom-connector-plugins": two(d.CUSTOM_PLUGIN),
}
CONNECT["connectors"]["sink"]["info"]["config"] |= {"topics": "orders", "s3.bucket.name": "lake"}
CONNECT["connectors"]["near-sink"]["info"]["config"] |= {"topics": "near-orders", "s3.bucket.name": "lake"}
TABLEFLOW = {
    "tableflow-topics": two(d.TABLEFLOW_TOPIC),
    "catalog-integrations": two(d.CATALOG_INTEGRATION),
    "integrations": two(d.PROVIDER_INTEGRATION),
}
REGISTRY = {
    "schemas": two(d.SCHEMA),
    "config": {"compatibilityLevel": "BACKWARD"},
    "mode": {"mode": "READWRITE"},
    "subjects": ["orders-value"],
}
NEAR = f"{d.LSRC}%3A{d.LKC}%3Anear-orders/businessmetadata"
CATALOG = {
    "search/basic": two(d.ENTITY),
    "businessmetadatadefs": [{}],
    "businessmetadata": [d.whole(d.BUSINESS_METADATA)],
    NEAR: [d.whole(d.BUSINESS_METADATA)],
}
EXPORTERS = {
    "exporters": ["to-east", "near-to-east"],
    "exporters/to-east": d.whole(d.EXPORTER),
    "exporters/near-to-east": near(d.whole(d.EXPORTER)),
    "status": d.whole(d.EXPORTER_STATUS),
}
IDENTITIES = {"service-accounts": two(d.SERVICE_ACCOUNT), "users": two(d.USER), "api-keys": two(d.API_KEY)}
KAFKA = {"topics": two(d.TOPIC), "topics/-/configs": two(d.TOPIC_CONFIG), "acls": two(d.ACL)}
LINKS = {"links": two(d.LINK), "mirrors": two(d.MIRROR)}
TELEMETRY = {"descriptors/metrics": [{}, *METRICS], "query": [d.whole(d.METRIC_ROW), d.whole(d.METRIC_ROW)], **CONNECT}
CASES: dict[str, tuple[Callable[[PlaneContext], Planes], Routes, str, Any]] = {
    "service account": (identities.planes, IDENTITIES, "service-accounts", d.SERVICE_ACCOUNT),
    "user": (identities.planes, IDENTITIES, "users", d.USER),
    "API key": (identities.planes, IDENTITIES, "api-keys", d.API_KEY),
    "topic": (topics.planes, KAFKA, "topics", d.TOPIC),
    "topic configuration": (topics.planes, KAFKA, "topics/-/configs", d.TOPIC_CONFIG),
    "access rule": (topics.planes, KAFKA, "acls", d.ACL),
    "group": (groups.planes, GROUPS, "consumer-groups", d.GROUP),
    "lag": (groups.planes, GROUPS, "billing/lags", d.LAG),
    "share group": (groups.planes, GROUPS, "share-groups", d.SHARE_GROUP),
    "streams group": (groups.planes, GROUPS, "streams-groups", d.STREAMS_GROUP),
    "subtopology": (groups.planes, GROUPS, "totals/subtopologies", d.SUBTOPOLOGY),
    "link": (cluster_links.planes, LINKS, "links", d.LINK),
    "mirror": (cluster_links.planes, LINKS, "mirrors", d.MIRROR),
    "connector": (connect.planes, CONNECT, "connectors", d.CONNECTOR),
    "offset": (connect.planes, CONNECT, "offsets", {"name": "sink", "offsets": [d.OFFSET], "metadata": {"observed_at": "x"}}),
    "custom plugin": (connect.planes, CONNECT, "custom-connector-plugins", d.CUSTOM_PLUGIN),
    "statement": (flink.planes, FLINK, "statements", d.STATEMENT),
    "exception": (flink.planes, FLINK, "exceptions", d.EXCEPTION),
    "materialized table": (flink.planes, FLINK, "materialized-tables", d.MATERIALIZED_TABLE),
    "Tableflow topic": (tableflow.planes, TABLEFLOW, "tableflow-topics", d.TABLEFLOW_TOPIC),
    "catalog integration": (tableflow.planes, TABLEFLOW, "catalog-integrations", d.CATALOG_INTEGRATION),
    "provider integration": (tableflow.planes, TABLEFLOW, "integrations", d.PROVIDER_INTEGRATION),
    "metric": (metrics.planes, TELEMETRY, "query", d.METRIC_ROW),
    "metric descriptor": (
        metrics.planes,
        TELEMETRY,
        "descriptors/metrics",
        {"name!": "m", "description": "", "labels!": [{"key!": "topic"}]},
    ),
    "schema": (registry.planes, REGISTRY, "schemas", d.SCHEMA),
    "catalog entity": (catalog.planes, CATALOG, "search/basic", d.ENTITY),
    "business metadata": (catalog.planes, CATALOG, "businessmetadata", d.BUSINESS_METADATA),
    "exporter": (schema_links.planes, EXPORTERS, "exporters/to-east", d.EXPORTER),
    "state of an exporter": (schema_links.planes, EXPORTERS, "status", d.EXPORTER_STATUS),
}


@pytest.fixture(autouse=True)
def secret(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SECRET", "s")


def plane_of(planes: Callable[[PlaneContext], Planes], routes: Routes) -> AnyPlane:
    clients: Any = Answers(routes)
    (plane,) = planes(PlaneContext(ORGANIZATION, ORGANIZATION, clients, SETTINGS))
    assert not plane.unavailable_reason()
    return plane


def poll(plane: AnyPlane, before: Snapshot | None = None, now_us: int = T0) -> Observation:
    seen = plane.translate(plane.fetch(before, now_us), before, SHARED, now_us)
    assert not faults(seen.events)
    snapshot = json.loads(json.dumps(seen.snapshot))
    plane.shared_metadata(snapshot)
    return Observation(snapshot, seen.events, seen.aliases, seen.unseen)


def with_body(routes: Routes, route: str, body: Any) -> Routes:
    """The routes, with another first entry of a listing, or another answer."""
    old = routes[route]
    if route in KEYED:
        return {**routes, route: {**old, "sink": body}}
    return {**routes, route: [body, *old[1:]] if isinstance(old, list) else body}


def about_neighbours(seen: Observation) -> list[str]:
    names = {
        f"name of {id_}: {name}" for kind in ("service accounts", "users", "API keys") for id_, name in seen.snapshot.get(kind, {}).items()
    }
    return [text for text in (*(json.dumps(event, sort_keys=True) for event in seen.events), *sorted(names)) if "near-" in text]


@pytest.mark.parametrize("case", CASES)
def test_every_described_body_is_read_and_loses_no_neighbour(case: str) -> None:
    planes, routes, route, shape = CASES[case]
    first = poll(plane_of(planes, routes))
    second = poll(plane_of(planes, routes), first.snapshot, T0 + POLL_US)
    for what, body in (*d.changed(shape), ("is null", None), ("is empty", {})):
        plane = plane_of(planes, with_body(routes, route, body))
        at_first, later = poll(plane), poll(plane, first.snapshot, T0 + POLL_US)
        if isinstance(routes[route], list) or route in KEYED:
            assert about_neighbours(first), "no neighbour is reported"
            assert about_neighbours(at_first) == about_neighbours(first), what
            assert about_neighbours(later) == about_neighbours(second), what
        poll(plane, at_first.snapshot, T0 + POLL_US)


@pytest.mark.parametrize(
    ("path", "shape"),
    [
        ("environments", d.ENVIRONMENT),
        ("cmk/v2/clusters", d.KAFKA_CLUSTER),
        ("srcm/v3/clusters", d.SCHEMA_REGISTRY),
        ("ksqldbcm/v2/clusters", d.KSQLDB_CLUSTER),
        ("compute-pools", d.COMPUTE_POOL),
    ],
)
def test_every_described_resource_is_discovered_and_loses_no_neighbour(path: str, shape: Any) -> None:
    other = {"id": "near-1", "spec": {"cloud": "GCP", "region": "r"}}
    empty: dict[str, list[Any]] = {name: [] for name in ("organizations", "cmk/v2/clusters", "srcm/v3/clusters", "ksqldbcm/v2/clusters")}
    routes = {**empty, "compute-pools": [], "environments": [d.whole(d.ENVIRONMENT)]}
    for _, body in (*d.changed(shape), ("is null", None), ("is empty", {})):
        http: Any = Answers({**routes, path: [body, other]})
        found, unseen = discover(http, None, EVERYTHING)
        resources = (found.environments, found.kafka_clusters, found.registries, found.ksqldb_clusters, found.compute_pools)
        assert "near-1" in {resource.id for listed in resources for resource in listed}
        assert len(unseen) <= 1
        kept, _ = discover(http, found, EVERYTHING)
        assert kept == found


def test_every_answer_of_ksqldb_is_read_or_refused_and_loses_no_neighbour() -> None:
    near = Ksql([Relation("NEAR_IN", "in", [column("ID", "BIGINT")]), Relation("NEAR", "out", [column("ID", "BIGINT")])])
    near.queries = [Query("CSAS_NEAR_5", "CREATE STREAM NEAR AS SELECT * FROM NEAR_IN EMIT CHANGES;", ["NEAR_IN"], ["NEAR"])]
    neighbours, first, read = near.entities(), None, 0
    for _, body in (("whole", shop().entities()), *d.changed(shop().entities())):
        for entity, neighbour in zip(body, neighbours, strict=True):
            for name, members in neighbour.items():
                if isinstance(members, list) and isinstance(entity.get(name), list):
                    entity[name] += members
        plane = plane_of(ksqldb.planes, {"info": near.info(), "ksql": body})
        try:
            first = first or poll(plane)
            later = poll(plane, first.snapshot, T0 + POLL_US)
        except SourceError:
            continue
        runs = [(event["eventType"], event["job"]["name"]) for event in later.events if "job" in event]
        assert ("RUNNING", "ksqldb/lksqlc-1/CSAS_NEAR_5") in runs
        read += 1
    assert read > 300


def test_every_described_event_of_the_audit_log_is_read() -> None:
    record = json.loads(event("CreateConnector", CONNECTOR))
    record["data"] |= {
        "serviceName": "crn://confluent.cloud/",
        "resourceName": CONNECTOR,
        "authenticationInfo": {"principal": "User:1", "principalResourceId": "u-1", "identity": "crn://x", "metadata": {"mechanism": "m"}},
        "authorizationInfo": {
            "granted": True,
            "operation": "Write",
            "resourceType": "Topic",
            "resourceName": "orders",
            "patternType": "LITERAL",
        },
        "request": {"correlation_id": "1", "clientId": "c", "accessType": "MODIFICATION"},
        "requestMetadata": {"client_address": [{"ip": "10.0.0.1"}]},
        "result": {"status": "SUCCESS", "message": ""},
        "cloudResources": [
            {
                "scope": {"resources": [{"type": "ENVIRONMENT", "resourceId": d.ENV}]},
                "resource": {"type": "CONNECTOR", "resourceId": "lcc-1"},
            }
        ],
    }
    for _, body in d.changed(record):
        parse_request(json.dumps(body).encode())
