"""Converts OpenLineage events to the forms that targets accept: digests, times and runs, and the parts that are left out of an event that
is too large. Pure.
"""

from collections import Counter
from collections.abc import Collection, Iterator
from typing import Final, Literal

import msgspec

from lineage_bridge.catalogs.target import Expressed, InexpressibleError, Json, ObjectKey, Operation
from lineage_bridge.openlineage.event_builder import SPECIFICATION, digest_of, encode
from lineage_bridge.openlineage.facets.publication import PUBLICATION
from lineage_bridge.openlineage.times import format_time

PRODUCER: Final = "https://lineagebridge.dev/publication"
_LINEAGE: Final = frozenset({"columnLineage", "lineage", PUBLICATION})
_BRIEF: Final = _LINEAGE | {"schema", "symlinks", "jobType"}


def digest(event: Json) -> str:
    """A digest of an event without its time and run id, so that it is equal for equal statements."""
    event = {key: value for key, value in event.items() if key != "eventTime"}
    if isinstance(event.get("run"), dict):
        event["run"] = {key: value for key, value in event["run"].items() if key != "runId"}
    return digest_of(event)


def key_of(event: Json) -> ObjectKey:
    """The key of the object that an event describes. Raises KeyError and TypeError if it is not an event."""
    kind = "job" if "job" in event else "dataset"
    return ObjectKey(kind, str(event[kind]["namespace"]), str(event[kind]["name"]))


def in_form(event: Json, form: Literal["jobs", "runs"], lost: Counter[str] | None = None) -> Expressed:
    """Convert a JobEvent or DatasetEvent to the form that a target accepts: unchanged (`jobs`), or as a completed run (`runs`). The parts
    that are left out are counted in `lost`. Raises InexpressibleError.
    """
    if form == "jobs":
        return Expressed(event, lost or Counter())
    if "job" not in event:
        raise InexpressibleError("datasets that no job reads or writes")
    return Expressed({**event, "schemaURL": f"{SPECIFICATION}RunEvent", "eventType": "COMPLETE", "run": {"facets": {}}}, lost or Counter())


def stamped(event: Json, time_us: int, run: str) -> bytes:
    """Complete an event for sending, with its time and, if it is a run's, its run id."""
    out = {**event, "eventTime": format_time(time_us)}
    if "run" in out:
        out["run"] = {**out["run"], "runId": run}
    return encode(out)


def record_key(operation: Operation) -> str:
    """The key of a record with an event in a topic or stream, as OpenLineage's clients write it."""
    event = msgspec.json.decode(operation.body)
    kind = "run" if "run" in event else operation.key.kind
    return f"{kind}:{operation.key.namespace}/{operation.key.name}"


def with_held(subject: Json, held: Collection[str], lost: Counter[str], what: str) -> Json:
    """A job or dataset with only those facets that a target can represent.

    `lost` counts the other facets as `what`, and what is left out of columnLineage.
    """
    facets = {name: facet for name, facet in subject.get("facets", {}).items() if name in held and isinstance(facet, dict)}
    lost[what] += len(subject.get("facets", {})) - len(facets)
    lost["columns that a dataset depends on as a whole"] += len(facets.get("columnLineage", {}).get("dataset") or ())
    for _, inputs in column_fields({"facets": facets}):
        lost["transformations of columns"] += sum(len(source.get("transformations") or ()) for source in inputs)
    return {**subject, "facets": facets}


def is_streaming(event: Json) -> bool:
    """Whether an event declares its job to be streaming."""
    job_type = event.get("job", {}).get("facets", {}).get("jobType", {})
    return str(job_type.get("processingType", "")).upper() == "STREAMING"


def column_fields(dataset: Json) -> Iterator[tuple[str, list[Json]]]:
    """The columns of a dataset by name, each with the columns from which it is derived."""
    fields = dataset.get("facets", {}).get("columnLineage", {}).get("fields") or {}
    for column, stated in sorted(fields.items()):
        if inputs := [source for source in stated.get("inputFields", ()) if {"namespace", "name", "field"} <= source.keys()]:
            yield column, inputs


def fitted(expressed: Expressed, max_bytes: int) -> Expressed:
    """Reduce an event to a size: the facets with the least lineage are left out, as many as necessary. Raises InexpressibleError."""
    event, lost = expressed.event, Counter(expressed.lost)
    room = max_bytes - 200  # room for its time and run
    for kept in (None, _BRIEF, _LINEAGE):
        if kept is not None:
            event, removed = _reduced(event, kept)
            lost["facets of events that are too large"] += removed
        if len(encode(event)) <= room:
            return Expressed(event, +lost)
    raise InexpressibleError("events that are too large")


def _reduced(event: Json, kept: frozenset[str]) -> tuple[Json, int]:
    removed = 0
    out = dict(event)
    for member, subjects in _subjects(event):
        new = []
        for subject in subjects:
            facets = {key: value for key, value in subject.get("facets", {}).items() if key in kept}
            removed += len(subject.get("facets", {})) - len(facets)
            new.append({**subject, "facets": facets})
        out[member] = new if isinstance(event[member], list) else new[0]
    return out, removed


def _subjects(event: Json) -> Iterator[tuple[str, list[Json]]]:
    for member in ("job", "dataset", "inputs", "outputs"):
        if member in event:
            yield member, event[member] if isinstance(event[member], list) else [event[member]]
