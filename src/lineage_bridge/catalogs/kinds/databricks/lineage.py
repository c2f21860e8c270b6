"""Writes external metadata and external lineage by Databricks' API."""

import threading
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import islice
from typing import Any, Final

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
from lineage_bridge.catalogs.kinds.databricks.objects import JobObjects, RelationshipEnd, digest_of_relationships, end_of
from lineage_bridge.catalogs.target import Json, ObjectForbiddenError
from lineage_bridge.errors import ForbiddenError, UnauthenticatedError
from lineage_bridge.openlineage.event_builder import digest_of

_PAGE: Final = 1000
_TURNS: Final = 32
METADATA_WRITTEN, RELATIONSHIPS_WRITTEN = "external_metadata", "relationships"
_MOST: Final = 100_000
"""The maximum number of relationships of a job that are read."""
_MEMBERS: Final = ("columns", "description", "entity_type", "properties", "system_type")
_RIGHTS_ON_TABLES: Final = "grant SELECT on the tables that jobs read, and MODIFY on those that they write"
Ends = tuple[RelationshipEnd, RelationshipEnd]


class ExternalLineage:
    """The external metadata of jobs and their datasets in a metastore, and the relationships between them. Thread-safe. An object that
    belongs to several jobs is written once per publication.
    """

    def __init__(self, connection: WorkspaceConnection) -> None:
        self._metadata: Any = ExternalMetadataAPI(connection)  # type: ignore[no-untyped-call]  # their constructors have no types
        self._lineage: Any = ExternalLineageAPI(connection)  # type: ignore[no-untyped-call]  # as above
        self._turns = tuple(threading.Lock() for _ in range(_TURNS))
        self._written: dict[str, str] = {}

    def state(self, job: RelationshipEnd) -> str | None:
        """The digest of a job's relationships; None if the metastore does not have the job."""
        return digest_of_relationships(self._relationships(job).values()) if self._is_there(job) else None

    def try_listing(self) -> None:
        """List external metadata. Raises the errors of calls."""
        next(self._metadata.list_external_metadata(page_size=1), None)

    def publish(self, objects: JobObjects, written: Counter[str]) -> None:
        """Write a job with its datasets and relationships. `written` counts what is created or changed, also if it ends early."""
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

    def delete(self, job: RelationshipEnd) -> None:
        """Delete a job and its relationships. The external metadata of its datasets stays."""
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


@contextmanager
def _rights_on_tables(ends: Ends) -> Iterator[None]:
    """Convert a permission error to one about a table, if a table is an end of a relationship."""
    try:
        yield
    except UnauthenticatedError:
        raise
    except ForbiddenError as error:
        if table := next((end.name for end in ends if end.kind == "table"), ""):
            raise ObjectForbiddenError(f"table {table}: {error}", _RIGHTS_ON_TABLES) from error
        raise
