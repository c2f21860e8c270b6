"""Finds when things changed around a node: schemas, the code of jobs, starts and failures of runs, and flows."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Final, Literal

from lineage_bridge.graph.ids import NodeKind
from lineage_bridge.model.differences import Between
from lineage_bridge.model.graph import Node, Walk, WalkLimits
from lineage_bridge.model.history import FacetEntry, FacetPage, SchemaVersion
from lineage_bridge.model.runs import RunFilter, RunRecord
from lineage_bridge.openlineage.facets.rebalance import KAFKA_REBALANCE, read_rebalance
from lineage_bridge.ports.graph_reader import GraphReader

CODE: Final = ("sql", "sourceCode", "sourceCodeLocation")
"""Keys of the facets that describe what a job does. A new version of such a facet counts as a deployment."""
MOST_DATASETS: Final = 200
"""The schemas of this many datasets are compared to find the latest changes."""
MOST_NODES: Final = 500
MOST_RUNS: Final = 100
MOST_WALKS: Final = 20
FINEST_US: Final = 60 * 1_000_000
"""The smallest period, one minute, to which the time of a flow's change is narrowed down."""
What = Literal["schema", "code", "started", "failed", "rebalanced", "appeared", "disappeared"]
_NEWEST: Final = FacetPage(limit=200, offset=0, max_bytes=1_000_000)
"""Of a job's rebalances, these are read."""
_FAILED: Final = frozenset({"FAIL", "ABORT"})


@dataclass(frozen=True)
class Mark:
    """A change at a node and its time in UTC microseconds. `text` gives details: a version, the key of a facet, or a run's id.

    For a change of a flow and for a rebalance, only an interval is known: it happened after `since`, and not later than `at`. `node` is
    then the job, and `text` is empty.
    """

    at: int
    what: What
    node: Node
    text: str = ""
    before: str = ""
    since: int | None = None


@dataclass(frozen=True)
class Timeline:
    """Marks in the order of their time. `truncated`: there are more nodes, runs or changes of flows than were looked at."""

    marks: tuple[Mark, ...]
    truncated: bool


@dataclass(frozen=True)
class SchemaChange:
    """A schema version of a dataset, the version that it replaced, and the time of the change in UTC microseconds."""

    at: int
    dataset: Node
    before: SchemaVersion
    after: SchemaVersion


@dataclass(frozen=True)
class SchemaChanges:
    """The latest changes of schemas, the newest first. `truncated`: there are more. `exhaustive`: the schemas of all datasets were
    compared, not only of those whose schema was replaced since the graph was computed.
    """

    changes: tuple[SchemaChange, ...]
    truncated: bool
    exhaustive: bool


def read_schema_changes(reader: GraphReader, since: int, most: int) -> SchemaChanges:
    """The changes of schemas since a time: of all datasets if there are at most MOST_DATASETS, else of those whose schemas were replaced
    last.
    """
    every = reader.nodes.matching(NodeKind.DATASET, None, None, MOST_DATASETS + 1, 0)
    is_small = len(every) <= MOST_DATASETS
    candidates = every if is_small else reader.history.with_new_schemas()
    canonical = reader.inventory.canonical_nodes(candidates)
    datasets = list({canonical[node.id].id: node for node in reversed(candidates)}.values())[::-1]
    found = [change for node in datasets[:MOST_DATASETS] for change in _schema_changes(reader, node) if change.at >= since]
    found.sort(key=lambda change: (-change.at, change.dataset.namespace, change.dataset.name))
    return SchemaChanges(tuple(found[:most]), len(found) > most or len(datasets) > MOST_DATASETS, is_small)


@dataclass(frozen=True)
class Surroundings:
    """The nodes that a timeline is about: a node, the direction and the number of hops."""

    node: Node
    direction: str
    depth: int


def read_timeline(reader: GraphReader, around: Surroundings, between: Between, *, now_us: int) -> Timeline:
    """The changes around a node within a period, both ends included."""
    until = between.until if between.until is not None else now_us
    walks = _Walks(reader, around, now_us)
    named = {node.id: node for node in _nodes(walks.at(between.since), walks.at(until))}
    own = [node for node in named.values() if reader.nodes.find(node.kind, node.namespace, node.name) is not None]
    marks: list[Mark] = []
    truncated = len(own) > MOST_NODES
    for node in own[:MOST_NODES]:
        if node.kind == NodeKind.DATASET:
            marks += _schema_marks(reader, node)
        else:
            found = reader.runs.page(RunFilter(job=node.id, since=between.since, until=until + 1, limit=MOST_RUNS + 1)).runs
            truncated = truncated or len(found) > MOST_RUNS
            rebalances, has_more = _rebalance_marks(reader, node, between.since)
            truncated = truncated or has_more
            marks += [*_code_marks(reader, node), *_run_marks(node, found), *rebalances]
    marks += _flow_marks(walks, between.since, until)
    inside = (mark for mark in marks if between.since < mark.at <= until)
    return Timeline(tuple(sorted(inside, key=lambda mark: (mark.at, mark.what, mark.node.id, mark.text))), truncated or walks.is_cut)


class _Walks:
    """Walks around a node at different times, at most one for each time.

    `is_spent`: the maximum number of walks is reached. `is_cut`: because of that maximum, the interval of some change is longer than it
    could be.
    """

    def __init__(self, reader: GraphReader, around: Surroundings, now_us: int) -> None:
        self._reader, self._around, self._now_us = reader, around, now_us
        self._found: dict[int, Walk] = {}
        self.is_spent = self.is_cut = False

    def at(self, at_us: int) -> Walk:
        """The walk around the node at a time."""
        if at_us not in self._found:
            node, direction, depth = self._around.node, self._around.direction, self._around.depth
            walk = self._reader.lineage.walk(node, direction, depth, WalkLimits(), now_us=self._now_us, at_us=at_us)
            self._found[at_us] = walk
            self.is_spent = len(self._found) >= MOST_WALKS
        return self._found[at_us]

    def links(self, at_us: int) -> Mapping[tuple[int, int, int], Node]:
        """The job of each flow and port at a time.

        Keys: ids of source, target and job; or of dataset and job, with the side between them.
        """
        walk = self.at(at_us)
        flows = {(edge.source.id, edge.target.id, edge.job.id): edge.job for edge in walk.edges}
        return flows | {(port.dataset.id, int(port.side), port.job.id): port.job for port in walk.ports}


def _nodes(*walks: Walk) -> Iterator[Node]:
    """The nodes of several walks: datasets by their canonical names, and jobs."""
    for walk in walks:
        by_id = {node.id: node for node in walk.nodes}
        yield from (by_id.get(walk.canonical.get(node.id, node.id), node) for node in walk.nodes)
        yield from (edge.job for edge in walk.edges)
        yield from (port.job for port in walk.ports)


def _schema_marks(reader: GraphReader, dataset: Node) -> Iterator[Mark]:
    for change in _schema_changes(reader, dataset):
        yield Mark(change.at, "schema", dataset, change.after.version, change.before.version)


def _schema_changes(reader: GraphReader, dataset: Node) -> Iterator[SchemaChange]:
    """The changes of a dataset's schema, oldest first. A schema that lasted for minutes only is ignored."""
    lasting = [version for version in reader.history.schemas(dataset).versions if not version.brief]
    for before, version in pairwise(lasting):
        yield SchemaChange(version.first[0], dataset, before, version)


def _code_marks(reader: GraphReader, job: Node) -> Iterator[Mark]:
    for key in reader.nodes.facets(job, keys=CODE):
        entries: Iterable[FacetEntry] = sorted(reader.history.facet(job, key).entries, key=lambda entry: entry.first)
        for before, entry in pairwise(entries):
            yield Mark(entry.first[0], "code", job, key, before.facet.hex())


def _rebalance_marks(reader: GraphReader, job: Node, since: int) -> tuple[list[Mark], bool]:
    """The marks of the newest rebalances that sources reported, each with the interval that its facet states. Also returns whether there
    may be others after `since`.
    """
    if not reader.nodes.facets(job, keys=(KAFKA_REBALANCE,)):
        return [], False
    history = reader.history.facet(job, KAFKA_REBALANCE, page=_NEWEST)
    found = set(filter(None, (read_rebalance(entry.text) for entry in history.entries)))
    has_older = history.more or history.truncated
    return [Mark(bounds[1], "rebalanced", job, since=bounds[0]) for bounds in found], has_older and all(at > since for _, at in found)


def _run_marks(job: Node, runs: Iterable[RunRecord]) -> Iterator[Mark]:
    """The marks of failed runs, and of the starts of streaming runs. Starts of batch runs are left out, because they are routine."""
    for run in runs:
        if run.state in _FAILED:
            yield Mark(run.ended if run.ended is not None else run.last, "failed", job, run.run_id)
        if run.streaming and run.started is not None:
            yield Mark(run.started, "started", job, run.run_id)


def _flow_marks(walks: _Walks, since: int, until: int) -> Iterator[Mark]:
    """The marks of flows that appeared or disappeared. The longest period whose ends differ is halved, until all periods are short."""
    periods = [(since, until)]
    done: list[tuple[int, int]] = []
    while periods:
        first, last = max(periods, key=lambda period: period[1] - period[0])
        periods.remove((first, last))
        if walks.links(first).keys() == walks.links(last).keys():
            continue
        if last - first <= FINEST_US or walks.is_spent:
            done.append((first, last))
            walks.is_cut = walks.is_cut or last - first > FINEST_US
        else:
            middle = (first + last) // 2
            periods += [(first, middle), (middle, last)]
    for first, last in done:
        before, after = walks.links(first), walks.links(last)
        appeared = {job.id: job for key, job in after.items() if key not in before}
        disappeared = {job.id: job for key, job in before.items() if key not in after}
        yield from (Mark(last, "appeared", job, since=first) for job in appeared.values())
        yield from (Mark(last, "disappeared", job, since=first) for job in disappeared.values())
