"""The state of each part of the server, and how far answers lag behind the log."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass

from msgspec import UNSET, UnsetType

from lineage_bridge.api import position_tokens
from lineage_bridge.api.schemas.operations import DiskUse, Lag, LogDamage, PartState, PartStates, Readiness
from lineage_bridge.api.services import HEALTHY, LogHealth, Services
from lineage_bridge.errors import LogError, StoreError, StoreMissingError
from lineage_bridge.ports.graph_reader import GraphReader
from lineage_bridge.ports.log import LOG_SOURCE

SILENT_US = 10_000_000
"""A pipeline that has not reported for this long counts as silent."""


@dataclass(frozen=True)
class Backlog:
    """How far answers lag behind the log. `bytes`: records that the graph has not applied; `settling`: whether lineage is still being
    derived.

    `unread`: the topic to which received events are written has records that the pipeline has not read.
    """

    bytes: int
    settling: bool
    unread: bool = False

    def __bool__(self) -> bool:
        return self.bytes > 0 or self.settling or self.unread

    def __str__(self) -> str:
        if self.bytes > 0:
            return f"{self.bytes:,} bytes of events are not in the graph yet"
        if self.unread:
            return "the pipeline has not read all events from the topic of the intake yet"
        return "lineage is still being derived from the latest events" if self.settling else "the graph is complete"


def measure_backlog(services: Services, written: position_tokens.Position | None = None) -> Backlog:
    """Measure how far answers lag. `written` is the position after the last accepted record, for a process that does not know it.

    Raises LogError, StoreError.
    """
    return measure_progress(services, services.written() if written is None else written)[1]


def measure_progress(services: Services, written: position_tokens.Position) -> tuple[position_tokens.Position, Backlog]:
    """The position that the graph has applied, and how far answers lag. Arguments and errors are those of `measure_backlog`."""
    try:
        with services.graph() as reader:
            applied, settling = reader.progress.position(), reader.progress.settling()
    except StoreMissingError:
        applied, settling = {}, False
    return applied, _backlog(services, applied, written, settling=settling)


def _backlog(services: Services, applied: position_tokens.Position, written: position_tokens.Position, *, settling: bool) -> Backlog:
    topics = {at: end for at, end in written.items() if at[0] != LOG_SOURCE}
    return Backlog(_bytes_behind(services, applied), settling, not position_tokens.covers(applied, topics))


def is_reached(services: Services, position: position_tokens.Position) -> bool:
    """Whether the graph has applied everything before a position and derived all lineage from it."""
    try:
        with services.graph() as reader:
            return position_tokens.covers(reader.progress.position(), position) and not reader.progress.settling()
    except StoreMissingError:
        return False


def readiness(services: Services, *, names_inputs: bool = True) -> Readiness:
    """The present state of each part of the server. Without `names_inputs`, the names of failing inputs and targets are left out."""
    disk = disk_use(services)
    store, applied, settling = _store(services)
    written = services.written()
    texts = position_tokens.encode(written), position_tokens.encode(applied or {})
    lag = Lag(-1, False, *texts)
    try:
        if applied is not None:
            backlog = _backlog(services, applied, written, settling=settling)
            lag = Lag(backlog.bytes, not backlog, *texts)
            if backlog and store.state == HEALTHY:
                store = PartState(HEALTHY, f"answers lag: {backlog}")
    except LogError as error:
        store = PartState("failed", str(error))
    health = services.log_health()
    intake, inputs = _intake(services, disk), _inputs(services, names=names_inputs)
    targets = _targets(services, names=names_inputs)
    parts = PartStates(intake, _log(health), store, pipeline_part(services), _issuers(services), inputs, targets)
    ready = all(part.state == HEALTHY for part in (parts.intake, parts.store, parts.pipeline))
    damage = LogDamage(health.damaged, health.unacknowledged, health.unreadable_bytes)
    return Readiness(ready, parts, lag, settling, disk, damage)


def store_progress(graph: Callable[[], AbstractContextManager[GraphReader]]) -> tuple[position_tokens.Position, bool]:
    """The position that the graph has applied, and whether lineage is still to be derived. Raises StoreError."""
    with graph() as reader:
        return reader.progress.position(), reader.progress.settling()


def disk_use(services: Services) -> DiskUse:
    """The size of the log on its disk, and the free space there, in bytes."""
    disk = services.disk()
    return DiskUse(disk.used_bytes, disk.free_bytes)


def pipeline_part(services: Services) -> PartState:
    """The state of the pipeline, from the last report that it wrote."""
    status = services.pipeline()
    if status is None:
        return PartState("absent", "the pipeline has not reported yet")
    state, pid = str(status.get("state", "unknown")), _integer(status.get("pid"))
    silent_us = services.clock_us() - _integer(status.get("beat_us"))
    if state == "failed":
        return PartState("failed", str(status.get("error") or "the pipeline gave no reason"))
    if not services.is_alive(pid):
        return PartState("dead", f"process {pid} is not running")
    if silent_us > SILENT_US:
        return PartState("silent", f"process {pid} has not reported for {silent_us / 1e6:.0f} s")
    return PartState(HEALTHY, f"process {pid} is running") if state == "running" else PartState(state, f"process {pid} is {state}")


def _integer(value: object) -> int:
    """Return a value of the pipeline's status file as an integer. The file may be damaged; any other value counts as 0."""
    return value if isinstance(value, int) else 0


def _intake(services: Services, disk: DiskUse) -> PartState:
    state = services.log_state()
    if state != HEALTHY:
        return PartState("failed", state)
    if disk.free_bytes < services.min_free_bytes:
        return PartState("full", f"the disk has {disk.free_bytes} free bytes; the server needs {services.min_free_bytes}")
    return PartState(
        HEALTHY, "events are written durably to the log" if not services.intake else "events are written durably to a topic of Kafka"
    )


def _issuers(services: Services) -> PartState | UnsetType:
    issuers = services.issuer_problems()
    problems = [f"{name}: {problem}" for name, problem in issuers.items() if problem]
    if problems:
        return PartState("failed", "; ".join(problems))
    return PartState(HEALTHY, f"the signing keys of {', '.join(issuers)} are available") if issuers else UNSET


def _inputs(services: Services, *, names: bool) -> PartState | UnsetType:
    try:
        records = [record for record in services.inputs.records() if not record.paused]
    except StoreError as error:
        return PartState("failing", str(error))
    if not records:
        return UNSET
    if problem := services.inputs.problem(records):
        return PartState("failing", problem if names else "not all inputs are read")
    statuses = [record.status for record in records if record.status]
    counts = [status.lag_records for status in statuses if status.lag_files is None and status.lag_records is not None]
    files = [status.lag_files for status in statuses if status.lag_files is not None]
    seconds = [status.lag_s for status in statuses if status.lag_files is None and status.lag_records is None and status.lag_s is not None]
    if len(counts) + len(files) + len(seconds) < len(records):
        behind = "the lag of the inputs is not known yet"
    else:
        texts = [f"{sum(counts):,} records are not read yet"] if counts else []
        texts += [f"{sum(files):,} files are not read yet"] if files else []
        behind = ", ".join([*texts, f"the slowest of {len(seconds)} inputs is {max(seconds):.0f} s behind"] if seconds else texts)
    rejected = sum(sum(record.progress.rejected.values()) for record in records if record.progress)
    brought = f"{sum(status.records_per_s for status in statuses):g} records a second, {rejected:,} events rejected"
    return PartState(HEALTHY, f"{len(records)} input{'' if len(records) == 1 else 's'}: {behind}; {brought}")


def _targets(services: Services, *, names: bool) -> PartState | UnsetType:
    """Whether all targets with continuous publishing receive the changes of the graph."""
    try:
        followed = services.targets.followed()
    except StoreError as error:
        return PartState("failing", str(error))
    if not followed:
        return UNSET
    if any(status.activity == "stopped" for status in followed.values()):
        return PartState("failing", "the process that publishes to targets is not running; the server restarts it by itself")
    problems = [f"{name} ({status.state.code}): {status.state.error}" for name, status in followed.items() if status.state.failures]
    if problems:
        return PartState("failing", "; ".join(problems) if names else "not all targets receive the changes of the graph")
    behind = sum(status.lag_changes or 0 for status in followed.values())
    oldest_s = max(status.lag_s for status in followed.values())
    lag = f"{behind:,} changes are not published yet; the oldest has waited {oldest_s:.0f} s" if oldest_s else "all changes are published"
    return PartState(HEALTHY, f"{len(followed)} target{'' if len(followed) == 1 else 's'}: {lag}")


def _log(health: LogHealth) -> PartState:
    if health.unacknowledged:
        return PartState("damaged", f"{health.detail}; list the damage: lineage-bridge log check")
    return PartState(HEALTHY, health.detail if health.checked else "the records of the log are being checked")


def _store(services: Services) -> tuple[PartState, position_tokens.Position | None, bool]:
    """The state of the store, the position that it has applied (None if unknown), and whether lineage is still to be derived."""
    state = PartState(HEALTHY, f"questions are answered from {services.store_kind}")
    if services.questions is not None and not services.questions.is_answered():
        state = PartState("silent", "the process that answers questions does not respond; the server restarts it if it has ended")
    if services.is_graph_suspect():
        state = PartState("failed", "the database of the graph is damaged; the pipeline computes the graph again from the log")
    try:
        return state, *(services.progress() if services.progress else store_progress(services.graph))
    except StoreMissingError as error:
        return PartState("missing", str(error)), {}, False
    except StoreError as error:
        return PartState("failed", str(error)), None, False


def _bytes_behind(services: Services, applied: position_tokens.Position) -> int:
    """The number of bytes in the log and the archive after a position. Raises LogError if the position belongs to another log."""
    start, end = applied.get((LOG_SOURCE, 0), 0), services.records.durable_end()
    logged = services.records.size_between(start, end) if start < end else 0
    return logged + services.records.archived_behind(applied)
