"""The responses with the ledger of a path."""

from msgspec import UNSET, Struct, UnsetType

from lineage_bridge.api.schemas.nodes import GraphNode


class LedgerAmount(Struct, frozen=True, omit_defaults=True):
    """The sum of an amount over `runs` runs that reported it; absent if none did."""

    runs: int
    rows: int | UnsetType = UNSET
    bytes: int | UnsetType = UNSET


class LedgerSide(Struct, frozen=True):
    """One side of a hop: what the job read, or what it wrote. `change` is steady, less, more, silent, new or unknown."""

    window: LedgerAmount
    baseline: LedgerAmount
    change: str


class LedgerHopAnswer(Struct, frozen=True, omit_defaults=True):
    """One hop of a path, through one job. `began`: this is the first hop whose written amount changed.

    `ratio` is how many rows are written for each row read in the window, `baseline_ratio` the same in the baseline; absent where one is not
    reported. `diverged`: the ratio of this output differs from the baseline by more than 5 per cent, and no output nearer to the sources
    does so. `state` and `last_seen` are those of the job's newest run, as they are now.
    """

    source: GraphNode
    target: GraphNode
    job: GraphNode
    read: LedgerSide
    written: LedgerSide
    began: bool = False
    ratio: float | UnsetType = UNSET
    baseline_ratio: float | UnsetType = UNSET
    diverged: bool = False
    state: str | UnsetType = UNSET
    last_seen: str | UnsetType = UNSET


class TimeWindow(Struct, frozen=True):
    """A window of time; `until` is exclusive."""

    since: str
    until: str


class LedgerAnswer(Struct, frozen=True):
    """The amounts at each hop of a path. `paths` is the number of paths found; `more`: there may be others.

    Without a source in the question, the hops are all those upstream of the target, in the order from the sources on; `path` and `paths`
    are empty.

    If a hop has diverged, `last_good` is when the last reports of rows written began at which its ratio was still that of the baseline,
    and `first_bad` the first behind them at which it was not; absent if it did not turn between the begin of the baseline and the end
    of the window, or if that cannot be found.
    """

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
    last_good: str | UnsetType = UNSET
    first_bad: str | UnsetType = UNSET
