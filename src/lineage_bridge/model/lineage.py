"""Impact, paths, ledgers and traces."""

from dataclasses import dataclass

from lineage_bridge.graph.relations import Evidence, Origin
from lineage_bridge.graph.runs.ledger import Entry, Window
from lineage_bridge.model.graph import Node


@dataclass(frozen=True)
class Affected:
    """One node that lies behind another. `paths` counts the ways there, at most graph.reach.MOST_PATHS; a cycle counts as one place.

    `wholly`: all that reaches it comes through the origin. A job has no paths of its own.
    """

    node: Node
    distance: int
    paths: int | None
    wholly: bool


@dataclass(frozen=True)
class Impact:
    """What depends on `origin` (downstream), or what it depends on (upstream): the nearest first, then by names."""

    origin: Node
    direction: str
    depth: int
    affected: tuple[Affected, ...]
    truncated: str
    hidden: int
    resolution: str = "exact"


@dataclass(frozen=True)
class Path:
    """A way from one node to another: `nodes`, and between each two the jobs that move the data."""

    nodes: tuple[Node, ...]
    jobs: tuple[tuple[Node, ...], ...]


@dataclass(frozen=True)
class Paths:
    """Ways from `source` to `target` with the data, the shortest first. `more`: there are others, or there may be."""

    source: Node
    target: Node
    paths: tuple[Path, ...]
    more: bool
    truncated: str
    hidden: int
    resolution: str = "exact"


@dataclass(frozen=True)
class LedgerHop:
    """One hop of a path by one job, with what it read and wrote."""

    source: Node
    target: Node
    job: Node
    entry: Entry


@dataclass(frozen=True)
class Ledger:
    """What passed each hop of a path in a window, against a baseline. `found` paths lead from source to target; `more`: perhaps others."""

    source: Node
    target: Node
    nodes: tuple[Node, ...]
    window: Window
    baseline: Window
    hops: tuple[LedgerHop, ...]
    found: int
    more: bool


@dataclass(frozen=True)
class TraceOptions:
    """How to trace. An empty field stands for every column; `gaps` is how many gaps to name at most."""

    field: str
    direction: str
    depth: int = 20
    indirect: bool = False
    through_masking: bool = False
    proofs: bool = True
    gaps: int = 100


@dataclass(frozen=True)
class Proof:
    """The event that said something last: its id, its time (UTC microseconds), and the run or design-time statement that spoke."""

    event: bytes
    time: int
    subject: bytes


@dataclass(frozen=True)
class TracedColumn:
    """A column that a trace met, `distance` hops away. Without a distance the trace ended before it: `end` says why."""

    node: Node
    field: str
    distance: int | None
    end: str


@dataclass(frozen=True)
class TracedFlow:
    """One column goes into another by the work of a job. `masked`: only masked; `indirect`: it decides, but its values do not pass.

    `descriptions` are the words of whoever stated it, sorted.
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
    """A flow at a dataset on the way of which no columns are told: what was traced may have taken it too."""

    source: Node
    target: Node
    job: Node
    origin: Origin
    evidence: Evidence


@dataclass(frozen=True)
class Coverage:
    """How many flows at the traced datasets tell of columns, how many do not, and some of those."""

    told: int
    untold: int
    gaps: tuple[Gap, ...]


@dataclass(frozen=True)
class Trace:
    """Where a column comes from, or ends up."""

    origin: Node
    options: TraceOptions
    columns: tuple[TracedColumn, ...]
    flows: tuple[TracedFlow, ...]
    coverage: Coverage
    truncated: str
    hidden: int
    resolution: str = "exact"
