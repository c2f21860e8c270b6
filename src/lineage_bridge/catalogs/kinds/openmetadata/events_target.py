"""The target OpenMetadata: sends completed runs to the OpenLineage endpoint of its server, many in each request.

Events contain only members that OpenMetadata's published schemas (`api/lineage/openlineage`) have: it stores no others, and may refuse
them.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from lineage_bridge.catalogs.events import digest, in_form
from lineage_bridge.catalogs.http import HttpAnswer, TargetClient
from lineage_bridge.catalogs.kinds.openmetadata.catalog import NOT_HELD, check_connection
from lineage_bridge.catalogs.kinds.openmetadata.settings import OpenMetadataSettings
from lineage_bridge.catalogs.settings import MIB
from lineage_bridge.catalogs.target import DONE, Expressed, InexpressibleError, Json, Operation, Outcome, Target
from lineage_bridge.errors import SourceError
from lineage_bridge.model.sources import SourceCheck
from lineage_bridge.openlineage.facets.publication import PUBLICATION

BATCH: Final = "/api/v1/openlineage/lineage/batch"
_MOST_BYTES: Final = 8 * MIB
"""The maximum size of a request, unless one event alone is larger."""
_INVALID: Final = frozenset((400, 413, 422))
_BASE: Final = ("_producer", "_schemaURL")
_JOB: Final[Mapping[str, tuple[str, ...]]] = {"sql": ("query",), "ownership": ("owners",)}
_DATASET: Final[Mapping[str, tuple[str, ...]]] = {
    "schema": ("fields",),
    "symlinks": ("identifiers",),
    "documentation": ("description",),
    "ownership": ("owners",),
    "columnLineage": ("fields",),
}
"""The facets that OpenMetadata stores, with their members."""


class OpenMetadataEventsTarget(Target[OpenMetadataSettings]):
    """Publishes to OpenMetadata: each job with inputs and outputs. The endpoint cannot delete, and does not report which entities it
    found.
    """

    catalog = "openmetadata"
    batch = 50
    paces_itself = True

    def __init__(self, name: str, settings: OpenMetadataSettings, _: Path) -> None:
        super().__init__(name, settings)
        self._client = TargetClient(settings, self.repeated)

    def express(self, event: Json) -> Expressed:
        """Convert an event to a completed run with the members that OpenMetadata stores. Raises InexpressibleError."""
        lost = Counter[str]()
        made = in_form(event, "runs").event
        if not made.get("inputs") or not made.get("outputs"):
            raise InexpressibleError("jobs without inputs or without outputs")
        made["job"] = _reduced(made["job"], _JOB, lost, (PUBLICATION,))
        for side in ("inputs", "outputs"):
            made[side] = [_reduced(dataset, _DATASET, lost) for dataset in made[side]]
        return Expressed(made, +lost)

    def visible(self, event: Json) -> str:
        """The digest of the whole event, because nothing can be read back."""
        return digest(event)

    def write(self, operations: Sequence[Operation]) -> list[Outcome]:
        """Send events in as few requests as their size allows."""
        return [outcome for portion in _portions(operations) for outcome in self._send(portion)]

    def _send(self, operations: Sequence[Operation]) -> list[Outcome]:
        body = b'{"events":[' + b",".join(operation.body for operation in operations) + b"]}"
        answer = self._client.call("POST", BATCH, body)
        if answer.status in _INVALID and len(operations) > 1:  # one event makes the whole request fail: find it
            return [outcome for operation in operations for outcome in self._send([operation])]
        return _outcomes(answer, len(operations))

    def test(self) -> list[SourceCheck]:
        """Check whether the server answers, and accepts the token."""
        return check_connection(self._client)

    def close(self) -> None:
        """Close connections."""
        self._client.close()


# what OpenMetadata stores


def _reduced(subject: Json, held: Mapping[str, tuple[str, ...]], lost: Counter[str], kept: Iterable[str] = ()) -> Json:
    facets = {}
    for name, facet in subject.get("facets", {}).items():
        if name in kept:
            facets[name] = facet
        elif name in held and isinstance(facet, dict) and all(facet.get(member) for member in held[name]):
            facets[name] = _facet(name, {member: facet[member] for member in (*_BASE, *held[name]) if member in facet}, lost)
            lost["columns that a dataset depends on as a whole"] += len(facet.get("dataset") or ()) if name == "columnLineage" else 0
        else:
            lost[NOT_HELD] += 1
    return {"namespace": subject["namespace"], "name": subject["name"], "facets": facets}


def _facet(name: str, facet: Json, lost: Counter[str]) -> Json:
    if name == "schema":
        return {**facet, "fields": [_field(field) for field in facet["fields"] if isinstance(field, dict) and field.get("name")]}
    if name == "symlinks":
        identifiers = [{**_members(item, "namespace", "name"), "type": item.get("type") or "TABLE"} for item in facet["identifiers"]]
        return {**facet, "identifiers": identifiers}
    if name == "ownership":
        return {**facet, "owners": [_members(owner, "name", "type") for owner in facet["owners"] if owner.get("name")]}
    if name == "columnLineage":
        return {**facet, "fields": {column: _column(stated, lost) for column, stated in facet["fields"].items()}}
    return facet


def _field(field: Json) -> Json:
    """A column in a schema facet. The columns of a record are written into its type, because the endpoint does not accept them as
    children, as in OpenMetadata's own tables.
    """
    return {**_members(field, "name", "description"), "type": str(field.get("type") or "unknown")}


def _column(stated: Json, lost: Counter[str]) -> Json:
    inputs = stated.get("inputFields", ())
    lost["transformations of columns"] += sum(len(source.get("transformations") or ()) for source in inputs)
    found: Json = {"inputFields": [_members(source, "namespace", "name", "field") for source in inputs]}
    return {**found, **_members(stated, "transformationDescription", "transformationType")}


def _members(value: Json, *names: str) -> Json:
    return {name: value[name] for name in names if isinstance(value.get(name), str)}


# requests and answers


def _portions(operations: Sequence[Operation]) -> Iterator[list[Operation]]:
    portion: list[Operation] = []
    size = 0
    for operation in operations:
        if portion and size + len(operation.body) > _MOST_BYTES:
            yield portion
            portion, size = [], 0
        portion.append(operation)
        size += len(operation.body)
    if portion:
        yield portion


def _outcomes(answer: HttpAnswer, count: int) -> list[Outcome]:
    """The outcome of each event in a request. Raises SourceError for an unexpected answer."""
    if not answer.is_success:
        text = f"answered {answer.status}" + (f": {answer.message}" if answer.message else "")
        if answer.status in _INVALID:
            return [Outcome(False, text)]
        raise SourceError(f"POST {BATCH} {text}", "check that the server is OpenMetadata 1.12 or newer")
    found: Any = answer.json()
    if not isinstance(found, dict) or found.get("status") not in ("success", "partial_success", "failure"):
        raise SourceError(f"POST {BATCH} answered something other than a result", "check that the address is that of OpenMetadata's server")
    summary = found.get("summary") or {}
    if summary.get("skipped") and not summary.get("successful"):
        raise SourceError(
            "OpenMetadata skips events of the type COMPLETE", "add COMPLETE to eventTypeFilter in its settings of OpenLineage"
        )
    outcomes = [DONE] * count
    for failed in found.get("failedEvents") or ():
        index = failed.get("index")
        if isinstance(index, int) and 0 <= index < count:
            outcomes[index] = Outcome(False, str(failed.get("reason", ""))[:300], later=bool(failed.get("retriable")))
    if found["status"] == "failure" and DONE in outcomes:
        return [outcome if not outcome.done else Outcome(False, answer.message or "status failure") for outcome in outcomes]
    return outcomes
