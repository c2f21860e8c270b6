"""The services that the API depends on, and its limits."""

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from threading import Semaphore
from typing import Any

from anyio import CapacityLimiter

from lineage_bridge.access.browsers.logins import Logins
from lineage_bridge.api.answering.lanes import Lanes
from lineage_bridge.api.answering.relay import Relay
from lineage_bridge.api.guard import AccessPolicy
from lineage_bridge.api.limits.body_memory import BodyMemory
from lineage_bridge.api.limits.fair_slots import FairSlots
from lineage_bridge.api.limits.publications import Publications
from lineage_bridge.api.limits.rates import IngestRates
from lineage_bridge.api.limits.trials import Trials
from lineage_bridge.api.position_tokens import Position
from lineage_bridge.api.telemetry.counters import Counters
from lineage_bridge.errors import NotFoundError
from lineage_bridge.ingest.ingest import ANY_SIZE, RecordLimits
from lineage_bridge.ingest.payload import MAX_EVENTS
from lineage_bridge.openlineage.wire import MAX_BYTES
from lineage_bridge.ports.access import AuditTrail, ErasureService, KeyService
from lineage_bridge.ports.analysis import FindingsReader
from lineage_bridge.ports.graph_reader import GraphReader
from lineage_bridge.ports.inputs import InputLog, InputService
from lineage_bridge.ports.log import LOG_SOURCE, EventLog, RecordReader
from lineage_bridge.ports.pins import PinRepository
from lineage_bridge.ports.sources import SourceService
from lineage_bridge.ports.targets import TargetService
from lineage_bridge.ports.tasks import TaskService

LOOPBACK = frozenset({"localhost", "127.0.0.1", "[::1]", "::1"})
"""Host names of this machine's loopback interface."""
INGEST_THREADS = 4
HEALTHY = "ok"
"""The state of a part that works."""


@dataclass(frozen=True)
class DiskSpace:
    """How many bytes the log uses, and how many are free on its disk."""

    used_bytes: int
    free_bytes: int


@dataclass(frozen=True)
class LogHealth:
    """The damage of the event log: the numbers of damaged byte ranges, of those that no operator has acknowledged, and of unreadable
    bytes.

    `checked`: whether every record was read since the server started. `detail`: a sentence about the damage.
    """

    checked: bool = True
    damaged: int = 0
    unacknowledged: int = 0
    unreadable_bytes: int = 0
    detail: str = "all records can be read"


@dataclass(frozen=True)
class StreamPace:
    """How often the questions of streams are asked, in seconds: at most every `tick_s`, or every `slowest_s` if the answer takes long, and
    at least every `refresh_s`. If only the time of the answer has changed, it is sent at least every `quiet_s`; a comment is
    sent after `beat_s` without an event.
    """

    tick_s: float = 2.0
    quiet_s: float = 30.0
    slowest_s: float = 10.0
    refresh_s: float = 60.0
    beat_s: float = 15.0


def _no_findings() -> FindingsReader:
    raise NotFoundError("the graph has not been analysed", "run lineage-bridge analyse")


@dataclass(frozen=True)
class Services:
    """What the API depends on.

    `graph` opens a reader within one read transaction and raises StoreMissingError before there is a store. `pipeline` returns the
    pipeline's last status report, None without one; `is_alive` whether a process id is running. `log_state` is HEALTHY or what is wrong
    with the log. `graph_id` is the UUID of the installation's one graph, `key` the installation's key, on which digests of secrets in
    names depend. `findings` raises NotFoundError before the first analysis. `access` decides who may use the server; `logins` logs
    people in with a browser, in `login_threads`. `issuer_problems` maps each issuer of tokens to what is wrong with its keys, empty if
    nothing is. A question for what is not in the graph yet waits at most `not_found_wait_s` seconds, and only while it has one of
    `waiting_slots`. `lanes` bound how many questions are answered at once, `pace` how often what streams show is asked. Large requests
    are ingested in `ingest_threads`, for whose use callers take turns (`ingest_slots`), and records of inputs are appended in
    `input_threads`. `rates` limits what callers may send, `bodies` the memory that their bodies take. `trials` run tests of sources,
    inputs and targets, and `publications` limits how many requested publications run at once. Questions that wait look at the store in
    `waiting_threads`. A page of a list ends when it has `max_page_bytes`; a client that reads nothing for `send_timeout_s` seconds is
    disconnected. `questions` passes each question to another process; without it, this one answers. `store_bytes` is the size of each
    store, `store_kind` the database of the graph; `counters` count what comes in, and with `log_requests` every request is logged.
    `intake` is the input to whose topic events are written instead of the log, if there is one, `topic_ends` the end of that topic, and
    `record_limits` the largest record that can be written. `is_graph_suspect`: a question has found the graph damaged, and the pipeline
    has not replaced it yet. `progress` returns the position that the graph has applied and whether lineage is still to be derived, or
    raises StoreError, within seconds; without it, a reader is asked. `health_threads`, `ready_threads` and `metrics_threads` are for
    the routes of these names alone, so that questions which wait for the graph do not hold them up.
    """

    log: EventLog
    records: RecordReader
    graph: Callable[[], AbstractContextManager[GraphReader]]
    clock_us: Callable[[], int]
    pipeline: Callable[[], Mapping[str, Any] | None]
    is_alive: Callable[[int], bool]
    disk: Callable[[], DiskSpace]
    log_state: Callable[[], str]
    version: str
    graph_id: str
    key: bytes = field(repr=False)
    keys: KeyService
    audit: AuditTrail
    sources: SourceService
    inputs: InputService
    input_log: InputLog
    targets: TargetService
    tasks: TaskService
    pins: PinRepository
    erasures: ErasureService
    findings: Callable[[], FindingsReader] = _no_findings
    is_graph_suspect: Callable[[], bool] = lambda: False
    log_health: Callable[[], LogHealth] = LogHealth
    issuer_problems: Callable[[], Mapping[str, str]] = dict
    access: AccessPolicy = field(default_factory=lambda: AccessPolicy(allowed_hosts=LOOPBACK))
    logins: Logins | None = None
    login_threads: CapacityLimiter = field(default_factory=lambda: CapacityLimiter(4))
    max_body_bytes: int = MAX_BYTES
    max_events: int = MAX_EVENTS
    min_free_bytes: int = 16 << 20
    thread_bytes: int = 256 << 10
    not_found_wait_s: float = 2.0
    waiting_slots: Semaphore = field(default_factory=lambda: Semaphore(8))
    lanes: Lanes = field(default_factory=Lanes)
    pace: StreamPace = field(default_factory=StreamPace)
    ingest_threads: CapacityLimiter = field(default_factory=lambda: CapacityLimiter(INGEST_THREADS))
    input_threads: CapacityLimiter = field(default_factory=lambda: CapacityLimiter(4))
    ingest_slots: FairSlots = field(default_factory=lambda: FairSlots(INGEST_THREADS))
    trials: Trials = field(default_factory=Trials)
    publications: Publications = field(default_factory=Publications)
    rates: IngestRates = field(default_factory=IngestRates)
    bodies: BodyMemory = field(default_factory=BodyMemory)
    waiting_threads: CapacityLimiter = field(default_factory=lambda: CapacityLimiter(2))
    max_page_bytes: int = 8 << 20
    send_timeout_s: float = 30.0
    questions: Relay | None = None
    store_bytes: Callable[[], Mapping[str, int]] = dict
    store_kind: str = "SQLite"
    progress: Callable[[], tuple[Position, bool]] | None = None
    health_threads: CapacityLimiter = field(default_factory=lambda: CapacityLimiter(2))
    ready_threads: CapacityLimiter = field(default_factory=lambda: CapacityLimiter(4))
    metrics_threads: CapacityLimiter = field(default_factory=lambda: CapacityLimiter(4))
    counters: Counters = field(default_factory=Counters)
    log_requests: bool = False
    record_limits: Callable[[], RecordLimits] = lambda: ANY_SIZE
    topic_ends: Callable[[], Position] = dict
    intake: str = ""

    def written(self) -> Position:
        """The position after the last record that was accepted."""
        return {(LOG_SOURCE, 0): self.log.end(), **self.topic_ends()}
