"""Connect v1: managed connectors of a cluster, with secrets masked."""

from typing import TYPE_CHECKING

from tests.confluent.apis import control_plane
from tests.confluent.apis.messages import Answer, Request, error
from tests.confluent.organization.values import NOW, Json

if TYPE_CHECKING:
    from tests.confluent.cloud import Cloud

MASK = "*" * 16
PARTS = ("info", "status", "id")


def answer(cloud: "Cloud", request: Request) -> Answer:  # noqa: PLR0911 - a return for each path
    """A request below `connect/v1`; connectors are not paged."""
    if request.method != "GET":
        return error(405, "only GET")
    match request.parts:
        case ("connect", "v1", "environments", environment, "clusters", cluster, "connectors", *rest):
            if (environment, cluster) not in {(cluster["environment"], cluster["id"]) for cluster in cloud.organization["kafka_clusters"]}:
                return error(403, f"cluster {cluster} is not in {environment}, or not yours")
            connectors = {connector["name"]: connector for connector in cloud.organization["connectors"] if connector["cluster"] == cluster}
            if not rest:
                return _listed(cloud, connectors, request.values("expand"))
            if rest[0] not in connectors:
                return Answer(404, {"error": {"code": 404, "message": f"Connector {rest[0]} not found"}})
            return _connector(cloud, connectors[rest[0]], rest[1:])
        case ("connect", "v1", "environments", _, "clusters", _, "connector-plugins"):
            return Answer(200, cloud.organization["connector_plugins"])
        case ("connect", "v1", "custom-connector-plugins", *_):
            return control_plane.answer(cloud, request)
    return error(404, f"no resource at {request.path}")


def _listed(cloud: "Cloud", connectors: dict[str, Json], parts: list[str]) -> Answer:
    """The names of connectors, or with `expand`, name to the requested parts."""
    if not parts:
        return Answer(200, sorted(connectors))
    if set(parts) - set(PARTS):
        return error(400, f"expand must be of {', '.join(PARTS)}")
    make = {
        "info": lambda connector: info(cloud, connector),
        "status": status,
        "id": lambda connector: {"id": connector["id"], "id_type": "ID"},
    }
    return Answer(200, {name: {part: make[part](connector) for part in parts} for name, connector in connectors.items()})


def _connector(cloud: "Cloud", connector: Json, rest: list[str]) -> Answer:
    match rest:
        case []:
            return Answer(200, info(cloud, connector))
        case ["config"]:
            return Answer(200, config(cloud, connector))
        case ["status"]:
            return Answer(200, status(connector))
        case ["tasks"]:
            return Answer(200, [{"id": {"connector": connector["name"], "task": task["id"]}, "config": {}} for task in connector["tasks"]])
        case ["offsets"]:
            body = {"name": connector["name"], "id": connector["id"], "offsets": connector["offsets"], "metadata": {"observed_at": NOW}}
            return Answer(200, body)
    return error(404, "no such part of a connector")


def config(cloud: "Cloud", connector: Json) -> Json:
    """The settings. Secrets are masked, except those that are not declared as secret."""
    hidden, shown = cloud.secrets, connector.get("shown", [])
    return {key: MASK if value in hidden and key not in shown else value for key, value in connector["config"].items()}


def info(cloud: "Cloud", connector: Json) -> Json:
    tasks = [{"connector": connector["name"], "task": task["id"]} for task in connector["tasks"]]
    return {"name": connector["name"], "config": config(cloud, connector), "tasks": tasks, "type": connector["type"]}


def status(connector_: Json) -> Json:
    connector = {"state": connector_["state"], "worker_id": connector_["name"], "trace": connector_["trace"]}
    tasks = [
        {"id": task["id"], "state": task["state"], "worker_id": connector_["name"], "msg": task["trace"]} for task in connector_["tasks"]
    ]
    more = {"errors_from_trace": [], "validation_errors": [], "override_message": ""}
    return {"name": connector_["name"], "connector": connector, "tasks": tasks, "type": connector_["type"], **more}
