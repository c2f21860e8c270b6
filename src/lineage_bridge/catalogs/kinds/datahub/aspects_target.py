"""The target DataHub: writes each job as a DataJob with its inputs, outputs and columns, as proposals to the metadata service.

Calls and aspects are those of acryl-datahub 1.7. LineageBridge writes DataJobs of its own orchestrator only. Of datasets it writes the key
aspect only, which repeats the URN.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote

import msgspec

from lineage_bridge.catalogs.events import column_fields, in_form, key_of, with_held
from lineage_bridge.catalogs.http import TargetClient, outcome_of
from lineage_bridge.catalogs.kinds.datahub.entities import (
    LONG_DATASETS,
    LONG_JOBS,
    NOT_HELD,
    SIDES,
    check_connection,
    flow_urn,
    is_too_long,
    job_urn,
)
from lineage_bridge.catalogs.kinds.datahub.settings import DataHubSettings
from lineage_bridge.catalogs.target import (
    DELETE,
    DONE,
    Expressed,
    InexpressibleError,
    Json,
    ObjectKey,
    Operation,
    Outcome,
    Target,
)
from lineage_bridge.errors import ForbiddenError, SourceError
from lineage_bridge.model.sources import SourceCheck
from lineage_bridge.openlineage.event_builder import digest_of, encode
from lineage_bridge.openlineage.facets.publication import PUBLICATION
from lineage_bridge.sources.common.datahub.urns import DataHubNames

_HEADERS: Final = {"X-RestLi-Protocol-Version": "2.0.0"}
_MOST: Final = 200
"""The number of proposals in a request, as in DataHub's own clients."""
_HELD: Final = frozenset(("sql", "documentation", "jobType", PUBLICATION, "columnLineage"))


class DataHubAspectsTarget(Target[DataHubSettings]):
    """Publishes to DataHub: writes aspects, reads inputs and outputs of jobs back, and deletes jobs."""

    catalog = "datahub"
    deletes = True
    reads = True
    batch = 10
    read_batch = 20
    paces_itself = True

    def __init__(self, name: str, settings: DataHubSettings, _: Path) -> None:
        super().__init__(name, settings)
        self._client = TargetClient(settings, self.repeated, _HEADERS)
        self._names = DataHubNames(settings.env, settings.platforms, settings.platform_instances)

    def express(self, event: Json) -> Expressed:
        """Convert an event to a completed run. Raises InexpressibleError."""
        made = in_form(event, "runs").event
        if is_too_long(self._job(key_of(made))):
            raise InexpressibleError(LONG_JOBS)
        lost = Counter[str]()
        for side in ("inputs", "outputs"):
            datasets = [dataset for dataset in made.get(side, ()) if not is_too_long(self._dataset(dataset))]
            lost[LONG_DATASETS] += len(made.get(side, ())) - len(datasets)
            made[side] = [with_held(dataset, _HELD, lost, NOT_HELD) for dataset in datasets]
        made["job"] = with_held(made["job"], _HELD, lost, NOT_HELD)
        return Expressed(made, +lost)

    def visible(self, event: Json) -> str:
        """The digest of a job's inputs, outputs and columns, which can be read back."""
        return _digest(self._input_output(event))

    def read(self, keys: Iterable[ObjectKey]) -> Mapping[ObjectKey, str]:
        """The jobs that DataHub has with inputs or outputs, each with the digest of these."""
        found = {}
        for key in keys:
            path = f"/aspects/{quote(self._job(key), safe='')}?aspect=dataJobInputOutput&version=0"
            answer = self._client.call("GET", path)
            if answer.status == 404:
                continue
            if not answer.is_success:
                raise SourceError(f"GET /aspects answered {answer.status}: {answer.message}", "check that the address is that of DataHub")
            found[key] = _digest(_only_value(answer.json()))
        return found

    def write(self, operations: Sequence[Operation]) -> list[Outcome]:
        """Delete jobs, and write the aspects of others in few requests."""
        outcomes = {operation.key: self._delete(operation.key) for operation in operations if operation.action == DELETE}
        written = [operation for operation in operations if operation.action != DELETE]
        outcomes |= self._write(written) if written else {}
        return [outcomes[operation.key] for operation in operations]

    def _delete(self, key: ObjectKey) -> Outcome:
        answer = self._client.call("POST", "/entities?action=delete", encode({"urn": self._job(key)}))
        return DONE if answer.status == 404 else outcome_of(answer)

    def _write(self, operations: Sequence[Operation]) -> dict[ObjectKey, Outcome]:
        proposals = [list(self._proposals(operation.key, msgspec.json.decode(operation.body))) for operation in operations]
        outcome = self._propose([proposal for of_one in proposals for proposal in of_one])
        if outcome.done or len(operations) == 1:
            return {operation.key: outcome for operation in operations}
        return {operation.key: self._propose(of_one) for operation, of_one in zip(operations, proposals, strict=True)}

    def _propose(self, proposals: Sequence[Json]) -> Outcome:
        for at in range(0, len(proposals), _MOST):
            body = encode({"proposals": list(proposals[at : at + _MOST]), "async": "false"})
            outcome = outcome_of(self._client.call("POST", "/aspects?action=ingestProposalBatch", body))
            if not outcome.done:
                return outcome
        return DONE

    def test(self) -> list[SourceCheck]:
        """Check whether the metadata service answers and accepts the token."""
        try:
            checks = [check_connection(self._client)]
            if checks[0].works:
                self.read([ObjectKey("job", "lineagebridge", "no-such-job")])
                checks.append(SourceCheck("authenticate", works=True, message="aspects can be read"))
        except ForbiddenError as error:
            return [SourceCheck("connect", True, "the server answers"), SourceCheck("authenticate", False, str(error), error.hint)]
        return checks

    def close(self) -> None:
        """Close connections."""
        self._client.close()

    # names

    def _flow(self, namespace: str) -> str:
        return flow_urn(self.settings.orchestrator, namespace, self.settings.env)

    def _job(self, key: ObjectKey) -> str:
        return job_urn(self._flow(key.namespace), key.name)

    def _dataset(self, dataset: Json) -> str:
        return self._names.urn(dataset["namespace"], dataset["name"])

    def _dataset_key(self, dataset: Json) -> Json:
        return self._names.key(dataset["namespace"], dataset["name"])

    # aspects

    def _proposals(self, key: ObjectKey, event: Json) -> Iterator[Json]:
        """The proposals that write a job, after those for the entities that it refers to."""
        for urn, dataset in sorted({self._dataset(found): found for side in SIDES for found in event.get(side, ())}.items()):
            yield _proposal("dataset", urn, "datasetKey", self._dataset_key(dataset))
        yield _proposal("dataFlow", self._flow(key.namespace), "dataFlowInfo", {"name": key.namespace, "customProperties": {}})
        yield _proposal("dataJob", self._job(key), "dataJobInfo", self._info(key, event))
        yield _proposal("dataJob", self._job(key), "dataJobInputOutput", self._input_output(event))

    def _info(self, key: ObjectKey, event: Json) -> Json:
        facets = event["job"].get("facets", {})
        job_type = facets.get("jobType", {})
        properties = {name: job_type[name] for name in ("processingType", "integration", "jobType") if isinstance(job_type.get(name), str)}
        properties |= {"sql": facets["sql"]["query"]} if isinstance(facets.get("sql", {}).get("query"), str) else {}
        properties["lineagebridge_publication"] = ",".join(facets.get(PUBLICATION, {}).get("installations", ()))
        described = facets.get("documentation", {}).get("description")
        info: Json = {"name": key.name, "type": {"string": str(job_type.get("jobType") or "JOB")}, "customProperties": properties}
        return {**info, "flowUrn": self._flow(key.namespace), **({"description": described} if isinstance(described, str) else {})}

    def _input_output(self, event: Json) -> Json:
        sides = {side: sorted({self._dataset(dataset) for dataset in event.get(side, ())}) for side in SIDES}
        columns = [self._column(dataset, *stated) for dataset in event.get("outputs", ()) for stated in column_fields(dataset)]
        return {"inputDatasets": sides["inputs"], "outputDatasets": sides["outputs"], "fineGrainedLineages": columns}

    def _column(self, dataset: Json, column: str, inputs: Sequence[Json]) -> Json:
        upstreams = sorted({self._field(source, source["field"]) for source in inputs})
        downstreams = [self._field(dataset, column)]
        return {
            "upstreamType": "FIELD_SET",
            "upstreams": upstreams,
            "downstreamType": "FIELD",
            "downstreams": downstreams,
            "confidenceScore": 1.0,
        }

    def _field(self, dataset: Json, column: str) -> str:
        return self._names.field_urn(dataset["namespace"], dataset["name"], column)


def _proposal(entity: str, urn: str, aspect: str, value: Json) -> Json:
    content = {"contentType": "application/json", "value": encode(value).decode()}
    return {"entityType": entity, "entityUrn": urn, "changeType": "UPSERT", "aspectName": aspect, "aspect": content}


def _only_value(answer: Any) -> Json:  # noqa: ANN401  # JSON
    """The aspect in an answer; it is a member that is named by the type of the aspect."""
    values = list((answer.get("aspect") or {}).values()) if isinstance(answer, dict) else []
    if len(values) != 1 or not isinstance(values[0], dict):
        raise SourceError("GET /aspects answered something other than an aspect", "check that the address is that of DataHub")
    found: Json = values[0]
    return found


def _digest(aspect: Json) -> str:
    columns = sorted(
        [sorted(found.get("upstreams") or ()), sorted(found.get("downstreams") or ())] for found in aspect.get("fineGrainedLineages") or ()
    )
    return digest_of([sorted(aspect.get("inputDatasets") or ()), sorted(aspect.get("outputDatasets") or ()), columns])
