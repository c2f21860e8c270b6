"""Responses with the ledger of a path."""

from msgspec import UNSET, Struct, UnsetType

from lineage_bridge.api.schemas.nodes import GraphNode


class LedgerAmount(Struct, frozen=True, omit_defaults=True):
    """The amount that `runs` runs reported; absent if none did."""

    runs: int
    rows: int | UnsetType = UNSET
    bytes: int | UnsetType = UNSET


class LedgerSide(Struct, frozen=True):
    """One side of a hop. `change` is steady, less, more, silent, new or unknown."""

    window: LedgerAmount
    baseline: LedgerAmount
    change: str


class LedgerHopAnswer(Struct, frozen=True, omit_defaults=True):
    """One hop through one job. `began`: this is where the change of what is written begins."""

    source: GraphNode
    target: GraphNode
    job: GraphNode
    read: LedgerSide
    written: LedgerSide
    began: bool = False


class TimeWindow(Struct, frozen=True):
    """A window of time; `until` is exclusive."""

    since: str
    until: str


class LedgerAnswer(Struct, frozen=True):
    """What passed each hop of a path. `paths` is the number of paths found; `more`: there may be others."""

    source: GraphNode
    target: GraphNode
    path: list[GraphNode]
    window: TimeWindow
    baseline: TimeWindow
    hops: list[LedgerHopAnswer]
    paths: int
    more: bool
    settling: bool
    position: str
