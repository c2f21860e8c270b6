"""The stand-in of Confluent Cloud enforces the rules of Confluent Cloud."""

import json
import re
import time
from collections import Counter
from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from tests.confluent import changes
from tests.confluent.apis.messages import PUBLIC_URL
from tests.confluent.apis.registry import register
from tests.confluent.cloud import FAILURES, Cloud, running
from tests.confluent.minimum_calls import minimum_calls
from tests.confluent.organization.build import build, secrets
from tests.confluent.organization.resources import ANALYTICS, DEV, ORDERS, PAYMENTS, PROD, TEST, WEB
from tests.confluent.organization.values import Json
from tests.servers.registry import Registry

KAFKA = f"/kafka-rest/{ORDERS}/kafka/v3/clusters/{ORDERS}"
CONNECTORS = f"/connect/v1/environments/{PROD}/clusters/{ORDERS}/connectors"
QUERY: Json = {
    "aggregations": [{"metric": "io.confluent.kafka.server/received_records"}],
    "filter": {"field": "resource.kafka.id", "op": "EQ", "value": ORDERS},
    "granularity": "PT1H",
    "group_by": ["metric.topic"],
    "intervals": ["2026-03-02T10:00:00Z/2026-03-02T12:00:00Z"],
    "limit": 1000,
}


class Caller:
    """A client with the credentials of the organization, each by its name: `cloud`, `kafka lkc-..`."""

    def __init__(self, cloud: Cloud) -> None:
        self.cloud = cloud
        self.client = httpx.Client(base_url=cloud.url, timeout=5)

    def auth(self, credential: str) -> tuple[str, str]:
        kind, _, id_ = credential.partition(" ")
        credentials = self.cloud.organization["credentials"][kind]
        pair = credentials[id_] if id_ else credentials
        return pair["key"], pair["secret"]

    def get(self, path: str, credential: str = "cloud", **more: Any) -> httpx.Response:
        return self.client.get(path.removeprefix(PUBLIC_URL), auth=self.auth(credential), **more)

    def all(self, path: str, credential: str, **parameters: str) -> list[Json]:
        """All entries of a list, over its pages."""
        found: list[Json] = []
        following = path
        more: dict[str, Any] = {"params": parameters}
        while following:
            page = self.get(following, credential, **more).raise_for_status().json()
            found += page["data"]
            following, more = page["metadata"].get("next"), {}
        return found

    def query(self, **changed: Any) -> httpx.Response:
        return self.client.post("/v2/metrics/cloud/query", auth=self.auth("metrics"), json={**QUERY, **changed})


@pytest.fixture(scope="module")
def served() -> Iterator[Caller]:
    """A stand-in shared by the tests that do not change it."""
    with running() as cloud:
        yield Caller(cloud)


@pytest.fixture
def own() -> Iterator[Caller]:
    with running() as cloud:
        yield Caller(cloud)


def statements(environment: str, region: str) -> str:
    organization_id = build()["organization"]["id"]
    return f"/flink/{region.replace('.', '/')}/sql/v1/organizations/{organization_id}/environments/{environment}/statements"


def test_the_organization_has_resources_of_every_kind():
    organization = build()
    sizes = {name: len(resources) for name, resources in organization.items() if isinstance(resources, list)}
    assert (sizes["environments"], sizes["kafka_clusters"], sizes["topics"], sizes["connectors"]) == (3, 8, 400, 120)
    assert (sizes["statements"], sizes["consumer_groups"]) == (60, 200)
    assert sum(len(cluster["queries"]) for cluster in organization["ksqldb_clusters"]) == 30
    assert len({connector["config"]["connector.class"] for connector in organization["connectors"]}) >= 40
    assert {group["type"] for group in organization["consumer_groups"]} == {"CLASSIC", "CONSUMER", "SHARE", "STREAMS"}
    assert {subject["schemaType"] for subject in organization["subjects"]} == {"AVRO", "PROTOBUF", "JSON"}
    assert sum(bool(topic["columns"]) for topic in organization["topics"]) >= 60


def test_the_organization_is_reproducible_and_consistent():
    organization = build()
    assert organization == build()
    topics = {(topic["cluster"], topic["topic_name"]) for topic in organization["topics"]}
    lineages = [entry["lineage"] for name in ("statements", "materialized_tables") for entry in organization[name]]
    lineages += [query["lineage"] for cluster in organization["ksqldb_clusters"] for query in cluster["queries"]]
    used = {tuple(cluster_topic) for lineage in lineages for cluster_topic in (*lineage["reads"], *lineage["writes"])}
    used |= {(connector["cluster"], flow["topic"]) for connector in organization["connectors"] for flow in connector["lineage"]["flows"]}
    used |= {(group["cluster"], topic) for group in organization["consumer_groups"] for topic in group["lineage"]["reads"]}
    used |= {(topic["cluster"], topic["display_name"]) for topic in organization["tableflow_topics"]}
    assert used <= topics
    assert len(topics) == 400
    assert all(re.fullmatch(r"[A-Za-z0-9._-]{1,249}", name) for _, name in topics)
    by_subject: dict[tuple[str, str], set[str]] = {}
    for subject in organization["subjects"]:
        by_subject.setdefault((subject["registry"], subject["subject"]), set()).add(subject["schemaType"])
    assert all(len(kinds) == 1 for kinds in by_subject.values())


def test_every_secret_is_long_unique_and_used():
    organization = build()
    given = secrets(organization)
    assert len(given) == len(set(given)) > 100
    assert min(map(len, given)) >= 40
    text = json.dumps({name: resources for name, resources in organization.items() if name != "secrets"})
    assert [secret for secret in given if secret not in text] == []


def test_unknown_keys_and_keys_of_another_scope_are_refused(served: Caller):
    assert served.client.get("/org/v2/environments").status_code == 401
    response = served.client.get("/org/v2/environments", auth=("NOBODY", "x"))
    assert response.status_code == 401
    assert set(response.json()["errors"][0]) == {"id", "status", "code", "title", "detail", "source"}
    key, _ = served.auth("cloud")
    assert served.client.get("/org/v2/environments", auth=(key, "wrong")).status_code == 401
    assert served.get("/org/v2/environments", f"kafka {ORDERS}").status_code == 403
    assert served.get("/org/v2/environments", "powerless").json()["errors"][0]["status"] == "403"
    assert served.get(f"{KAFKA}/topics", f"kafka {PAYMENTS}").json()["error_code"] == 40300
    assert served.get(f"{KAFKA}/topics", "cloud").status_code == 403
    assert served.get("/registry/lsrc-p7rod1/subjects", "registry lsrc-s5tag2").status_code == 403
    assert served.get("/ksql/lksqlc-k1or/info", "ksqldb lksqlc-k2or").status_code == 403


def test_lists_are_paged_with_full_addresses(served: Caller):
    first = served.get("/iam/v2/api-keys").json()
    assert len(first["data"]) == 10
    assert first["metadata"]["next"].startswith(f"{PUBLIC_URL}/iam/v2/api-keys?page_token=")
    every = served.all("/iam/v2/api-keys", "cloud", page_size="7")
    assert [entry["id"] for entry in every] == [key["id"] for key in served.cloud.organization["api_keys"]]
    assert "next" not in served.get("/iam/v2/api-keys", params={"page_size": 100}).json()["metadata"]
    for wrong in ({"page_size": 101}, {"page_size": 0}, {"page_token": "x"}):
        assert served.get("/iam/v2/api-keys", params=wrong).status_code == 400
    token = first["metadata"]["next"].partition("page_token=")[2]
    assert served.get("/iam/v2/service-accounts", params={"page_token": token}).status_code == 400


def test_lists_of_an_environment_require_its_id(served: Caller):
    for path in ("/cmk/v2/clusters", "/srcm/v3/clusters", "/fcpm/v2/compute-pools", "/ksqldbcm/v2/clusters", "/pim/v1/integrations"):
        assert served.get(path).status_code == 400
        assert served.get(path, params={"environment": "env-none"}).status_code == 403
    found = [
        entry["id"]
        for env in served.cloud.organization["environments"]
        for entry in served.all("/cmk/v2/clusters", "cloud", environment=env["id"])
    ]
    assert found == [cluster["id"] for cluster in served.cloud.organization["kafka_clusters"]]


def test_addresses_in_answers_can_be_followed(served: Caller):
    (registry,) = served.all("/srcm/v3/clusters", "cloud", environment=PROD)
    assert served.get(registry["spec"]["http_endpoint"] + "/contexts", "registry lsrc-p7rod1").json() == [":.:", ":.partners:"]
    cluster = next(entry for entry in served.all("/cmk/v2/clusters", "cloud", environment=PROD) if entry["id"] == ORDERS)
    assert served.get(f"{cluster['spec']['http_endpoint']}/kafka/v3/clusters/{ORDERS}/topics", f"kafka {ORDERS}").status_code == 200
    ksql = served.all("/ksqldbcm/v2/clusters", "cloud", environment=PROD)[0]
    assert (
        served.get(ksql["status"]["http_endpoint"] + "/info", f"ksqldb {ksql['id']}").json()["KsqlServerInfo"]["ksqlServiceId"]
        == "pksqlc-1a2b3"
    )


def test_topics_are_not_paged(served: Caller):
    listing = served.get(f"{KAFKA}/topics", f"kafka {ORDERS}", params={"page_size": 3}).json()
    assert listing["metadata"]["next"] is None
    assert len(listing["data"]) == sum(topic["cluster"] == ORDERS for topic in served.cloud.organization["topics"])
    configs = served.get(f"{KAFKA}/topics/-/configs", f"kafka {ORDERS}").json()["data"]
    assert {config["topic_name"] for config in configs} == {entry["topic_name"] for entry in listing["data"]}
    assert served.get(f"{KAFKA}/topics/none", f"kafka {ORDERS}").json()["error_code"] == 40403


def test_lag_is_reported_on_dedicated_clusters_only(served: Caller):
    refused = set()
    for cluster in served.cloud.organization["kafka_clusters"]:
        group = next(
            group["group_id"]
            for group in served.cloud.organization["consumer_groups"]
            if group["cluster"] == cluster["id"] and group["members"]
        )
        root = f"/kafka-rest/{cluster['id']}/kafka/v3/clusters/{cluster['id']}/consumer-groups/{group}"
        statuses = {served.get(f"{root}/{part}", f"kafka {cluster['id']}").status_code for part in ("lags", "lag-summary")}
        assert served.get(f"{root}/consumers", f"kafka {cluster['id']}").json()["data"]
        refused |= {(cluster["kind"], *statuses)}
    assert refused == {("Dedicated", 200), ("Standard", 404), ("Basic", 404), ("Enterprise", 403), ("Freight", 403)}


def test_groups_are_listed_by_kind(served: Caller):
    found = {kind: served.get(f"{KAFKA}/{kind}-groups", f"kafka {ORDERS}").json()["data"] for kind in ("consumer", "share", "streams")}
    assert {entry["type"] for entry in found["consumer"]} == {"CLASSIC", "CONSUMER"}
    share = found["share"][0]
    assert {entry["topic_name"] for entry in share["assigned_topic_partitions"]} == {"orders"}
    assert share["consumer_count"] == 3
    parts = served.get(found["streams"][0]["subtopologies"]["related"], f"kafka {ORDERS}").json()["data"]
    assert {topic for entry in parts for topic in entry["source_topics"]} == {"orders", "customers"}


def test_secrets_of_connectors_are_masked(served: Caller):
    given = set(secrets(served.cloud.organization))
    shown = set()
    for cluster in served.cloud.organization["kafka_clusters"]:
        path = f"/connect/v1/environments/{cluster['environment']}/clusters/{cluster['id']}/connectors"
        names = served.get(path).json()
        connectors = served.get(path, params={"expand": "info,status,id"}).json()
        assert sorted(connectors) == names
        for connector in connectors.values():
            values = connector["info"]["config"]
            shown |= {(key, value) for key, value in values.items() if value in given}
            assert "****************" in values.values() or not any("secret" in key for key in values)
            assert connector["id"]["id"].startswith(("lcc-", "clcc-"))
    assert {key for key, _ in shown} == {"ledger.api.token"}
    assert served.get(CONNECTORS, params={"expand": "everything"}).status_code == 400
    assert served.get(f"{CONNECTORS}/none").status_code == 404
    assert served.get(f"{CONNECTORS}/orders-to-s3/offsets").json()["offsets"]


def test_statements_are_visible_to_their_owner_and_to_administrators(served: Caller):
    path = statements(PROD, "aws.us-east-1")
    every = served.all(path, f"flink {PROD}")
    own = served.all(path, f"flink_developer {PROD}")
    assert {statement_["name"] for statement_ in every} == {
        statement["name"]
        for statement in served.cloud.organization["statements"]
        if (statement["environment"], statement["region"]) == (PROD, "us-east-1")
    }
    assert {statement_["spec"]["principal"] for statement_ in own} == {"sa-fl1nk0"}
    other_path = statements("env-s4m8d1", "aws.us-west-2")
    assert len({statement_["spec"]["principal"] for statement_ in served.all(other_path, "flink env-s4m8d1")}) == 2
    assert served.get(path, "flink_region env-p9k2x7/aws.eu-central-1").status_code == 403
    assert served.get(path, f"flink {ANALYTICS}").status_code == 403
    assert served.get(f"{path}/broken-cast/exceptions", f"flink {PROD}").json()["data"][0]["message"].startswith("Cast failed")
    tables = served.all(path.replace("/statements", "/materialized-tables"), f"flink {PROD}")
    assert [table["name"] for table in tables] == ["live_visitors"]


def test_tableflow_needs_both_filters(served: Caller):
    path, credential = "/tableflow/v1/tableflow-topics", f"tableflow {PROD}"
    assert served.get(path, credential).status_code == 400
    assert served.get(path, credential, params={"environment": PROD}).status_code == 400
    both = {"environment": PROD, "spec.kafka_cluster": ORDERS}
    assert len(served.all(path, credential, **both)) == 4
    assert served.get(path, f"tableflow {ANALYTICS}", params=both).status_code == 403
    kinds = {
        entry["spec"]["config"]["kind"]: entry["spec"]["config"]
        for entry in served.all("/tableflow/v1/catalog-integrations", credential, **both)
    }
    assert set(kinds) == {"AwsGlue", "Unity"}
    assert set(kinds["Unity"]["client_secret"]) == {"*"}


def test_the_registry_serves_contexts_strategies_references_and_exporters(served: Caller):
    def get(path: str, **more: Any) -> Any:
        return served.get(f"/registry/lsrc-p7rod1{path}", "registry lsrc-p7rod1", **more).json()

    subjects = get("/subjects", params={"subjectPrefix": ":*:"})
    assert {":.partners:orders-value", "order-events-com.acme.OrderPlaced", "orders-value"} <= set(subjects)
    assert ":.partners:orders-value" not in get("/subjects")
    profiles = get("/subjects/profiles-value/versions/latest")
    assert profiles["references"][0]["subject"] == "com.acme.Address"
    assert profiles["id"] in get("/subjects/com.acme.Address/versions/1/referencedby")
    exporter = get("/exporters/to-analytics")
    assert exporter["config"]["schema.registry.url"] == f"{served.cloud.url}/registry/lsrc-a3nal4"
    assert "[hidden]" in exporter["config"].values()
    assert get("/exporters/partners-to-dr/status")["state"] == "PAUSED"
    page = served.get("/registry/lsrc-p7rod1/schemas", "registry lsrc-p7rod1")
    again = served.get("/registry/lsrc-p7rod1/schemas", "registry lsrc-p7rod1", headers={"If-None-Match": page.headers["ETag"]})
    assert (again.status_code, again.content) == (304, b"")


def test_only_the_advanced_package_has_a_catalog(served: Caller):
    path = "/catalog/v1/search/basic"
    response = served.get(
        f"/registry/lsrc-p7rod1{path}", "registry lsrc-p7rod1", params={"type": "kafka_topic", "tag": "PII", "attrs": "owner"}
    )
    assert {entity["attributes"]["name"]: entity["attributes"].get("owner") for entity in response.json()["entities"]} == {
        "customers": "crm team",
        "cards": "payments team",
        "users": None,
    }
    assert served.get(f"/registry/lsrc-s5tag2{path}", "registry lsrc-s5tag2", params={"type": "kafka_topic"}).status_code == 403
    for wrong in ({"type": "kafka_topic", "limit": 501}, {"type": "no_such_type"}, {}):
        assert served.get(f"/registry/lsrc-p7rod1{path}", "registry lsrc-p7rod1", params=wrong).status_code == 400
    name = f"lsrc-p7rod1:{ORDERS}:orders"
    entity = served.get(f"/registry/lsrc-p7rod1/catalog/v1/entity/type/kafka_topic/name/{name}", "registry lsrc-p7rod1").json()["entity"]
    assert entity["businessAttributes"]["DataDomain"]["domain"] == "sales"


def test_ksqldb_answers_like_its_servers(served: Caller):
    answers = served.client.post(
        "/ksql/lksqlc-k1or/ksql",
        auth=served.auth("ksqldb lksqlc-k1or"),
        headers={"Content-Type": "application/vnd.ksql.v1+json"},
        content=json.dumps({"ksql": "SHOW STREAMS EXTENDED; SHOW QUERIES EXTENDED;"}),
    ).json()
    ids = [entry["id"] for entry in answers[1]["queryDescriptions"]]
    assert len(ids) == 10
    assert ids == [query["id"] for query in served.cloud.organization["ksqldb_clusters"][1]["queries"]]


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"aggregations": []}, "exactly one aggregation"),
        ({"aggregations": QUERY["aggregations"] * 2}, "exactly one aggregation"),
        ({"aggregations": [{"metric": "io.confluent.kafka.server/none"}]}, "no metric"),
        ({"filter": None}, "resource"),
        ({"filter": {"field": "metric.topic", "op": "EQ", "value": "orders"}}, "resource"),
        ({"granularity": "PT1M", "intervals": ["2026-03-02T00:00:00Z/2026-03-02T06:01:00Z"]}, "at most 6 h"),
        ({"granularity": "PT5M", "intervals": ["2026-03-01T00:00:00Z/PT25H"]}, "at most 24 h"),
        ({"granularity": "PT15M", "intervals": ["2026-03-01T00:00:00Z/P5D"]}, "at most 96 h"),
        ({"granularity": "PT30M", "intervals": ["2026-03-01T00:00:00Z/P8D"]}, "at most 168 h"),
        ({"granularity": "PT2M"}, "granularity"),
        ({"limit": 1001}, "limit"),
        ({"group_by": ["metric.shoe_size"]}, "shoe_size"),
        ({"intervals": []}, "interval"),
        ({"intervals": ["yesterday"]}, "interval"),
    ],
)
def test_metrics_refuse_invalid_queries(served: Caller, changed: Json, message: str):
    response = served.query(**changed)
    assert response.status_code == 400
    assert message in response.json()["errors"][0]["detail"]


def test_metrics_are_grouped_by_label_and_paged(served: Caller):
    rows = served.query().json()["data"]
    expected: Counter[str] = Counter()
    for row in served.cloud.organization["metrics"]:
        if row["metric"] == QUERY["aggregations"][0]["metric"] and row["labels"]["resource.kafka.id"] == ORDERS:
            expected[row["labels"]["metric.topic"]] += row["per_minute"] * 60
    assert len(rows) == 2 * len(expected)
    assert {row["metric.topic"]: row["value"] for row in rows[: len(expected)]} == expected
    assert served.query(granularity="PT30M", intervals=["2026-03-01T00:00:00Z/P7D"]).status_code == 200
    assert served.query(granularity="PT1H", intervals=["2026-01-01T00:00:00Z/P30D"]).status_code == 200
    first = served.query(limit=5).json()
    token = first["meta"]["pagination"]["next_page_token"]
    second = served.client.post(
        "/v2/metrics/cloud/query", params={"page_token": token}, auth=served.auth("metrics"), json={**QUERY, "limit": 5}
    ).json()
    assert first["data"] + second["data"] == rows[:10]
    body = {"metric": QUERY["aggregations"][0]["metric"], "filter": QUERY["filter"], "group_by": ["metric.client_id"], "limit": 1000}
    clients = served.client.post("/v2/metrics/cloud/attributes", auth=served.auth("metrics"), json=body).json()["data"]
    assert {"metric.client_id": "order-service"} in clients
    names = [entry["name"] for entry in served.get("/v2/metrics/cloud/descriptors/metrics", "metrics").json()["data"]]
    assert "io.confluent.flink/num_records_in" in names


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


def test_every_answer_has_rate_limit_headers_and_excess_requests_are_refused(own: Caller):
    own.cloud.clock = clock = Clock()
    answer = own.get("/org/v2/environments")
    assert (answer.headers["X-RateLimit-Limit"], answer.headers["X-RateLimit-Remaining"]) == ("10", "9")
    assert int(answer.headers["X-RateLimit-Reset"]) == 1
    assert [own.get("/org/v2/environments").headers["X-RateLimit-Remaining"] for _ in range(15)] == ["9"] * 15
    own.cloud.limits.on = True
    clock.now = 1
    statuses = [own.get("/org/v2/environments") for _ in range(11)]
    assert [response.status_code for response in statuses] == [200] * 10 + [429]
    assert [response.headers["X-RateLimit-Remaining"] for response in statuses[:10]] == [str(left) for left in range(9, -1, -1)]
    assert statuses[-1].headers["Retry-After"] == statuses[-1].headers["X-RateLimit-Reset"] == "1"
    assert own.get(f"{KAFKA}/topics", f"kafka {ORDERS}").status_code == 200
    clock.now = 2
    assert own.get("/org/v2/environments").status_code == 200
    own.cloud.limits.scale = 3
    clock.now = 3
    assert Counter(own.get("/org/v2/environments").status_code for _ in range(31)) == {200: 30, 429: 1}


def test_metrics_and_registries_have_limits_of_their_own(own: Caller):
    own.cloud.clock = clock = Clock()
    own.cloud.limits.on = True
    assert Counter(own.query(limit=1).status_code for _ in range(62)) == {200: 60, 429: 2}
    clock.now = 15
    assert int(own.query().headers["Retry-After"]) == 45
    found = Counter(own.get("/registry/lsrc-s5tag2/contexts", "registry lsrc-s5tag2").status_code for _ in range(80))
    assert found == {200: 75, 429: 5}


def test_each_plane_can_fail_alone_and_in_every_way(own: Caller):
    path, credential = f"{KAFKA}/topics", f"kafka {ORDERS}"
    seen = {}
    for how in FAILURES:
        own.cloud.fail(f"kafka {ORDERS}", how, slow_s=0.2)
        began = time.monotonic()
        response = own.get(path, credential)
        seen[how] = (response.status_code, time.monotonic() - began > 0.2)
        if how in ("truncated", "html"):
            with pytest.raises(json.JSONDecodeError):
                response.json()
        assert own.get(f"/kafka-rest/{PAYMENTS}/kafka/v3/clusters/{PAYMENTS}/topics", f"kafka {PAYMENTS}").status_code == 200
        own.cloud.heal()
    assert {how: status for how, (status, _) in seen.items()} == {
        "broken": 500,
        "slow": 200,
        "refused": 403,
        "half": 200,
        "circle": 200,
        "truncated": 200,
        "html": 200,
        "limited": 429,
        "gone": 404,
        "odd": 200,
    }
    assert seen["slow"][1]
    assert own.get(path, credential).status_code == 200


def test_a_list_can_end_early_or_repeat_pages(own: Caller):
    own.cloud.fail("iam", "half")
    first = own.get("/iam/v2/api-keys").json()
    assert own.get(first["metadata"]["next"]).status_code == 500
    own.cloud.heal("iam")
    own.cloud.fail("/iam/v2/api-keys", "circle")
    following = own.get("/iam/v2/api-keys").json()["metadata"]["next"]
    assert own.get(following).json()["metadata"]["next"] == following
    assert own.get("/iam/v2/users").json()["metadata"].get("next") is None
    own.cloud.fail("flink", "half")
    page = own.get(statements(PROD, "aws.us-east-1"), f"flink {PROD}", params={"page_size": 100}).json()
    assert len(page["data"]) == 1
    assert own.get(page["metadata"]["next"], f"flink {PROD}").status_code == 500
    own.cloud.fail("registry", "half")
    credential = "registry lsrc-p7rod1"
    assert len(own.get("/registry/lsrc-p7rod1/schemas", credential, params={"limit": 500}).json()) == 1
    assert own.get("/registry/lsrc-p7rod1/schemas", credential, params={"limit": 500, "offset": 1}).status_code == 500
    own.cloud.fail("metrics", "half")
    token = own.query().json()["meta"]["pagination"]["next_page_token"]
    assert own.client.post("/v2/metrics/cloud/query", params={"page_token": token}, auth=own.auth("metrics"), json=QUERY).status_code == 500


def test_changes_take_effect_at_once_or_after_a_delay(own: Caller):
    organization = own.cloud.organization
    changes.add_topic(organization, ORDERS, "brand-new")
    changes.delete_topic(organization, ORDERS, "order-events")
    topics = {entry["topic_name"] for entry in own.get(f"{KAFKA}/topics", f"kafka {ORDERS}").json()["data"]}
    assert "brand-new" in topics
    assert "order-events" not in topics
    changes.connector_state(organization, ORDERS, "orders-to-s3", "FAILED", "it broke")
    changes.delete_connector(organization, ORDERS, "shop-cdc")
    changes.reconfigure(organization, ORDERS, "audit-to-s3", s3__bucket__name="elsewhere")
    connectors = own.get(CONNECTORS, params={"expand": "info,status,id"}).json()
    assert connectors["orders-to-s3"]["status"]["connector"] == {"state": "FAILED", "worker_id": "orders-to-s3", "trace": "it broke"}
    assert "shop-cdc" not in connectors
    assert connectors["audit-to-s3"]["info"]["config"]["s3.bucket.name"] == "elsewhere"
    own.cloud.clock = clock = Clock()
    own.cloud.later(60, lambda organization: changes.statement_phase(organization, PROD, "orders-enriched", "STOPPED"))
    path = f"{statements(PROD, 'aws.us-east-1')}/orders-enriched"
    assert own.get(path, f"flink {PROD}").json()["status"]["phase"] == "RUNNING"
    clock.now = 60
    assert own.get(path, f"flink {PROD}").json()["status"]["phase"] == "STOPPED"


def test_calls_are_counted_by_plane_and_key(own: Caller):
    own.get("/org/v2/environments")
    own.get("/org/v2/environments", f"kafka {ORDERS}")
    own.get(f"{KAFKA}/topics", f"kafka {ORDERS}")
    kafka, cloud = own.auth(f"kafka {ORDERS}")[0], own.auth("cloud")[0]
    assert own.cloud.counts == {("org", cloud): 1, ("org", kafka): 1, ("kafka", kafka): 1}


def test_a_real_broker_can_serve_as_a_cluster():
    with running(brokers={ORDERS: "127.0.0.1:19092"}) as cloud:
        asker = Caller(cloud)
        bootstraps = {
            entry["id"]: entry["spec"]["kafka_bootstrap_endpoint"] for entry in asker.all("/cmk/v2/clusters", "cloud", environment=PROD)
        }
    assert bootstraps[ORDERS] == "SASL_SSL://127.0.0.1:19092"
    assert bootstraps[WEB].endswith("confluent.example:9092")


def test_a_real_registry_can_serve_the_schemas(registry: Registry):
    organization = build()
    register(organization, "lsrc-s5tag2", registry.url)
    with running(organization, registries={"lsrc-s5tag2": registry.url}) as cloud:
        asker = Caller(cloud)

        def get(path: str, **more: Any) -> Any:
            return asker.get(f"/registry/lsrc-s5tag2{path}", "registry lsrc-s5tag2", **more).json()

        assert get("/subjects/orders-value/versions") == [1, 2]
        newest = get("/subjects/orders-value/versions/latest")
        assert newest["schema"] == registry.newest("orders-value")["schema"]
        listed = {(entry["subject"], entry["version"]): entry["id"] for entry in get("/schemas", params={"subjectPrefix": ":*:"})}
        assert listed["orders-value", 2] == newest["id"]
        assert get("/contexts") == [":.:"]


def test_two_clusters_share_a_bootstrap_server_and_topic_names():
    organization = build()
    bootstraps = {cluster["id"]: cluster["kafka_bootstrap_endpoint"] for cluster in organization["kafka_clusters"]}
    assert bootstraps[DEV] == bootstraps[TEST]
    names = {cluster: {topic["topic_name"] for topic in organization["topics"] if topic["cluster"] == cluster} for cluster in (DEV, TEST)}
    assert len(names[DEV] & names[TEST]) > 5


def test_each_rate_limit_has_a_minimum_of_calls():
    minimum = minimum_calls(build())
    assert {name.partition(" ")[0] for name in minimum} == {"cloud", "kafka", "registry", "flink", "ksqldb", "tableflow", "metrics"}
    assert minimum["ksqldb lksqlc-k1or"] == (2, 0.0)
    assert minimum["cloud"].seconds == (minimum["cloud"].calls - 1) // 10
    assert minimum_calls(build(), scale=1000)["cloud"].seconds == 0.0
