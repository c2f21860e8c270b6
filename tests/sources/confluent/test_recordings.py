"""Objects as the recordings of Confluent's command line and Terraform provider have them, through the readers of each plane."""

import json
from typing import Any

import pytest
from tests.sources.confluent.connect.test_connect import Cloud
from tests.sources.confluent.flink.stand_in import Flink
from tests.sources.confluent.flink.test_flink import Polling as FlinkPolling
from tests.sources.confluent.polling import LKC, SECRET, SPACE, bare, edges, polling, topic_metadata
from tests.sources.confluent.tableflow.test_tableflow import ACCOUNTS, CATALOGS, TOPICS, Tableflow
from tests.sources.confluent.topics.test_topics import SHARED
from tests.sources.http import Reply, Request, Standin, standing

from lineage_bridge.sources.common.shared_metadata import NO_METADATA
from lineage_bridge.sources.common.stepwise import EVERYTHING
from lineage_bridge.sources.confluent.clients import Clients
from lineage_bridge.sources.confluent.cluster_links import plane as cluster_links
from lineage_bridge.sources.confluent.connect import plane as connect
from lineage_bridge.sources.confluent.connect.parse import CustomPlugin, parse_custom_plugins
from lineage_bridge.sources.confluent.discovery import discover
from lineage_bridge.sources.confluent.flink.parse import parse_failure
from lineage_bridge.sources.confluent.groups import plane as groups
from lineage_bridge.sources.confluent.identities.plane import planes as identity_planes
from lineage_bridge.sources.confluent.organization import Organization, SchemaRegistry
from lineage_bridge.sources.confluent.plane import PlaneContext
from lineage_bridge.sources.confluent.settings import ConfluentSettings
from lineage_bridge.sources.confluent.tableflow import plane as tableflow
from lineage_bridge.sources.confluent.topics import plane as topics

KEY = {"kafka": {"*": {"key": "KEY", "secret": "${env:SECRET}"}}}
ENVIRONMENT = "env-596"
PATH = "s3://dummy-bucket-name-1//10011010/11101100/org-1/env-2/lkc-3/v1/tableId"


@pytest.fixture(autouse=True)
def secret(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SECRET", SECRET)
    monkeypatch.setenv("FLINK_SECRET", "s3cret")


def answers(**bodies: Any) -> Any:
    """An API that answers by the last part of the path; `-`, `.` and `/` in it are written `_`."""

    def api(request: Request) -> Reply:
        name = request.parts[-1].replace("-", "_")
        return Reply(200, {"data": bodies.get(f"{request.parts[0]}_{name}", bodies.get(name, [])), "metadata": {}})

    return api


# the control plane


def kafka(id_: str, name: str = "kafka-cluster", kind: str = "Basic", bootstrap: str | None = "SASL_SSL://kafka-endpoint") -> Any:
    endpoints = {} if bootstrap is None else {"kafka_bootstrap_endpoint": bootstrap, "http_endpoint": bootstrap and "https://pkc-endpoint"}
    spec = {"display_name": name, "cloud": "AWS", "region": "us-west-2", "config": {"kind": kind} if kind else {}, **endpoints}
    return {"id": id_, "spec": spec, "status": {"phase": "PROVISIONED"}}


def ksqldb(id_: str, cluster: str, prefix: str, **spec: Any) -> Any:
    references = {"kafka_cluster": {"id": cluster, "environment": "env-12345"}, "environment": {"id": "env-12345"}}
    status = {"http_endpoint": "SASL_SSL://ksql-endpoint", "topic_prefix": prefix, "storage": 101, "phase": "PROVISIONING"}
    return {"id": id_, "spec": {"display_name": "account ksql", **references, **spec}, "status": status}


def pool(id_: str, region: str, **spec: Any) -> Any:
    return {"id": id_, "spec": {"display_name": "my-compute-pool-1", "max_cfu": 1, "region": region, **spec}, "status": {}}


def registry(id_: str, **spec: Any) -> Any:
    own = {"package": "essentials", "environment": {"id": "env-srUpdate"}, "region": "us-west-2", "cloud": "aws"}
    return {"id": id_, "spec": {"display_name": "account schema-registry", **own, **spec}, "status": {"phase": "PROVISIONED"}}


REGIONAL = {
    "us-east-1": "https://lsrc-stk1d.us-east-1.aws.private.example",
    "us-west-2": "https://lsrc-stgvk1d.us-west-2.aws.private.example",
}
PUBLIC = "https://psrc.example"
PRIVATE = {"private_http_endpoint": "http://127.0.0.1:1029", "private_networking_config": {"regional_endpoints": REGIONAL}}


def discovered(**bodies: Any) -> tuple[Organization, list[str]]:
    governed = {"stream_governance_config": {"package": "ESSENTIALS"}}
    environments = [{"id": ENVIRONMENT, "display_name": "default", **governed}]
    with standing(Standin(answers(environments=environments, **bodies), f"KEY:{SECRET}")) as server:
        settings = ConfluentSettings.model_validate({"url": server.url, "cloud": {"key": "KEY", "secret": "${env:SECRET}"}})
        clients = Clients(settings)
        organization, unseen = discover(clients.control_plane(), None, EVERYTHING)
        clients.close()
    return organization, [entry.what for entry in unseen]


def test_clusters_of_every_kind_and_phase_are_found() -> None:
    found, unseen = discovered(
        cmk_clusters=[
            kafka("lkc-123", "abc", bootstrap=None),
            kafka("lkc-456", "def", bootstrap=None),
            kafka("lkc-describe"),
            kafka("lkc-describe-dedicated", kind="Dedicated"),
            kafka("lkc-describe-dedicated-provisioning", kind="Dedicated", bootstrap=""),
            kafka("lkc-unknown-type", kind=""),
            kafka("lkc-def963", "gcp-byok-test", "Dedicated"),
        ],
        ksqldbcm_clusters=[
            ksqldb("lksqlc-ksql5", "lkc-qwert", "pksqlc-abcde", use_detailed_processing_log=True),
            ksqldb("lksqlc-woooo", "lkc-zxcvb", "pksqlc-ghjkl", use_detailed_processing_log=False),
            ksqldb("lksqlc-ksql1", "lkc-12345", "pksqlc-abcde", credential_identity={"id": "u-123456"}),
            ksqldb("lksqlc-12345", "lkc-abcde", "pksqlc-zxcvb", credential_identity={"id": "sa-12345", "related": ""}),
        ],
        compute_pools=[
            pool("lfcp-123456", "us-west-1", cloud="AWS"),
            pool("lfcp-222222", "us-west-2", cloud="AWS", http_endpoint="https://flink.us-west-2.aws.example"),
            pool("lfcp-abc123", "us-west-2"),
        ],
    )
    assert [environment.package for environment in found.environments] == ["ESSENTIALS"]
    assert [(cluster.id, cluster.name, cluster.kind, cluster.bootstrap, cluster.url) for cluster in found.kafka_clusters] == [
        ("lkc-123", "abc", "Basic", "", ""),
        ("lkc-456", "def", "Basic", "", ""),
        ("lkc-def963", "gcp-byok-test", "Dedicated", "kafka-endpoint", "https://pkc-endpoint"),
        ("lkc-describe", "kafka-cluster", "Basic", "kafka-endpoint", "https://pkc-endpoint"),
        ("lkc-describe-dedicated", "kafka-cluster", "Dedicated", "kafka-endpoint", "https://pkc-endpoint"),
        ("lkc-describe-dedicated-provisioning", "kafka-cluster", "Dedicated", "", ""),
        ("lkc-unknown-type", "kafka-cluster", "", "kafka-endpoint", "https://pkc-endpoint"),
    ]
    assert [(cluster.id, cluster.url, cluster.topic_prefix) for cluster in found.ksqldb_clusters] == [
        ("lksqlc-12345", "https://ksql-endpoint", "pksqlc-zxcvb"),
        ("lksqlc-ksql1", "https://ksql-endpoint", "pksqlc-abcde"),
        ("lksqlc-ksql5", "https://ksql-endpoint", "pksqlc-abcde"),
        ("lksqlc-woooo", "https://ksql-endpoint", "pksqlc-ghjkl"),
    ]
    assert [found_.id for found_ in found.compute_pools] == ["lfcp-123456", "lfcp-222222"]
    assert unseen == [f"compute pools of {ENVIRONMENT}: lfcp-abc123"]


@pytest.mark.parametrize(
    ("spec", "url", "catalog"),
    [
        (
            {"http_endpoint": "https://psrc.example", **PRIVATE, "catalog_http_endpoint": "http://127.0.0.1:1030"},
            "https://psrc.example",
            True,
        ),
        ({"http_endpoint": "", **PRIVATE}, REGIONAL["us-west-2"], False),
        ({**PRIVATE, "region": "eu-west-1"}, REGIONAL["us-east-1"], False),
        ({"private_http_endpoint": PRIVATE["private_http_endpoint"]}, "http://127.0.0.1:1029", False),
        ({"private_networking_config": None}, "", False),
    ],
)
def test_a_registry_on_private_networks_only_has_an_address(spec: dict[str, Any], url: str, catalog: bool) -> None:
    (found,) = discovered(srcm_clusters=[registry("lsrc-1234", **spec)])[0].registries
    region, catalog_url = spec.get("region", "us-west-2"), "http://127.0.0.1:1030" if catalog else ""
    assert found == SchemaRegistry("lsrc-1234", ENVIRONMENT, url, "aws", region, catalog_url, "essentials")


def key(id_: str, owner: str, *resources: str) -> Any:
    listed = [{"id": resource, "kind": "Cluster"} for resource in resources]
    more = {"resources": listed} if len(listed) > 1 else {}
    return {"id": id_, "spec": {"resource": listed[0], **more, "owner": {"id": owner}, "secret": SECRET, "description": ""}}


def test_owners_of_keys_for_one_or_several_resources() -> None:
    people = {"u11": "Brian", "u-17": "Miles", "u-11aaa": "11 Aaa", "u-22bbb": "22 Bbb", "u-33ccc": "33 Ccc", "u-44ddd": "Muwei"}
    api = answers(
        users=[{"id": id_, "full_name": name, "email": f"{id_}@confluent.example", "auth_type": "x"} for id_, name in people.items()],
        service_accounts=[{"id": "sa-12345", "display_name": "service_account", "description": "at your service."}],
        api_keys=[
            key("MYKEY1", "u11", "lkc-bob"),
            key("MYKEY2", "u-17", "lkc-abc"),
            key("MULTICLUSTERKEY1", "u-44ddd", "lkc-abc", "lsrc-abc"),
            key("MULTICLUSTERKEY2", "u-44ddd", "lkc-abc", "lsrc-abc123"),
            key("MULTICLUSTERKEY3", "sa-12345", "lkc-abc", "lsrc-abc"),
            key("UIAPIKEY100", "u-22bbb", "lkc-cool1"),
            key("UIAPIKEY101", "u-22bbb", "lkc-other1"),
            key("UIAPIKEY102", "u-22bbb", "lksqlc-ksql1"),
            key("UIAPIKEY103", "u-22bbb", "lkc-cool1"),
            key("SERVICEACCOUNTKEY1", "sa-12345", "lkc-bob"),
            key("DEACTIVATEDUSERKEY", "sa-6666", "lkc-bob"),
        ],
    )
    with standing(Standin(api, f"KEY:{SECRET}")) as server:
        settings = ConfluentSettings.model_validate({"url": server.url, "cloud": {"key": "KEY", "secret": "${env:SECRET}"}})
        (plane,) = identity_planes(PlaneContext(Organization(), Organization(), Clients(settings), settings))
        seen = plane.translate(plane.fetch(None, 0), None, NO_METADATA, 0)
    names = plane.shared_metadata(seen.snapshot).names
    assert {id_: names[id_] for id_ in people} == people
    assert (names["MYKEY1"], names["MULTICLUSTERKEY1"], names["MULTICLUSTERKEY3"]) == ("Brian", "Muwei", "service_account")
    assert (names["UIAPIKEY102"], names["DEACTIVATEDUSERKEY"], len(names)) == ("22 Bbb", "sa-6666", 18)
    assert SECRET not in json.dumps(seen.snapshot)


# Tableflow


def integration(id_: str, **config: str) -> Any:
    return {
        "id": id_,
        "spec": {"display_name": "catalog_integration_1", "suspended": False, "config": config},
        "status": {"phase": "PENDING"},
    }


LOGIN = {"client_id": "client-id", "client_secret": SECRET, "allowed_scope": "allowed-scope"}
POLARIS, SNOWFLAKE = "https://vuser1_polaris.snowflakecomputing.com/", "snowflake://vuser1_polaris"
DATABRICKS = "user1.cloud.databricks.com"
INTEGRATIONS = [
    (integration("tci-1", kind="AwsGlue", provider_integration_id="cspi-stgce89r7"), (f"aws://eu-west-1/{LKC}", "{topic}")),
    (
        integration("tci-2", kind="Snowflake", endpoint=POLARIS, warehouse="wh", **LOGIN),
        (SNOWFLAKE, f"wh.{LKC}.{{topic}}"),
    ),
    (
        integration("tci-3", kind="Snowflake", endpoint=POLARIS, warehouse="wh", custom_namespace="own", **LOGIN),
        (SNOWFLAKE, "wh.own.{topic}"),
    ),
    (
        integration("tci-4", kind="BigLakeMetastore", gcp_project_id="my-gcp-project", catalog_name="catalog_name", custom_namespace="own"),
        ("bigquery", "my-gcp-project.catalog_name.own.{topic}"),
    ),
    (integration("tci-5", kind="BigLakeMetastore", gcp_project_id="p", catalog_name="c"), ("bigquery", f"p.c.{LKC}.{{topic}}")),
    (integration("tci-6", kind="BigLakeMetastore", catalog_name="c"), None),
]
UNITY = integration(
    "tci-7",
    kind="Unity",
    workspace_endpoint=f"https://{DATABRICKS}",
    catalog_name="catalog_name",
    custom_schema="own",
    **LOGIN,
)
MANAGED = {"kind": "Managed", "table_path": PATH}
PROVIDED = {"provider_integration_id": "cspi-stgce89r7", "table_path": PATH}
AZURE = {"kind": "AzureDataLakeStorageGen2", "container_name": "Container1", "storage_account_name": "Acc1", "storage_region": "US1"}
TABLES: list[tuple[dict[str, Any], str, dict[str, str], str]] = [
    ({"error_handling": {"mode": "LOG", "target": "log_topic"}}, "ICEBERG", MANAGED, "log_topic"),
    ({"error_handling": {"mode": "LOG"}}, "ICEBERG", MANAGED, "error_log"),
    ({"record_failure_strategy": "SKIP", "error_handling": {"mode": "SKIP"}}, "ICEBERG", MANAGED, ""),
    ({"record_failure_strategy": "SUSPEND", "data_retention_ms": "2592000000"}, "ICEBERG", {**AZURE, **PROVIDED}, ""),
    ({}, "ICEBERG", {"kind": "GoogleCloudStorage", "bucket_name": "bucket_1", "bucket_region": "us-central1", **PROVIDED}, ""),
    ({"enable_compaction": True}, "ICEBERG", {"kind": "ByobAws", "bucket_name": "bucket_1", "bucket_region": "r", **PROVIDED}, ""),
    ({"error_handling": None}, "DELTA", MANAGED, ""),
]


@pytest.mark.parametrize(("config", "formats", "storage", "errors"), TABLES, ids=range(len(TABLES)))
def test_tables_of_every_storage_and_catalog(config: Any, formats: str, storage: dict[str, str], errors: str) -> None:
    api = Tableflow()
    topic = "topic_1"
    spec = {"display_name": topic, "suspended": False, "config": config, "storage": storage, "table_formats": [formats]}
    api.lists = {TOPICS: [{"spec": spec, "status": {"phase": "RUNNING", "write_mode": "UPSERT"}}]}
    api.lists |= {CATALOGS: [entry for entry, _ in INTEGRATIONS] + [UNITY], ACCOUNTS: []}
    with polling(api, tableflow.planes, topic_metadata(topic)) as tables:
        seen = tables.poll()
    (start,) = seen.events
    table = (SPACE, f"tableflow/{topic}")
    unity = [(f"unitycatalog://{DATABRICKS}", f"catalog_name.own.{topic}")]
    iceberg = [(space, name_.format(topic=topic)) for _, found in INTEGRATIONS if found for space, name_ in (found,)]
    expected = [table, *(iceberg if formats == "ICEBERG" else unity), *([(SPACE, errors)] if errors else [])]
    assert [(dataset["namespace"], dataset["name"]) for dataset in start["outputs"]] == expected
    facet = bare(start["outputs"][0]["facets"]["confluent_tableflow"])
    assert facet["storage"] == {member: value for member, value in storage.items() if member != "provider_integration_id"}
    assert (f"{SPACE} {topic} > {SPACE} {errors}" in edges(seen)) == bool(errors)


# a Kafka cluster


def lags(*numbers: int) -> list[dict[str, int]]:
    return [{"partition": at, "lag": lag, "last_source_fetch_offset": 7} for at, lag in enumerate(numbers)]


def test_links_and_mirrors_in_their_older_form() -> None:
    def link(number: int) -> Any:
        topics_ = [f"link-{number}-topic-{at}" for at in (1, 2)]
        return {"source_cluster_id": "cluster-1", "link_name": f"link-{number}", "link_id": f"LINKID{number}", "topic_names": topics_}

    def mirror(number: int, status: str, *lag: int) -> Any:
        names = {"link_name": f"link-{number}", "mirror_topic_name": f"dest-{number}", "source_topic_name": f"src-{number}"}
        return {**names, "num_partitions": len(lag), "mirror_lags": lags(*lag), "mirror_status": status, "state_time_ms": 111111111}

    api = answers(links=[link(1), link(2)], mirrors=[mirror(1, "active", 142857, 285714, 571428), mirror(2, "stopped", 0, 0)])
    with polling(api, cluster_links.planes, NO_METADATA, **KEY) as cluster:
        seen = cluster.poll()
    assert not seen.unseen
    by_job = {event["job"]["name"]: event for event in seen.events}
    (target,) = by_job["cluster-link/link-1"]["outputs"]
    assert (target["namespace"], target["name"]) == (SPACE, "dest-1")
    assert bare(by_job["cluster-link/link-1"]["run"]["facets"])["confluent_mirror_lag"] == {"rows": 999999, "topics": {"dest-1": 999999}}
    assert by_job.get("cluster-link/link-2", {}).get("eventType") != "START"


def test_groups_of_simple_consumers() -> None:
    def group(number: int, state: str) -> Any:
        assignor = "org.apache.kafka.clients.consumer.RoundRobinAssignor"
        return {"consumer_group_id": f"consumer-group-{number}", "is_simple": True, "partition_assignor": assignor, "state": state}

    def api(request: Request) -> Reply:
        match request.parts[4:]:
            case ("consumer-groups",):
                return Reply(200, {"data": [group(1, "STABLE"), group(2, "DEAD")], "metadata": {}})
            case ("consumer-groups", "consumer-group-1", "lags"):
                read = {"topic_name": "topic-1", "partition_id": 1, "current_offset": 10, "log_end_offset": 110, "lag": 100}
                return Reply(200, {"data": [{**read, "consumer_id": "consumer-1", "instance_id": "instance-1", "client_id": "client-1"}]})
            case ("consumer-groups", "consumer-group-1", "consumers"):
                return Reply(200, {"data": [{"consumer_id": f"consumer-{at}", "client_id": f"client-{at}"} for at in (1, 2)]})
        return Reply(404, {"error_code": 40403, "message": "This server does not host this consumer group."})

    with polling(api, groups.planes, topic_metadata("topic-1"), groups_by="rest", **KEY) as cluster:
        seen = cluster.poll()
    (event,) = [event for event in seen.events if event["job"]["name"] == "consumer-group/consumer-group-1"]
    assert [dataset["name"] for dataset in event["inputs"]] == ["topic-1"]
    assert bare(event["run"]["facets"])["kafka_lag"]["topics"] == {"topic-1": 100}


def test_topics_without_counts_of_partitions() -> None:
    def config(name: str, value: str, source: str = "DEFAULT_CONFIG") -> Any:
        synonyms = [{"name": f"log.{name}", "value": value, "source": source}]
        return {"topic_name": "topic1", "name": name, "value": value, "source": source, "synonyms": synonyms, "is_sensitive": False}

    listed = [
        {"topic_name": "topic1", "is_internal": False, "replication_factor": 3, "partitions": {"related": "x"}},
        {"topic_name": "topic2", "is_internal": True, "replication_factor": 4, "partitions": {"related": "x"}},
    ]
    rule = {"resource_type": "TOPIC", "resource_name": "topic1", "operation": "READ", "permission": "ALLOW", "host": "*"}
    configs = [
        config("cleanup.policy", "delete"),
        config("compression.type", "producer"),
        config("retention.ms", "9223372036854775807", "DYNAMIC_TOPIC_CONFIG"),
    ]
    rules = [{**rule, "principal": "User:sa-123", "pattern_type": "LITERAL"}]
    with polling(answers(topics=listed, configs=configs, acls=rules), topics.planes, SHARED, **KEY) as cluster:
        seen = cluster.poll()
    (event,) = seen.events
    facets = bare(event["dataset"]["facets"])
    assert (event["dataset"]["name"], facets["kafka_topic"]["config"]) == ("topic1", {"retention.ms": "9223372036854775807"})
    assert facets["kafka_access"]["mayRead"] == ["User:sa-123"]


def test_connectors_without_a_configuration_and_plugins_without_a_class() -> None:
    cloud = Cloud()
    for name, id_ in (("az-connector", "lcc-123"), ("az-connector-2", "lcc-111")):
        status = {"name": name, "connector": {"state": "RUNNING"}, "tasks": [{"id": 1, "state": "RUNNING"}], "type": "Sink"}
        cloud.connectors[name] = {"id": {"id": id_}, "status": status, "info": {"config": {}, "name": name}}
    del cloud.connectors["cdc"], cloud.connectors["to/lake"]
    with polling(cloud, connect.planes, NO_METADATA) as cluster:
        seen = cluster.poll()
    facets = [bare(event["job"]["facets"])["confluent_connector"] for event in seen.events if event["eventType"] == "START"]
    assert [(facet["connector_id"], facet["connector_class"], facet["connector_type"]) for facet in facets] == [
        ("lcc-123", "unknown", "sink"),
        ("lcc-111", "unknown", "sink"),
    ]
    assert not edges(seen)
    udf = {"id": "ccp-789013", "display_name": "CliPluginTest3", "connector_type": "flink_udf", "connector_class": "ver_123456"}
    bare_ = {"id": "ccp-123456", "display_name": "CliPluginTest1", "cloud": "AWS"}
    sensitive = {"id": "ccp-789012", "connector_class": "io.confluent.kafka.connect.test", "sensitive_config_properties": ["aws.key"]}
    assert parse_custom_plugins([udf, bare_, sensitive]) == {
        "ccp-789013": CustomPlugin("CliPluginTest3", "ver_123456"),
        "ccp-123456": CustomPlugin("CliPluginTest1"),
        "ccp-789012": CustomPlugin("", "io.confluent.kafka.connect.test", "", ("aws.key",)),
    }


# Flink


def test_statements_and_tables_that_no_parser_accepts() -> None:
    api = Flink()
    offsets = {"customers_source": "partition:0,offset:9223372036854775808"}
    for name in ("11111111-1111-1111-1", "22222222-2222-2222-2"):
        spec = {"statement": "CREATE TABLE test;", "compute_pool_id": "lfcp-123456"}
        status = {"phase": "COMPLETED", "detail": "SQL statement is completed", "latest_offsets": offsets}
        api.statements[name] = {"name": name, "spec": spec, "status": status, "metadata": {"created_at": "2023-01-01T00:00:00Z"}}
    computed = {"name": "Name1", "type": "Type1", "kind": "Computed", "expression": "Expression1", "virtual": True}
    physical = {"name": "user_id", "type": "type1", "comment": "string", "kind": "Physical"}
    query = "SELECT user_id, product_id, price, quantity FROM orders WHERE price > 1000;"
    tables: dict[str, tuple[str, Any, Any]] = {
        "table-1": ("query", [computed], {"phase": "COMPLETED", "detail": "Table1 is completed"}),
        "table1": (query, [physical], {"phase": "RUNNING", "warnings": [], "scaling_status": {}, "version": 3}),
        "failed": (query, [], {"phase": "FAILED", "detail": "Query validation error: invalid table reference 'orders'."}),
    }
    for name, (text, columns, status) in tables.items():
        table: Any = {
            "kafka_cluster_id": "lkc-1",
            "compute_pool_id": "lfcp-x7rgx1",
            "principal": "u-yo9j87",
            "columns": columns,
            "query": text,
        }
        more = {"table_options": {}, "session_options": {}, "distribution": {"keys": ["keys"], "bucket_count": 10}, "stopped": False}
        api.tables[name] = {"name": name, "spec": {**table, **more}, "status": status}
    with standing(Standin(api, "FLINK:s3cret")) as server:
        seen = FlinkPolling(api, server).poll()
    events = {event["job"]["name"]: event["eventType"] for event in seen.events if "eventType" in event}
    assert {name: events[f"flink/{name}"] for name in ("table1", "failed")} == {"table1": "RUNNING", "failed": "FAIL"}
    running = [event for event in seen.events if event["job"]["name"] == "flink/table1" and event["outputs"]]
    assert [field["name"] for field in running[0]["outputs"][0]["facets"]["schema"]["fields"]][:1] == ["user_id"]
    assert "9223372036854775808" not in json.dumps(seen.events)


def test_every_exception_of_a_statement_is_told() -> None:
    at = "2022-01-01T00:00:00Z"
    listed = [("Bad exception", "exception in foo.go"), ("another Bad exception", "exception in bar.go")]
    failure = parse_failure({"data": [{"timestamp": at, "name": name, "message": message} for name, message in listed]})
    assert failure is not None
    assert failure[0] == "Bad exception: exception in foo.go"
    assert "another Bad exception: exception in bar.go" in failure[1]
