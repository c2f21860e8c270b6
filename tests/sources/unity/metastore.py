"""A workspace with Unity Catalog as far as polls meet it: lists, and SQL statements over the system tables.

Answers are held against the typed models of databricks-sdk: what their classes do not have is never answered.
"""

import json
from collections.abc import Callable
from typing import Any

from databricks.sdk.service.catalog import (
    ListCatalogsResponse,
    ListSchemasResponse,
    ListTablesResponse,
    TableExistsResponse,
    TableInfo,
)
from databricks.sdk.service.sql import ResultData, StatementResponse
from tests.catalogs.standins.server import Answer, Request

from lineage_bridge.sources.unity.statements import ANY_FLOW, FLOWS, MOST_ROWS, TAGS

TOKEN, CLIENT, SECRET = "dapi-test", "service-principal", "its secret"
Json = dict[str, Any]
Rows = list[list[str | None]]
CHUNK = 2
_NOWHERE = Answer(404, {"error_code": "ENDPOINT_NOT_FOUND", "message": "no such endpoint"})


class Metastore:
    """`tables` by full name, `flows` and `tags` as rows of the system tables. `denied`: names whose lists and checks are refused.

    Lists have one object a page, with a page without any before the first. Tokens of the service principal are those in `issued`.
    """

    def __init__(self) -> None:
        self.tables: dict[str, Json] = {}
        self.flows: list[tuple[str, ...]] = []
        """Workspace, kind, entity, source, target, source column, target column."""
        self.tags: list[tuple[str, str, str, str]] = []
        self.denied: set[str] = set()
        self.hidden: set[str] = set()
        self.issued: list[str] = []
        self.requests: list[str] = []
        self.statements: dict[str, list[Json]] = {}
        self.outcome: Json = {"state": "SUCCEEDED"}
        self.under_way = 1
        self.rows_left_out = 0
        self.most_rows = MOST_ROWS
        self.override: Callable[[Request], Answer | None] = lambda _: None

    def table(self, full_name: str, **members: Any) -> None:
        catalog, schema, name = full_name.split(".")
        column = {"name": "id", "type_text": "bigint", "type_name": "LONG", "position": 0, "comment": "Its number."}
        about = {"full_name": full_name, "catalog_name": catalog, "schema_name": schema, "name": name, "table_type": "MANAGED"}
        every = {**about, "columns": [column], "comment": "One row each.", "owner": "sales-team", **members}
        self.tables[full_name] = {member: value for member, value in every.items() if value}

    def handle(self, request: Request) -> Answer:
        """Answer a request."""
        if request.parts == ("oidc", "v1", "token"):
            return self._login(request)
        if request.headers.get("authorization") not in {f"Bearer {token}" for token in (TOKEN, *self.issued)}:
            return Answer(401, {"error_code": "UNAUTHENTICATED", "message": "invalid access token"})
        self.requests.append(f"{request.method} /{'/'.join(request.parts)}")
        return self.override(request) or self._answer(request)

    def _answer(self, request: Request) -> Answer:
        match request.method, request.parts:
            case "GET", ("api", "2.1", "unity-catalog", *rest):
                return self._listed(request, rest)
            case "POST", ("api", "2.0", "sql", "statements"):
                return self._execute(json.loads(request.body))
            case _, ("api", "2.0", "sql", "statements", id_, *rest):
                return self._about(id_, rest)
        return _NOWHERE

    def _login(self, request: Request) -> Answer:
        if request.headers.get("authorization") != "Basic c2VydmljZS1wcmluY2lwYWw6aXRzIHNlY3JldA==":
            return Answer(401, {"error": "invalid_client", "error_description": "Client authentication failed"})
        if request.body != b"grant_type=client_credentials&scope=all-apis":
            return Answer(400, {"error": "invalid_request", "error_description": "unsupported grant"})
        self.issued = [f"token-{len(self.requests)}"]
        return Answer(200, {"access_token": self.issued[0], "token_type": "Bearer", "expires_in": 3600})

    # lists

    def _listed(self, request: Request, path: list[str]) -> Answer:
        match path:
            case ["catalogs"]:
                return self._page(request, "catalogs", [{"name": name} for name in self._parts(1, "")], ListCatalogsResponse)
            case ["schemas"]:
                catalog = request.query["catalog_name"]
                found = [{"name": name.split(".")[1], "catalog_name": catalog} for name in self._parts(2, f"{catalog}.")]
                return self._refused(catalog) or self._page(request, "schemas", found, ListSchemasResponse)
            case ["tables"]:
                schema = f"{request.query['catalog_name']}.{request.query['schema_name']}"
                shown = [self.tables[name] for name in self._parts(3, f"{schema}.")]
                return self._refused(schema) or self._page(request, "tables", shown, ListTablesResponse)
            case ["tables", name, "exists"]:
                answer = {"table_exists": name in self.tables}
                assert TableExistsResponse.from_dict(answer).as_dict() == answer
                return self._refused(name) or Answer(200, answer)
            case ["tables", name]:
                assert name not in self.tables or TableInfo.from_dict(self.tables[name]).as_dict() == self.tables[name]
                missing = Answer(404, {"error_code": "TABLE_DOES_NOT_EXIST", "message": f"Table '{name}' does not exist."})
                return self._refused(name) or (Answer(200, self.tables[name]) if name in self.tables else missing)
        return _NOWHERE

    def _parts(self, count: int, prefix: str) -> list[str]:
        shown = (name for name in self.tables if name not in self.hidden)
        return sorted({".".join(name.split(".")[:count]) for name in shown if name.startswith(prefix)})

    def _refused(self, name: str) -> Answer | None:
        refusal = Answer(403, {"error_code": "PERMISSION_DENIED", "message": f"User does not have USE on '{name}'."})
        return refusal if name in self.denied else None

    def _page(self, request: Request, member: str, found: list[Json], model: Any) -> Answer:
        assert request.query["include_browse"] == "true"
        if request.query.get("max_results") != "0":
            return Answer(400, {"error_code": "INVALID_PARAMETER_VALUE", "message": "unpaginated calls are deprecated"})
        at = int(request.query.get("page_token", "-1"))
        shown = found[at : at + 1] if at >= 0 else []
        following = max(at, 0) + len(shown)
        answer: Json = {member: shown} if shown else {}
        answer |= {"next_page_token": str(following)} if following < len(found) else {}
        assert model.from_dict(answer).as_dict() == answer, answer
        return Answer(200, answer)

    # SQL statements

    def _execute(self, asked: Json) -> Answer:
        members = {"statement", "warehouse_id", "parameters", "wait_timeout", "disposition", "format"}
        assert asked.keys() == members
        assert (asked["wait_timeout"], asked["disposition"], asked["format"]) == ("0s", "INLINE", "JSON_ARRAY")
        if asked["warehouse_id"] != "w1":
            return Answer(404, {"error_code": "RESOURCE_DOES_NOT_EXIST", "message": "no such warehouse"})
        given = {parameter["name"]: parameter["value"] for parameter in asked["parameters"]}
        id_ = f"statement-{len(self.statements)}"
        rows = self.rows(asked["statement"], given)
        chunks = [rows[at : at + CHUNK] for at in range(0, len(rows), CHUNK)]
        ended = self._result(id_, rows, chunks)
        pending = [{"statement_id": id_, "status": {"state": state}} for state in ("PENDING", "RUNNING")[: self.under_way]]
        self.statements[id_] = [*pending, ended]
        return self._about(id_, [])

    def _result(self, id_: str, rows: Rows, chunks: list[Rows]) -> Json:
        if self.outcome["state"] != "SUCCEEDED":
            return {"statement_id": id_, "status": self.outcome}
        self.chunks = [self._chunk(chunks, index) for index in range(len(chunks))]
        total = len(rows) + self.rows_left_out
        manifest = {"format": "JSON_ARRAY", "total_row_count": total, "total_chunk_count": len(chunks), "truncated": False}
        result = self.chunks[0] if self.chunks else {"row_count": 0}
        return {"statement_id": id_, "status": self.outcome, "manifest": manifest, "result": result}

    def _chunk(self, chunks: list[Rows], index: int) -> Json:
        found: Json = {"chunk_index": index, "row_count": len(chunks[index]), "data_array": chunks[index]}
        answer = found | ({"next_chunk_index": index + 1} if index + 1 < len(chunks) else {})
        assert ResultData.from_dict(answer).as_dict() == answer
        return answer

    def _about(self, id_: str, rest: list[str]) -> Answer:
        if rest == ["cancel"]:
            return Answer(200, {})
        if rest[:2] == ["result", "chunks"]:
            return Answer(200, self.chunks[int(rest[2])])
        steps = self.statements[id_]
        answer = steps.pop(0) if len(steps) > 1 else steps[0]
        assert StatementResponse.from_dict(answer).as_dict() == answer
        return Answer(200, answer)

    def rows(self, statement: str, given: dict[str, str]) -> Rows:
        if statement == ANY_FLOW:
            return [["1"]] if self.flows else []
        after = given["after"]
        if statement == TAGS:
            assert given.keys() == {"after"}
            found: Rows = [list(tag) for tag in sorted(self.tags) if tag[0] > after]
            return found[: self.most_rows]
        assert (statement, set(given), int(given["days"]) > 0) == (FLOWS, {"after", "days"}, True)
        rows = [[self._id(flow), *flow] for flow in self.flows]
        order = sorted((row for row in rows if row[0] > after), key=lambda row: (row[0], row[5], row[6], row[4], row[7]))
        page: Rows = [[*row] for row in order[: self.most_rows]]
        return page

    @staticmethod
    def _id(flow: tuple[str, ...]) -> str:
        return "/".join((*flow[:3], "" if flow[2] else flow[4]))
