"""The control plane: organization, environments, clusters of all kinds, accounts and keys, integrations."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from tests.confluent.apis.messages import Answer, Request, error, paged
from tests.confluent.organization.values import Json

if TYPE_CHECKING:
    from tests.confluent.cloud import Cloud


def answer(cloud: "Cloud", request: Request) -> Answer:
    """Lists and single objects. Lists of resources in an environment require its id."""
    api, version, *rest = request.parts
    found = LISTS.get(f"{api}/{version}/{rest[0]}" if rest else "")
    if not found:
        return error(404, f"no resource at {request.path}")
    kind, member, make_entry, scoped = found
    if request.method != "GET":
        return error(405, "only GET")
    every = cloud.organization[member]
    if isinstance(every, dict):
        every = [every]
    if scoped:
        environment = request.value("environment") or request.value("spec.environment")
        if not environment:
            return error(400, "the parameter environment is required")
        if environment not in {environment["id"] for environment in cloud.organization["environments"]}:
            return error(403, f"environment {environment} is not there, or not yours")
        every = [entry for entry in every if entry["environment"] == environment]
    items = [{"api_version": kind.split()[0], "kind": kind.split()[1], **make_entry(cloud, entry)} for entry in every]
    if len(rest) > 1:
        item = next((entry for entry in items if entry["id"] == rest[1]), None)
        return Answer(200, item) if item else error(404, f"{rest[1]} is not there")
    return paged(cloud.url, request, kind, items)


def common_members(cloud: "Cloud", path: str, resource: Json, *within: str) -> Json:
    """The id and the metadata of an object; `within` are the parts of its resource name."""
    name = "/".join([f"crn://confluent.cloud/organization={cloud.organization['organization']['id']}", *within])
    created = resource.get("created_at", "2025-01-01T00:00:00.000000Z")
    metadata = {"self": f"{cloud.url}/{path}/{resource['id']}", "resource_name": name, "created_at": created, "updated_at": created}
    return {"id": resource["id"], "metadata": metadata}


def reference(cloud: "Cloud", path: str, id_: str) -> Json:
    return {"id": id_, "related": f"{cloud.url}/{path}/{id_}"}


def _environment(cloud: "Cloud", environment: Json) -> Json:
    common = common_members(cloud, "org/v2/environments", environment, f"environment={environment['id']}")
    return {**common, "display_name": environment["display_name"], "stream_governance_config": environment["stream_governance_config"]}


def _organization(cloud: "Cloud", organization: Json) -> Json:
    return {
        **common_members(cloud, "org/v2/organizations", organization),
        "display_name": organization["display_name"],
        "jit_enabled": True,
    }


def _in_environment(cloud: "Cloud", resource: Json) -> Json:
    return reference(cloud, "org/v2/environments", resource["environment"])


def _endpoint(cloud: "Cloud", cluster: Json, kind: str, server: str) -> Json:
    return {"kafka_bootstrap_endpoint": server, "http_endpoint": f"{cloud.url}/kafka-rest/{cluster['id']}", "connection_type": kind}


def _kafka(cloud: "Cloud", cluster: Json) -> Json:
    endpoints = {"PUBLIC": _endpoint(cloud, cluster, "PUBLIC", cluster["kafka_bootstrap_endpoint"])}
    if cluster["kind"] == "Enterprise":
        server = f"{cluster['id']}-ap1pla.{cluster['region']}.aws.accesspoint.glb.confluent.cloud:9092"
        endpoints["ap1pla"] = _endpoint(cloud, cluster, "PRIVATE_NETWORK_INTERFACE", server)
    spec = {
        "endpoints": endpoints,
        "display_name": cluster["display_name"],
        "availability": cluster["availability"],
        "cloud": cluster["cloud"],
        "region": cluster["region"],
        "config": {"kind": cluster["kind"], **({"cku": 2} if cluster["kind"] == "Dedicated" else {})},
        "kafka_bootstrap_endpoint": cluster["kafka_bootstrap_endpoint"],
        "http_endpoint": f"{cloud.url}/kafka-rest/{cluster['id']}",
        "api_endpoint": f"{cloud.url}/kafka-api/{cluster['id']}",
        "environment": _in_environment(cloud, cluster),
    }
    common = common_members(
        cloud,
        "cmk/v2/clusters",
        cluster,
        f"environment={cluster['environment']}",
        f"cloud-cluster={cluster['id']}",
        f"kafka={cluster['id']}",
    )
    return {**common, "spec": spec, "status": {"phase": cluster["phase"], **({"cku": 2} if cluster["kind"] == "Dedicated" else {})}}


def _registry(cloud: "Cloud", registry: Json) -> Json:
    url = f"{cloud.url}/registry/{registry['id']}"
    spec = {
        "display_name": registry["display_name"],
        "package": registry["package"],
        "http_endpoint": url,
        "catalog_http_endpoint": f"{cloud.url}/governance/{registry['id']}",
        "cloud": registry["cloud"],
        "region": registry["region"],
        "environment": _in_environment(cloud, registry),
    }
    common = common_members(
        cloud, "srcm/v3/clusters", registry, f"environment={registry['environment']}", f"schema-registry={registry['id']}"
    )
    return {**common, "spec": spec, "status": {"phase": registry["phase"]}}


def _pool(cloud: "Cloud", pool: Json) -> Json:
    spec = {key: pool[key] for key in ("display_name", "cloud", "region", "max_cfu")}
    spec["environment"] = _in_environment(cloud, pool)
    common = common_members(cloud, "fcpm/v2/compute-pools", pool, f"environment={pool['environment']}", f"flink-compute-pool={pool['id']}")
    return {**common, "spec": spec, "status": {"phase": pool["phase"], "current_cfu": pool["current_cfu"]}}


def _ksqldb(cloud: "Cloud", cluster: Json) -> Json:
    spec = {
        "display_name": cluster["display_name"],
        "csu": cluster["csu"],
        "use_detailed_processing_log": True,
        "kafka_cluster": reference(cloud, "cmk/v2/clusters", cluster["kafka_cluster"]),
        "environment": _in_environment(cloud, cluster),
    }
    url = f"{cloud.url}/ksql/{cluster['id']}"
    status = {"http_endpoint": url, "phase": cluster["phase"], "is_paused": False, "topic_prefix": cluster["topic_prefix"], "storage": 125}
    return {
        **common_members(cloud, "ksqldbcm/v2/clusters", cluster, f"environment={cluster['environment']}"),
        "spec": spec,
        "status": status,
    }


def _flink_region(cloud: "Cloud", id_: str) -> Json:
    cloud_name, _, region = id_.partition(".")
    url = f"{cloud.url}/flink/{cloud_name}/{region}"
    return {
        "id": id_,
        "display_name": region,
        "cloud": cloud_name.upper(),
        "region_name": region,
        "http_endpoint": url,
        "private_http_endpoint": "",
    }


def _account(cloud: "Cloud", account: Json) -> Json:
    common = common_members(cloud, "iam/v2/service-accounts", account, f"service-account={account['id']}")
    return {**common, "display_name": account["display_name"], "description": account["description"]}


def _user(cloud: "Cloud", user: Json) -> Json:
    common = common_members(cloud, "iam/v2/users", user, f"user={user['id']}")
    return {**common, "email": user["email"], "full_name": user["full_name"], "auth_type": user["auth_type"]}


def _key(cloud: "Cloud", key: Json) -> Json:
    person = "users" if key["owner"].startswith("u-") else "service-accounts"
    resources = [{"id": id_} for id_ in key["resources"]]
    spec = {
        "display_name": "",
        "description": "",
        "owner": reference(cloud, f"iam/v2/{person}", key["owner"]),
        "resource": {"id": "cloud", "kind": "Cloud"} if key["scope"] == "cloud" else resources[0],
    }
    return {**common_members(cloud, "iam/v2/api-keys", key, f"api-key={key['id']}"), "spec": spec}


def _integration(cloud: "Cloud", integration: Json) -> Json:
    config = {"kind": "AwsIntegrationConfig", **{key: integration[key] for key in ("iam_role_arn", "external_id", "customer_iam_role_arn")}}
    common = common_members(
        cloud, "pim/v1/integrations", integration, f"environment={integration['environment']}", f"provider-integration={integration['id']}"
    )
    scope = {"environment": _in_environment(cloud, integration), "usages": integration["usages"]}
    return {**common, "display_name": integration["display_name"], "provider": integration["provider"], "config": config, **scope}


def _custom_plugin(cloud: "Cloud", plugin: Json) -> Json:
    common = common_members(cloud, "connect/v1/custom-connector-plugins", plugin, f"custom-connector-plugin={plugin['id']}")
    return {**common, **{key: value for key, value in plugin.items() if key != "id"}}


def _registered(path: str) -> Callable[["Cloud", Json], Json]:
    def flink_region(cloud: "Cloud", region: Json) -> Json:
        return {
            **common_members(cloud, path, region),
            **{key: value for key, value in region.items() if key not in ("id", "environment")},
            "environment": _in_environment(cloud, region),
        }

    return flink_region


LISTS: dict[str, tuple[str, str, Callable[["Cloud", Any], Json], bool]] = {
    "org/v2/environments": ("org/v2 Environment", "environments", _environment, False),
    "org/v2/organizations": ("org/v2 Organization", "organization", _organization, False),
    "cmk/v2/clusters": ("cmk/v2 Cluster", "kafka_clusters", _kafka, True),
    "srcm/v3/clusters": ("srcm/v3 Cluster", "schema_registries", _registry, True),
    "ksqldbcm/v2/clusters": ("ksqldbcm/v2 Cluster", "ksqldb_clusters", _ksqldb, True),
    "fcpm/v2/compute-pools": ("fcpm/v2 ComputePool", "compute_pools", _pool, True),
    "fcpm/v2/regions": ("fcpm/v2 Region", "flink_regions", _flink_region, False),
    "iam/v2/service-accounts": ("iam/v2 ServiceAccount", "service_accounts", _account, False),
    "iam/v2/users": ("iam/v2 User", "users", _user, False),
    "iam/v2/api-keys": ("iam/v2 ApiKey", "api_keys", _key, False),
    "pim/v1/integrations": ("pim/v1 Integration", "provider_integrations", _integration, True),
    "usm/v1/connect-clusters": ("usm/v1 ConnectCluster", "usm_connect_clusters", _registered("usm/v1/connect-clusters"), True),
    "usm/v1/kafka-clusters": ("usm/v1 KafkaCluster", "usm_kafka_clusters", _registered("usm/v1/kafka-clusters"), True),
    "connect/v1/custom-connector-plugins": ("connect/v1 CustomConnectorPlugin", "custom_connector_plugins", _custom_plugin, False),
}
"""Path of a list to its kind, the organization's member, the function that makes an entry, and whether it is that of an environment."""
