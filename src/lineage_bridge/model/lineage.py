"""The results of questions that follow flows: impact, paths, ledgers and traces."""

from dataclasses import dataclass
from enum import IntEnum
from functools import cached_property
from typing import NamedTuple

from lineage_bridge.graph.relations import Evidence, Origin
from lineage_bridge.graph.runs.onset import Onset
from lineage_bridge.graph.runs.path_ledger import HopAmounts, LedgerWindow
from lineage_bridge.model.graph import Node


@dataclass(frozen=True)
class Affected:
    """A node that depends on the origins of a question or, upstream, on which the origins depend.

    - `paths`: the number of paths to it, at most graph.analysis.reach.MOST_PATHS; a cycle counts as one node. None for a job.
    - `wholly`: everything that reaches the node comes through the origins.
    - `only_failed`: every path to it has a flow that only failed runs stated.
    - `dropped`: the dataset was dropped and does not exist again.
    """

    node: Node
    distance: int
    paths: int | None
    wholly: bool
    only_failed: bool = False
    dropped: bool = False


class HiddenCounts(NamedTuple):
    """The numbers of datasets and jobs that an answer leaves out because the principal may not see them."""

    datasets: int
    jobs: int


NONE_HIDDEN = HiddenCounts(0, 0)


@dataclass(frozen=True)
class ImpactFlow:
    """Data moves from `source` to `target` through `job`, in the direction of the data. For a job that only reads, or only writes what it
    reads, `target` is the job itself. For a job at which the impact starts, `source` is the job itself. `only_failed`: only failed runs
    stated it.
    """

    source: Node
    target: Node
    job: Node
    origin: Origin
    only_failed: bool = False


@dataclass(frozen=True)
class Impact:
    """The nodes that depend on `origins` (downstream), or that these depend on (upstream), by distance and then by name.

    Nodes that only failed runs stated come last. `ended` is how many flows were left out because they have ended. `beyond` counts nodes
    that are affected too, but not in `affected`, because the principal may not see them. `flows` lead from the origins to the affected
    nodes, given as ids. They contain the canonical ids of the origins, which are in `heads`, in the order of `origins`.
    """

    origins: tuple[Node, ...]
    direction: str
    depth: int
    affected: tuple[Affected, ...]
    truncated: str
    hidden: int
    resolution: str = "exact"
    ended: int = 0
    beyond: HiddenCounts = NONE_HIDDEN
    flows: tuple[ImpactFlow, ...] = ()
    heads: tuple[int, ...] = ()


@dataclass(frozen=True)
class Path:
    """A path from one node to another. `jobs[i]` are the jobs that move data from `nodes[i]` to `nodes[i + 1]`."""

    nodes: tuple[Node, ...]
    jobs: tuple[tuple[Node, ...], ...]


@dataclass(frozen=True)
class Paths:
    """Paths from `source` to `target` in the direction of the data, the shortest first. `more`: whether there are, or may be, others.

    `dropped` are the nodes on them that were dropped and do not exist again; `ended` is how many flows were left out because they have
    ended.
    """

    source: Node
    target: Node
    paths: tuple[Path, ...]
    more: bool
    truncated: str
    hidden: int
    resolution: str = "exact"
    dropped: frozenset[int] = frozenset()
    ended: int = 0


@dataclass(frozen=True)
class LedgerHop:
    """One hop of a path through one job, with what the job read and wrote."""

    source: Node
    target: Node
    job: Node
    entry: HopAmounts


@dataclass(frozen=True)
class Ledger:
    """How much each hop of a path read and wrote in a window, compared with a baseline.

    `found` is the number of paths found from source to target; `more`: there may be others. `onset` is when the ratio of the diverged hops
    left the baseline; None if no hop has diverged, or if the time cannot be found.
    """

    source: Node
    target: Node
    nodes: tuple[Node, ...]
    window: LedgerWindow
    baseline: LedgerWindow
    hops: tuple[LedgerHop, ...]
    found: int
    more: bool
    onset: Onset | None = None


@dataclass(frozen=True)
class TraceOptions:
    """How to trace a column. An empty field stands for every column; `gaps` is the largest number of gaps to list."""

    field: str
    direction: str
    depth: int = 20
    indirect: bool = False
    through_masking: bool = False
    proofs: bool = True
    gaps: int = 100


@dataclass(frozen=True)
class Proof:
    """The latest event that states something: its id, its time (UTC microseconds), and the run or declaration that sent it."""

    event: bytes
    time: int
    asserted_by: bytes


class Arrival(IntEnum):
    """How values get from one column to another: unmasked, only masked, or not at all, because the source only affects which rows there
    are. In a trace upstream, masking does not count, because the source has the unmasked values.
    """

    CLEAR = 0
    MASKED = 1
    INDIRECT = 2


@dataclass(frozen=True)
class TracedColumn:
    """A column in a trace, `distance` hops from the column at which the trace starts.

    If the trace ended before it reached this column, `distance` is None and `end` is the reason. `arrival` is how values get from the start
    of the trace to this column (in a trace upstream: from this column to the start).
    """

    node: Node
    field: str
    distance: int | None
    end: str
    arrival: Arrival


@dataclass(frozen=True)
class TracedFlow:
    """A flow that a trace found: one column is derived from another through a job. `masked`: the values flow only in masked form.
    `indirect`: the source column affects the target column, but its values do not become part of it. `descriptions` are the producers'
    descriptions of the transformation, sorted.
    """

    source: Node
    source_field: str
    target: Node
    target_field: str
    job: Node
    origin: Origin
    transformations: tuple[tuple[str, str, bool], ...]
    masked: bool
    indirect: bool
    proof: Proof | None
    descriptions: tuple[str, ...] = ()


@dataclass(frozen=True)
class Gap:
    """A gap in a trace: a flow of a traced dataset without column lineage, through which the traced column may also have gone."""

    source: Node
    target: Node
    job: Node
    origin: Origin
    evidence: Evidence


@dataclass(frozen=True)
class Coverage:
    """The number of flows of the traced datasets with and without column lineage, and some of the flows without it."""

    with_columns: int
    without_columns: int
    gaps: tuple[Gap, ...]


@dataclass(frozen=True)
class Trace:
    """The columns from which a column is derived, or which are derived from it.

    `dropped` are the ids of its datasets that were dropped and do not exist again; `ended` is how many flows were left
    out because they have ended.
    """

    origin: Node
    options: TraceOptions
    columns: tuple[TracedColumn, ...]
    flows: tuple[TracedFlow, ...]
    coverage: Coverage
    truncated: str
    hidden: int
    resolution: str = "exact"
    dropped: frozenset[int] = frozenset()
    ended: int = 0

    @cached_property
    def nodes(self) -> frozenset[Node]:
        """All nodes that the trace names."""
        ends = {end for flow in self.flows for end in (flow.source, flow.target, flow.job)}
        ends |= {end for gap in self.coverage.gaps for end in (gap.source, gap.target, gap.job)}
        return frozenset({self.origin, *ends, *(column.node for column in self.columns)})
