"""The control plane: organization, environments, clusters of all kinds, accounts and keys, integrations."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from tests.confluent.apis.messages import Answer, Request, error, paged
from tests.confluent.organization.values import Json

if TYPE_CHECKING:
    from tests.confluent.cloud import Cloud


def answer(cloud: "Cloud", request: Request) -> Answer:
    """Lists and single objects; lists of what lies in an environment need its id."""
    api, version, *rest = request.parts
    found = LISTS.get(f"{api}/{version}/{rest[0]}" if rest else "")
    if not found:
        return error(404, f"no resource at {request.path}")
    kind, member, told, scoped = found
    if request.method != "GET":
        return error(405, "only GET")
    every = cloud.organization[member]
    if isinstance(every, dict):
        every = [every]
    if scoped:
        environment = request.one("environment") or request.one("spec.environment")
        if not environment:
            return error(400, "the parameter environment is required")
        if environment not in {one["id"] for one in cloud.organization["environments"]}:
            return error(403, f"environment {environment} is not there, or not yours")
        every = [one for one in every if one["environment"] == environment]
    items = [{"api_version": kind.split()[0], "kind": kind.split()[1], **told(cloud, one)} for one in every]
    if len(rest) > 1:
        item = next((one for one in items if one["id"] == rest[1]), None)
        return Answer(200, item) if item else error(404, f"{rest[1]} is not there")
    return paged(cloud.url, request, kind, items)


def about(cloud: "Cloud", path: str, one: Json, *within: str) -> Json:
    """The id and the metadata of an object; `within` are the parts of its resource name."""
    name = "/".join([f"crn://confluent.cloud/organization={cloud.organization['organization']['id']}", *within])
    created = one.get("created_at", "2025-01-01T00:00:00.000000Z")
    metadata = {"self": f"{cloud.url}/{path}/{one['id']}", "resource_name": name, "created_at": created, "updated_at": created}
    return {"id": one["id"], "metadata": metadata}


def reference(cloud: "Cloud", path: str, id_: str) -> Json:
    return {"id": id_, "related": f"{cloud.url}/{path}/{id_}"}


def _environment(cloud: "Cloud", one: Json) -> Json:
    told = about(cloud, "org/v2/environments", one, f"environment={one['id']}")
    return {**told, "display_name": one["display_name"], "stream_governance_config": one["stream_governance_config"]}


def _organization(cloud: "Cloud", one: Json) -> Json:
    return {**about(cloud, "org/v2/organizations", one), "display_name": one["display_name"], "jit_enabled": True}


def _in_environment(cloud: "Cloud", one: Json) -> Json:
    return reference(cloud, "org/v2/environments", one["environment"])


def _kafka(cloud: "Cloud", one: Json) -> Json:
    spec = {
        "display_name": one["display_name"],
        "availability": one["availability"],
        "cloud": one["cloud"],
        "region": one["region"],
        "config": {"kind": one["kind"], **({"cku": 2} if one["kind"] == "Dedicated" else {})},
        "kafka_bootstrap_endpoint": one["kafka_bootstrap_endpoint"],
        "http_endpoint": f"{cloud.url}/kafka-rest/{one['id']}",
        "api_endpoint": f"{cloud.url}/kafka-api/{one['id']}",
        "environment": _in_environment(cloud, one),
    }
    told = about(cloud, "cmk/v2/clusters", one, f"environment={one['environment']}", f"cloud-cluster={one['id']}", f"kafka={one['id']}")
    return {**told, "spec": spec, "status": {"phase": one["phase"], **({"cku": 2} if one["kind"] == "Dedicated" else {})}}


def _registry(cloud: "Cloud", one: Json) -> Json:
    url = f"{cloud.url}/registry/{one['id']}"
    spec = {
        "display_name": one["display_name"],
        "package": one["package"],
        "http_endpoint": url,
        "catalog_http_endpoint": url,
        "cloud": one["cloud"],
        "region": one["region"],
        "environment": _in_environment(cloud, one),
    }
    told = about(cloud, "srcm/v3/clusters", one, f"environment={one['environment']}", f"schema-registry={one['id']}")
    return {**told, "spec": spec, "status": {"phase": one["phase"]}}


def _pool(cloud: "Cloud", one: Json) -> Json:
    spec = {key: one[key] for key in ("display_name", "cloud", "region", "max_cfu")}
    spec["environment"] = _in_environment(cloud, one)
    told = about(cloud, "fcpm/v2/compute-pools", one, f"environment={one['environment']}", f"flink-compute-pool={one['id']}")
    return {**told, "spec": spec, "status": {"phase": one["phase"], "current_cfu": one["current_cfu"]}}


def _ksqldb(cloud: "Cloud", one: Json) -> Json:
    spec = {
        "display_name": one["display_name"],
        "csu": one["csu"],
        "use_detailed_processing_log": True,
        "kafka_cluster": reference(cloud, "cmk/v2/clusters", one["kafka_cluster"]),
        "environment": _in_environment(cloud, one),
    }
    url = f"{cloud.url}/ksql/{one['id']}"
    status = {"http_endpoint": url, "phase": one["phase"], "is_paused": False, "topic_prefix": one["topic_prefix"], "storage": 125}
    return {**about(cloud, "ksqldbcm/v2/clusters", one, f"environment={one['environment']}"), "spec": spec, "status": status}


def _flink_region(cloud: "Cloud", id_: str) -> Json:
    place, _, region = id_.partition(".")
    url = f"{cloud.url}/flink/{place}/{region}"
    return {
        "id": id_,
        "display_name": region,
        "cloud": place.upper(),
        "region_name": region,
        "http_endpoint": url,
        "private_http_endpoint": "",
    }


def _account(cloud: "Cloud", one: Json) -> Json:
    told = about(cloud, "iam/v2/service-accounts", one, f"service-account={one['id']}")
    return {**told, "display_name": one["display_name"], "description": one["description"]}


def _user(cloud: "Cloud", one: Json) -> Json:
    told = about(cloud, "iam/v2/users", one, f"user={one['id']}")
    return {**told, "email": one["email"], "full_name": one["full_name"], "auth_type": one["auth_type"]}


def _key(cloud: "Cloud", one: Json) -> Json:
    person = "users" if one["owner"].startswith("u-") else "service-accounts"
    resources = [{"id": id_} for id_ in one["resources"]]
    spec = {
        "display_name": "",
        "description": "",
        "owner": reference(cloud, f"iam/v2/{person}", one["owner"]),
        "resource": {"id": "cloud", "kind": "Cloud"} if one["scope"] == "cloud" else resources[0],
    }
    return {**about(cloud, "iam/v2/api-keys", one, f"api-key={one['id']}"), "spec": spec}


def _integration(cloud: "Cloud", one: Json) -> Json:
    config = {"kind": "AwsIntegrationConfig", **{key: one[key] for key in ("iam_role_arn", "external_id", "customer_iam_role_arn")}}
    told = about(cloud, "pim/v1/integrations", one, f"environment={one['environment']}", f"provider-integration={one['id']}")
    where = {"environment": _in_environment(cloud, one), "usages": one["usages"]}
    return {**told, "display_name": one["display_name"], "provider": one["provider"], "config": config, **where}


def _custom_plugin(cloud: "Cloud", one: Json) -> Json:
    told = about(cloud, "connect/v1/custom-connector-plugins", one, f"custom-connector-plugin={one['id']}")
    return {**told, **{key: value for key, value in one.items() if key != "id"}}


def _registered(path: str) -> Callable[["Cloud", Json], Json]:
    def told(cloud: "Cloud", one: Json) -> Json:
        return {
            **about(cloud, path, one),
            **{key: value for key, value in one.items() if key not in ("id", "environment")},
            "environment": _in_environment(cloud, one),
        }

    return told


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
