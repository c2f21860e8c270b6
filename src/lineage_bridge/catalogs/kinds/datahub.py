"""The target DataHub: writes each job as a DataJob with its inputs, outputs and columns, as proposals to the metadata service.

Calls and aspects are those of acryl-datahub 1.7. LineageBridge writes DataJobs of its own orchestrator only. Of datasets it writes the key
aspect only, which repeats the URN.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Final
from urllib.parse import quote, quote_plus

import msgspec
from pydantic import AfterValidator, Field

from lineage_bridge.catalogs.events import column_fields, in_form, with_held
from lineage_bridge.catalogs.http import TargetClient, outcome_of
from lineage_bridge.catalogs.settings import HttpTargetSettings, Renames
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
    TargetKind,
)
from lineage_bridge.errors import ForbiddenError, SourceError
from lineage_bridge.model.sources import SourceCheck
from lineage_bridge.openlineage.event_builder import digest_of, encode
from lineage_bridge.openlineage.facets.publication import PUBLICATION
from lineage_bridge.sources.common.datahub.urns import DataHubNames, Environment, encoded

_HEADERS: Final = {"X-RestLi-Protocol-Version": "2.0.0"}
_LONGEST_URN: Final = 512
"""The maximum size, in bytes, of the URN of a job or dataset, URL-encoded."""
_MOST: Final = 200
"""The number of proposals in a request, as in DataHub's own clients."""
_NOT_HELD: Final = "facets that are not sent to DataHub"
_HELD: Final = frozenset(("sql", "documentation", "jobType", PUBLICATION, "columnLineage"))


def _part(text: str) -> str:
    if not text or encoded(text) != text or not text.isprintable() or " " in text:
        raise ValueError("use a name without spaces, commas and parentheses")
    return text


class DataHubSettings(HttpTargetSettings):
    """Settings of a target: the address of DataHub's metadata service, and the names that entities get there."""

    orchestrator: Annotated[str, AfterValidator(_part)] = Field(
        default="openlineage", max_length=50, description="orchestrator of jobs there; nobody else may write jobs of this orchestrator"
    )
    env: Environment = Field(default="PROD", description="environment of jobs and datasets there")
    platforms: Renames = Field(default={}, description="platforms of datasets by namespace, instead of the scheme of the namespace")
    platform_instances: Renames = Field(
        default={}, description="platform instances of datasets by namespace; they precede the datasets' names"
    )

    @property
    def destination(self) -> str:
        """The text that identifies the target: the address, and the parts that all URNs have in common."""
        return f"{self.url} {self.orchestrator} {self.env}"


class DataHubTarget(Target[DataHubSettings]):
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
        if _is_too_long(self._job(key_of_job(made))):
            raise InexpressibleError("jobs whose URN would be too long")
        lost = Counter[str]()
        for side in ("inputs", "outputs"):
            datasets = [dataset for dataset in made.get(side, ()) if not _is_too_long(self._dataset(dataset))]
            lost["datasets whose URN would be too long"] += len(made.get(side, ())) - len(datasets)
            made[side] = [with_held(dataset, _HELD, lost, _NOT_HELD) for dataset in datasets]
        made["job"] = with_held(made["job"], _HELD, lost, _NOT_HELD)
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
            answer = self._client.call("GET", "/config")
            is_it = answer.is_success and b'"noCode"' in answer.body
            text = "DataHub answers" if is_it else f"the server answers {answer.status}, and not as DataHub's metadata service does"
            hint = "" if is_it else "use the address of the metadata service, or that of the web page with /api/gms"
            checks = [SourceCheck("connect", is_it, text, hint)]
            if is_it:
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
        return f"urn:li:dataFlow:({self.settings.orchestrator},{encoded(namespace)},{self.settings.env})"

    def _job(self, key: ObjectKey) -> str:
        return f"urn:li:dataJob:({self._flow(key.namespace)},{encoded(key.name)})"

    def _dataset(self, dataset: Json) -> str:
        return self._names.urn(dataset["namespace"], dataset["name"])

    def _dataset_key(self, dataset: Json) -> Json:
        return self._names.key(dataset["namespace"], dataset["name"])

    # aspects

    def _proposals(self, key: ObjectKey, event: Json) -> Iterator[Json]:
        """The proposals that write a job, after those for the entities that it refers to."""
        for urn, dataset in sorted({self._dataset(found): found for side in _SIDES for found in event.get(side, ())}.items()):
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
        sides = {side: sorted({self._dataset(dataset) for dataset in event.get(side, ())}) for side in _SIDES}
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


_SIDES: Final = ("inputs", "outputs")


def key_of_job(event: Json) -> ObjectKey:
    """The key of the job that an event describes."""
    return ObjectKey("job", event["job"]["namespace"], event["job"]["name"])


def _is_too_long(urn: str) -> bool:
    return len(quote_plus(urn, safe="*", errors="replace").replace("~", "%7E")) > _LONGEST_URN


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


KIND = TargetKind(DataHubSettings, DataHubTarget, "DataHub, by its metadata service")
