"""Flink SQL v1 of a region: statements with their exceptions, materialized tables with their versions."""

from typing import TYPE_CHECKING

from tests.confluent.apis.messages import Answer, Request, error, paged
from tests.confluent.organization.values import NOW, Json

if TYPE_CHECKING:
    from tests.confluent.cloud import Cloud


def answer(cloud: "Cloud", request: Request) -> Answer:  # noqa: PLR0911 - a return for each path
    """A request below `flink/{cloud}/{region}`."""
    place, region, *rest = request.parts
    if request.method != "GET":
        return error(405, "only GET")
    match rest:
        case ["sql", "v1", "organizations", organization_id, "environments", environment, *rest] if rest:
            if organization_id != cloud.organization["organization"]["id"]:
                return error(404, f"organization {organization_id} is not there")
            if f"{environment}/{place}.{region}" not in request.credential["resources"]:
                return error(403, f"this key is not one of {environment} in {place}.{region}")
            base = f"{cloud.url}/flink/{place}/{region}"
            here = {"environment": environment, "cloud": place, "region": region}
            if rest[0] == "statements":
                return _statements(cloud, request, base, here, rest[1:])
            if rest[0] == "materialized-tables" and len(rest) == 1:
                every = [_table(cloud, base, one) for one in _within(cloud, "materialized_tables", here)]
                return paged(cloud.url, request, "sql/v1 MaterializedTable", every)
            if rest[0] == "databases" and rest[2:3] == ["materialized-tables"]:
                return _tables(cloud, request, base, here, rest[1], rest[3:])
            if rest[0] in ("connections", "agents", "tools"):
                return paged(cloud.url, request, f"sql/v1 {rest[0].title()}", [])
    return error(404, f"no resource at {request.path}")


def _within(cloud: "Cloud", member: str, here: Json) -> list[Json]:
    return [one for one in cloud.organization[member] if all(one[key] == value for key, value in here.items())]


def _statements(cloud: "Cloud", request: Request, base: str, here: Json, rest: list[str]) -> Answer:
    """Those that the key's owner may see: all, if it is an administrator's, else its own."""
    mine = _within(cloud, "statements", here)
    if request.credential["role"] == "FlinkDeveloper":
        mine = [one for one in mine if one["principal"] == request.credential["owner"]]
    if pool := request.one("spec.compute_pool_id"):
        mine = [one for one in mine if one["compute_pool_id"] == pool]
    for label in request.many("label_selector"):
        name, _, value = label.partition("=")
        mine = [one for one in mine if one["labels"].get(name) == value]
    if not rest:
        return paged(cloud.url, request, "sql/v1 Statement", [_statement(cloud, base, one) for one in mine])
    one = next((one for one in mine if one["name"] == rest[0]), None)
    if one is None:
        return error(404, f"statement {rest[0]} is not there")
    if rest[1:] == ["exceptions"]:
        data = [{"kind": "StatementException", **each} for each in one["exceptions"]]
        return Answer(200, {"api_version": "sql/v1", "kind": "StatementExceptionList", "metadata": {}, "data": data})
    return Answer(200, _statement(cloud, base, one)) if len(rest) == 1 else error(404, "no such part of a statement")


def _statement(cloud: "Cloud", base: str, one: Json) -> Json:
    organization_id, environment = cloud.organization["organization"]["id"], one["environment"]
    path = f"{base}/sql/v1/organizations/{organization_id}/environments/{environment}/statements/{one['name']}"
    metadata = {"self": path, "created_at": one["created_at"], "updated_at": one["updated_at"], "uid": one["uid"], "resource_version": "7"}
    status: Json = {
        "phase": one["phase"],
        "detail": one["detail"],
        "traits": one["traits"],
        "warnings": [],
        "network_kind": "PUBLIC",
        "scaling_status": {"scaling_state": "OK", "last_updated": NOW},
    }
    if one["latest_offsets"]:
        status |= {"latest_offsets": one["latest_offsets"], "latest_offsets_timestamp": NOW}
    return {
        "api_version": "sql/v1",
        "kind": "Statement",
        "metadata": {**metadata, "labels": one["labels"]},
        "name": one["name"],
        "organization_id": organization_id,
        "environment_id": environment,
        "spec": {key: one[key] for key in ("statement", "properties", "compute_pool_id", "principal", "stopped")},
        "status": status,
    }


def _table(cloud: "Cloud", base: str, one: Json) -> Json:
    organization_id, environment = cloud.organization["organization"]["id"], one["environment"]
    where = f"{base}/sql/v1/organizations/{organization_id}/environments/{environment}/databases/{one['cluster']}"
    metadata = {"self": f"{where}/materialized-tables/{one['name']}", "created_at": one["created_at"], "updated_at": one["created_at"]}
    created = f"CREATE OR ALTER MATERIALIZED TABLE `{one['name']}` AS {one['query']}"
    return {
        "api_version": "sql/v1",
        "kind": "MaterializedTable",
        "metadata": {**metadata, "uid": one["uid"], "labels": {}},
        "name": one["name"],
        "organization_id": organization_id,
        "environment_id": environment,
        "spec": {
            "kafka_cluster_id": one["cluster"],
            "compute_pool_id": one["compute_pool_id"],
            "principal": one["principal"],
            "query": one["query"],
            "columns": [{**column, "type": {"type": column["type"].upper(), "nullable": True}} for column in one["columns"]],
            "table_options": {},
            "session_options": {"sql.current-catalog": environment, "sql.current-database": one["cluster"]},
            "stopped": one["stopped"],
        },
        "status": {
            "phase": one["phase"],
            "detail": "",
            "creation_statement": created,
            "version": one["version"],
            "latest_version": one["version"],
        },
    }


def _tables(cloud: "Cloud", request: Request, base: str, here: Json, cluster: str, rest: list[str]) -> Answer:
    if not rest:
        return error(405, "materialized tables are listed for the environment")
    one = next((one for one in _within(cloud, "materialized_tables", {**here, "cluster": cluster}) if one["name"] == rest[0]), None)
    if one is None:
        return error(404, f"materialized table {rest[0]} is not there")
    told = _table(cloud, base, one)
    if rest[1:] == ["versions"]:
        spec = {"version": one["version"], "statement": told["status"]["creation_statement"], "changes": []}
        return paged(cloud.url, request, "sql/v1 MaterializedTableVersion", [{"name": f"{one['name']}-{one['version']}", "spec": spec}])
    return Answer(200, told) if len(rest) == 1 else error(404, "no such part of a materialized table")
