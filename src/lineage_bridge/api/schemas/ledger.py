"""The responses with the ledger of a path."""

from msgspec import UNSET, Struct, UnsetType

from lineage_bridge.api.schemas.nodes import GraphNode
from lineage_bridge.api.schemas.statistics import LagAnswer


class LedgerAmount(Struct, frozen=True, omit_defaults=True):
    """The sum of an amount over `runs` runs that reported it; absent if none did."""

    runs: int
    rows: int | UnsetType = UNSET
    bytes: int | UnsetType = UNSET


class DistinctAnswer(Struct, frozen=True):
    """How many different values a column of a dataset has, as a run stated it last. It is the column with the most different values."""

    column: str
    count: int
    at: str


class LedgerSide(Struct, frozen=True, omit_defaults=True):
    """One side of a hop: what the job read, or what it wrote. `change` is steady, less, more, silent, new or unknown.

    `collector` is present if no rows were reported in the window: the kind of source that would report them, such as `kafka`, or
    `producer` if only the job's own events can (`inputStatistics`, `outputStatistics`). `distinct` is present if a run stated within the
    window how many different values the columns of the dataset have (`dataQualityMetrics`).
    """

    window: LedgerAmount
    baseline: LedgerAmount
    change: str
    collector: str | UnsetType = UNSET
    distinct: DistinctAnswer | UnsetType = UNSET


class ConsoleAnswer(Struct, frozen=True):
    """A page about a node in the console of its system: the name of the console, and the address."""

    node: str
    title: str
    url: str


class LedgerHopAnswer(Struct, frozen=True, omit_defaults=True):
    """One hop of a path, through one job. `began`: this is the first hop whose written amount changed.

    `ratio` is how many rows are written for each row read in the window, `baseline_ratio` the same in the baseline; each is absent if the
    rows read or written were not reported. `diverged`: this is the output nearest to the sources whose ratio differs from the baseline by
    more than 5 per cent. `state` and `last_seen` are those of the job's newest run, as they are now.

    `lag` is what the job had not read of the source, as was reported last on the last day of the window; `lag_collector`, where that is not
    known, the kind of source that would report it. `consoles` are the pages
    about the job, the source and the target (`node` is the id) in the consoles of their systems, as far as their ids were observed.
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
    lag: LagAnswer | UnsetType = UNSET
    lag_collector: str | UnsetType = UNSET
    consoles: list[ConsoleAnswer] = []


class TimeWindow(Struct, frozen=True):
    """A window of time; `until` is exclusive."""

    since: str
    until: str


class LedgerAnswer(Struct, frozen=True):
    """The amounts at each hop of a path. `paths` is the number of paths found; `more`: there may be others.

    If the question names no source, `hops` has all hops upstream of the target, those nearest to the sources first; `path` is empty and
    `paths` is 0.

    If a hop has diverged, its ratio changed between two reports of rows written: `last_good` is the time of the last report with the ratio
    of the baseline, and `first_bad` that of the first report after it with another ratio. Both are absent if no such change is found
    between the beginning of the baseline and the end of the window.
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
