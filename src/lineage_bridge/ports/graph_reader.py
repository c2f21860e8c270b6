"""The interface by which questions read the graph store, with one protocol for each kind of question."""

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from typing import Protocol

from lineage_bridge.graph.ids import NodeKind
from lineage_bridge.graph.runs.distinct_keys import DistinctCount
from lineage_bridge.graph.runs.lag import DatasetLag
from lineage_bridge.graph.runs.path_ledger import LedgerWindow
from lineage_bridge.model.events import EventFilter, EventRecord, QuarantineCounts, QuarantineRecord
from lineage_bridge.model.graph import Edge, Node, Port, Walk, WalkLimits
from lineage_bridge.model.history import AliasFilter, AliasRecord
from lineage_bridge.model.inventory import InventoryEntry
from lineage_bridge.model.lineage import Impact, Ledger, Paths, Trace, TraceOptions
from lineage_bridge.model.runs import Dependency, RunFilter, RunLineage, RunPage, RunRecord, RunTree
from lineage_bridge.model.search import SearchFilter, SearchPage
from lineage_bridge.model.statistics import StatisticsFilter, StatisticsPage
from lineage_bridge.ports.history_reader import HistoryReader
from lineage_bridge.ports.whole_graph import WholeGraphReader


class ProgressReader(Protocol):
    """Reads how far the store has applied the log."""

    def position(self) -> dict[tuple[str, int], int]:
        """The offset up to which the store has applied the log, for each (source, partition)."""

    def settling(self) -> bool:
        """Whether some derived values of applied events are still to be computed."""


class NodeReader(Protocol):
    """Looks up nodes, their facets and their names."""

    def find(self, kind: NodeKind, namespace: str, name: str) -> Node | None:
        """The node of exactly this name."""

    def by_spelling(self, kind: NodeKind, namespace: str, name: str) -> Node | None:
        """The node that a name denotes: the node with exactly this name, or else a node to which naming rules or aliases lead from it."""

    def near(self, kind: NodeKind, namespace: str, name: str, limit: int = 5) -> list[Node]:
        """Nodes with similar names, the most similar first."""

    def matching(self, kind: NodeKind, namespace: str | None, name: str | None, limit: int | None, offset: int) -> list[Node]:
        """Nodes whose namespace and name match globs, sorted by name."""

    def count(self, kind: NodeKind) -> int:
        """How many nodes of a kind there are."""

    def namespaces(self) -> list[str]:
        """The namespaces of all nodes, sorted."""

    def has_namespace(self, kind: NodeKind, namespace: str) -> bool:
        """Whether any node of a kind is in exactly this namespace."""

    def spelt(self, nodes: Iterable[Node], style: str) -> dict[int, Node]:
        """Each of these nodes by its id, under its preferred name in a style: `standard`, or `lineagebridge` for the names that
        LineageBridge writes.
        """

    def group(self, node: Node) -> tuple[Node, tuple[Node, ...]]:
        """The canonical node of a node's group, and all its members."""

    def names_of(self, nodes: Iterable[Node]) -> dict[int, tuple[Node, ...]]:
        """All names of each of these nodes that has several, by node id."""

    def facets(self, node: Node, job: Node | None = None, keys: Sequence[str] = ()) -> dict[str, str]:
        """The JSON texts of the current facets of a node under all its names, by key; with `job`, those of the job and the node
        together.
        """

    def aliases(self, which: AliasFilter) -> list[AliasRecord]:
        """The aliases that a filter selects, with their evidence."""


class SearchReader(Protocol):
    """Searches nodes by their names and texts."""

    def by_name(self, text: str, kind: NodeKind | None, limit: int, offset: int) -> list[Node]:
        """Nodes whose name or namespace contains every word of the text, best match first."""

    def page(self, which: SearchFilter) -> SearchPage:
        """A page of nodes that match a search by their names or by the texts of their facets."""


class LineageReader(Protocol):
    """Answers questions that follow flows. With `at_us`, an answer is as of that time."""

    def walk(
        self,
        node: Node,
        direction: str,
        depth: int,
        limits: WalkLimits,
        *,
        now_us: int,
        columns: bool = False,
        at_us: int | None = None,
        ended: bool = False,
    ) -> Walk:
        """Follow flows `upstream`, `downstream` or `both` (the union of the two) for `depth` hops. Ended flows are only followed if
        `ended` is set.
        """

    def impact(
        self, origins: Sequence[Node], direction: str, depth: int, limits: WalkLimits, at_us: int | None = None, *, flows: bool = True
    ) -> Impact:
        """The nodes that a change of any of these nodes affects, or that any of these nodes depends on; with `flows`, also the flows that
        lead to them.
        """

    def paths(self, source: Node, target: Node, depth: int, most: int, limits: WalkLimits, at_us: int | None = None) -> Paths:
        """The paths that data takes from one node to another, at most `most` of them."""

    def ledger(self, paths: Paths, number: int, window: LedgerWindow, baseline: LedgerWindow, factor: float) -> Ledger:
        """How much each hop of one of these paths (`number` from 0) read and wrote in a window, compared with a baseline window."""

    def upstream_ledger(self, walk: Walk, window: LedgerWindow, baseline: LedgerWindow, factor: float) -> Ledger:
        """How much each hop of a walk upstream (which this reader has returned) read and wrote, sources first."""

    def trace(self, node: Node, options: TraceOptions, limits: WalkLimits, at_us: int | None = None) -> Trace:
        """The columns from which a column is derived, or which are derived from it, with the events that prove it."""

    def job_ports(self, job: Node, *, now_us: int, at_us: int | None = None) -> list[Port]:
        """The inputs and outputs of a job, sorted by side and name."""

    def job_ports_of(self, jobs: Iterable[Node], *, now_us: int, at_us: int | None = None) -> dict[int, list[Port]]:
        """The inputs and outputs of each of these jobs by its id, sorted by side and name."""

    def declared_flows(
        self, datasets: Collection[Node], limits: WalkLimits, *, now_us: int, at_us: int | None = None, ended: bool = False
    ) -> tuple[Edge, ...]:
        """The flows that these datasets declare for themselves; the `job` of each is the dataset that declares it."""


class RunReader(Protocol):
    """Looks up runs, their lineage and their statistics."""

    def page(self, which: RunFilter) -> RunPage:
        """A page of the runs that a filter selects by job, parent, state and time."""

    def find(self, run_id: str) -> list[RunRecord]:
        """The run with an id (as sent, or as a UUID), as one record for each of its jobs.

        A run that never sent an event is found under the jobs that other runs name for it.
        """

    def latest(self, job: Node, *, with_datasets: bool) -> RunRecord | None:
        """The newest run of a job; with `with_datasets`, the newest run that named a dataset."""

    def latest_of(self, jobs: Iterable[Node], *, with_datasets: bool) -> dict[int, RunRecord]:
        """The newest run of each of these jobs that has one, by job id."""

    def tree(self, run: bytes, limit: int) -> RunTree:
        """A run with all runs inside it."""

    def lineage(self, run: bytes, direction: str, depth: int, limit: int) -> RunLineage:
        """The runs that produced the data a run read (`upstream`), or that read the data it produced (`downstream`)."""

    def dependencies(self, run: bytes, job: Node, limit: int) -> list[Dependency]:
        """The runs and jobs that a run of a job waits for, and those that wait for it."""

    def statistics(self, which: StatisticsFilter) -> StatisticsPage:
        """What runs read and wrote within a window."""

    def lags(self, jobs: Iterable[Node], since: int, until: int) -> dict[int, dict[tuple[str, str], DatasetLag]]:
        """The lag that each of these jobs reported last within [since, until) (UTC microseconds), by job id and by the namespace and name
        of the dataset.
        """

    def distinct(self, datasets: Iterable[Node], since: int, until: int) -> dict[int, DistinctCount]:
        """How many distinct keys each of these datasets has, by its id, as a run stated it last within [since, until) (UTC
        microseconds).
        """


class EventReader(Protocol):
    """Looks up events and quarantined records."""

    def page(self, which: EventFilter) -> list[EventRecord]:
        """A page of the events that a filter selects."""

    def of_run(self, run_id: str, limit: int | None = None) -> list[EventRecord]:
        """The events of a run (its id as sent, or as a UUID), oldest first."""

    def quarantine(self, code: str | None, limit: int, offset: int, event: bytes | None = None) -> list[QuarantineRecord]:
        """A page of quarantined records, newest first, without those accepted since; with `event`, only those with that event id."""

    def quarantine_counts(self, of: Callable[[str], bool] | None = None) -> QuarantineCounts:
        """How many of the newest 10,000 quarantined records there are for each reason. With `of`, only records are counted whose beginning
        the function `of` accepts.
        """


class InventoryReader(Protocol):
    """Lists the whole graph: every dataset and job, and the edges between them."""

    def heads(self, kinds: Sequence[NodeKind]) -> "Iterator[tuple[GraphReader, list[Node]]]":
        """Every dataset and job of these kinds once, as the canonical node of its group, in portions sorted by name.

        Each portion comes with a reader that sees the same state of the store and caches nothing of the other portions.
        """

    def listed(
        self, kind: NodeKind, namespace: str | None, name: str | None, offset: int
    ) -> "Iterator[tuple[GraphReader, list[tuple[int, Node]], int]]":
        """The datasets or jobs of which a name matches globs, each once, as the canonical node of its group; in portions, like those of
        `heads`.

        `offset` counts matching names. A group is listed at the position of its first matching name. Each node comes with its offset, and
        each portion with the offset after it.
        """

    def quiet(self) -> "Iterator[tuple[GraphReader, list[Node]]]":
        """Jobs without an observed run, and datasets that no job names or that declare their own lineage; in portions, like those
        of `heads`.
        """

    def canonical_nodes(self, nodes: Iterable[Node]) -> dict[int, Node]:
        """The canonical node of each of these nodes, by node id."""

    def entries(self, heads: Sequence[Node]) -> list[InventoryEntry]:
        """The inventory entries of canonical nodes."""

    def described(self, nodes: Iterable[Node]) -> dict[int, InventoryEntry]:
        """The inventory entry of each of these nodes' groups, by node id."""

    def facets_of(self, nodes: Iterable[Node], keys: Sequence[str]) -> dict[int, dict[str, str]]:
        """The JSON texts of those current facets of these nodes that have these keys: for each node id, as `NodeReader.facets` returns
        them.
        """

    def by_node_id(self, text: str) -> list[Node]:
        """The canonical nodes that a node id may denote. There are several if the id is ambiguous."""

    def ran(self, jobs: Sequence[Node]) -> list[Node]:
        """The jobs among these canonical jobs that have an observed run."""

    def ports(self, jobs: Iterable[Node], *, now_us: int) -> list[Port]:
        """The inputs and outputs of these jobs, under all their names, without those that have ended."""

    def unnamed_ports(self, *, now_us: int) -> list[Port]:
        """The ends of jobs' flows that the jobs never named as their inputs or outputs."""

    def direct(self, *, now_us: int) -> Iterator[Edge]:
        """The flows between two nodes that are not a job's input or output: declared by datasets, between jobs, or renames."""


class GraphReader(Protocol):
    """All questions to the graph store. A reader is made for each request, and all its answers come from one read transaction."""

    @property
    def progress(self) -> ProgressReader:
        """The reader of how far the store has applied the log."""

    @property
    def nodes(self) -> NodeReader:
        """The reader of nodes, their facets and their names."""

    @property
    def search(self) -> SearchReader:
        """The reader for searches."""

    @property
    def lineage(self) -> LineageReader:
        """The reader of walks, impact, paths and traces."""

    @property
    def runs(self) -> RunReader:
        """The reader of runs, their lineage and their statistics."""

    @property
    def history(self) -> HistoryReader:
        """The reader of what changed over time."""

    @property
    def events(self) -> EventReader:
        """The reader of events and quarantined records."""

    @property
    def inventory(self) -> InventoryReader:
        """The reader of every dataset, job and edge."""

    @property
    def whole(self) -> WholeGraphReader:
        """The reader of the whole graph, to export, verify or analyse it."""

    def within(self, namespaces: Collection[str]) -> "GraphReader":
        """A reader in the same transaction whose lists (of nodes, events and aliases, not walks) are restricted to these namespaces.

        A node is listed there if it has a name in one of them; an alias if either end is in one.
        """

    def interrupt(self) -> None:
        """Abort the running statement, and refuse later ones. May be called from another thread."""
