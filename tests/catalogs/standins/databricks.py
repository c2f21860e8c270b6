"""Unity Catalog's external metadata, external lineage, tables and SQL statements as far as publications meet them, with what the service
refuses.

Requests and answers are held against the typed models of databricks-sdk: what their classes do not have is refused, or never answered.
"""

import inspect
import json
import re
import uuid
from typing import Any

from databricks.sdk.service.catalog import (
    CreateRequestExternalLineage,
    DeleteRequestExternalLineage,
    ExternalLineageObject,
    ExternalMetadata,
    LineageDirection,
    ListExternalLineageRelationshipsResponse,
    ListExternalMetadataResponse,
    TableInfo,
    UpdateRequestExternalLineage,
)
from databricks.sdk.service.sql import StatementExecutionAPI, StatementParameterListItem, StatementResponse
from tests.catalogs.standins.databricks_sql import SqlError, SqlTables
from tests.catalogs.standins.server import Answer, Request

TOKEN, CLIENT, SECRET, WAREHOUSE = "dapi-test", "service-principal", "its secret", "a1b2c3"
_NAME = re.compile(r"[^./ \x00-\x1f\x7f]{1,255}")
_CHANGEABLE = {"columns", "description", "entity_type", "properties", "system_type", "url"}
Json = dict[str, Any]
Key = tuple[str, str]


class _RefusedError(Exception):
    def __init__(self, status: int, code: str, message: str) -> None:
        super().__init__(message)
        self.answer = Answer(status, {"error_code": code, "message": message})


class UnityCatalog:
    """A metastore: `tables` with their columns, `metadata` by name, `lineage` by its ends; `denied` tables give no rights.

    Lists have one object a page, and a page without any before the first. Tokens of the service principal are those in `issued`. `sql` has
    the tables that statements change, in a warehouse that answers a statement `under_way` times before it ends.
    """

    def __init__(self) -> None:
        self.tables: dict[str, list[str]] = {}
        self.denied: set[str] = set()
        self.metadata: dict[str, Json] = {}
        self.lineage: dict[tuple[Key, Key], Json] = {}
        self.issued: list[str] = []
        self.may_create = True
        self.page = 1
        self.sql = SqlTables()
        self.statements: list[str] = []
        self.under_way = 1
        self.failing: list[Json] = []
        """The states in which the next statements end, instead of being run."""
        self.running: dict[str, list[Json]] = {}
        self.cancelled: list[str] = []
        self.requests: list[str] = []

    def handle(self, request: Request) -> Answer:
        """Answer a request."""
        if request.parts == ("oidc", "v1", "token"):
            return self._login(request)
        if request.headers.get("authorization") not in {f"Bearer {token}" for token in (TOKEN, *self.issued)}:
            return Answer(401, {"error_code": "UNAUTHENTICATED", "message": "invalid access token"})
        query = "&".join(f"{name}={value}" for name, value in sorted(request.query.items()))
        self.requests.append(f"{request.method} /{'/'.join(request.parts)}?{query}")
        try:
            return Answer(200, self._answer(request))
        except _RefusedError as error:
            return error.answer

    def _answer(self, request: Request) -> Json:
        match request.parts:
            case ("api", "2.0", "lineage-tracking", "external-metadata", *name):
                return self._of_metadata(request, name[0] if name else "")
            case ("api", "2.0", "lineage-tracking", "external-lineage"):
                return self._of_lineage(request)
            case ("api", "2.1", "unity-catalog", "tables", name):
                return self._table(name)
            case ("api", "2.0", "sql", "statements", *rest):
                return self._of_statements(request, rest)
        raise _RefusedError(404, "ENDPOINT_NOT_FOUND", "no such endpoint")

    def _login(self, request: Request) -> Answer:
        if request.headers.get("authorization") != "Basic c2VydmljZS1wcmluY2lwYWw6aXRzIHNlY3JldA==":
            return Answer(401, {"error": "invalid_client", "error_description": "Client authentication failed"})
        if request.body != b"grant_type=client_credentials&scope=all-apis":
            return Answer(400, {"error": "invalid_request", "error_description": "unsupported grant"})
        self.issued = [f"token-{uuid.uuid4()}"]
        return Answer(200, {"access_token": self.issued[0], "token_type": "Bearer", "expires_in": 3600})

    # tables and statements

    def _table(self, name: str) -> Json:
        if name not in self.sql.tables:
            raise _RefusedError(404, "TABLE_DOES_NOT_EXIST", f"Table '{name}' does not exist.")
        if name in self.denied:
            raise _RefusedError(403, "PERMISSION_DENIED", f"User does not have SELECT on Table '{name}'.")
        found, (catalog, schema, short) = self.sql.tables[name], name.split(".")
        columns = [{"name": column, "comment": comment} if comment else {"name": column} for column, comment in found["columns"].items()]
        about = {"full_name": name, "catalog_name": catalog, "schema_name": schema, "name": short, "table_type": found["table_type"]}
        every = {**about, "columns": columns, "comment": found["comment"], "properties": dict(found["properties"])}
        answer = {member: value for member, value in every.items() if value}
        assert TableInfo.from_dict(answer).as_dict() == answer
        return answer

    def _of_statements(self, request: Request, path: list[str]) -> Json:
        if not path:
            asked = json.loads(request.body)
            for parameter in asked.get("parameters", ()):
                _checked(StatementParameterListItem, json.dumps(parameter).encode())
            if unknown := asked.keys() - inspect.signature(StatementExecutionAPI.execute_statement).parameters.keys():
                raise _RefusedError(400, "INVALID_PARAMETER_VALUE", f"unknown members {sorted(unknown)}")
            wait = int(asked.get("wait_timeout", "10s").removesuffix("s"))
            if not asked.get("statement") or (wait and not 5 <= wait <= 50):
                raise _RefusedError(400, "INVALID_PARAMETER_VALUE", "wait_timeout is 0 s, or between 5 and 50 s")
            if asked.get("warehouse_id") != WAREHOUSE:
                raise _RefusedError(404, "RESOURCE_DOES_NOT_EXIST", "no such warehouse")
            named = f"statement-{len(self.statements)}"
            self.statements.append(asked["statement"])
            waiting: list[Json] = [{"state": state} for state in ("PENDING", "RUNNING", *["RUNNING"] * self.under_way)[: self.under_way]]
            self.running[named] = [*({"status": status} for status in waiting), self._ended(asked)]
        elif path[1:] == ["cancel"]:
            self.cancelled.append(path[0])
            return {}
        named = path[0] if path else named
        steps = self.running[named]
        answer = {"statement_id": named, **(steps.pop(0) if len(steps) > 1 else steps[0])}
        assert StatementResponse.from_dict(answer).as_dict() == answer
        return answer

    def _ended(self, asked: Json) -> Json:
        if self.failing:
            return {"status": self.failing.pop(0)}
        try:
            given = {parameter["name"]: parameter["value"] for parameter in asked.get("parameters", ())}
            rows = self.sql.rows(asked["statement"], given)
        except SqlError as error:
            failed = {"error_code": "BAD_REQUEST", "message": str(error)}
            return {"status": {"state": "FAILED", "sql_state": error.sql_state, "error": failed}}
        manifest = {"format": "JSON_ARRAY", "total_row_count": len(rows), "truncated": False}
        return {
            "status": {"state": "SUCCEEDED"},
            "manifest": manifest,
            "result": {"row_count": len(rows), "data_array": rows} if rows else {},
        }

    # external metadata

    def _of_metadata(self, request: Request, name: str) -> Json:
        match request.method, bool(name):
            case "GET", False:
                return self._listed(request, "external_metadata", [self.metadata[name] for name in sorted(self.metadata)])
            case "POST", False:
                return self._create(_checked(ExternalMetadata, request.body))
            case "GET", True:
                return self._metadata(name)
            case "PATCH", True:
                return self._change(name, _checked(ExternalMetadata, request.body), request.query.get("update_mask", ""))
            case "DELETE", True:
                self._metadata(name)
                del self.metadata[name]
                self.lineage = {ends: found for ends, found in self.lineage.items() if ("external_metadata", name) not in ends}
                return {}
        raise _RefusedError(404, "ENDPOINT_NOT_FOUND", "no such endpoint")

    def _metadata(self, name: str) -> Json:
        if name not in self.metadata:
            raise _RefusedError(404, "EXTERNAL_METADATA_DOES_NOT_EXIST", f"External metadata '{name}' does not exist.")
        return self.metadata[name]

    def _create(self, asked: Json) -> Json:
        name = asked.get("name", "").lower()
        if not self.may_create:
            raise _RefusedError(403, "PERMISSION_DENIED", "User does not have CREATE EXTERNAL METADATA on the metastore.")
        if not _NAME.fullmatch(name) or not asked.get("system_type") or not asked.get("entity_type"):
            raise _RefusedError(400, "INVALID_PARAMETER_VALUE", "name, system_type and entity_type are required")
        if read_only := asked.keys() - _CHANGEABLE - {"name", "owner"}:
            raise _RefusedError(400, "INVALID_PARAMETER_VALUE", f"{sorted(read_only)} cannot be set")
        if name in self.metadata:
            raise _RefusedError(409, "EXTERNAL_METADATA_ALREADY_EXISTS", f"External metadata '{name}' already exists.")
        own = {"id": str(uuid.uuid4()), "metastore_id": "m", "owner": "us", "created_by": "us", "create_time": "2026-01-01T00:00:00Z"}
        self.metadata[name] = {**own, **asked, "name": name}
        return self.metadata[name]

    def _change(self, name: str, asked: Json, mask: str) -> Json:
        members = set(mask.split(","))
        if "owner" in members and members != {"owner"}:
            raise _RefusedError(400, "INVALID_PARAMETER_VALUE", "owner cannot be changed together with other fields")
        if not members <= _CHANGEABLE | {"owner"} or asked.get("name", name) != name:
            raise _RefusedError(400, "INVALID_PARAMETER_VALUE", f"unknown fields in update_mask {mask}")
        kept = {member: value for member, value in self._metadata(name).items() if member not in members}
        self.metadata[name] = {**kept, **{member: asked[member] for member in members if member in asked}}
        return self.metadata[name]

    # external lineage

    def _of_lineage(self, request: Request) -> Json:
        if request.method == "GET":
            about = _nested(request.query, "object_info")
            direction = LineageDirection(request.query.get("lineage_direction"))
            key = self._end(about, 1)
            side = 1 if direction is LineageDirection.UPSTREAM else 0
            found = [self._info(ends, ends[1 - side]) for ends in sorted(self.lineage) if ends[side] == key]
            return self._listed(request, "external_lineage_relationships", found)
        if request.method == "DELETE":
            asked = DeleteRequestExternalLineage.from_dict(_nested(request.query, "external_lineage_relationship")).as_dict()
            ends = self._ends(asked)
            if ends not in self.lineage:
                raise _RefusedError(404, "RESOURCE_DOES_NOT_EXIST", "the relationship does not exist")
            del self.lineage[ends]
            return {}
        kind = CreateRequestExternalLineage if request.method == "POST" else UpdateRequestExternalLineage
        asked = _checked(kind, request.body)
        ends = self._ends(asked)
        for (of, name), end in zip(ends, ("source", "target"), strict=True):
            if of == "table" and (unknown := {pair[end] for pair in asked.get("columns", ())} - set(self.tables[name])):
                raise _RefusedError(400, "INVALID_PARAMETER_VALUE", f"table {name} has no columns {sorted(unknown)}")
        if request.method == "POST":
            if ends in self.lineage:
                raise _RefusedError(409, "ALREADY_EXISTS", "the relationship already exists")
            self.lineage[ends] = {**asked, "id": str(uuid.uuid4())}
        else:
            members = request.query["update_mask"].split(",")
            if ends not in self.lineage or not set(members) <= {"columns", "properties"}:
                raise _RefusedError(404, "RESOURCE_DOES_NOT_EXIST", "the relationship does not exist")
            kept = {member: value for member, value in self.lineage[ends].items() if member not in members}
            self.lineage[ends] = {**kept, **{member: asked[member] for member in members if member in asked}}
        return self.lineage[ends]

    def _ends(self, asked: Json) -> tuple[Key, Key]:
        ends = self._end(asked.get("source", {}), 2), self._end(asked.get("target", {}), 2)
        if not any(kind == "external_metadata" for kind, _ in ends):
            raise _RefusedError(400, "INVALID_PARAMETER_VALUE", "one side must be external metadata")
        return ends

    def _end(self, found: Json, sides: int) -> Key:
        if len(found) != 1 or ExternalLineageObject.from_dict(found).as_dict() != found:
            raise _RefusedError(400, "INVALID_PARAMETER_VALUE", f"{found} is not exactly one object")
        ((kind, member),) = found.items()
        name = member["name"].lower()
        if kind == "external_metadata":
            self._metadata(name)
        elif kind != "table" or name not in self.tables:
            raise _RefusedError(404, "TABLE_DOES_NOT_EXIST", f"Table '{name}' does not exist.")
        elif name in self.denied and sides == 2:
            raise _RefusedError(403, "PERMISSION_DENIED", f"User does not have MODIFY on Table '{name}'.")
        return kind, name

    def _info(self, ends: tuple[Key, Key], other: Key) -> Json:
        kind, name = other
        parts = name.split(".")
        about = {"name": parts[-1], "catalog_name": parts[0], "schema_name": parts[1]} if kind == "table" else self.metadata[name]
        members = ("name", "catalog_name", "schema_name") if kind == "table" else ("name", "entity_type", "system_type")
        return {"external_lineage_info": self.lineage[ends], f"{kind}_info": {member: about[member] for member in members}}

    def _listed(self, request: Request, member: str, found: list[Json]) -> Json:
        if not 0 < int(request.query.get("page_size", 100)) <= 1000:
            raise _RefusedError(400, "INVALID_PARAMETER_VALUE", "page_size must be at most 1000")
        at = int(request.query.get("page_token", "-1"))
        shown = found[at : at + self.page] if at >= 0 else []
        following = max(at, 0) + len(shown)
        page = {member: shown} if shown else {}
        answer: Json = {**page, "next_page_token": str(following)} if following < len(found) else page
        model = ListExternalMetadataResponse if member == "external_metadata" else ListExternalLineageRelationshipsResponse
        assert model.from_dict(answer).as_dict() == answer
        return answer

    def edges(self) -> set[tuple[str, str, str]]:
        """Job, input and output, by name."""
        shown = {
            ("external_metadata", name): found.get("properties", {}).get("lineagebridge.name", name)
            for name, found in self.metadata.items()
        }
        sources: dict[Key, set[Key]] = {}
        targets: dict[Key, set[Key]] = {}
        for source, target in self.lineage:
            sources.setdefault(target, set()).add(source)
            targets.setdefault(source, set()).add(target)
        jobs = [key for key in shown if key[1].startswith("lineagebridge_job_")]
        return {
            (shown[job], shown.get(source, source[1]), shown.get(target, target[1]))
            for job in jobs
            for source in sources.get(job, ())
            for target in targets.get(job, ())
        }


def _checked(model: Any, body: bytes) -> Json:
    """A body, which has no members but those of its model."""
    asked: Json = json.loads(body)
    try:
        typed = model.from_dict(asked).as_dict()
    except (AttributeError, TypeError, ValueError) as error:
        raise _RefusedError(400, "MALFORMED_REQUEST", str(error)) from error
    if typed != asked:
        raise _RefusedError(400, "INVALID_PARAMETER_VALUE", f"{asked} is not as {model.__name__}")
    return asked


def _nested(query: dict[str, str], member: str) -> Json:
    """What parameters with dots in their names mean."""
    found: Json = {}
    for name, value in query.items():
        first, *inner = name.split(".")
        if first == member and inner:
            into = found
            for part in inner[:-1]:
                into = into.setdefault(part, {})
            into[inner[-1]] = value
    return found
