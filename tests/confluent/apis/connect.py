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
            if (environment, cluster) not in {(one["environment"], one["id"]) for one in cloud.organization["kafka_clusters"]}:
                return error(403, f"cluster {cluster} is not in {environment}, or not yours")
            mine = {one["name"]: one for one in cloud.organization["connectors"] if one["cluster"] == cluster}
            if not rest:
                return _listed(cloud, mine, request.many("expand"))
            if rest[0] not in mine:
                return Answer(404, {"error": {"code": 404, "message": f"Connector {rest[0]} not found"}})
            return _one(cloud, mine[rest[0]], rest[1:])
        case ("connect", "v1", "environments", _, "clusters", _, "connector-plugins"):
            return Answer(200, cloud.organization["connector_plugins"])
        case ("connect", "v1", "custom-connector-plugins", *_):
            return control_plane.answer(cloud, request)
    return error(404, f"no resource at {request.path}")


def _listed(cloud: "Cloud", mine: dict[str, Json], wanted: list[str]) -> Answer:
    """Names, or by name the parts that are asked for."""
    if not wanted:
        return Answer(200, sorted(mine))
    if set(wanted) - set(PARTS):
        return error(400, f"expand must be of {', '.join(PARTS)}")
    told = {"info": lambda one: info(cloud, one), "status": status, "id": lambda one: {"id": one["id"], "id_type": "ID"}}
    return Answer(200, {name: {part: told[part](one) for part in wanted} for name, one in mine.items()})


def _one(cloud: "Cloud", one: Json, rest: list[str]) -> Answer:
    match rest:
        case []:
            return Answer(200, info(cloud, one))
        case ["config"]:
            return Answer(200, config(cloud, one))
        case ["status"]:
            return Answer(200, status(one))
        case ["tasks"]:
            return Answer(200, [{"id": {"connector": one["name"], "task": task["id"]}, "config": {}} for task in one["tasks"]])
        case ["offsets"]:
            told = {"name": one["name"], "id": one["id"], "offsets": one["offsets"], "metadata": {"observed_at": NOW}}
            return Answer(200, told)
    return error(404, "no such part of a connector")


def config(cloud: "Cloud", one: Json) -> Json:
    """The settings; a secret is masked unless nobody told that it is one."""
    hidden, shown = cloud.secrets, one.get("shown", [])
    return {key: MASK if value in hidden and key not in shown else value for key, value in one["config"].items()}


def info(cloud: "Cloud", one: Json) -> Json:
    tasks = [{"connector": one["name"], "task": task["id"]} for task in one["tasks"]]
    return {"name": one["name"], "config": config(cloud, one), "tasks": tasks, "type": one["type"]}


def status(one: Json) -> Json:
    connector = {"state": one["state"], "worker_id": one["name"], "trace": one["trace"]}
    tasks = [{"id": task["id"], "state": task["state"], "worker_id": one["name"], "msg": task["trace"]} for task in one["tasks"]]
    more = {"errors_from_trace": [], "validation_errors": [], "override_message": ""}
    return {"name": one["name"], "connector": connector, "tasks": tasks, "type": one["type"], **more}
