"""Tableflow v1: topics that are tables, and the catalogs that they are told to. Both lists need the environment and the cluster."""

from typing import TYPE_CHECKING

from tests.confluent.apis.control_plane import about, reference
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
    environment, cluster = request.one("environment"), request.one("spec.kafka_cluster")
    if not environment or not cluster:
        return error(400, "the parameters environment and spec.kafka_cluster are required")
    if environment not in request.credential["resources"]:
        return error(403, f"this key is not one of {environment}")
    member, told, named = {
        "tableflow-topics": ("tableflow_topics", _topic, "TableflowTopic"),
        "catalog-integrations": ("catalog_integrations", _integration, "CatalogIntegration"),
    }[kind]
    mine = [one for one in cloud.organization[member] if (one["environment"], one["cluster"]) == (environment, cluster)]
    if not rest:
        return paged(cloud.url, request, f"tableflow/v1 {named}", [told(cloud, one) for one in mine])
    one = next((one for one in mine if rest[0] in (one.get("id"), one["display_name"])), None)
    return Answer(200, told(cloud, one)) if one else error(404, f"{rest[0]} is not there")


def _place(cloud: "Cloud", one: Json) -> Json:
    environment = reference(cloud, "org/v2/environments", one["environment"])
    return {
        "environment": environment,
        "kafka_cluster": {**reference(cloud, "cmk/v2/clusters", one["cluster"]), "environment": one["environment"]},
    }


def _topic(cloud: "Cloud", one: Json) -> Json:
    """A topic; it has no id: its name in its cluster is."""
    told = about(cloud, "tableflow/v1/tableflow-topics", {**one, "id": one["display_name"]}, f"tableflow-topic={one['display_name']}")
    names = ("display_name", "table_formats", "storage", "config", "suspended")
    status = {key: one[key] for key in ("phase", "write_mode", "catalog_sync_statuses", "failing_table_formats")}
    return {
        "api_version": "tableflow/v1",
        "kind": "TableflowTopic",
        "metadata": told["metadata"],
        "spec": {**{key: one[key] for key in names}, **_place(cloud, one)},
        "status": {**status, "error_message": one.get("error_message", "")},
    }


def _integration(cloud: "Cloud", one: Json) -> Json:
    config = {key: MASK if key in HIDDEN else value for key, value in one["config"].items()}
    spec = {"display_name": one["display_name"], "suspended": one["suspended"], "config": {"kind": one["kind"], **config}}
    status = {"phase": one["phase"], "last_sync_at": one["last_sync_at"], "error_message": ""}
    told = about(cloud, "tableflow/v1/catalog-integrations", one, f"catalog-integration={one['id']}")
    return {"api_version": "tableflow/v1", "kind": "CatalogIntegration", **told, "spec": {**spec, **_place(cloud, one)}, "status": status}
