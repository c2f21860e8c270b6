"""Reads and writes table definitions by Glue's API. Requires botocore, an optional dependency."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import msgspec

from lineage_bridge.catalogs.kinds.glue.definitions import changed_definition, changes_of, obstacle
from lineage_bridge.catalogs.kinds.glue.settings import GlueSettings
from lineage_bridge.catalogs.kinds.glue.tables import GlueTable, by_table, digest_of_parameters, express_table, table_of_key
from lineage_bridge.catalogs.target import DELETE, DONE, Expressed, Json, ObjectKey, Operation, Outcome, Target
from lineage_bridge.errors import BusyError, SourceError
from lineage_bridge.model.sources import SourceCheck
from lineage_bridge.sources.common.aws.client import AmazonClient
from lineage_bridge.sources.common.aws.glue_parameters import PREFIX
from lineage_bridge.sources.common.aws.session import error_code

MOST_CONFLICTS: Final = 4
"""How many times in a row another client may change a table between our read and our write."""
_RIGHTS: Final = "grant glue:GetTable and glue:UpdateTable on the catalog, the database and its tables"
_MISSING: Final = "EntityNotFoundException"
_CONFLICT: Final = "ConcurrentModificationException"
_LATER: Final = frozenset(
    ("AccessDeniedException", "GlueEncryptionException", "ResourceNotReadyException", "FederationSourceRetryableException")
)
"""Errors that concern one table and may pass; permissions are granted for each table."""
_REFUSED: Final = frozenset(
    (_MISSING, "FederationSourceException", "InvalidInputException", "ResourceNumberLimitExceededException", "ValidationException")
)
_PARTITIONS: Final = ("aws", "aws-cn", "aws-us-gov")
_BUSY: Final = frozenset(("OperationTimeoutException", "InternalServiceException"))


class GlueTarget(Target[GlueSettings]):
    """Writes the lineage of each table into its parameters. Tables are neither created nor deleted; deleting removes what was published."""

    catalog = "glue"
    deletes = True
    reads = True
    read_batch = 20
    paces_itself = True

    def __init__(self, name: str, settings: GlueSettings, _: Path) -> None:
        super().__init__(name, settings)
        self._client = AmazonClient(settings, "glue", connections=settings.at_once, tries=1)

    @property
    def addresses(self) -> frozenset[str]:
        """The catalog's ARN, in whichever partition of AWS its region is."""
        region, account = self.settings.region, self.settings.catalog_id
        return frozenset((*(f"arn:{partition}:glue:{region}:{account}" for partition in _PARTITIONS), *self.settings.read_at))

    def arranged(self, events: Iterable[Json]) -> Iterable[Json]:
        """Group the lineage of jobs by tables: one event for each table."""
        return by_table(events, self.settings)

    def express(self, event: Json) -> Expressed:
        """Convert the event of a table to the parameters and descriptions of the table. Raises InexpressibleError."""
        return express_table(event, self.settings)

    def visible(self, event: Json) -> str:
        """The digest of the lineage in the parameters, which can be read back."""
        return digest_of_parameters(event["parameters"])

    def read(self, keys: Iterable[ObjectKey]) -> Mapping[ObjectKey, str]:
        """The tables with lineage that any installation of LineageBridge published, each with the digest of that lineage."""
        found = {}
        for key in keys:
            table = self._table(table_of_key(key))
            parameters = (table or {}).get("Parameters") or {}
            if any(name.startswith(PREFIX) for name in parameters):
                found[key] = digest_of_parameters(parameters)
        return found

    def write(self, operations: Sequence[Operation]) -> list[Outcome]:
        """Change the definitions of tables."""
        return [self._write(operation) for operation in operations]

    def _write(self, operation: Operation) -> Outcome:
        goal = msgspec.json.decode(operation.body) if operation.body else {"parameters": {}, "descriptions": {}}
        table = table_of_key(operation.key)
        for _ in range(MOST_CONFLICTS):
            outcome = self._tried(table, goal, is_deletion=operation.action == DELETE)
            if outcome is not None:
                return outcome
        return Outcome(False, f"other clients changed the table {MOST_CONFLICTS} times while it was to be changed", later=True)

    def _tried(self, table: GlueTable, goal: Json, *, is_deletion: bool) -> Outcome | None:
        """Try to change a definition and return the outcome; None if another client changed the table after it was read."""
        try:
            return self._replace(table, goal, is_deletion=is_deletion)
        except SourceError as error:
            code = error_code(error.__cause__)
            if code in _LATER or code in _REFUSED:
                return Outcome(False, _text(error), later=code in _LATER)
            if code in _BUSY and not isinstance(error, BusyError):
                raise BusyError(str(error)) from error
            if code == _CONFLICT:
                return None
            raise

    def _replace(self, table: GlueTable, goal: Json, *, is_deletion: bool) -> Outcome:
        found = self._table(table)
        if found is None:
            return DONE if is_deletion else Outcome(False, "there is no such table in the catalog")
        if why := obstacle(found):
            return Outcome(False, why)
        definition = changed_definition(found, goal["parameters"], goal["descriptions"])
        if definition is not None:
            where = {"CatalogId": self.settings.catalog_id, "DatabaseName": table.database}
            made = {**where, "TableInput": definition, "VersionId": found["VersionId"], "SkipArchive": True}
            self._called("update_table", f"UpdateTable of {table.database}.{table.name}", made)
            return DONE._replace(written=changes_of(found, definition))
        return DONE

    def _table(self, table: GlueTable) -> Json | None:
        """A table's definition including its read-only members; None if there is no such table."""
        try:
            asked = {"CatalogId": self.settings.catalog_id, "DatabaseName": table.database, "Name": table.name}
            answer = self._called("get_table", f"GetTable of {table.database}.{table.name}", asked)
        except SourceError as error:
            if error_code(error.__cause__) == _MISSING:
                return None
            raise
        found: Json = answer["Table"]
        return found

    def _called(self, method: str, named: str, asked: Json) -> Any:  # noqa: ANN401  # botocore creates its client classes at run time
        return self.repeated(lambda: self._client.call(method, named, _RIGHTS, asked))

    def test(self) -> list[SourceCheck]:
        """Check whether databases can be listed. Permissions are granted for each table, so a missing one only shows at a publication."""
        asked = {"CatalogId": self.settings.catalog_id, "MaxResults": 1}
        answer = self._client.call("get_databases", "GetDatabases", "grant glue:GetDatabases on the catalog", asked)
        return [SourceCheck("connect", isinstance(answer.get("DatabaseList"), list), f"the catalog {self.settings.catalog_id} answers")]

    def close(self) -> None:
        """Close connections."""
        self._client.close()


def _text(error: SourceError) -> str:
    return f"{error} ({error.hint})" if error.hint else str(error)
