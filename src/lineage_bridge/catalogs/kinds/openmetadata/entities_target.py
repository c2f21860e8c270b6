"""The target OpenMetadata by its entities: a pipeline for each job, and lineage between the tables, topics and containers that are there.

Edges have the source OpenLineage and the job's pipeline. No dataset is created, and no edge of somebody else is changed.
"""

import threading
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from http import HTTPStatus
from pathlib import Path
from typing import Final, NamedTuple

import msgspec

from lineage_bridge.catalogs.events import in_form, key_of, with_held
from lineage_bridge.catalogs.http import HttpAnswer, TargetClient, outcome_of
from lineage_bridge.catalogs.kinds.openmetadata.catalog import (
    NOT_HELD,
    CatalogEntity,
    FoundDataset,
    OpenMetadataCatalog,
    PipelineLineage,
    check_connection,
    created,
    is_missing,
)
from lineage_bridge.catalogs.kinds.openmetadata.edges import (
    SOURCE,
    ColumnPair,
    columns_of,
    digest_of_edges,
    digest_of_lineage,
    edges_in,
    job_edges,
    owner_of,
)
from lineage_bridge.catalogs.kinds.openmetadata.names import DatasetNames, EntityName, pipeline_name
from lineage_bridge.catalogs.kinds.openmetadata.settings import OpenMetadataSettings
from lineage_bridge.catalogs.target import CREATE, DELETE, DONE, Expressed, InexpressibleError, Json, ObjectKey, Operation, Outcome, Target
from lineage_bridge.errors import SourceError
from lineage_bridge.model.sources import SourceCheck
from lineage_bridge.openlineage.facets.publication import PUBLICATION
from lineage_bridge.sources.common.openmetadata.fqn import join_name

NOT_THERE: Final = "datasets that OpenMetadata does not have"
_SERVICE_TYPE: Final = "CustomPipeline"
_SERVICE_TEXT: Final = "Jobs whose lineage LineageBridge publishes."
_OF_JOBS: Final = frozenset(("sql", "documentation", PUBLICATION))
_OF_DATASETS: Final = frozenset(("columnLineage", "symlinks"))
_KEPT: Final = ("description", "tempLineageTables")
"""Members of an edge's details that are not published, and stay as they are."""


class NeededDataset(NamedTuple):
    """A dataset to look up, and whether the edges that lead to it are needed too."""

    name: EntityName
    is_output: bool


class OpenMetadataEntitiesTarget(Target[OpenMetadataSettings]):
    """Publishes to OpenMetadata: pipelines and edges, which are read back, changed and deleted."""

    catalog = "openmetadata"
    deletes = True
    reads = True
    read_batch = 20
    paces_itself = True
    refers = True

    def __init__(self, name: str, settings: OpenMetadataSettings, _: Path) -> None:
        super().__init__(name, settings)
        self._client = TargetClient(settings, self.repeated)
        self._catalog = OpenMetadataCatalog(self._client)
        self._names = DatasetNames(settings.services)
        self._known: dict[EntityName, FoundDataset | None] = {}
        self._owners: dict[tuple[str, str], str] = {}
        self._missing: set[tuple[str, str]] = set()
        self._has_service, self._creating = False, threading.Lock()

    def _pipeline(self, key: ObjectKey) -> str:
        return join_name((self.settings.service, pipeline_name(key.namespace, key.name)))

    # what there should be

    def express(self, event: Json) -> Expressed:
        """Convert an event to a completed run. Raises InexpressibleError."""
        made, lost = in_form(event, "runs").event, Counter[str]()
        for side in ("inputs", "outputs"):
            made[side] = [with_held(dataset, _OF_DATASETS, lost, NOT_HELD) for dataset in made.get(side, ())]
        made["job"] = with_held(made["job"], _OF_JOBS, lost, NOT_HELD)
        del lost["transformations of columns"]  # they are written as the function of a column
        if not made["inputs"] and not made["outputs"]:
            raise InexpressibleError("jobs that neither read nor write")
        return Expressed(made, +lost)

    def references(self, event: Json) -> Iterable[NeededDataset]:
        """The entities that the datasets of a job may be."""
        for side in ("inputs", "outputs"):
            for dataset in event[side]:
                yield from (NeededDataset(name, side == "outputs") for name in self._names.candidates(dataset))

    def look_up(self, references: Sequence[NeededDataset]) -> None:
        """Ask which of these entities are there, and keep the answers."""
        for needed in references:
            if needed.name not in self._known:
                self._known[needed.name] = self._catalog.find(needed.name)
            known = self._known[needed.name]
            if known and needed.is_output:
                edges = self._catalog.upstream(known.entity)
                self._known[needed.name] = None if edges is None else known
                self._owners.update({(source.id, known.entity.id): owner_of(details) for source, details in edges or ()})

    def resolve(self, event: Json) -> Expressed:
        """Replace the datasets of a job by its edges between those that are there. Raises InexpressibleError."""
        lost = Counter[str]()
        inputs = {(dataset["namespace"], dataset["name"]): self._found(dataset, lost) for dataset in event["inputs"]}
        outputs = [(dataset, self._found(dataset, lost)) for dataset in event["outputs"]]
        read = {name: known for name, known in inputs.items() if known}
        written = [(dataset, known) for dataset, known in outputs if known]
        if not read and not written:
            raise InexpressibleError("jobs none of whose datasets OpenMetadata has")
        columns = [found for dataset, known in written for found in columns_of(dataset, known, read, lost)]
        edges = self._edges(event, list(read.values()), [known for _, known in written], columns, lost)
        return Expressed({"job": event["job"], "edges": edges}, +lost)

    def _edges(
        self, event: Json, read: Sequence[FoundDataset], written: Sequence[FoundDataset], columns: Sequence[ColumnPair], lost: Counter[str]
    ) -> list[Json]:
        inputs, outputs = ({known.entity.id: known for known in side}.values() for side in (read, written))
        found = job_edges(list(inputs), list(outputs), columns, self._pipeline(key_of(event)), self._owners, lost)
        return [edge.as_json for edge in found]

    def _found(self, dataset: Json, lost: Counter[str]) -> FoundDataset | None:
        """The entity that a dataset is. Each dataset that is not there is counted once."""
        candidates = self._names.candidates(dataset)
        known = next((known for name in candidates if (known := self._known.get(name))), None)
        named = (dataset["namespace"], dataset["name"])
        if known is None and named not in self._missing:
            self._missing.add(named)
            lost[NOT_THERE if candidates else self._names.reason(dataset)] += 1
        return known

    def visible(self, event: Json) -> str:
        """The digest of a job's edges, which can be read back."""
        return digest_of_edges(edges_in(event))

    # what there is

    def read(self, keys: Iterable[ObjectKey]) -> Mapping[ObjectKey, str]:
        """The jobs that have a pipeline in OpenMetadata, each with the digest of its edges."""
        found = {key: self._catalog.pipeline(self._pipeline(key)) for key in keys}
        return {key: digest_of_lineage(lineage) for key, lineage in found.items() if lineage}

    def write(self, operations: Sequence[Operation]) -> list[Outcome]:
        """Write or delete each job's pipeline and edges."""
        return [self._delete(operation.key) if operation.action == DELETE else self._publish(operation) for operation in operations]

    def _publish(self, operation: Operation) -> Outcome:
        self._create_service()
        event = msgspec.json.decode(operation.body)
        answer = self._catalog.put_pipeline(self._request(operation.key, event))
        if not answer.is_success:
            return _outcome(answer)
        pipeline = created(answer)
        lineage = None if operation.action == CREATE and answer.status == 201 else self._catalog.pipeline(pipeline.name)
        goal = {(edge.source or pipeline, edge.target or pipeline): self._details(edge.columns, event) for edge in edges_in(event)}
        there = self._edges_there(pipeline, lineage, [target for source, target in goal if pipeline not in (source, target)])
        outcomes = (self._put(pipeline, ends, details, there.get(ends)) for ends, details in sorted(goal.items()))
        if failed := next((outcome for outcome in outcomes if not outcome.done), None):
            return failed
        return self._remove(ends for ends in sorted(there.keys() - goal.keys()) if _is_of(pipeline, ends, there[ends]))

    def _request(self, key: ObjectKey, event: Json) -> Json:
        described = event["job"].get("facets", {}).get("documentation", {}).get("description")
        text = [described] if isinstance(described, str) and described else []
        return {
            "name": pipeline_name(key.namespace, key.name),
            "displayName": key.name,
            "service": join_name((self.settings.service,)),
            "description": "\n\n".join([*text, f"A job in the namespace `{key.namespace}`, published by LineageBridge."]),
        }

    def _details(self, columns: Sequence[Json], event: Json) -> Json:
        query = event["job"].get("facets", {}).get("sql", {}).get("query")
        sql = {"sqlQuery": query} if isinstance(query, str) and query else {}
        return {"source": SOURCE, **sql, **({"columnsLineage": list(columns)} if columns else {})}

    def _edges_there(
        self, pipeline: CatalogEntity, lineage: PipelineLineage | None, targets: Iterable[CatalogEntity]
    ) -> dict[tuple[CatalogEntity, CatalogEntity], Json]:
        """The edges that lead to the given datasets or are the job's, each with its details."""
        upstream, downstream = (lineage.upstream, lineage.downstream) if lineage else ([], [])
        found = {(entity, pipeline): details for entity, details in upstream if not details.get("pipeline")}
        found |= {(pipeline, entity): details for entity, details in downstream if not details.get("pipeline")}
        for target in sorted({*targets, *(entity for entity, details in downstream if details.get("pipeline"))}):
            edges = self._catalog.upstream(target)
            if edges is None:
                begins = sorted({entity for entity, details in upstream if details.get("pipeline")})
                edges = [(entity, details) for entity in begins if (details := self._catalog.edge(entity, target)) is not None]
            found |= {(source, target): details for source, details in edges}
        return found

    def _put(self, pipeline: CatalogEntity, ends: tuple[CatalogEntity, CatalogEntity], goal: Json, there: Json | None) -> Outcome:
        """Write an edge, unless it is as it should be. An edge that somebody else has made meanwhile is left to the next publication."""
        if pipeline not in ends:
            goal = {**goal, "pipeline": pipeline.reference}
        if there is not None and not _is_of(pipeline, ends, there):
            return Outcome(False, f"somebody has made the edge from {ends[0].name} to {ends[1].name} meanwhile", later=True)
        kept = {name: there[name] for name in _KEPT if there and there.get(name)}
        if there is not None and _comparable(there) == _comparable(goal):
            return DONE
        return _outcome(self._catalog.put_edge(*ends, {**kept, **goal}))

    def _remove(self, edges: Iterable[tuple[CatalogEntity, CatalogEntity]]) -> Outcome:
        for ends in edges:
            answer = self._catalog.delete_edge(*ends)
            if not answer.is_success and not is_missing(answer):
                return _outcome(answer)
        return DONE

    def _delete(self, key: ObjectKey) -> Outcome:
        lineage = self._catalog.pipeline(self._pipeline(key))
        if lineage is None:
            return DONE
        there = self._edges_there(lineage.entity, lineage, ())
        outcome = self._remove(ends for ends in sorted(there) if _is_of(lineage.entity, ends, there[ends]))
        if not outcome.done:
            return outcome
        answer = self._catalog.delete_pipeline(lineage.entity)
        return DONE if is_missing(answer) else _outcome(answer)

    def _create_service(self) -> None:
        """Create the pipeline service of all jobs, unless it is there. Raises SourceError."""
        with self._creating:
            if self._has_service:
                return
            there = self._catalog.service_type(self.settings.service)
            if there is None:
                self._catalog.create_service(self.settings.service, _SERVICE_TYPE, _SERVICE_TEXT)
            elif there != _SERVICE_TYPE:
                raise SourceError(
                    f"the pipeline service {self.settings.service} is of the type {there}, and not {_SERVICE_TYPE}",
                    "set `service` to a name that no other pipeline service has",
                )
            self._has_service = True

    def test(self) -> list[SourceCheck]:
        """Check whether the server answers and accepts the token, and whether the pipeline service can be used."""
        checks = check_connection(self._client)
        if all(check.works for check in checks):
            there = self._catalog.service_type(self.settings.service)
            text = "will be created" if there is None else f"is there, of the type {there}"
            hint = "" if there in (None, _SERVICE_TYPE) else "set `service` to a name that no other pipeline service has"
            checks.append(SourceCheck("service", not hint, f"the pipeline service {self.settings.service} {text}", hint))
        return checks

    def close(self) -> None:
        """Close connections."""
        self._client.close()


def _outcome(answer: HttpAnswer) -> Outcome:
    """The outcome of a change. What meets another change at the same time (409) can be tried again."""
    outcome = outcome_of(answer)
    return outcome._replace(later=True) if answer.status == HTTPStatus.CONFLICT else outcome


def _is_of(pipeline: CatalogEntity, ends: tuple[CatalogEntity, CatalogEntity], details: Json) -> bool:
    """Whether an edge is that of a pipeline: the pipeline is at one of its ends, or is named in its details."""
    return pipeline in ends or (details.get("pipeline") or {}).get("id") == pipeline.id


def _comparable(details: Json) -> list[object]:
    columns = [
        [found.get("toColumn"), sorted(found.get("fromColumns") or ()), found.get("function")]
        for found in details.get("columnsLineage") or ()
    ]
    return [details.get("source"), details.get("sqlQuery"), (details.get("pipeline") or {}).get("id"), sorted(columns, key=str)]
