"""The target DataHub by its OpenLineage endpoint: sends a completed run for each state of a job.

What DataHub makes of an event is in its source (`OpenLineageToDataHub`): a DataJob with inputs, outputs and columns. It determines the
orchestrator by the run's facet `processing_engine`, keeps what the facet `spark_properties` lists as properties of the job, takes a
namespace without `://` for the platform of a dataset, and would replace a dataset's columns by those of its `schema`.
"""

from collections import Counter
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Final

import msgspec

from lineage_bridge.catalogs.events import PRODUCER, column_fields, digest, in_form, with_held
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
from lineage_bridge.catalogs.target import Expressed, InexpressibleError, Json, Operation, Outcome, Target
from lineage_bridge.errors import ForbiddenError
from lineage_bridge.model.sources import SourceCheck
from lineage_bridge.openlineage.event_builder import SPECIFICATION, EventBuilder, encode
from lineage_bridge.openlineage.facets.publication import PUBLICATION
from lineage_bridge.sources.common.datahub.urns import DataHubNames, encoded

_ENDPOINT: Final = "/openapi/openlineage/api/v1/lineage"
_OF_JOBS: Final = frozenset(("documentation", "sql", PUBLICATION))
_OF_DATASETS: Final = frozenset(("columnLineage",))
_EVENTS: Final = EventBuilder(PRODUCER)


class DataHubEventsTarget(Target[DataHubSettings]):
    """Sends events to DataHub. They cannot be deleted or read back by the endpoint that takes them."""

    catalog = "datahub"
    paces_itself = True

    def __init__(self, name: str, settings: DataHubSettings, _: Path) -> None:
        super().__init__(name, settings)
        self._client = TargetClient(settings, self.repeated)
        self._names = DataHubNames(settings.env, settings.platforms, settings.platform_instances)

    def express(self, event: Json) -> Expressed:
        """Convert an event to a completed run whose datasets have DataHub's platforms and names. Raises InexpressibleError."""
        made, lost = in_form(event, "runs").event, Counter[str]()
        job = made["job"]
        if job["name"].startswith("."):
            raise InexpressibleError("jobs whose names begin with a dot")
        if is_too_long(job_urn(flow_urn(self.settings.orchestrator, job["name"].partition(".")[0], job["namespace"]), job["name"])):
            raise InexpressibleError(LONG_JOBS)
        for side in SIDES:
            datasets = [found for found in made.get(side, ()) if not is_too_long(self._names.urn(found["namespace"], found["name"]))]
            lost[LONG_DATASETS] += len(made.get(side, ())) - len(datasets)
            made[side] = [self._dataset(found, lost) for found in datasets]
        has_columns = any(True for found in made["outputs"] for _ in column_fields(found))
        made["job"] = with_held(job, _OF_JOBS if has_columns else _OF_JOBS - {"sql"}, lost, NOT_HELD)  # it keeps SQL with columns
        del lost["transformations of columns"]  # it keeps them as text
        return Expressed({**made, "run": {"facets": self._run_facets(made["job"])}}, +lost)

    def _dataset(self, dataset: Json, lost: Counter[str]) -> Json:
        """A dataset under DataHub's platform and name, with the facets that DataHub makes lineage of."""
        made = {**with_held(dataset, _OF_DATASETS, lost, NOT_HELD), **self._named(dataset)}
        columns = {
            encoded(column): {"inputFields": [{**source, **self._named(source), "field": encoded(source["field"])} for source in sources]}
            for column, sources in column_fields(made)
        }
        facets = {"columnLineage": {**made["facets"]["columnLineage"], "fields": columns}} if columns else {}
        return {**made, "facets": facets}

    def _named(self, dataset: Json) -> Json:
        key = self._names.key(dataset["namespace"], dataset["name"])
        return {"namespace": key["platform"].removeprefix("urn:li:dataPlatform:"), "name": encoded(key["name"])}

    def _run_facets(self, job: Json) -> Json:
        """The facets of the run that say which orchestrator the job has, and by whom it was published."""
        published = ",".join(job["facets"].get(PUBLICATION, {}).get("installations", ()))
        properties = {"_producer": PRODUCER, "_schemaURL": f"{SPECIFICATION}RunFacet", "properties": {PUBLICATION: published}}
        engine = _EVENTS.processing_engine(self.settings.orchestrator, version("lineage-bridge"))
        return {"processing_engine": engine, "spark_properties": properties}

    def visible(self, event: Json) -> str:
        """The digest of the whole event, because nothing can be read back."""
        return digest(event)

    def write(self, operations: Sequence[Operation]) -> list[Outcome]:
        """Send each event in a request of its own."""
        return [self._send(operation) for operation in operations]

    def _send(self, operation: Operation) -> Outcome:
        event = msgspec.json.decode(operation.body)
        job = event["job"]
        event["job"] = {**job, "namespace": encoded(job["namespace"]), "name": encoded(job["name"])}
        return outcome_of(self._client.call("POST", _ENDPOINT, encode(event)))

    def test(self) -> list[SourceCheck]:
        """Check whether the metadata service answers and has the endpoint. Whether it accepts events only shows when one is sent."""
        try:
            checks = [check_connection(self._client)]
            if checks[0].works:
                answer = self._client.call("GET", _ENDPOINT)
                is_there = answer.status != 404
                text = "is there; whether it takes events shows when one is sent" if is_there else "is not there: it answers 404"
                checks.append(SourceCheck("endpoint", is_there, f"{_ENDPOINT} {text}", "" if is_there else "use a newer DataHub"))
        except ForbiddenError as error:
            return [SourceCheck("connect", True, "the server answers"), SourceCheck("authenticate", False, str(error), error.hint)]
        return checks

    def close(self) -> None:
        """Close connections."""
        self._client.close()
