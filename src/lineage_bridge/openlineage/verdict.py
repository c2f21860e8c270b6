"""The verdict on received bytes: one function decides, for every transport, whether and how an event is used.

An accepted event is completely valid JSON, so reading its facets cannot fail. A repaired event is used as the codes of its repairs
describe; a rejected one has a code, the JSON path of the cause, and a message. `ingest/` decides who may send it, and at what cost.
"""

from collections.abc import Mapping
from itertools import islice
from types import MappingProxyType
from typing import Literal

from msgspec import UNSET, Raw, Struct, UnsetType

from lineage_bridge.openlineage.event import Dataset, Event, EventKind, Facets, Job, Run
from lineage_bridge.openlineage.facet_maps import check_length, check_parent, place_facets, read_facets
from lineage_bridge.openlineage.facets import MAX_NAME, Where, is_deleted, lineage_carrier
from lineage_bridge.openlineage.json_text import Spend, bad_text_paths, no_limit
from lineage_bridge.openlineage.queries.names import replace_query_names
from lineage_bridge.openlineage.run_ids import parse_uuid, run_uuid
from lineage_bridge.openlineage.times import DAY_US, parse_time
from lineage_bridge.openlineage.wire import (
    ABSENT,
    LooseWireEvent,
    RejectedEventError,
    WireDataset,
    WireDatasets,
    WireEvent,
    WireNamed,
    WireRun,
    check_syntax,
    decode,
    readable_text,
    reject,
    string_of,
)

MAX_REPAIRS = 50
"""The maximum number of repairs that a verdict lists."""
_SUBJECT = frozenset(f"$.{kind}.{member}" for kind in ("job", "dataset") for member in ("namespace", "name"))
EVENT_TYPES = frozenset(("START", "RUNNING", "COMPLETE", "FAIL", "ABORT", "OTHER"))
HTTP_STATUS: Mapping[str, int] = MappingProxyType(
    {
        "not_json": 400,
        "too_large": 413,
        "too_deep": 422,
        "name_too_long": 422,
        "wrong_type": 422,
        "no_subject": 422,
        "missing_field": 422,
        "no_time": 422,
    }
)
"""Code of a rejection -> HTTP status of the response."""


class Repair(Struct, frozen=True, gc=False, order=True):
    """A deviation of an event from the specification that was repaired: its code, and its JSON path."""

    code: str
    path: str


class Clean(Struct, frozen=True, gc=False):
    """The verdict that an event is used as it is."""

    event: Event


class Repaired(Struct, frozen=True, gc=False):
    """The verdict that an event is used after repairs. `repairs` are sorted, without repeats, and at most MAX_REPAIRS."""

    event: Event
    repairs: tuple[Repair, ...]


class Rejected(Struct, frozen=True, gc=False):
    """The verdict that an event is not used. `code` is a key of HTTP_STATUS."""

    code: str
    path: str
    message: str


Verdict = Clean | Repaired | Rejected
_BAD_TEXT_NS, _DATASET_NS = 150, 1_500
"""Costs in nanoseconds: of finding the paths of invalid strings, per byte; and the minimum of validating a dataset."""
_TOO_DEEP = Rejected("too_deep", "$", "the event is nested too deeply")


def judge(raw: bytes, arrival_us: int, spend: Spend = no_limit) -> Verdict:
    """Return the verdict on the bytes of an event that arrived at `arrival_us` (UTC microseconds).

    Pure; raises nothing, whatever the bytes are, except the errors of `spend`.
    """
    try:
        return _EventReader(arrival_us, spend).verdict(raw)
    except RejectedEventError as error:
        return Rejected(error.code, error.path, error.message)
    except RecursionError:
        return _TOO_DEEP


def unreadable(raw: bytes) -> Rejected | None:
    """The verdict of `judge` on bytes that are not JSON, too large or nested too deeply; None for all others. Native, in one pass."""
    try:
        check_syntax(readable_text(raw))
    except RejectedEventError as error:
        return Rejected(error.code, error.path, error.message)
    except RecursionError:
        return _TOO_DEEP
    return None


class _EventReader:
    """Reads one event: collects repairs, and raises RejectedEventError at the first reason for a rejection."""

    def __init__(self, arrival_us: int, spend: Spend) -> None:
        self.arrival_us, self.spend = arrival_us, spend
        self.repairs: set[Repair] = set()

    def repair(self, code: str, path: str) -> None:
        if len(self.repairs) < MAX_REPAIRS:
            self.repairs.add(Repair(code, path))

    def verdict(self, raw: bytes) -> Verdict:
        wire = decode(self.checked_text(raw))
        event = self.event(wire)
        if self.repairs:
            return Repaired(event, tuple(sorted(self.repairs)))
        return Clean(event)

    def checked_text(self, raw: bytes) -> bytes:
        """Return the text in a form that can be read and stored. If characters had to be replaced, this is recorded as a repair."""
        mended = readable_text(raw)
        if mended is not raw:
            check_syntax(mended)
            self.spend(len(raw) * _BAD_TEXT_NS)
            for path in islice(bad_text_paths(raw), MAX_REPAIRS):
                self.repair("bad_text", path)
        return mended

    def event(self, wire: WireEvent | LooseWireEvent) -> Event:
        run, job, dataset = wire.run or None, wire.job or None, wire.dataset or None
        self.nulls(wire)
        kind = self.kind(run, job, dataset)
        time_us = self.time(string_of(wire.event_time))
        named = self.job(job) if job else None
        type_, raw_type = self.type(wire.event_type) if kind == "run" else (None, None)
        inputs = self.inputs(wire.inputs) if named else ()
        return Event(
            kind,
            time_us,
            type_,
            raw_type,
            self.run(run, named) if run and named else None,
            named,
            self.dataset(dataset, ABSENT, "dataset", "$.dataset", carries_lineage=kind == "dataset") if dataset else None,
            inputs,
            self.without_query_names(named, inputs, self.outputs(wire.outputs)) if named else (),
            self.origin(string_of(wire.producer), "producer", "$.producer"),
            self.origin(string_of(wire.schema_url), "schema_url", "$.schemaURL"),
        )

    def nulls(self, wire: WireEvent | LooseWireEvent) -> None:
        """Record a repair for each member that is null; such a member counts as absent."""
        for member in ("run", "job", "dataset", "inputs", "outputs"):
            if getattr(wire, member) is None:
                self.repair("null", f"$.{member}")

    def kind(self, run: WireRun | None, job: WireNamed | None, dataset: WireDataset | None) -> EventKind:
        if job is None:
            if dataset is None:
                reject("no_subject", "$", "the event names neither a job nor a dataset")
            return "dataset"
        if run is not None:
            return "run"
        if dataset is not None:
            self.repair("two_kinds", "$.dataset")
        return "job"

    def time(self, text: str | None) -> int:
        parsed = parse_time(text) if text is not None else None
        if parsed is None:
            reject("no_time", "$.eventTime", "eventTime is missing, or not a time in the years 1 to 9999")
        us, zone_missing, date_only = parsed
        if zone_missing:
            self.repair("time_zone", "$.eventTime")
        if date_only:
            self.repair("date_only", "$.eventTime")
        if us > self.arrival_us + DAY_US:
            self.repair("future_time", "$.eventTime")
        return us

    def origin(self, text: str | None, code: str, path: str) -> str:
        """Read a member that states where an event comes from. Any string is accepted, since the core schema requires no format."""
        if text is None:
            self.repair(code, path)
        return text or ""

    def type(self, value: str | UnsetType | None) -> tuple[str | None, str | None]:
        """Read the event type. Returns it, and the value as received."""
        if value is UNSET:
            return None, None
        if value in EVENT_TYPES:
            return value, value
        self.repair("event_type", "$.eventType")
        if value is None:
            return None, None
        upper = value.upper()
        return upper if value.isascii() and upper in EVENT_TYPES else "OTHER", value

    def job(self, wire: WireNamed) -> Job:
        namespace, name = self.names(wire, "$.job")
        facets = self.facets("job", wire.facets, "$.job", "facets")
        return Job(namespace, name, self.lineage(facets, "job", "$.job") if "lineage" in facets else facets)

    def run(self, wire: WireRun, job: Job) -> Run:
        raw_id = wire.run_id
        if raw_id is None:
            reject("missing_field", "$.run.runId", "the run has no runId")
        id_ = parse_uuid(raw_id)
        if id_ is None:
            self.repair("run_id", "$.run.runId")
            id_ = run_uuid(job.namespace, job.name, raw_id)
        facets = self.facets("run", wire.facets, "$.run", "facets")
        check_parent(facets.get("parent", b""))
        return Run(id_, raw_id, facets)

    def inputs(self, wires: WireDatasets) -> tuple[Dataset, ...]:
        listed = self.listed(wires, "$.inputs")
        return tuple([self.dataset(wire, wire.input_facets, "input", path) for wire, path in listed])

    def outputs(self, wires: WireDatasets) -> tuple[Dataset, ...]:
        listed = self.listed(wires, "$.outputs")
        return tuple([self.dataset(wire, wire.output_facets, "output", path) for wire, path in listed])

    def without_query_names(self, job: Job, inputs: tuple[Dataset, ...], outputs: tuple[Dataset, ...]) -> tuple[Dataset, ...]:
        """Return the outputs without those column sources that only exist within the job's query."""
        if "sql" not in job.facets:
            return outputs
        found = replace_query_names(job, inputs, outputs, self.spend)
        for index, (_, paths) in enumerate(found):
            for below in paths:
                self.repair("query_name", f"$.outputs[{index}]{below}")
        return tuple([output for output, _ in found])

    def listed(self, wires: WireDatasets, path: str) -> list[tuple[WireDataset, str]]:
        """Return the datasets of a list that are not null, each with its path."""
        if not wires:
            return []
        self.spend((len(wires) - wires.count(None)) * _DATASET_NS)
        missing = [index for index, wire in enumerate(wires) if wire is None] if None in wires else []
        for index in missing[:MAX_REPAIRS]:
            self.repair("null", f"{path}[{index}]")
        return [(wire, f"{path}[{index}]") for index, wire in enumerate(wires) if wire is not None]

    def dataset(self, wire: WireDataset, access: Raw, side: Where, path: str, *, carries_lineage: bool = False) -> Dataset:
        """Read a dataset. `access` are its inputFacets or outputFacets."""
        namespace, name = self.names(wire, path)
        facets = self.facets("dataset", wire.facets, path, "facets")
        if "lineage" in facets:
            facets = self.lineage(facets, "dataset" if carries_lineage else None, path)
        facets, access_facets, moved = place_facets(side, facets, self.facets(side, access, path, f"{side}Facets"))
        for below in moved:
            self.repair("facet_place", path + below)
        return Dataset(namespace, name, facets, access_facets)

    def lineage(self, facets: Facets, carrier: Literal["job", "dataset"] | None, path: str) -> Facets:
        """Return the facets, without explicit lineage if this carrier may not have it. Datasets may only have it in a DatasetEvent."""
        text = facets["lineage"]
        if carrier is not None and (is_deleted(text) or lineage_carrier(text) == carrier):
            return facets
        self.repair("lineage_carrier", f"{path}.facets.lineage")
        return {key: facet for key, facet in facets.items() if key != "lineage"}

    def names(self, wire: WireNamed, path: str) -> tuple[str, str]:
        namespace, name = wire.namespace, wire.name
        if not namespace or not name or len(namespace) + len(name) > MAX_NAME:
            return self.name(namespace, f"{path}.namespace"), self.name(name, f"{path}.name")
        return namespace, name

    def name(self, text: str | UnsetType | None, path: str) -> str:
        if text is UNSET or (text is None and path in _SUBJECT):
            reject("missing_field", path, "a job or dataset has no namespace or no name")
        check_length(text or "", path)
        if not text:
            self.repair("empty_name", path)
        return text or ""

    def facets(self, where: Where, value: Raw, path: str, member: str) -> Facets:
        if value is ABSENT:
            return {}
        text = bytes(value)
        found = read_facets(where, text, self.spend)
        if found is None:
            reject("wrong_type", f"{path}.{member}", "facets are not an object")
        facets, problems = found
        for code, below in problems:
            self.repair(code, f"{path}.{member}{below}")
        return facets
