"""Flink SQL v1 of a region: statements with their exceptions, materialized tables with their versions."""

from typing import TYPE_CHECKING

from tests.confluent.apis.messages import Answer, Request, error, paged
from tests.confluent.organization.values import NOW, Json

if TYPE_CHECKING:
    from tests.confluent.cloud import Cloud


def answer(cloud: "Cloud", request: Request) -> Answer:  # noqa: PLR0911 - a return for each path
    """A request below `flink/{cloud}/{region}`."""
    cloud_name, region, *rest = request.parts
    if request.method != "GET":
        return error(405, "only GET")
    match rest:
        case ["sql", "v1", "organizations", organization_id, "environments", environment, *rest] if rest:
            if organization_id != cloud.organization["organization"]["id"]:
                return error(404, f"organization {organization_id} is not there")
            if f"{environment}/{cloud_name}.{region}" not in request.credential["resources"]:
                return error(403, f"this key is not one of {environment} in {cloud_name}.{region}")
            base = f"{cloud.url}/flink/{cloud_name}/{region}"
            here = {"environment": environment, "cloud": cloud_name, "region": region}
            if rest[0] == "statements":
                return _statements(cloud, request, base, here, rest[1:])
            if rest[0] == "materialized-tables" and len(rest) == 1:
                every = [_table(cloud, base, table) for table in _within(cloud, "materialized_tables", here)]
                return paged(cloud.url, request, "sql/v1 MaterializedTable", every)
            if rest[0] == "databases" and rest[2:3] == ["materialized-tables"]:
                return _tables(cloud, request, base, here, rest[1], rest[3:])
            if rest[0] in ("connections", "agents", "tools"):
                return paged(cloud.url, request, f"sql/v1 {rest[0].title()}", [])
    return error(404, f"no resource at {request.path}")


def _within(cloud: "Cloud", member: str, here: Json) -> list[Json]:
    return [entry for entry in cloud.organization[member] if all(entry[key] == value for key, value in here.items())]


def _statements(cloud: "Cloud", request: Request, base: str, here: Json, rest: list[str]) -> Answer:
    """Those that the key's owner may see: all, if it is an administrator's, else its own."""
    statements = _within(cloud, "statements", here)
    if request.credential["role"] == "FlinkDeveloper":
        statements = [statement for statement in statements if statement["principal"] == request.credential["owner"]]
    if pool := request.value("spec.compute_pool_id"):
        statements = [statement for statement in statements if statement["compute_pool_id"] == pool]
    for label in request.values("label_selector"):
        name, _, value = label.partition("=")
        statements = [statement for statement in statements if statement["labels"].get(name) == value]
    if not rest:
        return paged(cloud.url, request, "sql/v1 Statement", [_statement(cloud, base, statement) for statement in statements])
    statement = next((statement for statement in statements if statement["name"] == rest[0]), None)
    if statement is None:
        return error(404, f"statement {rest[0]} is not there")
    if rest[1:] == ["exceptions"]:
        data = [{"kind": "StatementException", **each} for each in statement["exceptions"]]
        return Answer(200, {"api_version": "sql/v1", "kind": "StatementExceptionList", "metadata": {}, "data": data})
    return Answer(200, _statement(cloud, base, statement)) if len(rest) == 1 else error(404, "no such part of a statement")


def _statement(cloud: "Cloud", base: str, statement: Json) -> Json:
    organization_id, environment = cloud.organization["organization"]["id"], statement["environment"]
    path = f"{base}/sql/v1/organizations/{organization_id}/environments/{environment}/statements/{statement['name']}"
    metadata = {
        "self": path,
        "created_at": statement["created_at"],
        "updated_at": statement["updated_at"],
        "uid": statement["uid"],
        "resource_version": "7",
    }
    status: Json = {
        "phase": statement["phase"],
        "detail": statement["detail"],
        "traits": statement["traits"],
        "warnings": [],
        "network_kind": "PUBLIC",
        "scaling_status": {"scaling_state": "OK", "last_updated": NOW},
    }
    if statement["latest_offsets"]:
        status |= {"latest_offsets": statement["latest_offsets"], "latest_offsets_timestamp": NOW}
    return {
        "api_version": "sql/v1",
        "kind": "Statement",
        "metadata": {**metadata, "labels": statement["labels"]},
        "name": statement["name"],
        "organization_id": organization_id,
        "environment_id": environment,
        "spec": {key: statement[key] for key in ("statement", "properties", "compute_pool_id", "principal", "stopped")},
        "status": status,
    }


def _table(cloud: "Cloud", base: str, table: Json) -> Json:
    organization_id, environment = cloud.organization["organization"]["id"], table["environment"]
    base_path = f"{base}/sql/v1/organizations/{organization_id}/environments/{environment}/databases/{table['cluster']}"
    metadata = {
        "self": f"{base_path}/materialized-tables/{table['name']}",
        "created_at": table["created_at"],
        "updated_at": table["created_at"],
    }
    created = f"CREATE OR ALTER MATERIALIZED TABLE `{table['name']}` AS {table['query']}"
    return {
        "api_version": "sql/v1",
        "kind": "MaterializedTable",
        "metadata": {**metadata, "uid": table["uid"], "labels": {}},
        "name": table["name"],
        "organization_id": organization_id,
        "environment_id": environment,
        "spec": {
            "kafka_cluster_id": table["cluster"],
            "compute_pool_id": table["compute_pool_id"],
            "principal": table["principal"],
            "query": table["query"],
            "columns": [
                {
                    **column,
                    "type": {"type": column["type"].upper(), "nullable": True},
                    "kind": "Physical",
                    "comment": f"the {column['name']}",
                }
                for column in table["columns"]
            ],
            "table_options": {},
            "session_options": {"sql.current-catalog": environment, "sql.current-database": table["cluster"]},
            "stopped": table["stopped"],
        },
        "status": {
            "phase": table["phase"],
            "detail": "",
            "creation_statement": created,
            "version": table["version"],
            "latest_version": table["version"],
        },
    }


def _tables(cloud: "Cloud", request: Request, base: str, here: Json, cluster: str, rest: list[str]) -> Answer:
    if not rest:
        return error(405, "materialized tables are listed for the environment")
    table = next((table for table in _within(cloud, "materialized_tables", {**here, "cluster": cluster}) if table["name"] == rest[0]), None)
    if table is None:
        return error(404, f"materialized table {rest[0]} is not there")
    body = _table(cloud, base, table)
    if rest[1:] == ["versions"]:
        spec = {"version": table["version"], "statement": body["status"]["creation_statement"], "changes": []}
        return paged(cloud.url, request, "sql/v1 MaterializedTableVersion", [{"name": f"{table['name']}-{table['version']}", "spec": spec}])
    return Answer(200, body) if len(rest) == 1 else error(404, "no such part of a materialized table")
