"""Computes the liveness of a streaming run: whether it is still running, judged by its heartbeats and not by its state."""

from collections.abc import Sequence
from enum import Enum

from lineage_bridge.graph.ids import DAY_US

MISSED = 3
"""A stream that has missed this many heartbeats is silent."""
GONE_PERIODS = 30
"""A stream is gone after this many heartbeat periods without an event, but not before a day has passed."""


class Liveness(str, Enum):
    """The liveness of a stream: `alive`; `idle` (heartbeats arrive, but no data moved); `silent` (more than MISSED heartbeats are missing);
    or `gone` (GONE_PERIODS heartbeats are missing, for at least a day, or no event is known).
    """

    ALIVE = "alive"
    IDLE = "idle"
    SILENT = "silent"
    GONE = "gone"


def liveness(last: int | None, now_us: int, period_us: int, moves: bool | None = None) -> Liveness:
    """The liveness of a stream. It follows from the time of its last event, its heartbeat period, and whether data moved in its newest
    reports (None: they have no counters).
    """
    age = None if last is None else now_us - last
    if age is None or age > max(DAY_US, GONE_PERIODS * period_us):
        return Liveness.GONE
    if age > MISSED * period_us:
        return Liveness.SILENT
    return Liveness.IDLE if moves is False else Liveness.ALIVE


def moves(amounts: Sequence[int | None]) -> bool | None:
    """Whether data moved in the newest reports; None if no report has a number. `amounts`: how much each report added."""
    reported = [amount for amount in amounts if amount is not None]
    return any(reported) if reported else None
