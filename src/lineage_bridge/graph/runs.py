"""Run state: a pure function of which event types a run sent, and when first and last.

It is read late, since real producers break every simpler rule.
"""

from collections.abc import Iterable
from typing import NamedTuple

TERMINAL = ("FAIL", "ABORT", "COMPLETE")
"""The types that end a run; of two that count, the earlier in this list stands."""
HEARTBEAT_US = 60_000_000
"""How long after an end a streaming run's RUNNING must come to say that it goes on, when its period is unknown."""
STREAMING_TYPES = frozenset({"STREAMING", "SERVICE"})
UNKNOWN = "UNKNOWN"


class RunState(NamedTuple):
    """Times are UTC microseconds. `started_inferred`: no START was seen, the first event stands for it.

    `conflict`: two different ends were said.
    """

    state: str
    started: int | None
    ended: int | None
    started_inferred: bool
    conflict: bool


def run_state(events: Iterable[tuple[str, int, int]], streaming: bool, heartbeat_us: int = HEARTBEAT_US) -> RunState:
    """The state of a run from its (type, first, last) rows. OTHER and events without a type change nothing."""
    spans = {type_: (first, last) for type_, first, last in events}
    typed = {type_: span for type_, span in spans.items() if type_ not in ("", "OTHER")}
    ends = {type_: typed[type_][1] for type_ in TERMINAL if type_ in typed}
    start = typed.get("START")
    counting = {type_: last for type_, last in ends.items() if start is None or start[1] <= last}
    if streaming:
        running = typed["RUNNING"][1] if "RUNNING" in typed else None
        counting = {type_: last for type_, last in counting.items() if running is None or running <= last + heartbeat_us}
    state = _ended(counting, streaming) or _going(typed)
    seen = [span[0] for span in spans.values()]
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
