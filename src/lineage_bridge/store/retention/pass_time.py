"""The time by which a pass of retention decides what is old. Nobody knows whether the machine's clock is right, so it has to agree with the
events and with the pass before.
"""

from typing import Final

from lineage_bridge.graph.ids import DAY_US
from lineage_bridge.store.connection import StoreConnection

MOST_FORWARD_US: Final = 7 * DAY_US
"""A pass goes at most this much further than the one before. So a wrong clock costs a week of what is kept, not everything."""
RETAINED_AT: Final = "retained"
"""The name, in the table of rules, of the time by which the last pass decided."""
_NEWEST = "SELECT max(time) FROM event WHERE time <= ?"
_NOTED = "SELECT value FROM rule WHERE name = ?"


def time_of_pass(connection: StoreConnection, now_us: int) -> int:
    """The machine's time, unless it is more than a day later than the newest event, or more than MOST_FORWARD_US later than that by which
    the last pass decided: then the earlier one of these. 0 without events.
    """
    newest = connection.execute(_NEWEST, (now_us,)).fetchone()[0]
    last = connection.execute(_NOTED, (RETAINED_AT,)).fetchone()
    latest = 0 if newest is None else int(newest) + DAY_US
    return min(now_us, latest, int(last[0]) + MOST_FORWARD_US if last else now_us)
