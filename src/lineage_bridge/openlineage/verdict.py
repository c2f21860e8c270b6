"""The verdict on received bytes: one function decides, for every transport, whether and how an event is used.

What is accepted is valid JSON throughout, so reading its facets later cannot fail for syntax. What is repaired is used
as described by the repair's code; what is rejected comes with a code, the JSON path of the cause, and a message.
"""

import re
from collections.abc import Mapping
from functools import lru_cache
from itertools import islice
from types import MappingProxyType
from typing import Any, Literal, NoReturn
from uuid import UUID, uuid5

import msgspec
from msgspec import UNSET, Raw, Struct, UnsetType, field
from msgspec.json import Decoder

from lineage_bridge.openlineage.event import Dataset, Event, EventKind, Facets, Job, Run
from lineage_bridge.openlineage.facets import MAX_NAME, ParentRunFacet, Where, inspect, is_deleted, lineage_carrier, read
from lineage_bridge.openlineage.text import bad_text_paths, is_deeper_than, member_path, mend_text
from lineage_bridge.openlineage.times import DAY_US, parse_time

MAX_BYTES = 32 * 1024 * 1024
"""Largest event, in bytes after decompression."""
MAX_DEPTH = 100
"""Most levels of objects and arrays within each other, the event itself being the first."""
MAX_REPAIRS = 50
"""Most repairs that are listed."""
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
"""Code of a rejection -> status of the HTTP answer."""

_RUN_NAMES = UUID("5c0e4f0e-3a0b-5d0c-9f5e-6f1d6a1e2b47")
_REMEMBERED_MAPS = 2048
_REMEMBERED_BYTES = 16 * 1024
_PATH = re.compile(r" - at `\$(.*)`\Z", re.DOTALL)


class Repair(Struct, frozen=True, gc=False, order=True):
    """One thing that was not as it should be: what, and the JSON path of where."""

    code: str
    path: str


class Clean(Struct, frozen=True, gc=False):
    """The event is used as it is."""

    event: Event


class Repaired(Struct, frozen=True, gc=False):
    """The event is used; `repairs` are sorted, without repeats, and at most MAX_REPAIRS."""

    event: Event
    repairs: tuple[Repair, ...]


class Rejected(Struct, frozen=True, gc=False):
    """The event is not used. `code` is a key of HTTP_STATUS."""

    code: str
    path: str
    message: str


Verdict = Clean | Repaired | Rejected


def judge(raw: bytes, arrival_us: int) -> Verdict:
    """The verdict on one event's bytes that arrived at `arrival_us` (UTC microseconds).

    Pure; never raises, whatever the bytes.
    """
    try:
        return _Reading(arrival_us).verdict(raw)
    except _RefusedError as refused:
        return refused.rejection
    except RecursionError:
        return Rejected("too_deep", "$", "the event nests too deep to be read here")


def run_uuid(job_namespace: str, job_name: str, raw_id: str) -> bytes:
    """The 16 bytes of a run's UUID: `raw_id` if it is one, else one that is always the same for the job and `raw_id`."""
    known = parse_uuid(raw_id)
    if known is not None:
        return known
    name = f"{len(job_namespace)}:{job_namespace}{len(job_name)}:{job_name}{raw_id}"
    return uuid5(_RUN_NAMES, name).bytes


def parse_uuid(text: str) -> bytes | None:
    """The 16 bytes of a UUID in 36 or, without dashes, 32 hexadecimal digits of any case; None for every other text."""
    digits = text
    if len(text) == 36 and text[8:24:5] == "----":
        digits = text.replace("-", "")
    if len(digits) != 32:
        return None
    try:
        value = bytes.fromhex(digits)
    except ValueError:
        return None
    return value if len(value) == 16 else None


# the wire: what msgspec checks while it decodes; facets stay as they are

_ABSENT = Raw(b"")


class _WireNamed(Struct, gc=False):
    namespace: str | None = None
    name: str | None = None
    facets: Raw = _ABSENT


class _WireDataset(_WireNamed, gc=False, rename="camel"):
    input_facets: Raw = _ABSENT
    output_facets: Raw = _ABSENT


class _WireRun(Struct, gc=False, rename="camel"):
    run_id: str | None = None
    facets: Raw = _ABSENT


_WireDatasets = list[_WireDataset | None] | UnsetType | None


class _WireBody(Struct, gc=False, rename="camel"):
    event_type: str | UnsetType | None = UNSET
    run: _WireRun | UnsetType | None = UNSET
    job: _WireNamed | UnsetType | None = UNSET
    dataset: _WireDataset | UnsetType | None = UNSET
    inputs: _WireDatasets = UNSET
    outputs: _WireDatasets = UNSET


class _WireEvent(_WireBody, gc=False, rename="camel"):
    event_time: str | None = None
    producer: str | None = None
    schema_url: str | None = field(default=None, name="schemaURL")


class _WireLoose(_WireBody, gc=False, rename="camel"):
    """The members whose type does not matter are texts; what is no string counts as absent."""

    event_time: Raw = _ABSENT
    producer: Raw = _ABSENT
    schema_url: Raw = field(default=_ABSENT, name="schemaURL")


_EVENT = Decoder(_WireEvent)
_LOOSE = Decoder(_WireLoose)
_ANY = Decoder(Raw)
_MEMBERS = Decoder(dict[str, Raw])
_ELEMENTS = Decoder(list[Raw])


class _RefusedError(Exception):
    def __init__(self, code: str, path: str, message: str) -> None:
        super().__init__(code)
        self.rejection = Rejected(code, path, message)


def _refuse(code: str, path: str, message: str) -> NoReturn:
    raise _RefusedError(code, path, message)


def _decode(raw: bytes) -> _WireEvent | _WireLoose:
    """The event's frame; the whole of `raw` has then been checked as JSON."""
    try:
        return _EVENT.decode(raw)
    except msgspec.ValidationError:
        pass
    except msgspec.DecodeError as error:
        _refuse("not_json", "$", str(error))
    _check_syntax(raw)
    try:
        return _LOOSE.decode(_last_wins(raw))
    except msgspec.ValidationError as error:
        message, path = str(error), _PATH.search(str(error))
        _refuse("wrong_type", "$" + path[1] if path else "$", message[: path.start()] if path else message)


def _check_syntax(raw: bytes) -> None:
    try:
        _ANY.decode(raw)
    except msgspec.DecodeError as error:
        _refuse("not_json", "$", str(error))


def _last_wins(raw: bytes) -> bytes:
    """The same JSON without the repeated members that a later one overrides, in all the objects we read ourselves."""
    return msgspec.json.encode(_without_repeats(Raw(raw), {"run": {}, "job": {}, "dataset": {}, "inputs": {}, "outputs": {}}))


def _without_repeats(value: Raw, inner: Mapping[str, Mapping[str, Any]]) -> Raw:
    text = bytes(value).strip()
    if text.startswith(b"["):
        return Raw(msgspec.json.encode([_without_repeats(element, inner) for element in _ELEMENTS.decode(text)]))
    if not text.startswith(b"{"):
        return value
    members = _MEMBERS.decode(text)
    for key in inner.keys() & members.keys():
        members[key] = _without_repeats(members[key], inner[key])
    return Raw(msgspec.json.encode(members))


def _string(value: str | Raw | None) -> str | None:
    """The string a loosely typed member holds, None for anything else."""
    if value is None or isinstance(value, str):
        return value
    text = bytes(value)
    return msgspec.json.decode(text, type=str) if text.startswith(b'"') else None


def _read_facets(where: Where, text: bytes) -> tuple[Facets, tuple[Repair, ...]] | None:
    """The facets in the text of an object, and what was repaired, by paths relative to it; None if it is no object."""
    if text == b"null":
        return {}, (Repair("null", ""),)
    if not text.startswith(b"{"):
        return None
    facets: Facets = {}
    repairs: list[Repair] = []
    for key, value in _MEMBERS.decode(text).items():
        facet = bytes(value)
        problems: tuple[str, ...] = ("null",)
        if facet != b"null":
            facets[key] = facet
            problems = inspect(where, key, facet).problems
        if problems and len(repairs) < MAX_REPAIRS:
            repairs.extend(Repair(problem, member_path("", key)) for problem in problems)
    return facets, tuple(repairs)


_remembered_facets = lru_cache(_REMEMBERED_MAPS)(_read_facets)


class _Reading:
    """One event on its way to a verdict: it collects repairs, and stops at the first cause of a rejection."""

    def __init__(self, arrival_us: int) -> None:
        self.arrival_us = arrival_us
        self.repairs: set[Repair] = set()

    def repair(self, code: str, path: str) -> None:
        if len(self.repairs) < MAX_REPAIRS:
            self.repairs.add(Repair(code, path))

    def verdict(self, raw: bytes) -> Verdict:
        wire = _decode(self.sound_text(raw))
        event = self.event(wire)
        if self.repairs:
            return Repaired(event, tuple(sorted(self.repairs)))
        return Clean(event)

    def sound_text(self, raw: bytes) -> bytes:
        """Text of a bearable size and depth that holds nothing a store would refuse."""
        if len(raw) > MAX_BYTES:
            _refuse("too_large", "$", f"{len(raw)} bytes are more than {MAX_BYTES}")
        if not raw.isascii():
            _check_utf8(raw)
        mended = mend_text(raw)
        if is_deeper_than(mended, MAX_DEPTH):
            _check_syntax(mended)
            _refuse("too_deep", "$", f"more than {MAX_DEPTH} levels")
        if mended is not raw:
            _check_syntax(mended)
            for path in islice(bad_text_paths(raw), MAX_REPAIRS):
                self.repair("bad_text", path)
        return mended

    def event(self, wire: _WireEvent | _WireLoose) -> Event:
        run, job, dataset = wire.run or None, wire.job or None, wire.dataset or None
        self.nulls(wire)
        kind = self.kind(run, job, dataset)
        time_us = self.time(_string(wire.event_time))
        named = self.job(job) if job else None
        type_, raw_type = self.type(wire.event_type) if kind == "run" else (None, None)
        return Event(
            kind,
            time_us,
            type_,
            raw_type,
            self.run(run, named) if run and named else None,
            named,
            self.dataset(dataset, _ABSENT, "dataset", "$.dataset", carries_lineage=kind == "dataset") if dataset else None,
            self.inputs(wire.inputs) if named else (),
            self.outputs(wire.outputs) if named else (),
            self.origin(_string(wire.producer), "producer", "$.producer"),
            self.origin(_string(wire.schema_url), "schema_url", "$.schemaURL"),
        )

    def nulls(self, wire: _WireEvent | _WireLoose) -> None:
        """What is null counts as absent, and is repaired."""
        for member in ("run", "job", "dataset", "inputs", "outputs"):
            if getattr(wire, member) is None:
                self.repair("null", f"$.{member}")

    def kind(self, run: _WireRun | None, job: _WireNamed | None, dataset: _WireDataset | None) -> EventKind:
        if job is None:
            if dataset is None:
                _refuse("no_subject", "$", "the event speaks of no job and of no dataset")
            return "dataset"
        if run is not None:
            return "run"
        if dataset is not None:
            self.repair("two_kinds", "$.dataset")
        return "job"

    def time(self, text: str | None) -> int:
        parsed = parse_time(text) if text is not None else None
        if parsed is None:
            _refuse("no_time", "$.eventTime", "eventTime is absent or no time of the years 1 to 9999")
        us, zone_missing, date_only = parsed
        if zone_missing:
            self.repair("time_zone", "$.eventTime")
        if date_only:
            self.repair("date_only", "$.eventTime")
        if us > self.arrival_us + DAY_US:
            self.repair("future_time", "$.eventTime")
        return us

    def origin(self, text: str | None, code: str, path: str) -> str:
        """What says where an event comes from: any string will do, since the core schema asserts no format."""
        if text is None:
            self.repair(code, path)
        return text or ""

    def type(self, word: str | UnsetType | None) -> tuple[str | None, str | None]:
        """The event type, and the word as received."""
        if word is UNSET:
            return None, None
        if word in EVENT_TYPES:
            return word, word
        self.repair("event_type", "$.eventType")
        if word is None:
            return None, None
        upper = word.upper()
        return upper if word.isascii() and upper in EVENT_TYPES else "OTHER", word

    def job(self, wire: _WireNamed) -> Job:
        namespace, name = self.names(wire, "$.job")
        facets = self.facets("job", wire.facets, "$.job", "facets")
        return Job(namespace, name, self.lineage(facets, "job", "$.job") if "lineage" in facets else facets)

    def run(self, wire: _WireRun, job: Job) -> Run:
        raw_id = wire.run_id
        if raw_id is None:
            _refuse("missing_field", "$.run.runId", "a run needs a runId")
        id_ = parse_uuid(raw_id)
        if id_ is None:
            self.repair("run_id", "$.run.runId")
            id_ = run_uuid(job.namespace, job.name, raw_id)
        facets = self.facets("run", wire.facets, "$.run", "facets")
        _check_parent(facets.get("parent", b""))
        return Run(id_, raw_id, facets)

    def inputs(self, wires: _WireDatasets) -> tuple[Dataset, ...]:
        listed = self.listed(wires, "$.inputs")
        return tuple([self.dataset(wire, wire.input_facets, "input", path) for wire, path in listed])

    def outputs(self, wires: _WireDatasets) -> tuple[Dataset, ...]:
        listed = self.listed(wires, "$.outputs")
        return tuple([self.dataset(wire, wire.output_facets, "output", path) for wire, path in listed])

    def listed(self, wires: _WireDatasets, path: str) -> list[tuple[_WireDataset, str]]:
        """The datasets that are there, each with its path; null is repaired."""
        if not wires:
            return []
        places = [(wire, f"{path}[{index}]") for index, wire in enumerate(wires)]
        for wire, place in places:
            if wire is None:
                self.repair("null", place)
        return [(wire, place) for wire, place in places if wire is not None]

    def dataset(self, wire: _WireDataset, access: Raw, side: Where, path: str, *, carries_lineage: bool = False) -> Dataset:
        """A dataset; `access` are the facets that belong to it on its side of the event."""
        namespace, name = self.names(wire, path)
        facets = self.facets("dataset", wire.facets, path, "facets")
        if "lineage" in facets:
            facets = self.lineage(facets, "dataset" if carries_lineage else None, path)
        return Dataset(namespace, name, facets, self.facets(side, access, path, f"{side}Facets"))

    def lineage(self, facets: Facets, carrier: Literal["job", "dataset"] | None, path: str) -> Facets:
        """The facets without an explicit lineage that this carrier must not have: a dataset has one in a DatasetEvent alone."""
        text = facets["lineage"]
        if carrier is not None and (is_deleted(text) or lineage_carrier(text) == carrier):
            return facets
        self.repair("lineage_carrier", f"{path}.facets.lineage")
        return {key: facet for key, facet in facets.items() if key != "lineage"}

    def names(self, wire: _WireNamed, path: str) -> tuple[str, str]:
        namespace, name = wire.namespace, wire.name
        if not namespace or not name or len(namespace) + len(name) > MAX_NAME:
            return self.name(namespace, f"{path}.namespace"), self.name(name, f"{path}.name")
        return namespace, name

    def name(self, text: str | None, path: str) -> str:
        if text is None:
            _refuse("missing_field", path, "a job or dataset needs a namespace and a name")
        _check_length(text, path)
        if not text:
            self.repair("empty_name", path)
        return text

    def facets(self, where: Where, value: Raw, path: str, member: str) -> Facets:
        if value is _ABSENT:
            return {}
        text = bytes(value)
        found = _remembered_facets(where, text) if len(text) <= _REMEMBERED_BYTES else _read_facets(where, text)
        if found is None:
            _refuse("wrong_type", f"{path}.{member}", "facets are an object")
        facets, repairs = found
        for repair in repairs:
            self.repair(repair.code, f"{path}.{member}{repair.path}")
        return facets


def _check_utf8(raw: bytes) -> None:
    try:
        raw.decode()
    except UnicodeDecodeError as error:
        _refuse("not_json", "$", f"byte {error.start} is not UTF-8")


def _check_length(text: str, path: str) -> None:
    if len(text) > MAX_NAME:
        _refuse("name_too_long", path, f"{len(text)} characters are more than {MAX_NAME}")


def _check_parent(text: bytes) -> None:
    """The jobs a parent facet names become nodes too."""
    parent = read("run", "parent", text) if len(text) > MAX_NAME else None
    if not isinstance(parent, ParentRunFacet):
        return
    jobs = [("job", parent.job)] + ([("root.job", parent.root.job)] if parent.root else [])
    for place, job in jobs:
        _check_length(job.namespace, f"$.run.facets.parent.{place}.namespace")
        _check_length(job.name, f"$.run.facets.parent.{place}.name")
