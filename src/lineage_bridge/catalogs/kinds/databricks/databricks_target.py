"""Writes external metadata and external lineage by Databricks' API. Requires databricks-sdk, an optional dependency."""

import threading
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import Any, Final

import msgspec
from databricks.sdk.service.catalog import (
    CreateRequestExternalLineage,
    DeleteRequestExternalLineage,
    ExternalLineageAPI,
    ExternalLineageObject,
    ExternalMetadata,
    ExternalMetadataAPI,
    LineageDirection,
    UpdateRequestExternalLineage,
)

from lineage_bridge.catalogs.kinds.databricks.connection import AnsweredError, WorkspaceConnection
from lineage_bridge.catalogs.kinds.databricks.naming import metastore_addresses
from lineage_bridge.catalogs.kinds.databricks.objects import (
    JobObjects,
    RelationshipEnd,
    digest_of_relationships,
    end_of,
    express_job,
    job_end,
    job_objects,
)
from lineage_bridge.catalogs.kinds.databricks.settings import DatabricksSettings
from lineage_bridge.catalogs.target import DELETE, DONE, Expressed, Json, ObjectKey, Operation, Outcome, Target
from lineage_bridge.errors import ForbiddenError, UnauthenticatedError
from lineage_bridge.model.sources import SourceCheck
from lineage_bridge.openlineage.event_builder import digest_of

_PAGE: Final = 1000
_TURNS: Final = 32
METADATA_WRITTEN, RELATIONSHIPS_WRITTEN = "external_metadata", "relationships"
_MOST: Final = 100_000
"""The maximum number of relationships of a job that are read."""
_MEMBERS: Final = ("columns", "description", "entity_type", "properties", "system_type")
_RIGHTS: Final = "grant CREATE EXTERNAL METADATA on the metastore"
_RIGHTS_ON_TABLES: Final = "grant SELECT on the tables that jobs read, and MODIFY on those that they write"
Ends = tuple[RelationshipEnd, RelationshipEnd]


class DatabricksTarget(Target[DatabricksSettings]):
    """Writes external metadata for each job and its datasets, and relationships between them; relationships of jobs are read back and
    deleted.
    """

    catalog = "unity"
    deletes = True
    reads = True
    read_batch = 20
    paces_itself = True

    def __init__(self, name: str, settings: DatabricksSettings, _: Path) -> None:
        super().__init__(name, settings)
        self._connection = WorkspaceConnection(settings, self.repeated)
        self._metadata: Any = ExternalMetadataAPI(self._connection)  # type: ignore[no-untyped-call]  # their constructors have no types
        self._lineage: Any = ExternalLineageAPI(self._connection)  # type: ignore[no-untyped-call]  # as above
        self._turns = tuple(threading.Lock() for _ in range(_TURNS))
        self._written: dict[str, str] = {}

    @property
    def addresses(self) -> frozenset[str]:
        """The metastore's workspaces, as far as the settings name them."""
        return metastore_addresses(self.settings)

    def express(self, event: Json) -> Expressed:
        """Convert an event to a completed run. Raises InexpressibleError."""
        return express_job(event)

    def visible(self, event: Json) -> str:
        """The digest of a job's relationships and their columns, which can be read back."""
        return digest_of_relationships(job_objects(event, self.settings).relationships)

    def read(self, keys: Iterable[ObjectKey]) -> Mapping[ObjectKey, str]:
        """The jobs that the metastore has, each with the digest of its relationships."""
        found = {}
        for key in keys:
            job = job_end(key.namespace, key.name, self.settings)
            if self._is_there(job):
                found[key] = digest_of_relationships(self._relationships(job).values())
        return found

    def write(self, operations: Sequence[Operation]) -> list[Outcome]:
        """Write each job with its datasets, or delete a job."""
        return [self._write(operation) for operation in operations]

    def _write(self, operation: Operation) -> Outcome:
        written = Counter[str]()
        try:
            if operation.action == DELETE:
                self._delete(job_end(operation.key.namespace, operation.key.name, self.settings))
            else:
                self._publish(job_objects(msgspec.json.decode(operation.body), self.settings), written)
        except AnsweredError as error:
            return error.outcome._replace(written=written)
        except UnauthenticatedError:
            raise
        except _TableForbiddenError as error:
            return Outcome(False, f"{error} ({error.hint})", later=True, written=written)
        except ForbiddenError as error:
            raise ForbiddenError(str(error), _RIGHTS) from error
        return DONE._replace(written=written)

    def _publish(self, objects: JobObjects, written: Counter[str]) -> None:
        names = [dataset["name"] for dataset in objects.datasets]
        for dataset in objects.datasets:
            self._ensure(dataset, written)
        is_new = self._put(objects.job, written)
        there = {} if is_new else self._relationships(RelationshipEnd("external_metadata", objects.job["name"]))
        try:
            self._relate(objects, there, written)
        except AnsweredError as error:
            if not error.is_missing or not self._forget_written(names):
                raise
            for dataset in objects.datasets:  # another client has deleted one since it was written
                self._ensure(dataset, written)
            self._relate(objects, self._relationships(RelationshipEnd("external_metadata", objects.job["name"])), written)

    def _delete(self, job: RelationshipEnd) -> None:
        for ends, found in self._relationships(job).items():
            with _rights_on_tables(ends):
                self._unrelate(found)
        try:
            self._metadata.delete_external_metadata(job.name)
        except AnsweredError as error:
            if not error.is_missing:
                raise

    # external metadata

    def _is_there(self, job: RelationshipEnd) -> bool:
        try:
            self._metadata.get_external_metadata(job.name)
        except AnsweredError as error:
            if error.is_missing:
                return False
            raise
        return True

    def _ensure(self, dataset: Json, written: Counter[str]) -> None:
        """Write external metadata of a dataset, unless this publication did so for another job. Jobs with a common dataset take turns."""
        name, digest = dataset["name"], digest_of(dataset)
        with self._turns[hash(name) % _TURNS]:
            if self._written.get(name) != digest:
                self._put(dataset, written)
                self._written[name] = digest

    def _forget_written(self, names: Sequence[str]) -> bool:
        """Forget that this publication wrote these datasets. Returns whether it had written one of them."""
        return bool([name for name in names if self._written.pop(name, None) is not None])

    def _put(self, goal: Json, written: Counter[str]) -> bool:
        """Create or change an object of external metadata. Returns whether it is new."""
        try:
            self._metadata.create_external_metadata(ExternalMetadata.from_dict(goal))
        except AnsweredError as error:
            if not error.is_taken:
                raise
        else:
            written[METADATA_WRITTEN] += 1
            return True
        there = self._metadata.get_external_metadata(goal["name"]).as_dict()
        if any(there.get(member) != goal.get(member) for member in _MEMBERS):
            self._metadata.update_external_metadata(goal["name"], ExternalMetadata.from_dict(goal), ",".join(_MEMBERS))
            written[METADATA_WRITTEN] += 1
        return False

    # external lineage

    def _relationships(self, job: RelationshipEnd) -> dict[Ends, Json]:
        """All relationships of a job, by their ends; none if the metastore does not have the job."""
        try:
            return {(end_of(found["source"]), end_of(found["target"])): found for found in islice(self._listed(job), _MOST)}
        except AnsweredError as error:
            if error.is_missing:
                return {}
            raise

    def _listed(self, job: RelationshipEnd) -> Iterator[Json]:
        for direction in (LineageDirection.UPSTREAM, LineageDirection.DOWNSTREAM):
            about = ExternalLineageObject.from_dict(job.as_json)
            for found in self._lineage.list_external_lineage_relationships(about, direction, page_size=_PAGE):
                if found.external_lineage_info is not None:
                    yield found.external_lineage_info.as_dict()

    def _relate(self, objects: JobObjects, there: Mapping[Ends, Json], written: Counter[str]) -> None:
        """Change the relationships of a job at the metastore to the desired ones."""
        goals = {(end_of(found["source"]), end_of(found["target"])): found for found in objects.relationships}
        for ends, relationship in goals.items():
            before = there.get(ends)
            if before is None or any(before.get(member) != relationship.get(member) for member in ("columns", "properties")):
                with _rights_on_tables(ends):
                    self._put_relationship(relationship, is_there=before is not None)
                written[RELATIONSHIPS_WRITTEN] += 1
        for ends in sorted(there.keys() - goals.keys()):
            with _rights_on_tables(ends):
                self._unrelate(there[ends])

    def _put_relationship(self, goal: Json, *, is_there: bool) -> None:
        if not is_there:
            try:
                self._lineage.create_external_lineage_relationship(CreateRequestExternalLineage.from_dict(goal))
            except AnsweredError as error:
                if not error.is_taken:
                    raise
            else:
                return
        self._lineage.update_external_lineage_relationship(UpdateRequestExternalLineage.from_dict(goal), "columns,properties")

    def _unrelate(self, found: Json) -> None:
        try:
            self._lineage.delete_external_lineage_relationship(DeleteRequestExternalLineage.from_dict(found))
        except AnsweredError as error:
            if not error.is_missing:
                raise

    def test(self) -> list[SourceCheck]:
        """Check whether external metadata can be listed. Whether it can be created only shows when some is."""
        try:
            next(self._metadata.list_external_metadata(page_size=1), None)
        except ForbiddenError as error:
            return [SourceCheck("connect", True, "the workspace answers"), SourceCheck("authenticate", False, str(error), error.hint)]
        return [SourceCheck("connect", True, "the workspace answers"), SourceCheck("authenticate", True, "external metadata can be listed")]

    def close(self) -> None:
        """Close connections."""
        self._connection.close()


class _TableForbiddenError(ForbiddenError):
    """Privileges on a table are missing. They are granted for each table, so other calls may succeed."""


@contextmanager
def _rights_on_tables(ends: Ends) -> Iterator[None]:
    """Convert a permission error to one about a table, if a table is an end of a relationship."""
    try:
        yield
    except UnauthenticatedError:
        raise
    except ForbiddenError as error:
        if table := next((end.name for end in ends if end.kind == "table"), ""):
            raise _TableForbiddenError(f"table {table}: {error}", _RIGHTS_ON_TABLES) from error
        raise
