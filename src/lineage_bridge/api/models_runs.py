"""The shapes of answers about runs inside and behind each other."""

from msgspec import Struct

from lineage_bridge.api.models import Run


class DepthRun(Run, frozen=True, omit_defaults=True):
    """A run with how deep inside the run asked for it lies."""

    depth: int = 0


class Tree(Struct, frozen=True):
    """A run and all that runs inside it, each behind the run it is in. `truncated`: there is more."""

    runs: list[DepthRun]
    truncated: bool
    settling: bool
    position: str
