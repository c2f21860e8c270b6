"""Computes the state of a job from its newest run."""

from lineage_bridge.graph.runs.liveness import Liveness, liveness
from lineage_bridge.model.runs import RunRecord

DECLARED = "declared"
"""The state of a job that has never run."""
STATES = (DECLARED, *(item.value for item in Liveness), "start", "running", "complete", "fail", "abort", "unknown")
"""The states that a job can have."""
URGENT = ("fail", "gone", "silent", "abort")
"""The states that need attention, the worst first."""


def job_state(newest: RunRecord | None, now_us: int) -> str:
    """The state of a job: the liveness of a running stream, else the state of the newest run in lower case; DECLARED without a run."""
    if newest is None or newest.declared:
        return DECLARED
    if newest.heartbeat_us is not None:
        return liveness(newest.last, now_us, newest.heartbeat_us).value
    return newest.state.lower()
