"""Computes the state of a run from the types of events that it sent, and the times at which it sent each type first and last.

The state is computed when it is needed; a simpler rule, such as storing the last type, fails with events of real producers.
"""

from collections.abc import Iterable, Sequence
from itertools import pairwise
from statistics import median
from typing import NamedTuple

from lineage_bridge.openlineage.facets import EmissionPattern, JobTypeJobFacet

TERMINAL = ("FAIL", "ABORT", "COMPLETE")
"""The event types that end a run. If a run sent several of them, the one that comes first in this tuple decides."""
HEARTBEAT_US = 60_000_000
"""If a streaming run sends RUNNING more than this many microseconds after a terminal event, the run goes on. This applies to runs whose
heartbeat period is unknown."""
STREAMING_TYPES = frozenset({"STREAMING", "SERVICE"})
STREAMING_INTEGRATIONS = frozenset({"FLINK", "KAFKACONNECT", "DEBEZIUM", "KSQLDB", "KSQL"})
"""Integrations whose jobs do not end by themselves. Written without spaces, dashes and underscores."""
RETRYING_INTEGRATIONS = frozenset({"DEBEZIUM"})
"""Integrations that send FAIL at each retry and continue."""
UNKNOWN = "UNKNOWN"
LEARNT_FROM = 32
"""A run's period is computed from this many of its newest RUNNING events."""
_SECOND_US = 1_000_000
_LEAST_GAPS = 4


class RunState(NamedTuple):
    """The state of a run; times are UTC microseconds.

    `started_inferred`: the run sent no START, so `started` is the time of its first event. `conflict`: it sent different terminal types.
    """

    state: str
    started: int | None
    ended: int | None
    started_inferred: bool
    conflict: bool


class Processing(NamedTuple):
    """How a job works: whether it is streaming, its declared period (microseconds) if any, and whether its FAIL may be a retry.

    `content_mode` is the member eventContentMode of the job's emissionPattern: ACCUMULATIVE, COMPLETE_SNAPSHOT, or None.
    """

    streaming: bool = False
    period_us: int | None = None
    retries: bool = False
    content_mode: str | None = None


def processing(job_type: JobTypeJobFacet | None, engine: str | None = None) -> Processing:
    """How a job works, from its newest jobType facet; if that does not decide, from its integration or the engine that a run named."""
    integration = _plain(job_type.integration if job_type else engine or "")
    text = job_type.processingType.upper() if job_type else ""
    streaming = text in STREAMING_TYPES or (text != "BATCH" and integration in STREAMING_INTEGRATIONS)
    pattern = job_type.emissionPattern if job_type else None
    mode = pattern.eventContentMode.upper() if pattern and pattern.eventContentMode else None
    return Processing(streaming, _declared(pattern), integration in RETRYING_INTEGRATIONS, mode)


def _plain(text: str) -> str:
    return text.upper().replace(" ", "").replace("-", "").replace("_", "").removeprefix("APACHE")


def _declared(pattern: EmissionPattern | None) -> int | None:
    if pattern is None or pattern.windowDuration is None or pattern.windowDuration <= 0 or pattern.eventTrigger.upper() != "PERIODIC":
        return None
    return int(pattern.windowDuration * _SECOND_US)


def learn_period(times: Sequence[int]) -> int | None:
    """The period of heartbeats at these times, in microseconds; None if they are not periodic.

    Intervals under a second are ignored, because they are bursts. The heartbeats are periodic if at least four intervals remain, and at
    least three quarters of these differ from their median by at most a quarter of the median.
    """
    ordered = sorted(set(times))
    gaps = [b - a for a, b in pairwise(ordered) if b - a >= _SECOND_US]
    if len(gaps) < _LEAST_GAPS:
        return None
    middle = int(median(gaps))
    regular = sum(abs(gap - middle) * 4 <= middle for gap in gaps)
    return middle if regular * 4 >= 3 * len(gaps) else None


def goes_on_unsure(events: Iterable[tuple[str, int, int]]) -> bool:
    """Whether a RUNNING event followed a terminal event. The state of a streaming run then depends on the period of its heartbeats."""
    lasts = {type_: last for type_, _, last in events}
    running = lasts.get("RUNNING")
    return running is not None and any(type_ in lasts and lasts[type_] < running for type_ in TERMINAL)


def run_state(
    events: Iterable[tuple[str, int, int]],
    streaming: bool,
    heartbeat_us: int = HEARTBEAT_US,
    *,
    retries: bool = False,
) -> RunState:
    """The state of a run from its rows (type, first, last). OTHER and events without a type do not affect it.

    With `retries`, a streaming run continues if a RUNNING event follows a FAIL; without, only if that event is more than one heartbeat
    period later.
    """
    times = {type_: (first, last) for type_, first, last in events}
    typed = {type_: pair for type_, pair in times.items() if type_ not in ("", "OTHER")}
    ends = {type_: typed[type_][1] for type_ in TERMINAL if type_ in typed}
    start = typed.get("START")
    counting = {type_: last for type_, last in ends.items() if start is None or start[1] <= last}
    if streaming:
        running = typed["RUNNING"][1] if "RUNNING" in typed else None
        grace = {type_: 0 if retries and type_ == "FAIL" else heartbeat_us for type_ in counting}
        counting = {type_: last for type_, last in counting.items() if running is None or running <= last + grace[type_]}
    state = _ended(counting, streaming) or _going(typed)
    seen = [first for first, _ in times.values()]
    started = start[0] if start else min(seen, default=None)
    return RunState(state, started, ends[state] if state in TERMINAL else None, start is None, len(ends) > 1)


def _ended(counting: dict[str, int], streaming: bool) -> str | None:
    if not counting:
        return None
    if streaming:
        return max(counting, key=lambda type_: (counting[type_], -TERMINAL.index(type_)))
    return min(counting, key=TERMINAL.index)


def _going(typed: dict[str, tuple[int, int]]) -> str:
    if "RUNNING" in typed:
        return "RUNNING"
    return "START" if "START" in typed else UNKNOWN
