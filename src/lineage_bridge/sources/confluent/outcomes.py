"""How the planes of one poll fared."""

from typing import NamedTuple

from lineage_bridge.sources.common.observer import Observation

OBSERVED, PARTLY, FAILED, NOT_OBSERVED, SKIPPED, GONE = "observed", "partly", "failed", "not_observed", "skipped", "gone"


class Outcome(NamedTuple):
    """How a plane fared. `key`: plane and scope; `state`: one of the above; `why`: what could not be observed and why. Times in us."""

    key: str
    state: str
    why: tuple[str, ...] = ()
    events: int = 0
    requests: int = 0
    took_us: int = 0


class Step(NamedTuple):
    """One plane's part of a poll. In `observation`, events are this plane's; the snapshot and `unseen` are the whole source's so far."""

    key: str
    outcome: Outcome
    observation: Observation
