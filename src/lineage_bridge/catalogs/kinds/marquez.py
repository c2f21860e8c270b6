"""The target Marquez: sends events to its OpenLineage endpoint, and reads back and deletes by its REST API.

The rules by which events are refused and edges derived are those of Marquez 0.51.1; `docs/catalogs.md` lists the tested versions.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote

import msgspec

from lineage_bridge.catalogs.events import PRODUCER, in_form, is_streaming
from lineage_bridge.catalogs.http import HttpAnswer, TargetClient, outcome_of
from lineage_bridge.catalogs.settings import HttpTargetSettings
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
from lineage_bridge.openlineage.event_builder import SPECIFICATION, digest_of, encode

LINEAGE: Final = "/api/v1/lineage"
_NAMESPACE: Final = re.compile(r"[a-zA-Z:;=/0-9_\-.@+]{1,1024}")
_URI: Final = re.compile(r"[A-Za-z0-9\-._~:/?#@!$&'()*+,;=%]+")
_NAME: Final = 255
"""The maximum lengths, from Marquez' tables, of the name of a facet or field, and of an address of code."""
_REQUIRED: Final[Mapping[str, tuple[str, ...]]] = {
    "documentation": ("description",),
    "sql": ("query",),
    "jobType": ("processingType", "integration"),
    "sourceCodeLocation": (),
    "schema": (),
    "dataSource": (),
    "symlinks": (),
    "lifecycleStateChange": (),
    "columnLineage": (),
}
"""The facets that Marquez checks, with the members without which it refuses the event."""


class MarquezSettings(HttpTargetSettings):
    """Settings of a target: the address of Marquez."""

    @property
    def destination(self) -> str:
        """The text that identifies the target: the address."""
        return self.url


class MarquezTarget(Target[MarquezSettings]):
    """Publishes to Marquez: each job as a completed run, datasets without a job as DatasetEvents. Edges, or columns of a dataset, are
    read back.
    """

    deletes = True
    reads = True
    read_batch = 20
    paces_itself = True

    def __init__(self, name: str, settings: MarquezSettings, _: Path) -> None:
        super().__init__(name, settings)
        self._client = TargetClient(settings, self.repeated, is_refusal=_is_refusal)

    def express(self, event: Json) -> Expressed:
        """Convert an event to a completed run without the parts that Marquez refuses, or to a DatasetEvent. Raises InexpressibleError."""
        accepted, lost = _accepted(event)
        return in_form(accepted, "runs" if "job" in event else "jobs", lost)

    def visible(self, event: Json) -> str:
        """The digest of a job's inputs and outputs, or of a dataset's columns."""
        if "job" in event:
            return _digest_of_job(event.get("inputs", ()), event.get("outputs", ()))
        return _digest_of_dataset(event["dataset"].get("facets", {}).get("schema", {}).get("fields", ()))

    def read(self, keys: Iterable[ObjectKey]) -> Mapping[ObjectKey, str]:
        """The jobs and datasets that Marquez has, without those that it hides because they were deleted."""
        found = {}
        for key in keys:
            answer = self._client.call("GET", _path(key))
            if answer.status == 404:
                continue
            if not answer.is_success and answer.status != 301:  # an earlier name of a job
                raise SourceError(
                    f"GET {_path(key)} answered {answer.status}: {answer.message}", "check that the address is that of Marquez"
                )
            found[key] = _digest_of_answer(key, answer)
        return found

    def write(self, operations: Sequence[Operation]) -> list[Outcome]:
        """Send each event, or hide the object to delete."""
        return [self._write(operation) for operation in operations]

    def _write(self, operation: Operation) -> Outcome:
        if operation.action == DELETE:
            answer = self._client.call("DELETE", _path(operation.key))
            return DONE if answer.status == 404 else outcome_of(answer)
        for body in _bodies(operation.body):
            outcome = outcome_of(self._client.call("POST", LINEAGE, body))
            if not outcome.done:
                return outcome
        return DONE

    def test(self) -> list[SourceCheck]:
        """Check whether Marquez answers. Marquez itself needs no credentials, but a proxy in front of it may."""
        try:
            answer = self._client.call("GET", "/api/v1/namespaces?limit=1")
        except ForbiddenError as error:
            return [SourceCheck("connect", True, "the server answers"), SourceCheck("authenticate", False, str(error), error.hint)]
        is_marquez = answer.is_success and b'"namespaces"' in answer.body
        message = "Marquez answers" if is_marquez else f"the server answers {answer.status}, and not as Marquez does"
        return [SourceCheck("connect", is_marquez, message, "" if is_marquez else "check that the address is that of Marquez's API")]

    def close(self) -> None:
        """Close connections."""
        self._client.close()


def _is_refusal(status: int, body: bytes) -> bool:
    """Whether an error is permanent: Marquez answers 500 to what it cannot parse, with the intended status in the body."""
    if status != 500 or not body.startswith(b"{"):
        return False
    try:
        return bool(400 <= msgspec.json.decode(body).get("code", 0) < 500)
    except (msgspec.DecodeError, AttributeError, TypeError):
        return False


# names


def _path(key: ObjectKey) -> str:
    return f"/api/v1/namespaces/{quote(key.namespace, safe='')}/{key.kind}s/{quote(key.name, safe='')}"


def _is_legal(subject: Json) -> bool:
    name = subject["name"]
    return bool(_NAMESPACE.fullmatch(subject["namespace"])) and bool(name.strip()) and name not in (".", "..")


# what Marquez accepts


def _accepted(event: Json) -> tuple[Json, Counter[str]]:
    """An event without the parts that Marquez would refuse or lose, and the counts of these. Raises InexpressibleError."""
    lost = Counter[str]()
    kind = "job" if "job" in event else "dataset"
    if not _is_legal(event[kind]):
        raise InexpressibleError(f"{kind}s in namespaces with characters that Marquez refuses")
    out = {**event, kind: _with_facets(event[kind], kind, lost)}
    for side in ("inputs", "outputs"):
        if side in event:
            legal = [dataset for dataset in event[side] if _is_legal(dataset)]
            lost["datasets in namespaces with characters that Marquez refuses"] += len(event[side]) - len(legal)
            out[side] = [_with_facets(dataset, "dataset", lost) for dataset in legal]
    _count_columns(out, lost)
    return out, +lost


def _with_facets(subject: Json, kind: str, lost: Counter[str]) -> Json:
    facets = {}
    for name, facet in subject.get("facets", {}).items():
        accepted = _facet(name, facet)
        if accepted is None:
            lost["facets that Marquez refuses"] += 1
        else:
            facets[name] = accepted
    if kind == "dataset" and "dataSource" not in facets:  # without one, its list of sources fails
        facets["dataSource"] = {"_producer": PRODUCER, "_schemaURL": _SOURCE, "name": subject["namespace"], "uri": subject["namespace"]}
    return {**subject, "facets": facets}


_SOURCE: Final = "https://openlineage.io/spec/facets/1-0-1/DatasourceDatasetFacet.json#/$defs/DatasourceDatasetFacet"


def _facet(name: str, facet: Any) -> Json | None:  # noqa: ANN401  # JSON of any producer
    """A facet in the form that Marquez accepts; None if it accepts none."""
    if not isinstance(facet, dict) or len(name) > _NAME or name == "description":
        return None
    if name not in _REQUIRED:
        return facet
    out = {**facet, **{member: PRODUCER for member in ("_producer", "_schemaURL") if not _is_uri(facet.get(member))}}
    is_long = name == "sourceCodeLocation" and len(str(out.get("url", ""))) > _NAME
    if is_long or any(not isinstance(out.get(member), str) for member in _REQUIRED[name]):
        return None
    if name == "jobType":
        return {**out, "jobType": out["jobType"] if isinstance(out.get("jobType"), str) else "JOB"}
    if name == "schema":
        return {**out, "fields": [field for field in out.get("fields") or () if _is_field(field)]}
    return out


def _is_uri(text: object) -> bool:
    return isinstance(text, str) and bool(_URI.fullmatch(text))


def _is_field(field: Any) -> bool:  # noqa: ANN401  # JSON of any producer
    return isinstance(field, dict) and isinstance(field.get("name"), str) and 0 < len(field["name"]) <= _NAME


def _columns(dataset: Json) -> set[str]:
    return {field["name"] for field in dataset["facets"].get("schema", {}).get("fields", ())}


def _count_columns(event: Json, lost: Counter[str]) -> None:
    """Count columns that Marquez would not connect: both ends have to be in the schemas of the event's datasets."""
    known = {(dataset["namespace"], dataset["name"], column) for dataset in event.get("inputs", ()) for column in _columns(dataset)}
    for dataset in event.get("outputs", ()):
        columns = _columns(dataset)
        facet = dataset["facets"].get("columnLineage", {})
        for column, stated in (facet.get("fields") or {}).items():
            for source in stated.get("inputFields", ()):
                at = (source.get("namespace"), source.get("name"), source.get("field"))
                lost["column edges without a schema at both ends"] += column not in columns or at not in known
        lost["columns that a dataset depends on as a whole"] += len(facet.get("dataset") or ())


def _bodies(body: bytes) -> Iterator[bytes]:
    """The events to send for a job. The run is followed by a JobEvent where the run alone would not restore earlier edges of a streaming
    job.
    """
    yield body
    event = msgspec.json.decode(body)
    if is_streaming(event):
        rest = {key: value for key, value in event.items() if key not in ("run", "eventType")}
        yield encode({**rest, "schemaURL": f"{SPECIFICATION}JobEvent"})


# what is read back


def _digest_of_answer(key: ObjectKey, answer: HttpAnswer) -> str:
    found = answer.json() if answer.is_success else {}
    if key.kind == "job":
        return _digest_of_job(found.get("inputs") or (), found.get("outputs") or ())
    return _digest_of_dataset(found.get("fields") or ())


def _digest_of_job(inputs: Iterable[Json], outputs: Iterable[Json]) -> str:
    return digest_of([sorted({(dataset["namespace"], dataset["name"]) for dataset in side}) for side in (inputs, outputs)])


def _digest_of_dataset(fields: Iterable[Json]) -> str:
    return digest_of(sorted({field["name"] for field in fields}))


KIND = TargetKind(MarquezSettings, MarquezTarget, "Marquez, by its OpenLineage endpoint")
