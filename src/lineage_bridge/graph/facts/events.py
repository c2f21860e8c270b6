"""Converts a log record with an event to facts, the rows of the relations. Pure; reads no clock.

Content that producers repeat is stored once under its hash, so a record adds few rows. A repeat only changes the first and last times.
"""

import re
from collections.abc import Container, Mapping
from typing import NamedTuple

import msgspec

from lineage_bridge.graph.facts.counters import STATISTICS, merge_counters
from lineage_bridge.graph.facts.facet_sets import NO_FACETS, Fact, by_side, make_facet_set
from lineage_bridge.graph.facts.flow_endings import endings
from lineage_bridge.graph.facts.foreign import ForeignFacets, LimitedEvent, limit_event, may_parent
from lineage_bridge.graph.facts.names import Names, RefusedNameError
from lineage_bridge.graph.facts.operations import operation
from lineage_bridge.graph.facts.quarantine import quarantine_row, rejected_row
from lineage_bridge.graph.facts.run_facets import NO_NOMINAL, NO_PARENT, NO_RAW, nominal_time, run_facet, runs_above
from lineage_bridge.graph.ids import DAY_US, NodeKind, day_of, statement_id
from lineage_bridge.graph.log_record import NO_NOTE, RETRY, LogRecord, RecordKind, RecordNote, StoredRecord, read_note
from lineage_bridge.graph.merge_rules import Row
from lineage_bridge.graph.relations import Origin, Side
from lineage_bridge.openlineage import facets as standard
from lineage_bridge.openlineage.event import Dataset, Event, Facets, Job, Run
from lineage_bridge.openlineage.run_ids import parse_uuid, run_uuid
from lineage_bridge.openlineage.verdict import Clean, Rejected, Repaired, judge

NO_RUN = b""
"""Stands for a run id where the event states no run."""
LINEAGE_KEYS = frozenset({"columnLineage", "lineage"})
NAMING_KEYS = LINEAGE_KEYS | {"symlinks", "lifecycleStateChange", "jobDependencies"}
"""Keys of the facets that name other nodes than the one they belong to."""
# Repairs that depend on when the event arrived. They are not stored: the event's effective time shows their result.
_OF_A_COPY = {"future_time"}

_VERSION = re.compile(r"/v?\d+(?:\.\d+)+[^/]*")
# Plain integers, so that enumeration members need not be converted for each fact.
_DATASET, _JOB = int(NodeKind.DATASET), int(NodeKind.JOB)
_SELF, _RUN = int(Side.SELF), int(Side.RUN)


class AlreadyEmitted(NamedTuple):
    """The nodes and facet sets (each with one of its facets) whose rows were already emitted, so that later events skip them. A node is
    skipped only if it was emitted with an equal or earlier time.
    """

    nodes: Mapping[Row, Row]
    facet_sets: Container[Row]


NOTHING_EMITTED = AlreadyEmitted({}, ())


def facts(stored: StoredRecord, names: Names, emitted: AlreadyEmitted = NOTHING_EMITTED) -> list[Fact]:
    """The rows of one record, without the rows of nodes, facet sets and facets that were `emitted` before.

    An event that cannot be folded becomes a row of `quarantine`; nothing is raised for its content.
    """
    record = stored.record
    if record.kind == RecordKind.EVENT:
        verdict = judge(record.body, record.arrival_us)
        if isinstance(verdict, Rejected):
            return [quarantine_row(stored, verdict.code, verdict.path, verdict.message)]
        return _facts_of_accepted(stored, verdict, names, emitted)
    if record.kind == RecordKind.REJECTED:
        return [rejected_row(stored)]
    if record.kind == RecordKind.OPERATOR:
        return [*operation(record), *_ending_facts(record, names)]
    return []


def _facts_of_accepted(stored: StoredRecord, verdict: Clean | Repaired, names: Names, emitted: AlreadyEmitted) -> list[Fact]:
    """The facts of an accepted event. Any failure puts this one event in quarantine and does not affect others."""
    try:
        return _rows_of_event(stored, verdict, names, emitted)
    except RefusedNameError as error:
        return [quarantine_row(stored, "id_collision", "$", str(error))]
    except Exception as error:  # noqa: BLE001 - the boundary of one event within a batch: it is kept, with the reason
        return [quarantine_row(stored, "fold_failed", "$", f"{type(error).__name__}: {error}"[:500])]


def _ending_facts(record: LogRecord, names: Names) -> list[Fact]:
    try:
        return list(endings(record, names.node))
    except RefusedNameError:
        return []


def _rows_of_event(stored: StoredRecord, verdict: Clean | Repaired, names: Names, emitted: AlreadyEmitted) -> list[Fact]:
    record = stored.record
    note = read_note(record.note) if record.note else NO_NOTE
    limited = limit_event(verdict.event, note, names) if note.namespaces else LimitedEvent(verdict.event)
    event = limited.event
    time = event.time_us if event.time_us <= record.arrival_us + DAY_US else record.arrival_us
    repairs = ",".join(sorted({r.code for r in verdict.repairs} - _OF_A_COPY)) if isinstance(verdict, Repaired) else ""
    statement = _EventFacts(record, limited, note, time, names, emitted)
    statement.add(
        "event",
        (event.time_us, record.event_id),
        (time, event.type or "", _asserter(event), *statement.job_and_dataset, repairs),
    )
    statement.add(
        "event_record",
        (event.time_us, record.event_id, stored.source, stored.partition, stored.offset),
        (record.arrival_us, record.channel, record.principal),
    )
    if record.channel == RETRY:
        statement.add("released", (note.releases or record.event_id,), (record.arrival_us,))
    statement.add_rows()
    for some in limited.foreign:
        statement.add_foreign(some, note.sender or record.principal)
    return statement.facts


def _asserter(event: Event, *, other_flows: bool = False) -> bytes:
    """The `asserted_by` of an event: the id of its run, or of its design-time statement.

    If only a part of a design-time statement has effect, and that part states other flows than the whole, the part gets another id than the
    whole would have: otherwise each would replace the other.
    """
    if event.kind == "run" and event.run:
        return event.run.id
    producer = _VERSION.sub("", event.producer) + "\0limited" * other_flows
    if event.job:
        return statement_id(NodeKind.JOB, event.job.namespace, event.job.name, producer)
    dataset = event.dataset or Dataset("", "", {}, {})
    return statement_id(NodeKind.DATASET, dataset.namespace, dataset.name, producer)


class _EventFacts:
    """Collects the facts of one event in `facts`. They contain who asserts (`asserted_by`), about which job or dataset, and when."""

    def __init__(
        self, record: LogRecord, limited: LimitedEvent, note: RecordNote, time: int, names: Names, emitted: AlreadyEmitted
    ) -> None:
        event = limited.event
        self.facts: list[Fact] = []
        self.emitted = emitted
        self.event, self.time, self.id, self.names, self.namespaces = event, time, record.event_id, names, note.namespaces
        self.day = day_of(time)
        self.times = time, time
        self.asserted_at = time, record.event_id, time, record.event_id
        self.job = names.job(event.job.namespace, event.job.name) if event.job else 0
        self.dataset = names.dataset(event.dataset.namespace, event.dataset.name) if event.dataset else 0
        self.job_and_dataset = (self.job, 0 if event.job else self.dataset)
        self.origin = int(Origin.OBSERVED if event.kind == "run" else Origin.DECLARED)
        self.asserted_by = _asserter(event, other_flows=limited.other_flows)

    def add_rows(self) -> None:
        """Add all rows of the event, except those of `event` and `event_record`."""
        event = self.event
        if event.job:
            self.add_node(self.job, _JOB, event.job)
        if event.run and event.kind == "run" and event.job:
            self.add_run(event.run, event.job)
        elif event.job:
            self.add_declared_job(event.job)
        if event.dataset:
            self.add_dataset(event.dataset)

    def add(self, relation: str, key: Row, values: Row) -> None:
        self.facts.append((relation, key, values))

    def add_node(self, id_: int, kind: int, named: Job | Dataset) -> None:
        self.add_named_node(id_, kind, named.namespace, named.name)

    def add_named_node(self, *row: int | str) -> None:
        emitted = self.emitted.nodes.get(row)
        if emitted is None or emitted[0] > self.time:
            self.facts.append(("node", row, (self.time,)))

    def add_assertion(self, node: int, side: int, facet_set: bytes) -> None:
        self.add("assertion", (self.asserted_by, self.job, node, side, self.origin, facet_set, self.day), self.asserted_at)

    def add_facet_set(self, facets: Facets) -> bytes:
        """Add the facet set of these facets unless it was emitted before; return its id."""
        if not facets:
            return NO_FACETS
        address, rows = make_facet_set(tuple(facets.items()))
        if rows and rows[0][1] not in self.emitted.facet_sets:
            self.facts += rows
        return address

    def add_foreign(self, some: ForeignFacets, principal: str) -> None:
        """Add foreign assertions: facets without effect, because the sender may not assert them."""
        node, named = some.node, self.names.dataset if isinstance(some.node, Dataset) else self.names.job
        facet_set = self.add_facet_set(some.facets)
        if facet_set != NO_FACETS:
            about = self.job, named(node.namespace, node.name), int(some.side), some.why.value
            said_by = principal, msgspec.json.encode(self.namespaces).decode()
            self.add("foreign_assertion", (self.asserted_by, *about, *said_by, facet_set, self.day), self.asserted_at)

    # a run

    def add_run(self, run: Run, job: Job) -> None:
        self.add_run_row(run)
        self.add("run_event", (run.id, self.job, self.event.type or "", self.day), self.times)
        self.add_assertion(self.job, _SELF, self.add_facet_set(job.facets))
        if run.facets:
            self.add_assertion(self.job, _RUN, self.add_facet_set(run.facets))
            self.add_job_dependencies(run, self.job)
        samples: dict[tuple[int, int], list[int | None]] = {}
        for side, access, datasets in (
            (Side.INPUT, Side.INPUT_ACCESS, self.event.inputs),
            (Side.OUTPUT, Side.OUTPUT_ACCESS, self.event.outputs),
        ):
            for dataset in datasets:
                self.add_io(dataset, side, access, samples)
        for (dataset_id, side_code), counters in sorted(samples.items()):
            self.add("io_sample", (run.id, self.job, dataset_id, side_code, self.time), (*counters, self.id))

    def add_run_row(self, run: Run) -> None:
        parent: Row = NO_PARENT
        nominal: Row = NO_NOMINAL
        raw: Row = NO_RAW
        if facet := run_facet(standard.ParentRunFacet, "parent", run):
            above = runs_above(facet, run, self.names)
            for job in above.jobs:
                self.add_named_node(*job)
            parent = (*above.columns, self.time, int(may_parent(facet, self.namespaces)), self.id)
        if interval := nominal_time(run):
            nominal = (*interval, self.time, self.id)
        if run.raw_id and parse_uuid(run.raw_id) is None:
            raw = (run.raw_id, self.id)
        self.add("run", (run.id, self.job), (*parent, *nominal, *raw))

    def add_io(self, dataset: Dataset, side: Side, access: Side, samples: dict[tuple[int, int], list[int | None]]) -> None:
        id_, side_code = self.names.dataset(dataset.namespace, dataset.name), int(side)
        self.add_node(id_, _DATASET, dataset)
        self.add("run_io", (self.asserted_by, self.job, id_, side_code, self.day), self.times)
        if dataset.facets:
            self.add_named_facets(id_, side, dataset, self.add_facet_set(dataset.facets))
        if dataset.access:
            rest = {key: text for key, text in dataset.access.items() if key not in STATISTICS}
            merge_counters(dataset, side, samples.setdefault((id_, side_code), [None, None, None]))
            if rest:
                self.add_assertion(id_, int(access), self.add_facet_set(rest))

    def add_named_facets(self, id_: int, side: Side, dataset: Dataset, facet_set: bytes) -> None:
        """Add what an event asserts about one of its inputs or outputs.

        Column lineage of an input does not describe the job. It counts as lineage that the dataset declares for itself, as in a
        DatasetEvent.
        """
        if facet_set != NO_FACETS:
            self.add_assertion(id_, int(side), facet_set)
            self.add_lifecycle(id_, dataset)
        if side is Side.INPUT and "columnLineage" in dataset.facets:
            own = self.add_facet_set({"columnLineage": dataset.facets["columnLineage"]})
            key = self.asserted_by, 0, id_, _SELF, int(Origin.DECLARED), own, self.day
            self.add("assertion", key, self.asserted_at)

    def add_job_dependencies(self, run: Run, job: int) -> None:
        """Add the jobs that this run waits for, and those that wait for it."""
        facet = run_facet(standard.JobDependenciesRunFacet, "jobDependencies", run)
        for direction, others in enumerate((facet.upstream, facet.downstream) if facet else ()):
            for other in others or ():
                namespace, name = other.job.namespace, other.job.name
                id_ = run_uuid(namespace, name, other.run.runId) if other.run else NO_RUN
                rules = other.dependency_type or "", other.sequence_trigger_rule or "", other.status_trigger_rule or ""
                self.add("job_dependency", (run.id, job, direction, self.names.job(namespace, name), id_, *rules), self.times)

    def add_lifecycle(self, id_: int, dataset: Dataset) -> None:
        """Add the lifecycle change that the dataset's facet states, if any."""
        text = dataset.facets.get("lifecycleStateChange")
        facet = standard.read_as(standard.LifecycleStateChangeDatasetFacet, "dataset", "lifecycleStateChange", text) if text else None
        if facet:
            was = facet.previousIdentifier
            previous = self.names.dataset(was.namespace, was.name) if was else 0
            self.add("lifecycle", (self.asserted_by, self.job, id_, facet.lifecycleStateChange, previous, self.day), self.asserted_at)

    # design time

    def add_dataset(self, dataset: Dataset) -> None:
        """Add what a dataset event asserts about its dataset. Facets that it states for a catalog are kept apart, except lineage and other
        names.
        """
        self.add_node(self.dataset, _DATASET, dataset)
        for side, facets in by_side(dataset.facets, NAMING_KEYS):
            self.add_assertion(self.dataset, side, self.add_facet_set(facets))
        self.add_lifecycle(self.dataset, dataset)

    def add_declared_job(self, job: Job) -> None:
        """Add what a job event asserts, as one facet set for job, inputs, outputs and lineage, because the next event of the job replaces
        all of them.
        """
        declared: list[tuple[int, int, bytes]] = []
        for side, datasets in ((Side.INPUT, self.event.inputs), (Side.OUTPUT, self.event.outputs)):
            for dataset in datasets:
                id_ = self.names.dataset(dataset.namespace, dataset.name)
                self.add_node(id_, _DATASET, dataset)
                facets = self.add_facet_set(dataset.facets)
                self.add_named_facets(id_, side, dataset, facets)
                declared.append((int(side), id_, facets))
        facet_set, rows = make_facet_set(tuple(job.facets.items()), tuple(sorted(set(declared))))
        self.facts += rows
        for row in declared:
            self.add("declared_io", (facet_set, *row), ())
        self.add_assertion(self.job, _SELF, facet_set)
