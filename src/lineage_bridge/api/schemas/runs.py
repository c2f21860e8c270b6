"""The shapes of answers about runs inside and behind each other."""

from msgspec import Struct

from lineage_bridge.api.schemas.answers import DatasetName, RunItem


class DepthRun(RunItem, frozen=True, omit_defaults=True):
    """A run with how deep inside the run asked for it lies."""

    depth: int = 0


class RunLink(Struct, frozen=True):
    """The run `consumer` read of `dataset` what the run `producer` had written; `by` is what says so."""

    producer: str
    consumer: str
    dataset: DatasetName
    by: str


class RunLineageAnswer(Struct, frozen=True):
    """Runs up- or downstream of a run, each with its distance as `depth`, and what links them. `truncated`: there may be more."""

    direction: str
    runs: list[DepthRun]
    links: list[RunLink]
    truncated: bool
    settling: bool
    position: str


class RunTreeAnswer(Struct, frozen=True):
    """A run and all that runs inside it, each behind the run it is in. `truncated`: there is more."""

    runs: list[DepthRun]
    truncated: bool
    settling: bool
    position: str
