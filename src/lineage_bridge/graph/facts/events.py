"""Facts: how a record becomes rows of the relations. Pure; reads no clock.

One record gives few rows, because what producers repeat is content-addressed: a mention is a key with first and last time, and the text of
a facet is a row of its own under the hash of that text.
"""

import re
from collections.abc import Callable, Container, Mapping
from functools import lru_cache
from typing import NamedTuple, TypeVar

import msgspec

from lineage_bridge.graph.facts.operations import operation
from lineage_bridge.graph.flows.endings import endings
from lineage_bridge.graph.ids import DAY_US, NodeKind, day_of, node_id, statement_id, text_hash
from lineage_bridge.graph.log_record import RETRY, LogRecord, RecordKind, StoredRecord
from lineage_bridge.graph.relations import NEVER_US, NO_EVENT, Origin, Row, Side
from lineage_bridge.openlineage import facets as standard
from lineage_bridge.openlineage.event import Dataset, Event, Facets, Job, Run
from lineage_bridge.openlineage.run_ids import parse_uuid, run_uuid
from lineage_bridge.openlineage.times import parse_time
from lineage_bridge.openlineage.verdict import Clean, Rejected, Repaired, judge

Fact = tuple[str, Row, Row]
"""Relation, key, values."""

NO_CONTENT = bytes(16)
NO_RUN = b""
"""The id of a run that is not stated."""
LINEAGE_KEYS = frozenset({"columnLineage", "lineage"})
NAMING_KEYS = LINEAGE_KEYS | {"symlinks", "lifecycleStateChange", "jobDependencies"}
"""Facets that name nodes besides the one they are about."""
SAMPLE_CHARACTERS = 2000
_OF_A_COPY = {"future_time"}
"""Repairs that depend on when a copy arrived: the event's effective time tells them."""
STATISTICS = {"inputStatistics", "outputStatistics"}

_VERSION = re.compile(r"/v?\d+(?:\.\d+)+[^/]*")
_NOTHING_SAID = (None, None, None, None, NEVER_US, NO_EVENT)
_NO_NOMINAL = (None, None, NEVER_US, NO_EVENT)
_NO_RAW = (None, NO_EVENT)
# Plain numbers: the members of an enumeration would be turned into them once for each fact.
_DATASET, _JOB = int(NodeKind.DATASET), int(NodeKind.JOB)
_SELF, _RUN = int(Side.SELF), int(Side.RUN)


class _Reason(msgspec.Struct):
    code: str = "rejected"
    path: str = "$"
    message: str = ""


class Names:
    """Names to node ids under one installation's key (at most 64 bytes), remembering those met lately.

    Names in `refused` (kind, namespace, name) share an id with another name: an event that uses one is not folded.
    """

    def __init__(self, key: bytes, refused: frozenset[tuple[int, str, str]] = frozenset()) -> None:
        self.key = key
        self.refused = refused
        self._of: Callable[[NodeKind, str, str], int] = lru_cache(200_000)(self._compute)

    def _compute(self, kind: NodeKind, namespace: str, name: str) -> int:
        if (int(kind), namespace, name) in self.refused:
            raise RefusedNameError(kind, namespace, name)
        return node_id(self.key, kind, namespace, name)

    def node(self, kind: NodeKind, namespace: str, name: str) -> int:
        """The id of a node of a kind."""
        return self._of(kind, namespace, name)

    def dataset(self, namespace: str, name: str) -> int:
        """The id of a dataset."""
        return self._of(NodeKind.DATASET, namespace, name)

    def job(self, namespace: str, name: str) -> int:
        """The id of a job."""
        return self._of(NodeKind.JOB, namespace, name)


class RefusedNameError(Exception):
    """An event uses a name whose node id belongs to another name."""

    def __init__(self, kind: int, namespace: str, name: str) -> None:
        super().__init__(f"the id of {NodeKind(kind).name.lower()} {namespace!r} {name!r} belongs to another name")


class Told(NamedTuple):
    """Nodes, and contents (with one of its facets each), whose rows are merged already, so that no event need bring them again.

    A node that is told later than it is known to be named need not be told either.
    """

    nodes: Mapping[Row, Row]
    contents: Container[Row]


NOTHING_TOLD = Told({}, ())


def facts(stored: StoredRecord, names: Names, told: Told = NOTHING_TOLD) -> list[Fact]:
    """The rows one record stands for, but for rows of nodes, contents and facets that are `told`.

    An event that cannot be folded becomes a row of `quarantine`; nothing is raised for its content.
    """
    record = stored.record
    if record.kind == RecordKind.EVENT:
        verdict = judge(record.body, record.arrival_us)
        if isinstance(verdict, Rejected):
            return [_quarantine(stored, verdict.code, verdict.path, verdict.message)]
        return _folded(stored, verdict, names, told)
    if record.kind == RecordKind.REJECTED:
        reason = msgspec.json.decode(record.note, type=_Reason) if record.note else _Reason()
        return [_quarantine(stored, reason.code, reason.path, reason.message)]
    if record.kind == RecordKind.OPERATOR:
        return [*operation(record), *_ended(record, names)]
    return []


def _folded(stored: StoredRecord, verdict: Clean | Repaired, names: Names, told: Told) -> list[Fact]:
    """The facts of an accepted event; whatever goes wrong in here concerns this event alone."""
    try:
        return _event_facts(stored, verdict, names, told)
    except RefusedNameError as error:
        return [_quarantine(stored, "id_collision", "$", str(error))]
    except Exception as error:  # noqa: BLE001 - the boundary of one event within a batch: it is kept, with the reason
        return [_quarantine(stored, "fold_failed", "$", f"{type(error).__name__}: {error}"[:500])]


def _quarantine(stored: StoredRecord, code: str, path: str, message: str) -> Fact:
    record = stored.record
    sample = record.body[: 4 * SAMPLE_CHARACTERS].decode("utf-8", "replace").replace("\x00", "\ufffd")[:SAMPLE_CHARACTERS]
    values = (code, path, message, sample, len(record.body), record.arrival_us, record.channel, record.principal)
    return "quarantine", (record.event_id, stored.source, stored.partition, stored.offset), values


def _ended(record: LogRecord, names: Names) -> list[Fact]:
    try:
        return list(endings(record, names.node))
    except RefusedNameError:
        return []


def _event_facts(stored: StoredRecord, verdict: Clean | Repaired, names: Names, told: Told) -> list[Fact]:
    event, record = verdict.event, stored.record
    time = event.time_us if event.time_us <= record.arrival_us + DAY_US else record.arrival_us
    repairs = ",".join(sorted({r.code for r in verdict.repairs} - _OF_A_COPY)) if isinstance(verdict, Repaired) else ""
    statement = _Statement(record, event, time, names, told)
    statement.add(
        "event",
        (event.time_us, record.event_id),
        (time, event.type or "", statement.subject, *statement.speaks_of, repairs),
    )
    statement.add(
        "event_record",
        (event.time_us, record.event_id, stored.source, stored.partition, stored.offset),
        (record.arrival_us, record.channel, record.principal),
    )
    if record.channel == RETRY:
        statement.add("released", (record.event_id,), (record.arrival_us,))
    statement.speak()
    return statement.facts


class _Statement:
    """One event on its way to facts: who speaks (`subject`), of what, when, and with which ids. `facts` are those it has made."""

    def __init__(self, record: LogRecord, event: Event, time: int, names: Names, told: Told) -> None:
        self.facts: list[Fact] = []
        self.told = told
        self.event, self.time, self.id, self.names = event, time, record.event_id, names
        self.day = day_of(time)
        self.span = time, time
        self.said_at = time, record.event_id, time, record.event_id
        self.job = names.job(event.job.namespace, event.job.name) if event.job else 0
        self.dataset = names.dataset(event.dataset.namespace, event.dataset.name) if event.dataset else 0
        self.speaks_of = (self.job, 0 if event.job else self.dataset)
        self.origin = int(Origin.OBSERVED if event.kind == "run" else Origin.DECLARED)
        self.subject = event.run.id if event.kind == "run" and event.run else self._design_time_subject()

    def _design_time_subject(self) -> bytes:
        event = self.event
        producer = _VERSION.sub("", event.producer)
        if event.job:
            return statement_id(NodeKind.JOB, event.job.namespace, event.job.name, producer)
        dataset = event.dataset or Dataset("", "", {}, {})
        return statement_id(NodeKind.DATASET, dataset.namespace, dataset.name, producer)

    def speak(self) -> None:
        """All but the event's own row and its copy."""
        event = self.event
        if event.job:
            self.node(self.job, _JOB, event.job)
        if event.run and event.kind == "run" and event.job:
            self.of_run(event.run, event.job)
        elif event.job:
            self.of_declared_job(event.job)
        if event.dataset:
            self.of_dataset(event.dataset)

    def add(self, relation: str, key: Row, values: Row) -> None:
        self.facts.append((relation, key, values))

    def node(self, id_: int, kind: int, named: Job | Dataset) -> None:
        self.name(id_, kind, named.namespace, named.name)

    def name(self, *row: int | str) -> None:
        known = self.told.nodes.get(row)
        if known is None or known[0] > self.time:
            self.facts.append(("node", row, (self.time,)))

    def said(self, about: int, side: int, content: bytes) -> None:
        self.add("assertion", (self.subject, self.job, about, side, self.origin, content, self.day), self.said_at)

    def content(self, facets: Facets) -> bytes:
        """The address of what these facets say, once for all that say the same."""
        if not facets:
            return NO_CONTENT
        address, rows = _content(tuple(facets.items()))
        if rows[0][1] not in self.told.contents:
            self.facts += rows
        return address

    # a run

    def of_run(self, run: Run, job: Job) -> None:
        self.run_row(run)
        self.add("run_event", (run.id, self.event.type or "", self.day), self.span)
        self.said(self.job, _SELF, self.content(job.facets))
        if run.facets:
            self.said(self.job, _RUN, self.content(run.facets))
            self.control(run, self.job)
        samples: dict[tuple[int, int], list[int | None]] = {}
        for side, access, datasets in (
            (Side.INPUT, Side.INPUT_ACCESS, self.event.inputs),
            (Side.OUTPUT, Side.OUTPUT_ACCESS, self.event.outputs),
        ):
            for dataset in datasets:
                self.of_io(dataset, side, access, samples)
        for (dataset_id, side_code), counters in sorted(samples.items()):
            self.add("io_sample", (run.id, self.job, dataset_id, side_code, self.time), (*counters, self.id))

    def run_row(self, run: Run) -> None:
        parent: Row = _NOTHING_SAID
        nominal: Row = _NO_NOMINAL
        raw: Row = _NO_RAW
        if above := _run_facet(standard.ParentRunFacet, "parent", run):
            parent = self.parent(above)
        if interval := _run_facet(standard.NominalTimeRunFacet, "nominalTime", run):
            nominal = (_time(interval.nominalStartTime), _time(interval.nominalEndTime), self.time, self.id)
        if run.raw_id and parse_uuid(run.raw_id) is None:
            raw = (run.raw_id, self.id)
        self.add("run", (run.id, self.job), (*parent, *nominal, *raw))

    def parent(self, facet: standard.ParentRunFacet) -> Row:
        """The nodes of the parent's and the root's jobs, which may never speak themselves; returns the run's reference to them."""
        parent_run, parent_job = self.named_run(facet.job.namespace, facet.job.name, facet.run.runId)
        root_run = root_job = None
        if facet.root is not None:
            root_run, root_job = self.named_run(facet.root.job.namespace, facet.root.job.name, facet.root.run.runId)
        return parent_run, parent_job, root_run, root_job, self.time, self.id

    def named_run(self, namespace: str, name: str, raw_id: str) -> tuple[bytes, int]:
        job = self.names.job(namespace, name)
        run = run_uuid(namespace, name, raw_id)
        self.name(job, _JOB, namespace, name)
        return run, job

    def of_io(self, dataset: Dataset, side: Side, access: Side, samples: dict[tuple[int, int], list[int | None]]) -> None:
        id_, side_code = self.names.dataset(dataset.namespace, dataset.name), int(side)
        self.node(id_, _DATASET, dataset)
        self.add("run_io", (self.subject, self.job, id_, side_code, self.day), self.span)
        if dataset.facets:
            self.said(id_, side_code, self.content(dataset.facets))
            self.lifecycle(id_, dataset)
        if dataset.access:
            rest = {key: text for key, text in dataset.access.items() if key not in STATISTICS}
            _sample(dataset, side, samples.setdefault((id_, side_code), [None, None, None]))
            if rest:
                self.said(id_, int(access), self.content(rest))

    def control(self, run: Run, job: int) -> None:
        """The jobs this run waits for, and those that wait for it."""
        facet = _run_facet(standard.JobDependenciesRunFacet, "jobDependencies", run)
        for direction, others in enumerate((facet.upstream, facet.downstream) if facet else ()):
            for other in others or ():
                namespace, name = other.job.namespace, other.job.name
                id_ = run_uuid(namespace, name, other.run.runId) if other.run else NO_RUN
                words = other.dependency_type or "", other.sequence_trigger_rule or "", other.status_trigger_rule or ""
                self.add("job_dependency", (run.id, job, direction, self.names.job(namespace, name), id_, *words), self.span)

    def lifecycle(self, id_: int, dataset: Dataset) -> None:
        """What became of the dataset, if that is said."""
        text = dataset.facets.get("lifecycleStateChange")
        facet = standard.read_as(standard.LifecycleStateChangeDatasetFacet, "dataset", "lifecycleStateChange", text) if text else None
        if facet:
            was = facet.previousIdentifier
            previous = self.names.dataset(was.namespace, was.name) if was else 0
            self.add("lifecycle", (self.subject, self.job, id_, facet.lifecycleStateChange, previous, self.day), self.said_at)

    # design time

    def of_dataset(self, dataset: Dataset) -> None:
        """What is said of a dataset itself."""
        self.node(self.dataset, _DATASET, dataset)
        self.said(self.dataset, _SELF, self.content(dataset.facets))
        self.lifecycle(self.dataset, dataset)

    def of_declared_job(self, job: Job) -> None:
        """One content for all of it: job, inputs, outputs and lineage are replaced together."""
        declared: list[tuple[int, int, bytes]] = []
        for side, datasets in ((int(Side.INPUT), self.event.inputs), (int(Side.OUTPUT), self.event.outputs)):
            for dataset in datasets:
                id_ = self.names.dataset(dataset.namespace, dataset.name)
                self.node(id_, _DATASET, dataset)
                facets = self.content(dataset.facets)
                if dataset.facets:
                    self.said(id_, side, facets)
                    self.lifecycle(id_, dataset)
                declared.append((side, id_, facets))
        content, rows = _content(tuple(job.facets.items()), tuple(sorted(set(declared))))
        self.facts += rows
        for side, id_, facets in declared:
            self.add("declared_io", (content, side, id_, facets), ())
        self.said(self.job, _SELF, content)


@lru_cache(8_192)
def _content(facets: tuple[tuple[str, bytes], ...], declared: tuple[tuple[int, int, bytes], ...] = ()) -> tuple[bytes, tuple[Fact, ...]]:
    """The address of one content, and its rows. A content without facets and declarations is NO_CONTENT and has no rows.

    What a producer repeats is hashed and spelt out once; the rows of all that repeat it are the same objects.
    """
    if not facets and not declared:
        return NO_CONTENT, ()
    hashed = sorted((key, text_hash(text), text) for key, text in facets)
    address = text_hash(b"".join(b"%d:%b%b" % (len(k := key.encode()), k, facet) for key, facet, _ in hashed) + repr(declared).encode())
    rows: list[Fact] = []
    for key, facet, text in hashed:
        rows.append(("facet_set", (address, key), (facet,)))
        rows.append(("facet", (facet,), (_is_tombstone(text), text.decode("utf-8", "replace"))))
    return address, tuple(rows)


def _is_tombstone(text: bytes) -> int:
    """1 for a facet with `_deleted: true`; only a text that can hold the word, plain or escaped, is read for it."""
    return int((b"_deleted" in text or b"\\u" in text) and standard.is_deleted(text))


def _sample(dataset: Dataset, side: Side, counters: list[int | None]) -> None:
    """Merge the counters one mention states into those of the same event: the larger stands."""
    facet = _statistics(dataset, side)
    if facet is None:
        return
    for place, stated in enumerate((facet.rowCount, facet.size, facet.fileCount)):
        known = counters[place]
        if stated is not None and (known is None or stated > known):
            counters[place] = int(stated)


def _statistics(
    dataset: Dataset, side: Side
) -> standard.InputStatisticsInputDatasetFacet | standard.OutputStatisticsOutputDatasetFacet | None:
    if side is Side.INPUT:
        text = dataset.access.get("inputStatistics")
        return standard.read_as(standard.InputStatisticsInputDatasetFacet, "input", "inputStatistics", text) if text else None
    text = dataset.access.get("outputStatistics")
    return standard.read_as(standard.OutputStatisticsOutputDatasetFacet, "output", "outputStatistics", text) if text else None


_RunFacet = TypeVar("_RunFacet", bound=standard.Facet)


def _run_facet(kind: type[_RunFacet], key: str, run: Run) -> _RunFacet | None:
    return standard.read_as(kind, "run", key, run.facets[key]) if key in run.facets else None


def _time(text: str | None) -> int | None:
    parsed = parse_time(text) if text else None
    return parsed.us if parsed else None
