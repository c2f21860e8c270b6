"""Tableflow v1: topics with tables, and the catalogs that list them. Both lists require the environment and the cluster."""

from typing import TYPE_CHECKING

from tests.confluent.apis.control_plane import common_members, reference
from tests.confluent.apis.messages import Answer, Request, error, paged
from tests.confluent.organization.values import Json

if TYPE_CHECKING:
    from tests.confluent.cloud import Cloud

HIDDEN = ("client_id", "client_secret")
MASK = "*" * 16


def answer(cloud: "Cloud", request: Request) -> Answer:
    """A request below `tableflow/v1`."""
    if request.method != "GET":
        return error(405, "only GET")
    kind, *rest = request.parts[2:] or ("",)
    if kind not in ("tableflow-topics", "catalog-integrations"):
        return error(404, f"no resource at {request.path}")
    environment, cluster = request.value("environment"), request.value("spec.kafka_cluster")
    if not environment or not cluster:
        return error(400, "the parameters environment and spec.kafka_cluster are required")
    if environment not in request.credential["resources"]:
        return error(403, f"this key is not one of {environment}")
    member, make_entry, named = {
        "tableflow-topics": ("tableflow_topics", _topic, "TableflowTopic"),
        "catalog-integrations": ("catalog_integrations", _integration, "CatalogIntegration"),
    }[kind]
    resources = [
        resource for resource in cloud.organization[member] if (resource["environment"], resource["cluster"]) == (environment, cluster)
    ]
    if not rest:
        return paged(cloud.url, request, f"tableflow/v1 {named}", [make_entry(cloud, resource) for resource in resources])
    resource = next((resource for resource in resources if rest[0] in (resource.get("id"), resource["display_name"])), None)
    return Answer(200, make_entry(cloud, resource)) if resource else error(404, f"{rest[0]} is not there")


def _scope(cloud: "Cloud", resource: Json) -> Json:
    environment = reference(cloud, "org/v2/environments", resource["environment"])
    return {
        "environment": environment,
        "kafka_cluster": {**reference(cloud, "cmk/v2/clusters", resource["cluster"]), "environment": resource["environment"]},
    }


def _topic(cloud: "Cloud", topic: Json) -> Json:
    """A topic. It has no id; its name identifies it within its cluster."""
    common = common_members(
        cloud, "tableflow/v1/tableflow-topics", {**topic, "id": topic["display_name"]}, f"tableflow-topic={topic['display_name']}"
    )
    names = ("display_name", "table_formats", "storage", "config", "suspended")
    status = {key: topic[key] for key in ("phase", "write_mode", "catalog_sync_statuses", "failing_table_formats")}
    return {
        "api_version": "tableflow/v1",
        "kind": "TableflowTopic",
        "metadata": common["metadata"],
        "spec": {**{key: topic[key] for key in names}, **_scope(cloud, topic)},
        "status": {**status, "error_message": topic.get("error_message", "")},
    }


def _integration(cloud: "Cloud", integration: Json) -> Json:
    config = {key: MASK if key in HIDDEN else value for key, value in integration["config"].items()}
    spec = {
        "display_name": integration["display_name"],
        "suspended": integration["suspended"],
        "config": {"kind": integration["kind"], **config},
    }
    status = {"phase": integration["phase"], "last_sync_at": integration["last_sync_at"], "error_message": ""}
    common = common_members(cloud, "tableflow/v1/catalog-integrations", integration, f"catalog-integration={integration['id']}")
    return {
        "api_version": "tableflow/v1",
        "kind": "CatalogIntegration",
        **common,
        "spec": {**spec, **_scope(cloud, integration)},
        "status": status,
    }
