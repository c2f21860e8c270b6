"""Converts a record of an input to the log records of its events. All forms of inputs use this one implementation, also in
Spark's workers.
"""

from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Future
from functools import partial
from typing import Final, NamedTuple

from lineage_bridge.graph.log_record import LogRecord
from lineage_bridge.ingest.ingest import JudgedEvent, Sender, ingest
from lineage_bridge.inputs.input import IncomingRecord
from lineage_bridge.inputs.settings import InputSettings, JobPatterns
from lineage_bridge.inputs.topic_record import restored
from lineage_bridge.inputs.values import origin_of, payload_of
from lineage_bridge.model.access import AccessScope, Principal
from lineage_bridge.openlineage.event import Event
from lineage_bridge.openlineage.facets import ParentRunFacet, read
from lineage_bridge.openlineage.verdict import Rejected
from lineage_bridge.ports.streams import JudgedRow

_PREFIX = "input:"
LEFT_OUT: Final = "left_out"


def principal_name(name: str) -> str:
    """The principal under which the records of an input are in the log."""
    return _PREFIX + name


class CollectingLog:
    """Implements `ports.EventLog` by keeping the records that `ingest` appends, until they are sent."""

    def __init__(self) -> None:
        self.records: list[LogRecord] = []

    def submit(self, records: Sequence[LogRecord]) -> "Future[list[int]]":
        """Keep records; their offsets are not known yet."""
        self.records += records
        done: Future[list[int]] = Future()
        done.set_result([])
        return done

    def end(self) -> int:
        """Return 0, because the end of the log is not known here."""
        return 0


class RecordJudge(NamedTuple):
    """Validates records of the input `name`. The settings may limit events to `namespaces` and `jobs`; `key` is the installation's key. Can
    be pickled.

    With `restores`, records that LineageBridge itself wrote to the stream keep their earlier verdicts, because the stream is its log of
    received events.
    """

    name: str
    channel: str
    namespaces: tuple[str, ...]
    key: bytes
    restores: bool = False
    jobs: JobPatterns = JobPatterns()

    @classmethod
    def make_judge(cls, name: str, channel: str, settings: InputSettings, key: bytes, *, restores: bool = False) -> "RecordJudge":
        """Create the function that validates the records of an input with these settings."""
        return cls(name, channel, tuple(settings.namespaces), key, restores, settings.jobs)

    def __call__(self, record: IncomingRecord, clock_us: Callable[[], int]) -> JudgedRow:
        """Convert a record of the input to log records; a record without a value gives none. Also returns how many of its events the
        setting `jobs` leaves out.
        """
        if record.value is None:
            return JudgedRow([])
        if self.restores and (written := restored(self.name, record, self.key)):
            return JudgedRow([written], size=_size([written]))
        events = self.judged(record, clock_us)
        kept = [event.record for event in events if not is_left_out(event)]
        return JudgedRow(kept, len(events) - len(kept), _size(event.record for event in events))

    def judged(self, record: IncomingRecord, clock_us: Callable[[], int]) -> list[JudgedEvent]:
        """The events of a record with their verdicts, including those that are left out."""
        principal = Principal(principal_name(self.name), frozenset({AccessScope.INGEST}), self.namespaces)
        left_out = partial(why_left_out, self.name, self.jobs)
        sender = Sender(self.channel, principal, origin=origin_of(self.name, record, self.key), left_out=left_out)
        payload = payload_of(record.value or b"", record.refused)
        return ingest(payload, sender, CollectingLog(), clock_us(), key=self.key).events


def is_left_out(event: JudgedEvent) -> bool:
    """Whether the settings of the input leave out an event because of its job."""
    return isinstance(event.verdict, Rejected) and event.verdict.code == LEFT_OUT


def why_left_out(input_name: str, jobs: JobPatterns, event: Event) -> Rejected | None:
    """The reason why the name of an event's job keeps an input from accepting the event; None if the input accepts it. A DatasetEvent has
    no job, so it is accepted.
    """
    name = _pipeline_name(event) if jobs.include or jobs.exclude else None
    if name is None or jobs.lets_pass(name):
        return None
    return Rejected(LEFT_OUT, "$.job.name", f"the input {input_name} leaves out the job {name!r} by its setting jobs")


def _size(records: Iterable[LogRecord]) -> int:
    return sum(len(record.body) for record in records)


def _pipeline_name(event: Event) -> str | None:
    """The name that OpenMetadata gives to the pipeline of an event. It is the name of the job of the parent run or, without a parent run,
    the name of the event's own job. None without a job.
    """
    parent = read("run", "parent", event.run.facets["parent"]) if event.run and "parent" in event.run.facets else None
    job = parent.job if isinstance(parent, ParentRunFacet) else event.job
    return f"{job.namespace}-{job.name}" if job else None
