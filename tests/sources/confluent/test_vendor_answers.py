"""Answers as Confluent's own recordings and API descriptions have them: unknown values, null pages, entries that cannot be read."""

import json
from collections.abc import Iterator
from typing import Any

import pytest
from tests.sources.confluent.audit.test_audit import CONNECTOR, TOPIC, event
from tests.sources.confluent.cluster_links import test_cluster_links
from tests.sources.confluent.flink.stand_in import Flink
from tests.sources.confluent.flink.test_flink import Polling as FlinkPolling
from tests.sources.confluent.flink.test_flink import event_of, inputs
from tests.sources.confluent.groups import test_groups
from tests.sources.confluent.polling import ENV, LKC, SECRET, Polling, bare, polling, topic_metadata
from tests.sources.confluent.tableflow.test_tableflow import CATALOGS, JOB, TOPICS, UNITY, Tableflow, event_lines, tabled
from tests.sources.confluent.topics import test_topics
from tests.sources.http import Reply, Request, Standin, standing

from lineage_bridge.sources.common.shared_metadata import NO_METADATA
from lineage_bridge.sources.common.stepwise import EVERYTHING
from lineage_bridge.sources.confluent.audit.parse import Resource, parse_request
from lineage_bridge.sources.confluent.clients import Clients
from lineage_bridge.sources.confluent.cluster_links import plane as cluster_links
from lineage_bridge.sources.confluent.discovery import discover
from lineage_bridge.sources.confluent.groups import plane as groups
from lineage_bridge.sources.confluent.metrics.applications import is_internal
from lineage_bridge.sources.confluent.organization import Environment, KafkaCluster, Organization, SchemaRegistry
from lineage_bridge.sources.confluent.plane import PlaneContext
from lineage_bridge.sources.confluent.registry.client import registries, registry_http
from lineage_bridge.sources.confluent.settings import ConfluentSettings
from lineage_bridge.sources.confluent.tableflow import plane as tableflow_planes
from lineage_bridge.sources.confluent.topics import plane as topics

KEY = {"kafka": {"*": {"key": "KEY", "secret": "${env:SECRET}"}}}


@pytest.fixture(autouse=True)
def secret(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SECRET", SECRET)
    monkeypatch.setenv("FLINK_SECRET", "s3cret")


# discovery


class Listings:
    """The control plane: path to the body of its answer; others are empty pages."""

    def __init__(self) -> None:
        self.bodies: dict[str, Any] = {"org/v2/environments": {"data": [{"id": ENV}]}}

    def __call__(self, request: Request) -> Reply:
        return Reply(200, self.bodies.get("/".join(request.parts), {"data": None, "metadata": {"next": None}}))


@pytest.fixture
def listings() -> Listings:
    return Listings()


@pytest.fixture
def clients(listings: Listings) -> Iterator[Clients]:
    with standing(Standin(listings, f"KEY:{SECRET}")) as server:
        yield Clients(ConfluentSettings.model_validate({"url": server.url, "cloud": {"key": "KEY", "secret": "${env:SECRET}"}}))


def discovered(clients: Clients, before: Organization | None = None) -> tuple[Organization, list[str]]:
    organization, unseen = discover(clients.control_plane(), before, EVERYTHING)
    return organization, [entry.what for entry in unseen]


def test_a_null_page_is_empty(clients: Clients) -> None:
    assert discovered(clients) == (Organization("", (Environment(ENV, ENV),)), [])


def test_the_next_page_is_asked_of_the_same_server_whatever_its_address_says() -> None:
    with standing(Standin(Listings(), f"KEY:{SECRET}")) as stranger:
        pages = {"": "2", "2": ""}
        asked = []

        def two_pages(request: Request) -> Reply:
            token = request.query.get("page_token", "")
            if request.parts[-1] != "environments":
                return Reply(200, {"data": None})
            asked.append(token)
            following = f"{stranger.url}/org/v2/environments?page_token={pages[token]}&page_size=1" if pages[token] else None
            return Reply(200, {"data": [{"id": f"env-{token or 1}"}], "metadata": {"next": following}})

        with standing(Standin(two_pages, f"KEY:{SECRET}")) as server:
            cloud = {"url": server.url, "cloud": {"key": "KEY", "secret": "${env:SECRET}"}}
            organization, unseen = discovered(Clients(ConfluentSettings.model_validate(cloud)))
    assert ([environment.id for environment in organization.environments], unseen) == (["env-1", "env-2"], [])
    assert asked == ["", "2"]
    assert stranger.asked == []


def test_an_entry_that_cannot_be_read_loses_only_itself_and_keeps_what_was_known_of_it(clients: Clients, listings: Listings) -> None:
    listings.bodies["org/v2/environments"] = {"data": [{"id": ENV}, {"id": None}, {}]}
    listings.bodies["cmk/v2/clusters"] = {"data": [{"id": "lkc-1", "spec": {}}, {"id": "lkc-2"}, {"id": "lkc-3", "spec": None}]}
    listings.bodies["fcpm/v2/compute-pools"] = {
        "data": [{"id": "lfcp-1", "spec": {"cloud": "AWS", "region": "r"}}, {"id": "lfcp-2", "spec": {"region": "r"}}]
    }
    before = Organization(kafka_clusters=(KafkaCluster("lkc-2", ENV, "two"), KafkaCluster("lkc-9", ENV, "gone")))
    organization, unseen = discovered(clients, before)
    assert [cluster.name for cluster in organization.kafka_clusters] == ["lkc-1", "two"]
    assert [pool.id for pool in organization.compute_pools] == ["lfcp-1"]
    assert unseen == [
        *["environments: an entry without an id"] * 2,
        f"Kafka clusters of {ENV}: lkc-2",
        f"Kafka clusters of {ENV}: lkc-3",
        f"compute pools of {ENV}: lfcp-2",
    ]


def test_an_entry_without_an_id_may_be_any_that_is_not_listed(clients: Clients, listings: Listings) -> None:
    listings.bodies["cmk/v2/clusters"] = {"data": [{"id": "lkc-1", "spec": {}}, {"spec": {}}]}
    before = Organization(kafka_clusters=(KafkaCluster("lkc-1", ENV, "one"), KafkaCluster("lkc-9", ENV, "perhaps")))
    assert [cluster.name for cluster in discovered(clients, before)[0].kafka_clusters] == ["lkc-1", "perhaps"]


def test_access_points_are_servers_of_their_cluster(clients: Clients, listings: Listings) -> None:
    def point(name: str) -> dict[str, str]:
        return {"kafka_bootstrap_endpoint": f"{name}:9092", "http_endpoint": f"https://{name}", "connection_type": "PRIVATE_LINK"}

    endpoints = {"PRIVATE_LINK": point("link"), "ap1": point("shared"), "PUBLIC": point("public"), "ap2": None}
    spec = {"kafka_bootstrap_endpoint": "SASL_SSL://public:9092", "http_endpoint": "https://public:443", "endpoints": endpoints}
    private = {"endpoints": {"ap3": point("private"), "ap1": point("shared")}}
    listings.bodies["cmk/v2/clusters"] = {"data": [{"id": "lkc-1", "spec": spec}, {"id": "lkc-2", "spec": private}]}
    first, second = discovered(clients)[0].kafka_clusters
    assert (first.bootstrap, first.url, first.access_points) == ("public:9092", "https://public:443", ("link:9092", "shared:9092"))
    assert (second.bootstrap, second.url, second.access_points) == ("shared:9092", "https://shared", ("private:9092",))
    assert Organization(kafka_clusters=(first, second)).shared_bootstraps == {"shared:9092"}


def test_topics_name_all_servers_that_no_other_cluster_has() -> None:
    with polling(test_topics.Api(), topics.planes, NO_METADATA, **KEY) as cluster:
        (here,) = cluster.observed.kafka_clusters
        here = KafkaCluster(here.id, here.environment, "orders", url=here.url, bootstrap="b:1", access_points=("c:1", "a:1"))
        cluster.observed = Organization(kafka_clusters=(here,))
        cluster.organization = Organization(kafka_clusters=(here, KafkaCluster("lkc-9", ENV, "other", bootstrap="c:1")))
        facet = cluster.poll().events[0]["dataset"]["facets"]["confluent_kafka"]
        assert facet["bootstrap_servers"] == "b:1,a:1"
        assert cluster.shared_metadata.clusters[0].servers == {"a:1", "b:1"}


def test_a_registry_has_its_own_package_and_address_of_its_catalog(clients: Clients, listings: Listings) -> None:
    spec = {"http_endpoint": "https://registry/", "catalog_http_endpoint": "https://catalog", "package": "ESSENTIALS", "region": "r"}
    listings.bodies["srcm/v3/clusters"] = {"data": [{"id": "lsrc-1", "spec": spec}, {"id": "lsrc-2"}]}
    found, empty = discovered(clients)[0].registries
    assert found == SchemaRegistry("lsrc-1", ENV, "https://registry", "", "r", "https://catalog", "ESSENTIALS")
    assert empty == SchemaRegistry("lsrc-2", ENV, "")


def test_addresses_without_a_scheme_are_https(clients: Clients, listings: Listings) -> None:
    entry = {"id": "lksqlc-1", "spec": {"kafka_cluster": {"id": LKC}}, "status": {"http_endpoint": "pksqlc-1.example.org:443"}}
    listings.bodies["ksqldbcm/v2/clusters"] = {"data": [entry]}
    (cluster,) = discovered(clients)[0].ksqldb_clusters
    assert cluster.url == "https://pksqlc-1.example.org:443"


# a Kafka cluster


def test_an_unreadable_topic_setting_or_rule_loses_itself() -> None:
    api = test_topics.Api()
    with polling(api, topics.planes, NO_METADATA, **KEY) as cluster:
        cluster.poll()
        rest = f"/kafka/v3/clusters/{LKC}"
        replies = {path: cluster.server.api(Request("GET", parts, query, None, {})).body for path, parts, query in _requests(rest)}
        replies[f"{rest}/topics"]["data"] += [{"topic_name": ""}, None]
        replies[f"{rest}/topics/-/configs"]["data"].append({"topic_name": "orders", "name": 3})
        replies[f"{rest}/acls"]["data"].append({"resource_type": "TOPIC"})
        cluster.server.failing = {path: Reply(200, body) for path, body in reversed(replies.items())}
        seen = cluster.poll()
        assert not seen.events
        assert [entry.what for entry in seen.unseen] == ["rights on topics", "topics", "topics: configurations"]
        assert "2 entries cannot be read" in seen.unseen[1].why


def _requests(rest: str) -> list[tuple[str, tuple[str, ...], dict[str, str]]]:
    by_path = {f"{rest}/topics": {}, f"{rest}/topics/-/configs": {}, f"{rest}/acls": {"resource_type": "TOPIC", "principal": "UserV2:*"}}
    return [(path, tuple(path.strip("/").split("/")), query) for path, query in by_path.items()]


def test_rules_name_accounts_by_their_ids() -> None:
    api = test_topics.Api()
    api.rules = [("orders", "LITERAL", "UserV2:sa-1", "READ", "ALLOW"), ("orders", "LITERAL", "User:*", "WRITE", "ALLOW")]
    with polling(api, topics.planes, test_topics.SHARED, **KEY) as cluster:
        facets = bare(cluster.poll().events[-1]["dataset"]["facets"])
        assert (facets["kafka_access"]["mayRead"], facets["kafka_access"]["names"]) == (["User:sa-1"], {"User:sa-1": "order service"})


def test_an_unreadable_group_loses_itself_and_dead_groups_are_not_asked_for_offsets() -> None:
    api = test_groups.Api()
    api.states["dead"] = "DEAD"
    with polling(api, groups.planes, topic_metadata("orders", "refunds", "bills"), groups_by="rest", **KEY) as cluster:
        cluster.poll()
        assert not [target for target in cluster.server.asked if "/dead/lags" in target]
        folder = f"/kafka/v3/clusters/{LKC}/consumer-groups"
        listed = api(Request("GET", tuple(folder.strip("/").split("/")), {}, None, {})).body
        rest = [entry for entry in listed["data"] if entry["consumer_group_id"] != "billing"]
        lost = {**listed, "data": [*rest, {"consumer_group_id": "billing", "state": 3}, {"state": "STABLE"}]}
        api_ = cluster.server.api
        cluster.server.api = lambda request: Reply(200, lost) if request.parts[-1] == "consumer-groups" else api_(request)
        seen = cluster.poll()
        assert {event["eventType"] for event in seen.events} == {"RUNNING"}
        assert "billing" in seen.snapshot["groups"]
        assert [entry.what for entry in seen.unseen] == ["groups: consumer-groups"]


def test_an_unreadable_subtopology_loses_itself_and_not_its_group() -> None:
    api = test_groups.Api()
    api.streams["totals"] = [["orders"], 3, ["refunds"]]  # type: ignore[list-item]
    with polling(api, groups.planes, topic_metadata("orders", "refunds"), groups_by="rest", **KEY) as cluster:
        seen = cluster.poll()
        (totals,) = [event for event in seen.events if event["job"]["name"] == "consumer-group/totals"]
        assert [dataset["name"] for dataset in totals["inputs"]] == ["orders", "refunds"]
        assert "groups: topologies" in [entry.what for entry in seen.unseen]
        api.streams["totals"] = [["orders"], ["refunds"]]
        assert {event["eventType"] for event in cluster.poll().events} == {"RUNNING"}


def test_groups_of_custom_connectors_are_not_applications() -> None:
    assert is_internal("connect-clcc-gkzo3r")
    assert is_internal("connector-consumer-clcc-gkzo3r-0")
    api = test_groups.Api()
    api.states["connect-clcc-gkzo3r"], api.read["connect-clcc-gkzo3r"] = "STABLE", {"orders": [1]}
    with polling(api, groups.planes, NO_METADATA, groups_by="rest", **KEY) as cluster:
        assert not [event for event in cluster.poll().events if "clcc" in event["job"]["name"]]


@pytest.mark.parametrize(
    ("links", "mirrors"),
    [
        ([{"link_name": "east", "source_cluster_id": 3}], []),
        ([{"link_name": "", "source_cluster_id": "lkc-x"}], []),
        ([], [{"link_name": "east", "mirror_topic_name": "east.bills"}]),
        ([], [None]),
    ],
)
def test_an_unreadable_link_or_mirror_ends_no_run(links: list[Any], mirrors: list[Any]) -> None:
    api = test_cluster_links.Api()
    with polling(api, cluster_links.planes, NO_METADATA, **KEY) as cluster:
        cluster.poll()
        whole = cluster.server.api

        def broken(request: Request) -> Reply:
            body = whole(request).body
            replaced = mirrors if request.parts[-1] == "mirrors" else links
            return Reply(200, {"data": [*(body["data"][1:] if replaced else body["data"]), *replaced]})

        cluster.server.api = broken
        seen = cluster.poll()
        assert not seen.events
        assert len(seen.unseen) == 1
        cluster.server.api = whole
        assert [event["eventType"] for event in cluster.poll().events] == ["RUNNING"]


def test_a_link_has_the_id_that_replaces_link_id() -> None:
    api = test_cluster_links.Api()
    with polling(api, cluster_links.planes, NO_METADATA, **KEY) as cluster:
        whole = cluster.server.api

        def renamed(request: Request) -> Reply:
            body = whole(request).body
            entries = [{("cluster_link_id" if key == "link_id" else key): value for key, value in entry.items()} for entry in body["data"]]
            return Reply(200, {"data": entries})

        cluster.server.api = renamed
        assert cluster.poll().events[0]["job"]["facets"]["confluent_cluster_link"]["link_id"] == "id-east"


# Flink


@pytest.fixture
def flink() -> Iterator[FlinkPolling]:
    api = Flink()
    with standing(Standin(api, "FLINK:s3cret")) as server:
        yield FlinkPolling(api, server)


@pytest.mark.parametrize("ends", [(2**63, 2**63), (2**63 - 1, 3), (3, 2**63), (2**62, 2**62), (-1, 3), ()])
def test_the_offset_of_a_stopped_statement_is_unknown(flink: FlinkPolling, ends: tuple[int, ...]) -> None:
    statement = flink.api.submit("s", "INSERT INTO t SELECT id FROM orders", latest_offsets={"orders": "partition:0,offset:10"})
    flink.poll()
    statement["status"]["latest_offsets"] = {"orders": "partition:0,offset:25"}
    flink.poll()
    offsets = ";".join(f"partition:{at},offset:{end}" for at, end in enumerate(ends))
    statement["status"] |= {"phase": "STOPPED", "latest_offsets": {"orders": offsets}}
    (stopped,) = flink.poll().events
    rows = [dataset["inputFacets"]["inputStatistics"]["rowCount"] for dataset in stopped["inputs"]]
    assert (stopped["eventType"], rows, inputs(stopped)) == ("ABORT", [15], ["confluent://env-1/lkc-1 orders"])


def test_an_unreadable_statement_or_table_loses_itself_and_ends_no_run(flink: FlinkPolling) -> None:
    for name in ("a", "b"):
        flink.api.submit(name, f"INSERT INTO {name} SELECT id FROM orders")
        spec = {"query": "SELECT id FROM orders", "kafka_cluster_id": "lkc-1"}
        flink.api.tables[f"table-{name}"] = {"name": f"table-{name}", "spec": spec, "status": {"phase": "RUNNING"}}
    flink.poll()
    flink.api.statements["a"]["spec"]["statement"] = None
    flink.api.tables["table-a"]["spec"] = {}
    seen = flink.poll()
    assert {event["job"]["name"]: event["eventType"] for event in seen.events} == {"flink/b": "RUNNING", "flink/table-b": "RUNNING"}
    assert [entry.what for entry in seen.unseen] == ["statement a", "materialized table table-a"]
    flink.api.statements["a"]["spec"]["statement"] = "INSERT INTO a SELECT id FROM orders"
    flink.api.tables["table-a"]["spec"] = {"query": "SELECT id FROM orders", "kafka_cluster_id": "lkc-1"}
    assert {event["eventType"] for event in flink.poll().events} == {"RUNNING"}


def test_a_table_without_a_name_may_be_any_that_is_not_listed(flink: FlinkPolling) -> None:
    spec = {"query": "SELECT id FROM orders", "kafka_cluster_id": "lkc-1"}
    flink.api.tables["daily"] = {"name": "daily", "spec": spec, "status": {}}
    flink.poll()
    del flink.api.tables["daily"]["name"]
    seen = flink.poll()
    assert not seen.events
    assert [entry.what for entry in seen.unseen] == ["materialized table without a name"]


def test_comments_of_columns_are_descriptions(flink: FlinkPolling) -> None:
    columns = [{"name": "id", "type": "STRING", "comment": "of the order", "kind": "Physical"}, {"name": None}, "x"]
    spec = {"query": "SELECT id FROM orders", "kafka_cluster_id": "lkc-1", "columns": columns}
    flink.api.tables["daily"] = {"name": "daily", "spec": spec, "status": {}}
    (output,) = event_of(flink.poll(), "daily")["outputs"]
    assert [(field["name"], field["description"]) for field in output["facets"]["schema"]["fields"]] == [("id", "of the order")]


# Tableflow


@pytest.fixture
def tableflow() -> Tableflow:
    return Tableflow()


@pytest.fixture
def tables(tableflow: Tableflow) -> Iterator[Polling]:
    key = {"*": {"key": "KEY", "secret": "${env:SECRET}"}}
    with polling(tableflow, tableflow_planes.planes, topic_metadata("shop.orders"), tableflow=key) as poller:
        yield poller


def test_pending_is_not_running(tables: Polling, tableflow: Tableflow) -> None:
    phases = ["PENDING", "PENDING", "RUNNING", "PENDING", "RUNNING", "FAILED", "PENDING"]
    found = []
    for phase in phases:
        tableflow.lists[TOPICS] = [tabled("shop.orders", phase=phase, error="")]
        found.append([line.partition(" ")[0] for line in event_lines(tables.poll())])
    assert found == [["START"], [], ["RUNNING"], [], ["RUNNING"], ["FAIL"], ["START"]]


def test_a_suspended_integration_writes_nothing(tables: Polling, tableflow: Tableflow) -> None:
    first = tables.poll()
    assert UNITY in {(dataset["namespace"], dataset["name"]) for dataset in first.events[0]["outputs"]}
    tableflow.lists[CATALOGS][1]["spec"]["suspended"] = True
    seen = tables.poll()
    assert event_lines(seen) == [f"COMPLETE {JOB}", f"START {JOB}"]
    assert UNITY not in {(dataset["namespace"], dataset["name"]) for dataset in seen.events[1]["outputs"]}
    assert event_lines(tables.poll()) == [f"RUNNING {JOB}"]


def test_an_entry_without_a_topic_ends_no_run(tables: Polling, tableflow: Tableflow) -> None:
    tables.poll()
    tableflow.lists[TOPICS] = [{"spec": {}}]
    seen = tables.poll()
    assert (seen.events, [entry.what for entry in seen.unseen]) == ((), ["topics with Tableflow"])
    tableflow.lists[TOPICS] = [tabled("shop.orders")]
    assert event_lines(tables.poll()) == [f"RUNNING {JOB}"]


# the audit log


@pytest.mark.parametrize(
    ("info", "principal"),
    [
        ({"principal": "User:3958188", "principalResourceId": "u-79z161"}, "u-79z161"),
        ({"principal": "User:3958188"}, "3958188"),
        ({"principal": "User:sa-1", "principalResourceId": ""}, "sa-1"),
        ({"principal": "User:sa-1", "principalResourceId": "sa-2"}, "sa-1"),
    ],
)
def test_the_id_of_an_account_outranks_its_number(info: dict[str, str], principal: str) -> None:
    request = parse_request(event("CreateConnector", CONNECTOR, authenticationInfo=info))
    assert request is not None
    assert request.principal == principal


def test_a_resource_may_be_named_in_the_source_or_in_a_list_only() -> None:
    def resource(**changes: Any) -> Resource | None:
        record = {**json.loads(event("CreateTopics", TOPIC)), "subject": "", **changes}
        request = parse_request(json.dumps(record).encode())
        return request.resource if request else None

    data = json.loads(event("CreateTopics", TOPIC))["data"]
    scope = [{"type": "ORGANIZATION", "resourceId": "o-1"}, {"type": "ENVIRONMENT", "resourceId": "env-1"}, None]
    listed = [{"scope": {"resources": [*scope, {"type": "CLOUD_CLUSTER", "resourceId": "lkc-1"}]}, "resource": {"type": "CONNECTOR"}}]
    listed[0]["resource"] = {"type": "CONNECTOR", "resourceId": "lcc-1"}
    assert resource(source=TOPIC) == Resource("topic", "lkc-1", "orders", "env-1", "lkc-1")
    assert resource(data={**data, "cloudResources": listed}) == Resource("connector", "lkc-1", "lcc-1", "env-1", "lkc-1")
    assert resource(data={**data, "cloudResources": [None, {}, {"scope": []}]}) is None


def test_the_catalog_has_its_own_address() -> None:
    settings = ConfluentSettings(registry={"*": {"key": "K", "secret": "${env:SECRET}"}}, registry_urls={"env-2": "http://own"})  # type: ignore[dict-item]
    listed = tuple(SchemaRegistry(f"lsrc-{number}", f"env-{number}", "http://r", catalog_url="http://c") for number in (1, 2))
    organization = Organization("o", (Environment("env-1", "a"), Environment("env-2", "b")), (), listed)
    context = PlaneContext(organization, organization, Clients(settings), settings)
    found = [registry_http(context, registry, "catalog", registry.catalog_url).settings.url for registry in registries(context)]
    assert found == ["http://c", "http://own"]
