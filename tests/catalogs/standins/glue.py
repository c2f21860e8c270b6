"""Glue's API: moto's server behind what moto does not check.

Each request is held against botocore's model of the service, and `VersionId` is what Glue makes of it: an update of another version is a
`ConcurrentModificationException`. Versions are archived unless `SkipArchive` is set.
"""

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import boto3
import httpx
from tests.catalogs.standins.amazon import model_of, problems
from tests.catalogs.standins.server import Answer, Request

REGION, CATALOG = "us-east-1", "123456789012"
_PASSED = ("authorization", "content-type", "x-amz-date", "x-amz-target")


@dataclass
class Fault:
    """How the next `times` calls of an operation are answered: with an error."""

    operation: str
    status: int
    code: str
    times: int
    headers: dict[str, str] = field(default_factory=dict)


class Glue:
    """A catalog at `moto`; `archived` counts archived versions, `before_update` is called before each update with the table's name."""

    def __init__(self, moto: str) -> None:
        self._moto = moto
        keys = {"aws_access_key_id": "AKIATEST", "aws_secret_access_key": "secret"}
        self.client: Any = boto3.client("glue", region_name=REGION, endpoint_url=moto, **keys)
        self.faults: list[Fault] = []
        self.updates: list[dict[str, Any]] = []
        self.reads = self.archived = 0
        self.before_update: Callable[[str], None] = lambda _: None

    def handle(self, request: Request) -> Answer:
        """Answer a request."""
        operation = request.headers["x-amz-target"].removeprefix("AWSGlue.")
        for fault in self.faults:
            if fault.operation == operation and fault.times:
                fault.times -= 1
                return _error(fault.code, "on command", fault.status, fault.headers)
        asked = json.loads(request.body)
        if found := problems(model_of("glue").operation_model(operation).input_shape, asked):
            return _error("InvalidInputException", "; ".join(found))
        if operation == "UpdateTable":
            name = asked["TableInput"]["Name"]
            self.before_update(name)
            if refusal := self._refusal(asked, self.table(asked["DatabaseName"], name)):
                return refusal
            self.updates.append(asked)
            self.archived += not asked.get("SkipArchive")
        self.reads += operation == "GetTable"
        headers = {name: request.headers[name] for name in _PASSED if name in request.headers}
        answer = httpx.post(self._moto, content=request.body, headers=headers, timeout=30, verify=False)
        return Answer(answer.status_code, answer.content)

    def _refusal(self, asked: dict[str, Any], table: dict[str, Any]) -> Answer | None:
        if asked.get("CatalogId") != CATALOG:
            return _error("EntityNotFoundException", "no such catalog")
        if asked.get("VersionId", table["VersionId"]) != table["VersionId"]:
            return _error("ConcurrentModificationException", "Update table failed due to concurrent modifications.")
        return None

    def table(self, database: str, name: str) -> dict[str, Any]:
        """A table as it is read."""
        found: dict[str, Any] = self.client.get_table(DatabaseName=database, Name=name)["Table"]
        return found

    def create(self, database: str, *names: str, **more: Any) -> None:
        """Create tables with the columns x and y; `more` is more of their definitions."""
        if database not in {found["Name"] for found in self.client.get_databases()["DatabaseList"]}:
            self.client.create_database(DatabaseInput={"Name": database})
        columns = [{"Name": name, "Type": "string"} for name in ("x", "y")]
        for name in names:
            storage = {"Columns": columns, "Location": f"s3://lake/{name}", "SerdeInfo": {"Parameters": {"serialization.format": "1"}}}
            definition = {"Name": name, "StorageDescriptor": storage, "TableType": "EXTERNAL_TABLE", **more}
            self.client.create_table(DatabaseName=database, TableInput=definition)

    def change(self, database: str, name: str, **members: Any) -> None:
        """Change a table, as somebody else would."""
        names = model_of("glue").shape_for("TableInput").members
        before = {member: value for member, value in self.table(database, name).items() if member in names}
        self.client.update_table(DatabaseName=database, TableInput={**before, **members})


def _error(code: str, message: str, status: int = 400, headers: dict[str, str] | None = None) -> Answer:
    return Answer(status, {"__type": code, "Message": message}, headers or {})
