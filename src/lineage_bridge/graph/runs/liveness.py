"""Liveness: whether a stream still runs, by its heartbeats, whatever its state says."""

from collections.abc import Sequence
from enum import Enum

from lineage_bridge.graph.ids import DAY_US

MISSED = 3
"""A stream that has missed this many heartbeats is silent."""
GONE_PERIODS = 30
"""A stream silent for this many periods, and for a day, is gone."""


class Liveness(str, Enum):
    """How a stream stands."""

    ALIVE = "alive"
    IDLE = "idle"
    SILENT = "silent"
    GONE = "gone"


def liveness(last: int | None, now_us: int, period_us: int, moves: bool | None = None) -> Liveness:
    """How a stream stands by its last event, its period and whether its newest numbers say that data moves (None: it tells no numbers)."""
    age = None if last is None else now_us - last
    if age is None or age > max(DAY_US, GONE_PERIODS * period_us):
        return Liveness.GONE
    if age > MISSED * period_us:
        return Liveness.SILENT
    return Liveness.IDLE if moves is False else Liveness.ALIVE


def moves(amounts: Sequence[int | None]) -> bool | None:
    """Whether data moved in the newest reports, each as how much it added; None if none of them tells."""
    told = [amount for amount in amounts if amount is not None]
    return any(told) if told else None
