"""Writes external metadata and external lineage by Databricks' API, and properties, comments and tags of tables by SQL statements.

Requires databricks-sdk, an optional dependency.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

import msgspec

from lineage_bridge.catalogs.kinds.databricks.connection import AnsweredError, WorkspaceConnection
from lineage_bridge.catalogs.kinds.databricks.lineage import ExternalLineage
from lineage_bridge.catalogs.kinds.databricks.naming import metastore_addresses
from lineage_bridge.catalogs.kinds.databricks.objects import digest_of_relationships, express_job, job_end, job_objects
from lineage_bridge.catalogs.kinds.databricks.settings import DatabricksSettings
from lineage_bridge.catalogs.kinds.databricks.tables import express_table, goal_of, key_of_table, with_tables, without_published_tags
from lineage_bridge.catalogs.kinds.databricks.unity_tables import UnityTables
from lineage_bridge.catalogs.target import (
    DELETE,
    DONE,
    Expressed,
    Json,
    ObjectForbiddenError,
    ObjectKey,
    Operation,
    Outcome,
    Target,
)
from lineage_bridge.errors import ForbiddenError, SourceError, UnauthenticatedError
from lineage_bridge.model.sources import SourceCheck

_TABLE: Final = "dataset"
"""The kind of the keys of tables."""
_RIGHTS: Final = "grant CREATE EXTERNAL METADATA on the metastore"


class DatabricksTarget(Target[DatabricksSettings]):
    """Writes external metadata for each job and its datasets, and relationships between them; relationships of jobs are read back and
    deleted. With a warehouse, writes properties, comments and tags of tables; tables are neither created nor deleted.
    """

    catalog = "unity"
    follows_own_lineage = True
    deletes = True
    reads = True
    read_batch = 20
    paces_itself = True

    def __init__(self, name: str, settings: DatabricksSettings, _: Path) -> None:
        super().__init__(name, settings)
        self._connection = WorkspaceConnection(settings, self.repeated)
        self._lineage = ExternalLineage(self._connection)
        self._tables = UnityTables(settings, self._connection, self._wait)

    def _wait(self, wait_s: float) -> None:
        self.wait(wait_s)  # which is set later

    def arranged(self, events: Iterable[Json]) -> Iterable[Json]:
        """The events of jobs and datasets; events of tables of the metastore are replaced by one event for each table."""
        return with_tables(events, self.settings)

    @property
    def addresses(self) -> frozenset[str]:
        """The metastore's workspaces, as far as the settings name them."""
        return metastore_addresses(self.settings)

    def express(self, event: Json) -> Expressed:
        """Convert the event of a job to a completed run, and the event of a table to the goal of the table. Raises InexpressibleError."""
        if "stated" in event:
            return express_table(event, self.settings)
        return express_job(without_published_tags(event, self.settings))

    def visible(self, event: Json) -> str:
        """The digest of a job's relationships and their columns, or of what a table should have; both can be read back."""
        if "dataset" in event:
            return goal_of(event).content
        return digest_of_relationships(job_objects(event, self.settings).relationships)

    def read(self, keys: Iterable[ObjectKey]) -> Mapping[ObjectKey, str]:
        """The jobs that the metastore has, each with the digest of its relationships, and the tables to which something was published."""
        keys = list(keys)
        states = self._tables.states([key.name for key in keys if key.kind == _TABLE])
        found = {key_of_table(name, self.settings): state for name, state in states.items()}
        for key in keys:
            if key.kind != _TABLE and (state := self._lineage.state(job_end(key.namespace, key.name, self.settings))) is not None:
                found[key] = state
        return found

    def write(self, operations: Sequence[Operation]) -> list[Outcome]:
        """Write each job with its datasets, or delete the job. Bring each table to its goal, or remove what was published to it."""
        return [self._write_table(operation) if operation.key.kind == _TABLE else self._write(operation) for operation in operations]

    def _write_table(self, operation: Operation) -> Outcome:
        if not self.settings.warehouse_id:
            return Outcome(False, "properties, comments and tags of tables need a SQL warehouse: set `warehouse_id`")
        written = Counter[str]()
        event = None if operation.action == DELETE else msgspec.json.decode(operation.body)
        try:
            goal = goal_of(event) if event else None
            outcome = self._tables.change(operation.key.name, goal, event["eventTime"] if event else "", written)
        except AnsweredError as error:
            outcome = error.outcome
        return outcome._replace(written=+written)

    def _write(self, operation: Operation) -> Outcome:
        written = Counter[str]()
        try:
            if operation.action == DELETE:
                self._lineage.delete(job_end(operation.key.namespace, operation.key.name, self.settings))
            else:
                self._lineage.publish(job_objects(msgspec.json.decode(operation.body), self.settings), written)
        except AnsweredError as error:
            return error.outcome._replace(written=written)
        except UnauthenticatedError:
            raise
        except ObjectForbiddenError as error:
            return Outcome(False, f"{error} ({error.hint})", later=True, written=written)
        except ForbiddenError as error:
            raise ForbiddenError(str(error), _RIGHTS) from error
        return DONE._replace(written=written)

    def test(self) -> list[SourceCheck]:
        """Check whether external metadata can be listed. The check does not show whether it can be created."""
        try:
            self._lineage.try_listing()
        except ForbiddenError as error:
            return [SourceCheck("connect", True, "the workspace answers"), SourceCheck("authenticate", False, str(error), error.hint)]
        yes = SourceCheck("authenticate", True, "external metadata can be listed")
        return [SourceCheck("connect", True, "the workspace answers"), yes, *self._test_warehouse()]

    def _test_warehouse(self) -> Iterator[SourceCheck]:
        """Try a statement, which starts the warehouse, if one is set."""
        if not self.settings.warehouse_id:
            return
        try:
            self._tables.test()
        except SourceError as error:
            yield SourceCheck("run statements", False, str(error), error.hint)
        else:
            yield SourceCheck("run statements", True, "the warehouse answers, and tags can be read")

    def close(self) -> None:
        """Close connections."""
        self._connection.close()
